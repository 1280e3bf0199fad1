# SPDX-License-Identifier: Apache-2.0
"""What a broker does with what producers send, once all checks have passed; the rule that decides each answer has a name."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

from .requests import InitProducerId, NotAnswered, Produce, Produced, ProducerIdGiven
from .state import RETAINED, Batch, Producer, Sent

ABOUT_SEQUENCES = frozenset({"older_producer_epoch", "new_epoch_begins_at_zero", "next_sequence"})
"""Checks that are not made of a batch that is there already."""


def initialized(state: State, request: InitProducerId, without: frozenset[str]) -> Outcome:
    """Give a producer a new id, and epoch 0 (``TransactionCoordinator.handleInitProducerId``)."""
    others = {name: known for name, known in state.producers if name != request.producer}
    given = ProducerIdGiven(Errors.NONE, producer_id=0, producer_epoch=1 if "epoch_begins_at_zero" in without else 0)
    return Outcome("new_producer_id", given, evolve(state, producers=tuple(sorted({**others, request.producer: Producer()}.items()))))


def exempt(state: State, request: Produce, without: frozenset[str]) -> frozenset[str]:
    """Return the checks that are not made of a batch (``UnifiedLog.analyzeAndValidateProducerState``)."""
    return ABOUT_SEQUENCES if "duplicate" not in without and duplicate_of(state, request) is not None else frozenset()


def attempted(state: State, request: Produce) -> State:
    """Return the state after records were sent, appended or not."""
    return evolve(state, sent=state.sent + request.count)


def refused(request: Produce, answer: Produced) -> Produced | NotAnswered:
    """Return what a producer hears of a refusal."""
    return NotAnswered() if request.acks == 0 else answer


def duplicate_of(state: State, request: Produce) -> Batch | None:
    """Return the remembered batch that a request repeats (``ProducerStateEntry.findDuplicateBatch``)."""
    if request.producer is None:
        return None
    known, last = state.producer(request.producer), request.sequence + request.count - 1
    if known.epoch != request.epoch:
        return None
    return next((one for one in known.batches if (one.first_sequence, one.last_sequence) == (request.sequence, last)), None)


def produced(state: State, request: Produce, without: frozenset[str]) -> Outcome:
    """Append a batch, unless it is there already (``UnifiedLog.append``)."""
    repeated = None if "duplicate" in without else duplicate_of(state, request)
    after = attempted(state, request)
    if repeated is not None:
        rule, offset = "duplicate", repeated.offset
    else:
        rule, offset = "append" if request.producer is None else "append_in_order", state.end_offset
        records = tuple(Sent(number, number, request.producer) for number in range(state.sent, after.sent))
        after = evolve(remembered(after, request, offset, without), log=(*state.log, *records))
    if request.acks == 0 and "no_acks_no_answer" not in without:
        return Outcome(rule, NotAnswered(), after)
    told = offset + request.count - 1 if "first_offset_is_told" in without else offset
    return Outcome(rule, Produced(Errors.NONE, told, state.log_start_offset), after)


def remembered(state: State, request: Produce, offset: int, without: frozenset[str]) -> State:
    """Remember a producer's batch: the last five of its epoch (``ProducerStateEntry.addBatch``)."""
    if request.producer is None:
        return state
    known = state.producer(request.producer)
    before = known.batches if known.epoch == request.epoch else ()
    batch = Batch(request.sequence, request.sequence + request.count - 1, offset)
    kept = 1 if "five_batches" in without else RETAINED
    producer = Producer(request.epoch, (*before, batch)[-kept:])
    return evolve(state, producers=tuple(sorted({**dict(state.producers), request.producer: producer}.items())))
