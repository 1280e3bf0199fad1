# SPDX-License-Identifier: Apache-2.0
"""A producer chooses partitions, batches records, sends batches, and sends them again."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.machine import action, kafka, put
from hwmark.model.partitioners.keys import partition_for_key
from hwmark.model.partitioners.sticky import is_switch

from .rules import MissingPartition, Requeue, RetryPartition, Rules
from .state import (
    NO_KEY,
    NO_PARTITION,
    NO_SEQUENCE,
    Batch,
    Bounds,
    Channel,
    Config,
    Outcome,
    PartitionId,
    PerPartition,
    Producer,
    ProducerId,
    Record,
    Request,
    State,
    Strategy,
    draws,
    keys,
    partitions,
    producers,
    replaced,
)

# -- rules --


def place_of_missing(rules: Rules, partition: PartitionId, count: int) -> PartitionId:
    """Return where a record goes that names a partition beyond the last, or ``NO_PARTITION`` if it is refused."""
    match rules.missing_partition:
        case MissingPartition.REFUSED:
            return NO_PARTITION
        case MissingPartition.WRAPPED:
            return partition % count
        case _:
            assert_never(rules.missing_partition)


def requeued(rules: Rules, config: Config, waiting: tuple[Batch, ...], batch: Batch) -> tuple[Batch, ...]:
    """Return the batches that wait, with one that is to be sent again."""
    if not config.enable_idempotence:
        return (batch, *waiting)
    match rules.requeue:
        case Requeue.IN_SEQUENCE:
            before = tuple(one for one in waiting if one.sequence != NO_SEQUENCE and one.sequence < batch.sequence)
            return (*before, batch, *waiting[len(before) :])
        case Requeue.FIRST:
            return (batch, *waiting)
        case _:
            assert_never(rules.requeue)


def partition_of_retry(rules: Rules, partition: PartitionId, count: int) -> PartitionId:
    """Return the partition to which a batch is sent again."""
    match rules.retry_partition:
        case RetryPartition.SAME:
            return partition
        case RetryPartition.CHOSEN_AGAIN:
            return (partition + 1) % count
        case _:
            assert_never(rules.retry_partition)


# -- choosing a partition --


def key_bytes(key: int) -> bytes:
    """Return a key as it is serialised: the digits of its number, from 1 on."""
    return str(key + 1).encode()


def chosen(producer: Producer, config: Config, key: int, draw: int) -> tuple[PartitionId, Producer] | None:
    """Return the partition of a record, and the producer that has chosen it; ``None`` where nothing, or something else, is drawn."""
    match config.strategy:
        case Strategy.EXPLICIT:
            return draw, producer
        case Strategy.ROUND_ROBIN if draw == 0:
            return producer.turns % producer.partitions, put(producer, turns=producer.turns + 1)
        case Strategy.KEY_HASH if key != NO_KEY:
            return (partition_for_key(key_bytes(key), producer.partitions), producer) if draw == 0 else None
        case Strategy.KEY_HASH | Strategy.STICKY:
            return stuck(producer, config, draw)
        case Strategy.ROUND_ROBIN:
            return None
        case _:
            assert_never(config.strategy)


def stuck(producer: Producer, config: Config, draw: int) -> tuple[PartitionId, Producer] | None:
    """Return the sticky partition: the one of the moment, or if that has had enough the one that is drawn."""
    has_enough = producer.sticky == NO_PARTITION or is_switch(producer.in_a_row, config.batch_size, enabled=True)
    if not has_enough:
        return (producer.sticky, put(producer, in_a_row=producer.in_a_row + 1)) if draw == 0 else None
    return (draw, put(producer, sticky=draw, in_a_row=1)) if draw < producer.partitions else None


def existing(rules: Rules, producer: Producer, partition: PartitionId) -> PartitionId:
    """Return the partition that was chosen, if the producer knows it, and else what is put in its place."""
    return partition if partition < producer.partitions else place_of_missing(rules, partition, producer.partitions)


@action(producer=producers, key=keys, draw=draws)
@kafka(
    "KafkaProducer.doSend; KafkaProducer.partition; RecordAccumulator.append; BuiltInPartitioner.updatePartitionInfo",
    versions="3.3–4.3.1",
    simplified="``batch.size`` counts records; the next sticky partition is drawn with the first record for it; all partitions have "
    "leaders; a record that names a partition which the producer does not know waits for newer metadata as long as the topic has it",
)
def send(  # noqa: PLR0913 - what the application says, and what is drawn
    state: State, rules: Rules, config: Config, bounds: Bounds, *, producer: ProducerId, key: int, draw: int
) -> State | None:
    """The application sends a record with a key or none, a partition is chosen, and the record joins a batch there."""
    ours = state.producers[producer]
    choice = chosen(ours, config, key, draw) if ours.sent < bounds.records else None
    if choice is None or ours.partitions <= choice[0] < state.partitions:
        return None
    partition, after = existing(rules, ours, choice[0]), choice[1]
    if partition == NO_PARTITION:
        return put(state, producers={producer: put(after, sent=ours.sent + 1, refused=ours.refused + 1)})
    named = draw if config.strategy is Strategy.EXPLICIT else NO_PARTITION
    channel = state.channels[producer][partition]
    waiting = joined(channel.waiting, Record(producer, ours.sent, key, named), config)
    channels = replaced(state.channels[producer], partition, put(channel, waiting=waiting))
    return put(state, channels={producer: channels}, producers={producer: put(after, sent=ours.sent + 1)})


def joined(waiting: tuple[Batch, ...], record: Record, config: Config) -> tuple[Batch, ...]:
    """Return the batches that wait with a record more: in the last one, if that was never sent and has room, or in a new one."""
    last = waiting[-1] if waiting else None
    if last is None or last.is_closed or len(last.records) >= config.batch_size:
        return (*waiting, Batch((record,)))
    return (*waiting[:-1], put(last, records=(*last.records, record)))


@action(producer=producers)
@kafka(
    "Metadata.update; NetworkClient.DefaultMetadataUpdater",
    versions="0.9–4.3.1",
    simplified="at any time, and of the number of partitions alone",
)
def refresh_metadata(state: State, *, producer: ProducerId) -> State | None:
    """A producer learns how many partitions the topic has."""
    ours = state.producers[producer]
    return put(state, producers={producer: put(ours, partitions=state.partitions)}) if ours.partitions < state.partitions else None


# -- sending, and sending again --


def may_be_sent(channel: Channel, config: Config) -> bool:
    """Whether the first batch that waits may go: the connection has room, and an earlier one that is sent again is not out (KAFKA-5494)."""
    if not channel.waiting or len(channel.in_flight) >= config.max_in_flight:
        return False
    first = channel.waiting[0]
    known = [request.batch.sequence for request in channel.in_flight] + [batch.sequence for batch in channel.waiting if batch.is_closed]
    return not config.enable_idempotence or not first.is_closed or first.sequence == min(known)


@action(producer=producers, partition=partitions)
@kafka(
    "Sender.sendProducerData; RecordAccumulator.drain; RecordAccumulator.shouldStopDrainBatchesForPartition",
    versions="2.1–4.3.1",
    simplified="each partition has a leader of its own, so that a connection and a request are for one partition; ``linger.ms`` and "
    "back-off may be over at any time",
)
def send_batch(state: State, config: Config, *, producer: ProducerId, partition: PartitionId) -> State | None:
    """A producer sends the first batch that waits for a partition; if it is idempotent and the batch new, with its sequence number."""
    channel = state.channels[producer][partition]
    if not may_be_sent(channel, config):
        return None
    first, *others = channel.waiting
    is_numbered = config.enable_idempotence and not first.is_closed
    batch = put(first, is_closed=True, sequence=channel.sequence if is_numbered else first.sequence)
    sent = put(
        channel,
        waiting=tuple(others),
        in_flight=(*channel.in_flight, Request(batch)),
        sequence=batch.end if is_numbered else channel.sequence,
    )
    return put(state, channels={producer: replaced(state.channels[producer], partition, sent)})


@action(producer=producers, partition=partitions)
@kafka(
    "Sender.handleProduceResponse; Sender.completeBatch; RecordAccumulator.reenqueue",
    versions="2.1–4.3.1",
    simplified="every error is one after which to try again, as often as it takes: ``delivery.timeout.ms``, ``retries``, and new producer "
    "epochs after a batch was given up are left out",
)
def receive_answer(state: State, rules: Rules, config: Config, *, producer: ProducerId, partition: PartitionId) -> State | None:
    """A producer hears what became of its oldest request; a batch that was refused waits to be sent again."""
    channel = state.channels[producer][partition]
    if not channel.in_flight or channel.in_flight[0].outcome is Outcome.UNDER_WAY:
        return None
    answered, *others = channel.in_flight
    channels = replaced(state.channels[producer], partition, put(channel, in_flight=tuple(others)))
    if answered.outcome is Outcome.REFUSED:
        place = partition_of_retry(rules, partition, state.producers[producer].partitions)
        channels = with_retry(rules, config, channels, place, answered.batch)
    return put(state, channels={producer: channels})


@action(producer=producers, partition=partitions)
@kafka(
    "NetworkClient.cancelInFlightRequests; NetworkClient.handleTimedOutRequests; InFlightRequests.clearAll",
    versions="2.1–4.3.1",
    simplified="one connection at a time, and the next one is there at once",
)
def lose_connection(  # noqa: PLR0913 - what comes back depends on everything
    state: State, rules: Rules, config: Config, bounds: Bounds, *, producer: ProducerId, partition: PartitionId
) -> State | None:
    """A connection is lost: its batches are to be sent again, taken from the oldest on; the broker may still handle what it was sent."""
    channel = state.channels[producer][partition]
    if not channel.in_flight or state.disconnects >= bounds.disconnects:
        return None
    late = tuple(request.batch for request in channel.in_flight if request.outcome is Outcome.UNDER_WAY)
    channels = replaced(state.channels[producer], partition, put(channel, in_flight=(), late=(*channel.late, *late)))
    place = partition_of_retry(rules, partition, state.producers[producer].partitions)
    for request in channel.in_flight:
        channels = with_retry(rules, config, channels, place, request.batch)
    return put(state, channels={producer: channels}, disconnects=state.disconnects + 1)


def with_retry(rules: Rules, config: Config, channels: PerPartition[Channel], place: PartitionId, batch: Batch) -> PerPartition[Channel]:
    """Return the channels with a batch that waits to be sent again."""
    waiting = requeued(rules, config, channels[place].waiting, batch)
    return replaced(channels, place, put(channels[place], waiting=waiting))
