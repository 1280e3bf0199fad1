# SPDX-License-Identifier: Apache-2.0
"""Tables, lines and prose, laid out for a terminal of any width or for none."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hwmark.checker.text import sanitize

STYLES = {"holds": "green", "violated": "bold red", "undetermined": "yellow", "agrees": "green", "disagrees": "bold red", "planned": "dim"}
WIDTH, NARROWEST = 110, 40
"""Columns where there is no terminal, and where there is one that is too narrow to write on."""
LEAST_FOR_COLUMNS, BETWEEN = 72, " · "
"""Width below which columns would break each word: what stands in them then follows one after the other."""
NUMBERS = ("steps", "states")
"""The columns of numbers."""


def rendered(*parts: Any, colour: bool) -> str:
    """Return what rich makes of these tables, lines and prose, as wide as the terminal and without colour unless asked for.

    A line stays one line; text that says how it overflows, as ``prose`` does, is broken between its words.
    """
    out = io.StringIO()
    console = Console(
        file=out, width=_width(), force_terminal=colour, color_system="auto" if colour else None, markup=False, highlight=False, emoji=False
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text) and part.overflow is None)
    return out.getvalue()


def prose(text: str, style: str = "") -> Text:
    """Return text that is broken between its words."""
    return Text(text, style=style, overflow="fold")


def _width() -> int:
    return max(NARROWEST, shutil.get_terminal_size((WIDTH, 24)).columns)


def table_of(*columns: str, names: Sequence[str]) -> Table:
    """Return a table with these columns; the names in the first are kept whole where there is room, and nothing is cut."""
    table = Table(box=SIMPLE_HEAD)
    if _width() < LEAST_FOR_COLUMNS:
        table.add_column(BETWEEN.join(columns), overflow="fold")
        return table
    longest = max(map(len, names), default=0)
    for column in columns:
        whole = column == columns[0] and longest <= _width() // 3
        table.add_column(column, overflow="fold", no_wrap=whole, justify="right" if column in NUMBERS else "left")
    return table


def keep_words_whole(table: Table, longest: int) -> None:
    """Break no word of so many characters in any column but the first, where the terminal is wide enough for that."""
    if 1 < len(table.columns) <= _width() // (longest + 2):
        table.columns[0].no_wrap = False
        for column in table.columns[1:]:
            column.min_width = longest


def add_row(table: Table, *cells: str | Text) -> None:
    """Add a row whose text is safe; line breaks stay."""
    safe = [Text("\n".join(map(sanitize, cell.split("\n")))) if isinstance(cell, str) else cell for cell in cells]
    if len(table.columns) == 1:
        table.add_row(Text(BETWEEN).join(cell for cell in safe if cell.plain), end_section=True)
    else:
        table.add_row(*safe)


def styled(word: str, more: str = "") -> Text:
    """Return a word in its style, and more about it after a colon."""
    return Text.assemble((word, STYLES.get(word, "")), f": {more}" if more else "")
