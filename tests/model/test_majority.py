# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``majority`` machine: when it is enabled and what it does, under each rule."""

from __future__ import annotations

import pytest
from attrs import evolve

from hwmark.model.log import Log, Record
from hwmark.model.machine import Machine, Step
from hwmark.model.majority.machine import machine
from hwmark.model.majority.replication import quorum
from hwmark.model.majority.rules import CommitEpoch, Flush, QuorumSize, Rules, Truncation, VoteCheck, VoteMemory
from hwmark.model.majority.state import CONTROL, NOBODY, Bounds, Config, Replica, Role, State, Waiting, initial

RIGHT = Rules()
WIDE = Bounds(brokers=3, records=3, max_leader_epoch=3, consumers=1, timeouts=3, crashes=2, lossy_crashes=1)


def step(explored: Machine[State], state: State, written: str) -> State | None:
    """Take a step that is written as the action and the values of its choices."""
    name, *values = written.split()
    choices = next(act.domains for act in explored.actions if act.name == name)
    wanted = Step(name, dict(zip(choices, map(int, values), strict=True)))
    return next(take for one, take in explored.instances() if one == wanted)(state)


def run(*steps: str, rules: Rules = RIGHT, bounds: Bounds = WIDE, start: State | None = None) -> State:
    """Return the state after these steps."""
    explored, state = machine(rules, Config(), bounds), initial(bounds) if start is None else start
    for number, written in enumerate(steps):
        after = step(explored, state, written)
        assert after is not None, f"step {number}, {written}, is not enabled"
        state = after
    return state


def refused(written: str, state: State, rules: Rules = RIGHT, bounds: Bounds = WIDE) -> bool:
    """Whether a step is not enabled."""
    return step(machine(rules, Config(), bounds), state, written) is None


def log(*records: tuple[int, int]) -> Log:
    """Return a log of records, each an id and a leader epoch."""
    return Log(tuple(Record(*one) for one in records))


COPIED = ("append_record 0", "receive_fetch 1")
COMMITTED = (*COPIED, "handle_fetch 1")
CANDIDATE = ("start_election 1",)
ELECTED = (*CANDIDATE, "request_vote 1 2")

# -- records --


def test_a_leader_appends_and_followers_fetch() -> None:
    """A record is committed once the leader has heard that a majority has it; only then is the producer told."""
    state = run("append_record 0")
    assert (state.logs[0], state.produced[0], state.next_record_id) == (log((0, 0)), Waiting(0, 0), 1)
    state = run(*COPIED)
    assert (state.logs[1], state.replicas[0].high_watermark) == (log((0, 0)), 0)
    assert refused("acknowledge_produce 0", state)
    state = run(*COMMITTED)
    assert [one.high_watermark for one in state.replicas] == [1, 0, 0]
    assert run(*COMMITTED, "receive_fetch 1").replicas[1].high_watermark == 1
    assert run(*COMMITTED, "acknowledge_produce 0").produced[0] is None
    assert refused("acknowledge_produce 0", run(*COMMITTED, "acknowledge_produce 0"))


def test_what_tells_nothing_is_no_step() -> None:
    """A follower fetches from its leader alone, and only where there is news; no more records are appended than there are."""
    state = run()
    assert refused("append_record 1", state)
    for action in ("receive_fetch", "handle_fetch"):
        assert refused(f"{action} 0", state)
        assert refused(f"{action} 1", state)
        assert refused(f"{action} 1", run(*COMMITTED, "receive_fetch 1"))
        assert refused(f"{action} 2", run("append_record 0", *ELECTED))
    assert refused("append_record 0", run("append_record 0", "append_record 0", "append_record 0"))


def test_consumers_read_below_the_high_watermark() -> None:
    """From any replica that runs, below what it knows to be committed."""
    assert refused("consume 0 0", run(*COPIED))
    assert run(*COMMITTED, "consume 0 0").consumers == (1,)
    assert refused("consume 0 1", run(*COMMITTED))
    assert refused("consume 0 0", run(*COMMITTED, "consume 0 0"))
    assert refused("consume 0 0", run(*COMMITTED, "crash 0 1"))


def test_one_replica_commits_alone() -> None:
    """A majority of one is the leader."""
    alone = evolve(WIDE, brokers=1)
    assert run("append_record 0", bounds=alone).replicas[0].high_watermark == 1
    assert run("crash 0 0", "start 0", "start_election 0", bounds=alone).replicas[0].high_watermark == 1


