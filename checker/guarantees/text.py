# SPDX-License-Identifier: Apache-2.0
"""What settings promise, as text that a person reads, and a grid of settings as a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from hwmark.checker.asked import view_of
from hwmark.checker.docs import markdown_table
from hwmark.checker.formats.layout import add_row, prose, rendered, table_of
from hwmark.checker.pictures.story import tell
from hwmark.checker.verdict import Verdict
from hwmark.checker.wording import in_steps

from .decide import Case, Decided
from .report import WORDS, Report, Row, how

STYLES = {Verdict.HOLDS: "green", Verdict.VIOLATED: "bold red", Verdict.UNDETERMINED: "yellow"}
MARKS = {Verdict.HOLDS: "yes", Verdict.VIOLATED: "**no**", Verdict.UNDETERMINED: "?"}
"""How verdicts are written in a grid."""


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


def grid_table(
    cases: Sequence[Case], labels: Sequence[tuple[str, ...]], heads: tuple[str, ...], titles: Mapping[str, str], decided: Decided
) -> Iterable[str]:
    """Yield the lines of a table in Markdown with a numbered cell a line: what it sets, and each promise with how it was decided."""
    numbers = {case.name: number for number, case in enumerate(cases, start=1)}
    lines = []
    for case, label, answers in zip(cases, labels, decided.answers, strict=True):
        said = (f"{MARKS[answer.verdict]}, {how(answer, numbers)}" for answer in answers)
        lines.append((str(numbers[case.name]), *label, *said))
    return markdown_table(("cell", *heads, *titles.values()), lines)


def grid_text(cases: Sequence[Case], titles: Mapping[str, str], decided: Decided, *, colour: bool = False) -> str:
    """Return a grid as text: each cell with the promises that are broken or not decided, and how all of them were decided."""
    table = table_of("cell", "settings", "broken", "not decided", names=[str(len(cases))])
    for number, (case, answers) in enumerate(zip(cases, decided.answers, strict=True), start=1):
        named = [[titles[one.promise] for one in answers if one.verdict is verdict] for verdict in (Verdict.VIOLATED, Verdict.UNDETERMINED)]
        add_row(table, str(number), case.name, *(", ".join(names) for names in named))
    return rendered(table, prose(summary(decided)), colour=colour)


def summary(decided: Decided) -> str:
    """Return in one line how many promises were decided in which way."""
    answers = [answer for several in decided.answers for answer in several]
    ways: dict[str, int] = {}
    for answer in answers:
        said = "not decided" if answer.verdict is Verdict.UNDETERMINED else answer.how.value
        ways[said] = ways.get(said, 0) + 1
    states = sum(seen.found.states for seen in decided.seen)
    counted = ", ".join(f"{count} {way}" for way, count in sorted(ways.items()))
    return (
        f"{len(answers)} promises in {len(decided.answers)} cells: {counted}; {len(decided.seen)} scopes with {states:,} states explored."
    )
