# SPDX-License-Identifier: Apache-2.0
"""Each function of the log against a naive definition of it, on generated logs."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hwmark.model.log import (
    UNDEFINED_EPOCH,
    EpochCache,
    EpochEnd,
    EpochEntry,
    Log,
    Record,
    Segment,
    Segments,
    append,
    append_to_active,
    assign_epoch,
    end_offset_for,
    epoch_entries,
    epoch_start_offset,
    first_offset_after_epoch,
    last_common_end,
    readable,
    roll,
    stored,
    truncate_epochs_from_end,
    truncate_epochs_from_start,
    truncate_segments,
    truncate_to,
)

EPOCHS = st.integers(0, 6)
quickly = settings(derandomize=True, deadline=None, max_examples=150)


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Draw a log whose epochs never decrease, as every log's are, with a different id for each record."""
    epochs = sorted(draw(st.lists(EPOCHS, max_size=8)))
    start = draw(st.integers(0, 4))
    return Log(tuple(Record(number, epoch) for number, epoch in enumerate(epochs)), start)


@st.composite
def stored_logs(draw: st.DrawFn) -> Segments:
    """Draw a log cut into segments, of which only the last may be empty."""
    log = draw(logs())
    cuts = sorted(draw(st.sets(st.integers(1, len(log.records))))) if log.records else []
    places = pairwise((0, *cuts, len(log.records)))
    return tuple(Segment(log.log_start_offset + start, log.records[start:end]) for start, end in places)


def by_offset(log: Log) -> dict[int, Record]:
    """Return a log as the simplest thing that it could be: a record for each offset."""
    return dict(enumerate(log.records, log.log_start_offset))


# -- records --


@quickly
@given(logs(), st.integers(-2, 16))
def test_at_finds_exactly_what_is_there(log: Log, offset: int) -> None:
    """A record is found at its offset, and nothing below the start or from the end on."""
    assert by_offset(log).get(offset) == log.at(offset)


@quickly
@given(logs())
def test_ends(log: Log) -> None:
    """The end is the offset after the last record, and the latest epoch is that record's."""
    assert max(by_offset(log), default=log.log_start_offset - 1) + 1 == log.end_offset
    assert max((record.leader_epoch for record in log.records), default=UNDEFINED_EPOCH) == log.latest_epoch


@quickly
@given(logs())
def test_append_adds_at_the_end(log: Log) -> None:
    """An appended record gets the end offset, and nothing else changes."""
    record = Record(99, 9)
    assert by_offset(log) | {log.end_offset: record} == by_offset(append(log, record))


@quickly
@given(logs(), st.integers(0, 16))
def test_truncate_keeps_what_is_below(log: Log, offset: int) -> None:
    """Exactly the records below the offset are left; the start stays."""
    after = truncate_to(log, offset)
    assert {at: record for at, record in by_offset(log).items() if at < offset} == by_offset(after)
    assert log.log_start_offset == after.log_start_offset


@quickly
@given(logs(), st.integers(-1, 7))
def test_offsets_of_epochs(log: Log, leader_epoch: int) -> None:
    """The start of an epoch, and of what comes after it, are the smallest such offsets."""
    of_epoch = [offset for offset, record in by_offset(log).items() if record.leader_epoch == leader_epoch]
    later = [offset for offset, record in by_offset(log).items() if record.leader_epoch > leader_epoch]
    assert min(of_epoch, default=log.end_offset) == epoch_start_offset(log, leader_epoch)
    assert min(later, default=None) == first_offset_after_epoch(log, leader_epoch)


@quickly
@given(st.lists(EPOCHS, max_size=6), st.lists(EPOCHS, max_size=6))
def test_last_common_end(ours: list[int], theirs: list[int]) -> None:
    """The end of what two logs have in common is after the last offset where they agree, also above a disagreement."""
    logs_of = [Log(tuple(Record(epoch, epoch) for epoch in epochs)) for epochs in (ours, theirs)]
    agreed = [offset for offset, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one == other]
    assert max(agreed, default=-1) + 1 == last_common_end(*logs_of)


# -- segments --


@quickly
@given(stored_logs())
def test_rolling_changes_no_record(segments: Segments) -> None:
    """A new segment begins at the end, and the log is the same."""
    assume(segments[-1].records)
    after = roll(segments)
    assert (stored(segments), Segment(segments[-1].end_offset)) == (stored(after), after[-1])


@quickly
@given(stored_logs())
def test_appending_goes_to_the_active_segment(segments: Segments) -> None:
    """Only the last segment grows, and the log as if it were one piece."""
    record = Record(99, 9)
    after = append_to_active(segments, record)
    assert (segments[:-1], append(stored(segments), record)) == (after[:-1], stored(after))


@quickly
@given(stored_logs(), st.integers(0, 12))
def test_truncated_segments_hold_the_truncated_log(segments: Segments, beyond: int) -> None:
    """Segments truncate as their log does; those that begin above the offset go, the one that begins there is left empty."""
    offset = segments[0].base_offset + beyond
    after = truncate_segments(segments, offset)
    assert truncate_to(stored(segments), offset) == stored(after)
    assert [segment.base_offset for segment in segments if segment.base_offset <= offset] == [segment.base_offset for segment in after]


