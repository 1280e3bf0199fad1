# SPDX-License-Identifier: Apache-2.0
"""The actions and decisions of the log machine, one by one."""

from __future__ import annotations

import pytest
from attrs import evolve

from hwmark.model.log import UNDEFINED_EPOCH, EpochCache, EpochEnd, EpochEntry, Record, Segment
from hwmark.model.log_machine import (
    Bounds,
    Config,
    State,
    advance_log_start_offset,
    append_as_follower,
    append_as_leader,
    assigned,
    begin_leader_epoch,
    crash_and_recover,
    delete_segments,
    epoch_end,
    initial,
    machine,
    read,
    requested_epochs,
    roll_segment,
    started_at,
    truncate_fully_and_start_at,
    truncate_to,
)
from hwmark.model.machine import ImpossibleError
from hwmark.model.rules import (
    EpochAssignment,
    EpochBegin,
    EpochCacheEnd,
    EpochCacheRecovery,
    EpochCacheStart,
    EpochEndLookup,
    LogRules,
    ReadCheck,
)

RIGHT = LogRules()
BOUNDS = Bounds(log_size=6, records=9, max_leader_epoch=5)


def cache_of(*entries: tuple[int, int]) -> EpochCache:
    """Return a cache with these epochs and start offsets."""
    return tuple(EpochEntry(leader_epoch, start_offset) for leader_epoch, start_offset in entries)


FULL = State(
    segments=(Segment(1, (Record(0, 0), Record(1, 0))), Segment(3, (Record(2, 2),)), Segment(4, (Record(3, 2),))),
    log_start_offset=1,
    epoch_cache=cache_of((0, 1), (2, 3)),
    leader_epoch=2,
    leads=False,
    next_record_id=4,
)
"""Offsets 1 to 4 in three segments: two records of epoch 0, two of epoch 2."""


def test_initial_state() -> None:
    """A new log is one empty segment, and knows no epoch."""
    assert State(segments=(Segment(0),), log_start_offset=0, epoch_cache=(), leader_epoch=UNDEFINED_EPOCH, leads=False) == initial()
    assert (initial(),) == machine(RIGHT, Config(), BOUNDS).initial


def test_somebody_may_ask_about_any_epoch() -> None:
    """The undefined epoch is asked about, and one beyond all that anybody led."""
    assert requested_epochs(Bounds(max_leader_epoch=1)) == range(-1, 3)


def test_new_epoch_starts_at_the_end() -> None:
    """A new leader caches its epoch before it has a record; it leads under later epochs only."""
    after = begin_leader_epoch.function(FULL, RIGHT, leader_epoch=4)
    assert evolve(FULL, epoch_cache=cache_of((0, 1), (2, 3), (4, 5)), leader_epoch=4, leads=True) == after
    assert begin_leader_epoch.function(FULL, RIGHT, leader_epoch=2) is None


def test_new_epoch_may_wait_for_its_first_record() -> None:
    """Before KAFKA-7415 nothing was cached at an election."""
    after = begin_leader_epoch.function(FULL, LogRules(epoch_begin=EpochBegin.AT_FIRST_RECORD), leader_epoch=4)
    assert (FULL.epoch_cache, True) == (after.epoch_cache, after.leads)


def test_leader_appends_under_its_epoch() -> None:
    """A leader's record goes to the active segment, under the leader's epoch; a follower cannot append as leader."""
    after = append_as_leader.function(evolve(FULL, leads=True), RIGHT, BOUNDS)
    assert (Segment(4, (Record(3, 2), Record(4, 2))), FULL.epoch_cache, 5) == (after.segments[-1], after.epoch_cache, after.next_record_id)
    assert append_as_leader.function(FULL, RIGHT, BOUNDS) is None


def test_appends_stop_at_the_bounds() -> None:
    """Neither a longer log nor more records than the bounds allow come about."""
    assert append_as_leader.function(evolve(FULL, leads=True), RIGHT, Bounds(log_size=5, records=9)) is None
    assert append_as_leader.function(evolve(FULL, leads=True), RIGHT, Bounds(log_size=6, records=4)) is None


def test_follower_appends_under_the_records_epoch() -> None:
    """A copied record brings its own epoch, which may be one that the follower never heard of; epochs never decrease."""
    after = append_as_follower.function(FULL, RIGHT, BOUNDS, leader_epoch=3)
    assert (cache_of((0, 1), (2, 3), (3, 5)), 3) == (after.epoch_cache, after.leader_epoch)
    assert append_as_follower.function(FULL, RIGHT, BOUNDS, leader_epoch=1) is None
    assert append_as_follower.function(evolve(FULL, leads=True), RIGHT, BOUNDS, leader_epoch=3) is None


