# SPDX-License-Identifier: Apache-2.0
"""How a pipeline is drawn: the partitions with how far each group has committed, and the consumers with what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.machine import Step
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION
from hwmark.model.pipeline.state import NOTHING, Config, Consumer, ConsumerId, Grant, State, group_of
from hwmark.spec.naming import letter
from hwmark.spec.view import Cell, Event, Lane, Mark, Place, Tone, View

PRODUCER = "producer"


def partition_name(partition: int) -> str:
    """Return how a partition is called, which is also the name of its lane."""
    return f"partition {partition}"


def consumer_name(consumer: ConsumerId) -> str:
    """Return how a consumer is called, which is also the name of its lane."""
    return "nobody" if consumer < 0 else f"consumer {consumer}"


def group_name(group: int) -> str:
    """Return how a group is called."""
    return f"group {group}"


def mark_name(group: int) -> str:
    """Return how the mark of what a group has committed is called."""
    return f"{group_name(group)} at"


# -- lanes --


def lanes(state: State, config: Config) -> tuple[Lane, ...]:
    """Return the producer, the partitions, and the consumers."""
    known = [letter(message) for message, is_known in enumerate(state.acknowledged) if is_known]
    return (
        Lane(PRODUCER, f"knows that {', '.join(known)} is stored" if known else "knows of nothing stored"),
        *(partition_lane(state, partition) for partition in range(len(state.logs))),
        *(consumer_lane(state, config, consumer) for consumer in range(len(state.consumers))),
    )


def partition_lane(state: State, partition: int) -> Lane:
    """Return a partition with its records, and for each group its owner and what it has committed."""
    cells = tuple(Cell(offset, letter(message), None, committed=True) for offset, message in enumerate(state.logs[partition]))
    facts = {f"owner in {group_name(group)}": consumer_name(granted[partition].owner) for group, granted in enumerate(state.grants)}
    marks = tuple(Mark(mark_name(group), committed[partition], strong=True) for group, committed in enumerate(state.committed))
    return Lane(partition_name(partition), facts=facts, cells=cells, marks=marks)


def consumer_lane(state: State, config: Config, consumer: ConsumerId) -> Lane:
    """Return what a consumer believes to own, and the record that it has in hand."""
    ours, group = state.consumers[consumer], group_of(config, consumer)
    held = [partition for partition, generation in enumerate(ours.held) if generation != UNKNOWN_GENERATION]
    facts = {"group": str(group)} | {partition_name(partition): f"next is offset {ours.positions[partition]}" for partition in held}
    if ours.in_hand != NOTHING:
        how = ", committed" if ours.is_committed else ""
        facts["in hand"] = f"{record_name(state, ours)}{how}"
    if not held:
        return Lane(consumer_name(consumer), "has nothing", facts=facts)
    is_zombie = any(state.grants[group][partition].owner != consumer for partition in held)
    role, tone = ("believes to own what it does not", Tone.WRONG) if is_zombie else ("consumes", Tone.LEADING)
    return Lane(consumer_name(consumer), role, tone, facts)


def record_name(state: State, consumer: Consumer) -> str:
    """Return how the record in a consumer's hand is called."""
    offset = consumer.positions[consumer.in_hand]
    return f"{letter(state.logs[consumer.in_hand][offset])} (offset {offset} of partition {consumer.in_hand})"


# -- events --


def sends(before: State, step: Step, after: State) -> Event:
    """A message is appended."""
    message, partition = step.choices["message"], step.choices["partition"]
    again = " again" if after.resends > before.resends else ""
    offset = len(after.logs[partition]) - 1
    return Event(
        f"The producer sends {letter(message)}{again}: offset {offset} of partition {partition}", partition_name(partition), PRODUCER
    )


def acknowledges(_before: State, step: Step, _after: State) -> Event:
    """The producer hears."""
    return Event(f"The producer hears that {letter(step.choices['message'])} is stored", PRODUCER)


def assigns(_before: State, step: Step, after: State) -> Event:
    """A partition is given away."""
    consumer, partition = step.choices["consumer"], step.choices["partition"]
    offset = after.consumers[consumer].positions[partition]
    return Event(f"Consumer {consumer} gets partition {partition}, and begins at offset {offset}", consumer_name(consumer))


def gives_up(_before: State, step: Step, _after: State) -> Event:
    """A consumer stops."""
    caption = f"Consumer {step.choices['consumer']} hears that partition {step.choices['partition']} is no longer its own"
    return Event(caption, consumer_name(step.choices["consumer"]))


def takes(_before: State, step: Step, after: State) -> Event:
    """A record is taken."""
    consumer = step.choices["consumer"]
    caption = f"Consumer {consumer} takes {record_name(after, after.consumers[consumer])}"
    return Event(caption, consumer_name(consumer), partition_name(step.choices["partition"]))


def processes(before: State, step: Step, _after: State) -> Event:
    """A record is processed."""
    consumer = step.choices["consumer"]
    return Event(f"Consumer {consumer} processes {record_name(before, before.consumers[consumer])}", consumer_name(consumer))


def commits(before: State, step: Step, after: State) -> Event:
    """An offset is committed, or refused."""
    consumer, partition = step.choices["consumer"], step.choices["partition"]
    for old, new in zip(before.committed, after.committed, strict=True):
        if old[partition] != new[partition]:
            return Event(f"Consumer {consumer} commits offset {new[partition]} of partition {partition}", consumer_name(consumer))
    return Event(f"The commit of consumer {consumer} is refused, and it stops with partition {partition}", consumer_name(consumer))


def does_both(before: State, step: Step, after: State) -> Event:
    """A record is processed and committed at once, or neither."""
    consumer = step.choices["consumer"]
    record = record_name(before, before.consumers[consumer])
    if before.committed == after.committed:
        return Event(f"Consumer {consumer} may not commit {record}, and so does not process it", consumer_name(consumer))
    return Event(f"Consumer {consumer} processes {record}, and commits that in the same step", consumer_name(consumer))


def crashes(_before: State, step: Step, _after: State) -> Event:
    """A consumer crashes."""
    return Event(f"Consumer {step.choices['consumer']} crashes", consumer_name(step.choices["consumer"]))


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "send": sends,
    "acknowledge": acknowledges,
    "assign_partition": assigns,
    "give_up": gives_up,
    "take": takes,
    "process": processes,
    "commit": commits,
    "process_and_commit": does_both,
    "crash": crashes,
}
"""How each action of the machine is told."""


def event(before: State, step: Step, after: State) -> Event:
    """Return how a step is told."""
    return EVENTS[step.action](before, step, after)


def blame(_state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the record that a witness names, and the consumers that processed it."""
    partition, offset, by = facts.get("partition"), facts.get("offset"), facts.get("by")
    record = (Place(partition_name(partition), offset),) if isinstance(partition, int) and isinstance(offset, int) else ()
    processors = sorted(set(by)) if isinstance(by, tuple) else []
    return (*record, *(Place(consumer_name(one)) for one in processors))


def say(_path: str, value: Any) -> str | None:
    """Write grants in the words of the domain."""
    if isinstance(value, Grant):
        return "nobody" if value.owner == NOBODY else f"{consumer_name(value.owner)}, generation {value.generation}"
    return None


VIEW = View(
    lanes=lanes,
    event=event,
    blame=blame,
    say=say,
    words={
        "committed": "stored",
        **{mark_name(group): "what the group has committed: what is before it counts as dealt with" for group in range(9)},
        "believes to own what it does not": "its commits are refused",
    },
)
"""The view of the ``pipeline`` machine."""
