# SPDX-License-Identifier: Apache-2.0
"""What the group coordinator does: it handles heartbeats, takes members for dead, and moves to another broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from hwmark.model.machine import action, impossible, kafka, put
from hwmark.model.ownership import MemberId

from .assignor import Targets, legal, uniform
from .client import after_failure
from .reconciliation import (
    JOIN_EPOCH,
    NOT_HELD,
    STATIC_LEAVE_EPOCH,
    Error,
    Member,
    MemberState,
    Target,
    all_held,
    heartbeat_error,
    held,
    left_for_a_while,
    new_member,
    reconcile,
    taken_over,
    updated_partition_epochs,
)
from .rules import Assignor, InstanceClaim, Rules
from .state import (
    NO_ASSIGNMENT_EPOCH,
    OUTSIDE,
    Bounds,
    ClientState,
    Config,
    Group,
    Request,
    Response,
    State,
    assignments,
    is_static,
    processes,
    same_instance,
    spent,
)


def delays(_: Bounds) -> tuple[bool, ...]:
    """Return whether the assignor has to wait."""
    return (False, True)


# -- rules --


def target_assignment(rules: Rules, bounds: Bounds, former: Targets, assignment: int) -> Targets | None:
    """Return the target of each member, given the former ones; the number chooses where several are allowed."""
    match rules.assignor:
        case Assignor.UNIFORM:
            return uniform(former, bounds.partitions) if assignment == 0 else None
        case Assignor.ANY:
            return legal(list(former), bounds.partitions, assignment, len(processes(bounds)))
        case _:
            assert_never(rules.assignor)


def is_unreleased(rules: Rules, record: Member, *, is_rival: bool) -> bool:
    """Whether the instance id of a member that joins is still in use by who has it."""
    match rules.instance_claim:
        case InstanceClaim.OTHER_MEMBER:
            return is_rival and record.member_epoch != STATIC_LEAVE_EPOCH
        case InstanceClaim.ANY_MEMBER:
            return record.member_epoch != STATIC_LEAVE_EPOCH
        case _:
            assert_never(rules.instance_claim)


# -- heartbeats --


@action(member=processes, delayed=delays, assignment=assignments)
@kafka(
    "GroupMetadataManager.consumerGroupHeartbeat; GroupMetadataManager.maybeUpdateTargetAssignment; "
    "GroupMetadataManager.maybeReconcile; CurrentAssignmentBuilder.build",
    versions="4.2–4.3",
    simplified="one topic, to which all members subscribe, and which never changes; the records are committed at once; the interval "
    "between two target assignments (since 4.3) may be over at any moment; until 4.1 a member that had given up and has to give up more "
    "was moved on by one epoch, and waited for what itself had been giving up",
)
def coordinator_handle_heartbeat(  # noqa: PLR0913 - it decides everything
    state: State, rules: Rules, config: Config, bounds: Bounds, *, member: MemberId, delayed: bool, assignment: int
) -> State | None:
    """The coordinator handles a heartbeat: it lets the member in, renews the target assignment if due, and takes the member a step on."""
    request = state.heartbeats[member]
    if (delayed and not config.assignment_interval) or not isinstance(request, Request) or request.member_epoch < JOIN_EPOCH:
        return None
    holder = instance_holder(state, bounds, member)
    before = state.members[holder]
    error = refusal(rules, before, request, has_instance=is_static(bounds, member), is_rival=holder != member)
    if error is not Error.NONE:
        return put(state, heartbeats={member: answer(state, member, Response(error=error))}) if assignment == 0 and not delayed else None
    is_new = before is None
    group_epoch, assignment_epoch = state.group.group_epoch + is_new, state.group.assignment_epoch
    is_due = group_epoch > assignment_epoch
    if (delayed and (not is_due or assignment_epoch == NO_ASSIGNMENT_EPOCH)) or (assignment != 0 and (delayed or not is_due)):
        return None
    targets: Targets | None = {member: state.targets[holder]}
    if is_due and not delayed:
        targets, assignment_epoch = target_assignment(rules, bounds, former_targets(state, bounds, holder, member), assignment), group_epoch
    if targets is None:
        return None
    record = new_member(bounds.partitions) if before is None else welcomed(before)
    target = Target(assignment_epoch, targets[member], frozenset(range(bounds.partitions)), is_resubscribed=is_new)
    after = reconcile(rules, record, target, request.owned, state.partition_epochs)
    tells = request.is_full or after.assigned != record.assigned
    response = Response(after.member_epoch, held(after.assigned) if tells else None)
    gone = {} if holder == member else {holder: None}
    return put(
        state,
        group=Group(group_epoch, assignment_epoch),
        members={**gone, member: after},
        targets={**dict.fromkeys(gone, frozenset[int]()), **targets},
        partition_epochs=dict(updated_partition_epochs(rules, state.partition_epochs, before, after)),
        heartbeats={member: answer(state, member, response)},
    )


def refusal(rules: Rules, record: Member | None, request: Request, *, has_instance: bool, is_rival: bool) -> Error:
    """Return why a heartbeat is refused, given the record of the member, or of the rival that has its instance id.

    See ``GroupMetadataManager.getOrMaybeSubscribeDynamicConsumerGroupMember`` and ``getOrMaybeSubscribeStaticConsumerGroupMember``.
    """
    is_join = request.member_epoch == JOIN_EPOCH
    if record is None:
        return Error.NONE if is_join else Error.UNKNOWN_MEMBER_ID
    if is_join and has_instance:
        return Error.UNRELEASED_INSTANCE_ID if is_unreleased(rules, record, is_rival=is_rival) else Error.NONE
    if is_rival:
        return Error.FENCED_INSTANCE_ID
    return heartbeat_error(rules, record, request.member_epoch, request.owned)


def welcomed(record: Member) -> Member:
    """Return the record of a member as it is reconciled: one that was left for a while is taken over."""
    return taken_over(record) if record.member_epoch == STATIC_LEAVE_EPOCH else record


def instance_holder(state: State, bounds: Bounds, member: MemberId) -> MemberId:
    """Return the member that has the instance id of this process (``ConsumerGroup.staticMember``), itself if nobody has, or it has none."""
    if not is_static(bounds, member):
        return member
    return next((other for other in same_instance(bounds, member) if state.members[other] is not None), member)


def former_targets(state: State, bounds: Bounds, holder: MemberId, member: MemberId) -> Targets:
    """Return the targets of all members, with the sender of a heartbeat in the place of whom it replaces."""
    others = [other for other in processes(bounds) if other not in {holder, member} and state.members[other] is not None]
    return {other: state.targets[holder if other == member else other] for other in sorted((*others, member))}


def answer(state: State, member: MemberId, response: Response) -> Response | None:
    """Return what is on its way to a member once it is answered: nothing if its process is gone."""
    return None if state.clients[member].state is ClientState.GONE else response


# -- leaving --


@action(member=processes)
@kafka(
    "GroupMetadataManager.consumerGroupLeave; GroupMetadataManager.consumerGroupStaticMemberGroupLeave",
    versions="4.0–4.3",
    simplified="the answer is left out: who leaves does not wait for it; there are assignment epochs since 4.3",
)
def coordinator_handle_leave(state: State, rules: Rules, *, member: MemberId) -> State | None:
    """The coordinator removes a member that leaves; a static one that leaves for a while keeps what it is assigned."""
    request = state.heartbeats[member]
    if not isinstance(request, Request) or request.member_epoch >= JOIN_EPOCH:
        return None
    record = state.members[member]
    handled = put(state, heartbeats={member: None})
    if record is None:
        return handled
    if request.member_epoch != STATIC_LEAVE_EPOCH:
        return fenced(handled, rules, member, record)
    left = left_for_a_while(record)
    return put(
        handled,
        members={member: left},
        partition_epochs=dict(updated_partition_epochs(rules, state.partition_epochs, record, left)),
    )


def fenced(state: State, rules: Rules, member: MemberId, record: Member) -> State:
    """Return the state without a member, whose partitions are free now (``GroupMetadataManager.consumerGroupFenceMember``)."""
    return put(
        state,
        group=Group(state.group.group_epoch + 1, state.group.assignment_epoch),
        members={member: None},
        targets={member: frozenset()},
        partition_epochs=dict(updated_partition_epochs(rules, state.partition_epochs, record, None)),
    )


# -- time --


@action(member=processes)
@kafka(
    "GroupMetadataManager.scheduleConsumerGroupSessionTimeout; GroupMetadataManager.consumerGroupFenceMemberOperation",
    versions="4.0–4.3",
    simplified="may happen at any moment; that of a member that still runs counts as something going wrong: it stands still, or its "
    "heartbeats come too late, and it is a zombie from then on",
)
def coordinator_session_timeout(state: State, rules: Rules, *, member: MemberId) -> State | None:
    """The coordinator has not heard of a member for too long, and removes it."""
    record = state.members[member]
    if record is None:
        return None
    budget = state.budget
    if not (state.clients[member].state in OUTSIDE and state.heartbeats[member] is None):
        less = spent(budget, "expirations")
        if less is None:
            return None
        budget = less
    return put(fenced(state, rules, member, record), budget=budget)


@action(member=processes)
@kafka(
    "GroupMetadataManager.scheduleConsumerGroupRebalanceTimeout",
    versions="4.0–4.3",
    simplified="may happen at any moment while the member gives up partitions; the timer ends with the epoch it was set in, so that it "
    "never strikes a member that left for a while",
)
def coordinator_rebalance_timeout(state: State, rules: Rules, *, member: MemberId) -> State | None:
    """A member takes too long to give up partitions, and the coordinator removes it."""
    record, budget = state.members[member], spent(state.budget, "rebalance_timeouts")
    if budget is None or record is None:
        return None
    if record.state is not MemberState.UNREVOKED_PARTITIONS or record.member_epoch == STATIC_LEAVE_EPOCH:
        return None
    return put(fenced(state, rules, member, record), budget=budget)


# -- failover --


@action()
@kafka(
    "GroupCoordinatorShard.replay; GroupMetadataManager.onLoaded",
    versions="4.0–4.3",
    simplified="the last record of each key is read; requests that the former coordinator had are refused and sent anew, answers may "
    "still arrive",
)
def coordinator_failover(state: State, bounds: Bounds) -> State | None:
    """Another broker becomes the coordinator, and knows what the log says."""
    budget = spent(state.budget, "failovers")
    if budget is None:
        return None
    loaded = replayed_partition_epochs(state.members, bounds.partitions)
    if loaded is None:
        impossible("the log gives a partition to two members, and cannot be loaded")
    refused = [member for member in processes(bounds) if isinstance(state.heartbeats[member], Request)]
    return put(
        state,
        partition_epochs=loaded,
        clients={member: after_failure(state.clients[member]) for member in refused},
        heartbeats=dict.fromkeys(refused),
        budget=budget,
    )


def replayed_partition_epochs(members: Sequence[Member | None], partitions: int) -> tuple[int, ...] | None:
    """Return under which epoch each partition is held, as the members' records have it; ``None`` if they contradict each other.

    See ``ConsumerGroup.addPartitionEpochs``, which refuses a partition that is held under the same or a later epoch.
    """
    epochs = [NOT_HELD] * partitions
    for record in members:
        for partition in sorted(frozenset() if record is None else all_held(record)):
            if record is None or epochs[partition] != NOT_HELD:
                return None
            epochs[partition] = record.member_epoch
    return tuple(epochs)
