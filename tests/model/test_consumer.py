# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``consumer`` machine: when it is enabled and what it does; each of its rules."""

from __future__ import annotations

import pytest
from attrs import evolve

from hwmark.model.consumer.machine import machine
from hwmark.model.consumer.partition import epoch_cache, is_unclean
from hwmark.model.consumer.rules import (
    CommitOrder,
    CommitRetry,
    CommittedEpoch,
    FetchEpoch,
    Initialization,
    LoadedOffset,
    ResetScope,
    Rules,
    UndefinedEnd,
    Validation,
)
from hwmark.model.consumer.state import (
    INVALID_OFFSET,
    Bounds,
    CommitMode,
    Committed,
    Config,
    FetchState,
    Lookup,
    Reset,
    State,
    initial,
)
from hwmark.model.log import UNDEFINED_EPOCH, EpochEntry, Log, Record
from hwmark.model.machine import Machine, Step, put

RIGHT, EARLIEST = Rules(), Config()
LATEST, NONE = Config(auto_offset_reset=Reset.LATEST), Config(auto_offset_reset=Reset.NONE)
WIDE = Bounds(
    records=4,
    max_leader_epoch=3,
    commits=4,
    commits_under_way=2,
    seeks=3,
    restarts=2,
    failed_commits=2,
    undefined_answers=2,
    deletions=2,
    other_partitions=1,
)
ALONE = evolve(WIDE, other_partitions=0)


def step(explored: Machine[State], state: State, written: str) -> State | None:
    """Take a step that is written as the action and the values of its choices."""
    name, *values = written.split()
    choices = next(act.domains for act in explored.actions if act.name == name)
    wanted = Step(name, dict(zip(choices, map(int, values), strict=True)))
    return next(take for one, take in explored.instances() if one == wanted)(state)


def run(*steps: str, rules: Rules = RIGHT, config: Config = EARLIEST, bounds: Bounds = WIDE) -> State:
    """Return the state after these steps."""
    explored, state = machine(rules, config, bounds), initial()
    for number, written in enumerate(steps):
        after = step(explored, state, written)
        assert after is not None, f"step {number}, {written}, is not enabled"
        state = after
    return state


def refused(written: str, state: State, rules: Rules = RIGHT, config: Config = EARLIEST, bounds: Bounds = WIDE) -> bool:
    """Whether a step is not enabled."""
    return step(machine(rules, config, bounds), state, written) is None


TWO = ("append_record", "append_record")
ASSIGNED = (*TWO, "assign_partition", "finish_callback")
READING = (*ASSIGNED, "begin_lookup", "finish_lookup", "reset_position")
COMMITTED = (*READING, "poll", "build_commit", "commit_arrives 0")
RESTARTED = (*COMMITTED, "restart", "assign_partition")

# -- the partition --


def test_records_are_appended_copied_and_deleted() -> None:
    """The other replica holds what it copied; records go from the start of the leader's log alone."""
    state = run("append_record", "replicate", "append_record", "delete_records 1")
    assert state.log == Log((Record(1, 0),), 1)
    assert state.other_log == Log((Record(0, 0),), 0)
    assert refused("append_record", state, bounds=evolve(WIDE, records=2))
    assert refused("delete_records 1", state)
    assert refused("delete_records 2", state, bounds=evolve(WIDE, deletions=1))
    assert refused("delete_records 3", state)
    assert refused("replicate", run())


def test_the_other_replica_takes_over_with_its_own_log() -> None:
    """What it lacks is gone, and the old leader keeps its log for a while."""
    state = run("append_record", "replicate", "append_record", "elect_other_replica", "append_record")
    assert state.log.records == (Record(0, 0), Record(2, 1))
    assert state.other_log.records == (Record(0, 0), Record(1, 0))
    assert (is_unclean(run(*TWO)), is_unclean(run(*TWO, "replicate"))) == (True, False)
    assert refused("elect_other_replica", run(), bounds=evolve(WIDE, max_leader_epoch=0))


