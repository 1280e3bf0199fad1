# SPDX-License-Identifier: Apache-2.0
"""The command ``hwmark conform``: drive a target, compare with what is known, write the answer, return the exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from hwmark.checker import formats
from hwmark.checker.asked import named
from hwmark.checker.errors import InputError
from hwmark.checker.interrupt import Interrupt
from hwmark.checker.jsonfile import read_json
from hwmark.checker.output import folder, print_out, write_file
from hwmark.checker.progress import ProgressLine
from hwmark.checker.text import sanitize
from hwmark.checker.workers import Stop

from .assignors.target import conform as assignors
from .found import Found, Outcome, Plan, Target, Verdict
from .known import compare, read_known
from .report import Report, plain

__all__ = ["Plan", "run"]

EXIT_CODES = {Outcome.CLEAN: 0, Outcome.DEVIATES: 1, Outcome.UNDETERMINED: 3}
PROGRAM = "hwmark.program/1"
FILES = {"text": "conform.txt", "json": "conform.json", "junit": "conform.junit.xml", "sarif": "conform.sarif"}
"""The name of the report in each format, in the folder given with ``--out``."""


def broker(name: str) -> Target:
    """Return a target whose modules are loaded once it is driven."""

    def target(plan: Plan, stop: Stop, done: Callable[[int, int], None]) -> Found:
        from .broker import targets  # noqa: PLC0415 - only where one is driven

        drive: Target = getattr(targets, name)
        return drive(plan, stop, done)

    return target


def clients(plan: Plan, stop: Stop, done: Callable[[int, int], None]) -> Found:
    """Drive groups of real clients, whose modules are loaded then."""
    try:
        from .clients import target  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InputError(f"clients are driven with {error.name}: pip install 'hwmark[kafka]'") from None

    return target.clients(plan, stop, done)


BROKERS = ("mock", "tansu", "kafka", "broker", "process")
PLAYED = (*BROKERS, "clients")
"""The targets whose deviations are programs, which can be played again."""
TARGETS: dict[str, Target] = {"assignors": assignors, "clients": clients, **{name: broker(name) for name in BROKERS}}
"""What can be driven, by name."""
BUDGETS = {"clients": 64}
"""How many questions of each part are asked, or programs played, unless somebody chooses: each of those takes some seconds."""
USUAL_BUDGET = 300


def run(target: str, plan: Plan, known: Path | None, output: str, out: Path | None) -> int:
    """Drive a target under a plan, and return the exit code of what was found."""
    drive = TARGETS[named("target", target, TARGETS)]
    if plan.replay is not None and target not in PLAYED:
        raise InputError(f"--replay is for brokers and clients, not for {target}")
    pinned = {} if known is None else read_known(known)
    place = None if out is None else folder(out)
    line, started = ProgressLine(sys.stderr), time.monotonic()
    try:
        with Interrupt() as interrupt:
            found = drive(plan, interrupt.stop, line.done)
    finally:
        line.clear()
    compared = compare(found.checks, pinned)
    report = Report(target, compared.checks, compared.unseen, found.stopped, time.monotonic() - started, plan, found.implementations)
    if place is not None and target in PLAYED:
        _keep(report, place)
    deliver(partial(_written, report), output, place, FILES)
    return EXIT_CODES[report.outcome]


def _keep(report: Report, place: Path) -> None:
    """Write the program of each deviation into a file that can be replayed."""
    for check in report.having(Verdict.DEVIATES):
        if check.deviation is not None:
            kept = {"format": PROGRAM, "target": report.target, "id": check.id, "program": check.deviation.question}
            write_file(place / f"{check.id.replace('/', '.')}.json", formats.to_json(kept))


def read_program(path: Path) -> Any:
    """Return the program in a file, as data; raises ``InputError`` where there is none."""
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != PROGRAM or "program" not in data:
        raise InputError(f'{path}: expected {{"format": "{PROGRAM}", "program": […]}}')
    return data["program"]


def deliver(written: Callable[..., str], output: str, place: Path | None, files: Mapping[str, str]) -> None:
    """Print an answer in one format, and write it in every format into a folder, if one was given."""
    with ExitStack() as last:  # all of it happens, the last first, also where one before could not be written
        if place is not None:
            for name, file in files.items():
                last.callback(_write, place / file, partial(written, name))
        colour = output == "text" and sys.stdout.isatty()
        where = f"Reports are in {sanitize(str(place))}.\n" if place is not None and output == "text" else ""
        last.callback(lambda: print_out(written(output, colour=colour) + where))


def _write(path: Path, text: Callable[[], str]) -> None:
    write_file(path, text())


def _written(report: Report, output: str, *, colour: bool = False) -> str:
    match output:
        case "json":
            return formats.to_json(plain(report))
        case "text":
            from .text import conform_text  # noqa: PLC0415 - rich, only for text

            return conform_text(report, colour=colour)
    from . import programs  # noqa: PLC0415 - only for these formats

    return programs.junit(report) if output == "junit" else formats.to_json(programs.sarif(report))
