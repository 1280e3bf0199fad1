# SPDX-License-Identifier: Apache-2.0
"""What the classic group protocol promises.

A consumer is *current* while the coordinator takes it for a member of the group's generation and it knows its assignment.
Everybody else who still consumes is a zombie: its member id is unknown to the group or was replaced, or its generation is
over. Zombies may consume what others own by now, for as long as they hear nothing; what they must not is commit. So what is
promised of ownership is promised of current consumers, and of cooperative ones that joined with what they own: a static
member that was too slow for a generation stays a member, and is a zombie until it has joined again.
"""

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
    PartitionId,
    Record,
    Request,
    State,
    Waiting,
    consumers,
    member_ids,
    partitions,
    seats,
)
from hwmark.model.machine import Step
from hwmark.spec.property import Witness, converges, invariant, leads_to, reachable, step_property, witness

# -- who is who --


def is_member(state: State, member: MemberId) -> bool:
    """Whether a member id is that of a member; one that was only given out is not."""
    one = state.members[member]
    return one is not None and not one.is_pending


def is_current(state: State, consumer: ConsumerId) -> bool:
    """Whether a consumer is a member of the group's generation that knows its assignment."""
    mine = state.consumers[consumer]
    return mine.phase is MemberState.STABLE and is_member(state, consumer) and mine.generation == state.group.generation


def owns(state: State, consumer: ConsumerId, partition: PartitionId) -> bool:
    """Whether a current consumer consumes a partition."""
    return partition in state.consumers[consumer].owned and is_current(state, consumer)


def joined_with(state: State, consumer: ConsumerId, partition: PartitionId) -> bool:
    """Whether a consumer joined the group's generation with a partition that it still consumes, without having missed one."""
    member = state.members[consumer]
    if partition not in state.consumers[consumer].owned or member is None or member.is_pending or member.has_joined:
        return False
    return partition in member.claim.partitions and member.claim.generation >= state.group.generation - 1


# -- ownership --


@invariant(sources=("S8", "A01", "K-429"), consumer=consumers, other=consumers, partition=partitions)
def one_owner(state: State, *, consumer: ConsumerId, other: ConsumerId, partition: PartitionId) -> Witness | None:
    """No partition is owned by two current consumers."""
    if consumer >= other or not owns(state, consumer, partition) or not owns(state, other, partition):
        return None
    return witness(generation=state.group.generation)


@invariant(sources=("S8", "K-429", "A03"), consumer=consumers, other=consumers, partition=partitions)
def kept_until_revoked(state: State, *, consumer: ConsumerId, other: ConsumerId, partition: PartitionId) -> Witness | None:
    """No current consumer owns what another one brought into the group's generation and has not given up yet."""
    if consumer == other or not owns(state, consumer, partition) or not joined_with(state, other, partition):
        return None
    return witness(generation=state.group.generation)


@step_property(sources=("K-429", "A01", "A03"), member=member_ids, other=member_ids)
def moves_take_two_generations(before: State, step: Step, after: State, *, member: MemberId, other: MemberId) -> Witness | None:
    """An assignment gives no member a partition that another one claims, unless it claims it itself under a higher generation."""
    if member == other or after.record.generation <= before.record.generation:
        return None
    given, rival = after.stored[member], after.stored[other]
    if given is None or rival is None:
        return None
    contested = given.assignment & rival.claim.partitions
    if given.claim.generation > rival.claim.generation:
        contested -= given.claim.partitions
    if not contested:
        return None
    return witness(step=str(step), partition=min(contested), generation=after.record.generation, claimed=rival.claim.generation)


@invariant(sources=("S8", "S15"), partition=partitions)
def everything_is_assigned(state: State, *, partition: PartitionId) -> Witness | None:
    """In a stable group each partition is assigned to one member; or to none, while somebody is to give it up."""
    if state.group.phase is not GroupState.STABLE:
        return None
    known = [(member, one) for member, one in enumerate(state.members) if one is not None and not one.is_pending]
    owners = [member for member, one in known if partition in one.assignment]
    if len(owners) == 1 or (not owners and any(partition in one.claim.partitions for _, one in known)):
        return None
    return witness(owners=tuple(owners))


