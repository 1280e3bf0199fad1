# SPDX-License-Identifier: Apache-2.0
"""What a transaction coordinator does, once all checks have passed; the rule that decides each answer has a name."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.groups.pending import settled
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.partition.requests import ProducerIdGiven
from hwmark.model.broker_api.partition.state import Marker, Producer
from hwmark.model.broker_api.state import State

from .checks import is_retry
from .requests import Added, AddOffsetsToTxn, AddPartitionsToTxn, Ended, EndTxn, InitTransactions
from .state import Status, Transaction


def initialized(state: State, request: InitTransactions) -> Outcome:
    """Give a producer its id and an epoch (``TransactionCoordinator.prepareInitProducerIdTransit``).

    A transaction that is under way is aborted first, and the producer told to ask again.
    """
    name, known = request.producer, state.transaction(request.producer)
    if known is None:
        return given(state.with_producer(name, Producer()), name, Transaction(), "new_transactional_id")
    if known.status is Status.ONGOING and "ongoing_is_aborted" not in state.lacks:
        concurrent = ProducerIdGiven(Errors.CONCURRENT_TRANSACTIONS)
        return Outcome("ongoing_is_aborted", concurrent, ended(state, name, Status.ABORTED, bumps="abort_fences" not in state.lacks))
    epoch = None if request.epoch is None else state.epoch_of(name, request.epoch)
    if epoch is not None and epoch != known.epoch and "retry_keeps_epoch" not in state.lacks:
        return given(state, name, Transaction(known.epoch, known.last_epoch), "retry_keeps_epoch")
    bumped = known.epoch if "epoch_is_bumped" in state.lacks else known.epoch + 1
    return given(state, name, Transaction(bumped, NOTHING if epoch is None else known.epoch), "epoch_is_bumped")


def given(state: State, name: str, known: Transaction, rule: str) -> Outcome:
    """Tell a producer its id and epoch."""
    after = state.with_transaction(name, known)
    after = after.with_producer(name, evolve(after.producer(name), given=known.epoch))
    return Outcome(rule, ProducerIdGiven(Errors.NONE, 0, known.epoch), after)


def added(state: State, request: AddPartitionsToTxn) -> Outcome:
    """Make the partition part of the transaction (``TransactionMetadata.prepareAddPartitions``)."""
    known = state.transaction(request.producer) or Transaction()
    after = evolve(known, status=Status.ONGOING, has_partition=True)
    return Outcome("partition_is_added", Added(Errors.NONE), state.with_transaction(request.producer, after))


def offsets_added(state: State, request: AddOffsetsToTxn) -> Outcome:
    """Make offsets part of the transaction: a partition of the coordinator's log (``KafkaApis.handleAddOffsetsToTxnRequest``)."""
    known = state.transaction(request.producer) or Transaction()
    after = evolve(known, status=Status.ONGOING, has_offsets=True)
    return Outcome("offsets_are_added", Added(Errors.NONE), state.with_transaction(request.producer, after))


def finished(state: State, request: EndTxn) -> Outcome:
    """End a transaction, or say again that it is ended (``TransactionCoordinator.endTransaction``)."""
    name, known = request.producer, state.transaction(request.producer) or Transaction()
    is_over = known.status is not Status.ONGOING
    if is_over and (not request.bumps or is_retry(state, request)):
        return Outcome("end_can_be_repeated", told(state, request), heard(state, request))
    bumps = request.bumps and "end_bumps_epoch" not in state.lacks
    after = ended(state, name, Status.COMMITTED if request.commit else Status.ABORTED, bumps=bumps)
    return Outcome("abort_of_nothing" if is_over else "transaction_ends", told(after, request), heard(after, request))


def told(state: State, request: EndTxn) -> Ended:
    """Return what a producer hears of the end: with version 5 its epoch from now on."""
    known = state.transaction(request.producer) or Transaction()
    return Ended(Errors.NONE, 0, known.epoch) if request.bumps else Ended(Errors.NONE)


def heard(state: State, request: EndTxn) -> State:
    """Return the state once the producer goes by the epoch that it was told."""
    answer, known = told(state, request), state.producer(request.producer)
    return state.with_producer(request.producer, evolve(known, given=answer.producer_epoch)) if request.bumps else state


def ended(state: State, name: str, status: Status, *, bumps: bool) -> State:
    """Return the state in which a transaction has ended, and all that is part of it has been told.

    (``TransactionMetadata.prepareAbortOrCommit``)
    """
    known = state.transaction(name) or Transaction()
    epoch, last = (known.epoch + 1, known.epoch) if bumps else (known.epoch, known.last_epoch)
    is_commit = status is Status.COMMITTED
    marked = marked_with(state, name, epoch, commit=is_commit) if known.has_partition else state
    if known.has_offsets:
        marked = evolve(marked, groups=settled(marked.groups, name, state.lacks, commit=is_commit))
    return marked.with_transaction(name, Transaction(epoch, last, status))


def marked_with(state: State, name: str, epoch: int, *, commit: bool) -> State:
    """Return the state in which the end of a transaction is in the log (``ProducerAppendInfo.appendEndTxnMarker``)."""
    known = state.producer(name)
    kept = known.verification
    if kept is not None and not (kept.adds and kept.epoch == epoch):
        kept = None
    batches = known.batches if known.epoch == epoch else ()
    after = state.with_producer(name, Producer(known.given, epoch, batches, kept))
    return evolve(after, log=(*state.log, Marker(name, commit)))
