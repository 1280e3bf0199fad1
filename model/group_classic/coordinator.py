# SPDX-License-Identifier: Apache-2.0
"""What the coordinator does: it answers JoinGroup and SyncGroup, its timeouts fire, it resigns, and another takes over."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.machine import action, impossible, kafka, put

from .group import (
    add_member,
    all_joined,
    answer_join,
    answer_sync,
    claim_of,
    complete_if_all_joined,
    complete_join,
    is_alive,
    is_static,
    joining_again,
    late_ids,
    leave_unused,
    members_of,
    prepare_or_complete,
    prepare_rebalance,
    remove,
    selected_assignor,
    spend,
    standing,
    static_member,
    supports,
    write,
    write_assignment,
)
from .rules import LateSync, MemberIdRequired, Rules, StaticRejoin, StaticReplacement, StaticReturn
from .state import (
    UNKNOWN_GENERATION,
    Answer,
    Bounds,
    Config,
    ConsumerId,
    Error,
    Group,
    GroupState,
    Member,
    MemberId,
    MemberState,
    Perturbation,
    Request,
    State,
    Waiting,
    consumers,
    member_ids,
)

# -- rules --


def requires_member_id(rules: Rules) -> bool:
    """Whether a dynamic consumer without a member id is only given one."""
    match rules.member_id_required:
        case MemberIdRequired.BEFORE_JOIN:
            return True
        case MemberIdRequired.NEVER:
            return False
        case _:
            assert_never(rules.member_id_required)


def may_replace(rules: Rules, state: State) -> bool:
    """Whether a joining consumer takes the place of the member with its instance id in this state of the group."""
    match rules.static_replacement:
        case StaticReplacement.ANY_STATE:
            return True
        case StaticReplacement.STABLE_ONLY:
            return state.group.phase is GroupState.STABLE
        case _:
            assert_never(rules.static_replacement)


def stores_rejoin(rules: Rules) -> bool:
    """Whether the new id of a static member that rejoins a stable group is written to the log."""
    match rules.static_rejoin:
        case StaticRejoin.WRITTEN:
            return True
        case StaticRejoin.IN_MEMORY:
            return False
        case _:
            assert_never(rules.static_rejoin)


def rebalances_on_return(rules: Rules, former: Member) -> bool:
    """Whether a stable group rebalances when a static member takes the place of this former run."""
    match rules.static_return:
        case StaticReturn.FINISHES_MOVES:
            return bool(former.claim.partitions - former.assignment)
        case StaticReturn.QUIET:
            return False
        case _:
            assert_never(rules.static_return)


def may_sync(rules: Rules, member: Member) -> bool:
    """Whether a member that names the group's generation has a share in it."""
    match rules.late_sync:
        case LateSync.REFUSED:
            return member.waiting is not Waiting.LATE_JOIN
        case LateSync.ACCEPTED:
            return True
        case _:
            assert_never(rules.late_sync)


# -- requests --


@action(consumer=consumers)
@kafka(
    "GroupMetadataManager.classicGroupJoinToClassicGroup",
    versions="4.0–4.3",
    simplified="a group that is Dead answers nothing, where Kafka lets the consumer retry; the maximum size of groups is left out; "
    "of several members the first becomes leader; a join completes in the step of the request that completes it",
)
def coordinator_handle_join(state: State, rules: Rules, config: Config, *, consumer: ConsumerId) -> State | None:
    """The coordinator handles a JoinGroup: it gives out a member id, adds, updates or replaces a member, or refuses."""
    if state.requests[consumer] is not Request.JOIN or state.group.phase is GroupState.DEAD:
        return None
    state = put(state, requests={consumer: None})
    seat = state.consumers[consumer].seat
    if not supports(state, config, seat):
        return answer_join(state, consumer, Answer(Error.INCONSISTENT_GROUP_PROTOCOL))
    if state.consumers[consumer].has_member_id:
        return join_again(state, config, consumer)
    if is_static(config, seat):
        former = static_member(state, seat)
        if former is not None and may_replace(rules, state):
            return replace_static_member(state, rules, config, former, consumer)
    state = leave_unused(state, consumer)
    if not is_static(config, seat) and requires_member_id(rules):
        state = put(state, members={consumer: Member(seat, Waiting.TO_JOIN)})
        return answer_join(state, consumer, Answer(Error.MEMBER_ID_REQUIRED))
    return add_member(state, config, consumer)


