# SPDX-License-Identifier: Apache-2.0
"""What every placement must be: on distinct brokers that can lead, over all racks, and spread over the brokers.

How evenly leaders and replicas are spread is promised where racks are alike. Racks come before brokers: the one broker of a
small rack gets as many replicas as all brokers of a large one together.
"""

from __future__ import annotations

from collections import Counter

from hwmark.model.machine import BrokerId
from hwmark.model.placement.placer import Placement, Refusal, Topic
from hwmark.spec.function import contract
from hwmark.spec.property import Witness, witness

Answer = Placement | Refusal


def is_placed(topic: Topic) -> bool:
    """Whether a topic can be placed at all."""
    return 0 < topic.replication_factor <= len(topic.brokers) and not all(broker.fenced for broker in topic.brokers)


def are_racks_alike(topic: Topic) -> bool:
    """Whether as many brokers may lead in each rack; one rack is like itself."""
    sizes = Counter({broker.rack: 0 for broker in topic.brokers})
    sizes.update(broker.rack for broker in topic.brokers if not broker.fenced)
    return is_placed(topic) and len(set(sizes.values())) == 1


def nobody_is_fenced(topic: Topic) -> bool:
    """Whether racks are alike, and all their brokers may lead."""
    return are_racks_alike(topic) and not any(broker.fenced for broker in topic.brokers)


@contract(sources=("S12-choice",))
def refuses_what_is_impossible(topic: Topic, answer: Answer) -> Witness | None:
    """A topic is refused if no replica is asked for, if nobody may lead, or if there are fewer brokers than replicas; else it is placed."""
    if topic.replication_factor <= 0:
        right: Refusal | None = Refusal.NOT_POSITIVE
    elif all(broker.fenced for broker in topic.brokers):
        right = Refusal.ALL_FENCED
    else:
        right = Refusal.TOO_FEW_BROKERS if topic.replication_factor > len(topic.brokers) else None
    given = answer if isinstance(answer, Refusal) else None
    return None if given is right else witness(refused=given, expected=right)


@contract(sources=("S1", "S12-choice"), when=is_placed)
def on_distinct_brokers(topic: Topic, answer: Placement) -> Witness | None:
    """Each partition has as many replicas as asked for, on distinct brokers of the cluster."""
    known = {broker.id for broker in topic.brokers}
    for partition, replicas in enumerate(answer):
        if not len(set(replicas) & known) == len(replicas) == topic.replication_factor:
            return witness(partition=partition, replicas=replicas)
    return None if len(answer) == topic.partitions else witness(partitions=len(answer))


@contract(sources=("S12-choice",), when=is_placed)
def leaders_are_not_fenced(topic: Topic, answer: Placement) -> Witness | None:
    """The preferred leader of each partition is a broker that may lead."""
    fenced = {broker.id for broker in topic.brokers if broker.fenced}
    for partition, replicas in enumerate(answer):
        if replicas[0] in fenced:
            return witness(partition=partition, replicas=replicas)
    return None


@contract(sources=("S12-choice",), when=is_placed)
def fenced_brokers_come_last(topic: Topic, answer: Placement) -> Witness | None:
    """A fenced broker holds a replica only if all others of its rack hold one, too."""
    for partition, replicas in enumerate(answer):
        for broker in topic.brokers:
            if broker.fenced and broker.id in replicas:
                free = [one.id for one in topic.brokers if one.rack == broker.rack and not one.fenced and one.id not in replicas]
                if free:
                    return witness(partition=partition, replicas=replicas, fenced=broker.id, free=tuple(free))
    return None


@contract(sources=("S12-choice",), when=is_placed)
def spread_over_racks(topic: Topic, answer: Placement) -> Witness | None:
    """No rack holds two replicas of a partition more than another one that has a broker left."""
    racks, sizes = {broker.id: broker.rack for broker in topic.brokers}, Counter(broker.rack for broker in topic.brokers)
    for partition, replicas in enumerate(answer):
        held = Counter(racks[broker] for broker in replicas)
        for rack, size in sizes.items():
            if held[rack] < size and held[rack] + 1 < max(held.values()):
                return witness(partition=partition, replicas=replicas, rack=rack)
    return None


def spread(topic: Topic, placed: list[BrokerId]) -> tuple[int, int]:
    """Return the least and the most of what is placed on a broker that is not fenced."""
    counts = Counter(placed)
    found = [counts[broker.id] for broker in topic.brokers if not broker.fenced]
    return min(found), max(found)


@contract(sources=("S12-choice", "KAFKA-15354"), when=are_racks_alike)
def leaders_are_spread(topic: Topic, answer: Placement) -> Witness | None:
    """Where racks are alike, no broker is the preferred leader of two partitions more than another one that may lead."""
    least, most = spread(topic, [replicas[0] for replicas in answer])
    return None if most - least <= 1 else witness(least=least, most=most)


@contract(sources=("S12-choice",), when=nobody_is_fenced)
def replicas_are_spread(topic: Topic, answer: Placement) -> Witness | None:
    """Where racks are alike, no broker holds more replicas than another one by more than a partition has."""
    least, most = spread(topic, [broker for replicas in answer for broker in replicas])
    return None if most - least <= topic.replication_factor else witness(least=least, most=most)


CONTRACTS = (
    refuses_what_is_impossible,
    on_distinct_brokers,
    leaders_are_not_fenced,
    fenced_brokers_come_last,
    spread_over_racks,
    leaders_are_spread,
    replicas_are_spread,
)
"""Every contract of the placer."""
