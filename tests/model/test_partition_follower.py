# SPDX-License-Identifier: Apache-2.0
"""What a follower of the ``partition`` machine does: it fetches, and takes in what still fits."""

from __future__ import annotations

import pytest
from partition_states import START, A, B, C, fetch, fetch_answer, logs, process, replica, rules, stopped, take, taken

from hwmark.model.log import Log, Record
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.follower import receive_fetch, send_fetch, truncation_offset
from hwmark.model.partition.rules import AnswerMatch, HighWatermarkOfDivergence, Truncation
from hwmark.model.partition.state import FetchAnswer, FetchError, FetchRequest, State, Status

D = Record(3, 1)
"""A record of leader epoch 1."""


# -- asking --


def test_a_follower_asks_for_what_comes_next() -> None:
    """From the end of its log, with the epoch of its last record, in the leader epoch in which it fetches, and its broker epoch."""
    state = replica(logs(START, (), (A, D)), 1, fetch_epoch=2)
    assert taken(send_fetch, state, follower=1).fetching[1] == FetchRequest(0, 2, 2, 1, 1)
    assert taken(send_fetch, START, follower=1).fetching[1] == FetchRequest(0, 0, 0, -1, 1)


def test_without_comparing_epochs_a_follower_shows_none() -> None:
    """As before KIP-101."""
    given = rules(truncation=Truncation.HIGH_WATERMARK)
    assert taken(send_fetch, logs(START, (), (A,)), follower=1, rules=given).fetching[1] == FetchRequest(0, 0, 1, -1, 1)
    given = rules(truncation=Truncation.END)
    assert taken(send_fetch, logs(START, (), (A,)), follower=1, rules=given).fetching[1] == FetchRequest(0, 0, 1, 0, 1)


@pytest.mark.parametrize(
    ("state", "follower"),
    [
        (START, 0),
        (START, 3),
        (stopped(START, 1), 1),
        (process(START, 1, status=Status.STARTING), 1),
        (replica(START, 1, leader=NOBODY), 1),
        (replica(START, 1, fetch_epoch=-1), 1),
        (fetch(START), 1),
        (fetch_answer(START), 1),
    ],
    ids=["leader", "no replica", "stopped", "starting", "nobody leads", "no epoch yet", "request under way", "answer under way"],
)
def test_who_does_not_ask(state: State, follower: int) -> None:
    """Who leads or follows nobody, who does not run, and who has asked already."""
    assert take(send_fetch, state, follower=follower) is None


def test_a_follower_of_another_leader_does_not_wait_for_the_old_one() -> None:
    """Nor does a new life for what the former one asked; an answer is taken in first."""
    for state in (fetch(START, leader=2), fetch_answer(START, leader=2), fetch(process(START, 1, broker_epoch=2))):
        asked = taken(send_fetch, state, follower=1).fetching[1]
        assert isinstance(asked, FetchRequest)
        assert (asked.leader, asked.broker_epoch) == (0, state.processes[1].broker_epoch)


# -- taking in --


def test_a_record_is_appended() -> None:
    """And the leader's high watermark learned, as far as the own log goes."""
    state = fetch_answer(logs(START, (A, B), (A,)), fetch_offset=1, record=B, high_watermark=1)
    after = taken(receive_fetch, state, follower=1)
    assert (after.logs[1], after.replicas[1].high_watermark, after.fetching[1]) == (Log((A, B)), 1, None)
    beyond = taken(receive_fetch, fetch_answer(logs(START, (), (A,)), fetch_offset=1, high_watermark=2), follower=1)
    assert (beyond.logs[1], beyond.replicas[1].high_watermark) == (Log((A,)), 1)


def test_a_high_watermark_may_go_back() -> None:
    """A fresh leader's is late, and followers take it over (KAFKA-2334)."""
    state = fetch_answer(logs(START, (A,), (A,), high_watermark=1), fetch_offset=1, high_watermark=0)
    assert taken(receive_fetch, state, follower=1).replicas[1].high_watermark == 0


def test_the_log_start_moves_with_the_leaders() -> None:
    """But not beyond the end of the follower's own log."""
    state = fetch_answer(logs(START, (), (A, B)), fetch_offset=2, high_watermark=2, log_start_offset=1)
    assert taken(receive_fetch, state, follower=1).logs[1] == Log((B,), 1)
    beyond = fetch_answer(logs(START, (), (A,)), fetch_offset=1, high_watermark=2, log_start_offset=2)
    assert taken(receive_fetch, beyond, follower=1).logs[1] == Log((), 1)


def test_where_logs_part_a_follower_truncates() -> None:
    """To what both have of the epoch that the leader names; the high watermark of that answer is ignored (KAFKA-14704)."""
    state = fetch_answer(logs(START, (), (A, B, C)), fetch_offset=3, diverging_epoch=0, diverging_end=1, high_watermark=3)
    after = taken(receive_fetch, state, follower=1)
    assert (after.logs[1], after.replicas[1].high_watermark, after.fetching[1]) == (Log((A,)), 0, None)


