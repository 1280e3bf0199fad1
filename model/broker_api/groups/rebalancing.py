# SPDX-License-Identifier: Apache-2.0
"""How a group of the classic protocol comes to a new generation, and who hears of it (``GroupMetadataManager``, ``ClassicGroup``)."""

from __future__ import annotations

from collections import Counter

from attrs import evolve

from hwmark.model.broker_api.common import Errors

from .requests import Heard, Joined
from .state import NO_ID, ClassicGroup, ClassicMember, Groups, Phase


def put(group: ClassicGroup, member: ClassicMember) -> ClassicGroup:
    """Add a member, or put it in place of what it was; the first leads (``ClassicGroup.add``)."""
    others = tuple(one for one in group.members if one.id != member.id)
    pending = tuple(one for one in group.pending if one != member.id)
    return evolve(group, members=(*others, member), pending=pending, leader=group.leader or member.id)


def without_member(group: ClassicGroup, member_id: str) -> ClassicGroup:
    """Remove a member, or an id that was given; if it led, another does (``ClassicGroup.remove``)."""
    members = tuple(one for one in group.members if one.id != member_id)
    pending = tuple(one for one in group.pending if one != member_id)
    leader = group.leader if group.leader != member_id else members[0].id if members else NO_ID
    return evolve(group, members=members, pending=pending, leader=leader)


def chosen(group: ClassicGroup) -> str:
    """Return the protocol that most prefer of those that all can work with (``ClassicGroup.selectProtocol``)."""
    votes = Counter(next((name for name in one.protocols if group.supports(name)), "") for one in group.members)
    return max(votes, key=lambda name: votes[name])


def all_joined(group: ClassicGroup) -> bool:
    """Whether nobody is missing (``ClassicGroup.hasAllMembersJoined``)."""
    return all(one.joins for one in group.members) and not group.pending


def prepared(groups: Groups, group: ClassicGroup, lacks: frozenset[str]) -> Groups:
    """Begin a rebalance; who waits for an assignment is told so (``GroupMetadataManager.prepareRebalance``)."""
    if "waiting_syncs_are_told" not in lacks:
        for one in group.members:
            groups = hearing(groups, one.id, Heard(Errors.REBALANCE_IN_PROGRESS), syncs=True)
    is_initial = group.phase is Phase.EMPTY
    group = evolve(group, phase=Phase.PREPARING)
    if is_initial or all_joined(group) or "all_join" in lacks:
        return completed(groups, group)
    return evolve(groups, classic=group)


def prepared_or_completed(groups: Groups, group: ClassicGroup, lacks: frozenset[str]) -> Groups:
    """Begin a rebalance, or end one if all have joined (``GroupMetadataManager.maybePrepareRebalanceOrCompleteJoin``)."""
    if group.phase is not Phase.PREPARING:
        return prepared(groups, group, lacks)
    return completed(groups, group) if all_joined(group) else evolve(groups, classic=group)


def completed(groups: Groups, group: ClassicGroup) -> Groups:
    """Begin a new generation, and tell all who wait for it (``GroupMetadataManager.completeClassicGroupJoin``)."""
    generation = group.generation + 1
    if not group.members:
        subscribed = False if group.protocol_type == "consumer" else None
        return evolve(groups, classic=evolve(group, phase=Phase.EMPTY, generation=generation, protocol="", subscribed=subscribed))
    members = tuple(evolve(one, joins=False) for one in group.members)
    protocol = chosen(group)
    subscribed = True if group.protocol_type == "consumer" else None
    group = evolve(group, phase=Phase.COMPLETING, generation=generation, protocol=protocol, members=members, subscribed=subscribed)
    groups = evolve(groups, classic=group)
    for one in members:
        told = joined(group, one.id)
        heard = Heard(told.error, told.member, told.generation, told.leader, told.protocol_type, told.protocol, told.members)
        groups = hearing(groups, one.id, heard, syncs=False)
    return groups


def joined(group: ClassicGroup, member_id: str) -> Joined:
    """Return what a member is told of the present generation: the leader hears of all."""
    members = tuple(sorted((one.id, one.metadata) for one in group.members)) if group.leader == member_id else ()
    return Joined(Errors.NONE, member_id, group.generation, group.leader, group.protocol_type, group.protocol, members)


def hearing(groups: Groups, member_id: str, answer: Heard, *, syncs: bool) -> Groups:
    """Answer who waits with this id, if somebody does, so that it can be heard."""
    who = next((one for one in groups.waiting if (one.id, one.syncs) == (member_id, syncs)), None)
    if who is None:
        return groups
    waiting = tuple(one for one in groups.waiting if one != who)
    return evolve(groups, waiting=waiting, heard=tuple(sorted({**dict(groups.heard), who.name: answer}.items(), key=lambda one: one[0])))