def test_older_record_does_not_lower_the_epoch() -> None:
    """A record of an older epoch than the follower heard of may be copied, and the follower still knows the newer one."""
    after = append_as_follower.function(evolve(FULL, leader_epoch=5), RIGHT, BOUNDS, leader_epoch=2)
    assert (FULL.epoch_cache, 5) == (after.epoch_cache, after.leader_epoch)


def test_truncation_in_a_segment() -> None:
    """Truncated within the second segment, the log keeps the first, and the epochs that start below."""
    after = truncate_to.function(evolve(FULL, leads=True), RIGHT, offset=3)
    assert ((FULL.segments[0], Segment(3)), cache_of((0, 1)), False) == (after.segments, after.epoch_cache, after.leads)


@pytest.mark.parametrize(
    ("rule", "cached"),
    [
        (EpochCacheEnd.ALWAYS, cache_of((0, 1), (2, 3))),
        (EpochCacheEnd.IF_RECORDS_GO, cache_of((0, 1), (2, 3), (4, 5))),
        (EpochCacheEnd.NEVER, cache_of((0, 1), (2, 3), (4, 5))),
    ],
)
def test_truncation_to_the_end(rule: EpochCacheEnd, cached: EpochCache) -> None:
    """An epoch without records goes from the cache although no record goes from the log (KAFKA-10706)."""
    unused = begin_leader_epoch.function(FULL, RIGHT, leader_epoch=4)
    after = truncate_to.function(unused, LogRules(epoch_cache_truncation=rule), offset=5)
    assert (cached, FULL.segments, False) == (after.epoch_cache, after.segments, after.leads)


def test_truncation_beyond_the_end_is_not_another_step() -> None:
    """A truncation beyond the end is the one to the end."""
    assert truncate_to.function(FULL, RIGHT, offset=6) is None


def test_truncation_below_the_log_start() -> None:
    """Truncated below its start, within the first segment, the log starts there and is empty; what is below stays on disk."""
    started = advance_log_start_offset.function(FULL, RIGHT, offset=3)
    after = truncate_to.function(started, RIGHT, offset=2)
    assert ((Segment(1, (Record(0, 0),)),), 2, ()) == (after.segments, after.log_start_offset, after.epoch_cache)
    assert (after.log.records, after.end_offset) == ((), 2)


def test_truncation_below_the_first_segment() -> None:
    """Truncated below its first segment the log starts anew there."""
    after = truncate_to.function(FULL, RIGHT, offset=0)
    assert ((Segment(0),), 0, ()) == (after.segments, after.log_start_offset, after.epoch_cache)


def test_follower_jumps_to_the_leaders_start() -> None:
    """A follower whose log ends before the leader's starts drops all of it; otherwise it does not jump."""
    after = truncate_fully_and_start_at.function(FULL, RIGHT, offset=6)
    assert ((Segment(6),), 6, (), False) == (after.segments, after.log_start_offset, after.epoch_cache, after.leads)
    assert truncate_fully_and_start_at.function(FULL, RIGHT, offset=5) is None


def test_roll() -> None:
    """A segment with records is closed; an empty one is not rolled."""
    after = roll_segment.function(FULL)
    assert (*FULL.segments, Segment(5)) == after.segments
    assert roll_segment.function(after) is None


def test_retention_moves_the_log_start() -> None:
    """Deleting the oldest segment moves the log start to the next one, and the epoch that goes on there starts there."""
    after = delete_segments.function(FULL, RIGHT, base_offset=4)
    assert (FULL.segments[2:], 4, cache_of((2, 4))) == (after.segments, after.log_start_offset, after.epoch_cache)


def test_retention_deletes_whole_closed_segments() -> None:
    """Only a segment boundary is a place to delete up to, there must be one below, and the active segment stays."""
    assert [delete_segments.function(FULL, RIGHT, base_offset=offset) for offset in (0, 1, 2, 5)] == [None] * 4


def test_retention_below_the_log_start_changes_no_epoch() -> None:
    """A segment that is wholly below the log start goes from disk, and nothing else changes."""
    started = advance_log_start_offset.function(FULL, RIGHT, offset=4)
    assert evolve(started, segments=FULL.segments[1:]) == delete_segments.function(started, RIGHT, base_offset=3)


@pytest.mark.parametrize(
    ("rule", "cached"),
    [(EpochCacheStart.CLAMP, ((0, 2), (2, 3))), (EpochCacheStart.DROP, ((2, 3),)), (EpochCacheStart.KEEP, ((0, 1), (2, 3)))],
)
def test_log_starts_within_an_epoch(rule: EpochCacheStart, cached: tuple[tuple[int, int], ...]) -> None:
    """The epoch of the first readable record starts there, unless the cache is cut wrongly or not at all."""
    after = advance_log_start_offset.function(FULL, LogRules(epoch_cache_start=rule), offset=2)
    assert (cache_of(*cached), FULL.segments, 2) == (after.epoch_cache, after.segments, after.log_start_offset)


