# SPDX-License-Identifier: Apache-2.0
"""How a topic is drawn: each producer with what waits and what is under way, the partitions, and how far the consumer has read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hwmark.model.machine import Step
from hwmark.model.topic.producer import key_bytes
from hwmark.model.topic.state import (
    NO_KEY,
    NO_PARTITION,
    NO_SEQUENCE,
    Batch,
    Bounds,
    Channel,
    Outcome,
    Producer,
    Record,
    Request,
    State,
    Stored,
)
from hwmark.spec.naming import letter
from hwmark.spec.view import Cell, Event, Lane, Mark, Message, Place, Tone, View, by_action

CONSUMER = "consumer"
READ_TO, NOT_YET = "read to", "does not exist yet"
OUTCOMES = {Outcome.UNDER_WAY: "under way", Outcome.DONE: "stored", Outcome.REFUSED: "refused"}


def partition_name(partition: int) -> str:
    """Return how a partition is called, which is also the name of its lane."""
    return "no partition" if partition < 0 else f"partition {partition}"


def producer_name(producer: int) -> str:
    """Return how a producer is called, which is also the name of its lane."""
    return f"producer {producer}"


def record_letter(record: Record) -> str:
    """Return a letter for a record, with the number of its producer unless that is the first."""
    return letter(record.number) if record.producer == 0 else f"{letter(record.number)}{record.producer}"


def record_name(record: Record) -> str:
    """Return how a record is called: by its letter, and its key."""
    name = record_letter(record)
    return name if record.key == NO_KEY else f"{name} (key {key_bytes(record.key).decode()})"


def batch_name(batch: Batch) -> str:
    """Return how a batch is called: by its records, and its sequence number if it has one."""
    records = " ".join(map(record_name, batch.records))
    return records if batch.sequence == NO_SEQUENCE else f"{records}, sequence {batch.sequence}"


# -- lanes --


def lanes(state: State, bounds: Bounds) -> tuple[Lane, ...]:
    """Return the producers, the partitions, also those that are to come, and the consumer if there is one."""
    consumer = (Lane(CONSUMER, facts={"read": str(sum(state.positions))}),) if bounds.consumers else ()
    return (
        *(producer_lane(state, producer) for producer in range(len(state.producers))),
        *(partition_lane(state, partition, bounds) for partition in range(len(state.logs))),
        *consumer,
    )


def producer_lane(state: State, producer: int) -> Lane:
    """Return what a producer knows, and what it has for each partition."""
    ours = state.producers[producer]
    is_late = ours.partitions < state.partitions
    facts = dict(fact for place, one in enumerate(state.channels[producer]) for fact in channel_facts(place, one))
    if ours.refused:
        facts["refused"] = str(ours.refused)
    role = f"knows of {count_name(ours.partitions)}"
    return Lane(producer_name(producer), role, Tone.WRONG if is_late else Tone.PLAIN, facts)


def count_name(count: int) -> str:
    """Return so many partitions in words."""
    return "1 partition" if count == 1 else f"{count} partitions"


def channel_facts(partition: int, channel: Channel) -> Iterator[tuple[str, str]]:
    """Yield what waits for a partition, what is under way to it, and what may still come there late."""
    if channel.waiting:
        yield f"waits for {partition}", ", ".join(f"{batch_letters(one)}{' again' if one.is_closed else ''}" for one in channel.waiting)
    if channel.in_flight:
        requests = ((batch_letters(one.batch), one.outcome) for one in channel.in_flight)
        told = (name if outcome is Outcome.UNDER_WAY else f"{name} {OUTCOMES[outcome]}" for name, outcome in requests)
        yield f"in flight to {partition}", ", ".join(told)
    if channel.late:
        yield f"late for {partition}", ", ".join(map(batch_letters, channel.late))


def batch_letters(batch: Batch) -> str:
    """Return the records of a batch, without keys."""
    return " ".join(map(record_letter, batch.records))


def channel_text(channel: Channel) -> str:
    """Return what a producer has for a partition, in words."""
    waiting = [f"{batch_name(batch)} waits{' again' if batch.is_closed else ''}" for batch in channel.waiting]
    in_flight = [f"{batch_name(request.batch)} {OUTCOMES[request.outcome]}" for request in channel.in_flight]
    late = [f"{batch_name(batch)} late" for batch in channel.late]
    return "; ".join((*waiting, *in_flight, *late))


def partition_lane(state: State, partition: int, bounds: Bounds) -> Lane:
    """Return a partition with its records, and how far the consumer has read."""
    log = state.logs[partition]
    cells = tuple(Cell(place, record_letter(one.record), None, committed=True) for place, one in enumerate(log))
    marks = (Mark(READ_TO, state.positions[partition], strong=True),) if bounds.consumers else ()
    facts = {"offsets": f"{log[0].offset} to {log[-1].offset}"} if log and log[0].offset != 0 else {}
    role = "" if partition < state.partitions else NOT_YET
    return Lane(partition_name(partition), role, facts=facts, cells=cells, marks=marks)


# -- events --


def of(step: Step) -> tuple[str, str]:
    """Return the lanes of the producer and the partition of a step."""
    return producer_name(step.choices["producer"]), partition_name(step.choices["partition"])


def channels(before: State, step: Step, after: State) -> tuple[Channel, Channel]:
    """Return what a producer had for a partition before and after a step."""
    producer, partition = step.choices["producer"], step.choices["partition"]
    return before.channels[producer][partition], after.channels[producer][partition]


def message(step: Step, batch: Batch) -> Message:
    """Return a batch as what is under way."""
    return Message(f"Produce {batch_name(batch)} to {partition_name(step.choices['partition'])}")


def sends(before: State, step: Step, after: State) -> Event:
    """A record is put into a batch, or refused."""
    producer = step.choices["producer"]
    ours, theirs = before.producers[producer], after.producers[producer]
    record = record_name(Record(producer, ours.sent, step.choices["key"]))
    if theirs.refused > ours.refused:
        return Event(f"Record {record} is refused: there is no partition {step.choices['draw']}", producer_name(producer))
    place = next(
        place
        for place, (old, new) in enumerate(zip(before.channels[producer], after.channels[producer], strict=True))
        if old.waiting != new.waiting
    )
    return Event(f"Record {record} is put into a batch for partition {place}", producer_name(producer))


def sends_batch(before: State, step: Step, after: State) -> Event:
    """A batch goes out."""
    producer, _ = of(step)
    old, new = channels(before, step, after)
    batch = new.in_flight[-1].batch
    again = " again" if old.waiting[0].is_closed else ""
    return Event(f"Producer {step.choices['producer']} sends {batch_name(batch)}{again}", producer, sends=message(step, batch))


def handled_by(before: State, step: Step, after: State) -> tuple[Batch, Outcome]:
    """Return the batch of the request that a step handled, and the outcome."""
    old, new = channels(before, step, after)
    return next((now.batch, now.outcome) for then, now in zip(old.in_flight, new.in_flight, strict=True) if then.outcome is not now.outcome)


def handles(before: State, step: Step, after: State) -> Event:
    """A leader appends, recognises, or misses something."""
    producer, partition = of(step)
    batch, outcome = handled_by(before, step, after)
    if after.logs != before.logs:
        says = "is appended"
    else:
        says = "is there already" if outcome is Outcome.DONE else "is out of order: one before it is missing"
    return Event(f"Batch {batch_name(batch)} {says}", partition, producer, receives=message(step, batch))


def refuses(before: State, step: Step, after: State) -> Event:
    """A leader cannot append for the moment."""
    producer, partition = of(step)
    batch, _ = handled_by(before, step, after)
    return Event(f"Batch {batch_name(batch)} is refused for the moment", partition, producer, receives=message(step, batch))


def hears(before: State, step: Step, after: State) -> Event:
    """A producer hears an answer."""
    producer, partition = of(step)
    answered = channels(before, step, after)[0].in_flight[0]
    says = "is stored" if answered.outcome is Outcome.DONE else "was refused, and puts it back"
    return Event(f"Producer {step.choices['producer']} hears that {batch_name(answered.batch)} {says}", producer, partition)


def loses(before: State, step: Step, after: State) -> Event:
    """A connection is lost."""
    producer, _ = of(step)
    batches = " and ".join(batch_name(request.batch) for request in channels(before, step, after)[0].in_flight)
    return Event(f"The connection to partition {step.choices['partition']} is lost, and {batches} put back", producer)


def handles_late(before: State, step: Step, after: State) -> Event:
    """A leader handles what nobody waits for."""
    _, partition = of(step)
    batch = channels(before, step, after)[0].late[0]
    says = "is appended" if after.logs != before.logs else "changes nothing"
    return Event(f"Batch {batch_name(batch)}, which comes late, {says}", partition)


def grows(_before: State, _step: Step, after: State) -> Event:
    """The topic grows."""
    return Event(f"Partition {after.partitions - 1} is added", partition_name(after.partitions - 1))


def learns(_before: State, step: Step, after: State) -> Event:
    """A producer learns of it."""
    producer = step.choices["producer"]
    return Event(f"Producer {producer} learns of {count_name(after.producers[producer].partitions)}", producer_name(producer))


def reads(before: State, step: Step, _after: State) -> Event:
    """The consumer reads."""
    partition = step.choices["partition"]
    record = before.logs[partition][before.positions[partition]].record
    return Event(f"The consumer reads {record_name(record)} of partition {partition}", CONSUMER, partition_name(partition))


EVENTS = {
    "send": sends,
    "send_batch": sends_batch,
    "handle_produce": handles,
    "refuse_produce": refuses,
    "receive_answer": hears,
    "lose_connection": loses,
    "handle_late": handles_late,
    "create_partition": grows,
    "refresh_metadata": learns,
    "poll": reads,
}
"""How each action of the machine is told."""


def blame(_state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the partitions and the producer that a witness names."""
    named = facts.get("partitions", facts.get("partition"))
    places = named if isinstance(named, tuple) else (named,)
    producer = facts.get("producer")
    return (
        *(Place(partition_name(one)) for one in places if isinstance(one, int)),
        *((Place(producer_name(producer)),) if isinstance(producer, int) else ()),
    )