def test_a_leader_knows_its_epoch_without_a_record() -> None:
    """Its own epoch begins at the end of its log, or at its first record."""
    assert epoch_cache(run("append_record", "replicate", "elect_other_replica")) == (EpochEntry(0, 0), EpochEntry(1, 1))
    assert epoch_cache(run("elect_other_replica", "append_record")) == (EpochEntry(1, 0),)


# -- the first position --


def test_the_first_position_is_reset_if_nothing_is_committed() -> None:
    """To the start or the end of the log, without an epoch; without a policy the application has to decide."""
    reading = run(*READING)
    assert (reading.fetch_state, reading.position, reading.offset_epoch) == (FetchState.FETCHING, 0, UNDEFINED_EPOCH)
    assert run(*READING, config=LATEST).position == 2
    assert run(*ASSIGNED, "begin_lookup", "finish_lookup", config=NONE).fetch_state is FetchState.FAILED
    assert refused("reset_position", reading)
    assert refused("reset_position", run(*ASSIGNED, "begin_lookup", "finish_lookup", "elect_other_replica"))


def test_a_restarted_consumer_resumes_at_the_committed_offset() -> None:
    """With its epoch, by which it is validated first."""
    state = run(*RESTARTED, "begin_lookup", "finish_lookup")
    assert (state.fetch_state, state.position, state.offset_epoch) == (FetchState.AWAIT_VALIDATION, 1, 0)
    assert run(*RESTARTED, "begin_lookup", "finish_lookup", "validate_position").fetch_state is FetchState.FETCHING


def test_a_restart_forgets_all_but_what_is_committed() -> None:
    """Position, lookups and commits under way are gone; there are as many restarts as bounds allow."""
    state = run(*COMMITTED, "poll", "build_commit", "restart")
    fresh = put(initial(), log=state.log, next_record_id=2, committed=Committed(1, 0), commits=2, restarts=1)
    assert state == fresh
    assert refused("restart", state)
    assert refused("restart", run(*READING), bounds=evolve(WIDE, restarts=0))


def test_a_lookup_is_about_what_needs_it_when_it_begins() -> None:
    """One that began without the partition changes nothing; one at a time, and only if anything has no position."""
    late = run("begin_lookup", "assign_partition", "finish_lookup")
    assert (late.fetch_state, late.lookup) == (FetchState.INITIALIZING, Lookup.IDLE)
    assert run(*ASSIGNED, "begin_lookup").lookup is Lookup.WITH_PARTITION
    assert refused("begin_lookup", run(*ASSIGNED, "begin_lookup"))
    assert refused("begin_lookup", run(*READING), bounds=ALONE)
    assert refused("begin_lookup", run(), bounds=ALONE)
    assert refused("finish_lookup", run())
    assert refused("assign_partition", late)
    assert refused("finish_callback", run(*ASSIGNED))


def test_offsets_are_looked_up_during_the_callback_or_after_it() -> None:
    """Either way nothing is fetched before it is over."""
    positioned = run(*TWO, "assign_partition", "begin_lookup", "finish_lookup", "reset_position")
    assert refused("poll", positioned)
    after = Rules(initialization=Initialization.AFTER_CALLBACK)
    assert run("assign_partition", "begin_lookup", rules=after).lookup is Lookup.WITHOUT_PARTITION
    assert run("assign_partition", "finish_callback", "begin_lookup", rules=after).lookup is Lookup.WITH_PARTITION


@pytest.mark.parametrize(
    ("scope", "steps", "fetch_state"),
    [
        (ResetScope.LOOKED_UP, ("begin_lookup", "assign_partition", "finish_lookup"), FetchState.INITIALIZING),
        (ResetScope.ALL_INITIALIZING, ("begin_lookup", "assign_partition", "finish_lookup"), FetchState.AWAIT_RESET),
        (ResetScope.CALLBACK_DONE, ("begin_lookup", "assign_partition", "finish_lookup"), FetchState.INITIALIZING),
        (ResetScope.CALLBACK_DONE, ("begin_lookup", "assign_partition", "finish_callback", "finish_lookup"), FetchState.AWAIT_RESET),
    ],
)
def test_rules_of_reset(scope: ResetScope, steps: tuple[str, ...], fetch_state: FetchState) -> None:
    """Which partitions are reset at the end of a run that was not about them."""
    assert run(*steps, rules=Rules(reset_scope=scope)).fetch_state is fetch_state


