# SPDX-License-Identifier: Apache-2.0
"""The leader of a partition: it appends batches, or answers that it has them already, or that something is missing before them."""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from hwmark.model.machine import action, kafka, put

from .rules import OffsetSize, Remembered, Rules, SequenceCheck
from .state import (
    NO_SEQUENCE,
    Batch,
    Bounds,
    Outcome,
    PartitionId,
    PerProducer,
    ProducerId,
    State,
    Stored,
    partitions,
    producers,
    replaced,
)

# -- rules --


class Judgement(Enum):
    """What a leader makes of a batch."""

    APPEND = "append"
    """It is news."""
    DUPLICATE = "duplicate"
    """It is in the log: the answer is the one that was given before."""
    OUT_OF_ORDER = "out_of_order"
    """It does not follow the last one (``OUT_OF_ORDER_SEQUENCE_NUMBER``)."""


def remembers(rules: Rules) -> int:
    """Return how many batches of a producer are remembered (``ProducerStateEntry.NUM_BATCHES_TO_RETAIN``)."""
    match rules.remembered:
        case Remembered.LAST_FIVE:
            return 5
        case Remembered.LAST:
            return 1
        case _:
            assert_never(rules.remembered)


def follows(rules: Rules, known: tuple[Batch, ...], batch: Batch) -> bool:
    """Whether a batch may be appended behind those that are known."""
    match rules.sequence_check:
        case SequenceCheck.NEXT:
            return batch.sequence == (known[-1].end if known else 0)
        case SequenceCheck.NEXT_OR_ANY_FIRST:
            return not known or batch.sequence == known[-1].end
        case SequenceCheck.ANY:
            return True
        case _:
            assert_never(rules.sequence_check)


def offset_after(rules: Rules, offset: int) -> int:
    """Return the offset behind one, as far as its bits go."""
    match rules.offset_size:
        case OffsetSize.BITS_64:
            bits = 64
        case OffsetSize.BITS_32:
            bits = 32
        case _:
            assert_never(rules.offset_size)
    least = -(1 << bits - 1)
    return (offset + 1 - least) % (1 << bits) + least


# -- what a batch is --


def judged(rules: Rules, known: tuple[Batch, ...], batch: Batch) -> Judgement:
    """Return what a leader that remembers these batches of a producer makes of one; without a sequence number all are news.

    ``UnifiedLog.analyzeAndValidateProducerState`` and ``ProducerAppendInfo.checkSequence``, in one producer epoch.
    """
    if batch.sequence == NO_SEQUENCE:
        return Judgement.APPEND
    if any((one.sequence, one.end) == (batch.sequence, batch.end) for one in known):
        return Judgement.DUPLICATE
    return Judgement.APPEND if follows(rules, known, batch) else Judgement.OUT_OF_ORDER


def handled(state: State, rules: Rules, bounds: Bounds, partition: PartitionId, batch: Batch) -> tuple[State, Outcome]:
    """Return the state with a batch handled by the leader of a partition, and what it answers."""
    producer = batch.records[0].producer
    known = state.remembered[partition][producer]
    judgement = judged(rules, known, batch)
    if judgement is not Judgement.APPEND:
        return state, Outcome.DONE if judgement is Judgement.DUPLICATE else Outcome.REFUSED
    log = state.logs[partition]
    for record in batch.records:
        log = (*log, Stored(offset_after(rules, log[-1].offset) if log else bounds.first_offset, record))
    remembered: PerProducer[tuple[Batch, ...]] = state.remembered[partition]
    if batch.sequence != NO_SEQUENCE:
        remembered = replaced(remembered, producer, (*known, batch)[-remembers(rules) :])
    return put(state, logs={partition: log}, remembered={partition: remembered}), Outcome.DONE


# -- actions --


def answered(state: State, producer: ProducerId, partition: PartitionId, outcome: Outcome) -> State:
    """Return the state with the oldest request handled of those that are not."""
    channel = state.channels[producer][partition]
    place = next(place for place, request in enumerate(channel.in_flight) if request.outcome is Outcome.UNDER_WAY)
    in_flight = replaced(channel.in_flight, place, put(channel.in_flight[place], outcome=outcome))
    return put(state, channels={producer: replaced(state.channels[producer], partition, put(channel, in_flight=in_flight))})


def oldest(state: State, producer: ProducerId, partition: PartitionId) -> Batch | None:
    """Return the batch of the oldest request on a connection that is not handled: a broker handles them in turn."""
    requests = state.channels[producer][partition].in_flight
    return next((request.batch for request in requests if request.outcome is Outcome.UNDER_WAY), None)


@action(producer=producers, partition=partitions)
@kafka(
    "ReplicaManager.appendRecords; UnifiedLog.append; UnifiedLog.analyzeAndValidateProducerState; ProducerAppendInfo.checkSequence",
    versions="0.11–4.3.1",
    simplified="no replication: what is appended stays, and is acknowledged at once",
)
def handle_produce(state: State, rules: Rules, bounds: Bounds, *, producer: ProducerId, partition: PartitionId) -> State | None:
    """The leader handles the oldest request of a connection: it appends the batch, knows it already, or misses one before it."""
    batch = oldest(state, producer, partition)
    if batch is None:
        return None
    after, outcome = handled(state, rules, bounds, partition, batch)
    return answered(after, producer, partition, outcome)


@action(producer=producers, partition=partitions)
@kafka(
    "Partition.appendRecordsToLeader; ReplicaManager.appendRecordsToLeader",
    versions="0.11–4.3.1",
    simplified="for whatever reason that passes: too few replicas in sync, no leader at the moment",
)
def refuse_produce(state: State, bounds: Bounds, *, producer: ProducerId, partition: PartitionId) -> State | None:
    """The leader cannot append the batch of the oldest request of a connection at the moment, and answers to try again."""
    if oldest(state, producer, partition) is None or state.refusals >= bounds.refusals:
        return None
    return put(answered(state, producer, partition, Outcome.REFUSED), refusals=state.refusals + 1)


@action(producer=producers, partition=partitions)
@kafka(
    "ReplicaManager.appendRecords; UnifiedLog.append; UnifiedLog.analyzeAndValidateProducerState; ProducerAppendInfo.checkSequence",
    versions="0.11–4.3.1",
    simplified="in order, as they came; one that is never handled is lost",
)
def handle_late(state: State, rules: Rules, bounds: Bounds, *, producer: ProducerId, partition: PartitionId) -> State | None:
    """The leader handles a request of a connection that the producer has given up; nobody hears the answer."""
    channel = state.channels[producer][partition]
    if not channel.late:
        return None
    batch, *others = channel.late
    after, _ = handled(state, rules, bounds, partition, batch)
    left = put(channel, late=tuple(others))
    return put(after, channels={producer: replaced(after.channels[producer], partition, left)})
