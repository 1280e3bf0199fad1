# SPDX-License-Identifier: Apache-2.0
"""What happens to messages of the ``partition`` machine: some are lost, some arrive twice."""

from __future__ import annotations

import pytest
from partition_states import (
    START,
    answered,
    controller_down,
    decision,
    fenced,
    fetch,
    fetch_answer,
    follower,
    logs,
    proposed,
    replica,
    request,
    spent,
    stopped,
    take,
    taken,
    without,
)
from partition_states import A as RECORD

from hwmark.model.machine import put
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.network import (
    deliver_duplicate,
    duplicate_alter_partition,
    duplicate_fetch,
    lose_alter_partition_answer,
    lose_fetch,
)
from hwmark.model.partition.shared import truth
from hwmark.model.partition.state import FetchRequest, State


def twice(state: State, broker: int = 1) -> State:
    """Return the state in which a second copy of a follower's fetch is on its way."""
    return taken(duplicate_fetch, state, follower=broker)


def gone(state: State) -> bool:
    """Whether no copy is on its way."""
    return (state.duplicate, state.duplicate_of) == (None, NOBODY)


# -- loss --


@pytest.mark.parametrize("state", [fetch(START), fetch(START, held=True), fetch_answer(START)], ids=["request", "held", "answer"])
def test_a_fetch_is_lost(state: State) -> None:
    """The request, also while it waits, or the answer: to the follower it is the same."""
    after = taken(lose_fetch, state, follower=1)
    assert (after.fetching[1], spent(state, after)) == (None, ["losses"])
    assert take(lose_fetch, without(state, "losses"), follower=1) is None
    assert take(lose_fetch, START, follower=1) is None


def test_an_answer_to_a_proposal_is_lost() -> None:
    """The leader sends the same proposal again; a lost request would change nothing."""
    state = answered(START, 0, 1)
    after = taken(lose_alter_partition_answer, state, leader=0)
    assert (after.altering[0], spent(state, after)) == (request(0, 1), ["losses"])
    assert take(lose_alter_partition_answer, proposed(START, 0, 1), leader=0) is None
    assert take(lose_alter_partition_answer, without(state, "losses"), leader=0) is None


# -- copies --


def test_a_request_is_on_its_way_twice() -> None:
    """The copy is the same as the first, and whose it is is known."""
    state = fetch(START)
    after = twice(state)
    assert (after.duplicate, after.duplicate_of, after.fetching, spent(state, after)) == (
        state.fetching[1],
        1,
        state.fetching,
        ["duplicates"],
    )
    asked = taken(duplicate_alter_partition, proposed(START, 0, 1), leader=0)
    assert (asked.duplicate, asked.duplicate_of, asked.altering[0]) == (request(0, 1), 0, request(0, 1))


def test_what_is_not_copied() -> None:
    """Answers, a fetch that has arrived, nothing, or more than one request at a time, or than the bounds say."""
    for state in (fetch(START, held=True), fetch_answer(START), START, without(fetch(START), "duplicates")):
        assert take(duplicate_fetch, state, follower=1) is None
    for state in (answered(START, 0, 1), START, without(proposed(START, 0, 1), "duplicates")):
        assert take(duplicate_alter_partition, state, leader=0) is None
    again = put(START, duplicate=request(0, 1), duplicate_of=0)
    assert take(duplicate_fetch, fetch(again), follower=1) is None
    assert take(duplicate_alter_partition, proposed(again, 0, 1), leader=0) is None


def test_the_copy_of_a_fetch_is_served() -> None:
    """The leader notes how far the follower is, and may propose it; the answer reaches nobody."""
    state = put(twice(fetch(replica(START, 0, isr=frozenset({0, 2})))), fetching={1: None})
    after = taken(deliver_duplicate, state)
    assert (after.followers[0][1].end_offset, after.replicas[0].proposed, after.fetching[1]) == (0, frozenset({0, 1, 2}), None)
    assert gone(after)


def test_a_late_copy_of_a_fetch_goes_back() -> None:
    """What the leader knows of the follower is what the last request said."""
    state = follower(logs(twice(fetch(START)), (RECORD,)), 1, 1)
    assert taken(deliver_duplicate, state).followers[0][1].end_offset == 0


def test_a_copy_that_changes_nothing() -> None:
    """Because the leader is gone, or refuses it, or has nothing new to say: then it is just gone."""
    for state in (stopped(twice(fetch(START)), 0), twice(fetch(START, leader_epoch=1))):
        after = taken(deliver_duplicate, state)
        assert gone(after)
        assert after.followers == START.followers
    held = twice(fetch(START))
    assert isinstance(held.duplicate, FetchRequest)
    assert gone(taken(deliver_duplicate, held))
    assert take(deliver_duplicate, START) is None


def test_the_copy_of_a_proposal_is_judged_anew() -> None:
    """By what the controller knows when it comes, if there is a controller; its leader hears nothing of that."""
    state = put(START, duplicate=request(0, 1), duplicate_of=0)
    after = taken(deliver_duplicate, state)
    assert (truth(after).isr, truth(after).partition_epoch, after.altering) == (frozenset({0, 1}), 1, START.altering)
    assert gone(after)
    for refused in (decision(state), fenced(state, 1)):
        assert truth(taken(deliver_duplicate, refused)) == truth(refused)
        assert gone(taken(deliver_duplicate, refused))
    assert take(deliver_duplicate, controller_down(state)) is None