# -- seeking --


def test_the_application_seeks_anywhere() -> None:
    """To any offset, as often as bounds allow; after a failure always; without an epoch to be validated by."""
    state = run(*READING, "poll", "seek 0")
    assert (state.fetch_state, state.position, state.offset_epoch, state.seeks) == (FetchState.FETCHING, 0, UNDEFINED_EPOCH, 1)
    assert refused("seek 0", state, bounds=evolve(WIDE, seeks=1))
    failed = run(*ASSIGNED, "begin_lookup", "finish_lookup", config=NONE)
    assert not refused("seek 0", failed, bounds=evolve(WIDE, seeks=0))
    assert refused("seek 0", run())


def test_a_late_answer_does_not_undo_a_seek() -> None:
    """Unless the client does not look again."""
    steps = (*RESTARTED, "begin_lookup", "seek 0", "finish_lookup")
    assert run(*steps).position == 0
    assert run(*steps, rules=Rules(loaded_offset=LoadedOffset.ALWAYS)).position == 1


# -- polling --


def test_a_poll_returns_the_record_at_the_position() -> None:
    """And moves on; at the end of the log there is nothing to return."""
    state = run(*READING, "poll")
    assert (state.position, state.offset_epoch) == (1, 0)
    assert refused("poll", run(*READING, "poll", "poll"))
    assert refused("poll", run(*ASSIGNED))


@pytest.mark.parametrize(("config", "fetch_state"), [(EARLIEST, FetchState.AWAIT_RESET), (NONE, FetchState.FAILED)])
def test_out_of_range_the_reset_policy_decides(config: Config, fetch_state: FetchState) -> None:
    """Below the log start offset as above the log end offset."""
    for moved in (("delete_records 1",), ("seek 3",)):
        state = run(*ASSIGNED, "seek 0", *moved, "poll", config=config)
        assert (state.fetch_state, state.position) == (fetch_state, INVALID_OFFSET)


# -- after a change of leader --

ELECTED = (*READING, "poll", "elect_other_replica")


def test_a_new_leader_refuses_until_the_consumer_knows_it() -> None:
    """A fetch names the leader epoch; with the news the position has to be validated, if it has an epoch."""
    assert refused("poll", run(*ELECTED, "append_record", "append_record"))
    assert not refused("poll", run(*ELECTED, "append_record", "append_record"), Rules(fetch_epoch=FetchEpoch.NONE))
    assert run(*ELECTED, "refresh_metadata").fetch_state is FetchState.AWAIT_VALIDATION
    assert run(*READING, "elect_other_replica", "refresh_metadata").fetch_state is FetchState.FETCHING
    assert run("assign_partition", "elect_other_replica", "refresh_metadata").fetch_state is FetchState.INITIALIZING
    assert refused("refresh_metadata", run(*READING))
    assert run(*ELECTED, "refresh_metadata", rules=Rules(validation=Validation.NONE)).fetch_state is FetchState.FETCHING


def test_a_position_stands_or_goes_back() -> None:
    """It stands where the leader has what was read, and goes back to the end of what it has."""
    clean = run(*READING, "poll", "replicate", "elect_other_replica", "refresh_metadata", "validate_position")
    assert (clean.fetch_state, clean.position) == (FetchState.FETCHING, 1)
    lagging = ("append_record", "replicate", "append_record", "assign_partition", "finish_callback", "begin_lookup", "finish_lookup")
    steps = (*lagging, "reset_position", "poll", "poll", "elect_other_replica", "refresh_metadata", "validate_position")
    back = run(*steps)
    assert (back.fetch_state, back.position, back.offset_epoch) == (FetchState.FETCHING, 1, 0)
    assert run(*lagging, "seek 0", *steps[8:], config=NONE).fetch_state is FetchState.FAILED
    assert refused("validate_position", clean)
    assert refused("validate_position", run(*steps[:-1], "elect_other_replica"))


