# SPDX-License-Identifier: Apache-2.0
"""How producers that write exactly once are drawn: the instances, the coordinator, and the partition's log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.broker_api.clients import NOBODY, Arrival, Batch, Client, Config, End, InstanceId, State, Transaction, count
from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.machine import ended, name_of, written
from hwmark.model.broker_api.partition.state import Marker
from hwmark.model.broker_api.partition.transactional import last_stable_offset
from hwmark.model.broker_api.rules import Rules
from hwmark.model.broker_api.transactions.state import Status
from hwmark.model.machine import Step
from hwmark.spec.naming import letter
from hwmark.spec.view import Cell, Event, Lane, Mark, Message, Place, Tone, View

from .properties import read

COORDINATOR, PARTITION = "coordinator", "partition"
STATUSES = {
    Status.EMPTY: "no transaction",
    Status.ONGOING: "a transaction is under way",
    Status.COMMITTED: "the last transaction is committed",
    Status.ABORTED: "the last transaction is aborted",
}
"""What the coordinator's lane calls the states of a transaction."""


def instance_name(instance: InstanceId) -> str:
    """Return how an instance is called, which is also the name of its lane."""
    return "nobody" if instance < 0 else f"producer {instance}"


def called(instance: InstanceId) -> str:
    """Return how an instance is called at the beginning of a sentence."""
    return instance_name(instance).capitalize()


# -- lanes --


def lanes(state: State, config: Config) -> tuple[Lane, ...]:
    """Return the producers, the coordinator where there is one, and the log."""
    clients = tuple(client_lane(state, instance, config) for instance in range(len(state.clients)))
    coordinator = (coordinator_lane(state, config),) if config.transactional else ()
    return (*clients, *coordinator, log_lane(state, config))


def client_lane(state: State, instance: InstanceId, config: Config) -> Lane:
    """Return what a producer goes by."""
    client = state.clients[instance]
    if client.epoch == NOTHING:
        return Lane(instance_name(instance), "has no epoch")
    facts = {"epoch": str(client.epoch), "next sequence": str(client.sequence)}
    if client.transaction != NOTHING:
        facts["transaction"] = str(client.transaction)
    is_replaced = config.transactional and state.latest not in {instance, NOBODY}
    role = "was refused" if client.failed else "was replaced" if is_replaced else "writes"
    return Lane(instance_name(instance), role, Tone.WRONG if client.failed or is_replaced else Tone.LEADING, facts)


def coordinator_lane(state: State, config: Config) -> Lane:
    """Return what the coordinator knows of the transactional id."""
    known = state.broker.transaction(name_of(config, 0))
    if known is None:
        return Lane(COORDINATOR, "knows nothing")
    facts = {"epoch": str(known.epoch)}
    if known.status is Status.ONGOING:
        facts["partition"] = "is part of it" if known.has_partition else "is no part of it"
    return Lane(COORDINATOR, STATUSES[known.status], facts=facts)


def log_lane(state: State, config: Config) -> Lane:
    """Return the log, with what of it is read by who reads what is committed."""
    values = read(state.broker)
    cells = tuple(cell(offset, entry, values) for offset, entry in enumerate(state.broker.log))
    stable = (Mark("LSO", last_stable_offset(state.broker), strong=True),) if config.transactional else ()
    return Lane(PARTITION, cells=cells, marks=(*stable, Mark("LEO", len(state.broker.log))))


def cell(offset: int, entry: Any, values: tuple[int, ...]) -> Cell:
    """Return the cell of a record, or of the end of a transaction."""
    if isinstance(entry, Marker):
        return Cell(offset, "C" if entry.commit else "A", None, committed=True)
    return Cell(offset, letter(entry.value), None, committed=entry.value in values)


# -- events --


def batch_message(number: int, batch: Batch) -> Message:
    """Return the message that carries a batch."""
    return Message(f"batch {letter(number)}", (f"epoch {batch.epoch}, sequence {batch.sequence}",))


def end_message(number: int, one: Transaction) -> Message:
    """Return the message that carries the end of a transaction."""
    return Message(f"end of transaction {number}", (word_of(one), f"epoch {one.epoch}"))


def word_of(one: Transaction) -> str:
    """Return how a transaction is to end."""
    return "open" if one.end is None else one.end.value


def starts(before: State, step: Step, after: State, _rules: Rules, _config: Config) -> Event:
    """A producer asks for its id."""
    instance = step.choices["instance"]
    epoch = after.clients[instance].epoch
    if epoch == NOTHING:
        caption = f"{called(instance)} wants the transactional id: what is under way is aborted, and it is to ask again"
        return Event(caption, COORDINATOR, instance_name(instance))
    again = " again" if before.clients[instance].epoch != NOTHING else ""
    return Event(f"{called(instance)} begins{again}, with epoch {epoch}", instance_name(instance))


