# SPDX-License-Identifier: Apache-2.0
"""One replica's log as Kafka stores it: segments, the log start offset, and the cache of leader epochs.

The replica leads now and then, under an epoch later than all that it heard of, and follows in between; what it copies
then comes from a log whose epochs never decrease. A deposed leader truncates before it copies anything, if only to its
own end: since KIP-279 a leader's answer to an epoch that nobody else knows makes it do so. A crash may cost any records
above the log start offset. The high watermark is taken to stand at the log's end, so that whatever is readable may be
deleted. Left out: batches and sizes (any segment may be rolled or deleted at any moment), indexes, producer state,
compaction, tiered storage, records without an epoch, checkpoints of the log start offset that are older than it.
Kafka's names are those of 4.3.1, whose sources were read, as were those of 2.7.0, where ``UnifiedLog`` is ``Log``.
"""

from __future__ import annotations

from typing import assert_never

from attrs import field, frozen, validators

from .log import (
    UNDEFINED_EPOCH,
    EpochCache,
    EpochEnd,
    EpochEntry,
    Log,
    Record,
    Segment,
    Segments,
    append_to_active,
    assign_epoch,
    end_offset_for,
    epoch_entries,
    readable,
    roll,
    stored,
    truncate_epochs_from_end,
    truncate_epochs_from_start,
    truncate_segments,
)
from .machine import Machine, action, impossible, kafka, put
from .rules import (
    EpochAssignment,
    EpochBegin,
    EpochCacheEnd,
    EpochCacheRecovery,
    EpochCacheStart,
    EpochEndLookup,
    LogRules,
    ReadCheck,
)


@frozen(cache_hash=True)
class State:
    """The log on disk, its epoch cache, and the latest leader epoch that the replica heard of, leading or not."""

    segments: Segments
    log_start_offset: int
    epoch_cache: EpochCache
    leader_epoch: int
    leads: bool
    next_record_id: int = 0

    @property
    def log(self) -> Log:
        """The records from the log start offset on."""
        return readable(self.segments, self.log_start_offset)

    @property
    def end_offset(self) -> int:
        """The offset that the next record will get: the log end offset (LEO)."""
        return self.segments[-1].end_offset


@frozen
class Config:
    """Nothing that an operator sets is part of this machine."""


@frozen
class Bounds:
    """How far we look: log ends from 0 to ``log_size``, so many records ever, epochs from 0 to ``max_leader_epoch``."""

    log_size: int = field(default=2, validator=[validators.ge(1), validators.le(64)])
    records: int = field(default=3, validator=[validators.ge(0), validators.le(64)])
    max_leader_epoch: int = field(default=2, validator=[validators.ge(0), validators.le(64)])


def initial() -> State:
    """The log is new: one empty segment at offset 0, and no epoch known."""
    return State(segments=(Segment(0),), log_start_offset=0, epoch_cache=(), leader_epoch=UNDEFINED_EPOCH, leads=False)


# -- domains --


def offsets(bounds: Bounds) -> range:
    """Return the offsets at which a log may end."""
    return range(bounds.log_size + 1)


def leader_epochs(bounds: Bounds) -> range:
    """Return the leader epochs that the controller can reach."""
    return range(bounds.max_leader_epoch + 1)


def requested_epochs(bounds: Bounds) -> range:
    """Return the epochs that somebody may ask about: also the undefined one, and one that nobody has led yet."""
    return range(UNDEFINED_EPOCH, bounds.max_leader_epoch + 2)


# -- rules --


def assigned(rules: LogRules, cache: EpochCache, leader_epoch: int, start_offset: int) -> EpochCache:
    """Return the cache once an epoch is known to start at an offset."""
    entry = EpochEntry(leader_epoch, start_offset)
    match rules.epoch_assignment:
        case EpochAssignment.DROP_CONFLICTING:
            return assign_epoch(cache, entry)
        case EpochAssignment.APPEND_ONLY:
            is_later = not cache or (leader_epoch > cache[-1].leader_epoch and start_offset >= cache[-1].start_offset)
            return (*cache, entry) if is_later else cache
        case _:
            assert_never(rules.epoch_assignment)


