# SPDX-License-Identifier: Apache-2.0
"""Offsets that are committed in transactions: when they are told, and when they are not."""

from __future__ import annotations

from typing import Any

import pytest

from hwmark.model.broker_api import answer
from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.groups.requests import (
    DeleteGroup,
    Epoch,
    Identity,
    JoinGroup,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    SyncGroup,
    TxnOffsetCommit,
)
from hwmark.model.broker_api.partition.requests import Support
from hwmark.model.broker_api.state import State
from hwmark.model.broker_api.transactions.requests import AddOffsetsToTxn, EndTxn, InitTransactions

BEGUN = (InitTransactions("p"), InitTransactions("q"))
COMMIT, ABORT = EndTxn("p", bumps=True), EndTxn("p", commit=False, bumps=True)


def commit(offset: int, producer: str = "p", **said: Any) -> TxnOffsetCommit:
    """Return a commit of a producer that leaves it to the broker to make offsets part of its transaction."""
    return TxnOffsetCommit(producer, offset, support=Support.ADDS, **said)


def after(*requests: Any) -> State:
    """Return the state after requests that are all answered without an error."""
    state = State()
    for request in (*BEGUN, *requests):
        told = answer(state, request)
        assert told.answer.error in {Errors.NONE, Errors.MEMBER_ID_REQUIRED}, request
        state = told.state
    return state


@pytest.mark.parametrize(
    ("requests", "offset"),
    [
        ((commit(5),), NOTHING),
        ((commit(5), COMMIT), 5),
        ((commit(5), ABORT), NOTHING),
        ((OffsetCommit(3), commit(5)), 3),
        ((OffsetCommit(3), commit(5), COMMIT), 5),
        ((OffsetCommit(3), commit(5), ABORT), 3),
        ((commit(5), OffsetCommit(7), COMMIT), 7),
        ((commit(5), commit(6), COMMIT), 6),
        ((commit(5), OffsetCommit(7), commit(6), COMMIT), 6),
        ((commit(5), commit(6, "q"), EndTxn("q", bumps=True), COMMIT), 6),
        ((commit(5), commit(6, "q"), COMMIT, EndTxn("q", bumps=True)), 6),
        ((commit(5), commit(6, "q"), EndTxn("q", commit=False, bumps=True), COMMIT), 5),
        ((commit(5), OffsetDelete(), COMMIT), NOTHING),
        ((commit(5), DeleteGroup(), COMMIT), NOTHING),
    ],
)
def test_what_was_committed_last_is_told(requests: tuple[Any, ...], offset: int) -> None:
    """By the place of the commit in the log, and not by the end of its transaction (KAFKA-5247)."""
    assert answer(after(*requests), OffsetFetch()).answer.offset == offset


@pytest.mark.parametrize(
    ("requests", "error"),
    [
        ((commit(5),), Errors.UNSTABLE_OFFSET_COMMIT),
        ((commit(5), OffsetCommit(7)), Errors.UNSTABLE_OFFSET_COMMIT),
        ((commit(5), COMMIT), Errors.NONE),
        ((commit(5), ABORT), Errors.NONE),
        ((commit(5), OffsetDelete()), Errors.NONE),
    ],
)
def test_an_offset_is_stable_once_no_transaction_may_change_it(requests: tuple[Any, ...], error: Errors) -> None:
    """Until then who wants a stable one is told to ask again (KIP-447)."""
    assert answer(after(*requests), OffsetFetch(require_stable=True)).answer.error is error


@pytest.mark.parametrize(
    ("support", "error"),
    [
        (Support.NOTHING, Errors.INVALID_TXN_STATE),
        (Support.ABORTABLE, Errors.TRANSACTION_ABORTABLE),
        (Support.ADDS, Errors.NONE),
    ],
)
def test_offsets_are_part_of_the_transaction_first(support: Support, error: Errors) -> None:
    """Unless the commit makes them so (KIP-890)."""
    request = TxnOffsetCommit("p", support=support)
    assert answer(after(), request).answer.error is error
    assert answer(after(AddOffsetsToTxn("p")), request).answer.error is Errors.NONE


@pytest.mark.parametrize(
    ("identity", "epoch", "error"),
    [
        (Identity.NONE, Epoch.NONE, Errors.NONE),
        (Identity.RIGHT, Epoch.RIGHT, Errors.NONE),
        (Identity.RIGHT, Epoch.NEWER, Errors.ILLEGAL_GENERATION),
        (Identity.RIGHT, Epoch.NONE, Errors.ILLEGAL_GENERATION),
        (Identity.STRANGER, Epoch.RIGHT, Errors.UNKNOWN_MEMBER_ID),
    ],
)
def test_who_says_that_it_is_a_member_is_one(identity: Identity, epoch: Epoch, error: Errors) -> None:
    """Who does not say so is believed, as clients from before KIP-447 do not."""
    state = after(JoinGroup(), JoinGroup(), SyncGroup())
    assert answer(state, commit(5, identity=identity, epoch=epoch)).answer.error is error


def test_a_rebalance_does_not_matter() -> None:
    """Other than for who commits outside of transactions."""
    state = after(JoinGroup(), JoinGroup())
    said: dict[str, Any] = {"identity": Identity.RIGHT, "epoch": Epoch.RIGHT}
    assert answer(state, OffsetCommit(5, **said)).answer.error is Errors.REBALANCE_IN_PROGRESS
    assert answer(state, commit(5, **said)).answer.error is Errors.NONE
