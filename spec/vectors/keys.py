# SPDX-License-Identifier: Apache-2.0
"""Vectors about producers: which partition a key goes to."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from hwmark.model.partitioners.keys import murmur2, partition_for_key

from .vector_set import VectorSet

TEXTS = ("", "a", "21", "foobar", "a-little-bit-long-string", "a-little-bit-longer-string", "ключ", "键", "é", "🙂", "x" * 100)
BYTES = (
    b"\0",
    b"\xff",
    b"\x80\x81",
    b"\xff\xfe\xfd\xfc",
    bytes(range(7)),
    bytes(range(250, 256)),
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
)


@frozen
class Key:
    """``key``: its bytes, in hexadecimal."""

    key: str


@frozen
class KeyAndTopic:
    """``key``: its bytes, in hexadecimal; ``partitions``: how many the topic has."""

    key: str
    partitions: int


def keys() -> Iterator[str]:
    """Yield keys of all lengths, texts in several scripts, and bytes that are no text."""
    yield from (text.encode().hex() for text in TEXTS)
    yield from (key.hex() for key in BYTES)
    yield from (bytes((37 * number + length) % 256 for number in range(length)).hex() for length in range(1, 33))


KEYS = (
    VectorSet(
        "murmur2",
        "The hash of a key, as a signed 32-bit number.",
        "Utils.murmur2",
        ("S11",),
        lambda question: murmur2(bytes.fromhex(question.key)),
        lambda: map(Key, keys()),
    ),
    VectorSet(
        "partition_for_key",
        "The partition that a record with this key goes to.",
        "BuiltInPartitioner.partitionForKey",
        ("S11",),
        lambda question: partition_for_key(bytes.fromhex(question.key), question.partitions),
        lambda: (KeyAndTopic(key, partitions) for key in keys() for partitions in (1, 2, 3, 7, 1000)),
    ),
)