def begun(rules: LogRules, cache: EpochCache, leader_epoch: int, log_end_offset: int) -> EpochCache:
    """Return the cache once the replica leads under a new epoch."""
    match rules.epoch_begin:
        case EpochBegin.AT_ELECTION:
            return assigned(rules, cache, leader_epoch, log_end_offset)
        case EpochBegin.AT_FIRST_RECORD:
            return cache
        case _:
            assert_never(rules.epoch_begin)


def cut_at_end(rules: LogRules, cache: EpochCache, end_offset: int, *, records_go: bool) -> EpochCache:
    """Return the cache once the log is truncated to an offset."""
    match rules.epoch_cache_truncation:
        case EpochCacheEnd.ALWAYS:
            return truncate_epochs_from_end(cache, end_offset)
        case EpochCacheEnd.IF_RECORDS_GO:
            return truncate_epochs_from_end(cache, end_offset) if records_go else cache
        case EpochCacheEnd.NEVER:
            return cache
        case _:
            assert_never(rules.epoch_cache_truncation)


def cut_at_start(rules: LogRules, cache: EpochCache, log_start_offset: int) -> EpochCache:
    """Return the cache once the log starts at a later offset."""
    match rules.epoch_cache_start:
        case EpochCacheStart.CLAMP:
            return truncate_epochs_from_start(cache, log_start_offset)
        case EpochCacheStart.DROP:
            return tuple(entry for entry in cache if entry.start_offset >= log_start_offset)
        case EpochCacheStart.KEEP:
            return cache
        case _:
            assert_never(rules.epoch_cache_start)


def recovered(rules: LogRules, cache: EpochCache, segments: Segments, log_start_offset: int) -> EpochCache:
    """Return the cache with which a broker starts after a crash that left these segments."""
    match rules.epoch_cache_recovery:
        case EpochCacheRecovery.REBUILT:
            return truncate_epochs_from_start(epoch_entries(stored(segments)), log_start_offset)
        case EpochCacheRecovery.CHECKPOINT:
            return cache
        case _:
            assert_never(rules.epoch_cache_recovery)


def epoch_end(rules: LogRules, state: State, leader_epoch: int) -> EpochEnd:
    """Return what the replica answers to OffsetsForLeaderEpoch."""
    cache = state.epoch_cache
    found = end_offset_for(cache, leader_epoch, state.end_offset)
    match rules.epoch_end_lookup:
        case EpochEndLookup.FLOOR_EPOCH:
            return found
        case EpochEndLookup.FLOOR_EPOCH_OR_NOTHING:
            return found if cache and leader_epoch >= cache[0].leader_epoch else EpochEnd()
        case EpochEndLookup.REQUESTED_EPOCH:
            return found if found == EpochEnd() else EpochEnd(leader_epoch, found.end_offset)
        case EpochEndLookup.CURRENT_EPOCH:
            if not cache or leader_epoch == UNDEFINED_EPOCH:
                return found
            return EpochEnd(cache[-1].leader_epoch, state.log_start_offset if found == EpochEnd() else found.end_offset)
        case _:
            assert_never(rules.epoch_end_lookup)


def read(rules: LogRules, state: State, offset: int) -> Record | None:
    """Return the record that a fetch at this offset gets, or ``None`` if the offset is out of range or at the end."""
    match rules.read_check:
        case ReadCheck.LOG_START:
            return state.log.at(offset)
        case ReadCheck.FIRST_SEGMENT:
            return stored(state.segments).at(offset)
        case _:
            assert_never(rules.read_check)


# -- the leader --


