# SPDX-License-Identifier: Apache-2.0
"""The facts of a history, gathered line by line into a database on disk, so that memory does not grow with the history."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec
from attrs import define, field, frozen

from hwmark.checker.history import form
from hwmark.checker.history.form import Process
from hwmark.checker.history.reading import Event
from hwmark.spec.histories.facts import DERIVED, TABLES

CACHE_KIB = 128 * 1024
"""How much of the database is kept in memory."""


def database() -> sqlite3.Connection:
    """Return an empty database of facts, in a temporary file that nobody else sees and that goes with the connection."""
    connection = sqlite3.connect("", isolation_level=None)
    connection.executescript(
        f"PRAGMA cache_size = -{CACHE_KIB}; PRAGMA temp_store = FILE; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;"
    )
    connection.executescript(TABLES)
    return connection


@frozen
class Span:
    """A call that ended well: by whom, from which line to which, and in which transaction it began."""

    op: int
    process: int
    began: int
    ended: int
    transaction: int | None


@define
class Gatherer:
    """Turns the lines of a history into facts; ``derive`` once all are there."""

    facts: sqlite3.Connection
    lines: int = 0
    _began: dict[int, tuple[int, int | None]] = field(factory=dict)
    _processes: dict[Process, int] = field(factory=dict)
    _partitions: dict[tuple[str, int], int] = field(factory=dict)
    _stretches: dict[tuple[int, int], int] = field(factory=dict)
    _next_stretch: int = 0
    _transactions: dict[int, int] = field(factory=dict)
    """Those that are open, by process."""
    _holdings: dict[tuple[int, int], int] = field(factory=dict)
    _compacted: set[str] = field(factory=set)
    _deleted: set[str] = field(factory=set)

    def take(self, event: Event) -> None:
        """Gather the facts of one line."""
        self.lines = event.number
        process = self._process(event.line.process)
        match event.line:
            case form.Invoke(op=op, call=call):
                self._began[op] = event.number, self._transactions.get(process)
                self._begin(event.number, process, op, call)
            case form.Ok(op=op, answer=answer):
                began, transaction = self._began.pop(op)
                self._ok(Span(op, process, began, event.number, transaction), event.call, answer)
            case form.Fail(op=op):
                del self._began[op]
                self._fail(process, op, event.call)
            case form.Info(op=op):
                del self._began[op]
                self._info(process, event.number, event.call)

    def derive(self) -> None:
        """Derive what follows from all that was gathered."""
        for topic in self._compacted:
            self._run("UPDATE partitions SET holes = 1 WHERE topic = ?", topic)
        for topic in self._deleted:
            self._run("UPDATE partitions SET holes = 1, remade = 1 WHERE topic = ?", topic)
        self.facts.executescript(DERIVED)

    # -- lines --

    def _begin(self, number: int, process: int, op: int, call: form.Calls) -> None:
        match call:
            case form.Produce():
                self._send(number, process, op, call)
            case form.Commit() | form.SendOffsets():
                self._commit(number, process, op, call)
            case form.Revoked() | form.Lost():
                self._give_up(process, [self._k(one.topic, one.partition) for one in call.partitions], number)
            case form.Subscribe() | form.Unsubscribe() | form.Assign() | form.Close() | form.Crash():
                self._cut(process)
                self._give_up(process, [k for holder, k in self._holdings if holder == process], number)
            case form.End(result="commit"):
                if (transaction := self._transactions.get(process)) is not None:
                    self._run("UPDATE transactions SET ending = ? WHERE id = ?", number, transaction)
            case _:
                self._manage(call)

    def _manage(self, call: form.Calls) -> None:
        """Note what an operator asks for; it may take effect at any time from then on."""
        match call:
            case form.CreateTopic(topic=topic, compacted=True):
                self._compacted.add(topic)
            case form.DeleteTopic(topic=topic):
                self._deleted.add(topic)
            case form.DeleteRecords(offsets=offsets):
                for one in offsets:
                    self._run("UPDATE partitions SET holes = 1 WHERE k = ?", self._k(one.topic, one.partition))

    def _ok(self, span: Span, call: form.Calls, answer: form.Answers | None) -> None:
        match call, answer:
            case form.Produce(acks=acks, topic=topic), form.Produced(partition=partition, offset=offset):
                told = (span.ended, "yes" if acks else "maybe", self._k(topic, partition), offset, span.op)
                self._run("UPDATE sends SET ended = ?, state = ?, k = ?, offset = ? WHERE op = ?", *told)
            case form.Poll(isolation=isolation), form.Polled(records=records):
                self._read(span, records, isolation)
            case form.Fetch(), form.Fetched():
                self._fetched(span, call, answer)
            case form.ListOffsets(at="earliest"), form.OffsetFound(offset=int(start)):
                self._watermarks(span, self._k(call.topic, call.partition), None, None, start)
            case form.Committed(group=group), form.CommittedOffsets(offsets=offsets):
                rows = [(span.op, group, self._k(one.topic, one.partition), one.offset, span.began, span.ended) for one in offsets]
                self.facts.executemany("INSERT INTO lookups VALUES (?, ?, ?, ?, ?, ?)", rows)
            case _:
                self._done(span, call)

    def _done(self, span: Span, call: form.Calls) -> None:
        """Gather what is known of a call that ended well, and has no answer."""
        match call:
            case form.Commit() | form.SendOffsets():
                self._run("UPDATE commits SET ended = ?, state = 'yes' WHERE op = ?", span.ended, span.op)
            case form.Subscribe():
                self._subscribed(span.process, call)
            case form.Assigned():
                self._assigned(span, call)
            case form.Revoked(partitions=partitions) | form.Lost(partitions=partitions):
                self._cut(span.process, [self._k(one.topic, one.partition) for one in partitions])
            case form.Seek(topic=topic, partition=partition, offset=target):
                self._sought(span, self._k(topic, partition), target)
            case form.Begin():
                self._transactions[span.process] = self._run(
                    "INSERT INTO transactions (process, began) VALUES (?, ?)", span.process, span.began
                )
            case form.End(result=result):
                self._close(span.process, span.ended, "yes" if result == "commit" else "no")

    def _fail(self, process: int, op: int, call: form.Calls) -> None:
        match call:
            case form.Produce():
                self._run("UPDATE sends SET state = 'no' WHERE op = ?", op)
            case form.Commit() | form.SendOffsets():
                self._run("UPDATE commits SET state = 'no' WHERE op = ?", op)
            case form.Poll():
                self._cut(process)  # what it may have taken in before it failed is not known

    def _info(self, process: int, number: int, call: form.Calls) -> None:
        match call:
            case form.Poll() | form.Seek():
                self._cut(process)
            case form.End():
                self._close(process, number, "maybe")

    # -- facts --

    def _send(self, number: int, process: int, op: int, call: form.Produce) -> None:
        transaction = self._transactions.get(process)
        k = None if call.partition is None else self._k(call.topic, call.partition)
        is_idempotent = call.idempotent or transaction is not None
        row = (op, process, call.topic, k, text_of(call.value), call.acks, is_idempotent, transaction, number)
        self._run("INSERT INTO sends (op, process, topic, k, value, acks, idempotent, txn, began) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *row)

    def _read(self, span: Span, records: list[form.Record], isolation: str, stretch: int | None = None) -> None:
        rows = []
        for at, one in enumerate(records):
            k = self._k(one.topic, one.partition)
            number = self._stretch(span.process, k) if stretch is None else stretch
            where = (span.op, at, span.process, number, k, one.offset, text_of(one.value))
            rows.append((*where, isolation == "read_committed", span.transaction, span.began, span.ended))
        self.facts.executemany("INSERT INTO reads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def _fetched(self, span: Span, call: form.Fetch, answer: form.Fetched) -> None:
        k, stretch = self._k(call.topic, call.partition), self._new_stretch()
        if call.offset >= 0:
            self._run("INSERT INTO positions VALUES (?, ?, ?, ?, ?)", span.process, stretch, k, call.offset, span.op)
        self._read(span, answer.records, call.isolation, stretch)
        self._watermarks(span, k, answer.high_watermark, answer.last_stable_offset, answer.log_start_offset)

    def _watermarks(self, span: Span, k: int, high_watermark: int | None, last_stable: int | None, start: int | None) -> None:
        row = (span.op, k, high_watermark, last_stable, start, span.began, span.ended)
        self._run("INSERT INTO watermarks VALUES (?, ?, ?, ?, ?, ?, ?)", *row)

    def _commit(self, number: int, process: int, op: int, call: form.Commit | form.SendOffsets) -> None:
        transaction = self._transactions.get(process) if isinstance(call, form.SendOffsets) else None
        for one in call.offsets:
            where = (op, process, call.group, self._k(one.topic, one.partition), one.offset)
            row = (*where, call.member, call.generation, transaction, number)
            self._run(
                "INSERT INTO commits (op, process, consumer_group, k, offset, member, generation, txn, began) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *row,
            )

    def _subscribed(self, process: int, call: form.Subscribe) -> None:
        self._run("UPDATE processes SET subscribed = 1 WHERE process = ?", process)
        if call.protocol == "classic":
            self._run("INSERT OR IGNORE INTO classic VALUES (?)", call.group)
        if call.auto_commit:
            self._run("INSERT OR IGNORE INTO unwatched VALUES (?)", call.group)

    def _assigned(self, span: Span, call: form.Assigned) -> None:
        for one in call.partitions:
            k = self._k(one.topic, one.partition)
            self._stretches.pop((span.process, k), None)
            row = (span.op, span.process, call.group, k, call.member, call.generation, span.ended)
            self._holdings[span.process, k] = self._run(
                "INSERT INTO holdings (op, process, consumer_group, k, member, generation, since) VALUES (?, ?, ?, ?, ?, ?, ?)", *row
            )

    def _close(self, process: int, number: int, state: str) -> None:
        if (transaction := self._transactions.pop(process, None)) is not None:
            self._run("UPDATE transactions SET ended = ?, state = ? WHERE id = ?", number, state, transaction)

    def _give_up(self, process: int, partitions: Iterable[int], number: int) -> None:
        for k in partitions:
            if (row := self._holdings.pop((process, k), None)) is not None:
                self._run("UPDATE holdings SET until = ? WHERE rowid = ?", number, row)

    def _sought(self, span: Span, k: int, target: int | str) -> None:
        self._stretches[span.process, k] = stretch = self._new_stretch()
        if isinstance(target, int):
            self._run("INSERT INTO positions VALUES (?, ?, ?, ?, ?)", span.process, stretch, k, target, span.op)

    def _cut(self, process: int, partitions: Iterable[int] | None = None) -> None:
        """End the stretches of a process, in some partitions or all."""
        for k in partitions or [k for reader, k in self._stretches if reader == process]:
            self._stretches.pop((process, k), None)

    # -- numbers --

    def _process(self, name: Process) -> int:
        number = self._processes.get(name)
        if number is None:
            number = self._processes[name] = len(self._processes)
            self._run("INSERT INTO processes (process, name) VALUES (?, ?)", number, str(name))
        return number

    def _k(self, topic: str, partition: int) -> int:
        k = self._partitions.get((topic, partition))
        if k is None:
            k = self._partitions[topic, partition] = len(self._partitions)
            self._run("INSERT INTO partitions (k, topic, partition) VALUES (?, ?, ?)", k, topic, partition)
        return k

    def _stretch(self, process: int, k: int) -> int:
        stretch = self._stretches.get((process, k))
        if stretch is None:
            stretch = self._stretches[process, k] = self._new_stretch()
        return stretch

    def _new_stretch(self) -> int:
        self._next_stretch += 1
        return self._next_stretch

    def _run(self, statement: str, *values: Any) -> int:
        return self.facts.execute(statement, values).lastrowid or 0


def text_of(value: form.Value) -> str:
    """Return a value as the facts have it: its JSON text."""
    return msgspec.json.encode(value).decode()
