# SPDX-License-Identifier: Apache-2.0
"""The command ``hwmark simulate``: walk, write the answer, and return the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from attrs import evolve

from hwmark.checker import formats
from hwmark.checker import trace as traces
from hwmark.checker.interrupt import Interrupt
from hwmark.checker.output import folder, print_out, write_file
from hwmark.checker.progress import ProgressLine, memory
from hwmark.checker.text import sanitize
from hwmark.checker.verdict import Verdict
from hwmark.checker.workers import available_workers

from .report import Outcome, Report, Walked, plain, report_of
from .request import Plan, Request
from .simulate import Progress, Simulated, simulate
from .swarm import variants

__all__ = ["Plan", "Request", "available_workers", "run"]

EXIT_CODES = {Outcome.CLEAN: 0, Outcome.VIOLATED: 1, Outcome.UNDETERMINED: 3}
FILES = {"text": "simulation.txt", "json": "simulation.json"}
"""The name of the report in each format, in the folder given with ``--out``."""


def run(request: Request, plan: Plan, output: str, out: Path | None) -> int:
    """Simulate what is requested, and return the exit code of what it found."""
    swarm, combinations = variants(request)
    place = None if out is None else folder(out)
    line = ProgressLine(sys.stderr)
    try:
        with Interrupt() as interrupt:
            found = simulate(combinations, plan, interrupt.stop, lambda progress: _draw(line, progress))
    finally:
        line.clear()
    report, files = report_of(request.asked(), swarm, plan, found), dict[str, str]()
    ways = {"text": lambda: _text(report), "json": lambda: formats.to_json(plain(report, files))}
    with ExitStack() as last:  # all of it happens, the last first, also where one before could not be written
        if place is not None:
            for name, file in FILES.items():
                last.callback(_write, place / file, ways[name])
        last.callback(lambda: print_out(_text(report, files, place, colour=sys.stdout.isatty()) if output == "text" else ways["json"]()))
        if place is not None:
            _write_traces(report, found, place, files)
    return EXIT_CODES[report.outcome]


def _write(path: Path, text: Callable[[], str]) -> None:
    write_file(path, text())


def _draw(line: ProgressLine, progress: Progress) -> None:
    """Draw how far the walks are."""
    speed = progress.steps / progress.seconds if progress.seconds else 0
    of = "" if progress.limit is None else f" of {progress.limit:,}"
    fraction = None if progress.limit is None else progress.walks / progress.limit
    line.show(fraction, f"{progress.walks:,}{of} walks, {progress.steps:,} steps, {speed:,.0f}/s, memory {memory()}")


def _text(report: Report, files: dict[str, str] | None = None, place: Path | None = None, *, colour: bool = False) -> str:
    from .text import simulation_text  # noqa: PLC0415 - rich, only for text

    text = simulation_text(report, colour=colour)
    if place is None:
        return text
    what = "Reports and traces are" if files else "Reports are"
    return f"{text}{what} in {sanitize(str(place))}{'; hwmark replay shows and draws a trace' if files else ''}.\n"


def _write_traces(report: Report, found: Simulated, place: Path, files: dict[str, str]) -> None:
    """Write the trace of each violation, and enter the file of each property."""
    results = {result.name: result for result in found.results}
    for one in report.properties:
        if one.judged.verdict is Verdict.VIOLATED:
            name = one.judged.name
            file = f"{one.asked.machine}.{one.asked.preset or 'own_rules'}.{name}.trace.json"
            machine = found.discoveries[name].variant.subject.explored.machine
            made = traces.to_trace(one.asked.described, one.asked.preset, machine, results[name])
            traces.write(evolve(made, source=_source(made.source, report.plan, one)), place / file)
            files[name] = file


def _source(check: str, plan: Plan, one: Walked) -> str:
    """Return the command line that finds a trace again: that of a check, made one of a simulation."""
    walks: Any = one.walk
    return f"{check.replace('hwmark check', 'hwmark simulate', 1)} --seed {plan.seed} --walks {walks + 1} --steps {plan.steps}"
