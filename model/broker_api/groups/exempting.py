# SPDX-License-Identifier: Apache-2.0
"""Checks that are not made of some requests, and requests that cannot be answered surely."""

from __future__ import annotations

from hwmark.model.broker_api.state import State

from .consumer import attempted, has_choice, updated
from .identity import consumer_of, epoch_of, id_of
from .requests import (
    Await,
    ConsumerGroupHeartbeat,
    Identity,
    JoinGroup,
    LeaveGroup,
    Metadata,
    OffsetCommit,
    OffsetFetch,
    SyncGroup,
    TxnOffsetCommit,
)
from .state import NO_ID, Groups

MEMBERSHIP = frozenset({"known_instance", "fenced_instance", "known_member"})
EVERYTHING = MEMBERSHIP | {"current_generation", "current_epoch", "held_partition"}
"""All that is checked of members that commit."""
MOST_MEMBERS = 2
"""So many ids are in a group at most, with those that were given to nobody yet: there is one way only to choose the next leader."""

# -- checks that are not made --


def of_joining(state: State, request: JoinGroup) -> frozenset[str]:
    """Who has no id yet, or has just been given one, is no member."""
    member_id, group = id_of(state, request), state.groups.classic
    return MEMBERSHIP if member_id == NO_ID or (group is not None and member_id in group.pending) else frozenset()


def of_leaving(state: State, request: LeaveGroup) -> frozenset[str]:
    """An id that was just given is given back; a static member can be removed without its id."""
    member_id, group = id_of(state, request), state.groups.classic
    if group is not None and member_id in group.pending:
        return MEMBERSHIP
    if member_id == NO_ID and request.instance is not None:
        return frozenset({"fenced_instance", "known_member"})
    return frozenset()


def of_members(state: State, request: OffsetCommit | TxnOffsetCommit) -> frozenset[str]:
    """Where there are no members anybody commits by hand; members of the consumer protocol are known by their ids alone."""
    groups, epoch = state.groups, epoch_of(state, request)
    if epoch < 0 and (groups.is_empty or (groups.classic is None and groups.consumer is None)):
        return EVERYTHING
    if groups.consumer is None:
        return frozenset()
    member = consumer_of(state, request)
    is_older = member is not None and epoch < member.epoch and "held_partition" not in state.lacks
    return frozenset({"known_instance", "fenced_instance"} | ({"current_epoch"} if is_older else set()))


def of_fetching(_state: State, request: OffsetFetch) -> frozenset[str]:
    """Anybody may ask who does not say that it is a member."""
    return frozenset({"known_member", "current_epoch"}) if request.identity is Identity.NONE else frozenset()


def of_beating(state: State, request: ConsumerGroupHeartbeat) -> frozenset[str]:
    """Who comes with epoch 0 begins anew, whatever its epoch was."""
    return frozenset({"member_epoch"}) if epoch_of(state, request) == 0 and "begins_anew_at_any_epoch" not in state.lacks else frozenset()


# -- requests that are not asked --


def joins_too_many(groups: Groups, *, is_new: bool) -> bool:
    """Whether a group would have more ids than can be followed."""
    group = groups.classic
    known = len(group.members) + len(group.pending) if group is not None else len(groups.member_ids)
    return is_new and known >= MOST_MEMBERS


def no_joining(state: State, request: JoinGroup) -> bool:
    """Whether a member asks again before it was answered, or a group of the consumer protocol would have members of both."""
    groups, member_id = state.groups, id_of(state, request)
    if groups.waits(request.member):
        return True
    if groups.consumer is not None:
        is_first = member_id == NO_ID and request.instance is None
        return not is_first if groups.consumer.members else member_id != NO_ID
    if groups.classic is not None and member_id in groups.classic.pending and request.instance is not None:
        return True
    return joins_too_many(groups, is_new=member_id == NO_ID and request.instance not in groups.instances)


def no_syncing(state: State, request: SyncGroup) -> bool:
    """Whether a member asks again before it was answered."""
    return state.groups.waits(request.member)


def no_awaiting(state: State, request: Await) -> bool:
    """Whether there is nothing to hear."""
    return request.member not in dict(state.groups.heard)


def no_leaving(state: State, request: LeaveGroup) -> bool:
    """Whether the last member leaves while an id is pending: then how the group goes on is a matter of time."""
    group, member_id = state.groups.classic, id_of(state, request)
    if group is None or len(group.members) != 1 or not group.pending:
        return False
    return member_id not in group.pending


def no_committing(state: State, request: OffsetCommit | TxnOffsetCommit) -> bool:
    """Whether a group would be made by a commit that is refused."""
    return request.metadata is Metadata.TOO_LARGE and state.groups.classic is None and state.groups.consumer is None


def no_beating(state: State, request: ConsumerGroupHeartbeat) -> bool:
    """Whether a group of the classic protocol would have members of both, or too many, or an assignor a choice.

    Neither does a member get another instance than it has.
    """
    groups, asking = state.groups, attempted(state, request)
    if epoch_of(state, request) >= 0 and has_choice(updated(asking, request)[-1]):
        return True
    if epoch_of(state, request) != 0:
        return False
    if groups.classic is not None and not groups.is_empty:
        return groups.classic.protocol_type == "consumer"
    member_id, member = id_of(asking, request), consumer_of(asking, request)
    if member is not None and request.instance not in {None, member.instance}:
        return True
    return joins_too_many(groups, is_new=member_id not in groups.member_ids and request.instance not in groups.instances)
