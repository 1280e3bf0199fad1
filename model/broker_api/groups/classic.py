# SPDX-License-Identifier: Apache-2.0
"""What a coordinator does with requests of the classic protocol that nothing speaks against; the rule that decides has a name."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

from .consumer import fenced
from .identity import id_of
from .rebalancing import chosen, hearing, joined, prepared_or_completed, put, without_member
from .requests import Answered, Await, Heard, Heartbeat, Joined, JoinGroup, LeaveGroup, Synced, SyncGroup
from .state import NO_ID, ClassicGroup, ClassicMember, Groups, Phase, Waiting

# -- JoinGroup --


def attempted(state: State, request: JoinGroup, _failed: str = "") -> State:
    """Return the state after a request, refused or not: who has no id makes a group where there is none with members.

    One of the consumer protocol without members makes way for it.
    """
    groups = state.groups
    is_made = groups.classic is None and not (groups.consumer is not None and groups.consumer.members)
    if not is_made or id_of(state, request) != NO_ID or request.nameless or request.brief:
        return state
    return evolve(state, groups=evolve(groups, classic=ClassicGroup(), consumer=None))


def joining(state: State, request: JoinGroup) -> Outcome:
    """Let somebody join or come back (``GroupMetadataManager.classicGroupJoinToClassicGroup``)."""
    groups = attempted(state, request).groups
    if groups.classic is None and groups.consumer is not None:
        return given(state, request)
    group = groups.classic or ClassicGroup()
    member_id = id_of(state, request)
    before = groups.instances.get(request.instance or "") if request.instance is not None else None
    if member_id == NO_ID and request.instance is None and "member_id_required" not in state.lacks:
        return given(evolve(state, groups=groups), request)
    if member_id == NO_ID and before is not None and "static_takeover" not in state.lacks:
        return replaced(evolve(state, groups=groups), request, before)
    known = group.member(member_id)
    if member_id == NO_ID:
        member_id, groups = groups.making(request.member)
    joiner = ClassicMember(member_id, request.protocols.names, request.metadata, request.instance, joins=True)
    if known is None:
        rule = "member_joins"
    else:
        joiner = evolve(joiner, instance=known.instance, assignment=known.assignment)
        is_same = (known.protocols, known.metadata) == (joiner.protocols, joiner.metadata)
        is_told = group.phase is Phase.COMPLETING or (group.phase is Phase.STABLE and group.leader != member_id)
        if is_same and is_told and "unchanged_member_stays" not in state.lacks:
            return answered(evolve(state, groups=groups), request, "unchanged_member_stays", joined(group, member_id))
        rule = "member_rejoins"
    if not group.members:
        group = evolve(group, protocol_type=request.protocol_type.value)
    groups = evolve(groups, waiting=(*groups.waiting, Waiting(request.member, member_id, syncs=False)))
    return taken(evolve(state, groups=prepared_or_completed(groups, put(group, joiner), state.lacks)), request, rule)


def given(state: State, request: JoinGroup) -> Outcome:
    """Give a new member an id, with which it has to come again (KIP-394)."""
    made, groups = state.groups.making(request.member)
    groups = groups.giving(request.member, made)
    if groups.classic is not None:
        groups = evolve(groups, classic=evolve(groups.classic, pending=(*groups.classic.pending, made)))
    return Outcome("member_id_required", Joined(Errors.MEMBER_ID_REQUIRED, member=made), evolve(state, groups=groups))


def replaced(state: State, request: JoinGroup, before: str) -> Outcome:
    """Let a static member take the place of itself before (KIP-345, ``updateStaticMemberThenRebalanceOrCompleteJoin``)."""
    group = state.groups.classic
    old = None if group is None else group.member(before)
    if group is None or old is None:
        raise AssertionError("a static member is one of a group")
    for syncs in (False, True):
        state = evolve(state, groups=hearing(state.groups, before, Heard(Errors.FENCED_INSTANCE_ID), syncs=syncs))
    made, groups = state.groups.making(request.member)
    new = evolve(old, id=made, protocols=request.protocols.names, metadata=request.metadata, joins=True)
    leader = made if group.leader == before else group.leader
    group = evolve(group, members=(*(one for one in group.members if one.id != before), new), leader=leader)
    if group.phase is Phase.STABLE and chosen(group) == group.protocol and "static_member_keeps_its_place" not in state.lacks:
        group = put(group, evolve(new, joins=False))
        told = evolve(joined(group, made), skip_assignment=leader == made)
        return answered(evolve(state, groups=evolve(groups, classic=group)), request, "static_member_keeps_its_place", told)
    groups = evolve(groups, waiting=(*groups.waiting, Waiting(request.member, made, syncs=False)))
    return taken(evolve(state, groups=prepared_or_completed(groups, group, state.lacks)), request, "static_takeover")


def taken(state: State, request: JoinGroup, rule: str) -> Outcome:
    """Return the answer to who joined, if there is one already."""
    heard = dict(state.groups.heard)
    told = heard.pop(request.member, None)
    if told is None:
        return Outcome(rule, Joined(Errors.NONE, waits=True), state)
    groups = evolve(state.groups, heard=tuple(sorted(heard.items(), key=lambda one: one[0])))
    answer = Joined(told.error, told.member, told.generation, told.leader, told.protocol_type, told.protocol, told.members)
    return answered(evolve(state, groups=groups), request, rule, answer)


def answered(state: State, request: JoinGroup, rule: str, answer: Joined) -> Outcome:
    """Note what somebody who joined was told."""
    return Outcome(rule, answer, evolve(state, groups=knowing(state.groups, request.member, answer)))


def knowing(groups: Groups, name: str, answer: Joined | Heard) -> Groups:
    """Return what is known once somebody was told of a generation."""
    if answer.generation <= 0:
        return groups
    groups = groups.giving(name, answer.member)
    return evolve(groups.telling(name, answer.generation, is_consumer=False), chosen=(answer.protocol_type, answer.protocol))


# -- SyncGroup --


def syncing(state: State, request: SyncGroup) -> Outcome:
    """Give assignments to all once the leader brings them (``GroupMetadataManager.classicGroupSyncToClassicGroup``)."""
    groups, group, member_id = state.groups, state.groups.classic, id_of(state, request)
    member = None if group is None else group.member(member_id)
    if group is None or member is None:
        return Outcome("assignment", Synced(Errors.NONE), state)  # whoever asks
    if group.phase is not Phase.COMPLETING:
        return Outcome("assignment", Synced(Errors.NONE, member.assignment, group.protocol_type, group.protocol), state)
    if member_id != group.leader and "leader_assigns" not in state.lacks:
        waiting = (*groups.waiting, Waiting(request.member, member_id, syncs=True))
        return Outcome("sync_waits", Synced(Errors.NONE, waits=True), evolve(state, groups=evolve(groups, waiting=waiting)))
    names = {told.last_id: name for name, told in groups.told}
    members = tuple(evolve(one, assignment=f"{request.plan}{names[one.id]}" if one.id in names else "") for one in group.members)
    group = evolve(group, phase=Phase.STABLE, members=members)
    groups = evolve(groups, classic=group)
    for one in members:
        heard = Heard(Errors.NONE, protocol_type=group.protocol_type, protocol=group.protocol, assignment=one.assignment)
        groups = hearing(groups, one.id, heard, syncs=True)
    (own,) = (one.assignment for one in members if one.id == member_id)
    return Outcome("leader_assigns", Synced(Errors.NONE, own, group.protocol_type, group.protocol), evolve(state, groups=groups))


def awaited(state: State, request: Await) -> Outcome:
    """Return the answer that somebody waited for."""
    heard = dict(state.groups.heard)
    told = heard.pop(request.member, Heard(Errors.NONE))
    groups = evolve(state.groups, heard=tuple(sorted(heard.items(), key=lambda one: one[0])))
    return Outcome("rebalance_ends", told, evolve(state, groups=knowing(groups, request.member, told)))


# -- Heartbeat and LeaveGroup --


def beating(state: State, _request: Heartbeat) -> Outcome:
    """Take note that a member is there."""
    return Outcome("heartbeat", Answered(Errors.NONE), state)


def leaving(state: State, request: LeaveGroup) -> Outcome:
    """Remove a member; the others rebalance (``GroupMetadataManager.classicGroupLeaveToClassicGroup``)."""
    groups, left = state.groups, Answered(Errors.NONE)
    member_id = id_of(state, request)
    if member_id == NO_ID and request.instance is not None:
        member_id = groups.instances.get(request.instance, NO_ID)
    if groups.consumer is not None and groups.consumer.member(member_id) is not None:
        return Outcome("leave", left, evolve(state, groups=evolve(groups, consumer=fenced(groups.consumer, member_id))))
    group = groups.classic
    if group is None or (group.member(member_id) is None and member_id not in group.pending):
        return Outcome("leave", left, state)
    groups = hearing(groups, member_id, Heard(Errors.UNKNOWN_MEMBER_ID), syncs=False)
    group = without_member(group, member_id)
    if group.phase is Phase.EMPTY or "leaving_rebalances" in state.lacks:
        return Outcome("leave", left, evolve(state, groups=evolve(groups, classic=group)))
    return Outcome("leave", left, evolve(state, groups=prepared_or_completed(groups, group, state.lacks)))
