# SPDX-License-Identifier: Apache-2.0
"""What must hold in a topic: where a record is, in which order, and what becomes of both when partitions are added."""

from __future__ import annotations

from collections.abc import Iterator

from hwmark.model.machine import Step
from hwmark.model.topic.state import (
    NO_KEY,
    NO_PARTITION,
    Bounds,
    Config,
    Outcome,
    PartitionId,
    ProducerId,
    Record,
    State,
    Strategy,
    partitions,
    producers,
)
from hwmark.spec.property import Witness, converges, invariant, reachable, step_property, witness

from .observers import APPENDED, HOMES, SEEN, Appended, Homes, Seen

OFFSETS = range(2**63)
"""What an offset may be."""

# -- queries --


def kept(state: State, producer: ProducerId) -> Iterator[tuple[PartitionId, Record]]:
    """Yield each record that a producer has for a partition and that is not stored: waiting, under way, or late."""
    for partition, channel in enumerate(state.channels[producer]):
        batches = (*channel.waiting, *(request.batch for request in channel.in_flight), *channel.late)
        yield from ((partition, record) for batch in batches for record in batch.records)


def stored(state: State, producer: ProducerId, partition: PartitionId) -> list[int]:
    """Return the numbers of what is stored of a producer in a partition, in the order of offsets."""
    return [one.record.number for one in state.logs[partition] if one.record.producer == producer]


def everywhere(state: State) -> Iterator[tuple[PartitionId, Record]]:
    """Yield each record with its partition, stored or not."""
    for partition, log in enumerate(state.logs):
        yield from ((partition, one.record) for one in log)
    for producer in range(len(state.producers)):
        yield from kept(state, producer)


def is_idempotent(_state: State, config: Config) -> bool:
    """Whether producers are idempotent."""
    return config.enable_idempotence


def hashes_keys_of_a_steady_topic(state: State, config: Config, bounds: Bounds) -> bool:
    """Whether keys are hashed, and no partition was added."""
    return config.strategy is Strategy.KEY_HASH and state.partitions == bounds.partitions


# -- logs --


@step_property(sources=("S1-topics", "S2-topics"), partition=partitions)
def logs_are_appended_to(before: State, step: Step, after: State, *, partition: PartitionId) -> Witness | None:
    """What is stored stays where it is, whatever becomes of the topic; records come at the end of one log at a time."""
    old, new = before.logs[partition], after.logs[partition]
    others = sum(ours != theirs for ours, theirs in zip(before.logs, after.logs, strict=True))
    return None if new[: len(old)] == old and others <= 1 else witness(step=str(step), before=old, after=new)


@invariant(sources=("S2-topics",), partition=partitions)
def offsets_increase(state: State, *, partition: PartitionId) -> Witness | None:
    """In each partition offsets are unique and increase, by one from record to record, and none has more than 64 bits."""
    offsets = [one.offset for one in state.logs[partition]]
    for place, offset in enumerate(offsets):
        if offset not in OFFSETS or offset != offsets[0] + place:
            return witness(offsets=tuple(offsets))
    return None


@invariant(sources=("S1-topics",), partition=partitions)
def records_are_in_the_topic(state: State, *, partition: PartitionId) -> Witness | None:
    """Only partitions that exist hold records or wait for some."""
    if partition < state.partitions or not any(place == partition for place, _ in everywhere(state)):
        return None
    return witness(partitions=state.partitions)


@invariant(sources=("S1-topics", "S11"), producer=producers)
def one_partition_for_each_record(state: State, *, producer: ProducerId) -> Witness | None:
    """A record is in one partition or under way to that one, however often it is sent."""
    homes: dict[int, PartitionId] = {}
    for partition, record in everywhere(state):
        if record.producer == producer and homes.setdefault(record.number, partition) != partition:
            return witness(record=record.number, partitions=(homes[record.number], partition))
    return None


@invariant(sources=("S1-topics", "T09"), when=is_idempotent, producer=producers, partition=partitions)
def idempotent_records_are_stored_once(state: State, *, producer: ProducerId, partition: PartitionId) -> Witness | None:
    """What an idempotent producer sends is stored once, however often it sends it again."""
    numbers = stored(state, producer, partition)
    again = [number for number in numbers if numbers.count(number) > 1]
    return witness(record=again[0], stored=tuple(numbers)) if again else None


@invariant(sources=("S2-topics",), when=is_idempotent, producer=producers, partition=partitions)
def idempotent_records_are_in_order(state: State, *, producer: ProducerId, partition: PartitionId) -> Witness | None:
    """In each partition the records of an idempotent producer are in the order in which it sent them, and none is left out between."""
    numbers = stored(state, producer, partition)
    left = {record.number for place, record in kept(state, producer) if place == partition} - set(numbers)
    if numbers == sorted(numbers) and (not left or not numbers or max(numbers) < min(left)):
        return None
    return witness(stored=tuple(numbers), left_out=tuple(sorted(left)))


