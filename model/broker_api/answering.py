# SPDX-License-Identifier: Apache-2.0
"""What a broker does and answers, once all checks have passed; the rule that decides each answer has a name.

Followed: Kafka 4.3.1, one broker that leads the partition alone, ``message.timestamp.type=CreateTime``. Left out: transactions,
compression, quotas, authorization, sessions of fetches, and everything that depends on time passing.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve, frozen

from .checks import CHECKS
from .requests import (
    NOTHING,
    Answer,
    At,
    Deleted,
    DeleteRecords,
    EpochEnd,
    Errors,
    Fetch,
    Fetched,
    InitProducerId,
    ListOffsets,
    NotAnswered,
    OffsetForLeaderEpoch,
    OffsetFound,
    Produce,
    Produced,
    ProducerIdGiven,
    Request,
)
from .state import RETAINED, Batch, Producer, Sent, State


@frozen
class Outcome:
    """What a request leads to: the answer, the state after it, and the rule that decided."""

    rule: str
    answer: Answer
    state: State


EFFECTS = (
    "epoch_begins_at_zero",
    "duplicate",
    "five_batches",
    "first_offset_is_told",
    "no_acks_no_answer",
    "fetch_from_offset",
    "latest_is_the_end",
    "earliest_is_the_start",
    "time_is_included",
    "start_never_goes_back",
    "later_epoch_is_undefined",
)
"""What a broker does right once nothing speaks against a request, each of which can be taken away, beside the checks."""

REFUSED: dict[type[Any], type[Any]] = {
    Produce: Produced,
    Fetch: Fetched,
    ListOffsets: OffsetFound,
    DeleteRecords: Deleted,
    OffsetForLeaderEpoch: EpochEnd,
}
"""The type of the answer to each type of request."""


def answer(state: State, request: Request, without: frozenset[str] = frozenset()) -> Outcome:
    """Return what a broker answers, and what it knows afterwards; ``without`` names rules that it does not have."""
    after = evolve(state, sent=state.sent + request.count) if isinstance(request, Produce) else state
    is_duplicate = isinstance(request, Produce) and "duplicate" not in without and duplicate_of(state, request) is not None
    for check in CHECKS.get(type(request), ()):
        is_about_sequences = check.name in {"older_producer_epoch", "new_epoch_begins_at_zero", "next_sequence"}
        if check.name in without or (is_duplicate and is_about_sequences) or not check.fails(state, request):
            continue
        refused = NotAnswered() if isinstance(request, Produce) and request.acks == 0 else REFUSED[type(request)](check.error)
        return Outcome(check.name, refused, after)
    return done(state, request, without)


def done(state: State, request: Request, without: frozenset[str]) -> Outcome:
    """Return what a request leads to that nothing speaks against."""
    match request:
        case InitProducerId():
            return initialized(state, request, without)
        case Produce():
            return produced(state, request, without)
        case DeleteRecords():
            return deleted(state, request, without)
        case Fetch():
            found: tuple[str, Answer] = "fetch", fetched(state, request, without)
        case ListOffsets():
            found = listed_by(request), listed(state, request, without)
        case OffsetForLeaderEpoch():
            found = "epoch_end", epoch_end(state, request, without)
    return Outcome(*found, state)


# -- producers --


def initialized(state: State, request: InitProducerId, without: frozenset[str]) -> Outcome:
    """Give a producer a new id, and epoch 0 (``TransactionCoordinator.handleInitProducerId``)."""
    others = {name: known for name, known in state.producers if name != request.producer}
    given = ProducerIdGiven(Errors.NONE, producer_id=0, producer_epoch=1 if "epoch_begins_at_zero" in without else 0)
    return Outcome("new_producer_id", given, evolve(state, producers=tuple(sorted({**others, request.producer: Producer()}.items()))))


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
    after = evolve(state, sent=state.sent + request.count)
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


# -- readers --


def fetched(state: State, request: Fetch, without: frozenset[str]) -> Fetched:
    """Return all records from an offset on, and the limits of the log; no transaction is ever open here."""
    start = 0 if "fetch_from_offset" in without else request.offset
    records = tuple((offset, state.log[offset].value) for offset in range(max(start, 0), state.end_offset))
    return Fetched(Errors.NONE, state.end_offset, state.end_offset, state.log_start_offset, records)


def listed_by(request: ListOffsets) -> str:
    """Return the rule that decides which offset is meant."""
    return f"{request.at.value}_offset"


def listed(state: State, request: ListOffsets, without: frozenset[str]) -> OffsetFound:
    """Return the offset that is asked for (``Partition.fetchOffsetForTimestamp``, ``UnifiedLog.fetchOffsetByTimestamp``)."""
    kept = range(state.log_start_offset, state.end_offset)
    match request.at:
        case At.LATEST:
            last = max(state.end_offset - 1, 0) if "latest_is_the_end" in without else state.end_offset
            return OffsetFound(Errors.NONE, last, leader_epoch=0)
        case At.EARLIEST:
            first = 0 if "earliest_is_the_start" in without else state.log_start_offset
            return OffsetFound(Errors.NONE, first, leader_epoch=0)  # the epoch is known since the leader was elected
        case At.MAX_TIMESTAMP:
            latest = max(kept, key=lambda offset: (state.log[offset].timestamp, -offset), default=None)
        case At.TIME | At.UNHEARD_OF:
            later = 1 if "time_is_included" in without else 0
            latest = next((offset for offset in kept if state.log[offset].timestamp >= request.time + later), None)
    if latest is None:
        return OffsetFound(Errors.NONE)
    return OffsetFound(Errors.NONE, latest, state.log[latest].timestamp, 0)


def deleted(state: State, request: DeleteRecords, without: frozenset[str]) -> Outcome:
    """Move the start of the log, never back (``Partition.deleteRecordsOnLeader``)."""
    wanted = state.end_offset if request.offset == NOTHING else request.offset
    start = wanted if "start_never_goes_back" in without else max(state.log_start_offset, wanted)
    return Outcome("delete", Deleted(Errors.NONE, start), evolve(state, log_start_offset=start))


def epoch_end(state: State, request: OffsetForLeaderEpoch, without: frozenset[str]) -> EpochEnd:
    """Return where a leader epoch ends: the partition has had one only (``LeaderEpochFileCache.endOffsetFor``)."""
    if request.leader_epoch is None or (request.leader_epoch > 0 and "later_epoch_is_undefined" not in without):
        return EpochEnd(Errors.NONE)
    return EpochEnd(Errors.NONE, request.leader_epoch, state.end_offset if request.leader_epoch == 0 else 0)
