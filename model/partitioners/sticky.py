# SPDX-License-Identifier: Apache-2.0
"""Where records without a key go: to one partition until enough went there, then to another one.

A producer chooses the partition as it puts a record into a batch, and stays with it for about ``batch.size`` bytes, so that
batches get full (KIP-480, KIP-794). Records here have a size, and random numbers are given, one for each choice. Left out of the
sequence, but not of ``is_switch``: records with a key, which may begin batches of the same partition.
"""

from __future__ import annotations

from typing import assert_never

from attrs import evolve, frozen

from hwmark.model.machine import kafka

from .load import LoadStats, weighted_choice
from .rules import Availability, StickyRules, Switch
from .topic import Topic, choosable


@frozen
class Append:
    """A record of so many bytes; ``is_drained`` says that just before it all batches of the partition were sent."""

    size: int
    is_drained: bool = False


@frozen
class Appends:
    """Records without a key, one after the other, and the random numbers of the choices, as often as they are needed."""

    topic: Topic
    batch_size: int
    records: tuple[Append, ...]
    randoms: tuple[int, ...]


@frozen
class Sticky:
    """The partition of the moment, how many bytes went there, and how many choices were made (``StickyPartitionInfo``)."""

    partition: int
    produced_bytes: int = 0
    choices: int = 1


@kafka("BuiltInPartitioner.nextPartition", versions="3.3–4.3.1", simplified="the random number is given")
def next_partition(
    topic: Topic, random: int, stats: LoadStats | None = None, availability: Availability = Availability.AVAILABLE_FIRST
) -> int:
    """Return the partition that a random number, which is not negative, stands for."""
    if stats is not None:
        return weighted_choice(stats, random)
    partitions = choosable(topic, availability)
    return partitions[random % len(partitions)]


@kafka("StickyPartitionCache.nextPartition", versions="2.4–3.9", simplified="where it draws until it gets another partition, the next one")
def other_partition(topic: Topic, random: int, before: int | None, availability: Availability) -> int:
    """Return the partition that a random number stands for, or the next one if that is the one before (KIP-480)."""
    partitions = choosable(topic, availability)
    place = random % len(partitions)
    return partitions[place] if partitions[place] != before else partitions[(place + 1) % len(partitions)]


@kafka("BuiltInPartitioner.updatePartitionInfo", versions="3.3–4.3.1", simplified="nothing is concurrent")
def is_switch(produced_bytes: int, batch_size: int, *, enabled: bool) -> bool:
    """Whether a partition has had enough; not ``enabled`` means that its last batch is not full yet."""
    return (enabled and produced_bytes >= batch_size) or produced_bytes >= 2 * batch_size


def sticky_partitioner(appends: Appends, rules: StickyRules | None = None) -> tuple[int, ...]:
    """Return the partition of each record."""
    rules = StickyRules() if rules is None else rules
    sticky, answers = chosen(appends, None, rules), list[int]()
    last_batches = dict.fromkeys(range(appends.topic.partitions), 0)
    for record in appends.records:
        if record.is_drained:
            last_batches[sticky.partition] = 0
        sticky = before_append(appends, sticky, last_batches[sticky.partition], record.size, rules)
        partition, last = sticky.partition, last_batches[sticky.partition]
        answers.append(partition)
        last_batches[partition] = record.size if begins_batch(last, record.size, appends.batch_size) else last + record.size
        sticky = evolve(sticky, produced_bytes=sticky.produced_bytes + record.size)
        sticky = after_append(appends, sticky, last_batches[partition], rules)
    return tuple(answers)


def begins_batch(last_batch: int, size: int, batch_size: int) -> bool:
    """Whether a record needs a new batch: the last one was sent, is full, or has no room for it; 0 bytes are no batch."""
    return last_batch == 0 or last_batch + size > batch_size


def chosen(appends: Appends, before: Sticky | None, rules: StickyRules) -> Sticky:
    """Return the next choice of a partition."""
    choices = 0 if before is None else before.choices
    random = appends.randoms[choices % len(appends.randoms)]
    match rules.switch:
        case Switch.AFTER_BATCH_SIZE | Switch.AT_EVERY_RECORD:
            partition = next_partition(appends.topic, random, availability=rules.availability)
        case Switch.AT_EVERY_BATCH:
            partition = other_partition(appends.topic, random, None if before is None else before.partition, rules.availability)
        case _:
            assert_never(rules.switch)
    return Sticky(partition, choices=choices + 1)


def before_append(appends: Appends, sticky: Sticky, last_batch: int, size: int, rules: StickyRules) -> Sticky:
    """Return the choice that a record finds (``RecordAccumulator.partitionChanged``; before KIP-794 ``Partitioner.onNewBatch``)."""
    begins = begins_batch(last_batch, size, appends.batch_size)
    match rules.switch:
        case Switch.AFTER_BATCH_SIZE:
            is_next = is_switch(sticky.produced_bytes, appends.batch_size, enabled=begins)
        case Switch.AT_EVERY_BATCH:
            is_next = begins and sticky.produced_bytes > 0
        case Switch.AT_EVERY_RECORD:
            is_next = sticky.produced_bytes > 0
        case _:
            assert_never(rules.switch)
    return chosen(appends, sticky, rules) if is_next else sticky


def after_append(appends: Appends, sticky: Sticky, last_batch: int, rules: StickyRules) -> Sticky:
    """Return the choice that a record leaves (``RecordAccumulator.append``)."""
    match rules.switch:
        case Switch.AFTER_BATCH_SIZE:
            is_next = is_switch(sticky.produced_bytes, appends.batch_size, enabled=last_batch >= appends.batch_size)
            return chosen(appends, sticky, rules) if is_next else sticky
        case Switch.AT_EVERY_BATCH | Switch.AT_EVERY_RECORD:
            return sticky
        case _:
            assert_never(rules.switch)
