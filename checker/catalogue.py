# SPDX-License-Identifier: Apache-2.0
"""Proves rows of the catalogue by exploring: switched off, the rule's absence breaks what the row says; switched on, nothing.

Switched off, a row asks the properties that it names, and each must be violated in exactly the steps that it says. Switched on,
and both times for a control, it asks every invariant and step property that needs no observer, and the named ones: nothing may
be violated, the whole scope must be explored and be as large as the row says, and what is named must hold. A row without rules
to switch off has that second side only. Rows about pure functions are proved by ``function_rows``. ``plain`` is the JSON
form, ``hwmark.catalogue/1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from hwmark.spec.catalogue import Row
from hwmark.spec.coverage import CARRIED_BY
from hwmark.spec.functions import FUNCTIONS
from hwmark.spec.property import Invariant, StepProperty
from hwmark.spec.requirements import CARRIED, REQUIREMENTS

from . import function_rows
from .asked import Asked, described, named
from .engine import Engine
from .plain import to_plain
from .report import Judged, Report, check
from .verdict import Verdict, worst
from .workers import Stop

SCHEMA = "hwmark.catalogue/1"


@frozen
class Proved:
    """What running a row showed: ``states`` are those of the scope under the right rules; ``why`` says what is not as promised."""

    row: Row
    bounds: Any
    verdict_off: Verdict | None
    verdict_on: Verdict
    states: int
    verdict: Verdict
    """``holds``: the row is right; ``violated``: a complete answer contradicts it; ``undetermined``: an answer is missing."""
    why: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether both runs say exactly what the row says."""
        return self.verdict is Verdict.HOLDS


def can_be_proved(row: Row) -> bool:
    """Whether the row is about a machine that can be explored under its rules."""
    return row.status == CARRIED and None not in (row.machine, row.rules_on)


def prove(row: Row, stop: Stop) -> Proved:
    """Explore both sides of a row, and compare them with what it says."""
    if row.machine in FUNCTIONS:
        return _prove_function(row, stop)
    *offs, on = (check(asked, stop).report for asked in sides(row))
    findings = [one for off in offs for one in (_breaks_nothing(off, {}) if row.control else _breaks(off, row.breaks))]
    findings += [*_breaks_nothing(on, (*row.breaks, *row.holds)), *_size(row, on)]
    if offs and not row.control and not row.breaks:
        findings.append((Verdict.VIOLATED, "the row names nothing that breaks, and is no control"))
    return Proved(
        row=row,
        bounds=on.bounds,
        verdict_off=next((_verdict(off, row.breaks) for off in offs), None),
        verdict_on=_verdict(on, (*row.breaks, *row.holds)),
        states=on.states,
        verdict=worst(verdict for verdict, _ in findings),
        why=tuple(why for _, why in findings),
    )


def _prove_function(row: Row, stop: Stop) -> Proved:
    """Ask both sides of a row about a pure function; ``states`` are the questions of its scope."""
    off, on = function_rows.sides(row, stop)
    findings = tuple(function_rows.findings(row, off, on))
    return Proved(
        row=row,
        bounds=_bounds(row),
        verdict_off=function_rows.verdict(off),
        verdict_on=function_rows.verdict(on),
        states=on.questions,
        verdict=worst(verdict for verdict, _ in findings),
        why=tuple(why for _, why in findings),
    )


def not_proved(row: Row, why: str) -> Proved:
    """Return what is known of a row whose runs did not come to an end: nothing."""
    unknown = Verdict.UNDETERMINED
    return Proved(row, _bounds(row), None if row.rules_off is None else unknown, unknown, 0, unknown, (why,))


def sides(row: Row) -> tuple[Asked, ...]:
    """Return the checks of a row: with the rule switched off, where it says what that breaks, and with it switched on."""
    chosen = described(str(row.machine))
    for name in (*row.breaks, *row.holds):
        named("property", name, [prop.name for prop in chosen.properties])
    safety = [prop.name for prop in chosen.properties if isinstance(prop, Invariant | StepProperty) and not prop.observers]
    both = tuple(dict.fromkeys((*safety, *row.breaks)))

    def side(preset: str | None, given: Any, bounds: Any, properties: tuple[str, ...]) -> Asked:
        name = named("preset", str(preset), chosen.presets)
        engine = Engine.REFERENCE if row.quick else Engine.AUTO
        rules, config = chosen.presets[name], chosen.module.Config() if given is None else given
        return Asked(chosen.name, name, rules, config, bounds, properties, symmetry=row.symmetry, engine=engine)

    on = side(row.rules_on, row.config, _bounds(row), tuple(dict.fromkeys((*both, *row.holds))))
    if row.rules_off is None:
        return (on,)
    config, bounds = (ours if theirs is None else theirs for ours, theirs in ((row.config, row.config_off), (_bounds(row), row.bounds_off)))
    return side(row.rules_off, config, bounds, both if row.control else tuple(row.breaks)), on


