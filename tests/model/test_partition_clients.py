# SPDX-License-Identifier: Apache-2.0
"""What a consumer of the ``partition`` machine does: it learns who leads, validates its position, and reads what is committed."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from partition_states import CONFIG, START, A, B, leading, logs, process, replica, rules, stopped, take, taken

from hwmark.model.log import Log, Record
from hwmark.model.machine import put
from hwmark.model.partition.clients import consume, refresh_metadata, reset_position, validate_position
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.rules import EpochBegin, UndefinedEpochEnd
from hwmark.model.partition.state import Consumer, State, Status

FROM_ALL = evolve(CONFIG, follower_reads=True)
COMMITTED = logs(START, (A, B), (A, B), high_watermark=1)


def consumer(state: State, **changed: Any) -> State:
    """Return the state in which the consumer is elsewhere, or knows something else."""
    return put(state, consumers={0: evolve(state.consumers[0], **changed)})


# -- reading --


def test_a_consumer_reads_what_is_committed() -> None:
    """From the leader, one record after the other, and nothing at or above the high watermark."""
    after = taken(consume, COMMITTED, consumer=0, broker=0)
    assert after.consumers[0] == Consumer(position=1, last_epoch=0, leader=0, leader_epoch=0)
    assert take(consume, after, consumer=0, broker=0) is None
    assert take(consume, START, consumer=0, broker=0) is None


def test_a_consumer_reads_from_followers_if_it_may() -> None:
    """KIP-392: up to their own high watermark; nobody else holds anything for it."""
    assert take(consume, COMMITTED, consumer=0, broker=1) is None
    assert taken(consume, COMMITTED, consumer=0, broker=1, config=FROM_ALL).consumers[0].position == 1
    assert take(consume, replica(COMMITTED, 1, high_watermark=0), consumer=0, broker=1, config=FROM_ALL) is None
    assert take(consume, COMMITTED, consumer=0, broker=3, config=FROM_ALL) is None


@pytest.mark.parametrize(
    "state",
    [
        consumer(COMMITTED, validated=False),
        consumer(COMMITTED, leader_epoch=1),
        stopped(COMMITTED, 0),
        process(COMMITTED, 0, status=Status.STARTING),
        replica(COMMITTED, 0, leader_epoch=1),
        replica(COMMITTED, 0, leader=1),
        consumer(put(COMMITTED, logs={0: Log((B,), 1)}), position=0),
        consumer(COMMITTED, position=5),
    ],
    ids=[
        "has to validate",
        "later epoch",
        "stopped",
        "starting",
        "leader knows a later epoch",
        "does not lead",
        "deleted",
        "beyond the end",
    ],
)
def test_what_is_not_read(state: State) -> None:
    """Without a valid position, in another leader epoch than the leader's, or what is not there."""
    assert take(consume, state, consumer=0, broker=0) is None


def test_a_follower_of_the_same_epoch_must_know_a_leader() -> None:
    """One that knows of no leader has no high watermark to go by."""
    assert take(consume, replica(COMMITTED, 1, leader=NOBODY), consumer=0, broker=1, config=FROM_ALL) is None


# -- metadata and validation --

MOVED = leading(logs(START, (A, Record(2, 0)), (A,)), 1)
"""Broker 1 leads in epoch 1, which starts at offset 1; broker 0 has a record more, of epoch 0."""


def test_a_consumer_learns_of_a_later_leader_epoch() -> None:
    """From anybody who runs; once it has read something it has to validate its position."""
    fresh = taken(refresh_metadata, MOVED, consumer=0, broker=1).consumers[0]
    assert (fresh.leader, fresh.leader_epoch, fresh.validated) == (1, 1, True)
    read = consumer(MOVED, position=1, last_epoch=0)
    assert not taken(refresh_metadata, read, consumer=0, broker=1).consumers[0].validated
    for state, broker in ((MOVED, 0), (stopped(MOVED, 1), 1), (replica(MOVED, 1, leader=NOBODY), 1), (consumer(MOVED, leader_epoch=1), 1)):
        assert take(refresh_metadata, state, consumer=0, broker=broker) is None