def sends(before: State, step: Step, after: State, _rules: Rules, _config: Config) -> Event:
    """A producer sends a batch."""
    instance, number = step.choices["instance"], count(before.batches)
    if count(after.batches) == number:
        return Event(f"{called(instance)} may not add the partition", COORDINATOR, instance_name(instance))
    batch = after.batches[number]
    where = "" if batch.transaction == NOTHING else f" in transaction {batch.transaction}"
    return Event(f"{called(instance)} sends {letter(number)}{where}", instance_name(instance), sends=batch_message(number, batch))


def wants_end(before: State, step: Step, after: State, _rules: Rules, _config: Config) -> Event:
    """A producer wants its transaction to end."""
    instance = step.choices["instance"]
    number = before.clients[instance].transaction
    word = "commits" if step.choices["end"] is End.COMMIT else "aborts"
    caption = f"{called(instance)} {word} transaction {number}"
    return Event(caption, instance_name(instance), sends=end_message(number, after.transactions[number]))


def batch_arrives(before: State, step: Step, _after: State, rules: Rules, config: Config) -> Event:
    """A batch arrives."""
    number = step.choices["number"]
    batch, outcome = before.batches[number], written(before, rules, config, number)
    what = outcome_of(outcome.answer.error, "is known again" if outcome.rule == "duplicate" else "is appended")
    caption = f"{letter(number)} arrives and {what}{left(step)}"
    return Event(caption, PARTITION, instance_name(batch.instance), receives=batch_message(number, batch))


def end_arrives(before: State, step: Step, _after: State, rules: Rules, config: Config) -> Event:
    """The end of a transaction arrives."""
    number = step.choices["number"]
    one, outcome = before.transactions[number], ended(before, rules, config, number)
    what = outcome_of(outcome.answer.error, "is confirmed again" if outcome.rule == "end_can_be_repeated" else "is done")
    caption = f"The {word_of(one)} of transaction {number} arrives and {what}{left(step)}"
    return Event(caption, COORDINATOR, instance_name(one.instance), receives=end_message(number, one))


def outcome_of(error: Any, done: str) -> str:
    """Return what becomes of something that arrives."""
    return done if error is Errors.NONE else f"is refused: {error.value}"


def left(step: Step) -> str:
    """Return what an arrival leaves under way."""
    said = {Arrival.ANSWERED: "", Arrival.ANSWER_LOST: "; the answer is lost", Arrival.COPY_STAYS: "; a copy of it is still under way"}
    return said[step.choices["arrival"]]


EVENTS: dict[str, Callable[[State, Step, State, Rules, Config], Event]] = {
    "start": starts,
    "send_batch": sends,
    "send_end": wants_end,
    "handle_batch": batch_arrives,
    "handle_end": end_arrives,
}
"""How each action of the machine is told."""


def event(before: State, step: Step, after: State, rules: Rules, config: Config) -> Event:
    """Return how a step is told."""
    return EVENTS[step.action](before, step, after, rules, config)


def blame(state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the partition, and the instance of which a witness speaks."""
    instance, offset = facts.get("instance"), facts.get("first_offset")
    lane = (Place(instance_name(instance)),) if isinstance(instance, int) else ()
    return (Place(PARTITION, offset if isinstance(offset, int) else None), *lane) if state.broker.log else lane


def say(_path: str, value: Any) -> str | None:
    """Write producers, batches and transactions in the words of the domain."""
    match value:
        case Batch(instance=-1):
            return "not sent"
        case Transaction(instance=-1):
            return "not begun"
        case Client(epoch=-1):
            return "has no epoch"
    return said(value)


def said(value: Any) -> str | None:
    """Write what there is of them."""
    match value:
        case Client():
            return f"epoch {value.epoch}, next sequence {value.sequence}"
        case Batch():
            return f"epoch {value.epoch}, sequence {value.sequence}, {'under way' if value.under_way else 'arrived'}"
        case Transaction():
            return f"{word_of(value)}, {'confirmed' if value.confirmed else 'not confirmed'}"
        case Marker():
            return "commit marker" if value.commit else "abort marker"
    return None


VIEW = View(
    lanes=lanes,
    event=event,
    blame=blame,
    say=say,
    words={
        "committed": "read by who reads what is committed; C and A are ends of transactions, committed and aborted",
        "uncommitted": "not read: aborted, or not decided yet",
        "LSO": "last stable offset: the first record of an open transaction, or the log's end",
        "LEO": "log end offset: where the next record will go",
        "was replaced": "another instance has the transactional id now",
        "was refused": "it may only end its transaction, or is fenced",
    },
)
"""The view of the ``broker_api`` machine."""