@quickly
@given(stored_logs(), st.integers(0, 12))
def test_readable_is_what_is_stored_from_the_start_on(segments: Segments, beyond: int) -> None:
    """Readers see the records from the log start offset on, and nothing below it."""
    log = stored(segments)
    start = min(log.log_start_offset + beyond, log.end_offset)
    seen = readable(segments, start)
    assert {offset: record for offset, record in by_offset(log).items() if offset >= start} == by_offset(seen)
    assert (start, log.end_offset) == (seen.log_start_offset, seen.end_offset)


# -- the epoch cache --


@quickly
@given(logs())
def test_entries_are_the_first_offsets_of_epochs(log: Log) -> None:
    """The records imply an entry for each of their epochs, with its smallest offset."""
    epochs = sorted({record.leader_epoch for record in log.records})
    assert tuple(EpochEntry(epoch, epoch_start_offset(log, epoch)) for epoch in epochs) == epoch_entries(log)


@quickly
@given(logs())
def test_assigning_record_by_record_derives_the_entries(log: Log) -> None:
    """A cache kept while a log grows is the one that a scan of its records finds."""
    cache: EpochCache = ()
    for offset, record in by_offset(log).items():
        cache = assign_epoch(cache, EpochEntry(record.leader_epoch, offset))
    assert epoch_entries(log) == cache


@quickly
@given(logs(), EPOCHS, st.integers(0, 16))
def test_assigning_keeps_the_cache_in_order(log: Log, leader_epoch: int, start_offset: int) -> None:
    """Whatever is assigned, epochs and starts increase, and the new entry is the last one unless it said nothing new."""
    cache, entry = epoch_entries(log), EpochEntry(leader_epoch, start_offset)
    after = assign_epoch(cache, entry)
    known = bool(cache) and cache[-1].leader_epoch == leader_epoch and cache[-1].start_offset <= start_offset
    assert (cache[-1] if known else entry) == after[-1]
    expected = cache if known else (*(one for one in cache if one.leader_epoch < leader_epoch and one.start_offset < start_offset), entry)
    assert expected == after


@quickly
@given(logs(), st.integers(0, 16))
def test_truncated_from_its_end_the_cache_fits_the_truncated_log(log: Log, end_offset: int) -> None:
    """Cutting the cache with the log is as good as deriving it anew."""
    assume(end_offset <= log.end_offset)
    assert epoch_entries(truncate_to(log, end_offset)) == truncate_epochs_from_end(epoch_entries(log), end_offset)


@quickly
@given(logs(), st.integers(0, 16))
def test_truncated_from_its_start_the_cache_fits_what_is_left(log: Log, start_offset: int) -> None:
    """Clamping the cache to the log start is as good as deriving it anew, but the latest epoch outlives its last record."""
    assume(log.log_start_offset <= start_offset <= log.end_offset)
    left = Log(log.records[start_offset - log.log_start_offset :], start_offset)
    latest = (EpochEntry(log.latest_epoch, start_offset),) if log.records and not left.records else ()
    assert (*epoch_entries(left), *latest) == truncate_epochs_from_start(epoch_entries(log), start_offset)


@quickly
@given(logs(), st.integers(-1, 7))
def test_end_offsets_are_those_of_a_scan(log: Log, requested: int) -> None:
    """An epoch ends where the first record of a later one is; the answer names the last epoch up to it that has records."""
    epochs = [record.leader_epoch for record in log.records]
    if requested == UNDEFINED_EPOCH or requested > max(epochs, default=UNDEFINED_EPOCH):
        expected = EpochEnd()
    else:
        floor = max((epoch for epoch in epochs if epoch <= requested), default=requested)
        expected = EpochEnd(floor, log.log_start_offset + sum(epoch <= requested for epoch in epochs))
    assert expected == end_offset_for(epoch_entries(log), requested, log.end_offset)


def test_end_offsets_of_a_known_fault() -> None:
    """Epoch 1 at 0..9 and 2 at 10..14: each ends where it ends, the latest at the log's end, and a later one nowhere (redpanda#11864)."""
    cache = (EpochEntry(1, 0), EpochEntry(2, 10))
    assert [EpochEnd(1, 10), EpochEnd(2, 15), EpochEnd()] == [end_offset_for(cache, requested, 15) for requested in (1, 2, 5)]


def test_end_offset_before_the_first_epoch() -> None:
    """Of an epoch before all that are known, the answer is itself and where the first of them starts (KAFKA-7415)."""
    assert end_offset_for((EpochEntry(5, 10),), 4, 12) == EpochEnd(4, 10)


def test_end_offset_without_epochs() -> None:
    """An empty cache knows no end."""
    assert end_offset_for((), 0, 3) == EpochEnd()


def test_assigning_replaces_an_unused_epoch() -> None:
    """A new epoch at the offset of one that got no record takes its place; one that goes back in epochs drops all that are later."""
    cache = (EpochEntry(0, 0), EpochEntry(1, 4))
    assert assign_epoch(cache, EpochEntry(2, 4)) == (EpochEntry(0, 0), EpochEntry(2, 4))
    assert assign_epoch(cache, EpochEntry(0, 5)) == (EpochEntry(0, 5),)
    assert assign_epoch(cache, EpochEntry(1, 5)) == cache
    assert assign_epoch(cache, EpochEntry(1, 3)) == (EpochEntry(0, 0), EpochEntry(1, 3))
