# SPDX-License-Identifier: Apache-2.0
"""What must hold of who leads: leaders may lead, few change, and in the end the preferred leaders lead again.

That each broker leads about as many partitions as any other is no invariant: Kafka lets it go when a broker fails, and restores
it when all are back.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from hwmark.model.machine import BrokerId, Step
from hwmark.model.placement.elections import candidates
from hwmark.model.placement.rules import Choice, Rules
from hwmark.model.placement.state import NOBODY, Bounds, PartitionId, State, alive, brokers, exists, leaderships, partitions
from hwmark.spec.property import Witness, converges, invariant, reachable, step_property, witness


def existed(before: State, step: Step, after: State) -> bool:
    """Whether the topic was created before a step."""
    return exists(before)


# -- leaders --


@invariant(sources=("S12-choice", "S5"), when=exists, partition=partitions)
def leaders_may_lead(state: State, *, partition: PartitionId) -> Witness | None:
    """A partition's leader is a broker that is there, one of its replicas, and in sync."""
    ours = state.partitions[partition]
    if ours.leader == NOBODY or (ours.leader in ours.isr and ours.leader in ours.replicas and ours.leader in alive(state)):
        return None
    return witness(leader=ours.leader, isr=tuple(sorted(ours.isr)), replicas=ours.replicas, alive=alive(state))


@invariant(sources=("S12-choice",), when=exists, partition=partitions)
def leads_if_anybody_may(state: State, *, partition: PartitionId) -> Witness | None:
    """A partition is without a leader only while nobody is there who is in sync."""
    ours = state.partitions[partition]
    electable = tuple(broker for broker in alive(state) if broker in ours.isr)
    return witness(electable=electable) if ours.leader == NOBODY and electable else None


@invariant(sources=("S4", "K-841"), when=exists, partition=partitions)
def fenced_brokers_are_not_in_sync(state: State, *, partition: PartitionId) -> Witness | None:
    """A broker that is gone is in no ISR, but as the last member of one; no ISR is empty."""
    ours = state.partitions[partition]
    gone = tuple(broker for broker in sorted(ours.isr) if broker not in alive(state))
    return witness(isr=tuple(sorted(ours.isr)), gone=gone) if not ours.isr or (gone and len(ours.isr) > 1) else None


@step_property(sources=("S12-choice",), when=existed, partition=partitions)
def leaders_stay(before: State, step: Step, after: State, *, partition: PartitionId) -> Witness | None:
    """A leader that is there keeps its partition, unless the preferred leader gets it back."""
    old, new = before.partitions[partition], after.partitions[partition]
    is_gone = old.leader not in alive(after)
    is_given_back = step.action in {"balance_leaders", "elect_preferred_leader"} and new.leader == new.preferred_leader
    return None if new.leader == old.leader or is_gone or is_given_back else witness(step=str(step), before=old.leader, after=new.leader)


@step_property(sources=("S1",), when=existed, partition=partitions)
def replicas_stay(before: State, step: Step, after: State, *, partition: PartitionId) -> Witness | None:
    """Where a partition's replicas are does not change, and neither does their order."""
    old, new = before.partitions[partition].replicas, after.partitions[partition].replicas
    return None if old == new else witness(step=str(step), before=old, after=new)


# -- balance --


def is_balanced(state: State) -> bool:
    """Whether all brokers are there, and each partition is led by its preferred leader."""
    return exists(state) and not any(state.fenced) and all(one.leader == one.preferred_leader for one in state.partitions)


@invariant(sources=("S12-choice",), when=is_balanced)
def leaders_are_spread(state: State, bounds: Bounds) -> Witness | None:
    """With all brokers there, and each partition led by its preferred leader, no broker leads two more than another one."""
    led = tuple(leaderships(state.partitions, broker) for broker in brokers(bounds))
    return None if max(led) - min(led) <= 1 else witness(led=led)


def all_can_come_back(state: State, bounds: Bounds) -> bool:
    """Whether the topic was created, in a scope in which every broker that fails may come back."""
    return exists(state) and bounds.returns >= bounds.failures


