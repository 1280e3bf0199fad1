# SPDX-License-Identifier: Apache-2.0
"""What clients and bystanders of the ``partition`` machine remember."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from partition_states import (
    BOUNDS,
    CONFIG,
    START,
    A,
    B,
    C,
    decision,
    fetch,
    fetch_answer,
    leading,
    logs,
    partition,
    proposed,
    replica,
    request,
    stopped,
)

from hwmark.model.log import Log, Record
from hwmark.model.machine import Step, put
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.state import FetchError, State, initial
from hwmark.spec.partition.observers import ACKNOWLEDGED, EVER_COMMITTED, EXCUSES, KEEPING_UP, LATEST_OFFSET, Excuses, Keeper
from hwmark.spec.property import Observer

APPEND = Step("append_record", {"leader": 0})
B1 = Record(1, 1)
DEEP = initial(CONFIG, evolve(BOUNDS, initial_records=2))
"""A start with two committed records."""


def remembered(observer: Observer, memory: Any, step: Step, after: State, before: State = START) -> Any:
    """Return the memory after a step."""
    return observer.observe(memory, before, step, after)


def test_at_the_start_what_is_there_counts() -> None:
    """Committed, acknowledged, and told to clients; nothing excuses anything."""
    for state, committed in ((START, ()), (DEEP, (A, B))):
        assert EVER_COMMITTED.initial(state) == committed
        assert ACKNOWLEDGED.initial(state) == {one.id for one in committed}
        assert LATEST_OFFSET.initial(state) == len(committed)
        assert EXCUSES.initial(state) == Excuses()


# -- what was committed --


@pytest.mark.parametrize(
    ("memory", "after", "now"),
    [
        ((), logs(START, (A, B)), ()),
        ((), logs(START, (A, B), high_watermark=1), (A,)),
        ((A,), logs(START, (A, B, C), high_watermark=3), (A, B, C)),
        ((A, B), logs(START, (A, B), high_watermark=1), (A, B)),
        ((A, B), logs(START, (A, B1), high_watermark=2), (A, B1)),
        ((A, B, C), logs(START, (A, B1), high_watermark=2), (A, B1)),
        ((A,), logs(START, Log((B,), 1), high_watermark=2), (A, B)),
        ((), logs(START, Log((B,), 1), high_watermark=2), ()),
        ((), stopped(logs(START, (A,), high_watermark=1), 0), ()),
        ((), replica(logs(START, (A,), high_watermark=1), 0, leader=1), ()),
    ],
    ids=[
        "nothing committed",
        "one",
        "more",
        "known already",
        "another record",
        "another record, and what followed it",
        "the start is gone",
        "what was before is not known",
        "does not run",
        "does not lead",
    ],
)
def test_what_a_leader_counts_as_committed_is_remembered(memory: Any, after: State, now: Any) -> None:
    """By offset; a leader that holds another record there takes the place of what was known, and of all after it."""
    assert remembered(EVER_COMMITTED, memory, APPEND, after) == now


def test_when_somebody_looks() -> None:
    """At the broker whose high watermark, or whose place, a step may have changed; zombies are leaders too."""
    after = logs(leading(START, 1), (A,), (B,), high_watermark=1)
    for step, before, now in (
        (APPEND, START, (A,)),
        (Step("receive_alter_partition", {"leader": 1}), START, (B,)),
        (Step("learn_metadata", {"broker": 1, "partition_epoch": 1}), START, (B,)),
        (Step("handle_fetch", {"follower": 2}), fetch(START, broker=2), (A,)),
        (Step("deliver_duplicate", {}), put(START, duplicate=fetch(START, leader=1).fetching[1], duplicate_of=2), (B,)),
        (Step("deliver_duplicate", {}), put(START, duplicate=request(0), duplicate_of=0), ()),
        (Step("fence_broker", {"broker": 0}), START, ()),
    ):
        assert remembered(EVER_COMMITTED, (), step, after, before) == now


# -- what was acknowledged, and told --


def test_what_a_producer_was_told_is_remembered() -> None:
    """A refusal is none."""
    assert remembered(ACKNOWLEDGED, frozenset({0}), Step("acknowledge_produce", {"record": 2}), START) == {0, 2}
    assert remembered(ACKNOWLEDGED, frozenset({0}), Step("refuse_produce", {"record": 2}), START) == {0}


def test_the_largest_end_of_the_log_is_remembered() -> None:
    """Of the leader that the controller names, if it knows that it leads; a zombie may say what it likes."""
    told = logs(START, (A, B), high_watermark=2)
    assert remembered(LATEST_OFFSET, 1, APPEND, told) == 2
    assert remembered(LATEST_OFFSET, 3, APPEND, told) == 3
    assert remembered(LATEST_OFFSET, 1, APPEND, partition(told, leader=NOBODY)) == 1
    assert remembered(LATEST_OFFSET, 1, APPEND, partition(told, leader=1)) == 1


# -- what excuses a loss --

CRASH = Step("crash", {"broker": 1, "kept": 0, "checkpoint": 0})
HELD, LOST = logs(START, (A,), (A,)), logs(START, (A,), ())


def test_a_member_that_lost_records_is_incomplete() -> None:
    """Until it leaves the ISR; not one that lost nothing, or was no member."""
    assert remembered(EXCUSES, Excuses(), CRASH, LOST, HELD) == Excuses(incomplete=frozenset({1}))
    assert remembered(EXCUSES, Excuses(), CRASH, HELD, HELD) == Excuses()
    outside = partition(LOST, isr=frozenset({0, 2}))
    assert remembered(EXCUSES, Excuses(), CRASH, outside, partition(HELD, isr=frozenset({0, 2}))) == Excuses()
    left = decision(LOST, isr=frozenset({0, 2}))
    assert remembered(EXCUSES, Excuses(incomplete=frozenset({1})), Step("fence_broker", {"broker": 1}), left, LOST) == Excuses()


def test_the_last_member_may_be_incomplete() -> None:
    """At once, or once all others have left; that is not forgotten."""
    alone = partition(LOST, isr=frozenset({1}), leader=1)
    found = remembered(EXCUSES, Excuses(), CRASH, alone, partition(HELD, isr=frozenset({1}), leader=1))
    assert found == Excuses(incomplete=frozenset({1}), last_member=True)
    fence = Step("fence_broker", {"broker": 0})
    left_alone = remembered(EXCUSES, Excuses(incomplete=frozenset({1})), fence, decision(LOST, isr=frozenset({1}), leader=1), LOST)
    assert left_alone == Excuses(incomplete=frozenset({1}), last_member=True)
    back = remembered(EXCUSES, left_alone, Step("answer_alter_partition", {"leader": 1}), decision(alone, isr=frozenset({0, 1})), alone)
    assert back.last_member


@pytest.mark.parametrize(
    ("was", "now", "is_unclean"),
    [
        ({}, {"leader": 1}, False),
        ({"isr": frozenset({0})}, {"leader": 1, "isr": frozenset({1})}, True),
        ({"isr": frozenset({0}), "elr": frozenset({1})}, {"leader": 1, "isr": frozenset({1})}, False),
        ({"isr": frozenset({0})}, {"leader": NOBODY, "isr": frozenset()}, False),
        ({"isr": frozenset({1})}, {"isr": frozenset({0})}, False),
    ],
    ids=["a member", "an outsider", "an eligible one", "nobody", "the same leader"],
)
def test_an_unclean_election_is_remembered(was: dict[str, Any], now: dict[str, Any], *, is_unclean: bool) -> None:
    """Of somebody from outside ISR and ELR."""
    before = partition(START, **was)
    found = remembered(EXCUSES, Excuses(), Step("fence_broker", {"broker": 0}), decision(before, **now), before)
    assert found.unclean == is_unclean
    again = remembered(EXCUSES, Excuses(unclean=True), Step("fence_broker", {"broker": 0}), decision(before, **now), before)
    assert again.unclean


def test_who_was_proposed_and_elected_at_once_is_no_outsider() -> None:
    """As when a reassignment ends with the proposal that it needs."""
    before = partition(proposed(START, 0, 3), isr=frozenset({0}))
    after = decision(before, leader=3, isr=frozenset({3}))
    assert not remembered(EXCUSES, Excuses(), Step("answer_alter_partition", {"leader": 0}), after, before).unclean


# -- who keeps up --

FETCH = Step("handle_fetch", {"follower": 1})
LAST = Keeper(0, 0, 1, fetches=0)
"""A fetch of broker 1 was served when the log of broker 0 ended at 1."""


def kept(after: State, before: State, known: Keeper = LAST, step: Step = FETCH) -> Keeper:
    """Return what is remembered of broker 1 after a step, the last of which is known."""
    memory: tuple[Keeper, ...] = remembered(KEEPING_UP, (Keeper(), known, Keeper(), Keeper()), step, after, before)
    assert (memory[0], *memory[2:]) == (Keeper(),) * 3
    return memory[1]


def test_whose_fetches_keep_up() -> None:
    """Those that ask for what comes after all that the leader had at the fetch before, in the same leader epoch."""
    assert KEEPING_UP.initial(START) == (Keeper(),) * 4
    longer = logs(START, (A, B))
    for fetch_offset, fetches in ((0, 0), (1, 1)):
        asked = fetch(longer, fetch_offset=fetch_offset)
        answer = fetch_answer(longer, fetch_offset=fetch_offset)
        assert kept(answer, asked) == Keeper(0, 0, 2, fetches)
        assert kept(answer, asked, evolve(LAST, fetches=2)) == Keeper(0, 0, 2, 2 * fetches)
        assert kept(answer, asked, Keeper()) == Keeper(0, 0, 2, 0)
        assert kept(answer, asked, evolve(LAST, leader_epoch=-1)) == Keeper(0, 0, 2, 0)
    assert kept(fetch(longer, fetch_offset=2, held=True), fetch(longer, fetch_offset=2)) == Keeper(0, 0, 2, 1)


def test_what_ends_keeping_up() -> None:
    """A fetch that is refused or tells to truncate, or that nobody hears of; that the leader gives it up, or learns something."""
    twice, asked = evolve(LAST, fetches=2), fetch(START, fetch_offset=1)
    for after in (fetch_answer(START, error=FetchError.FENCED_LEADER_EPOCH), fetch_answer(START, diverging_epoch=0), START):
        assert kept(after, asked, twice) == Keeper()
    for action in ("let_lag_time_pass", "propose_shrink"):
        assert kept(START, START, twice, Step(action, {"leader": 0, "follower": 1})) == Keeper()
        assert kept(START, START, twice, Step(action, {"leader": 0, "follower": 2})) == twice
    assert kept(START, START, twice, Step("learn_metadata", {"broker": 0, "partition_epoch": 1})) == Keeper()
    assert kept(START, START, twice, Step("learn_metadata", {"broker": 2, "partition_epoch": 1})) == twice
    assert kept(START, START, twice, APPEND) == twice
