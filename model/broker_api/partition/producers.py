# SPDX-License-Identifier: Apache-2.0
"""What a broker does with what producers send, once all checks have passed; the rule that decides each answer has a name."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State
from hwmark.model.broker_api.transactions.verification import WITH_COORDINATOR, begun, is_other_epoch, joined

from .checks import OF_PRODUCERS
from .requests import InitProducerId, NotAnswered, Produce, Produced, ProducerIdGiven
from .state import RETAINED, Batch, Producer, Sent

AT_FIRST = frozenset(
    {
        "transactional_without_id",
        "unknown_partition",
        "some_batch",
        "present_format",
        "one_batch",
        "leader_answers",
        "older_epoch_at_once",
    }
)
"""Checks before the coordinator is asked about a transactional batch."""
AT_COORDINATOR = frozenset(check.name for check in WITH_COORDINATOR)
ABOUT_SEQUENCES = frozenset(check.name for check in OF_PRODUCERS)
"""Checks that are not made of a batch that is there already."""


def initialized(state: State, request: InitProducerId) -> Outcome:
    """Give a producer a new id, and epoch 0 (``TransactionCoordinator.handleInitProducerId``)."""
    given = ProducerIdGiven(Errors.NONE, producer_id=0, producer_epoch=1 if "epoch_begins_at_zero" in state.lacks else 0)
    return Outcome("new_producer_id", given, state.with_producer(request.producer, Producer()))


def exempt(state: State, request: Produce) -> frozenset[str]:
    """Return the checks that are not made of a batch (``UnifiedLog.analyzeAndValidateProducerState``)."""
    return ABOUT_SEQUENCES if "duplicate" not in state.lacks and duplicate_of(state, request) is not None else frozenset()


def attempted(state: State, request: Produce, failed: str | None = None) -> State:
    """Return the state after records were sent; ``failed`` is the check that refused them, which may be one before others."""
    sent = evolve(state, sent=state.sent + request.count)
    if failed in AT_FIRST:
        return sent
    asked = begun(sent, request)
    return asked if failed in AT_COORDINATOR else joined(asked, request)


def refused(request: Produce, answer: Produced) -> Produced | NotAnswered:
    """Return what a producer hears of a refusal."""
    return NotAnswered() if request.acks == 0 else answer


def duplicate_of(state: State, request: Produce) -> Batch | None:
    """Return the remembered batch that a request repeats (``ProducerStateEntry.findDuplicateBatch``)."""
    if request.producer is None or is_other_epoch(state, request):
        return None
    known, last = state.producer(request.producer), request.sequence + request.count - 1
    return next((one for one in known.batches if (one.first_sequence, one.last_sequence) == (request.sequence, last)), None)


def produced(state: State, request: Produce) -> Outcome:
    """Append a batch, unless it is there already (``UnifiedLog.append``)."""
    repeated = None if "duplicate" in state.lacks else duplicate_of(state, request)
    after = attempted(state, request)
    if repeated is not None:
        rule, offset = "duplicate", repeated.offset
    else:
        rule, offset = appended_by(request), state.end_offset
        after = appended(after, request)
    if request.acks == 0 and "no_acks_no_answer" not in state.lacks:
        return Outcome(rule, NotAnswered(), after)
    told = offset + request.count - 1 if "first_offset_is_told" in state.lacks else offset
    return Outcome(rule, Produced(Errors.NONE, told, state.log_start_offset), after)


def appended_by(request: Produce) -> str:
    """Return the rule by which a batch is appended."""
    if request.transactional:
        return "append_in_transaction"
    return "append" if request.producer is None else "append_in_order"


def appended(state: State, request: Produce) -> State:
    """Return the state in which the records that were sent last are in the log, and remembered."""
    numbers = range(state.sent - request.count, state.sent)
    records = tuple(Sent(number, number, request.producer, request.transactional) for number in numbers)
    return evolve(remembered(state, request), log=(*state.log, *records))


def remembered(state: State, request: Produce) -> State:
    """Remember a producer's batch: the last five of its epoch (``ProducerStateEntry.addBatch``)."""
    if request.producer is None:
        return state
    known, epoch = state.producer(request.producer), state.epoch_of(request.producer, request.epoch)
    if epoch < known.epoch:
        return state  # what is remembered is of the later epoch
    before = known.batches if known.epoch == epoch else ()
    batch = Batch(request.sequence, request.sequence + request.count - 1, state.end_offset)
    kept = 1 if "five_batches" in state.lacks else RETAINED
    verification = None if request.transactional else known.verification
    return state.with_producer(request.producer, Producer(known.given, epoch, (*before, batch)[-kept:], verification))
