# SPDX-License-Identifier: Apache-2.0
"""What one replica's log promises: its segments fit together, and its epoch cache says what its records say.

The cache may know one epoch more than the readable records: the latest one, as starting at the log's end. Either its
leader has no record yet, or all its records are gone from the log's start. And where the log starts in the middle of an
epoch, that epoch starts there. Apart from these two, what the cache answers is what a scan of the records would find.
"""

from __future__ import annotations

from itertools import pairwise

from hwmark.model.log import UNDEFINED_EPOCH, EpochEnd, EpochEntry, Log, epoch_entries, first_offset_after_epoch, stored
from hwmark.model.log_machine import Bounds, State, epoch_end, offsets, read, requested_epochs
from hwmark.model.machine import Step
from hwmark.model.rules import LogRules

from .property import Witness, invariant, reachable, step_property, witness

# -- what several promises presuppose --


def has_epochs(state: State) -> bool:
    """Whether the cache knows any epoch."""
    return bool(state.epoch_cache)


def leads(state: State) -> bool:
    """Whether the replica leads."""
    return state.leads


def epoch_without_records(state: State) -> int:
    """Return the cached epoch that starts at the log's end, or ``UNDEFINED_EPOCH``."""
    latest = state.epoch_cache[-1] if state.epoch_cache else None
    return latest.leader_epoch if latest is not None and latest.start_offset == state.end_offset else UNDEFINED_EPOCH


def scanned_end(log: Log, without_records: int, requested: int) -> EpochEnd:
    """Return the largest epoch up to the requested one, and where it ends, as a scan of the records finds them.

    Besides the epochs of its records the log has the one that starts at its end, if that is defined.
    """
    known = sorted({record.leader_epoch for record in log.records} | {without_records} - {UNDEFINED_EPOCH})
    if requested == UNDEFINED_EPOCH or not known or requested > known[-1]:
        return EpochEnd()
    if requested == known[-1]:
        return EpochEnd(requested, log.end_offset)
    later = first_offset_after_epoch(log, requested)
    floor = [leader_epoch for leader_epoch in known if leader_epoch <= requested]
    return EpochEnd(floor[-1] if floor else requested, log.end_offset if later is None else later)


# -- invariants --


@invariant(sources=("S2", "K-101", "K-279"))
def epoch_cache_matches(state: State) -> Witness | None:
    """The epoch cache has an entry for each epoch of the readable records, where it starts, and at most the latest epoch besides."""
    expected, cached = epoch_entries(state.log), state.epoch_cache
    if cached == expected:
        return None
    latest = EpochEntry(epoch_without_records(state), state.end_offset)
    if cached == (*expected, latest) and latest.leader_epoch > (expected[-1].leader_epoch if expected else UNDEFINED_EPOCH):
        return None
    return witness(expected=expected, cached=cached, log_end_offset=state.end_offset)


@invariant(sources=("S2", "K-101"), when=has_epochs)
def epoch_order(state: State) -> Witness | None:
    """Epochs never decrease along the records; along the cache both epochs and start offsets increase, from the log's start to its end."""
    on_disk = [record.leader_epoch for segment in state.segments for record in segment.records]
    if on_disk != sorted(on_disk):
        return witness(epochs=on_disk)
    epochs = [entry.leader_epoch for entry in state.epoch_cache]
    starts = [entry.start_offset for entry in state.epoch_cache]
    if (
        epochs != sorted(set(epochs))
        or starts != sorted(set(starts))
        or not state.log_start_offset <= starts[0] <= starts[-1] <= state.end_offset
    ):
        return witness(cached=state.epoch_cache, log_start_offset=state.log_start_offset, log_end_offset=state.end_offset)
    return None


@invariant(sources=("K-279",), when=leads)
def leader_knows_its_epoch(state: State) -> Witness | None:
    """The latest epoch in a leader's cache is its own, so that no follower can ask about a later one."""
    latest = state.epoch_cache[-1].leader_epoch if state.epoch_cache else UNDEFINED_EPOCH
    return None if latest == state.leader_epoch else witness(leader_epoch=state.leader_epoch, latest=latest)


