# SPDX-License-Identifier: Apache-2.0
"""What a broker's process does in the ``partition`` machine: it stops, starts, registers, and learns what was decided."""

from __future__ import annotations

import pytest
from attrs import evolve
from partition_states import (
    BOUNDS,
    CONFIG,
    START,
    A,
    B,
    answered,
    controller_down,
    decision,
    fetch,
    fetch_answer,
    follower,
    logs,
    partition,
    process,
    proposed,
    registration,
    replica,
    request,
    rules,
    spent,
    stopped,
    take,
    taken,
    without,
)

from hwmark.model.log import Log
from hwmark.model.machine import put
from hwmark.model.partition.broker import (
    crash,
    learn_metadata,
    receive_registration,
    remembers,
    request_registration,
    shut_down,
    start_broker,
)
from hwmark.model.partition.decisions import PartitionState
from hwmark.model.partition.rules import CaughtUp, FetcherRestart, FollowerMemory, MetadataAgain, RegistrationMatch, Truncation
from hwmark.model.partition.shared import truth
from hwmark.model.partition.state import (
    UNKNOWN,
    Follower,
    Process,
    RegistrationAnswer,
    RegistrationRequest,
    Replica,
    State,
    Status,
    Waiting,
)

FULL = logs(START, (A, B), (A, B), high_watermark=1)
"""Two records at brokers 0 and 1, one of them committed."""


# -- stopping --


def test_a_crash_that_loses_nothing() -> None:
    """The log is still there, and the high watermark of the last checkpoint; what was in memory is gone."""
    state = follower(put(FULL, produced={0: Waiting(0, 0), 1: Waiting(1, 0)}), 1, 2)
    after = taken(crash, state, broker=0, kept=2, checkpoint=0)
    assert (after.logs[0], after.replicas[0]) == (Log((A, B)), Replica(high_watermark=0))
    assert (after.processes[0], after.positions[0]) == (Process(Status.STOPPED, 1, UNKNOWN, UNKNOWN), UNKNOWN)
    assert (after.followers[0], after.produced[:2]) == ((Follower(),) * 4, (None, Waiting(1, 0)))
    assert spent(state, after) == ["crashes"]


def test_a_crash_that_loses_the_end_of_the_log() -> None:
    """Any part of it; the high watermark comes back as far as the log still goes."""
    after = taken(crash, FULL, broker=0, kept=1, checkpoint=1)
    assert (after.logs[0], after.replicas[0].high_watermark, spent(FULL, after)) == (Log((A,)), 1, ["lossy_crashes"])
    assert take(crash, FULL, broker=0, kept=0, checkpoint=0) is not None


@pytest.mark.parametrize(
    ("kept", "checkpoint", "log_start_offset"),
    [(3, 0, 0), (2, 2, 0), (1, 2, 0), (0, 1, 0), (0, 0, 1), (2, 0, 1)],
    ids=[
        "more than there was",
        "high watermark of later",
        "beyond what is kept",
        "beyond the log",
        "below the start",
        "checkpoint below the start",
    ],
)
def test_what_a_crash_cannot_leave(kept: int, checkpoint: int, log_start_offset: int) -> None:
    """More than there was, or a high watermark that was not, or one outside of the log."""
    state = put(FULL, logs={0: Log((A, B)[log_start_offset:], log_start_offset)})
    assert take(crash, state, broker=0, kept=kept, checkpoint=checkpoint) is None


def test_who_crashes() -> None:
    """Also a broker that starts; not one that is stopped, nor more often than the bounds say."""
    starting = process(FULL, 0, status=Status.STARTING)
    assert take(crash, starting, broker=0, kept=2, checkpoint=1) is not None
    assert take(crash, stopped(FULL, 0), broker=0, kept=2, checkpoint=1) is None
    assert take(crash, without(FULL, "crashes"), broker=0, kept=2, checkpoint=1) is None
    assert take(crash, without(FULL, "lossy_crashes"), broker=0, kept=1, checkpoint=1) is None
    assert take(crash, without(FULL, "lossy_crashes"), broker=0, kept=2, checkpoint=1) is not None


def test_requests_outlive_a_crash() -> None:
    """What a broker asked for is still on its way; an answer to a proposal reaches nobody."""
    asked = fetch(proposed(FULL, 0, 1), broker=0, leader=1)
    after = taken(crash, asked, broker=0, kept=2, checkpoint=1)
    assert (after.altering[0], after.fetching[0]) == (request(0, 1), asked.fetching[0])
    assert taken(crash, answered(FULL, 0, 1), broker=0, kept=2, checkpoint=1).altering[0] is None


