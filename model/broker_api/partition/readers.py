# SPDX-License-Identifier: Apache-2.0
"""What a broker answers those who read a partition, or delete from it; the rule that decides each answer has a name."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

from .leaders import epoch_at, epochs_of
from .requests import LATER, At, Deleted, DeleteRecords, Fetch, Fetched, ListOffsets, OffsetFound
from .state import Marker, Sent
from .transactional import aborted, last_stable_offset


def fetched(state: State, request: Fetch) -> Outcome:
    """Return the records from an offset on, and the limits of the log; who reads what is committed gets those that are decided."""
    start, stable = 0 if "fetch_from_offset" in state.lacks else request.offset, last_stable_offset(state)
    decided = min(stable + 1, state.end_offset) if "first_open_is_not_read" in state.lacks else stable
    end = decided if request.read_committed and "committed_fetch_ends" not in state.lacks else state.end_offset
    kept = [(offset, state.log[offset]) for offset in range(max(start, 0), end)]
    records = tuple((offset, entry.value) for offset, entry in kept if isinstance(entry, Sent))
    is_told = request.read_committed and request.offset < end and "aborted_are_told" not in state.lacks
    passed = tuple((one.producer, one.first) for one in aborted(state) if one.last >= request.offset) if is_told else ()
    answer = Fetched(Errors.NONE, state.end_offset, stable, state.log_start_offset, records, passed)
    return Outcome("fetch_of_follower" if request.of_follower else "fetch", answer, state)


def listed(state: State, request: ListOffsets) -> Outcome:
    """Return the offset that is asked for; the rule is named for what is meant."""
    answer = found(state, request)
    also = () if request.at is not At.MAX_TIMESTAMP else (latest_before(state, range(state.log_start_offset, ending(state, request))),)
    return Outcome(f"{request.at.value}_offset", answer, state, also)


def ending(state: State, request: ListOffsets) -> int:
    """Return the offset before which offsets are told: who reads what is committed is told none that is not decided."""
    return last_stable_offset(state) if request.read_committed and "committed_offsets_end" not in state.lacks else state.end_offset


def latest_before(state: State, kept: range) -> OffsetFound:
    """Return the offset of the largest time in a range."""
    latest = max(kept, key=lambda offset: age(state, offset), default=None)
    return OffsetFound(Errors.NONE) if latest is None else found_at(state, latest)


def found(state: State, request: ListOffsets) -> OffsetFound:
    """Return an offset (``Partition.fetchOffsetForTimestamp``, ``UnifiedLog.fetchOffsetByTimestamp``).

    Kafka looks for the largest time also among records that are deleted, as long as their segment is there.
    """
    kept = range(state.log_start_offset, state.end_offset)
    end = ending(state, request)
    match request.at:
        case At.LATEST:
            return OffsetFound(Errors.NONE, max(end - 1, 0) if "latest_is_the_end" in state.lacks else end, leader_epoch=0)
        case At.EARLIEST:
            first = 0 if "earliest_is_the_start" in state.lacks else state.log_start_offset
            return OffsetFound(Errors.NONE, first, leader_epoch=epochs_of(state)[0][0])
        case At.MAX_TIMESTAMP:
            latest = max(range(state.end_offset), key=lambda offset: age(state, offset), default=None)
        case At.TIME | At.UNHEARD_OF:
            later = 1 if "time_is_included" in state.lacks else 0
            latest = next((offset for offset in kept if time_of(state, offset) >= request.time + later), None)
    if latest is None or latest >= end:
        return OffsetFound(Errors.NONE)
    return found_at(state, latest)


def found_at(state: State, offset: int) -> OffsetFound:
    """Return the answer that tells an offset with the time and the leader epoch of what is there."""
    return OffsetFound(Errors.NONE, offset, time_of(state, offset), epoch_at(state, offset))


def time_of(state: State, offset: int) -> int:
    """Return the time of what is at an offset."""
    entry = state.log[offset]
    return LATER if isinstance(entry, Marker) else entry.timestamp


def age(state: State, offset: int) -> tuple[int, int]:
    """Return a key by which the first of those with the same time is the largest, and of ends of transactions the last."""
    return (time_of(state, offset), offset if isinstance(state.log[offset], Marker) else -offset)


def deleted(state: State, request: DeleteRecords) -> Outcome:
    """Move the start of the log, never back (``Partition.deleteRecordsOnLeader``)."""
    wanted = state.end_offset if request.offset == NOTHING else request.offset
    start = wanted if "start_never_goes_back" in state.lacks else max(state.log_start_offset, wanted)
    return Outcome("delete", Deleted(Errors.NONE, start), evolve(state, log_start_offset=start))