@action(leader_epoch=leader_epochs)
@kafka(
    "Partition.makeLeader; UnifiedLog.assignEpochStartOffset; LeaderEpochFileCache.assign",
    versions="2.7–4.3",
    simplified="the epoch is later than every other that the replica heard of; it may lead under several epochs in a row",
)
def begin_leader_epoch(state: State, rules: LogRules, *, leader_epoch: int) -> State | None:
    """The replica becomes leader under a new epoch, and caches that it starts at the log's end, before it has a record."""
    if leader_epoch <= state.leader_epoch:
        return None
    cache = begun(rules, state.epoch_cache, leader_epoch, state.end_offset)
    return put(state, epoch_cache=cache, leader_epoch=leader_epoch, leads=True)


@action()
@kafka(
    "UnifiedLog.appendAsLeader; LocalLog.append",
    versions="2.7–4.3",
    simplified="a batch is one record; the active segment is never too full, rolling is a step of its own",
)
def append_as_leader(state: State, rules: LogRules, bounds: Bounds) -> State | None:
    """The leader gives a record the offset at the log's end and its own epoch, and appends it to the active segment."""
    if not state.leads:
        return None
    return appended(state, rules, bounds, state.leader_epoch)


# -- the follower --


@action(leader_epoch=leader_epochs)
@kafka(
    "UnifiedLog.appendAsFollower; LocalLog.append",
    versions="2.7–4.3",
    simplified="the record has the offset at the log's end, and an epoch not before that of the last record on disk: the "
    "leader's log is of that kind, and what is below the log start offset was committed",
)
def append_as_follower(state: State, rules: LogRules, bounds: Bounds, *, leader_epoch: int) -> State | None:
    """A follower appends a record that it copied, of the current epoch, a newer or an older one; its epoch is cached."""
    if state.leads or leader_epoch < stored(state.segments).latest_epoch:
        return None
    return appended(state, rules, bounds, leader_epoch)


@action(offset=offsets)
@kafka(
    "UnifiedLog.truncateTo; LocalLog.truncateTo; LeaderEpochFileCache.truncateFromEndAsyncFlush",
    versions="2.7–4.3",
    simplified="an offset beyond the end is taken as the end; a truncation may go below the high watermark; the cache's "
    "checkpoint, which Kafka writes later, is current",
)
def truncate_to(state: State, rules: LogRules, *, offset: int) -> State | None:
    """A follower, or a leader that was just deposed, drops its records from an offset on; below its first segment it starts anew there."""
    if offset > state.end_offset:
        return None
    if offset < state.segments[0].base_offset:
        return restarted(state, rules, offset)
    cache = cut_at_end(rules, state.epoch_cache, offset, records_go=offset < state.end_offset)
    return put(
        state,
        segments=truncate_segments(state.segments, offset),
        log_start_offset=min(offset, state.log_start_offset),
        epoch_cache=cache,
        leads=False,
    )


@action(offset=offsets)
@kafka(
    "UnifiedLog.truncateFullyAndStartAt; LocalLog.truncateFullyAndStartAt; LeaderEpochFileCache.clearAndFlush",
    versions="2.7–4.3",
    simplified="called as AbstractFetcherThread.fetchOffsetAndTruncate does: the leader's log starts beyond this log's end",
)
def truncate_fully_and_start_at(state: State, rules: LogRules, *, offset: int) -> State | None:
    """A follower that lags behind the leader's log start drops its whole log, and starts a new one there."""
    if offset <= state.end_offset:
        return None
    return restarted(state, rules, offset)


# -- the log manager --


@action()
@kafka(
    "UnifiedLog.roll; LocalLog.roll",
    versions="2.7–4.3",
    simplified="any active segment with a record may be rolled at any moment; an empty one is not, as Kafka puts another "
    "empty one in its place",
)
def roll_segment(state: State) -> State | None:
    """The active segment is closed, and a new one begins at the log's end."""
    if not state.segments[-1].records:
        return None
    return put(state, segments=roll(state.segments))


