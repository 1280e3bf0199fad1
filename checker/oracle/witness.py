# SPDX-License-Identifier: Apache-2.0
"""The few lines of a history that show a finding, read again from the file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from hwmark.checker.history.form import Calls, Invoke, Lines, Ok, tag
from hwmark.checker.history.reading import Event, Reader
from hwmark.checker.text import sanitize

Witness = tuple[Event, ...]
"""Events in the order of their lines."""

LONGEST = 200
"""How many characters of a call or an answer a row shows."""


def read(path: Path, findings: Iterable[tuple[str, Iterable[int]]]) -> dict[str, Witness]:
    """Return for each name the events of its calls; the history is read once more."""
    wanted = {name: frozenset(ops) for name, ops in findings}
    kept: list[Event] = []
    every = frozenset[int]().union(*wanted.values())
    if every:
        with Reader(path) as reader:
            kept = [event for event in reader.events() if event.line.op in every]
    return {name: tuple(event for event in kept if event.line.op in ops) for name, ops in wanted.items()}


def rows(witness: Witness) -> tuple[tuple[str, ...], ...]:
    """Return events as rows of line, process, type, and what was asked or answered."""
    return tuple(_row(event.number, event.line, event.call) for event in witness)


def _row(number: int, line: Lines, call: Calls) -> tuple[str, ...]:
    return str(number), sanitize(str(line.process)), tag(line), said(line, call)


def said(line: Lines, call: Calls) -> str:
    """Return what a line asks or answers, cut where it is long."""
    match line:
        case Invoke():
            text = _brief(call)
        case Ok(answer=answer):
            text = tag(call) if answer is None else _brief(answer)
        case _:
            text = f"{tag(call)} {line.error or ''} {line.message}".rstrip()
    return sanitize(text)


def _brief(told: msgspec.Struct) -> str:
    facts = {name: value for name, value in msgspec.to_builtins(told).items() if name != "f"}
    text = f"{tag(told)} {msgspec.json.encode(facts).decode()}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
