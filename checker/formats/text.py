# SPDX-License-Identifier: Apache-2.0
"""Reports as text that a person reads: tables, the shortest counterexample step by step, and the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from hwmark.checker.asked import view_of
from hwmark.checker.catalogue import Proved
from hwmark.checker.replay import Replayed
from hwmark.checker.report import Judged, Report, Told
from hwmark.checker.suite import Suite
from hwmark.checker.text import sanitize
from hwmark.checker.verdict import Verdict
from hwmark.checker.wording import in_steps
from hwmark.spec.catalogue import Row
from hwmark.spec.view import View

from . import assignments, say
from .layout import STYLES, add_row, prose, rendered, styled, table_of

FEW = 3
"""So many properties are named in a line of the suite; of more, only their number."""
HOW_TO_READ = "A rule agrees if these break without it, each after so many steps or at so large a question, and nothing breaks with it."
"""What stands below a table of rules."""


# -- one check --


def report_text(report: Report, *, colour: bool = False) -> str:
    """Return the report of one check: its properties, a shortest counterexample, the actions, and the figures."""
    table = table_of("property", "kind", "verdict", "steps", "promise", names=[one.name for one in report.properties])
    for one in report.properties:
        promise = one.promise + (f"\n({one.why})" if one.why else "")
        add_row(table, one.name, one.kind, styled(one.verdict.value), "" if one.depth is None else str(one.depth), promise)
    heading = f"{report.machine} under {_rules(report)}, {assignments(report.bounds)}"
    return rendered(Text(heading, style="bold"), table, *_shown(report), *map(prose, _figures(report)), colour=colour)


def _rules(report: Report) -> str:
    return report.preset or f"rules without a name ({assignments(report.rules)})"


def _shown(report: Report) -> Iterator[Text]:
    """A shortest counterexample in full, and where to find the others."""
    if not report.counterexamples():
        return
    first, *others = report.counterexamples()
    yield Text(f"\n{first.name} is violated after {in_steps(len(first.steps or ()))}:", style="bold red")
    yield from steps(first.steps or (), first.loop, view_of(report.machine))
    if first.witness:
        yield Text(f"Then {assignments(first.witness, view_of(report.machine))}.")
    for other in others:
        yield Text(f"{other.name} is violated too, after {in_steps(len(other.steps or ()))}: ask with --property {other.name}.")


def steps(told: Sequence[Told], loop: int | None, view: View) -> Iterator[Text]:
    """Yield the steps of a run, numbered, each with what it changed."""
    for number, step in enumerate(told, start=1):
        if loop is not None and number == loop + 1:
            yield Text("     from here on, again and again:", style="bold")
        yield Text(f"{number:4}. {sanitize(step.call)}")
        width = max((len(change.path) for change in step.changes), default=0)
        for change in step.changes:
            yield Text(
                f"        {change.path:{width}}  {say(change.before, view, change.path)} → {say(change.after, view, change.path)}",
                style="dim",
            )
    if loop is not None and loop == len(told):
        yield Text("     and then nothing happens any more.", style="bold")


def replay_text(  # noqa: PLR0913 - all that is said of a run
    replayed: Replayed, taken: Sequence[Told], preset: str | None, promise: str, *, violated: bool = True, colour: bool = False
) -> str:
    """Return a run that was taken again: its lesson, its steps with what each changed, and what it shows."""
    machine = replayed.machine
    heading = f"{machine.name} under {preset or f'rules without a name ({assignments(machine.rules)})'}, {assignments(machine.bounds)}"
    parts = [Text(heading, style="bold")]
    if replayed.note:
        parts.append(prose(f"\n{sanitize(replayed.note)}"))
    verdict = prose(
        f"\n{replayed.property} is {'violated' if violated else 'met'}: {sanitize(promise)}", style="bold red" if violated else "bold"
    )
    parts += [Text(""), *steps(taken, replayed.loop, view_of(machine.name)), verdict]
    if replayed.witness:
        parts.append(Text(f"Shown by {assignments(replayed.witness, view_of(machine.name))}."))
    return rendered(*parts, *(prose(sanitize(one)) for one in replayed.remarks), colour=colour)


def _figures(report: Report) -> Iterator[str]:
    yield ""
    taken = [f"{name} {count:,}" for name, count in report.taken.items() if count]
    never = [name for name, count in report.taken.items() if not count]
    yield f"Actions taken: {', '.join(taken) or 'none'}."
    yield f"Never {'enabled' if report.complete else 'taken so far'}: {', '.join(never) or 'none'}."
    if report.unasked:
        yield f"Not asked: {', '.join(report.unasked)}; ask with --property."
    diameter = "unknown" if report.diameter is None else in_steps(report.diameter)
    yield f"{report.states:,} states, {report.transitions:,} transitions, diameter {diameter}, {report.seconds:.1f} s."
    settings = assignments(report.config)
    yield f"Rules: {assignments(report.rules)}.{f' Config: {settings}.' if settings else ''}"
    if report.note:
        yield f"Note: {sanitize(report.note)}."
    threads = f" on {report.workers} CPUs" if report.workers > 1 else ""
    yield f"Engine {report.engine}{threads}, symmetry {'on' if report.symmetry else 'off'}, nothing random."
    yield "The whole scope was explored." if report.complete else f"Stopped early: {sanitize(report.stopped or '')}."
    yield f"{report.verdict.value}: {_tally(report.properties)}."


def _tally(properties: Sequence[Judged]) -> str:
    counts = {verdict: sum(one.verdict is verdict for one in properties) for verdict in Verdict}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count) or "nothing was asked"


def _asked_and_found(properties: Sequence[Judged]) -> str:
    """Return the tally, and what was asked where that is little."""
    few = f" ({', '.join(one.name for one in properties)})" if len(properties) <= FEW else ""
    return f"{_tally(properties)}{few}"


# -- the suite and the catalogue --


def suite_text(suite: Suite, *, colour: bool = False) -> str:
    """Return the default suite as one table, with a line for whatever is not as promised."""
    names = [run.title for run in suite.runs] + [proved.row.id for proved in suite.rows]
    table = table_of("checked", "in", "states", "result", names=names)
    troubles: list[Text] = []
    for run in suite.runs:
        add_row(table, run.title, assignments(run.bounds), f"{run.states:,}", styled(run.verdict.value, _asked_and_found(run.properties)))
        troubles += map(Text, _troubles(run))
    for proved in suite.rows:
        add_row(
            table,
            proved.row.id,
            assignments(proved.bounds),
            f"{proved.states:,}",
            styled(_agreement(proved), _broken(proved.row) if proved.agrees else "see below the table"),
        )
        troubles += [Text(f"{proved.row.id}: {sanitize(why)}") for why in proved.why]
    closing = f"{suite.verdict.value}: {len(suite.runs)} checks, {len(suite.rows)} rows of the catalogue, {suite.seconds:.1f} s."
    return rendered(table, *troubles, Text(HOW_TO_READ), Text(closing, style=STYLES[suite.verdict.value]), colour=colour)


def _troubles(run: Report) -> Iterator[str]:
    """Yield a line for each property that does not hold, but only one for all those that a stopped search left open."""
    stopped = [one for one in run.properties if one.verdict is Verdict.UNDETERMINED and not run.complete and one.why == run.stopped]
    for one in run.properties:
        if one.verdict is not Verdict.HOLDS and (one not in stopped or len(stopped) == 1):
            yield f"{run.title}: {one.name} is {one.verdict.value}{_because(one)}"
    if len(stopped) > 1:
        yield f"{run.title}: {len(stopped)} properties are undetermined{_because(stopped[0])}"


def _because(one: Judged) -> str:
    if one.why:
        return f": {sanitize(one.why)}"
    return "" if one.depth is None else f" after {in_steps(one.depth)}"


def catalogue_text(
    rows: Sequence[Row], proved: Mapping[str, Proved], requirements: Sequence[Mapping[str, Any]] = (), *, colour: bool = False
) -> str:
    """Return rows of the catalogue: each rule, what breaks without it, and, of rows that were run, whether that is so.

    Requirements, as ``catalogue.plain_requirements`` gives them, come in a table after the rows.
    """
    table = table_of("row", "rule", "without it", "status", names=[row.id for row in rows])
    troubles: list[Text] = []
    for row in rows:
        proof = proved.get(row.id)
        status = row.status if proof is None else _agreement(proof)
        add_row(table, f"{row.id}\n{', '.join(row.sources)}", f"{row.rule}: {row.statement}", _broken(row), styled(status))
        troubles += [Text(f"{row.id}: {sanitize(why)}") for why in (proof.why if proof else ())]
    below = [_requirements(requirements)] if requirements else []
    return rendered(table, *troubles, Text(HOW_TO_READ), *below, colour=colour)


def _requirements(requirements: Sequence[Mapping[str, Any]]) -> Table:
    table = table_of("required", "statement", "carried by", "status", names=[one["id"] for one in requirements])
    for one in requirements:
        add_row(table, one["id"], one["statement"], ", ".join(one["carried_by"]), styled(one["status"]))
    return table


def _agreement(proved: Proved) -> str:
    return "disagrees" if proved.verdict is Verdict.VIOLATED else "agrees" if proved.agrees else proved.verdict.value


def _broken(row: Row) -> str:
    if row.control:
        return "breaks nothing (a control)"
    return ", ".join(f"{name} ({depth})" for name, depth in row.breaks.items())