@action(base_offset=offsets)
@kafka(
    "UnifiedLog.deleteOldSegments; UnifiedLog.deleteSegments; LocalLog.removeAndDeleteSegments",
    versions="2.7–4.3",
    simplified="any number of the oldest closed segments may have become too old, too much, or wholly below the log start "
    "offset; to delete the active one too, Kafka rolls it first",
)
def delete_segments(state: State, rules: LogRules, *, base_offset: int) -> State | None:
    """Retention deletes the segments before the one with this base offset, and moves the log start offset up to it."""
    kept = tuple(segment for segment in state.segments if segment.base_offset >= base_offset)
    if len(kept) == len(state.segments) or not kept or kept[0].base_offset != base_offset:
        return None
    return put(started_at(state, rules, max(base_offset, state.log_start_offset)), segments=kept)


@action(offset=offsets)
@kafka(
    "UnifiedLog.maybeIncrementLogStartOffset; LeaderEpochFileCache.truncateFromStartAsyncFlush",
    versions="2.7–4.3",
    simplified="up to the log's end, where Kafka stops at the high watermark; followers, who learn it with a fetch, do the same",
)
def advance_log_start_offset(state: State, rules: LogRules, *, offset: int) -> State | None:
    """DeleteRecords moves the log start offset up: what is below it stays on disk until its segment is deleted, but is gone."""
    if not state.log_start_offset < offset <= state.end_offset:
        return None
    return started_at(state, rules, offset)


@action(end_offset=offsets)
@kafka(
    "LogLoader.load; LogLoader.recoverLog; LogSegment.recover",
    versions="2.7–4.3",
    simplified="any tail above the log start offset may be lost, and all segments are scanned; Kafka keeps the cache of flushed "
    "ones from its checkpoint, and cuts it at the checkpointed log start offset, which may be older than the first segment; "
    "with a current checkpoint Kafka also forgets an epoch that starts at the log's end because its records are all deleted, "
    "which is kept here, as Kafka keeps it without a checkpoint",
)
def crash_and_recover(state: State, rules: LogRules, *, end_offset: int) -> State | None:
    """The broker crashes, loses the records from an offset on, and loads what is left; it comes back as a follower."""
    if not state.log_start_offset <= end_offset <= state.end_offset:
        return None
    segments = truncate_segments(state.segments, end_offset)
    cache = recovered(rules, state.epoch_cache, segments, state.log_start_offset)
    return put(state, segments=segments, epoch_cache=cache, leads=False)


def machine(rules: LogRules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of one replica's log."""
    return Machine(
        name="log",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(),),
        actions=(
            begin_leader_epoch,
            append_as_leader,
            append_as_follower,
            truncate_to,
            truncate_fully_and_start_at,
            roll_segment,
            delete_segments,
            advance_log_start_offset,
            crash_and_recover,
        ),
    )


# -- helpers --


def appended(state: State, rules: LogRules, bounds: Bounds, leader_epoch: int) -> State | None:
    """Append the next record under an epoch, and cache where that epoch starts, if that is new."""
    if state.next_record_id >= bounds.records or state.end_offset >= bounds.log_size:
        return None
    return put(
        state,
        segments=append_to_active(state.segments, Record(state.next_record_id, leader_epoch)),
        epoch_cache=assigned(rules, state.epoch_cache, leader_epoch, state.end_offset),
        leader_epoch=max(leader_epoch, state.leader_epoch),
        next_record_id=state.next_record_id + 1,
    )


def restarted(state: State, rules: LogRules, offset: int) -> State:
    """Drop the whole log, and start an empty one at an offset."""
    cache = cut_at_end(rules, state.epoch_cache, 0, records_go=True)
    return put(state, segments=(Segment(offset),), log_start_offset=offset, epoch_cache=cache, leads=False)


def started_at(state: State, rules: LogRules, log_start_offset: int) -> State:
    """Move the log start offset up to an offset, if it is not there yet."""
    if log_start_offset > state.end_offset:
        impossible("the log starts beyond its end")
    if log_start_offset == state.log_start_offset:
        return state
    return put(state, log_start_offset=log_start_offset, epoch_cache=cut_at_start(rules, state.epoch_cache, log_start_offset))