@pytest.mark.parametrize(
    ("validation", "fetch_state"), [(Validation.SAME_EPOCH, FetchState.AWAIT_RESET), (Validation.END_OFFSET, FetchState.FETCHING)]
)
def test_the_end_of_another_epoch(validation: Validation, fetch_state: FetchState) -> None:
    """A leader that never saw the epoch names the end of an earlier one: that says where the logs part, or it does not."""
    steps = (*TWO, "elect_other_replica", "append_record", "assign_partition", "finish_callback", "refresh_metadata", "begin_lookup")
    steps = (*steps, "finish_lookup", "reset_position", "poll", "elect_other_replica", "refresh_metadata", "validate_position")
    assert run(*steps, rules=Rules(validation=validation)).fetch_state is fetch_state


def test_an_answer_that_says_nothing() -> None:
    """The reset policy decides; taken for an offset it is one that does not exist."""
    asking = (*ELECTED, "refresh_metadata")
    assert run(*asking, "validate_without_answer").fetch_state is FetchState.AWAIT_RESET
    wrong = run(*asking, "validate_without_answer", rules=Rules(undefined_end=UndefinedEnd.OFFSET))
    assert (wrong.fetch_state, wrong.position) == (FetchState.FETCHING, -1)
    assert refused("validate_without_answer", run(*asking), bounds=evolve(WIDE, undefined_answers=0))
    assert refused("validate_without_answer", run(*READING))


# -- commits --


def test_a_commit_is_built_and_arrives() -> None:
    """With the epoch of the last record, once one was read, and as many at a time as bounds allow."""
    built = run(*READING, "poll", "build_commit")
    assert (built.under_way, built.committed) == ((Committed(1, 0),), None)
    assert run(*COMMITTED).committed == Committed(1, 0)
    assert run(*COMMITTED, rules=Rules(committed_epoch=CommittedEpoch.LEFT_OUT)).committed == Committed(1)
    assert refused("build_commit", run(*READING))
    assert refused("build_commit", run(*READING, "poll", "build_commit", "build_commit"))
    assert refused("build_commit", run(*READING, "poll"), bounds=evolve(WIDE, commits=0))
    assert refused("commit_arrives 0", run(*READING))


def test_commits_arrive_in_order() -> None:
    """Unless they are sent by several threads without a lock."""
    two = (*READING, "poll", "build_commit", "poll", "build_commit")
    assert refused("commit_arrives 1", run(*two))
    state = run(*two, "commit_arrives 1", rules=Rules(commit_order=CommitOrder.ANY))
    assert (state.committed, state.under_way) == (Committed(2, 0), (Committed(1, 0),))


def test_a_failed_commit_is_gone_or_sent_again() -> None:
    """As the client decides; there are as many failures as bounds allow."""
    two = (*READING, "poll", "build_commit", "poll", "build_commit", "commit_fails 0")
    assert run(*two).under_way == (Committed(2, 0),)
    assert run(*two, rules=Rules(commit_retry=CommitRetry.LATER)).under_way == (Committed(2, 0), Committed(1, 0))
    assert refused("commit_fails 1", run(*two[:-1]))
    assert refused("commit_fails 0", run(*two), bounds=evolve(WIDE, failed_commits=1))


def test_automatic_commits_are_built_by_polling() -> None:
    """A poll commits what earlier polls returned; the application itself commits nothing."""
    automatic = Config(commit_mode=CommitMode.AUTOMATIC)
    assert run(*READING, "poll", config=automatic).under_way == ()
    assert run(*READING, "poll", "poll", config=automatic).under_way == (Committed(1, 0),)
    assert refused("build_commit", run(*READING, "poll", config=automatic), config=automatic)
