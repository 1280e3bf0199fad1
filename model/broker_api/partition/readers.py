# SPDX-License-Identifier: Apache-2.0
"""What a broker answers those who read a partition, or delete from it; the rule that decides each answer has a name."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

from .requests import At, Deleted, DeleteRecords, EpochEnd, Fetch, Fetched, ListOffsets, OffsetForLeaderEpoch, OffsetFound


def fetched(state: State, request: Fetch, without: frozenset[str]) -> Outcome:
    """Return all records from an offset on, and the limits of the log; no transaction is ever open here."""
    start = 0 if "fetch_from_offset" in without else request.offset
    records = tuple((offset, state.log[offset].value) for offset in range(max(start, 0), state.end_offset))
    return Outcome("fetch", Fetched(Errors.NONE, state.end_offset, state.end_offset, state.log_start_offset, records), state)


def listed(state: State, request: ListOffsets, without: frozenset[str]) -> Outcome:
    """Return the offset that is asked for; the rule is named for what is meant."""
    return Outcome(f"{request.at.value}_offset", found(state, request, without), state)


def found(state: State, request: ListOffsets, without: frozenset[str]) -> OffsetFound:
    """Return an offset (``Partition.fetchOffsetForTimestamp``, ``UnifiedLog.fetchOffsetByTimestamp``)."""
    kept = range(state.log_start_offset, state.end_offset)
    match request.at:
        case At.LATEST:
            last = max(state.end_offset - 1, 0) if "latest_is_the_end" in without else state.end_offset
            return OffsetFound(Errors.NONE, last, leader_epoch=0)
        case At.EARLIEST:
            first = 0 if "earliest_is_the_start" in without else state.log_start_offset
            return OffsetFound(Errors.NONE, first, leader_epoch=0)  # the epoch is known since the leader was elected
        case At.MAX_TIMESTAMP:
            latest = max(kept, key=lambda offset: (state.log[offset].timestamp, -offset), default=None)
        case At.TIME | At.UNHEARD_OF:
            later = 1 if "time_is_included" in without else 0
            latest = next((offset for offset in kept if state.log[offset].timestamp >= request.time + later), None)
    if latest is None:
        return OffsetFound(Errors.NONE)
    return OffsetFound(Errors.NONE, latest, state.log[latest].timestamp, 0)


def deleted(state: State, request: DeleteRecords, without: frozenset[str]) -> Outcome:
    """Move the start of the log, never back (``Partition.deleteRecordsOnLeader``)."""
    wanted = state.end_offset if request.offset == NOTHING else request.offset
    start = wanted if "start_never_goes_back" in without else max(state.log_start_offset, wanted)
    return Outcome("delete", Deleted(Errors.NONE, start), evolve(state, log_start_offset=start))


def epoch_end(state: State, request: OffsetForLeaderEpoch, without: frozenset[str]) -> Outcome:
    """Return where a leader epoch ends: the partition has had one only (``LeaderEpochFileCache.endOffsetFor``)."""
    if request.leader_epoch is None or (request.leader_epoch > 0 and "later_epoch_is_undefined" not in without):
        return Outcome("epoch_end", EpochEnd(Errors.NONE), state)
    end = state.end_offset if request.leader_epoch == 0 else 0
    return Outcome("epoch_end", EpochEnd(Errors.NONE, request.leader_epoch, end), state)
