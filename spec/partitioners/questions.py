# SPDX-License-Identifier: Apache-2.0
"""All questions of a scope, the smallest first: what a proof about the choice of a partition asks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attrs import frozen

from hwmark.model.partitioners.load import Queues
from hwmark.model.partitioners.producer import Send
from hwmark.model.partitioners.round_robin import Turns
from hwmark.model.partitioners.sticky import Append, Appends
from hwmark.model.partitioners.topic import Topic
from hwmark.spec.assignors.questions import subsets

PUBLISHED_HASHES = {
    "21": -973_932_308,
    "abc": 479_470_107,
    "foobar": -790_332_482,
    "a-little-bit-long-string": -985_981_536,
    "a-little-bit-longer-string": -1_486_304_829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58_897_971,
}
"""Keys and their hashes as Kafka's own tests have them (``UtilsTest.testMurmur2``), and clients in other languages after them."""
KEYS = ("", "a", "b", *PUBLISHED_HASHES)


@frozen
class Scope:
    """How large questions get: the most partitions, and the most records, or the most batches that wait for a partition."""

    partitions: int = 3
    records: int = 4


def topics(scope: Scope) -> Iterator[Topic]:
    """Yield every topic of a scope with each choice of partitions that have a leader."""
    for partitions in range(1, scope.partitions + 1):
        yield from (Topic(partitions, available) for available in subsets(tuple(range(partitions)), partitions))


# -- one record --


def size_of_send(send: Send) -> int:
    """Return the partitions, the length of the key, and how much else is said."""
    said = sum(one is not None for one in (send.key, send.named, send.partitioner))
    return send.partitions + len(send.key or "") + said + int(send.ignore_keys)


def sends(scope: Scope) -> Iterator[Send]:
    """Yield every record with what its producer knows; partitions are named from -1 to one beyond the last."""
    named = {count: (None, *range(-1, count + 1)) for count in range(1, scope.partitions + 1)}
    asked = (
        Send(count, key, by_record, by_partitioner, ignore_keys)
        for count, numbers in named.items()
        for key, by_record, by_partitioner, ignore_keys in product((None, *KEYS), numbers, numbers, (False, True))
    )
    yield from sorted(asked, key=size_of_send)


# -- records without a key --

BATCH_SIZE = 2


def size_of_appends(appends: Appends) -> int:
    """Return the partitions, the bytes, and how often batches are sent before they are full."""
    drained = sum(record.is_drained for record in appends.records)
    return appends.topic.partitions + sum(record.size for record in appends.records) + drained


def all_appends(scope: Scope) -> Iterator[Appends]:
    """Yield every sequence of records of one or two bytes, with batches that are sent at any time."""
    one = [Append(size, is_drained) for size, is_drained in product((1, 2), (False, True))]
    asked = (
        Appends(topic, BATCH_SIZE, records, tuple(range(topic.partitions)))
        for topic in topics(scope)
        for count in range(1, scope.records + 1)
        for records in product(one, repeat=count)
    )
    yield from sorted(asked, key=size_of_appends)


def size_of_queues(queues: Queues) -> int:
    """Return the partitions and the batches that wait."""
    return queues.partitions + sum(queues.sizes)


def all_queues(scope: Scope) -> Iterator[Queues]:
    """Yield every choice of partitions with so many batches waiting for each."""
    asked = (
        Queues(topic.partitions, topic.available, sizes)
        for topic in topics(scope)
        for sizes in product(range(scope.records + 1), repeat=len(topic.available))
    )
    yield from sorted(asked, key=size_of_queues)


# -- in turn --


def size_of_turns(turns: Turns) -> int:
    """Return the partitions and the records."""
    return turns.topic.partitions + len(turns.begins)


def all_turns(scope: Scope) -> Iterator[Turns]:
    """Yield every sequence of records, each with a batch to begin or not."""
    asked = (
        Turns(topic, begins)
        for topic in topics(scope)
        for count in range(1, scope.records + 1)
        for begins in product((False, True), repeat=count)
    )
    yield from sorted(asked, key=size_of_turns)