@invariant(sources=("S11",), when=hashes_keys_of_a_steady_topic)
def same_key_same_partition(state: State) -> Witness | None:
    """As long as no partition is added, all records of a key are in one partition, whoever sent them."""
    homes: dict[int, PartitionId] = {}
    for partition, record in everywhere(state):
        if record.key != NO_KEY and homes.setdefault(record.key, partition) != partition:
            return witness(key=record.key, partitions=(homes[record.key], partition))
    return None


@invariant(sources=("S11",))
def named_partition_is_kept(state: State) -> Witness | None:
    """A record that names a partition is in that partition or nowhere."""
    for partition, record in everywhere(state):
        if record.named not in (NO_PARTITION, partition):
            return witness(producer=record.producer, record=record.number, named=record.named, partition=partition)
    return None


@invariant(sources=("S1-topics",), producer=producers, partition=partitions)
def connection_has_room(state: State, config: Config, *, producer: ProducerId, partition: PartitionId) -> Witness | None:
    """No connection carries more requests than it may, and none of their answers is out of turn."""
    requests = state.channels[producer][partition].in_flight
    outcomes = [request.outcome is Outcome.UNDER_WAY for request in requests]
    return None if len(requests) <= config.max_in_flight and outcomes == sorted(outcomes) else witness(requests=requests)


# -- what depends on what is set, and is asked by name --


@invariant(sources=("S1-topics",), observers=(APPENDED,), producer=producers)
def stored_once(_state: State, appended: Appended, *, producer: ProducerId) -> Witness | None:
    """No record is stored twice, in whichever partition."""
    numbers = [number for known in appended for one, number in known if one == producer]
    again = [number for number in numbers if numbers.count(number) > 1]
    return (
        witness(record=again[0], stored=tuple(tuple(number for one, number in known if one == producer) for known in appended))
        if again
        else None
    )


@invariant(sources=("S2-topics",), observers=(APPENDED,), producer=producers, partition=partitions)
def first_copies_are_in_order(_state: State, appended: Appended, *, producer: ProducerId, partition: PartitionId) -> Witness | None:
    """In each partition the first copies of a producer's records are in the order in which it sent them."""
    numbers = tuple(dict.fromkeys(number for one, number in appended[partition] if one == producer))
    return None if list(numbers) == sorted(numbers) else witness(first_copies=numbers)


@invariant(sources=("S11", "S2-topics"), observers=(HOMES,))
def key_keeps_partition(state: State, homes: Homes) -> Witness | None:
    """All records of a key are in the partition of the first one."""
    known = dict(homes)
    for partition, record in everywhere(state):
        if record.key != NO_KEY and known[record.key] != partition:
            return witness(key=record.key, producer=record.producer, record=record.number, partitions=(known[record.key], partition))
    return None


@step_property(sources=("S11", "S2-topics"), observers=(SEEN,), partition=partitions)
def key_is_read_in_order(before: State, step: Step, _after: State, seen: tuple[Seen, Seen], *, partition: PartitionId) -> Witness | None:
    """Whoever reads all partitions sees the records that a producer sent with one key in the order in which it sent them."""
    if step.action != "poll" or step.choices["partition"] != partition:
        return None
    record = before.logs[partition][before.positions[partition]].record
    latest = dict(seen[0][record.producer]).get(record.key, record.number)
    if record.key == NO_KEY or latest <= record.number:
        return None
    return witness(producer=record.producer, key=record.key, read=record.number, after=latest)


@step_property(sources=("S2-topics",), observers=(SEEN,), partition=partitions)
def topic_is_read_in_order(before: State, step: Step, _after: State, seen: tuple[Seen, Seen], *, partition: PartitionId) -> Witness | None:
    """Whoever reads all partitions sees all records of a producer in the order in which it sent them: true of one partition only."""
    if step.action != "poll" or step.choices["partition"] != partition:
        return None
    record = before.logs[partition][before.positions[partition]].record
    latest = max((number for _, number in seen[0][record.producer]), default=record.number)
    return witness(producer=record.producer, read=record.number, after=latest) if latest > record.number else None


# -- goals --


def small(**scope: int) -> dict[str, int]:
    """Return a minimal scope: one producer with one record and one partition, but for these."""
    return {"producers": 1, "partitions": 1, "records": 1, **scope}


@reachable(sources=("S1-topics",), scope=small())
def everything_is_stored(state: State, bounds: Bounds) -> bool:
    """Every record that a producer has is stored, and the producer knows."""
    return bounds.records > 0 and is_settled(state, bounds)


