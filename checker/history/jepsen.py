# SPDX-License-Identifier: Apache-2.0
"""Histories of Jepsen's Kafka workloads, read from EDN: one map a line, or all in one vector.

A key is a partition of the topic ``jepsen``; process numbers stay. What an operation polls in several parts is one answer, as
Jepsen judges it. Its producers are taken to be idempotent with ``acks=all``, its consumers to read committed records, which
are the workloads' settings. Keys in an operation's rebalance log are not judged by order there. What the nemesis does, and
what asks about the cluster, is passed over. Needs ``hwmark[jepsen]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from hwmark.checker.errors import InputError
from hwmark.checker.text import sanitize

from . import form
from .reading import MAX_LINE
from .writing import Writer

TOPIC, GROUP = "jepsen", "jepsen"


def convert(path: Path, writer: Writer) -> None:
    """Write a Jepsen history as ours; raises ``InputError`` with the line of what cannot be read."""
    conversion = _Conversion(writer)
    for number, text in _lines(path):
        try:
            operation = _parse(text)
            if operation is not None:
                conversion.take(operation)
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
            said = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{path}: line {number}: not an operation of a Kafka workload: {sanitize(said[:200])}") from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            while text := file.readline(MAX_LINE + 1):
                number += 1
                if len(text) > MAX_LINE:
                    raise InputError(f"{path}: line {number}: longer than {MAX_LINE // 1024 // 1024} MiB")
                yield number, text.strip().removeprefix("[").removesuffix("]")  # a map begins and ends with braces
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: line {number + 1}: not UTF-8 text at byte {error.start}") from None


def _parse(text: str) -> Mapping[str, Any] | None:
    """Return the operation on a line as plain data, its keywords as strings; ``None`` for one that is not a client's."""
    try:
        import edn_format  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("Jepsen's histories need an EDN reader: pip install 'hwmark[jepsen]'") from None
    if not text:
        return None
    operation = _plain(edn_format.loads(text))
    if not isinstance(operation, dict):
        raise ValueError("expected a map")  # noqa: TRY004 - told with its line
    return operation if isinstance(operation["process"], int) else None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_plain(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return getattr(value, "name", value)


@define
class _Operation:
    """What an operation of Jepsen's is, as calls of ours: their numbers."""

    sends: list[tuple[int, Any]] = field(factory=list)
    poll: int | None = None
    end: int | None = None
    other: int | None = None
    is_done: bool = False


@define
class _Conversion:
    """Writes one operation after another."""

    writer: Writer
    open: dict[int, _Operation] = field(factory=dict)

    def take(self, operation: Mapping[str, Any]) -> None:
        """Write what a line of Jepsen's says."""
        process, kind = operation["process"], operation["type"]
        if kind == "invoke":
            if process in self.open:
                raise ValueError(f"process {process} begins an operation before the one before has ended")
            self.open[process] = self._invoke(process, operation)
            return
        if kind not in {"ok", "fail", "info"}:
            raise ValueError(f"there is no type {kind}")
        begun = self.open.pop(process, None)
        if begun is None:
            raise ValueError(f"process {process} ends an operation, and has begun none")
        if begun.is_done:
            return
        if kind == "ok":
            self._ok(process, begun, operation)
        else:
            self._undone(process, begun, kind)

    def _invoke(self, process: int, operation: Mapping[str, Any]) -> _Operation:
        begun, does, value = _Operation(), operation["f"], operation.get("value")
        match does:
            case "subscribe":
                begun.other = self.writer.invoke(process, form.Subscribe(GROUP, [TOPIC]))
            case "assign":
                begun.other = self.writer.invoke(process, form.Assign([_partition(key) for key in value or ()]))
            case "crash":
                begun.other = self.writer.invoke(process, form.Crash())
            case "send" | "poll" | "txn":
                self._begin(process, begun, does == "txn", value or ())
            case _:
                begun.is_done = True  # asks about the cluster
        return begun

    def _begin(self, process: int, begun: _Operation, is_transaction: bool, parts: Sequence[Any]) -> None:  # noqa: FBT001
        if is_transaction:
            op = self.writer.invoke(process, form.Begin(f"jepsen-{process}"))
            self.writer.ok(op, process)
        for part in parts:
            if part[0] == "send":
                call = form.Produce(TOPIC, part[2], _partition(part[1]).partition, idempotent=True)
                begun.sends.append((self.writer.invoke(process, call), part[1]))
        if any(part[0] == "poll" for part in parts):
            begun.poll = self.writer.invoke(process, form.Poll("read_committed"))
        if is_transaction:
            begun.end = self.writer.invoke(process, form.End("commit"))

    def _ok(self, process: int, begun: _Operation, operation: Mapping[str, Any]) -> None:
        if begun.other is not None:
            self.writer.ok(begun.other, process)
            return
        parts = operation["value"]
        told = [part for part in parts if part[0] == "send"]
        if len(told) != len(begun.sends):
            raise ValueError("it sends other records than it began to")
        for (op, key), part in zip(begun.sends, told, strict=True):
            offset = part[2][0] if isinstance(part[2], list) else None
            self.writer.ok(op, process, form.Produced(_partition(key).partition, offset))
        if begun.poll is not None:
            self._polled(process, begun.poll, parts, _rebalanced(operation))
        if begun.end is not None:
            self.writer.ok(begun.end, process)

    def _polled(self, process: int, op: int, parts: Sequence[Any], exempt: frozenset[int]) -> None:
        records = [
            (_partition(key), offset, value)
            for part in parts
            if part[0] == "poll" and len(part) > 1
            for key, read in part[1].items()
            for offset, value in read
        ]
        judged = [form.Record(TOPIC, at.partition, offset, value) for at, offset, value in records if at.partition not in exempt]
        self.writer.ok(op, process, form.Polled(judged))
        for at, offset, value in records:
            if at.partition in exempt:  # each on its own, so that nothing is asked of their order
                for call in (form.Lost(GROUP, [at]), form.Assigned(GROUP, [at])):
                    self.writer.ok(self.writer.invoke(process, call), process)
                again = self.writer.invoke(process, form.Poll("read_committed"))
                self.writer.ok(again, process, form.Polled([form.Record(TOPIC, at.partition, offset, value)]))

    def _undone(self, process: int, begun: _Operation, kind: str) -> None:
        say = self.writer.fail if kind == "fail" else self.writer.info
        for op in (*(op for op, _ in begun.sends), begun.poll, begun.end, begun.other):
            if op is not None:
                say(op, process)
        if begun.end is not None and kind == "fail":
            self.writer.ok(self.writer.invoke(process, form.End("abort")), process)


def _partition(key: Any) -> form.TopicPartition:
    if not isinstance(key, int) or isinstance(key, bool) or key < 0:
        raise ValueError(f"a key is a number, not {key}")
    return form.TopicPartition(TOPIC, key)


def _rebalanced(operation: Mapping[str, Any]) -> frozenset[int]:
    return frozenset(key for entry in operation.get("rebalance-log") or () for key in entry["keys"])
