# SPDX-License-Identifier: Apache-2.0
"""Histories read line by line, in bounded memory, as something hostile: one clear error names the line that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

import msgspec
from attrs import define, field, frozen

from hwmark.checker.errors import InputError
from hwmark.checker.text import shown

from .form import ANSWERS, FORMAT, Answers, Calls, Head, Invoke, Lines, Ok, Poll, Process, tag

EXAMPLE = f'{{"type": "head", "format": "{FORMAT}"}}'

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

MAX_LINE = 16 * 1024 * 1024
"""A line that is longer is refused: a poll of 500 records of common size takes a tenth."""


@frozen
class Event:
    """One line of a history, with its number (the head has 1) and the call that it begins or ends."""

    number: int
    line: Lines
    call: Calls


@define
class Reader:
    """Reads a history. ``remarks`` says what was passed over: a last line that is torn."""

    path: Path
    head: Head = field(init=False)
    remarks: list[str] = field(factory=list)
    _file: BinaryIO = field(init=False)

    def __enter__(self) -> Self:
        """Open the file, and read its head."""
        try:
            self._file = self.path.open("rb")
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path}: {getattr(error, 'strerror', None) or error}") from None
        try:
            self.head = self._head()
        except InputError:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def events(self) -> Iterator[Event]:
        """Yield every event in order, each call paired with its end; anything wrong raises ``InputError`` with the line's number."""
        decoder, calls, number, time = msgspec.json.Decoder(Lines), _Calls(), 1, 0
        while text := self._read(number := number + 1):
            try:
                line = decoder.decode(text)
            except UNREADABLE as error:
                if not text.endswith(b"\n") and not isinstance(error, msgspec.ValidationError):
                    self.remarks.append(f"line {number}, the last one, is torn, and was left out")
                    return
                raise self._wrong(number, _told(error)) from None
            if line.time is not None:
                if line.time < time:
                    raise self._wrong(number, f"its time {line.time} is before {time}, an earlier line's: lines stand in the order of time")
                time = line.time
            try:
                call = calls.take(number, line)
            except ValueError as error:
                raise self._wrong(number, str(error)) from None
            yield Event(number, line, call)

    def _head(self) -> Head:
        first = self._read(1)
        if not first:
            raise self._wrong(1, "it is empty")
        try:
            head = msgspec.json.decode(first, type=Head | Lines)
        except UNREADABLE as error:
            raise self._wrong(1, f"the first line must be a head, as {EXAMPLE}: {_told(error)}") from None
        if not isinstance(head, Head):
            raise self._wrong(1, f"the first line must be a head, as {EXAMPLE}")
        return head

    def _read(self, number: int) -> bytes:
        try:
            text = self._file.readline(MAX_LINE + 1)
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None
        if len(text) > MAX_LINE:
            raise self._wrong(number, f"longer than {MAX_LINE // 1024 // 1024} MiB")
        return text

    def _wrong(self, number: int, why: str) -> InputError:
        return InputError(f"{self.path}: line {number}: {why}")


@define
class _Calls:
    """The calls that have not ended, and who is polling."""

    open: dict[int, tuple[int, Process, Calls]] = field(factory=dict)
    polling: dict[Process, int] = field(factory=dict)
    last: int = -1

    def take(self, number: int, line: Lines) -> Calls:
        """Return the call that a line begins or ends; ``ValueError`` says why it can do neither."""
        if isinstance(line, Invoke):
            return self._begin(number, line)
        begun = self.open.pop(line.op, None)
        if begun is None:
            raise ValueError(f"op {line.op} ends, and has not begun, or has ended already")
        at, process, call = begun
        if process != line.process:
            raise ValueError(f"op {line.op} was begun by process {shown(process)} in line {at}, and ends in {shown(line.process)}")
        if isinstance(line, Ok):
            _check_answer(call, line.answer)
        if isinstance(call, Poll):
            del self.polling[process]
        return call

    def _begin(self, number: int, line: Invoke) -> Calls:
        if line.op <= self.last:
            raise ValueError(f"op {line.op} is not above {self.last}, the one before: calls are numbered as they begin")
        if isinstance(line.call, Poll):  # what was read before is asked of each process, so its polls come one after another
            if (other := self.polling.get(line.process)) is not None:
                raise ValueError(f"process {shown(line.process)} polls in op {line.op} before its poll in op {other} has ended")
            self.polling[line.process] = line.op
        self.last = line.op
        self.open[line.op] = (number, line.process, line.call)
        return line.call


def _check_answer(call: Calls, answer: Answers | None) -> None:
    """Raise ``ValueError`` if this answer is not one to this call."""
    wanted, given = tag(call), None if answer is None else tag(answer)
    if given != (wanted if wanted in ANSWERS else None):
        is_needed = f"needs an answer with f {wanted!r}" if wanted in ANSWERS else "has no answer"
        raise ValueError(f"a call with f {wanted!r} that is ok {is_needed}, got {'none' if given is None else repr(given)}")


def _told(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 text at byte {error.start}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if not isinstance(error, msgspec.ValidationError):
        return f"not JSON: {error}"
    said, _, where = str(error).partition(" - at `$")
    return f"{said} in {where.strip('.`')}" if where.strip("`") else said
