# SPDX-License-Identifier: Apache-2.0
"""What somebody outside remembers: what was appended, where the records of keys went, and what the consumer saw of them last."""

from __future__ import annotations

from hwmark.model.machine import Step
from hwmark.model.topic.state import NO_KEY, PartitionId, PerPartition, PerProducer, ProducerId, State, replaced
from hwmark.spec.property import Observer

Appended = PerPartition[tuple[tuple[ProducerId, int], ...]]
"""For each partition the producer and the number of each record that was appended, in order."""
Homes = tuple[tuple[int, PartitionId], ...]
"""Each key that was sent, and the partition that its first record was put into; in order."""
Seen = PerProducer[tuple[tuple[int, int], ...]]
"""For each producer its keys, also none, in order, each with the number of the latest record that the consumer read."""


def appended_so_far(memory: Appended, before: State, _step: Step, after: State) -> Appended:
    """Remember what is new in each log."""
    return tuple(
        (*known, *((one.record.producer, one.record.number) for one in new[len(old) :]))
        for known, old, new in zip(memory, before.logs, after.logs, strict=True)
    )


APPENDED = Observer("appended", memory=Appended, initial=lambda state: tuple(() for _ in state.logs), observe=appended_so_far)
"""What was ever appended."""


def ends(state: State) -> dict[PartitionId, int]:
    """Return how many records wait for each partition."""
    counts = dict.fromkeys(range(len(state.logs)), 0)
    for channels in state.channels:
        for partition, channel in enumerate(channels):
            counts[partition] += sum(len(batch.records) for batch in channel.waiting)
    return counts


def homes_so_far(memory: Homes, before: State, step: Step, after: State) -> Homes:
    """Remember where the first record of a key is put."""
    if step.action != "send" or step.choices["key"] == NO_KEY:
        return memory
    key, known = step.choices["key"], dict(memory)
    old, new = ends(before), ends(after)
    put_into = [partition for partition, count in new.items() if count > old[partition]]
    return tuple(sorted({key: put_into[0], **known}.items())) if put_into else memory


HOMES = Observer("homes", memory=Homes, initial=lambda _: (), observe=homes_so_far)
"""Where the records of each key belong."""


def seen_so_far(memory: Seen, before: State, step: Step, _after: State) -> Seen:
    """Remember the latest record of each producer and key that was read."""
    if step.action != "poll":
        return memory
    partition = step.choices["partition"]
    record = before.logs[partition][before.positions[partition]].record
    known = dict(memory[record.producer])
    known[record.key] = max(record.number, known.get(record.key, record.number))
    return replaced(memory, record.producer, tuple(sorted(known.items())))


SEEN = Observer("seen", memory=Seen, initial=lambda state: ((),) * len(state.producers), observe=seen_so_far)
"""How far the consumer has seen the records of each key."""