@pytest.mark.parametrize(("replicas", "majority", "half"), [(1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 3, 2), (5, 3, 3)])
def test_the_size_of_a_quorum(replicas: int, majority: int, half: int) -> None:
    """More than half, or half rounded up."""
    assert (quorum(RIGHT, replicas), quorum(Rules(quorum_size=QuorumSize.HALF), replicas)) == (majority, half)


# -- elections --


def test_a_candidate_votes_for_itself_in_the_next_epoch() -> None:
    """Where a leader runs that is no further behind, that is one of the timeouts; nobody who leads or is stopped stands."""
    state = run(*CANDIDATE)
    assert state.replicas[1] == Replica(Role.CANDIDATE, leader_epoch=1, stands_by=1, votes=frozenset({1}))
    assert state.budget.timeouts == 2
    assert run("crash 0 0", "start_election 1").budget.timeouts == 3
    assert refused("start_election 1", initial(evolve(WIDE, timeouts=0)))
    assert refused("start_election 0", run())
    assert refused("start_election 1", run("crash 1 0"))
    assert refused("start_election 1", run(*CANDIDATE), bounds=evolve(WIDE, max_leader_epoch=1))


def test_who_wins_begins_with_a_record_of_its_own() -> None:
    """The voter enters the epoch and stands by the candidate; the leader's first record is of its epoch."""
    state = run(*ELECTED)
    assert state.replicas[1] == Replica(Role.LEADER, leader_epoch=1, stands_by=1)
    assert state.replicas[2] == Replica(Role.UNATTACHED, leader_epoch=1, stands_by=1)
    assert state.logs[1] == log((CONTROL, 1))
    assert refused("request_vote 1 0", state)


def test_a_vote_is_given_once_in_an_epoch() -> None:
    """A voter that stands by somebody else refuses; and one that follows or leads does."""
    state = run("start_election 1", "start_election 2", "request_vote 1 0")
    assert refused("request_vote 2 0", state)
    assert refused("request_vote 2 2", state)
    assert refused("request_vote 2 1", run("start_election 1", "start_election 2"))
    assert refused("request_vote 1 2", run("start_election 1", "crash 2 0"))
    assert refused("request_vote 2 0", run("start_election 1", "request_vote 1 0", "begin_quorum_epoch 1 0", "start_election 2"))


@pytest.mark.parametrize(("check", "shorter", "longer"), [(VoteCheck.UP_TO_DATE, 0, 2), (VoteCheck.LONGEST, 0, 1), (VoteCheck.NONE, 2, 2)])
def test_for_whose_log_a_vote_is_given(check: VoteCheck, shorter: int, longer: int) -> None:
    """One at least as complete, one at least as long, or any: who votes for whom, of logs of different lengths and epochs."""
    asking = Replica(Role.CANDIDATE, leader_epoch=2, stands_by=1, votes=frozenset({1}))
    voter = Replica(Role.UNATTACHED, leader_epoch=2)
    bounds = evolve(WIDE, brokers=5)

    def votes(ours: Log, theirs: Log) -> bool:
        state = initial(bounds)
        state = evolve(state, replicas=(voter, asking, *state.replicas[2:]), logs=(theirs, ours, *state.logs[2:]))
        after = step(machine(Rules(vote_check=check), Config(), bounds), state, "request_vote 1 0")
        return after is not None and after.replicas[0].stands_by == 1

    short, long, late = log((0, 0)), log((0, 0), (1, 0)), log((CONTROL, 1))
    assert [votes(short, short), votes(long, short), votes(long, long), votes(late, late)] == [True] * 4
    assert votes(short, long) is (shorter == 2)
    assert votes(late, long) is (longer == 2)
    assert votes(long, late) is (check is not VoteCheck.UP_TO_DATE)


def test_a_refused_vote_still_brings_the_epoch() -> None:
    """A voter enters a later epoch although it does not vote; a candidate enters that of a voter that is further."""
    state = run(*COPIED, "start_election 2", "request_vote 2 1")
    assert state.replicas[1] == Replica(Role.UNATTACHED, leader_epoch=1)
    state = run("start_election 1", "start_election 2", "start_election 2", "request_vote 1 2")
    assert state.replicas[1] == Replica(Role.UNATTACHED, leader_epoch=2)


