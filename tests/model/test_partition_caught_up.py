# SPDX-License-Identifier: Apache-2.0
"""For whom outside of the ISR a leader's high watermark waits, and how long."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from partition_states import (
    CONFIG,
    START,
    A,
    B,
    C,
    decision,
    fenced,
    fetch,
    leading,
    logs,
    process,
    proposed,
    replica,
    rules,
    spent,
    stopped,
    take,
    taken,
    without,
)

from hwmark.model.log import Log
from hwmark.model.machine import BrokerId, put
from hwmark.model.partition.broker import learn_metadata
from hwmark.model.partition.caught_up import let_lag_time_pass
from hwmark.model.partition.leader import append_record, handle_fetch, propose_shrink
from hwmark.model.partition.rules import CaughtUp, GivenUp
from hwmark.model.partition.shared import with_high_watermark
from hwmark.model.partition.state import Follower, State, Status

ALONE = evolve(CONFIG, min_isr=1)
WAITING = rules(caught_up=CaughtUp.KEEPING_UP)
AT_THE_END = rules(caught_up=CaughtUp.AT_THE_END)
OUTSIDE = replica(put(START, logs={0: Log((A, B))}), 0, isr=frozenset({0}), high_watermark=2)
"""Broker 0 is alone in the ISR with two records, both committed."""


def knows(state: State, follower: BrokerId = 1, **given: Any) -> State:
    """Return the state in which broker 0 knows this of a follower."""
    known, now = state.followers[0], evolve(Follower(broker_epoch=1), **given)
    return put(state, followers={0: (*known[:follower], now, *known[follower + 1 :])})


def noted(state: State, fetch_offset: int, **given: Any) -> Follower:
    """Return what broker 0 knows of broker 1 once it has handled its fetch."""
    asked = fetch(state, fetch_offset=fetch_offset, last_fetched_epoch=-1 if fetch_offset == 0 else 0)
    return taken(handle_fetch, asked, follower=1, config=ALONE, **given).followers[0][1]


@pytest.mark.parametrize(
    ("known", "fetch_offset", "keeping_up", "at_the_end"),
    [
        ({}, 2, True, True),
        ({}, 1, False, False),
        ({"end_offset": 0, "leader_end_offset": 1}, 1, True, False),
        ({"end_offset": 0, "leader_end_offset": 2}, 1, False, False),
        ({"end_offset": 0, "leader_end_offset": 2, "caught_up": True}, 1, True, True),
    ],
    ids=["at the end", "first fetch", "as far as the leader was", "not as far", "not any more, but lately"],
)
def test_who_has_caught_up(known: dict[str, Any], fetch_offset: int, *, keeping_up: bool, at_the_end: bool) -> None:
    """Who has all that the leader has, or has all that it had at the fetch before, and who lately had."""
    state = knows(OUTSIDE, **known)
    assert noted(state, fetch_offset, rules=WAITING) == Follower(fetch_offset, 1, 2, keeping_up)
    assert noted(state, fetch_offset, rules=AT_THE_END) == Follower(fetch_offset, 1, 2, at_the_end)
    assert noted(state, fetch_offset) == Follower(fetch_offset, 1), "where nobody goes by it nothing is noted"


def test_who_has_caught_up_holds_the_high_watermark_back() -> None:
    """Also outside of the ISR; who has not, does not."""
    for caught_up, high_watermark in ((True, 2), (False, 3)):
        state = knows(OUTSIDE, end_offset=1, leader_end_offset=2, caught_up=caught_up)
        assert taken(append_record, state, leader=0, rules=WAITING, config=ALONE).replicas[0].high_watermark == high_watermark


def test_a_new_leader_counts_on_the_isr() -> None:
    """Its members have just caught up, as far as it knows; others have not. One that is elected again knows how far they are."""
    elected = decision(put(START, logs={1: Log((A,))}), leader=1, leader_epoch=1, isr=frozenset({1, 2}))
    learned = taken(learn_metadata, elected, broker=1, partition_epoch=1, rules=WAITING).followers[1]
    assert learned == (Follower(), Follower(), Follower(caught_up=True), Follower())
    assert taken(learn_metadata, elected, broker=1, partition_epoch=1).followers[1] == (Follower(),) * 4
    again = decision(knows(OUTSIDE, 2, end_offset=1, leader_end_offset=2, caught_up=True), leader_epoch=1, isr=frozenset({0, 1}))
    learned = taken(learn_metadata, again, broker=0, partition_epoch=1, rules=WAITING).followers[0]
    assert learned == (Follower(), Follower(leader_end_offset=2, caught_up=True), Follower(1, 1), Follower())


@pytest.mark.parametrize(("proposed_isr", "waits"), [((), False), ((0,), True), ((0, 1, 2), False)])
def test_whom_the_controller_drops_is_not_waited_for(proposed_isr: tuple[BrokerId, ...], *, waits: bool) -> None:
    """The metadata have it as fenced; but whom the leader itself proposed to drop may have caught up since."""
    state = knows(put(START, logs={0: Log((A,))}), end_offset=1, leader_end_offset=1, caught_up=True)
    state = proposed(state, *proposed_isr) if proposed_isr else state
    after = taken(learn_metadata, decision(state, isr=frozenset({0})), broker=0, partition_epoch=1, rules=WAITING)
    assert after.followers[0][1] == (Follower(1, 1, 1, caught_up=True) if waits else Follower(1, 1))


def test_whom_the_leader_drops_has_not_caught_up_for_long() -> None:
    """That is why it drops it."""
    state = knows(put(START, logs={0: Log((A, B, C))}), end_offset=1, leader_end_offset=2, caught_up=True)
    assert taken(propose_shrink, state, leader=0, follower=1, rules=WAITING).followers[0][1] == Follower(1, 1)


# -- time passes --

WAITED_FOR = with_high_watermark(
    knows(put(OUTSIDE, logs={0: Log((A, B, C))}), end_offset=1, leader_end_offset=2, caught_up=True), WAITING, ALONE, 0
)
"""Broker 1 kept up and is outside of the ISR, and the third record is not committed."""


@pytest.mark.parametrize(("given_up", "high_watermark"), [(GivenUp.ADVANCES, 3), (GivenUp.ENDS_THERE, 2)])
def test_a_leader_gives_a_follower_up(given_up: GivenUp, high_watermark: int) -> None:
    """And looks again at its high watermark; Kafka does not."""
    assert WAITED_FOR.replicas[0].high_watermark == 2
    after = taken(let_lag_time_pass, WAITED_FOR, leader=0, follower=1, rules=evolve(WAITING, given_up=given_up), config=ALONE)
    assert (after.followers[0][1], after.replicas[0].high_watermark) == (Follower(1, 1), high_watermark)
    assert spent(WAITED_FOR, after) == ["lags"]


def test_who_is_given_up_as_often_as_it_takes() -> None:
    """Who does not run, or not as it is registered, or is fenced; another costs a perturbation."""
    poor = without(WAITED_FOR, "lags")
    assert take(let_lag_time_pass, poor, leader=0, follower=1, rules=WAITING) is None
    for gone in (stopped(poor, 1), process(poor, 1, status=Status.STARTING), process(poor, 1, broker_epoch=2), fenced(poor, 1)):
        after = taken(let_lag_time_pass, gone, leader=0, follower=1, rules=WAITING)
        assert spent(gone, after) == []


def test_who_is_not_given_up() -> None:
    """Who has not caught up, is in the ISR or proposed; and only a leader waits."""
    assert take(let_lag_time_pass, WAITED_FOR, leader=0, follower=2, rules=WAITING) is None
    for isr, pending in ((frozenset({0, 1}), frozenset[int]()), (frozenset({0}), frozenset({0, 1}))):
        assert take(let_lag_time_pass, replica(WAITED_FOR, 0, isr=isr, proposed=pending), leader=0, follower=1, rules=WAITING) is None
    assert take(let_lag_time_pass, leading(replica(WAITED_FOR, 0, leader=1), 1), leader=0, follower=1, rules=WAITING) is None
    assert take(let_lag_time_pass, logs(START, (A,)), leader=0, follower=1) is None
