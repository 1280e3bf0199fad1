# SPDX-License-Identifier: Apache-2.0
"""The checks of a transaction coordinator, in the order in which Kafka 4.3.1 makes them: the first that fails answers."""

from __future__ import annotations

from typing import Any

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.part import UNKNOWN, Check
from hwmark.model.broker_api.state import State

from .requests import AddOffsetsToTxn, AddPartitionsToTxn, EndTxn, Identity, InitTransactions, Oddity
from .state import Status


def is_new(state: State, request: Any) -> bool:
    """Whether the coordinator does not know a transactional id."""
    return state.transaction(request.producer) is None


def is_mapped_otherwise(state: State, request: Any) -> bool:
    """Whether the coordinator knows no such transactional id, or another producer id for it."""
    return is_new(state, request) or request.identity is Identity.OTHER_PRODUCER_ID


def is_of_another(state: State, request: InitTransactions) -> bool:
    """Whether a producer says that it has a producer id that is not the one of its transactional id."""
    return request.epoch is not None and request.identity is Identity.OTHER_PRODUCER_ID and not is_new(state, request)


def is_half_an_identity(state: State, request: InitTransactions) -> bool:
    """Whether a producer says that it has a producer id, and no epoch."""
    if request.oddity is Oddity.HALF_AN_IDENTITY:
        return True
    given = 0 if is_new(state, request) else state.epoch_of(request.producer, 0)
    return request.epoch is not None and given + request.epoch == NOTHING


def is_left_behind(state: State, request: InitTransactions) -> bool:
    """Whether a producer says that it has an epoch that is neither the present one nor the one before, if that may be named."""
    known = state.transaction(request.producer)
    if known is None or known.status is Status.ONGOING or request.epoch is None:
        return False
    return state.epoch_of(request.producer, request.epoch) not in {known.epoch, known.last_epoch}


def is_other_epoch(state: State, request: Any) -> bool:
    """Whether the coordinator knows another epoch."""
    known = state.transaction(request.producer)
    return known is not None and known.epoch != state.epoch_of(request.producer, request.epoch)


def is_retry(state: State, request: EndTxn) -> bool:
    """Whether a producer asks again for what has given it a new epoch, of which it does not know."""
    known = state.transaction(request.producer)
    return known is not None and request.bumps and known.epoch == state.epoch_of(request.producer, request.epoch) + 1


def is_fenced(state: State, request: EndTxn) -> bool:
    """Whether a producer's epoch is not the present one, nor the one before where a transaction has ended."""
    known = state.transaction(request.producer)
    may_retry = known is not None and known.status in {Status.COMMITTED, Status.ABORTED} and is_retry(state, request)
    return is_other_epoch(state, request) and not may_retry


def has_nothing_to_end(state: State, request: EndTxn) -> bool:
    """Whether there is no transaction to end, none that ended so, and, with version 5, none that can be aborted as if it were there."""
    known = state.transaction(request.producer)
    if known is None or known.status is Status.ONGOING:
        return False
    if request.bumps and not is_retry(state, request):
        return request.commit
    return known.status is not (Status.COMMITTED if request.commit else Status.ABORTED)


NAMED = Check(
    "named",
    "A transactional id has letters.",
    "TransactionCoordinator",
    lambda _state, request: request.identity is Identity.NO_NAME,
    Errors.INVALID_REQUEST,
)
MAPPED = Check(
    "known_producer_id",
    "A producer whose id is not the one of its transactional id is told so.",
    "TransactionCoordinator.handleAddPartitionsToTransaction, endTransaction",
    is_mapped_otherwise,
    Errors.INVALID_PRODUCER_ID_MAPPING,
)
PRESENT = Check(
    "epoch_adds",
    "Only the present epoch makes partitions, or offsets, part of a transaction.",
    "TransactionCoordinator.handleAddPartitionsToTransaction",
    is_other_epoch,
    Errors.PRODUCER_FENCED,
)

CHECKS: dict[type[Any], tuple[Check, ...]] = {
    InitTransactions: (
        Check(
            "whole_identity",
            "Who names a producer id names its epoch too.",
            "KafkaApis.handleInitProducerIdRequest",
            is_half_an_identity,
            Errors.INVALID_REQUEST,
        ),
        NAMED,
        Check(
            "longest_transaction",
            "Transactions may not last longer than the broker allows.",
            "TransactionStateManager.validateTransactionTimeoutMs",
            lambda _state, request: request.oddity is Oddity.TIMEOUT,
            Errors.INVALID_TRANSACTION_TIMEOUT,
        ),
        Check(
            "own_producer_id",
            "Who says that it has a producer id that is not the one of its transactional id is fenced.",
            "TransactionCoordinator.prepareInitProducerIdTransit",
            is_of_another,
            Errors.PRODUCER_FENCED,
        ),
        Check(
            "present_epoch",
            "Who says that it has an epoch that is neither the present one nor the one that was replaced last is fenced (KIP-360).",
            "TransactionMetadata.prepareIncrementProducerEpoch",
            is_left_behind,
            Errors.PRODUCER_FENCED,
        ),
    ),
    AddPartitionsToTxn: (UNKNOWN, NAMED, MAPPED, PRESENT),
    AddOffsetsToTxn: (NAMED, MAPPED, PRESENT),
    EndTxn: (
        NAMED,
        MAPPED,
        Check(
            "epoch_ends",
            "Only the present epoch ends a transaction, or the one before, which asks again.",
            "TransactionCoordinator.endTransaction",
            is_fenced,
            Errors.PRODUCER_FENCED,
        ),
        Check(
            "something_to_end",
            "A transaction that is not under way is not ended, and one that has ended does not end otherwise.",
            "TransactionCoordinator.endTransaction",
            has_nothing_to_end,
            Errors.INVALID_TXN_STATE,
        ),
    ),
}
"""By type of request."""
