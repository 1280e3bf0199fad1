# SPDX-License-Identifier: Apache-2.0
"""What the clients in a run of the model would have recorded: the history of the run, as ``hwmark judge`` reads it.

The machines ``partition`` and ``pipeline`` have clients whose calls can be told. What the model does in one step is a call and
its end, in two lines that follow each other; produce requests last from their sending to their acknowledgement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import define, field

from hwmark.checker.errors import unknown
from hwmark.checker.history import form
from hwmark.checker.history.writing import Writer
from hwmark.model.machine import Machine, Step
from hwmark.model.partition.state import Acks
from hwmark.model.pipeline.state import group_of

TOPIC = "topic"
Taken = Iterable[tuple[Any, Step, Any]]
"""The steps of a run, each with the states before and after it."""


def tell(machine: Machine[Any], taken: Taken, writer: Writer) -> None:
    """Write what the clients in a run asked and were told; raises ``InputError`` for a machine whose clients are not known."""
    teller = TELLERS.get(machine.name)
    if teller is None:
        raise unknown("machine with clients", machine.name, TELLERS)
    telling = teller(machine, writer)
    for before, step, after in taken:
        telling.step(before, step, after)


@define
class _Telling:
    """Writes calls of processes."""

    machine: Machine[Any]
    writer: Writer
    produced: dict[int, int] = field(factory=dict)
    """The latest produce request of each record that has not ended."""

    def both(self, process: str, call: form.Calls, answer: form.Answers | None = None) -> None:
        self.writer.ok(self.writer.invoke(process, call), process, answer)

    def refused(self, process: str, call: form.Calls, error: str) -> None:
        self.writer.fail(self.writer.invoke(process, call), process, error)


@define
class _Partition(_Telling):
    """One partition: a producer whose requests last, and consumers that are assigned it by hand."""

    def step(self, before: Any, step: Step, after: Any) -> None:
        match step.action:
            case "append_record":
                self._append(before.next_record_id)
            case "acknowledge_produce":
                record = step.choices["record"]
                self._end(record, form.Produced(0, before.produced[record].offset))
            case "consume" | "validate_position" | "reset_position":
                self._consumer(step.choices["consumer"], before, step, after)
            case "delete_records" | "delete_old_segment":
                self.both("operator", form.DeleteRecords([form.Position(TOPIC, 0, None)]), form.DeletedRecords([]))

    def _append(self, record: int) -> None:
        acks = {Acks.NONE: 0, Acks.LEADER: 1, Acks.ALL: -1}[self.machine.config.acks]
        call = form.Produce(TOPIC, record, 0, acks=acks, idempotent=acks == -1)  # type: ignore[arg-type]
        self.produced[record] = self.writer.invoke("producer", call)
        if not acks:
            self._end(record, form.Produced(0, None))

    def _end(self, record: int, answer: form.Produced) -> None:
        op = self.produced.pop(record, None)
        if op is not None:
            self.writer.ok(op, "producer", answer)

    def _consumer(self, number: int, before: Any, step: Step, after: Any) -> None:
        process, was, now = f"consumer {number}", before.consumers[number], after.consumers[number]
        if step.action == "consume":
            record = before.logs[step.choices["broker"]].at(was.position)
            read = form.Record(TOPIC, 0, was.position, record.id, leader_epoch=record.leader_epoch)
            self.both(process, form.Poll(), form.Polled([read]))
        elif was.position != now.position:
            self.both(process, form.Seek(TOPIC, 0, now.position))


@define
class _Pipeline(_Telling):
    """A topic and its groups: consumers are processes, which begin anew under another name once they have crashed."""

    lives: dict[int, int] = field(factory=dict)

    def step(self, before: Any, step: Step, after: Any) -> None:
        match step.action:
            case "send" | "acknowledge":
                self._producer(step, before)
            case "crash":
                consumer = step.choices["consumer"]
                self.both(self._process(consumer), form.Crash())
                self.lives[consumer] = self.lives.get(consumer, 0) + 1
            case "assign_partition":
                self._assigned(step.choices["consumer"], step.choices["partition"], after)
            case "process_and_commit":
                consumer = step.choices["consumer"]
                self._committed(consumer, before.consumers[consumer].in_hand, before, after, in_transaction=True)
            case "commit":
                self._committed(step.choices["consumer"], step.choices["partition"], before, after, in_transaction=False)
            case "give_up":
                self._lost(step.choices["consumer"], step.choices["partition"], before)
            case "take":
                self._take(step.choices["consumer"], step.choices["partition"], before)

    def _process(self, consumer: int) -> str:
        return f"consumer {consumer}.{self.lives.get(consumer, 0)}"

    def _producer(self, step: Step, state: Any) -> None:
        message = step.choices["message"]
        op = self.produced.pop(message, None)
        if step.action == "send":
            if op is not None:
                self.writer.info(op, "producer", "REQUEST_TIMED_OUT")
            self.produced[message] = self.writer.invoke(
                "producer", form.Produce(TOPIC, message, step.choices["partition"], idempotent=True)
            )
            return
        places = [(partition, offset) for partition, log in enumerate(state.logs) for offset, one in enumerate(log) if one == message]
        if op is not None and len(places) == 1:
            self.writer.ok(op, "producer", form.Produced(*places[0]))
        elif op is not None:  # which of its copies was acknowledged is not told
            self.writer.info(op, "producer", "REQUEST_TIMED_OUT")

    def _assigned(self, consumer: int, partition: int, after: Any) -> None:
        process, group = self._process(consumer), group_of(self.machine.config, consumer)
        place, generation = form.TopicPartition(TOPIC, partition), after.consumers[consumer].held[partition]
        self.both(process, form.Assigned(f"group {group}", [place], process, generation))
        offset = after.committed[group][partition]
        found = form.Position(TOPIC, partition, offset or None)  # nothing was ever committed: it begins at the start
        self.both(process, form.Committed(f"group {group}", [place]), form.CommittedOffsets([found]))

    def _take(self, consumer: int, partition: int, before: Any) -> None:
        offset = before.consumers[consumer].positions[partition]
        read = form.Record(TOPIC, partition, offset, before.logs[partition][offset])
        self.both(self._process(consumer), form.Poll(), form.Polled([read]))

    def _committed(self, consumer: int, partition: int, before: Any, after: Any, *, in_transaction: bool) -> None:
        process, group = self._process(consumer), group_of(self.machine.config, consumer)
        generation = before.consumers[consumer].held[partition]
        is_refused = after.committed == before.committed
        to_commit = before.consumers[consumer].positions[partition] + 1 if is_refused else after.committed[group][partition]
        call = form.SendOffsets if in_transaction else form.Commit
        asked = call(f"group {group}", [form.Position(TOPIC, partition, to_commit)], process, generation)
        if in_transaction:
            self.both(process, form.Begin(process))
        if is_refused:
            self.refused(process, asked, "ILLEGAL_GENERATION")
        else:
            self.both(process, asked)
        if in_transaction:
            self.both(process, form.End("abort" if is_refused else "commit"))
        if is_refused:
            self._lost(consumer, partition, before)

    def _lost(self, consumer: int, partition: int, before: Any) -> None:
        group, process = f"group {group_of(self.machine.config, consumer)}", self._process(consumer)
        generation = before.consumers[consumer].held[partition]
        self.both(process, form.Lost(group, [form.TopicPartition(TOPIC, partition)], process, generation))


TELLERS: dict[str, Callable[[Machine[Any], Writer], Any]] = {"partition": _Partition, "pipeline": _Pipeline}
"""The machines whose clients can be told, by name."""