@invariant(sources=("K-101", "K-279", "R03", "R16"), requested=requested_epochs)
def epoch_end_offset(state: State, rules: LogRules, *, requested: int) -> Witness | None:
    """Where an epoch ends is answered from the cache as a scan of the records would answer it."""
    answered, expected = epoch_end(rules, state, requested), scanned_end(state.log, epoch_without_records(state), requested)
    return None if answered == expected else witness(answered=answered, expected=expected)


@invariant(sources=("S2", "S10"))
def structure(state: State, bounds: Bounds) -> Witness | None:
    """Segments follow each other without gap or overlap, the log starts within them, only the last may be empty, no record is twice."""
    segments = state.segments
    if not segments:
        return witness(segments=segments)
    for segment, following in pairwise(segments):
        if not segment.records or segment.end_offset != following.base_offset:
            return witness(segment=segment, following=following)
    if not 0 <= segments[0].base_offset <= state.log_start_offset <= state.end_offset <= bounds.log_size:
        return witness(base_offset=segments[0].base_offset, log_start_offset=state.log_start_offset, log_end_offset=state.end_offset)
    ids = [record.id for segment in segments for record in segment.records]
    if len(ids) != len(set(ids)) or not all(0 <= one < state.next_record_id for one in ids):
        return witness(ids=ids, next_record_id=state.next_record_id)
    return None


@invariant(sources=("S2", "S10"), offset=offsets)
def readable_range(state: State, rules: LogRules, *, offset: int) -> Witness | None:
    """Every offset from the log start offset to the log's end has a record, and nothing else can be read."""
    record = read(rules, state, offset)
    if (record is not None) == (state.log_start_offset <= offset < state.end_offset):
        return None
    return witness(record=record, log_start_offset=state.log_start_offset, log_end_offset=state.end_offset)


# -- steps --


@step_property(sources=("S10",))
def log_start_order(before: State, step: Step, after: State) -> Witness | None:
    """The log start offset goes back only where the log is truncated below it, and then nothing is left to read."""
    if after.log_start_offset >= before.log_start_offset or after.log_start_offset == after.end_offset:
        return None
    return witness(step=str(step), before=before.log_start_offset, after=after.log_start_offset, log_end_offset=after.end_offset)


@step_property(sources=("S2",))
def appended_at_end(before: State, step: Step, after: State) -> Witness | None:
    """A new record gets the offset at the log's end, and nothing else appears there or above."""
    expected = [(before.end_offset, before.next_record_id)] if after.next_record_id > before.next_record_id else []
    found = [(offset, record.id) for offset, record in enumerate(after.log.records, after.log_start_offset) if offset >= before.end_offset]
    return None if found == expected else witness(step=str(step), expected=expected, found=found)


def can_be_read(before: State, step: Step, after: State, offset: int) -> bool:
    """Whether there is a record at the offset before the step."""
    return before.log.at(offset) is not None


@step_property(sources=("S2",), when=can_be_read, offset=offsets)
def offset_stability(before: State, step: Step, after: State, *, offset: int) -> Witness | None:
    """What can be read at an offset stays the same record until it is gone."""
    old, new = before.log.at(offset), after.log.at(offset)
    return None if new is None or old == new else witness(step=str(step), before=old, after=new)


def starts_later(before: State, step: Step, after: State) -> bool:
    """Whether the log starts later than before and ends where it did, in a log with epochs."""
    return after.log_start_offset > before.log_start_offset and after.end_offset == before.end_offset and bool(before.epoch_cache)


@step_property(sources=("S10", "K-101"), when=starts_later)
def latest_epoch_survives(before: State, step: Step, after: State) -> Witness | None:
    """Deleting records at the log's start, even all of them, leaves its latest epoch known."""
    old = before.epoch_cache[-1].leader_epoch
    new = after.epoch_cache[-1].leader_epoch if after.epoch_cache else UNDEFINED_EPOCH
    return None if old == new else witness(step=str(step), before=old, after=new)


