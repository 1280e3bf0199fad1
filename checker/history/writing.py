# SPDX-License-Identifier: Apache-2.0
"""Histories written line by line: each line is complete before the next one begins, so a crash tears at most the last."""

from __future__ import annotations

from typing import IO

import msgspec
from attrs import define

from .form import FORMAT, Answers, Calls, Fail, Head, Info, Invoke, Lines, Ok, Process


@define
class Writer:
    """Writes a history to a binary file; numbers the calls."""

    file: IO[bytes]
    source: str = ""
    _next: int = 0

    def __attrs_post_init__(self) -> None:
        """Write the head."""
        self._write(Head(FORMAT, self.source))

    def invoke(self, process: Process, call: Calls, time: int | None = None) -> int:
        """Write that a call begins, and return its number."""
        op, self._next = self._next, self._next + 1
        self._write(Invoke(op, process, time, call=call))
        return op

    def ok(self, op: int, process: Process, answer: Answers | None = None, time: int | None = None) -> None:
        """Write that a call ended well."""
        self._write(Ok(op, process, time, answer=answer))

    def fail(self, op: int, process: Process, error: str | None = None, message: str = "", time: int | None = None) -> None:
        """Write that a call surely did nothing."""
        self._write(Fail(op, process, time, error=error, message=message))

    def info(self, op: int, process: Process, error: str | None = None, message: str = "", time: int | None = None) -> None:
        """Write that a call ended, and that nobody knows what it did."""
        self._write(Info(op, process, time, error=error, message=message))

    def _write(self, line: Head | Lines) -> None:
        self.file.write(msgspec.json.encode(line) + b"\n")
