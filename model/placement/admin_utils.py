# SPDX-License-Identifier: Apache-2.0
"""Where ZooKeeper's controllers put the replicas of a new topic (``AdminUtils.assignReplicasToBrokers``, up to 4.0).

All brokers stand in one list, in which racks alternate. Each partition begins one broker further, so that leaders go round the
list, and its other replicas are the next ones behind a gap, which grows with each round: two partitions with the same leader have
other followers. Racks without a replica come first, as do brokers without one. Two numbers are drawn at random: where the first
partition begins, and the gap. Brokers that are gone are not known, and those that are fenced are taken for gone here.
"""

from __future__ import annotations

from hwmark.model.assignors.ordering import code_units
from hwmark.model.machine import BrokerId

from .placer import Draws, Placement, Refusal, Replicas, Topic

Racks = dict[BrokerId, str | None]


def assign_replicas(topic: Topic) -> Placement | Refusal:
    """Return the replicas of each partition of a new topic, or why it cannot be created."""
    racks: Racks = {broker.id: broker.rack for broker in topic.brokers if not broker.fenced}
    if topic.replication_factor <= 0:
        return Refusal.NOT_POSITIVE
    if topic.replication_factor > len(racks):
        return Refusal.TOO_FEW_BROKERS
    if None in racks.values() and set(racks.values()) != {None}:
        return Refusal.RACKS_INCOMPLETE
    brokers, draws = alternating(racks), Draws(topic.draws)
    start, gap = draws.below(len(brokers)), draws.below(len(brokers))
    return tuple(
        replicas(brokers, racks, topic.replication_factor, start + partition, gap + partition // len(brokers))
        for partition in range(topic.partitions)
    )


def alternating(racks: Racks) -> tuple[BrokerId, ...]:
    """Return the brokers, one of each rack in turn (``getRackAlternatedBrokerList``); without racks as they are given."""
    names = sorted({rack for rack in racks.values() if rack is not None}, key=code_units)
    if not names:
        return tuple(racks)
    rows = [sorted(broker for broker, rack in racks.items() if rack == name) for name in names]
    return tuple(row[place] for place in range(len(racks)) for row in rows if place < len(row))


def replicas(brokers: tuple[BrokerId, ...], racks: Racks, factor: int, first: int, gap: int) -> Replicas:
    """Return the replicas of a partition: the broker at the first place, and those behind a gap of so many rounds of racks."""
    found, every = [brokers[first % len(brokers)]], len(set(racks.values()))
    step = gap * every
    while len(found) < factor:
        broker, held = brokers[(first + 1 + step % (len(brokers) - 1)) % len(brokers)], {racks[one] for one in found}
        if broker not in found and (racks[broker] not in held or len(held) == every):
            found.append(broker)
        step += 1
    return tuple(found)