def truncates(before: State, step: Step, after: State) -> bool:
    """Whether a log whose cache knows epochs is truncated."""
    return step.action == "truncate_to" and bool(before.epoch_cache)


@step_property(sources=("K-101", "K-279"), when=truncates)
def truncation_settles(before: State, step: Step, after: State) -> Witness | None:
    """A truncation, also one that takes no record away, leaves no epoch that starts at the log's end: no other replica may know it."""
    left = epoch_without_records(after)
    return None if left == UNDEFINED_EPOCH else witness(step=str(step), leader_epoch=left, log_end_offset=after.end_offset)


# -- goals --


@reachable(sources=("K-279",), scope={"log_size": 1, "records": 0, "max_leader_epoch": 0})
def epoch_begins_without_records(state: State) -> bool:
    """A leader has cached its epoch and has no record yet."""
    return state.leads and epoch_without_records(state) == state.leader_epoch


@reachable(sources=("K-279",), scope={"log_size": 1, "records": 0, "max_leader_epoch": 1})
def unused_epoch_is_replaced(before: State, step: Step, after: State) -> bool:
    """A leader that never got a record in its epoch begins another one."""
    return step.action == "begin_leader_epoch" and before.leads and before.log.latest_epoch != before.leader_epoch


@reachable(sources=("K-101",), scope={"log_size": 1, "records": 1, "max_leader_epoch": 0})
def truncation_drops_an_epoch(before: State, step: Step, after: State) -> bool:
    """A truncation takes the last records of an epoch, so that it must leave the cache."""
    return step.action == "truncate_to" and after.log.latest_epoch < before.log.latest_epoch


@reachable(sources=("K-101",), scope={"log_size": 2, "records": 2, "max_leader_epoch": 0})
def log_starts_within_an_epoch(state: State) -> bool:
    """The log starts in the middle of an epoch, whose first records are still on disk but gone."""
    hidden = state.log_start_offset - state.segments[0].base_offset
    if hidden == 0 or not state.log.records:
        return False
    return state.log.records[0].leader_epoch == stored(state.segments).records[hidden - 1].leader_epoch


@reachable(sources=("S10", "K-101"), scope={"log_size": 1, "records": 1, "max_leader_epoch": 0})
def epoch_outlives_its_records(state: State) -> bool:
    """A follower's records are all deleted, and it still knows their epoch."""
    return not state.leads and not state.log.records and bool(state.epoch_cache)


@reachable(sources=("S10",), scope={"log_size": 1, "records": 1, "max_leader_epoch": 0})
def segment_is_deleted(before: State, step: Step, after: State) -> bool:
    """Retention deletes a closed segment."""
    return step.action == "delete_segments" and len(after.segments) < len(before.segments)


@reachable(sources=("S10",), scope={"log_size": 1, "records": 0, "max_leader_epoch": 0})
def log_start_goes_back(before: State, step: Step, after: State) -> bool:
    """A truncation below the first segment starts the log anew at an earlier offset."""
    return after.log_start_offset < before.segments[0].base_offset


@reachable(sources=("R03", "R16"), scope={"log_size": 1, "records": 1, "max_leader_epoch": 2})
def epoch_is_skipped(state: State) -> bool:
    """The replica knows two epochs and nothing of one between them, about which others may ask."""
    epochs = [entry.leader_epoch for entry in state.epoch_cache]
    return any(later - earlier > 1 for earlier, later in pairwise(epochs))


PROPERTIES = (
    epoch_cache_matches,
    epoch_order,
    leader_knows_its_epoch,
    epoch_end_offset,
    structure,
    readable_range,
    log_start_order,
    appended_at_end,
    offset_stability,
    latest_epoch_survives,
    truncation_settles,
    epoch_begins_without_records,
    unused_epoch_is_replaced,
    truncation_drops_an_epoch,
    log_starts_within_an_epoch,
    epoch_outlives_its_records,
    segment_is_deleted,
    log_start_goes_back,
    epoch_is_skipped,
)
"""Every promise of the machine, in the order of the report."""