def test_a_clean_stop() -> None:
    """After a controlled shutdown, once another leads: nothing is lost, and the broker epoch is written down."""
    ready = registration(partition(FULL, leader=1), 0, in_controlled_shutdown=True)
    after = taken(shut_down, ready, broker=0)
    assert (after.processes[0], after.logs[0]) == (Process(Status.STOPPED, 1, UNKNOWN, 1), Log((A, B)))
    assert (after.replicas[0], spent(ready, after)) == (Replica(high_watermark=1), [])
    leads_still = registration(FULL, 0, in_controlled_shutdown=True)
    assert take(shut_down, leads_still, broker=0) is None
    assert take(shut_down, FULL, broker=0) is None


def test_a_clean_stop_without_a_controller() -> None:
    """There is nobody to ask: the broker goes at once, as often as the bounds say."""
    alone = controller_down(FULL)
    after = taken(shut_down, alone, broker=0)
    assert (after.processes[0].clean_epoch, spent(alone, after)) == (1, ["shutdowns"])
    assert take(shut_down, without(alone, "shutdowns"), broker=0) is None
    for status in (Status.STARTING, Status.STOPPED):
        assert take(shut_down, process(alone, 0, status=status), broker=0) is None


# -- starting --


def test_a_broker_starts_its_next_life() -> None:
    """With what it wrote down when it stopped."""
    state = stopped(START, 1, clean_epoch=1)
    assert taken(start_broker, state, broker=1).processes[1] == Process(Status.STARTING, 2, UNKNOWN, 1)
    assert take(start_broker, START, broker=1) is None
    assert take(start_broker, process(START, 1, status=Status.STARTING), broker=1) is None


def test_a_broker_may_have_to_stay_down() -> None:
    """Where we look so far only: nobody repairs it."""
    assert take(start_broker, stopped(START, 1), broker=1, bounds=evolve(BOUNDS, stays_down=True)) is None


STARTING = process(START, 1, status=Status.STARTING, life=2, broker_epoch=UNKNOWN, clean_epoch=1)


def test_a_starting_broker_asks_once() -> None:
    """It shows the broker epoch of its clean shutdown, and does not wait for what its former life asked."""
    asked = taken(request_registration, STARTING, broker=1)
    assert asked.registering[1] == RegistrationRequest(2, 1)
    assert take(request_registration, asked, broker=1) is None
    assert take(request_registration, put(STARTING, registering={1: RegistrationAnswer(2, 0)}), broker=1) is None
    for former in (RegistrationRequest(1, 1), RegistrationAnswer(1, 0)):
        assert taken(request_registration, put(STARTING, registering={1: former}), broker=1).registering[1] == RegistrationRequest(2, 1)
    assert take(request_registration, START, broker=1) is None
    assert take(request_registration, stopped(START, 1), broker=1) is None


def test_a_registered_broker_runs() -> None:
    """Its life is its broker epoch; it will learn the latest decision, or a later one."""
    state = put(decision(STARTING), registering={1: RegistrationAnswer(2, 1)})
    after = taken(receive_registration, state, broker=1)
    assert (after.processes[1], after.registering[1], after.positions[1]) == (Process(Status.RUNNING, 2, 2, UNKNOWN), None, 0)
    assert after.replicas[1] == state.replicas[1]


@pytest.mark.parametrize(("match", "broker_epoch"), [(RegistrationMatch.SAME_LIFE, None), (RegistrationMatch.ANY, 1)])
def test_an_answer_to_a_former_life(match: RegistrationMatch, broker_epoch: int | None) -> None:
    """Is not for this one, as the connection died with the process; by the weaker rule it goes by a broker epoch that is gone."""
    after = take(
        receive_registration, put(STARTING, registering={1: RegistrationAnswer(1, 0)}), broker=1, rules=rules(registration_match=match)
    )
    assert (None if after is None else after.processes[1].broker_epoch) == broker_epoch


def test_who_hears_no_answer() -> None:
    """Who runs or is stopped, and while there is none."""
    answer = {1: RegistrationAnswer(2, 0)}
    assert take(receive_registration, put(STARTING, registering={1: RegistrationRequest(2, 1)}), broker=1) is None
    assert take(receive_registration, STARTING, broker=1) is None
    assert take(receive_registration, put(process(STARTING, 1, status=Status.RUNNING), registering=answer), broker=1) is None
    assert take(receive_registration, put(process(STARTING, 1, status=Status.STOPPED), registering=answer), broker=1) is None


# -- learning to lead --

ELECTED = decision(FULL, leader=1, leader_epoch=1, isr=frozenset({1, 2}))
"""Broker 1 is elected, and does not know it."""


def learn(state: State, broker: int, partition_epoch: int = 1, **given: object) -> State:
    """Return the state after a broker has learned a decision."""
    return taken(learn_metadata, state, broker=broker, partition_epoch=partition_epoch, **given)


