# SPDX-License-Identifier: Apache-2.0
"""The default suite: each machine in its small scope under its right rules, and the rows of the catalogue with quick proofs.

Each machine is checked twice if some of its properties need observers: plainly, and with those.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attrs import frozen

from hwmark.spec.catalogue import ROWS, Row
from hwmark.spec.machines import MACHINES

from . import catalogue, report
from .asked import Asked, ask, observed_properties
from .catalogue import Proved, can_be_proved, not_proved, prove
from .engine import Engine
from .report import Report, check, unfinished
from .verdict import Verdict, worst
from .workers import Stop, Task, run_all

SCHEMA = "hwmark.suite/1"


@frozen
class Suite:
    """The reports of all machines, and what running the rows showed."""

    runs: tuple[Report, ...]
    rows: tuple[Proved, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The verdict on everything together; a suite that asked nothing is undetermined."""
        verdicts = [*(one.verdict for one in self.runs), *(one.verdict for one in self.rows)]
        return worst(verdicts) if verdicts else Verdict.UNDETERMINED


def default_suite() -> tuple[tuple[Asked, ...], tuple[Row, ...]]:
    """Return the checks and the rows of the default suite; what needs an observer is a check of its own.

    The reference engine is quick enough for all of them, and nothing has to be compiled for it.
    """
    checks = [ask(name, engine=Engine.REFERENCE) for name in MACHINES]
    observed = {name: observed_properties(described, described.small) for name, described in MACHINES.items()}
    checks += [ask(name, properties=properties, engine=Engine.REFERENCE) for name, properties in observed.items() if properties]
    return tuple(checks), tuple(row for row in ROWS if row.quick and can_be_proved(row))


def run_suite(checks: Sequence[Asked], rows: Sequence[Row], workers: int, stop: Stop, done: Callable[[int], None]) -> Suite:
    """Run all checks and rows on so many processes; the answers are in the order given, whoever finishes first."""
    started = time.monotonic()
    tasks: list[Task[Any]] = [Task(partial(_report, asked), partial(unfinished, asked)) for asked in checks]
    tasks += [Task(partial(prove, row), partial(not_proved, row)) for row in rows]
    answers = run_all(tasks, workers, stop, done)
    return Suite(tuple(answers[: len(checks)]), tuple(answers[len(checks) :]), time.monotonic() - started)


def _report(asked: Asked, stop: Stop) -> Report:
    return check(asked, stop).report


def plain(suite: Suite) -> dict[str, Any]:
    """Return the suite as JSON data."""
    return {
        "schema": SCHEMA,
        "runs": [report.plain(one) for one in suite.runs],
        "rows": [catalogue.plain_row(one.row, one, ran=True) for one in suite.rows],
        "verdict": suite.verdict.value,
        "seconds": round(suite.seconds, 3),
    }