def validating(position: int, last_epoch: int = 0, state: State = MOVED) -> State:
    """Return the state in which the consumer has learned of broker 1, and has to validate this position."""
    return consumer(state, position=position, last_epoch=last_epoch, leader=1, leader_epoch=1, validated=False)


def test_a_position_that_the_leader_has_stays() -> None:
    """The epoch of the last record ends there or later in its log."""
    assert taken(validate_position, validating(1), consumer=0).consumers[0] == Consumer(1, 0, 1, 1)
    later = consumer(validating(1, last_epoch=1), leader_epoch=2)
    led = replica(later, 1, leader_epoch=2)
    assert taken(validate_position, led, consumer=0).consumers[0] == Consumer(1, 1, 1, 2), "nothing beyond was read in that epoch"


def test_after_a_truncation_a_consumer_goes_back() -> None:
    """To where the logs part."""
    assert taken(validate_position, validating(2), consumer=0).consumers[0] == Consumer(1, 0, 1, 1)


@pytest.mark.parametrize(
    "state",
    [
        consumer(validating(1), validated=True),
        stopped(validating(1), 1),
        replica(validating(1), 1, leader_epoch=2),
        replica(validating(1), 1, leader=0),
        consumer(validating(1), leader=NOBODY),
    ],
    ids=["is valid", "leader gone", "leader knows a later epoch", "does not lead", "knows no leader"],
)
def test_who_cannot_be_asked(state: State) -> None:
    """Only the leader, in the leader epoch that the consumer knows, answers."""
    assert take(validate_position, state, consumer=0) is None


DELETED = leading(logs(START, (), Log((), 1), high_watermark=1), 1)
"""Broker 1 leads in epoch 1, and everything before has been deleted."""


@pytest.mark.parametrize(
    ("undefined", "known"),
    [(UndefinedEpochEnd.OUT_OF_RANGE, Consumer(1, -1, 1, 1)), (UndefinedEpochEnd.OFFSET, Consumer(-1, -1, 1, 1))],
)
def test_an_epoch_of_which_nothing_is_known(undefined: UndefinedEpochEnd, known: Consumer) -> None:
    """The consumer resets to the log start; before KAFKA-9840 it took -1 for the offset to which the log was truncated."""
    given = rules(epoch_begin=EpochBegin.AT_FIRST_RECORD, undefined_epoch_end=undefined)
    assert taken(validate_position, validating(2, state=DELETED), consumer=0, rules=given).consumers[0] == known


def test_a_leader_that_knows_its_epoch_always_answers() -> None:
    """With its epoch in the cache an empty log still says where all before it ends (KAFKA-7415)."""
    for undefined in UndefinedEpochEnd:
        given = rules(undefined_epoch_end=undefined)
        assert taken(validate_position, validating(2, state=DELETED), consumer=0, rules=given).consumers[0] == Consumer(1, 0, 1, 1)


def test_a_position_outside_of_the_log_is_reset() -> None:
    """To the log start, whether it is before that or beyond the end; not before it is validated, and only by the leader."""
    before, beyond = consumer(put(COMMITTED, logs={0: Log((B,), 1)})), consumer(COMMITTED, position=3, last_epoch=0)
    assert taken(reset_position, before, consumer=0).consumers[0] == Consumer(1, -1, 0, 0)
    assert taken(reset_position, beyond, consumer=0).consumers[0] == Consumer(0, -1, 0, 0)
    for state in (
        COMMITTED,
        consumer(COMMITTED, position=2),
        consumer(beyond, validated=False),
        stopped(beyond, 0),
        replica(beyond, 0, leader_epoch=1),
        consumer(beyond, leader=NOBODY),
    ):
        assert take(reset_position, state, consumer=0) is None