def test_a_broker_learns_that_it_leads() -> None:
    """Its epoch starts at the end of its log, and it knows nothing of its followers; it keeps its high watermark."""
    after = learn(ELECTED, 1)
    assert after.replicas[1] == Replica(
        leader=1,
        leader_epoch=1,
        partition_epoch=1,
        high_watermark=1,
        replicas=(0, 1, 2),
        isr=frozenset({1, 2}),
        epoch_start=2,
        fetch_epoch=UNKNOWN,
    )
    assert (after.followers[1], after.positions[1], after.logs[1]) == ((Follower(),) * 4, 1, Log((A, B)))


def test_who_leads_alone_commits_all() -> None:
    """If the operator asks for no more than the leader."""
    alone = decision(FULL, leader=1, leader_epoch=1, isr=frozenset({1}))
    assert learn(alone, 1, config=evolve(CONFIG, min_isr=1)).replicas[1].high_watermark == 2
    assert learn(alone, 1).replicas[1].high_watermark == 1


def test_a_leader_learns_a_new_isr() -> None:
    """In the same leader epoch it keeps where that starts, and what it knows of its followers; a proposal is given up."""
    state = decision(follower(proposed(FULL, 0, 1), 2, 1), isr=frozenset({0, 2}))
    known = learn(state, 0)
    assert (known.replicas[0].isr, known.replicas[0].proposed, known.replicas[0].epoch_start) == (frozenset({0, 2}), frozenset(), 0)
    assert known.followers[0][2] == Follower(1, 1)


def test_a_leader_of_the_next_epoch_too() -> None:
    """It keeps what it knows of its followers, but for those that are no replicas any more."""
    state = decision(follower(follower(FULL, 1, 2), 2, 1), leader_epoch=1, replicas=(0, 1), isr=frozenset({0, 1}))
    after = learn(state, 0)
    assert after.followers[0] == (Follower(), Follower(2, 1), Follower(), Follower())
    assert after.replicas[0].epoch_start == 2


@pytest.mark.parametrize(("memory", "is_kept"), [(FollowerMemory.FORGOTTEN, False), (FollowerMemory.KEPT, True)])
def test_a_leader_that_missed_an_epoch(memory: FollowerMemory, *, is_kept: bool) -> None:
    """It forgets how far its followers were, of whom one may have followed another leader; Kafka keeps it."""
    given = rules(follower_memory=memory)
    state = decision(decision(follower(FULL, 2, 2), leader=1, leader_epoch=1), leader=0, leader_epoch=2, isr=frozenset({0, 2}))
    missed = learn(state, 0, 2, rules=given)
    assert missed.followers[0][2] == (Follower(2, 1) if is_kept else Follower())
    assert missed.replicas[0].high_watermark == (2 if is_kept else 1)
    assert learn(learn(state, 0, 1, rules=given), 0, 2, rules=given).followers[0][2] == Follower()


@pytest.mark.parametrize(("leader_epoch", "is_kept"), [(0, True), (1, True), (2, False)])
def test_how_long_a_leader_remembers(leader_epoch: int, *, is_kept: bool) -> None:
    """In its own epoch and in the next, before which nobody else can have led; one that did not lead remembers nothing."""
    elected = PartitionState((0, 1, 2), frozenset({0, 2}), leader=0, leader_epoch=leader_epoch, partition_epoch=5)
    assert remembers(rules(), FULL.replicas[0], elected) is is_kept
    assert not remembers(rules(), FULL.replicas[1], evolve(elected, leader=1))


def test_a_leader_that_missed_an_epoch_does_not_know_who_keeps_up() -> None:
    """As any leader at the start of its epoch: members of the ISR count as caught up, with a log end of which it knows nothing."""
    state = decision(follower(FULL, 2, 2), leader_epoch=2, isr=frozenset({0, 2}))
    after = learn(state, 0, rules=rules(caught_up=CaughtUp.KEEPING_UP))
    assert after.followers[0][2] == Follower(caught_up=True)


KNOWN = replica(decision(proposed(FULL, 0, 1), isr=frozenset({0, 1})), 0, isr=frozenset({0, 1}), partition_epoch=1)
"""The leader has heard of partition epoch 1 in an answer, has proposed another ISR since, and now reads the record of it."""


@pytest.mark.parametrize(("again", "is_kept"), [(MetadataAgain.SKIPPED, True), (MetadataAgain.APPLIED, False)])
def test_what_a_leader_knows_already(again: MetadataAgain, *, is_kept: bool) -> None:
    """Is no news; Kafka applies it all the same, and forgets what was proposed since. What is older it always skips."""
    given = rules(metadata_again=again)
    assert bool(learn(KNOWN, 0, rules=given).replicas[0].proposed) == is_kept
    assert learn(replica(KNOWN, 0, partition_epoch=2), 0, rules=given).replicas[0].proposed


