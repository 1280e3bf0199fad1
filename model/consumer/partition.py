# SPDX-License-Identifier: Apache-2.0
"""What happens to the partition meanwhile: records come and go, and another replica may take over with a log of its own."""

from __future__ import annotations

from hwmark.model.log import EpochCache, EpochEntry, Log, Record, append, epoch_entries, last_common_end
from hwmark.model.machine import action, kafka, put

from .state import Bounds, State, offsets


@action()
@kafka("UnifiedLog.appendAsLeader", versions="2.3–4.3", simplified="a batch is one record, and committed at once")
def append_record(state: State, bounds: Bounds) -> State | None:
    """A producer appends a record."""
    if state.next_record_id >= bounds.records:
        return None
    record = Record(state.next_record_id, state.leader_epoch)
    return put(state, log=append(state.log, record), next_record_id=state.next_record_id + 1)


@action()
@kafka(
    "AbstractFetcherThread.truncateOnFetchResponse; ReplicaFetcherThread.processPartitionData",
    versions="2.7–4.3",
    simplified="in one step: the other replica truncates what the leader does not have, and copies the rest; see ``replication``",
)
def replicate(state: State) -> State | None:
    """The other replica comes to hold what the leader holds."""
    return None if state.other_log == state.log else put(state, other_log=state.log)


@action()
@kafka(
    "PartitionChangeBuilder.electLeader",
    versions="3.0–4.3",
    simplified="at any moment; unclean where the other replica does not hold everything: what it lacks is gone for readers",
)
def elect_other_replica(state: State, bounds: Bounds) -> State | None:
    """The other replica becomes leader, with the log that it has, under the next leader epoch."""
    if state.leader_epoch >= bounds.max_leader_epoch:
        return None
    return put(state, log=state.other_log, other_log=state.log, leader_epoch=state.leader_epoch + 1)


@action(offset=offsets)
@kafka(
    "UnifiedLog.maybeIncrementLogStartOffset; UnifiedLog.deleteOldSegments",
    versions="2.3–4.3",
    simplified="retention and DeleteRecords alike, whether anybody read the records or not; the other replica does the same when it copies",
)
def delete_records(state: State, bounds: Bounds, *, offset: int) -> State | None:
    """Records at the start of the log are deleted."""
    if state.deletions >= bounds.deletions or not state.log.log_start_offset < offset <= state.log.end_offset:
        return None
    log = Log(state.log.records[offset - state.log.log_start_offset :], offset)
    return put(state, log=log, deletions=state.deletions + 1)


# -- helpers --


def epoch_cache(state: State) -> EpochCache:
    """Return the leader's epoch cache: the epochs of its records, and its own, which begins at the end if it has no record yet."""
    entries = epoch_entries(state.log)
    if entries and entries[-1].leader_epoch == state.leader_epoch:
        return entries
    return (*entries, EpochEntry(state.leader_epoch, state.log.end_offset))


def is_unclean(state: State) -> bool:
    """Whether electing the other replica would lose records."""
    return last_common_end(state.log, state.other_log) < state.log.end_offset
