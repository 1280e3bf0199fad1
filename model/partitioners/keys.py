# SPDX-License-Identifier: Apache-2.0
"""The hash of a key, and the partition that it stands for."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.machine import kafka

from .rules import Remainder

SEED, MIX, ROTATE = 0x9747B28C, 0x5BD1E995, 24
WORD = 0xFFFFFFFF
SIGN = 0x80000000
BYTES = 4
"""Of a word."""


@kafka("Utils.murmur2", versions="0.9–4.3.1", simplified="the bits of the answer are the same, as a signed number of 32 bits")
def murmur2(key: bytes) -> int:
    """Return the hash of a key, between -2**31 and 2**31 - 1."""
    whole = len(key) - len(key) % BYTES
    hashed = SEED ^ len(key)
    for start in range(0, whole, BYTES):
        word = int.from_bytes(key[start : start + BYTES], "little") * MIX & WORD
        word = (word ^ word >> ROTATE) * MIX & WORD
        hashed = hashed * MIX & WORD ^ word
    if whole < len(key):
        hashed = (hashed ^ int.from_bytes(key[whole:], "little")) * MIX & WORD
    hashed = (hashed ^ hashed >> 13) * MIX & WORD
    hashed ^= hashed >> 15
    return hashed - 2 * SIGN if hashed & SIGN else hashed


@kafka("Utils.toPositive", versions="0.9–4.3.1", simplified="nothing")
def to_positive(number: int) -> int:
    """Return a signed number of 32 bits without its sign bit; which is not its absolute value."""
    return number & ~SIGN & WORD


@kafka("BuiltInPartitioner.partitionForKey", versions="0.9–4.3.1", simplified="before 3.3 in DefaultPartitioner.partition")
def partition_for_key(key: bytes, partitions: int, remainder: Remainder = Remainder.SIGN_MASKED) -> int:
    """Return the partition of a key in a topic of so many partitions."""
    hashed = murmur2(key)
    match remainder:
        case Remainder.SIGN_MASKED:
            return to_positive(hashed) % partitions
        case Remainder.ABSOLUTE:
            return abs(hashed) % partitions
        case Remainder.SIGNED:
            return abs(hashed) % partitions * (1 if hashed >= 0 else -1)
        case _:
            assert_never(remainder)
