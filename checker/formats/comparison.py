# SPDX-License-Identifier: Apache-2.0
"""A comparison as text that a person reads: a table of answers, what each column and line stands for, and what they teach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from hwmark.checker.compare import Cell, Compared
from hwmark.checker.text import sanitize
from hwmark.checker.verdict import Verdict
from hwmark.checker.wording import in_steps, written_facts, written_rules
from hwmark.spec.comparison import Comparison, Line
from hwmark.spec.property import KINDS, Reachable

from .layout import STYLES, add_row, keep_words_whole, prose, rendered, styled, table_of

DOES_NOT_APPLY = "–"
DEFAULTS = "the defaults"


def comparison_text(compared: Compared, *, colour: bool = False) -> str:
    """Return a comparison with its answers."""
    comparison = compared.comparison
    table = table_of("", *(column.label for column in comparison.columns), names=[])
    keep_words_whole(table, len(Verdict.UNDETERMINED.value))
    for line, row in zip(comparison.lines, compared.cells, strict=True):
        add_row(table, line.label, *(Text(DOES_NOT_APPLY) if cell is None else cell_text(cell) for cell in row))
    heading = f"{comparison.name}: {sanitize(comparison.question)}"
    return rendered(prose(heading, style="bold"), table, *map(prose, _below(compared)), _closing(compared), colour=colour)


def cell_text(cell: Cell) -> Text:
    """Return an answer in a few words."""
    if cell.verdict is Verdict.UNDETERMINED:
        return styled(cell.verdict.value)
    if cell.least is not None and cell.most is not None:
        least, most = cell.least.value, cell.most.value
        return Text(str(least) if least == most else f"{least} to {most}")
    if cell.kind == KINDS[Reachable]:
        return Text(f"met in {in_steps(cell.depth or 0)}" if cell.verdict is Verdict.HOLDS else "never met", STYLES[cell.verdict.value])
    if cell.verdict is Verdict.HOLDS:
        return styled(cell.verdict.value)
    return Text("broken" if cell.depth is None else f"broken in {in_steps(cell.depth)}", STYLES[cell.verdict.value])


def _below(compared: Compared) -> Iterator[str]:
    """Yield what the columns and lines stand for, what is not known and why, and the lesson."""
    comparison = compared.comparison
    for column in comparison.columns:
        given = [written_rules(values) for values in (column.config, column.bounds) if values is not None]
        changed = [sanitize(text) for text in given if text != DEFAULTS]
        yield f"{column.label}: {', '.join((f'{column.machine} under {column.rules}', *changed))}."
    machines = tuple(dict.fromkeys(column.machine for column in comparison.columns))
    for line in comparison.lines:
        yield f"{line.label}: {_asked(line, machines)}."
    yield from _unknown(compared)
    yield sanitize(comparison.teaches)
    yield f"Sources: {', '.join(comparison.sources)}."


def _unknown(compared: Compared) -> Iterator[str]:
    """Yield why answers are undetermined, a reason that several share but once."""
    reasons: dict[str, list[str]] = {}
    for line, row in zip(compared.comparison.lines, compared.cells, strict=True):
        for column, cell in zip(compared.comparison.columns, row, strict=True):
            if cell is not None and cell.why:
                reasons.setdefault(cell.why, []).append(f"{line.label}, {column.label}: {cell.verdict.value}")
    for why, several in reasons.items():
        yield f"{several[0] if len(several) == 1 else f'{len(several)} answers'}: {sanitize(why)}."


def _asked(line: Line, machines: Sequence[str]) -> str:
    """Return what a line asks of each machine, and in which bounds."""
    asked: dict[str, list[str]] = {}
    for machine in machines:
        ask = line.of(machine)
        if ask is not None:
            bounds = f" with {sanitize(written_facts(ask.bounds))}" if ask.bounds else ""
            asked.setdefault(f"{ask.name}{bounds}", []).append(machine)
    if len(asked) < 2:
        return next(iter(asked), DOES_NOT_APPLY)
    return "; ".join(f"{' and '.join(several)}: {what}" for what, several in asked.items())


def _closing(compared: Compared) -> Text:
    cells = [cell for row in compared.cells for cell in row if cell is not None]
    decided = sum(cell.verdict is not Verdict.UNDETERMINED for cell in cells)
    stopped = f" Stopped early: {sanitize(compared.stopped)}." if compared.stopped else ""
    return Text(f"{decided} of {len(cells)} answers are decided, {compared.seconds:.1f} s.{stopped}", STYLES[compared.verdict.value])


def list_text(comparisons: list[Comparison], *, colour: bool = False) -> str:
    """Return which comparisons there are."""
    table = table_of("comparison", "question", "columns", names=[one.name for one in comparisons])
    for one in comparisons:
        add_row(table, one.name, one.question, ", ".join(column.label for column in one.columns))
    return rendered(table, Text("hwmark compare NAME answers one."), colour=colour)
