# SPDX-License-Identifier: Apache-2.0
"""Reports as text that a person reads: tables, the shortest counterexample step by step, and the figures."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hwmark.checker.catalogue import Proved
from hwmark.checker.report import Judged, Report, Told
from hwmark.checker.suite import Suite
from hwmark.checker.text import sanitize
from hwmark.checker.verdict import Verdict
from hwmark.spec.catalogue import Row

from . import assignments, say

STYLES = {"holds": "green", "violated": "bold red", "undetermined": "yellow", "agrees": "green", "not run": "dim", "planned": "dim"}
WIDTH, NARROWEST = 110, 40


def rendered(*parts: Any, colour: bool) -> str:
    """Return what rich makes of these tables and lines, as wide as the terminal and without colour unless asked for."""
    width = max(NARROWEST, shutil.get_terminal_size((WIDTH, 24)).columns)
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="auto" if colour else None, markup=False, highlight=False, emoji=False
    )
    for part in parts:
        console.print(part, soft_wrap=not isinstance(part, Table))
    return out.getvalue()


# -- one check --


def report_text(report: Report, *, colour: bool = False) -> str:
    """Return the report of one check: its properties, a shortest counterexample, the actions, and the figures."""
    table = _table(("property", {"overflow": "fold"}), ("kind", {}), ("verdict", {}), ("steps", {"justify": "right"}), ("promise", {"ratio": 1}))
    for one in report.properties:
        promise = sanitize(one.promise) + (f"\n({sanitize(one.why)})" if one.why else "")
        table.add_row(one.name, one.kind, _verdict(one.verdict.value), "" if one.depth is None else str(one.depth), promise)
    heading = f"{report.machine} under {_rules(report)}, {assignments(report.bounds)}"
    return rendered(Text(heading, style="bold"), table, *_shown(report), *map(Text, _figures(report)), colour=colour)


def _rules(report: Report) -> str:
    return report.preset or f"rules without a name ({assignments(report.rules)})"


def _shown(report: Report) -> Iterator[Text]:
    """A shortest counterexample in full, and where to find the others."""
    if not report.counterexamples():
        return
    first, *others = report.counterexamples()
    yield Text(f"\n{first.name} is violated after {len(first.steps or ())} steps:", style="bold red")
    yield from steps(first.steps or (), first.loop)
    if first.witness:
        yield Text(f"Then {assignments(first.witness)}.")
    for other in others:
        yield Text(f"{other.name} is violated too, after {len(other.steps or ())} steps: ask with --property {other.name}.")


def steps(told: Sequence[Told], loop: int | None = None) -> Iterator[Text]:
    """Yield the steps of a run, numbered, each with what it changed."""
    for number, step in enumerate(told, start=1):
        if loop is not None and number == loop + 1:
            yield Text("     from here on, again and again:", style="bold")
        yield Text(f"{number:4}. {sanitize(step.call)}")
        width = max((len(change.path) for change in step.changes), default=0)
        for change in step.changes:
            yield Text(f"        {change.path:{width}}  {say(change.before)} → {say(change.after)}", style="dim")
    if loop is not None and loop == len(told):
        yield Text("     and then nothing happens any more.", style="bold")


def _figures(report: Report) -> Iterator[str]:
    yield ""
    taken = [f"{name} {count:,}" for name, count in report.taken.items() if count]
    never = [name for name, count in report.taken.items() if not count]
    yield f"Actions taken: {', '.join(taken) or 'none'}."
    yield f"Never {'enabled' if report.complete else 'taken so far'}: {', '.join(never) or 'none'}."
    if report.unasked:
        yield f"Not asked: {', '.join(report.unasked)}; ask with --property."
    diameter = "unknown" if report.diameter is None else f"{report.diameter} steps"
    yield f"{report.states:,} states, {report.transitions:,} transitions, diameter {diameter}, {report.seconds:.1f} s."
    settings = assignments(report.config)
    yield f"Rules: {assignments(report.rules)}.{f' Config: {settings}.' if settings else ''}"
    yield f"Engine {report.engine}, symmetry {'on' if report.symmetry else 'off'}, nothing random."
    yield "The whole scope was explored." if report.complete else f"Stopped early: {sanitize(report.stopped or '')}."
    yield f"{report.verdict.value}: {_tally(report.properties)}."


def _tally(properties: Sequence[Judged]) -> str:
    counts = {verdict: sum(one.verdict is verdict for one in properties) for verdict in Verdict}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count) or "nothing was asked"


# -- the suite and the catalogue --


def suite_text(suite: Suite, *, colour: bool = False) -> str:
    """Return the default suite as one table, with a line for whatever is not as promised."""
    table = _table(("checked", {"overflow": "fold"}), ("in", {"ratio": 1}), ("states", {"justify": "right"}), ("result", {"ratio": 2}))
    troubles: list[Text] = []
    for run in suite.runs:
        table.add_row(run.title, assignments(run.bounds), f"{run.states:,}", _verdict(run.verdict.value, _tally(run.properties)))
        troubles += [
            Text(f"{run.title}: {one.name} is {one.verdict.value}{_because(one)}")
            for one in run.properties
            if one.verdict is not Verdict.HOLDS
        ]
    for proved in suite.rows:
        table.add_row(proved.row.id, assignments(proved.bounds), f"{proved.states:,}", _verdict(_agreement(proved), _broken(proved.row)))
        troubles += [Text(f"{proved.row.id}: {sanitize(why)}") for why in proved.why]
    closing = f"{suite.verdict.value}: {len(suite.runs)} machines, {len(suite.rows)} rows of the catalogue, {suite.seconds:.1f} s."
    return rendered(table, *troubles, Text(closing, style=STYLES[suite.verdict.value]), colour=colour)


def _because(one: Judged) -> str:
    if one.why:
        return f": {sanitize(one.why)}"
    return "" if one.depth is None else f" after {one.depth} steps"


def catalogue_text(rows: Sequence[Row], proved: Mapping[str, Proved], *, colour: bool = False) -> str:
    """Return the catalogue: each rule, what breaks without it, and, of rows that were run, whether that is so."""
    table = _table(
        ("row", {"overflow": "fold"}), ("rule", {"ratio": 2}), ("without it", {"ratio": 2}), ("sources", {"ratio": 1}), ("status", {})
    )
    troubles: list[Text] = []
    for row in rows:
        proof = proved.get(row.id)
        status = row.status if proof is None else _agreement(proof)
        table.add_row(row.id, f"{sanitize(row.rule)}: {sanitize(row.statement)}", _broken(row), ", ".join(row.sources), _verdict(status))
        troubles += [Text(f"{row.id}: {sanitize(why)}") for why in (proof.why if proof else ())]
    return rendered(table, *troubles, colour=colour)


def _agreement(proved: Proved) -> str:
    return "agrees" if proved.agrees else proved.verdict.value


def _broken(row: Row) -> str:
    if row.control:
        return "breaks nothing (a control)"
    return ", ".join(f"{name} after {depth} steps" for name, depth in row.breaks.items())


def _table(*columns: tuple[str, dict[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, options in columns:
        table.add_column(name, **options)
    return table


def _verdict(word: str, more: str = "") -> Text:
    return Text.assemble((word, STYLES.get(word, "")), f": {more}" if more else "")