@action(consumer=consumers)
@kafka(
    "GroupMetadataManager.classicGroupSyncToClassicGroup",
    versions="4.0–4.3",
    simplified="the leader's assignment is computed when its SyncGroup is accepted; what it was computed from cannot have changed; "
    "a group that is Dead answers nothing; writing never fails",
)
def coordinator_handle_sync(state: State, rules: Rules, config: Config, bounds: Bounds, *, consumer: ConsumerId) -> State | None:
    """The coordinator handles a SyncGroup: the leader's assignment is written, others wait, and a stable group has the answer."""
    if state.requests[consumer] is not Request.SYNC or state.group.phase is GroupState.DEAD:
        return None
    state = put(state, requests={consumer: None})
    error, member = standing(state, config, consumer), state.members[consumer]
    if error is not Error.NONE or member is None:
        return answer_sync(state, consumer, Answer(error))
    if state.consumers[consumer].generation != state.group.generation or not may_sync(rules, member):
        return answer_sync(state, consumer, Answer(Error.ILLEGAL_GENERATION))
    return sync(state, rules, bounds, consumer, member)


@action()
@kafka(
    "GroupMetadataManager.classicGroupSyncToClassicGroup",
    versions="4.0–4.3",
    simplified="what was appended outlives the coordinator, replicated or not: had it been lost, that is as if the coordinator had "
    "resigned before",
)
def coordinator_commit_assignment(state: State) -> State | None:
    """The leader's assignment is replicated: the group is stable, and every member that waits for its assignment gets it."""
    if state.group.phase is not GroupState.COMPLETING_REBALANCE or state.record.generation != state.group.generation:
        return None
    for member, one in members_of(state):
        stored = state.stored[member]
        if stored is None:
            impossible("a member of this generation is not in its record")
        if one.waiting is Waiting.SYNC:
            state = answer_sync(state, member, Answer(assignment=stored.assignment))
        waiting = Waiting.NOTHING if one.waiting is Waiting.SYNC else one.waiting
        state = put(state, members={member: put(one, waiting=waiting, assignment=stored.assignment)})
    return put(state, group=put(state.group, phase=GroupState.STABLE))


# -- timeouts --


@action()
@kafka(
    "GroupMetadataManager.completeClassicGroupJoin; GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule",
    versions="4.0–4.3",
    simplified="untimed: at any moment; each consumer that runs and has not joined costs a perturbation, unless it is the initial delay "
    "of a group that was empty",
)
def coordinator_rebalance_timeout(state: State, config: Config) -> State | None:
    """The time to join is over: the next generation begins without the dynamic members that have not joined."""
    if state.group.phase is not GroupState.PREPARING_REBALANCE:
        return None
    if all_joined(state) and not state.group.is_initial:
        return None
    members = [one for _, one in members_of(state)]
    if members and all(is_static(config, one.seat) and not one.has_joined for one in members):
        return None
    late = [] if state.group.is_initial else [member for member in late_ids(state) if is_alive(state, member)]
    paused = spend(state, Perturbation.PAUSE, len(late))
    return None if paused is None else complete_join(paused, config)


@action(member=member_ids)
@kafka(
    "GroupMetadataManager.expireClassicGroupMemberHeartbeat",
    versions="4.0–4.3",
    simplified="untimed: at any moment; costs a perturbation if the member's consumer runs; of members that are new and wait for their "
    "first generation only those expire whose consumer has gone",
)
def coordinator_expire_session(state: State, config: Config, *, member: MemberId) -> State | None:
    """A member's session expires: it is removed, and the others rebalance; an id that nobody joined with is forgotten."""
    one, alive = state.members[member], is_alive(state, member)
    if one is None or one.waiting in (Waiting.JOIN, Waiting.SYNC) or (one.waiting is Waiting.FIRST_JOIN and alive):
        return None
    paused = spend(state, Perturbation.PAUSE, int(alive))
    if paused is None:
        return None
    state = remove(paused, member)
    if state.group.phase is GroupState.PREPARING_REBALANCE:
        return complete_join(state, config) if all_joined(state) else state
    return state if one.is_pending else prepare_rebalance(state, config)


@action()
@kafka(
    "GroupMetadataManager.expirePendingSync",
    versions="4.0–4.3",
    simplified="untimed: at any moment; each consumer that runs and has not sent SyncGroup costs a perturbation; a static member that "
    "was replaced is not waited for",
)
def coordinator_expire_sync(state: State, config: Config) -> State | None:
    """The time to sync is over: members that have not sent SyncGroup are removed, and the others rebalance."""
    if state.group.phase not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
        return None
    late = [member for member, one in members_of(state) if one.pending_sync]
    paused = spend(state, Perturbation.PAUSE, sum(is_alive(state, member) for member in late))
    if not late or paused is None:
        return None
    state = paused
    for member in late:
        state = remove(state, member)
    return prepare_rebalance(state, config)


# -- another coordinator --