@reachable(sources=("S2-topics",), scope=small(partitions=2, records=2, consumers=1), partition=partitions)
def later_record_is_read_first(before: State, step: Step, after: State, *, partition: PartitionId) -> bool:
    """There is no order across partitions: the consumer reads a record while an earlier one of its producer is unread in another."""
    if step.action != "poll" or step.choices["partition"] != partition:
        return False
    read = before.logs[partition][before.positions[partition]].record
    unread = (one.record for place, log in enumerate(after.logs) if place != partition for one in log[after.positions[place] :])
    return any(one.producer == read.producer and one.number < read.number for one in unread)


@reachable(sources=("S11",), scope=small(records=2, keys=1, added=1))
def key_is_in_two_partitions(state: State) -> bool:
    """Once a partition is added, a key's new records go elsewhere than its old ones."""
    homes = [(record.key, partition) for partition, record in everywhere(state) if record.key != NO_KEY]
    return any(key == other and one != another for key, one in homes for other, another in homes)


@reachable(sources=("S11",), scope=small(added=1), producer=producers)
def metadata_is_late(before: State, step: Step, _after: State, *, producer: ProducerId) -> bool:
    """A producer chooses among the partitions that it knows, while the topic has more."""
    is_sent = step.action == "send" and step.choices["producer"] == producer
    return is_sent and before.producers[producer].partitions < before.partitions


@reachable(sources=("T09",), scope=small(disconnects=1), producer=producers)
def retry_is_recognised(before: State, step: Step, after: State, *, producer: ProducerId) -> bool:
    """A leader is sent a batch that it has, and says that it is stored."""
    is_handled = step.action == "handle_produce" and step.choices["producer"] == producer
    return is_handled and after.logs == before.logs and has_outcome(step, after, Outcome.DONE)


@reachable(sources=("S2-topics",), scope=small(records=2, refusals=1), producer=producers)
def later_batch_is_refused(before: State, step: Step, after: State, *, producer: ProducerId) -> bool:
    """A leader misses the batch before one that it is sent."""
    is_handled = step.action == "handle_produce" and step.choices["producer"] == producer
    return is_handled and after.logs == before.logs and has_outcome(step, after, Outcome.REFUSED)


def has_outcome(step: Step, after: State, outcome: Outcome) -> bool:
    """Whether the request that a step handled, the last one that was, has an outcome."""
    requests = after.channels[step.choices["producer"]][step.choices["partition"]].in_flight
    return [one.outcome for one in requests if one.outcome is not Outcome.UNDER_WAY][-1] is outcome


@reachable(sources=("S1-topics",), scope=small(disconnects=1), producer=producers)
def request_is_handled_late(before: State, step: Step, after: State, *, producer: ProducerId) -> bool:
    """What was sent on a connection that the producer has given up is appended."""
    return step.action == "handle_late" and step.choices["producer"] == producer and after.logs != before.logs


@converges(sources=("S1-topics", "T09"))
def everything_can_be_stored(state: State, bounds: Bounds) -> bool:
    """Whatever happened, every record can still be sent, stored, and known to be, but for those that name no partition of the topic."""
    return is_settled(state, bounds)


def is_settled(state: State, bounds: Bounds) -> bool:
    """Whether nothing waits or is under way, and all is stored that was not refused."""
    for producer, ours in enumerate(state.producers):
        numbers = {number for partition in range(state.partitions) for number in stored(state, producer, partition)}
        is_idle = all(not channel.waiting and not channel.in_flight for channel in state.channels[producer])
        if not is_idle or ours.sent != bounds.records or len(numbers) + ours.refused != ours.sent:
            return False
    return True


# -- goals of what is set --


@reachable(sources=("S11",), scope=small(), producer=producers)
def record_is_refused(before: State, _step: Step, after: State, *, producer: ProducerId) -> bool:
    """Where records name partitions: the application hears that there is none of that number."""
    return after.producers[producer].refused > before.producers[producer].refused


@reachable(sources=("S1-topics",), scope=small(disconnects=1), producer=producers, partition=partitions)
def record_is_stored_twice(state: State, *, producer: ProducerId, partition: PartitionId) -> bool:
    """Without idempotence: a record that was sent again is stored twice."""
    numbers = stored(state, producer, partition)
    return len(set(numbers)) < len(numbers)


PROPERTIES = (
    logs_are_appended_to,
    offsets_increase,
    records_are_in_the_topic,
    one_partition_for_each_record,
    idempotent_records_are_stored_once,
    idempotent_records_are_in_order,
    same_key_same_partition,
    named_partition_is_kept,
    connection_has_room,
    stored_once,
    first_copies_are_in_order,
    key_keeps_partition,
    key_is_read_in_order,
    topic_is_read_in_order,
    everything_is_stored,
    later_record_is_read_first,
    key_is_in_two_partitions,
    metadata_is_late,
    retry_is_recognised,
    later_batch_is_refused,
    request_is_handled_late,
    everything_can_be_stored,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
