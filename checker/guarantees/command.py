# SPDX-License-Identifier: Apache-2.0
"""The command ``hwmark guarantees``: decide about one case or the grid, write the answer, and return the exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from hwmark.checker import formats
from hwmark.checker import trace as traces
from hwmark.checker.errors import InputError
from hwmark.checker.interrupt import Interrupt
from hwmark.checker.output import folder, print_out, write_file
from hwmark.checker.progress import ProgressLine
from hwmark.checker.replay import Replayed
from hwmark.checker.verdict import Verdict, worst
from hwmark.checker.workers import Stop, available_workers
from hwmark.spec.guarantees.causes import explain
from hwmark.spec.guarantees.grid import MOST_STATES, grid
from hwmark.spec.guarantees.looks import SAFE, looks
from hwmark.spec.guarantees.settings import Settings, is_covered, remarks, settings_of
from hwmark.spec.guarantees.titles import TITLES

from .decide import Case, Covers, Decided, decide
from .look import Plan
from .page import label, page
from .report import Explanation, Report, plain, plain_grid, rows

__all__ = ["Plan", "available_workers", "run_case", "run_grid"]

EXIT_CODES = {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.UNDETERMINED: 3}
FILES = {"text": "guarantees.txt", "json": "guarantees.json"}
"""The name of the report in each format, in the folder given with ``--out``."""
COVERED = frozenset(prop.name for prop in SAFE)
"""What one case can promise for another."""


def case_of(settings: Settings) -> Case:
    """Return the case that settings make."""
    return Case(f"{settings}; {settings.faults}", looks(settings))


def covers(settings: Mapping[str, Settings]) -> Covers:
    """Return whether what holds under some settings, by the name of their case, holds under others."""
    return lambda stronger, weaker, promise: promise in COVERED and is_covered(settings[stronger.name], settings[weaker.name])


# -- one case --


def run_case(given: Mapping[str, object], plan: Plan, timeout: float | None, output: str, out: Path | None) -> int:
    """Decide what the settings that options describe promise, and return the exit code."""
    try:
        settings = settings_of(given)
    except ValueError as error:
        raise InputError(str(error)) from None
    place = None if out is None else folder(out)
    report = report_of(settings, plan, searched([case_of(settings)], plan, covers({}), timeout))
    files: dict[str, dict[str, str]] = {}
    with ExitStack() as last:  # all of it happens, the last first, also where one before could not be written
        if place is not None:
            for name, file in FILES.items():
                last.callback(_write_report, place / file, name, report, files)
        last.callback(lambda: print_out(_written(output, report, files, colour=output == "text" and sys.stdout.isatty())))
        if place is not None:
            _write_runs(report, place, files)
    return EXIT_CODES[report.verdict]


def report_of(settings: Settings, plan: Plan, decided: Decided) -> Report:
    """Return the answer about one case."""
    case = case_of(settings)

    def told(promise: str, replayed: Replayed) -> Explanation:
        return explain(settings, promise, replayed.steps, replayed.states, replayed.witness or {})

    found = tuple(rows(case, decided.answers[0], TITLES, plan, told))
    return Report(case, settings, tuple(remarks(settings)), found, decided.seen, decided.seconds)


def _written(output: str, report: Report, files: Mapping[str, Mapping[str, str]], *, colour: bool = False) -> str:
    if output == "json":
        return formats.to_json(plain(report, files))
    from .text import report_text  # noqa: PLC0415 - rich, only for text

    return report_text(report, files, colour=colour)


def _write_report(path: Path, output: str, report: Report, files: Mapping[str, Mapping[str, str]]) -> None:
    write_file(path, _written(output, report, files))


def _write_runs(report: Report, place: Path, files: dict[str, dict[str, str]]) -> None:
    """Write the trace and the picture of each broken promise, and enter their names."""
    from hwmark.checker import pictures  # noqa: PLC0415 - only where something is drawn
    from hwmark.checker.asked import view_of  # noqa: PLC0415 - as above

    for row in report.rows:
        if row.broken is None:
            continue
        name, found = row.answer.promise, row.broken
        names = {"trace_file": f"{name}.trace.json", "picture_file": f"{name}.svg"}
        traces.write(found.trace, place / names["trace_file"])
        drawn = pictures.render_svg(found.replayed, view_of(found.trace.machine), promise=row.promise, violated=True)
        write_file(place / names["picture_file"], drawn)
        files[name] = {key: str(place / file) for key, file in names.items()}


# -- the grid --


def run_grid(plan: Plan, timeout: float | None, output: str) -> int:
    """Decide about the whole grid, and return the exit code of all verdicts together."""
    settings = tuple(grid())
    cases = tuple(map(case_of, settings))
    known = {case.name: one for case, one in zip(cases, settings, strict=True)}
    decided = searched(cases, Plan(plan.engine, plan.workers, plan.max_states or MOST_STATES), covers(known), timeout)
    print_out(_grid_written(output, settings, cases, decided))
    return EXIT_CODES[worst(answer.verdict for answers in decided.answers for answer in answers)]


def _grid_written(output: str, settings: Sequence[Settings], cases: Sequence[Case], decided: Decided) -> str:
    found = plain_grid(settings, cases, decided)
    if output == "json":
        return formats.to_json(found)
    if output == "markdown":
        return page(found, [label(one) for one in settings], TITLES)
    from .text import grid_text  # noqa: PLC0415 - rich, only for text

    return grid_text(found, TITLES, colour=sys.stdout.isatty())


def searched(cases: Any, plan: Plan, covering: Covers, timeout: float | None) -> Decided:
    """Decide under a progress line; Ctrl-C and the time limit stop all searches."""
    line, started = ProgressLine(sys.stderr), time.monotonic()
    with Interrupt() as interrupt:
        try:
            return decide(cases, plan, covers=covering, stop=partial(_stop, interrupt.stop, started, timeout), done=line.done)
        finally:
            line.clear()


def _stop(interrupted: Stop, started: float, timeout: float | None) -> str | None:
    late = timeout is not None and time.monotonic() - started > timeout
    return interrupted() or (f"reached the limit of {timeout:g} s" if late else None)