# -- commits --


def is_accepted_commit(before: State, step: Step, after: State) -> bool:
    """Whether a step is a commit that was accepted: whoever is refused learns why."""
    if step.action != "consumer_commit":
        return False
    consumer: ConsumerId = step.choices["consumer"]
    unchanged: bool = before.consumers[consumer] == after.consumers[consumer]
    return unchanged


@step_property(sources=("S9", "K-345"))
def commits_are_of_the_generation(before: State, step: Step, after: State) -> Witness | None:
    """Commits are accepted only from members, and only under the group's generation."""
    if not is_accepted_commit(before, step, after) or is_current(before, step.choices["consumer"]):
        return None
    mine = before.consumers[step.choices["consumer"]]
    return witness(step=str(step), generation=mine.generation, group_generation=before.group.generation)


@step_property(sources=("S8", "S9", "K-345"), owner=consumers)
def commits_are_of_the_owner(before: State, step: Step, after: State, *, owner: ConsumerId) -> Witness | None:
    """No commit is accepted for a partition that another consumer owns: zombies are refused."""
    if not is_accepted_commit(before, step, after) or step.choices["consumer"] == owner:
        return None
    return witness(step=str(step)) if owns(before, owner, step.choices["partition"]) else None


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


# -- goals --

FEW = {"stops": 0, "pauses": 0, "failovers": 0, "replacements": 0, "losses": 0}


@reachable(sources=("S8",), scope={"consumers": 1, "partitions": 1, "perturbations": 0, **FEW}, consumer=consumers)
def partition_is_owned(state: State, *, consumer: ConsumerId) -> bool:
    """A current consumer owns a partition."""
    return bool(state.consumers[consumer].owned) and is_current(state, consumer)


@reachable(sources=("S8", "S15"), scope={"consumers": 2, "partitions": 2, "perturbations": 0, **FEW})
def partitions_are_shared(state: State) -> bool:
    """Two current consumers own a partition each."""
    return sum(bool(one.owned) and is_current(state, consumer) for consumer, one in enumerate(state.consumers)) > 1


@reachable(sources=("K-429", "S15"), scope={"consumers": 2, "partitions": 2, "perturbations": 0, **FEW}, consumer=seats)
def partition_is_given_up(before: State, step: Step, after: State, *, consumer: ConsumerId) -> bool:
    """A consumer gives up a partition in a rebalance, and stays a member."""
    return step.action in ("consumer_join", "consumer_handle_sync") and len(after.consumers[consumer].owned) < len(
        before.consumers[consumer].owned
    )


@reachable(
    sources=("S8",),
    scope={"consumers": 2, "partitions": 1, "perturbations": 1, **FEW, "pauses": 1},
    consumer=consumers,
    other=consumers,
    partition=partitions,
)
def zombie_consumes(state: State, *, consumer: ConsumerId, other: ConsumerId, partition: PartitionId) -> bool:
    """A zombie still consumes what somebody else owns by now."""
    if consumer == other or partition not in state.consumers[consumer].owned:
        return False
    return owns(state, other, partition)


@reachable(
    sources=("S9",),
    scope={"consumers": 2, "partitions": 1, "perturbations": 1, **FEW, "pauses": 1},
    consumer=consumers,
    other=consumers,
)
def zombie_is_refused(before: State, step: Step, after: State, *, consumer: ConsumerId, other: ConsumerId) -> bool:
    """The commit of a zombie is refused, for a partition that somebody else owns by now."""
    if step.action != "consumer_commit" or step.choices["consumer"] != consumer or is_accepted_commit(before, step, after):
        return False
    return consumer != other and owns(before, other, step.choices["partition"])