def test_a_leader_makes_itself_known() -> None:
    """The others follow; a leader of an earlier epoch hears of the later one, and its producers are refused."""
    state = run("append_record 0", *ELECTED, "begin_quorum_epoch 1 2", "begin_quorum_epoch 1 0")
    assert state.replicas[0] == state.replicas[2] == Replica(Role.FOLLOWER, leader_epoch=1, stands_by=1)
    assert state.produced[0] is None
    late = run("append_record 0", *ELECTED, "begin_quorum_epoch 0 2")
    assert late.replicas[0] == Replica(Role.UNATTACHED, leader_epoch=1)
    assert (late.produced[0], late.followers[0]) == (None, (0, 0, 0))
    for written in ("begin_quorum_epoch 1 2", "begin_quorum_epoch 0 1", "begin_quorum_epoch 1 1", "begin_quorum_epoch 0 2"):
        assert refused(written, state)
    assert refused("begin_quorum_epoch 0 1", run("crash 1 0"))


# -- logs that part --


def parted(rules: Rules = RIGHT) -> State:
    """Return a state in which a former leader with a record that nobody has follows its successor."""
    return run("append_record 0", *ELECTED, "append_record 1", "begin_quorum_epoch 1 0", rules=rules)


def test_a_follower_truncates_first() -> None:
    """The leader does not count a log that is not its own; the follower cuts it where they part, and then fetches."""
    state = parted()
    assert refused("handle_fetch 0", state)
    state = run("receive_fetch 0", start=state)
    assert state.logs[0] == Log()
    assert run("receive_fetch 0", "receive_fetch 0", start=state).logs[0] == log((CONTROL, 1), (1, 1))


def test_a_follower_that_does_not_truncate() -> None:
    """Without the rule it goes on from where its log ends."""
    rules = Rules(truncation=Truncation.NONE)
    assert run("receive_fetch 0", rules=rules, start=parted(rules)).logs[0] == log((0, 0), (1, 1))


def test_which_records_are_committed_by_counting() -> None:
    """One of an earlier epoch only with one of the leader's own, unless the rule is switched off."""
    steps = ("append_record 0", "start_election 1", "request_vote 1 0", "start_election 0", "start_election 0", "request_vote 0 2")
    steps = (*steps, "begin_quorum_epoch 0 2", "receive_fetch 2", "handle_fetch 2")
    bounds = evolve(WIDE, max_leader_epoch=4)
    assert run(*steps, bounds=bounds).replicas[0].high_watermark == 0
    assert run(*steps, "receive_fetch 2", "handle_fetch 2", bounds=bounds).replicas[0].high_watermark == 2
    assert run(*steps, rules=Rules(commit_epoch=CommitEpoch.ANY), bounds=bounds).replicas[0].high_watermark == 1


# -- processes --


def test_a_crash_keeps_what_is_on_disk() -> None:
    """The epoch, the vote and the log; what a leader knew and who waited for it is gone."""
    state = run(*COMMITTED, "crash 0 1")
    assert state.replicas[0] == Replica(Role.STOPPED, stands_by=0)
    assert (state.logs[0], state.produced[0], state.followers[0]) == (log((0, 0)), None, (0, 0, 0))
    assert (state.budget.crashes, state.budget.lossy_crashes) == (1, 1)
    assert run(*COMMITTED, "crash 0 1", "start 0").replicas[0] == Replica(Role.UNATTACHED, stands_by=0)
    assert refused("crash 0 1", state)
    assert refused("crash 0 0", run(*COMMITTED))
    assert refused("crash 0 2", run(*COMMITTED))
    assert refused("crash 0 0", initial(evolve(WIDE, crashes=0)))
    assert refused("start 0", state, bounds=evolve(WIDE, stays_down=True))
    assert refused("start 1", state)


def test_what_was_not_flushed_is_lost() -> None:
    """Any part of the end of the log, as often as there are lossy crashes."""
    later = Rules(flush=Flush.LATER)
    state = run(*COMMITTED, "crash 0 0", rules=later)
    assert (state.logs[0], state.budget.crashes, state.budget.lossy_crashes) == (Log(), 2, 0)
    assert refused("crash 1 0", state, later)


def test_a_vote_that_is_forgotten() -> None:
    """The epoch stays."""
    state = run("start_election 1", "request_vote 1 0", "crash 0 0", rules=Rules(vote_memory=VoteMemory.FORGOTTEN))
    assert state.replicas[0] == Replica(Role.STOPPED, leader_epoch=1, stands_by=NOBODY)


@pytest.mark.parametrize(("name", "value"), [("brokers", 0), ("records", -1), ("max_leader_epoch", 65), ("crashes", 10)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
