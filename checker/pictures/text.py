# SPDX-License-Identifier: Apache-2.0
"""Text in pictures: made harmless, measured, wrapped, shortened.

Notes, names and choices may come from a file that somebody else wrote. Everything that is drawn passes through
``clean``, so that no control, bidirectional or invisible character survives, and then through ``escape``.
"""

from __future__ import annotations

import unicodedata

from hwmark.checker.text import sanitize

MARKS_AT_MOST = 2
"""Combining marks that one letter may carry; more would grow out of its line."""

REGULAR = (
    "32 41 46 84 64 96 78 28 40 40 50 84 32 37 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 54 "
    "100 69 69 70 78 64 58 78 76 30 30 66 56 87 75 79 61 79 70 64 62 74 69 99 69 62 69 40 34 40 84 50 "
    "50 62 64 55 64 62 36 64 64 28 28 58 28 98 64 62 64 64 42 53 40 64 60 82 60 60 53 64 34 64 84"
)
BOLD = (
    "35 46 53 84 70 101 88 31 46 46 53 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 84 84 59 "
    "100 78 77 74 84 69 69 83 84 38 38 78 64 100 84 86 74 86 78 73 69 82 78 111 78 73 73 46 37 46 84 50 "
    "50 68 72 60 72 68 44 72 72 35 35 67 35 105 72 69 72 72 50 60 48 72 66 93 65 66 59 72 37 72 84"
)
WIDTHS = {
    bold: {chr(code): int(width) / 100 for code, width in enumerate(table.split(), start=32)}
    for bold, table in ((False, REGULAR), (True, BOLD))
}
"""Widths of ASCII characters in ems in DejaVu Sans, the widest of the fonts that usually stand in for a missing one."""

WIDE, OTHER, MARK = 1.4, 1.05, 0.3
"""Widths of East Asian characters and pictographs, of all else outside ASCII, and of combining marks: generous."""

NARROWEST = min(*WIDTHS[False].values(), *WIDTHS[True].values(), MARK)


def clean(text: str) -> str:
    """Return text on one line, in which every character can be seen and none can do anything."""
    kept: list[str] = []
    marks = 0
    for char in sanitize(" ".join(str(text).split())):
        marks = marks + 1 if unicodedata.category(char).startswith("M") else 0
        if marks <= MARKS_AT_MOST:
            kept.append(char)
    return "".join(kept)


def escape(text: str) -> str:
    """Return text for an element or an attribute of XML or HTML, cleaned, with nothing left that could be markup."""
    replaced = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return replaced.replace('"', "&quot;").replace("'", "&#39;")


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one cleaned line in pixels, at least as wide as any usual font draws it."""
    known = WIDTHS[bold]
    return size * sum(known[char] if char in known else _unusual(char) for char in text)


def _unusual(char: str) -> float:
    if unicodedata.combining(char):
        return MARK
    return WIDE if unicodedata.east_asian_width(char) in "WF" else OTHER


def wrap(text: str, size: float, room: float, *, bold: bool = False, lines: int | None = None) -> list[str]:
    """Break text into lines no wider than ``room``; beyond ``lines`` of them it is shortened, and says so with dots."""
    found: list[str] = []
    line = ""
    for word in clean(text).split(" "):
        rest = word
        while rest and (lines is None or len(found) <= lines):
            longer = f"{line} {rest}" if line else rest
            if len(longer) * size * NARROWEST <= room and width(longer, size, bold=bold) <= room:  # a foreign word may be endless
                line, rest = longer, ""
            elif line:
                found.append(line)
                line = ""
            else:
                fits = _fitting(rest, size, room, bold=bold)
                found.append(rest[:fits])
                rest = rest[fits:]
        if lines is not None and len(found) > lines:
            break
    if line:
        found.append(line)
    if lines is not None and len(found) > lines:
        found = [*found[: lines - 1], shorten(found[lines - 1] + "…", size, room, bold=bold)]
    return found


def shorten(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Return one line no wider than ``room``, with dots where something is left out."""
    cleaned = clean(text)
    if width(cleaned, size, bold=bold) <= room:
        return cleaned
    return cleaned[: _fitting(cleaned, size, room - width("…", size, bold=bold), bold=bold)].rstrip("…") + "…"


def _fitting(text: str, size: float, room: float, *, bold: bool) -> int:
    """Return how many characters from the start fit into ``room``, at least one."""
    total = 0.0
    for count, char in enumerate(text):
        total += width(char, size, bold=bold)
        if total > room:
            return max(1, count)
    return len(text)
