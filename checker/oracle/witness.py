# SPDX-License-Identifier: Apache-2.0
"""The few lines of a history that show a finding, read again from the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from hwmark.checker.history.form import Calls, Invoke, Lines, Ok, tag
from hwmark.checker.history.reading import Reader
from hwmark.checker.text import sanitize

Row = tuple[str, ...]
Told = Callable[[Iterable[int]], tuple[Row, ...]]
"""Tells calls, given by number, as rows of line, process, type, and what was asked or answered."""

LONGEST = 200
"""How many characters of a call or an answer a row shows."""


def tell(path: Path, ops: Iterable[int]) -> Told:
    """Return what tells these calls; the history is read once more, up to the last of their lines."""
    wanted = frozenset(ops)
    rows: dict[int, list[tuple[int, Row]]] = {op: [] for op in wanted}
    if wanted:
        with Reader(path) as reader:
            for event in reader.events():
                if event.line.op in wanted:
                    rows[event.line.op].append((event.number, _row(event.number, event.line, event.call)))

    def told(these: Iterable[int]) -> tuple[Row, ...]:
        return tuple(row for _, row in sorted(line for op in set(these) for line in rows[op]))

    return told


def _row(number: int, line: Lines, call: Calls) -> Row:
    match line:
        case Invoke():
            said = _brief(call)
        case Ok(answer=answer):
            said = tag(call) if answer is None else _brief(answer)
        case _:
            said = f"{tag(call)} {line.error or ''} {line.message}".rstrip()
    return str(number), sanitize(str(line.process)), tag(line), sanitize(said)


def _brief(told: msgspec.Struct) -> str:
    facts = {name: value for name, value in msgspec.to_builtins(told).items() if name != "f"}
    text = f"{tag(told)} {msgspec.json.encode(facts).decode()}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
