# SPDX-License-Identifier: Apache-2.0
"""What a coordinator does with heartbeats of the consumer protocol (KIP-848), with one partition to give.

Two members at most are in a group, so that the assignor has no choice: whoever has the partition keeps it as long as it subscribes.
"""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

from .identity import epoch_of, id_of, makes_id
from .requests import ConsumerGroupHeartbeat, Epoch, HeartbeatAnswered, Owned, Subscription
from .state import NO_ID, ConsumerGroup, ConsumerMember, Reconciliation

LEFT = -2
"""The epoch of a static member that comes back soon."""


def attempted(state: State, request: ConsumerGroupHeartbeat, _failed: str = "") -> State:
    """Return the state after a request, refused or not: an id that was made up is kept."""
    if not makes_id(state, request):
        return state
    made, groups = state.groups.making(request.member)
    return evolve(state, groups=groups.giving(request.member, made))


def beaten(state: State, request: ConsumerGroupHeartbeat) -> Outcome:
    """Let a member join, stay or leave (``GroupMetadataManager.consumerGroupHeartbeat``)."""
    state = attempted(state, request)
    if epoch_of(state, request) < 0:
        return left(state, request)
    rule, before, member, group = updated(state, request)
    group = aimed(group)
    member = reconciled(group, member, request.owned, state.lacks)
    group = put(group, member)
    is_told = epoch_of(state, request) == 0 or is_whole(request) or member.assigned != before.assigned
    partitions = ((0,) if member.assigned is not None else ()) if is_told or "told_only_when_changed" in state.lacks else None
    groups = evolve(state.groups, classic=None, consumer=group).telling(request.member, member.epoch, is_consumer=True)
    return Outcome(rule, HeartbeatAnswered(Errors.NONE, member.id, member.epoch, partitions), evolve(state, groups=groups))


def updated(state: State, request: ConsumerGroupHeartbeat) -> tuple[str, ConsumerMember, ConsumerMember, ConsumerGroup]:
    """Return which rule decides, a member before and after what it says, and its group, which may begin an epoch.

    A group of the classic protocol without members makes way for a new one.
    """
    member_id, group = id_of(state, request), state.groups.consumer or ConsumerGroup()
    before = group.member(member_id)
    rule = "member_stays"
    if before is None:
        gone = next((one for one in group.members if one.instance == request.instance), None) if request.instance is not None else None
        rule, before = "member_joins", ConsumerMember(member_id)
        if gone is not None:
            rule, before = "static_member_returns", evolve(gone, id=member_id, epoch=0, previous_epoch=0)
            owner = member_id if group.owner == gone.id else group.owner
            group = evolve(group, members=tuple(one for one in group.members if one is not gone), owner=owner)
    is_said = request.subscription is not Subscription.UNSAID
    subscribed = request.subscription is Subscription.TOPIC if is_said else before.subscribed
    member = evolve(before, subscribed=subscribed, instance=request.instance or before.instance)
    if subscribed != before.subscribed or group.epoch == 0:
        group = evolve(group, epoch=group.epoch + 1)
    return rule, before, member, put(group, member)


def has_choice(group: ConsumerGroup) -> bool:
    """Whether an assignor may choose who gets the partition: nobody has had it, and both subscribe."""
    return group.target_epoch != group.epoch and group.owner == NO_ID and sum(one.subscribed for one in group.members) > 1


def is_whole(request: ConsumerGroupHeartbeat) -> bool:
    """Whether a request says all that a member can say."""
    return not request.timeless and request.subscription is not Subscription.UNSAID and request.owned is not Owned.UNSAID


def put(group: ConsumerGroup, member: ConsumerMember) -> ConsumerGroup:
    """Put a member in place of what it was."""
    return evolve(group, members=(*(one for one in group.members if one.id != member.id), member))


def aimed(group: ConsumerGroup) -> ConsumerGroup:
    """Return the group with the target of its epoch (``GroupMetadataManager.maybeUpdateTargetAssignment``)."""
    if group.target_epoch == group.epoch:
        return group
    subscribers = [one.id for one in group.members if one.subscribed]
    owner = group.owner if group.owner in subscribers else subscribers[0] if subscribers else NO_ID
    return evolve(group, target_epoch=group.epoch, owner=owner)


def reconciled(group: ConsumerGroup, member: ConsumerMember, owned: Owned, lacks: frozenset[str]) -> ConsumerMember:
    """Bring a member nearer to its target (``CurrentAssignmentBuilder``)."""
    has = owned is not Owned.NOTHING
    if member.state is Reconciliation.STABLE and member.epoch == group.target_epoch:
        return member
    if member.state is Reconciliation.UNREVOKED and has:
        return member
    is_wanted = group.owner == member.id
    if member.assigned is not None and not is_wanted and has and "revoked_before_assigned" not in lacks:
        revoked = member.assigned
        return evolve(member, state=Reconciliation.UNREVOKED, previous_epoch=member.epoch, assigned=None, revoked=revoked)
    is_held = any(one.held is not None for one in group.members if one.id != member.id)
    if member.revoked is not None and "own_partition_comes_back" in lacks:
        is_held = True
    is_unreleased = is_wanted and member.assigned is None and is_held and "one_owner" not in lacks
    since = (group.target_epoch if member.assigned is None else member.assigned) if is_wanted and not is_unreleased else None
    return evolve(
        member,
        state=Reconciliation.UNRELEASED if is_unreleased else Reconciliation.STABLE,
        epoch=group.target_epoch,
        previous_epoch=member.epoch,
        assigned=since,
        revoked=None,
    )


def left(state: State, request: ConsumerGroupHeartbeat) -> Outcome:
    """Let a member leave; a static one may come back to its place (``GroupMetadataManager.consumerGroupLeave``)."""
    groups, member_id = state.groups, id_of(state, request)
    is_static = request.instance is not None
    stays = is_static and request.epoch is Epoch.LEAVE_STATIC
    answer = HeartbeatAnswered(Errors.NONE, member_id, epoch_of(state, request))
    group = groups.consumer
    member = None if group is None else group.member(member_id)
    if group is None or member is None:
        return Outcome("leave", answer, state)
    if not stays or "static_member_keeps_its_place" in state.lacks:
        groups = evolve(groups, consumer=fenced(group, member_id))
        return Outcome("static_member_leaves" if stays else "leave", answer, evolve(state, groups=groups))
    gone = evolve(member, epoch=LEFT, revoked=None, assigned=None if member.assigned is None else 0)
    groups = evolve(groups, consumer=put(group, gone))
    return Outcome("static_member_leaves", answer, evolve(state, groups=groups))


def fenced(group: ConsumerGroup, member_id: str) -> ConsumerGroup:
    """Remove a member, which begins a new epoch (``GroupMetadataManager.consumerGroupFenceMember``)."""
    members = tuple(one for one in group.members if one.id != member_id)
    return evolve(group, members=members, epoch=group.epoch + 1, owner=NO_ID if group.owner == member_id else group.owner)