def producer_text(producer: Producer) -> str:
    """Return what a producer has done and knows, in words."""
    sticky = "" if producer.sticky == NO_PARTITION else f", sticky {partition_name(producer.sticky)}"
    return f"{producer.sent} sent, {producer.refused} refused, knows of {count_name(producer.partitions)}{sticky}"


SAID: dict[type, Callable[[Any], str]] = {
    Record: record_name,
    Stored: lambda one: f"{record_name(one.record)} at {one.offset}",
    Batch: batch_name,
    Request: lambda one: f"{batch_name(one.batch)} {OUTCOMES[one.outcome]}",
    Channel: lambda one: channel_text(one) or "nothing",
    Producer: producer_text,
}
"""How each value of the domain is written in its words."""


def say(_path: str, value: Any) -> str | None:
    """Write records, batches and requests in the words of the domain."""
    written = SAID.get(type(value))
    return None if written is None else written(value)


VIEW = View(
    lanes=lanes,
    event=by_action(EVENTS),
    blame=blame,
    say=say,
    words={
        "committed": "stored",
        READ_TO: "where the consumer reads next",
        NOT_YET: "it is added to the topic later",
        **{f"knows of {count_name(count)}": "as far as its metadata tells" for count in range(1, 10)},
    },
)
"""The view of the ``topic`` machine."""
