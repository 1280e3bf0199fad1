# SPDX-License-Identifier: Apache-2.0
"""What the classic group protocol promises of members, of the coordinator's log, and of how things fit together."""

from __future__ import annotations

from hwmark.model.group_classic.group import is_static, listed_assignors, static_member
from hwmark.model.group_classic.state import (
    NOBODY,
    Bounds,
    Config,
    ConsumerId,
    GroupState,
    Member,
    MemberId,
    MemberState,
    Record,
    Request,
    State,
    Waiting,
    consumers,
    member_ids,
    partitions,
)
from hwmark.model.machine import Step
from hwmark.spec.property import Witness, invariant, step_property, witness

from .standing import is_member

# -- members --


@invariant(sources=("K-345", "G01"), member=member_ids, other=member_ids)
def one_member_per_instance(state: State, config: Config, *, member: MemberId, other: MemberId) -> Witness | None:
    """No two members have the same instance id."""
    one, two = state.members[member], state.members[other]
    if member >= other or one is None or two is None or one.seat != two.seat or not is_static(config, one.seat):
        return None
    return witness(instance=one.seat)


@step_property(sources=("S8", "S15"), consumer=consumers)
def new_members_rebalance(before: State, step: Step, after: State, config: Config, *, consumer: ConsumerId) -> Witness | None:
    """Whenever a dynamic consumer becomes a member the group rebalances."""
    if step.action != "coordinator_handle_join" or is_member(before, consumer) or not is_member(after, consumer):
        return None
    if is_static(config, before.consumers[consumer].seat) or after.group.phase is not GroupState.STABLE:
        return None
    return witness(step=str(step), generation=after.group.generation)


def replaced_in_stable_group(before: State, config: Config, consumer: ConsumerId) -> Member | None:
    """Return the member that a static consumer without a member id is to replace, if the group is stable."""
    mine = before.consumers[consumer]
    if mine.has_member_id or before.group.phase is not GroupState.STABLE or not is_static(config, mine.seat):
        return None
    former = static_member(before, mine.seat)
    return None if former is None else before.members[former]


@step_property(sources=("K-345",), consumer=consumers)
def static_members_return_quietly(before: State, step: Step, after: State, config: Config, *, consumer: ConsumerId) -> Witness | None:
    """A static member that comes back to a stable group keeps its assignment, and nobody rebalances unless it had to give some up."""
    if step.action != "coordinator_handle_join" or step.choices["consumer"] != consumer:
        return None
    former, renewed = replaced_in_stable_group(before, config, consumer), after.members[consumer]
    if former is None or former.claim.partitions - former.assignment:
        return None
    is_kept = renewed is not None and former.assignment == renewed.assignment
    if is_kept and after.group.phase is GroupState.STABLE and after.group.generation == before.group.generation:
        return None
    return witness(step=str(step), before=former, after=renewed)


@invariant(sources=("K-429",), member=member_ids)
def assignor_is_common(state: State, config: Config, *, member: MemberId) -> Witness | None:
    """Every member lists the assignor that the group has chosen."""
    one = state.members[member]
    if one is None or one.is_pending or state.group.phase not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
        return None
    return None if state.group.assignor in listed_assignors(config, one.seat) else witness(assignor=state.group.assignor)


# -- the coordinator and its log --


@invariant(sources=("G03", "K-345"))
def group_is_replayed(state: State) -> Witness | None:
    """Whenever a group is stable or empty, another coordinator would load just that from the log."""
    group = state.group
    if group.phase not in (GroupState.STABLE, GroupState.EMPTY):
        return None
    would = Record(group.generation, group.leader, group.assignor)
    return None if would == state.record else witness(group=would, record=state.record)


@invariant(sources=("G03", "K-345"), member=member_ids)
def members_are_replayed(state: State, *, member: MemberId) -> Witness | None:
    """Whenever a group is stable or empty, another coordinator would load the same members, with the same assignment."""
    if state.group.phase not in (GroupState.STABLE, GroupState.EMPTY):
        return None
    one, stored = state.members[member], state.stored[member]
    would = one.stored if one is not None and not one.is_pending else None
    return None if would == stored else witness(member_in_memory=would, member_in_log=stored)


@step_property(sources=("S8", "K-345"))
def generation_order(before: State, step: Step, after: State) -> Witness | None:
    """No generation goes back, neither in the log nor, as long as the coordinator stays, in its memory."""
    if after.record.generation < before.record.generation:
        return witness(step=str(step), whose="log", before=before.record.generation, after=after.record.generation)
    if GroupState.DEAD in (before.group.phase, after.group.phase) or after.group.generation >= before.group.generation:
        return None
    return witness(step=str(step), whose="group", before=before.group.generation, after=after.group.generation)


# -- structure --

PHASES = {
    Waiting.TO_JOIN: tuple(GroupState),
    Waiting.NOTHING: (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE, GroupState.STABLE),
    Waiting.LATE_JOIN: (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE, GroupState.STABLE),
    Waiting.FIRST_JOIN: (GroupState.PREPARING_REBALANCE,),
    Waiting.JOIN: (GroupState.PREPARING_REBALANCE,),
    Waiting.SYNC: (GroupState.COMPLETING_REBALANCE,),
}
"""In which states of the group what may be held back for a member."""


def misplaced(state: State, one: Member) -> bool:
    """Whether a member waits for what its group cannot be about to give."""
    if one.pending_sync and state.group.phase not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
        return True
    return state.group.phase not in PHASES[one.waiting]


@invariant(sources=("S8",), member=member_ids)
def structure(state: State, *, member: MemberId) -> Witness | None:
    """The leader is a member, a group without members is empty or prepares, and members wait for what is due."""
    one, group = state.members[member], state.group
    if one is not None and misplaced(state, one):
        return witness(waiting=one.waiting, phase=group.phase)
    has_leader = group.leader != NOBODY
    if (group.leader == member and not is_member(state, member)) or (is_member(state, member) and not has_leader):
        return witness(leader=group.leader, phase=group.phase)
    if has_leader is (group.phase in (GroupState.EMPTY, GroupState.DEAD)) and group.phase is not GroupState.PREPARING_REBALANCE:
        return witness(leader=group.leader, phase=group.phase)
    return None


@invariant(sources=("S8",), consumer=consumers)
def consumer_structure(state: State, bounds: Bounds, *, consumer: ConsumerId) -> Witness | None:
    """A consumer waits for one thing at a time, consumes only what there is, and knows a generation only with a member id."""
    mine, request, answer = state.consumers[consumer], state.requests[consumer], state.answers[consumer]
    expected = {
        MemberState.PREPARING_REBALANCE: (None, Request.JOIN),
        MemberState.COMPLETING_REBALANCE: (None, Request.SYNC),
    }.get(mine.phase, (None,))
    if request not in expected or (answer is not None and (request is not None or len(expected) == 1)):
        return witness(phase=mine.phase, request=request, answer=answer)
    if any(one not in partitions(bounds) for one in sorted(mine.owned)):
        return witness(owned=mine.owned)
    return None if mine.has_member_id or mine.generation < 0 else witness(generation=mine.generation)