@reachable(sources=("G03",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "failovers": 1})
def stable_group_is_loaded(before: State, step: Step, after: State) -> bool:
    """Another coordinator loads a stable group."""
    return step.action == "coordinator_load" and after.group.phase is GroupState.STABLE


@reachable(sources=("K-345",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "stops": 1}, consumer=seats)
def member_is_left_behind(state: State, *, consumer: ConsumerId) -> bool:
    """A member's consumer has crashed, and the group does not know."""
    return any(one is not None and one.seat == consumer for one in state.members[len(state.consumers) :])


@reachable(sources=("S8",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "losses": 1})
def current_answer_is_given_again(before: State, step: Step, after: State) -> bool:
    """A JoinGroup is answered with the generation that the group already has: its first answer was lost."""
    if step.action != "coordinator_handle_join" or after.group.generation != before.group.generation:
        return False
    return any(one is not None and one.generation >= 0 for one in after.answers)


@reachable(sources=("S8",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "stops": 1})
def group_gets_empty(before: State, step: Step, after: State) -> bool:
    """The last member is gone, and that is written."""
    return before.group.phase is not GroupState.EMPTY and after.group.phase is GroupState.EMPTY and step.action != "coordinator_load"


# -- what comes true at last --


def is_settled(state: State, bounds: Bounds) -> bool:
    """Whether the group is stable, everybody who should run is current and is not to join again, and nobody else is a member."""
    if state.group.phase is not GroupState.STABLE:
        return False
    for member, one in enumerate(state.members):
        if (one is not None) is not (member < bounds.consumers):
            return False
    return all(is_current(state, seat) and not state.consumers[seat].rejoins for seat in seats(bounds))


def is_undisturbed(state: State) -> bool:
    """Whether every perturbation of the scope has happened."""
    return state.budget.total == 0


@converges(sources=("S8", "S15", "K-345", "K-429"), when=is_undisturbed)
def all_partitions_owned(state: State, bounds: Bounds) -> bool:
    """Once nothing disturbs it any more, the group can get stable, with every partition owned by one of all its consumers."""
    if not is_settled(state, bounds):
        return False
    return sum(len(state.consumers[seat].owned) for seat in seats(bounds)) == bounds.partitions


def waits_undisturbed(state: State, consumer: ConsumerId) -> bool:
    """Whether a consumer has begun to join, and every perturbation of the scope has happened."""
    waits = (MemberState.PREPARING_REBALANCE, MemberState.COMPLETING_REBALANCE)
    return state.budget.total == 0 and state.consumers[consumer].phase in waits


@leads_to(
    sources=("S8", "S15"),
    when=waits_undisturbed,
    weak=(
        "consumer_join",
        "coordinator_handle_join",
        "coordinator_rebalance_timeout",
        "consumer_handle_join",
        "coordinator_handle_sync",
        "coordinator_commit_assignment",
        "consumer_handle_sync",
        "consumer_heartbeat",
        "coordinator_expire_session",
        "coordinator_expire_sync",
        "coordinator_load",
    ),
    consumer=consumers,
)
def joins_end(state: State, *, consumer: ConsumerId) -> bool:
    """Once nothing disturbs the group any more, whoever has begun to join gets its assignment at last, or is told to stop."""
    return state.consumers[consumer].phase in (MemberState.STABLE, MemberState.STOPPED)


PROPERTIES = (
    one_owner,
    kept_until_revoked,
    moves_take_two_generations,
    everything_is_assigned,
    commits_are_of_the_generation,
    commits_are_of_the_owner,
    one_member_per_instance,
    new_members_rebalance,
    static_members_return_quietly,
    assignor_is_common,
    group_is_replayed,
    members_are_replayed,
    generation_order,
    structure,
    consumer_structure,
    partition_is_owned,
    partitions_are_shared,
    partition_is_given_up,
    zombie_consumes,
    zombie_is_refused,
    stable_group_is_loaded,
    member_is_left_behind,
    current_answer_is_given_again,
    group_gets_empty,
    all_partitions_owned,
    joins_end,
)
"""Every promise of the machine, in the order of the report."""