def _bounds(row: Row) -> Any:
    if row.bounds is not None:
        return row.bounds
    function = FUNCTIONS.get(str(row.machine))
    return described(str(row.machine)).small if function is None else function.small


Finding = tuple[Verdict, str]


def _breaks(report: Report, breaks: Mapping[str, int]) -> Iterator[Finding]:
    """Yield what is wrong with the run that must violate these properties after so many steps each."""
    for one in report.properties:
        promised = breaks.get(one.name)
        if _is_stopped(report, one):
            continue
        if one.verdict is Verdict.UNDETERMINED:
            yield one.verdict, f"under {report.preset} {one.name} is undetermined: {one.why}"
        elif promised is None or one.verdict is Verdict.HOLDS:
            yield Verdict.VIOLATED, f"under {report.preset} {one.name} is {one.verdict.value}, which the row does not say"
        elif one.depth != promised:
            yield Verdict.VIOLATED, f"under {report.preset} {one.name} is violated after {one.depth} steps, not {promised}"
    if any(_is_stopped(report, one) for one in report.properties):
        yield Verdict.UNDETERMINED, f"under {report.preset} not everything was found: {report.stopped}"


def _breaks_nothing(report: Report, named_ones: Iterable[str]) -> Iterator[Finding]:
    """Yield what is wrong with the run that must explore its whole scope and violate nothing."""
    for one in report.properties:
        if one.verdict is Verdict.VIOLATED:
            yield one.verdict, f"under {report.preset} {one.name} is violated{_after(one)}"
        elif one.verdict is Verdict.UNDETERMINED and one.name in named_ones and not _is_stopped(report, one):
            yield one.verdict, f"under {report.preset} {one.name} is undetermined: {one.why}"
    if not report.complete and report.verdict is not Verdict.VIOLATED:
        yield Verdict.UNDETERMINED, f"under {report.preset} the scope was not explored: {report.stopped}"
    elif not any(one.verdict is Verdict.HOLDS for one in report.properties):
        yield Verdict.UNDETERMINED, f"under {report.preset} nothing is known to hold"


def _size(row: Row, report: Report) -> Iterator[Finding]:
    """Yield whether a scope that was explored has another size than the row says."""
    if report.complete and row.states not in (None, report.states):
        yield Verdict.VIOLATED, f"under {report.preset} there are {report.states} states, not {row.states}"


def _is_stopped(report: Report, one: Judged) -> bool:
    """Whether a property is undetermined since the search was stopped: said once, not of each."""
    return one.verdict is Verdict.UNDETERMINED and not report.complete and one.why == report.stopped


def _verdict(report: Report, named_ones: Iterable[str]) -> Verdict:
    """Return the verdict of a side; of what the row does not name, something vacuous in this scope does not count."""
    if not report.complete:
        return report.verdict
    return worst(one.verdict for one in report.properties if one.name in named_ones or one.verdict is not Verdict.UNDETERMINED)


def _after(one: Judged) -> str:
    return "" if one.depth is None else f" after {one.depth} steps"


# -- as JSON --


def plain(rows: Iterable[Row], proved: Mapping[str, Proved], *, ran: bool) -> dict[str, Any]:
    """Return rows as JSON data; ``ran``: with what running each row showed, null for rows that cannot be run."""
    return {"schema": SCHEMA, "rows": [plain_row(row, proved.get(row.id), ran=ran) for row in rows]}


def plain_requirements() -> list[dict[str, Any]]:
    """Return the requirements as JSON data, each with the promises and rows that carry it."""
    return [
        {"id": one.id, "statement": one.statement, "status": one.status, "carried_by": list(CARRIED_BY[one.id])}
        for one in REQUIREMENTS.values()
    ]


def plain_row(row: Row, proved: Proved | None, *, ran: bool) -> dict[str, Any]:
    """Return one row as JSON data."""
    written = {
        "id": row.id,
        "rule": row.rule,
        "statement": row.statement,
        "sources": list(row.sources),
        "status": row.status,
        "machine": row.machine,
        "rules_off": row.rules_off,
        "rules_on": row.rules_on,
        "bounds": to_plain(row.bounds),
        "breaks": dict(row.breaks),
        "trace": row.trace,
        "control": row.control,
        "config": to_plain(row.config),
        "config_off": to_plain(row.config_off),
        "bounds_off": to_plain(row.bounds_off),
        "holds": list(row.holds),
        "example": to_plain(row.example),
    }
    if not ran:
        return written
    return {
        **written,
        "verdict_off": proved.verdict_off.value if proved and proved.verdict_off else None,
        "verdict_on": proved.verdict_on.value if proved else None,
        "states": proved.states if proved else None,
        "agrees": proved.agrees if proved else None,
    }