@pytest.mark.parametrize(
    ("log", "epoch", "end", "offset"),
    [
        (Log((A, B, C)), 0, 1, 1),
        (Log((A, B, C)), 0, 5, 3),
        (Log((A, B, D)), 0, 5, 2),
        (Log((A, B, D)), 1, 3, 3),
        (Log((A, B)), 2, 1, 1),
        (Log((A, Record(3, 2))), 1, 1, 1),
        (Log((D,)), 0, 4, 0),
    ],
    ids=[
        "leader ends first",
        "follower ends first",
        "a later epoch goes",
        "all agree",
        "unknown here",
        "an epoch between",
        "before the first",
    ],
)
def test_where_a_follower_truncates(log: Log, epoch: int, end: int, offset: int) -> None:
    """At the smaller end of the epoch; if it has not got that epoch, at the end of the largest one before it."""
    answer = FetchAnswer(0, 2, log.end_offset, diverging_epoch=epoch, diverging_end=end)
    assert truncation_offset(log, answer) == offset


def test_the_high_watermark_may_come_before_the_truncation() -> None:
    """Then records that are about to go are shown for a moment: the answer is taken in twice."""
    given = rules(high_watermark_of_divergence=HighWatermarkOfDivergence.BEFORE_TRUNCATION)
    state = fetch_answer(logs(START, (), (A, B)), fetch_offset=2, diverging_epoch=0, diverging_end=1, high_watermark=2)
    shown = taken(receive_fetch, state, follower=1, rules=given)
    assert (shown.logs[1], shown.replicas[1].high_watermark, shown.fetching[1]) == (Log((A, B)), 2, state.fetching[1])
    beyond = fetch_answer(state, fetch_offset=2, diverging_epoch=0, diverging_end=1, high_watermark=5)
    assert taken(receive_fetch, beyond, follower=1, rules=given).replicas[1].high_watermark == 2
    after = taken(receive_fetch, shown, follower=1, rules=given)
    assert (after.logs[1], after.replicas[1].high_watermark, after.fetching[1]) == (Log((A,)), 1, None)


def test_out_of_range_is_put_right() -> None:
    """A follower that is beyond the leader's end truncates, one that lacks what the leader deleted starts anew, another changes nothing."""
    error = FetchError.OFFSET_OUT_OF_RANGE
    beyond = fetch_answer(logs(START, (), (A, B)), fetch_offset=2, error=error, log_end_offset=1)
    assert taken(receive_fetch, beyond, follower=1).logs[1] == Log((A,))
    lacking = fetch_answer(logs(START, (), (A,)), fetch_offset=1, error=error, log_start_offset=2, log_end_offset=3)
    after = taken(receive_fetch, lacking, follower=1)
    assert (after.logs[1], after.replicas[1].high_watermark) == (Log((), 2), 2)
    within = fetch_answer(logs(START, (), (A,)), fetch_offset=1, error=error, log_end_offset=3)
    assert taken(receive_fetch, within, follower=1).logs[1] == Log((A,))
    at_start = fetch_answer(logs(START, (), (A,)), fetch_offset=1, error=error, log_start_offset=1, log_end_offset=3)
    assert taken(receive_fetch, at_start, follower=1).logs[1] == Log((A,))


@pytest.mark.parametrize("error", [FetchError.FENCED_LEADER_EPOCH, FetchError.UNKNOWN_LEADER_EPOCH, FetchError.NOT_LEADER_OR_FOLLOWER])
def test_other_errors_change_nothing(error: FetchError) -> None:
    """The follower asks again, or learns first who leads."""
    state = fetch_answer(logs(START, (), (A,), high_watermark=1), fetch_offset=1, error=error)
    after = taken(receive_fetch, state, follower=1)
    assert (after.logs, after.replicas, after.fetching[1]) == (state.logs, state.replicas, None)


OLD_OFFSET = fetch_answer(logs(START, (), (A,)), fetch_offset=0, record=B)
"""The follower has got a record since it asked, and the answer is about the offset before."""
OLD_EPOCH = fetch_answer(replica(START, 1, leader_epoch=1, fetch_epoch=1), record=A)
"""The follower fetches in epoch 1 by now, from the same leader, and the answer is from epoch 0."""


@pytest.mark.parametrize(
    ("match", "ends"),
    [(AnswerMatch.OFFSET_AND_EPOCH, (1, 0)), (AnswerMatch.OFFSET, (1, 1)), (AnswerMatch.EPOCH, (2, 0))],
)
def test_which_answers_fit(match: AnswerMatch, ends: tuple[int, int]) -> None:
    """Only those to what the follower would ask now; each weaker rule lets one of the two in."""
    given = rules(answer_match=match)
    afters = [taken(receive_fetch, state, follower=1, rules=given) for state in (OLD_OFFSET, OLD_EPOCH)]
    assert tuple(after.logs[1].end_offset for after in afters) == ends
    assert [after.fetching[1] for after in afters] == [None, None]


def test_an_answer_from_somebody_else_is_dropped() -> None:
    """From a former leader, or to a follower that leads by now, or that does not run: whatever the rules."""
    state = fetch_answer(START, record=A)
    for match in AnswerMatch:
        for late in (replica(state, 1, leader=2), replica(state, 1, leader=1), stopped(state, 1)):
            after = taken(receive_fetch, late, follower=1, rules=rules(answer_match=match))
            assert (after.logs, after.fetching[1]) == (late.logs, None)


def test_only_answers_are_taken_in() -> None:
    """A request is the leader's to handle."""
    assert take(receive_fetch, START, follower=1) is None
    assert take(receive_fetch, fetch(START), follower=1) is None
