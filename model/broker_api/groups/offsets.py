# SPDX-License-Identifier: Apache-2.0
"""What a coordinator does with committed offsets, and what it tells of the group."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import Errors, Where
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

from .pending import kept
from .requests import (
    Answered,
    DeleteGroup,
    Described,
    DescribeGroup,
    FindCoordinator,
    Metadata,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    OffsetFetched,
    TxnOffsetCommit,
)
from .state import ClassicGroup, CommittedOffset, Groups, Phase

DONE = Answered(Errors.NONE)


def committed(state: State, request: OffsetCommit) -> Outcome:
    """Keep an offset; a group that there was not is made for it (``OffsetMetadataManager.commitOffset``)."""
    groups = made(state)
    if "offset_is_kept" not in state.lacks and request.where is Where.PARTITION:
        groups = kept(groups, committed_with(state, request), state.lacks)
    return Outcome("commit", DONE, evolve(state, groups=groups))


def made(state: State) -> Groups:
    """Return what is known once there is a group: one that nobody has joined yet, if there was none."""
    groups = state.groups
    if groups.classic is not None or groups.consumer is not None or "commit_makes_a_group" in state.lacks:
        return groups
    return evolve(groups, classic=ClassicGroup())


def committed_with(state: State, request: OffsetCommit | TxnOffsetCommit) -> CommittedOffset:
    """Return what a request commits."""
    metadata = "some" if request.metadata is Metadata.SOME and "metadata_is_kept" not in state.lacks else ""
    return CommittedOffset(request.offset, metadata)


def fetched(state: State, request: OffsetFetch) -> Outcome:
    """Return the committed offset, -1 where there is none (``OffsetMetadataManager.fetchOffsets``)."""
    known = state.groups.committed if request.where is Where.PARTITION else None
    if known is None:
        return Outcome("never_committed", OffsetFetched(Errors.NONE), state)
    return Outcome("committed_offset", OffsetFetched(Errors.NONE, known.offset, known.metadata), state)


def deleted(state: State, request: OffsetDelete) -> Outcome:
    """Forget the committed offset, and what is pending (``OffsetMetadataManager.deleteOffsets``, ``replay``)."""
    if "offset_is_deleted" in state.lacks or request.where is not Where.PARTITION:
        return Outcome("delete_offset", DONE, state)
    pending = state.groups.pending if "deletion_is_of_pending_too" in state.lacks else ()
    groups = evolve(state.groups, committed=None, pending=pending)
    return Outcome("delete_offset", DONE, evolve(state, groups=groups))


def described(state: State, _request: DescribeGroup) -> Outcome:
    """Tell the state of a group; the protocol only where it is stable (``GroupMetadataManager.describeGroups``)."""
    group = state.groups.classic
    if group is None:
        return Outcome("describe", Described(Errors.NONE, "Dead"), state)
    protocol = group.protocol if group.phase is Phase.STABLE or "protocol_of_stable_groups" in state.lacks else ""
    answer = Described(Errors.NONE, group.phase.value, group.protocol_type, protocol, len(group.members))
    return Outcome("describe", answer, state)


def removed(state: State, _request: DeleteGroup) -> Outcome:
    """Forget the group, and what it has committed (``GroupCoordinatorShard.deleteGroups``)."""
    committed = state.groups.committed if "offsets_go_with_the_group" in state.lacks else None
    pending = state.groups.pending if "deletion_is_of_pending_too" in state.lacks else ()
    groups = evolve(state.groups, classic=None, consumer=None, committed=committed, pending=pending)
    return Outcome("delete_group", DONE, evolve(state, groups=groups))


def coordinator(state: State, _request: FindCoordinator) -> Outcome:
    """Name the coordinator (``KafkaApis.getCoordinator``)."""
    return Outcome("coordinator", DONE, state)
