# SPDX-License-Identifier: Apache-2.0
"""A run as Mermaid text: a sequence diagram of its lanes, or a state diagram where the machine has none."""

from __future__ import annotations

import string
from collections.abc import Iterator

from .story import Row, Story
from .text import clean, wrap

PLAIN = frozenset(string.ascii_letters + string.digits + " .,@=+/_→():'-")
"""Characters that mean nothing in Mermaid; all others are written as ``#code;``."""

LINE, LINES = 320.0, 12
"""The width of a line, in pixels of a 13-pixel font, and the lines after which a text is shortened."""


def mermaid(story: Story) -> str:
    """Return the run as a Mermaid diagram."""
    lines = _sequence(story) if story.lanes else _states(story)
    return "\n".join(lines) + "\n"


def lines_of(text: str) -> str:
    """Return text that Mermaid breaks into lines of a readable length."""
    return "<br/>".join(quote(line) for line in wrap(text, 13, LINE, lines=LINES))


def quote(text: str) -> str:
    """Return text on one line that Mermaid takes for nothing but text."""
    return "".join(char if char in PLAIN or (ord(char) > 127 and char.isalnum()) else f"#{ord(char)};" for char in clean(text))


def _sequence(story: Story) -> Iterator[str]:
    names = {name: f"L{number}" for number, name in enumerate(story.lanes)}
    everybody = f"L0,L{len(names) - 1}" if len(names) > 1 else "L0"
    yield "sequenceDiagram"
    yield "    autonumber"
    yield from (f"    participant {alias} as {quote(name)}" for name, alias in names.items())
    if clean(story.note):
        yield f"    Note over {everybody}: {lines_of(story.note)}"
    for row in story.rows[1:]:
        if story.loop == row.number - 1:
            yield "    loop for ever"
        yield _message(row, names, everybody)
    if story.loop is not None and story.loop < len(story.rows) - 1:
        yield "    end"
    elif story.forever:
        yield f"    Note over {everybody}: {lines_of(story.forever)}"
    yield from (f"    Note over {everybody}: {lines_of(line)}" for line in story.verdict)


def _message(row: Row, names: dict[str, str], everybody: str) -> str:
    target = names.get(row.event.lane or "")
    if target is None:
        return f"    Note over {everybody}: {lines_of(row.event.caption)}"
    source = names.get(row.event.source or "", target)
    sent = f" (sent in step {row.sent_in})" if row.sent_in else ""
    return f"    {source}->>{target}: {lines_of(row.event.caption + sent)}"


def _states(story: Story) -> Iterator[str]:
    last = len(story.rows) - 1
    yield "stateDiagram-v2"
    yield "    [*] --> S0"
    for row in story.rows[1:]:
        yield f"    S{row.number - 1} --> S{row.number}: {lines_of(f'{row.number} {row.step}')}"
    if story.loop is not None and story.loop < last:
        yield f"    S{last} --> S{story.loop}: repeats for ever"
    yield from (f"    S{last}: {lines_of(line)}" for line in story.verdict)
    if clean(story.note):
        yield f"    note right of S0: {lines_of(story.note)}"