@converges(sources=("S12-choice",), when=all_can_come_back)
def preferred_leaders_lead_again(state: State) -> bool:
    """Whatever failed, all brokers can come back, and then each partition can be led by its preferred leader again."""
    return is_balanced(state)


# -- whom an election chooses --


@frozen
class Election:
    """An election for a partition; ``loads`` says how many partitions each of those led then that may lead it."""

    partition: PartitionId
    candidates: tuple[BrokerId, ...]
    loads: tuple[int, ...]
    leader: BrokerId


def elections(before: State, step: Step, after: State) -> Iterator[Election]:
    """Yield the elections of a step in which a broker went or came, which the controller holds one partition after another."""
    if step.action not in {"fence_broker", "unfence_broker"}:
        return
    able = alive(after)
    now = tuple(evolve(one, leader=one.leader if one.leader in able else NOBODY) for one in before.partitions)
    for number, partition in enumerate(after.partitions):
        if now[number].leader == NOBODY and partition.leader != NOBODY:
            eligible = candidates(partition, able)
            yield Election(number, eligible, tuple(leaderships(now, one) for one in eligible), partition.leader)
        now = (*now[:number], partition, *now[number + 1 :])


def goes_by_load(rules: Rules) -> bool:
    """Whether what brokers lead says who is elected, and not the order of the assignment alone."""
    return rules.choice in {Choice.LEAST_LOADED, Choice.LEAST_LOADED_BEFORE}


@step_property(sources=("S12-choice",), when=existed)
def right_successor_leads(before: State, step: Step, after: State, rules: Rules) -> Witness | None:
    """The next leader is the first replica that is there and in sync; where elections go by load, unlike Kafka's, the least loaded."""
    for one in elections(before, step, after):
        least = one.loads.index(min(one.loads)) if goes_by_load(rules) else 0
        if one.leader != one.candidates[least]:
            return witness(
                partition=one.partition, leader=one.leader, expected=one.candidates[least], eligible=one.candidates, led=one.loads
            )
    return None


# -- goals --


def small(**scope: int) -> dict[str, int]:
    """Return a minimal scope: one partition on as many brokers as it has replicas, and nothing that fails, but for these."""
    return {"brokers": 3, "partitions": 1, "failures": 0, "returns": 0, "late_brokers": 0, **scope}


@reachable(sources=("S12-choice",), scope=small(failures=1))
def another_one_leads(state: State) -> bool:
    """A partition is led by somebody else than its preferred leader, which is not there."""
    return any(one.leader != NOBODY and state.fenced[one.preferred_leader] for one in state.partitions)


@reachable(sources=("S12-choice",), scope=small(failures=1, returns=1))
def returned_broker_leads_nothing(state: State) -> bool:
    """All brokers are there again and in sync, and one of them leads nothing, as the others kept its partitions."""
    if not exists(state):
        return False
    in_sync = all(len(one.isr) == len(one.replicas) for one in state.partitions)
    return in_sync and not any(state.fenced) and any(not leaderships(state.partitions, broker) for broker in preferred_of(state))


@reachable(sources=("S12-choice",), scope=small(failures=3))
def nobody_leads(state: State) -> bool:
    """A partition has no leader, as nobody is there who is in sync."""
    return exists(state) and any(one.leader == NOBODY for one in state.partitions)


def preferred_of(state: State) -> tuple[int, ...]:
    """Return the brokers that are a preferred leader."""
    return tuple(dict.fromkeys(one.preferred_leader for one in state.partitions))


PROPERTIES = (
    leaders_may_lead,
    leads_if_anybody_may,
    fenced_brokers_are_not_in_sync,
    leaders_stay,
    replicas_stay,
    right_successor_leads,
    leaders_are_spread,
    preferred_leaders_lead_again,
    another_one_leads,
    returned_broker_leads_nothing,
    nobody_leads,
)
"""Every promise of the machine, in the order of the report."""
