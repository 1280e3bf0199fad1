# SPDX-License-Identifier: Apache-2.0
"""Whether a batch belongs to a transaction that the coordinator knows: the leader asks it before the first is appended (KIP-890)."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.part import Check
from hwmark.model.broker_api.partition.requests import Produce, Support
from hwmark.model.broker_api.partition.state import Verification
from hwmark.model.broker_api.partition.transactional import is_open
from hwmark.model.broker_api.state import State

from .state import Status, Transaction


def is_asked(state: State, request: Produce) -> bool:
    """Whether the coordinator is asked: unless the producer's transaction is under way in the partition."""
    name = request.producer
    return name is not None and request.transactional and not (is_open(state, name) and not is_other_epoch(state, request))


def is_other_epoch(state: State, request: Produce) -> bool:
    """Whether a batch is of another epoch than what the partition has of its producer."""
    return request.producer is not None and state.epoch_of(request.producer, request.epoch) != state.producer(request.producer).epoch


def begun(state: State, request: Produce) -> State:
    """Return the state once the coordinator is asked (``ProducerStateManager.maybeCreateVerificationStateEntry``)."""
    if request.producer is None or not is_asked(state, request):
        return state
    known, epoch = state.producer(request.producer), state.epoch_of(request.producer, request.epoch)
    so_far = known.verification or Verification(request.sequence, epoch, request.support is Support.ADDS)
    if epoch > so_far.epoch:
        so_far = evolve(so_far, sequence=request.sequence, epoch=epoch)
    elif epoch == so_far.epoch:
        so_far = evolve(so_far, sequence=min(so_far.sequence, request.sequence))
    return state.with_producer(request.producer, evolve(known, verification=so_far))


def joined(state: State, request: Produce) -> State:
    """Return the state once the coordinator has agreed: a batch of a sender that leaves it to the broker adds the partition."""
    if request.producer is None or not is_asked(state, request) or request.support is not Support.ADDS:
        return state
    known = state.transaction(request.producer)
    if known is None or "batch_adds_partition" in state.lacks:
        return state
    return state.with_transaction(request.producer, evolve(known, status=Status.ONGOING, has_partition=True))


def asked(state: State, request: Produce) -> Transaction | None:
    """Return what the coordinator knows of a producer about whom it is asked."""
    return None if request.producer is None else state.transaction(request.producer)


def is_older_at_once(state: State, request: Produce) -> bool:
    """Whether a batch about which the coordinator would be asked is of an older epoch than the partition has."""
    name = request.producer
    return name is not None and is_asked(state, request) and state.epoch_of(name, request.epoch) < state.producer(name).epoch


def is_of_nobody(state: State, request: Produce) -> bool:
    """Whether the coordinator knows no such transactional id."""
    return is_asked(state, request) and asked(state, request) is None


def is_of_other_epoch(state: State, request: Produce) -> bool:
    """Whether the coordinator knows another epoch."""
    known, name = asked(state, request), request.producer
    return name is not None and known is not None and is_asked(state, request) and known.epoch != state.epoch_of(name, request.epoch)


def is_outside(state: State, request: Produce) -> bool:
    """Whether the partition is not part of the transaction, and the batch does not make it so."""
    known = asked(state, request)
    return known is not None and is_asked(state, request) and request.support is not Support.ADDS and not known.has_partition


AT_ONCE = Check(
    "older_epoch_at_once",
    "A transactional batch of an epoch that the producer has left is refused before the coordinator is asked.",
    "UnifiedLog.maybeStartTransactionVerification",
    is_older_at_once,
    Errors.INVALID_PRODUCER_EPOCH,
)
WITH_COORDINATOR = (
    Check(
        "known_transactional_id",
        "A transactional batch of a transactional id that the coordinator does not know is refused.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction",
        is_of_nobody,
        Errors.INVALID_PRODUCER_ID_MAPPING,
    ),
    Check(
        "epoch_of_transactional_id",
        "A transactional batch of another epoch than the coordinator knows is refused.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction; AddPartitionsToTxnManager",
        is_of_other_epoch,
        Errors.INVALID_PRODUCER_EPOCH,
    ),
    Check(
        "part_of_transaction",
        "A transactional batch is refused where the partition is not part of the transaction.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction; AddPartitionsToTxnManager",
        lambda state, request: is_outside(state, request) and request.support is Support.NOTHING,
        Errors.INVALID_TXN_STATE,
    ),
    Check(
        "abortable",
        "A sender that knows how is told to abort its transaction, where the partition is not part of it.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction; AddPartitionsToTxnManager",
        lambda state, request: is_outside(state, request) and request.support is Support.ABORTABLE,
        Errors.TRANSACTION_ABORTABLE,
    ),
)
"""What the coordinator says, in this order."""