def test_log_start_only_advances() -> None:
    """DeleteRecords moves the log start up, at most to the log's end, whose epoch stays known."""
    assert advance_log_start_offset.function(FULL, RIGHT, offset=1) is None
    assert advance_log_start_offset.function(FULL, RIGHT, offset=6) is None
    assert advance_log_start_offset.function(FULL, RIGHT, offset=5).epoch_cache == cache_of((2, 5))


def test_log_start_beyond_the_end_is_impossible() -> None:
    """A log that would start beyond its end is reported, not explored."""
    with pytest.raises(ImpossibleError, match="beyond its end"):
        started_at(FULL, RIGHT, 6)


def test_recovery_after_a_lost_tail() -> None:
    """What a crash took is not in the cache either, nor is an epoch that had no record; the replica does not lead."""
    unused = begin_leader_epoch.function(FULL, RIGHT, leader_epoch=4)
    after = crash_and_recover.function(unused, RIGHT, end_offset=4)
    assert ((*FULL.segments[:2], Segment(4)), cache_of((0, 1), (2, 3)), False) == (after.segments, after.epoch_cache, after.leads)
    stale = crash_and_recover.function(unused, LogRules(epoch_cache_recovery=EpochCacheRecovery.CHECKPOINT), end_offset=4)
    assert cache_of((0, 1), (2, 3), (4, 5)) == stale.epoch_cache


def test_recovery_scans_what_is_on_disk() -> None:
    """Records below the log start are scanned too, so that an epoch whose records are all deleted is known again."""
    started = evolve(FULL, log_start_offset=5, epoch_cache=())
    assert crash_and_recover.function(started, RIGHT, end_offset=5).epoch_cache == cache_of((2, 5))
    assert crash_and_recover.function(started, RIGHT, end_offset=4) is None


def test_old_assignment_only_appends() -> None:
    """Before KAFKA-7415 an epoch that was not the latest in both respects was ignored, and conflicting ones stayed."""
    old, cache = LogRules(epoch_assignment=EpochAssignment.APPEND_ONLY), cache_of((1, 4))
    assert assigned(old, cache, 2, 4) == cache_of((1, 4), (2, 4))
    assert [assigned(old, cache, *entry) for entry in ((1, 3), (0, 5), (2, 3))] == [cache] * 3
    assert assigned(old, (), 0, 0) == cache_of((0, 0))


@pytest.mark.parametrize(
    ("rule", "answers"),
    [
        (EpochEndLookup.FLOOR_EPOCH, [(-1, -1), (0, 10), (1, 12), (1, 12), (3, 15), (-1, -1)]),
        (EpochEndLookup.FLOOR_EPOCH_OR_NOTHING, [(-1, -1), (-1, -1), (1, 12), (1, 12), (3, 15), (-1, -1)]),
        (EpochEndLookup.REQUESTED_EPOCH, [(-1, -1), (0, 10), (1, 12), (2, 12), (3, 15), (-1, -1)]),
        (EpochEndLookup.CURRENT_EPOCH, [(-1, -1), (3, 10), (3, 12), (3, 12), (3, 15), (3, 10)]),
    ],
)
def test_answers_about_epochs(rule: EpochEndLookup, answers: list[tuple[int, int]]) -> None:
    """Epochs -1 to 4 asked of a log with epoch 1 at 10 and 11, and epoch 3 at 12 to 14."""
    records = tuple(Record(number, epoch) for number, epoch in enumerate((1, 1, 3, 3, 3)))
    state = evolve(FULL, segments=(Segment(10, records),), log_start_offset=10, epoch_cache=cache_of((1, 10), (3, 12)))
    assert [EpochEnd(*answer) for answer in answers] == [
        epoch_end(LogRules(epoch_end_lookup=rule), state, requested) for requested in range(-1, 5)
    ]


def test_answers_of_an_empty_cache() -> None:
    """Whatever the rule, a log without epochs knows no end."""
    for rule in EpochEndLookup:
        assert epoch_end(LogRules(epoch_end_lookup=rule), initial(), 0) == EpochEnd()


def test_read_checks_the_log_start() -> None:
    """What is on disk below the log start is not served, unless nobody checks."""
    started = advance_log_start_offset.function(FULL, RIGHT, offset=2)
    assert [read(RIGHT, started, offset) for offset in (0, 1, 2, 5)] == [None, None, Record(1, 0), None]
    assert read(LogRules(read_check=ReadCheck.FIRST_SEGMENT), started, 1) == Record(0, 0)


@pytest.mark.parametrize(("name", "value"), [("log_size", 0), ("records", -1), ("max_leader_epoch", -1), ("log_size", 65)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
