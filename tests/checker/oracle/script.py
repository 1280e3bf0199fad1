# SPDX-License-Identifier: Apache-2.0
"""Histories written by hand, a short line for each call: ``a.send("x", at=0)``, ``b.poll(x=0)``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from attrs import define, field

from hwmark.checker.history import form
from hwmark.checker.history.writing import Writer
from hwmark.checker.oracle.command import judge
from hwmark.checker.oracle.report import Judgement

TOPIC, GROUP = "t", "g"


@define
class Client:
    """One process of a script; each method makes a call and ends it, unless it says otherwise."""

    script: Script
    name: str
    read_committed: bool = False
    idempotent: bool = True
    acks: Any = -1

    def call(self, call: form.Calls) -> int:
        """Begin a call, and return its number."""
        return self.script.writer.invoke(self.name, call)

    def ok(self, op: int, answer: form.Answers | None = None) -> None:
        """End a call well."""
        self.script.writer.ok(op, self.name, answer)

    def fail(self, op: int, error: str = "NOT_ENOUGH_REPLICAS") -> None:
        """End a call that surely did nothing."""
        self.script.writer.fail(op, self.name, error)

    def info(self, op: int, error: str = "REQUEST_TIMED_OUT") -> None:
        """End a call of which nobody knows what it did."""
        self.script.writer.info(op, self.name, error)

    def begin_send(self, value: form.Value, partition: int | None = 0) -> int:
        """Begin to send a record."""
        return self.call(form.Produce(TOPIC, value, partition, acks=self.acks, idempotent=self.idempotent))

    def sent(self, op: int, at: int, partition: int = 0) -> None:
        """Be told where a record is."""
        self.ok(op, form.Produced(partition, at))

    def send(self, value: form.Value, at: int, partition: int = 0) -> int:
        """Send a record, and be told where it is."""
        op = self.begin_send(value, partition)
        self.sent(op, at, partition)
        return op

    def begin_poll(self) -> int:
        """Begin to poll."""
        return self.call(form.Poll("read_committed" if self.read_committed else "read_uncommitted"))

    def poll(self, *records: tuple[int, form.Value], partition: int = 0) -> int:
        """Poll, and get records as pairs of offset and value."""
        op = self.begin_poll()
        self.ok(op, form.Polled([form.Record(TOPIC, partition, offset, value) for offset, value in records]))
        return op

    def fetch(self, offset: int, *records: tuple[int, form.Value], **said: int) -> int:
        """Fetch from an offset on."""
        op = self.call(form.Fetch(TOPIC, 0, offset, "read_committed" if self.read_committed else "read_uncommitted"))
        self.ok(op, form.Fetched([form.Record(TOPIC, 0, at, value) for at, value in records], **said))
        return op

    def do(self, call: form.Calls) -> int:
        """Make a call that has no answer."""
        op = self.call(call)
        self.ok(op)
        return op

    def seek(self, offset: Any) -> int:
        """Go to an offset."""
        return self.do(form.Seek(TOPIC, 0, offset))

    def subscribe(self, protocol: Any = "classic", *, auto_commit: bool = False) -> int:
        """Join the group."""
        return self.do(form.Subscribe(GROUP, [TOPIC], protocol=protocol, auto_commit=auto_commit))

    def assigned(self, generation: int | None, partition: int = 0) -> int:
        """Get a partition in a generation."""
        return self.do(form.Assigned(GROUP, [form.TopicPartition(TOPIC, partition)], self.name, generation))

    def revoked(self, generation: int | None, partition: int = 0) -> int:
        """Give a partition up."""
        return self.do(form.Revoked(GROUP, [form.TopicPartition(TOPIC, partition)], self.name, generation))

    def lost(self, generation: int | None, partition: int = 0) -> int:
        """Learn that a partition is lost."""
        return self.do(form.Lost(GROUP, [form.TopicPartition(TOPIC, partition)], self.name, generation))

    def begin_commit(self, offset: int, generation: int | None = None) -> int:
        """Begin to commit an offset."""
        return self.call(form.Commit(GROUP, [form.Position(TOPIC, 0, offset)], self.name, generation))

    def commit(self, offset: int, generation: int | None = None) -> int:
        """Commit an offset."""
        op = self.begin_commit(offset, generation)
        self.ok(op)
        return op

    def committed(self, offset: int | None) -> int:
        """Ask what is committed, and be told an offset."""
        op = self.call(form.Committed(GROUP, [form.TopicPartition(TOPIC, 0)]))
        self.ok(op, form.CommittedOffsets([form.Position(TOPIC, 0, offset)]))
        return op

    def begin(self) -> int:
        """Begin a transaction."""
        return self.do(form.Begin("tx"))

    def end(self, result: Any) -> int:
        """Commit or abort the transaction."""
        return self.do(form.End(result))


@define
class Script:
    """A history that is being written."""

    file: io.BytesIO = field(factory=io.BytesIO)
    writer: Writer = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Write the head."""
        self.writer = Writer(self.file)

    def client(self, name: str, **how: Any) -> Client:
        """Return a new process."""
        return Client(self, name, **how)

    def judged(self, folder: Path) -> Judgement:
        """Judge what was written."""
        path = folder / "history.jsonl"
        path.write_bytes(self.file.getvalue())
        return judge(path)
