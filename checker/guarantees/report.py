# SPDX-License-Identifier: Apache-2.0
"""What is answered about settings, as plain values: each promise, why it is broken, and in which scopes it was looked for.

``plain`` is the JSON form of one case, ``plain_grid`` that of many, both ``hwmark.guarantees/1``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from attrs import evolve, frozen

from hwmark.checker import trace
from hwmark.checker.plain import to_plain
from hwmark.checker.replay import Replayed
from hwmark.checker.trace import Trace
from hwmark.checker.verdict import Verdict, worst
from hwmark.spec.machines import MACHINES

from .decide import Answer, Case, Decided, Seen
from .look import Plan, asked

SCHEMA = "hwmark.guarantees/1"

WORDS = {Verdict.HOLDS: "holds", Verdict.VIOLATED: "broken", Verdict.UNDETERMINED: "not decided"}
"""How verdicts are called where promises are somebody's to rely on."""


class Explanation(Protocol):
    """Why a promise is broken: a cause that has a name, and three sentences."""

    @property
    def cause(self) -> Any:
        """An enum member."""
        ...

    @property
    def happens(self) -> str:
        """What happens."""
        ...

    @property
    def allowed(self) -> str:
        """Why the settings allow it."""
        ...

    @property
    def ends(self) -> str:
        """Which setting ends it."""
        ...


Explain = Callable[[str, Replayed], Explanation]
"""Explains a promise from a run that breaks it."""


@frozen
class Broken:
    """A broken promise: the run that shows it, and why it is possible."""

    trace: Trace
    replayed: Replayed
    explanation: Explanation


@frozen
class Row:
    """A promise by its title and in full, and the answer."""

    title: str
    promise: str
    answer: Answer
    broken: Broken | None


@frozen
class Report:
    """The answer about one case."""

    case: Case
    settings: Any
    remarks: tuple[str, ...]
    rows: tuple[Row, ...]
    seen: tuple[Seen, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The verdict on all promises together."""
        return worst(row.answer.verdict for row in self.rows)


def broken(answer: Answer, plan: Plan, explain: Explain) -> Broken | None:
    """Return the run of a broken promise, taken again, and its explanation; of any other promise nothing."""
    look, result = answer.look, answer.result
    if answer.verdict is not Verdict.VIOLATED or look is None or result is None:
        return None
    described = MACHINES[look.machine]
    made = trace.to_trace(described, look.rules, asked(look, (answer.promise,), plan).build(), result)
    replayed = trace.replay(made)
    explanation = explain(answer.promise, replayed)
    note = f"{explanation.happens} {explanation.allowed} {explanation.ends}"
    return Broken(evolve(made, note=note), evolve(replayed, note=note), explanation)


def rows(case: Case, answers: tuple[Answer, ...], titles: Mapping[str, str], plan: Plan, explain: Explain) -> Iterator[Row]:
    """Yield the answers about a case, with their explanations."""
    machine = MACHINES[case.looks[0].machine]
    for answer in answers:
        prop = machine.find(answer.promise)
        yield Row(titles[answer.promise], "" if prop is None else prop.promise, answer, broken(answer, plan, explain))


# -- JSON --


def plain(report: Report, files: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the answer about one case as JSON data, with the names of the files that were written for a promise."""
    return {
        "schema": SCHEMA,
        "settings": to_plain(report.settings),
        "remarks": list(report.remarks),
        "scopes": [_plain_scope(report, seen) for seen in report.seen],
        "promises": [{**_plain_row(row), **files.get(row.answer.promise, {})} for row in report.rows],
        "verdict": WORDS[report.verdict],
        "seconds": round(report.seconds, 3),
    }


def _plain_scope(report: Report, seen: Seen) -> dict[str, Any]:
    look, found = seen.look, seen.found
    return {
        "scope": look.statement,
        "promises": [name for name in look.promises if name in report.case.promises],
        "machine": look.machine,
        "rules": look.rules,
        "config": to_plain(look.config),
        "bounds": to_plain(look.bounds),
        "states": found.states,
        "transitions": found.transitions,
        "complete": found.complete,
        "stopped": found.stopped,
        "engine": found.engine,
        "seconds": round(found.seconds, 3),
    }


def _plain_row(row: Row) -> dict[str, Any]:
    answer, shown = row.answer, row.broken
    return {
        "name": answer.promise,
        "title": row.title,
        "promise": row.promise,
        "verdict": WORDS[answer.verdict],
        "why": answer.why,
        "depth": None if shown is None else len(shown.trace.steps),
        "cause": None if shown is None else shown.explanation.cause.value,
        "explanation": None if shown is None else [shown.explanation.happens, shown.explanation.allowed, shown.explanation.ends],
        "trace": None if shown is None else trace.to_json(shown.trace)["steps"],
        "check": None if shown is None else shown.trace.source,
    }


def plain_grid(settings: Sequence[Any], cases: Sequence[Case], decided: Decided) -> dict[str, Any]:
    """Return the answers about many cases as JSON data; cells are numbered from 1, and say how each promise was decided."""
    numbers = {case.name: number for number, case in enumerate(cases, start=1)}
    cells = [
        {
            "number": numbers[case.name],
            "name": case.name,
            "settings": to_plain(one),
            "promises": [_plain_cell(answer, numbers) for answer in answers],
        }
        for one, case, answers in zip(settings, cases, decided.answers, strict=True)
    ]
    return {
        "schema": SCHEMA,
        "cells": cells,
        "explored": {"scopes": len(decided.seen), "states": sum(seen.found.states for seen in decided.seen)},
        "verdict": WORDS[worst(answer.verdict for answers in decided.answers for answer in answers)],
        "seconds": round(decided.seconds, 3),
    }


def _plain_cell(answer: Answer, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "name": answer.promise,
        "verdict": WORDS[answer.verdict],
        "how": answer.how.value,
        "cell": None if answer.of is None else numbers[answer.of],
        "states": answer.states,
        "depth": None if answer.result is None else answer.result.depth,
        "why": answer.why,
    }
