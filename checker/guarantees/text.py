# SPDX-License-Identifier: Apache-2.0
"""What settings promise, as text that a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from hwmark.checker.asked import view_of
from hwmark.checker.formats.layout import add_row, prose, rendered, table_of
from hwmark.checker.pictures.story import tell
from hwmark.checker.verdict import Verdict
from hwmark.checker.wording import in_steps

from .page import summary
from .report import WORDS, Report, Row

STYLES = {Verdict.HOLDS: "green", Verdict.VIOLATED: "bold red", Verdict.UNDETERMINED: "yellow"}


def report_text(report: Report, files: Mapping[str, Mapping[str, str]], *, colour: bool = False) -> str:
    """Return the answer about one case: a table of promises, what breaks them, what is odd, and where was looked."""
    table = table_of("promise", "verdict", "what it says", names=[row.title for row in report.rows])
    for row in report.rows:
        said = row.promise + (f"\n({row.answer.why})" if row.answer.why else "")
        add_row(table, row.title, Text(WORDS[row.answer.verdict], STYLES[row.answer.verdict]), said)
    parts = [Text(str(report.settings), style="bold"), table, *_breaks(report, files), *map(prose, _notes(report))]
    return rendered(*parts, colour=colour)


def _breaks(report: Report, files: Mapping[str, Mapping[str, str]]) -> Iterator[Text]:
    """Yield each run that breaks promises, once for all that it breaks."""
    together: dict[Any, list[Row]] = {}
    for row in report.rows:
        if row.broken is not None:
            together.setdefault((tuple(map(str, row.broken.trace.steps)), str(row.broken.explanation)), []).append(row)
    for several in together.values():
        yield from _break(several, files)
    if together and not files:
        yield prose(f"\nhwmark guarantees {report.settings.options()} --out DIR also writes a trace and a picture of each.")


def _break(rows: Sequence[Row], files: Mapping[str, Mapping[str, str]]) -> Iterator[Text]:
    shown = rows[0].broken
    if shown is None:
        return
    steps = in_steps(len(shown.trace.steps))
    yield Text(f"\nBroken after {steps}: {'; '.join(row.title for row in rows)}.", style="bold red")
    yield prose(shown.trace.note)
    for row in tell(shown.replayed, view_of(shown.trace.machine)).rows[1:]:
        yield prose(f"{row.number:4}. {row.event.caption}")
    written = [name for row in rows for name in files.get(row.answer.promise, {}).values()]
    if written:
        yield Text(f"Written to {', '.join(written)}.")


def _notes(report: Report) -> Iterator[str]:
    if report.remarks:
        yield "\n" + "\n".join(report.remarks)
    yield "\nLooked at:"
    for seen in report.seen:
        end = "all of them" if seen.found.complete else f"stopped: {seen.found.stopped}"
        yield f"  {seen.look.statement}: {seen.found.states:,} states, {end}, {seen.found.seconds:.1f} s."
    yield f"All together: {WORDS[report.verdict]}, in {report.seconds:.1f} s."


# -- a grid --


def grid_text(found: Mapping[str, Any], titles: Mapping[str, str], *, colour: bool = False) -> str:
    """Return a grid, given as JSON data, as text: each cell with the promises that are broken and those that are not decided."""
    table = table_of("cell", "settings", "broken", "not decided", names=[str(len(found["cells"]))])
    for cell in found["cells"]:
        named = (", ".join(titles[one["name"]] for one in cell["promises"] if one["verdict"] == word) for word in ("broken", "not decided"))
        add_row(table, str(cell["number"]), cell["name"], *named)
    return rendered(table, prose(summary(found)), colour=colour)
