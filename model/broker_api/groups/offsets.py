# SPDX-License-Identifier: Apache-2.0
"""What a coordinator does with committed offsets, and what it tells of the group."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import Errors, Where
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

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
)
from .state import ClassicGroup, CommittedOffset, Phase

DONE = Answered(Errors.NONE)


def committed(state: State, request: OffsetCommit) -> Outcome:
    """Keep an offset; a group that there was not is made for it (``OffsetMetadataManager.commitOffset``)."""
    groups = state.groups
    if groups.classic is None and groups.consumer is None and "commit_makes_a_group" not in state.lacks:
        groups = evolve(groups, classic=ClassicGroup())
    metadata = "some" if request.metadata is Metadata.SOME and "metadata_is_kept" not in state.lacks else ""
    if "offset_is_kept" not in state.lacks and request.where is Where.PARTITION:
        groups = evolve(groups, committed=CommittedOffset(request.offset, metadata))
    return Outcome("commit", DONE, evolve(state, groups=groups))


def fetched(state: State, request: OffsetFetch) -> Outcome:
    """Return the committed offset, -1 where there is none (``OffsetMetadataManager.fetchOffsets``)."""
    known = state.groups.committed if request.where is Where.PARTITION else None
    if known is None:
        return Outcome("never_committed", OffsetFetched(Errors.NONE), state)
    return Outcome("committed_offset", OffsetFetched(Errors.NONE, known.offset, known.metadata), state)


def deleted(state: State, request: OffsetDelete) -> Outcome:
    """Forget the committed offset (``OffsetMetadataManager.deleteOffsets``)."""
    is_kept = "offset_is_deleted" in state.lacks or request.where is not Where.PARTITION
    groups = state.groups if is_kept else evolve(state.groups, committed=None)
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
    kept = state.groups.committed if "offsets_go_with_the_group" in state.lacks else None
    return Outcome("delete_group", DONE, evolve(state, groups=evolve(state.groups, classic=None, consumer=None, committed=kept)))


def coordinator(state: State, _request: FindCoordinator) -> Outcome:
    """Name the coordinator (``KafkaApis.getCoordinator``)."""
    return Outcome("coordinator", DONE, state)
