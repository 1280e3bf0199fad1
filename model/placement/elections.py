# SPDX-License-Identifier: Apache-2.0
"""Who is to lead a partition, and which partitions change when a broker goes or comes (``PartitionChangeBuilder``, 4.3.1)."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.machine import BrokerId

from .admin_utils import assign_replicas
from .placer import Placement, Refusal, Topic, UsableBroker, place
from .rules import Assignment, Choice, Leading, PlacerRules, Preferred, Returning, Rewinding, Rules
from .state import NOBODY, Bounds, Config, Partition, State, alive, leaderships

KAFKAS_PLACER = PlacerRules(leading=Leading.NEXT, rewinding=Rewinding.EACH_NUMBER)
"""What ``StripedReplicaPlacer`` of Kafka 4.3.1 does."""
SHUFFLED = 999
"""How often the random generator is asked in shuffles, at most: once for each broker and partition that there may be."""

# -- rules --


def placement(state: State, rules: Rules, config: Config, bounds: Bounds, drawn: tuple[int, int]) -> Placement | Refusal:
    """Return where replicas are put, given the number that is drawn at the start, and that in every shuffle or for the gap."""
    start, shuffle = drawn
    brokers = tuple(UsableBroker(broker, fenced=is_fenced) for broker, is_fenced in enumerate(state.fenced))
    draws = (start,) * (3 if any(state.fenced) else 2) + (shuffle,) * SHUFFLED  # a start for each list of brokers and for the one rack
    topic = Topic(brokers, bounds.partitions, config.replication_factor, draws)
    match rules.assignment:
        case Assignment.STRIPED:
            return place(topic, KAFKAS_PLACER)
        case Assignment.IN_ROUNDS:
            return assign_replicas(evolve(topic, draws=(start, shuffle)))
        case Assignment.SAME_ORDER:
            answer = place(topic, KAFKAS_PLACER)
            return answer if isinstance(answer, Refusal) else answer[:1] * bounds.partitions
        case _:
            assert_never(rules.assignment)


def chosen(rules: Rules, candidates: tuple[BrokerId, ...], before: tuple[Partition, ...], now: tuple[Partition, ...]) -> BrokerId:
    """Return who of those that may lead is elected, in view of who led before any of these elections, and who leads now."""
    if not candidates:
        return NOBODY
    match rules.choice:
        case Choice.FIRST:
            return candidates[0]
        case Choice.LAST:
            return candidates[-1]
        case Choice.LEAST_LOADED:
            return min(candidates, key=lambda broker: leaderships(now, broker))
        case Choice.LEAST_LOADED_BEFORE:
            return min(candidates, key=lambda broker: leaderships(before, broker))
        case _:
            assert_never(rules.choice)


def may_get_back(state: State, rules: Rules, partition: Partition) -> bool:
    """Whether a preferred election gives a partition back to its first replica, which does not lead it."""
    if not partition.replicas or partition.leader == partition.preferred_leader:
        return False
    first = partition.preferred_leader
    match rules.preferred:
        case Preferred.IN_SYNC:
            return not state.fenced[first] and first in partition.isr
        case Preferred.ALIVE:
            return not state.fenced[first]
        case _:
            assert_never(rules.preferred)


def elects_on_return(rules: Rules) -> bool:
    """Whether somebody is elected for partitions without a leader when a broker is back."""
    match rules.returning:
        case Returning.ELECT:
            return True
        case Returning.NOTHING:
            return False
        case _:
            assert_never(rules.returning)


# -- elections --


def candidates(partition: Partition, able: tuple[BrokerId, ...]) -> tuple[BrokerId, ...]:
    """Return the members of the ISR that are able to lead, in the order of the assignment."""
    return tuple(broker for broker in partition.replicas if broker in partition.isr and broker in able)


def decided(rules: Rules, partitions: tuple[Partition, ...], able: tuple[BrokerId, ...]) -> tuple[Partition, ...]:
    """Return the partitions once somebody was elected, one after another, for those that nobody leads (``electAnyLeader``)."""
    now = partitions
    for number, partition in enumerate(partitions):
        if partition.leader == NOBODY:
            leader = chosen(rules, candidates(partition, able), partitions, now)
            now = (*now[:number], evolve(partition, leader=leader), *now[number + 1 :])
    return now


def without(rules: Rules, state: State, broker: BrokerId) -> tuple[Partition, ...]:
    """Return the partitions once a broker is gone: it is in no ISR but in one that would be empty, and leads nothing."""
    left = tuple(
        evolve(one, isr=one.isr - {broker} or one.isr, leader=NOBODY if one.leader == broker else one.leader) for one in state.partitions
    )
    return decided(rules, left, tuple(other for other in alive(state) if other != broker))


def with_back(rules: Rules, state: State, broker: BrokerId) -> tuple[Partition, ...]:
    """Return the partitions once a broker is back: those without a leader may have one again."""
    return decided(rules, state.partitions, (*alive(state), broker)) if elects_on_return(rules) else state.partitions


def preferred(partition: Partition) -> Partition:
    """Return a partition after a preferred election that gives it back to its first replica (``electPreferredLeader``)."""
    return evolve(partition, leader=partition.preferred_leader)