# -- learning to follow --


def test_a_broker_learns_whom_to_follow() -> None:
    """It fetches in the new leader epoch, forgets what it knew as a leader, and answers those who waited."""
    state = put(follower(ELECTED, 2, 1), produced={0: Waiting(0, 0), 1: Waiting(1, 1)})
    after = learn(state, 0)
    assert after.replicas[0] == Replica(leader=1, leader_epoch=1, partition_epoch=1, high_watermark=1, fetch_epoch=1)
    assert (after.followers[0], after.produced[:2], after.logs[0]) == ((Follower(),) * 4, (None, Waiting(1, 1)), Log((A, B)))


def test_a_follower_learns_what_is_not_about_it() -> None:
    """In the same leader epoch it goes on fetching as before; what it knows better it skips."""
    state = decision(FULL, isr=frozenset({0, 1}))
    assert learn(state, 1).replicas[1] == evolve(FULL.replicas[1], partition_epoch=1)
    better = replica(state, 1, partition_epoch=2, leader_epoch=3)
    assert learn(better, 1).replicas[1] == better.replicas[1]


@pytest.mark.parametrize(("truncation", "end_offset"), [(Truncation.EPOCH_AND_END, 2), (Truncation.END, 2), (Truncation.HIGH_WATERMARK, 1)])
def test_what_a_follower_cuts_at_once(truncation: Truncation, end_offset: int) -> None:
    """Nothing, unless it compares nothing later: then all that it does not know to be committed, with every new epoch."""
    given = rules(truncation=truncation)
    assert learn(ELECTED, 0, rules=given).logs[0].end_offset == end_offset
    assert learn(decision(FULL, isr=frozenset({0, 1})), 1, rules=given).logs[1].end_offset == 2


@pytest.mark.parametrize(("restart", "fetch_epoch"), [(FetcherRestart.LEADER_EPOCH, 2), (FetcherRestart.LEADER, 0)])
def test_when_a_follower_starts_to_fetch_anew(restart: FetcherRestart, fetch_epoch: int) -> None:
    """With every leader epoch; under the weaker rule it goes on as before while it knows the same leader."""
    given = rules(fetcher_restart=restart)
    again = decision(FULL, leader_epoch=2)
    assert learn(again, 1, rules=given).replicas[1].fetch_epoch == fetch_epoch
    assert learn(decision(FULL, leader=2, leader_epoch=2), 1, rules=given).replicas[1].fetch_epoch == 2


def test_a_broker_that_is_no_replica_any_more() -> None:
    """It drops its log, and hears no answers."""
    state = decision(fetch_answer(FULL), replicas=(0, 2), isr=frozenset({0, 2}))
    after = learn(state, 1)
    assert after.replicas[1] == Replica(partition_epoch=1)
    assert (after.logs[1], after.fetching[1]) == (Log(), None)


# -- the order in which decisions are learned --


def test_a_broker_learns_each_decision_once_and_none_after_a_later_one() -> None:
    """Any later record may be the next, as records are published in batches."""
    state = decision(decision(FULL, isr=frozenset({0, 1})), isr=frozenset({0}))
    skipped = learn(state, 1, 2)
    assert (skipped.positions[1], skipped.replicas[1].partition_epoch) == (2, 2)
    for partition_epoch in (0, 1, 2, 3):
        assert take(learn_metadata, skipped, broker=1, partition_epoch=partition_epoch) is None
    assert learn(learn(state, 1, 1), 1, 2).positions[1] == 2


def test_only_a_broker_that_runs_learns() -> None:
    """The others start from what is decided by then."""
    assert take(learn_metadata, stopped(ELECTED, 1), broker=1, partition_epoch=1) is None
    assert take(learn_metadata, process(ELECTED, 1, status=Status.STARTING), broker=1, partition_epoch=1) is None


def test_what_all_have_learned_is_forgotten() -> None:
    """But not the latest decision, nor what a broker that runs has still to learn; who does not run needs nothing."""
    state = decision(decision(FULL, isr=frozenset({0, 1})), isr=frozenset({0}))
    for broker in (0, 1, 2):
        state = learn(state, broker, 2)
    assert [one is not None for one in state.metadata[:3]] == [False, True, True]
    assert [one is not None for one in learn(state, 3, 2).metadata[:3]] == [False, False, True]
    assert [one is not None for one in taken(crash, state, broker=3, kept=0, checkpoint=0).metadata[:3]] == [False, False, True]
    assert truth(learn(state, 3, 2)) == truth(state)