@action()
@kafka(
    "GroupMetadataManager.onUnloaded",
    versions="4.0–4.3",
    simplified="costs a perturbation; consumers that wait find out and join again in the same step; requests under way reach the next "
    "coordinator; the former one does nothing any more",
)
def coordinator_resign(state: State) -> State | None:
    """The coordinator loses its partition of the log: the group is Dead to it, and who waits for an answer joins again."""
    if state.group.phase is GroupState.DEAD:
        return None
    for consumer, mine in enumerate(state.consumers):
        waits = mine.phase in (MemberState.PREPARING_REBALANCE, MemberState.COMPLETING_REBALANCE)
        if waits and state.requests[consumer] is None and state.answers[consumer] is None:
            state = put(state, consumers={consumer: joining_again(mine)}, requests={consumer: Request.JOIN})
    state = put(state, group=Group(GroupState.DEAD, UNKNOWN_GENERATION), members=(None,) * len(state.members))
    return spend(state, Perturbation.FAILOVER)


@action()
@kafka(
    "GroupMetadataManager.replay; GroupMetadataManager.onLoaded",
    versions="4.0–4.3",
    simplified="in one step; the group's last record says all",
)
def coordinator_load(state: State) -> State | None:
    """Another coordinator loads the group from the log: it is Stable, or Empty if the log knows no member."""
    if state.group.phase is not GroupState.DEAD:
        return None
    members = tuple(
        None if one is None else Member(one.seat, Waiting.NOTHING, claim=one.claim, assignment=one.assignment) for one in state.stored
    )
    record = state.record
    has_members = any(one is not None for one in state.stored)
    group = Group(GroupState.STABLE if has_members else GroupState.EMPTY, record.generation, record.leader, record.assignor)
    return put(state, group=group, members=members)


# -- helpers --


def sync(state: State, rules: Rules, bounds: Bounds, consumer: ConsumerId, member: Member) -> State:
    """Handle the SyncGroup of a member of this generation."""
    match state.group.phase:
        case GroupState.PREPARING_REBALANCE:
            return answer_sync(state, consumer, Answer(Error.REBALANCE_IN_PROGRESS))
        case GroupState.COMPLETING_REBALANCE:
            state = put(state, members={consumer: put(member, waiting=Waiting.SYNC, pending_sync=False)})
            return write_assignment(state, rules, bounds) if state.group.leader == consumer else state
        case GroupState.STABLE:
            state = put(state, members={consumer: put(member, pending_sync=False)})
            return answer_sync(state, consumer, Answer(assignment=member.assignment))
        case _:
            return impossible("a group without members has one")


def join_again(state: State, config: Config, consumer: ConsumerId) -> State:
    """Handle the JoinGroup of a consumer that has a member id (``classicGroupJoinExistingMember``)."""
    member, claim = state.members[consumer], claim_of(state.consumers[consumer])
    if member is not None and member.is_pending:
        return add_member(state, config, consumer)
    error = standing(state, config, consumer)
    if error is not Error.NONE or member is None:
        return answer_join(state, consumer, Answer(error))
    is_unchanged = member.claim == claim
    is_follower = state.group.leader != consumer
    if is_unchanged and (state.group.phase is GroupState.COMPLETING_REBALANCE or (state.group.phase is GroupState.STABLE and is_follower)):
        if member.waiting is Waiting.LATE_JOIN:
            state = put(state, members={consumer: put(member, waiting=Waiting.NOTHING)})
        return answer_join(state, consumer, Answer(generation=state.group.generation))
    waiting = member.waiting if member.has_joined else Waiting.JOIN
    return prepare_or_complete(put(state, members={consumer: put(member, claim=claim, waiting=waiting)}), config)


def replace_static_member(state: State, rules: Rules, config: Config, former: MemberId, consumer: ConsumerId) -> State:
    """Give a static member's place to a consumer that joins anew (``updateStaticMemberThenRebalanceOrCompleteJoin``).

    The former member id is fenced at once, also where it waits for an answer. A stable group stays as it is.
    """
    member = state.members[former]
    if member is None:
        impossible("a member that is to be replaced is none")
    is_leader = state.group.leader == former
    state = put(state, members={former: None})
    if former != consumer:
        fenced = Answer(Error.FENCED_INSTANCE_ID)
        state = answer_sync(answer_join(state, former, fenced), former, fenced)
    state = leave_unused(state, consumer)
    is_stable = state.group.phase is GroupState.STABLE
    waiting = Waiting.NOTHING if is_stable else Waiting.JOIN
    renewed = Member(member.seat, waiting, claim_of(state.consumers[consumer]), member.assignment)
    state = put(state, members={consumer: renewed})
    if is_leader:
        state = put(state, group=put(state.group, leader=consumer))
    if not is_stable:
        preparing = state.group.phase is GroupState.PREPARING_REBALANCE
        return complete_if_all_joined(state, config) if preparing else prepare_rebalance(state, config)
    if state.group.assignor is not selected_assignor(state, config) or rebalances_on_return(rules, member):
        return prepare_rebalance(put(state, members={consumer: put(renewed, waiting=Waiting.JOIN)}), config)
    if stores_rejoin(rules):
        state = write(state, {known: one.stored for known, one in members_of(state)})
    return answer_join(state, consumer, Answer(generation=state.group.generation))
