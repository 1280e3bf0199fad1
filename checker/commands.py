# SPDX-License-Identifier: Apache-2.0
"""What the commands do: ask, search, write the answer, and return the exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from hwmark.spec.catalogue import ROWS, Row
from hwmark.spec.comparisons import COMPARISONS

from . import catalogue as rows_of
from . import compare as comparing
from . import formats, report, suite
from .asked import Asked, ask, named
from .catalogue import Proved, can_be_proved
from .errors import InputError
from .interrupt import Interrupt
from .output import folder, print_out, write_file
from .progress import ProgressLine
from .report import Checked, Report
from .symmetry import NotSymmetricError
from .text import sanitize
from .verdict import Verdict, worst
from .workers import Stop, available_workers

__all__ = ["ask", "available_workers", "catalogue", "check_machine", "check_suite", "compare", "comparisons"]

T = TypeVar("T")

EXIT_CODES = {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.UNDETERMINED: 3}
FILES = {"text": "report.txt", "json": "report.json", "junit": "report.junit.xml", "sarif": "report.sarif"}
"""The name of the report in each format, in the folder given with ``--out``."""

Formats = Mapping[str, Callable[[], str]]


# -- check --


def check_machine(asked: Asked, output: str, out: Path | None) -> int:
    """Check one machine, and return the exit code of its verdict."""
    place = None if out is None else folder(out)
    line = ProgressLine(sys.stderr)
    try:
        with Interrupt() as interrupt:
            checked = report.check(asked, interrupt.stop, line)
    except NotSymmetricError as error:
        raise InputError(f"--symmetry: {error}") from None
    finally:
        line.clear()
    found, traces = checked.report, dict[str, str]()
    ways = {**_for_programs([found], []), "json": lambda: formats.to_json(report.plain(found, traces))}
    with ExitStack() as last:  # all of it happens, the last first, also where one before could not be written
        if place is not None:
            last.callback(_write_reports, {**ways, "text": lambda: _text().report_text(found)}, place)
        last.callback(
            _answer, {**ways, "text": lambda: _text().report_text(found, colour=sys.stdout.isatty()) + _where(place, traces)}, output
        )
        if place is not None:
            _write_traces(checked, place, traces)
    return EXIT_CODES[found.verdict]


def check_suite(workers: int | None, timeout: float | None, output: str, out: Path | None) -> int:
    """Check the default suite, and return the exit code of its verdict."""
    place = None if out is None else folder(out)
    checks, rows = suite.default_suite()
    found = _search(
        lambda stop, done: suite.run_suite(checks, rows, workers or available_workers(), stop, done), len(checks) + len(rows), timeout
    )
    ways = {**_for_programs(found.runs, found.rows), "json": lambda: formats.to_json(suite.plain(found))}
    with ExitStack() as last:
        if place is not None:
            last.callback(_write_reports, {**ways, "text": lambda: _text().suite_text(found)}, place)
        last.callback(_answer, {**ways, "text": lambda: _text().suite_text(found, colour=sys.stdout.isatty()) + _where(place, {})}, output)
    return EXIT_CODES[found.verdict]


def _search(search: Callable[[Stop, Callable[[int], None]], T], total: int, timeout: float | None) -> T:
    """Run several searches under a progress line; Ctrl-C and the time limit stop them all."""
    line, started = ProgressLine(sys.stderr), time.monotonic()
    with Interrupt() as interrupt:

        def stop() -> str | None:
            late = timeout is not None and time.monotonic() - started > timeout
            return interrupt.stop() or (f"reached the limit of {timeout:g} s" if late else None)

        try:
            return search(stop, lambda finished: line.done(finished, total))
        finally:
            line.clear()


def _for_programs(runs: Sequence[Report], rows: Sequence[Proved]) -> Formats:
    """Return how to write these in the formats that other programs read."""

    def junit() -> str:
        from .formats.junit import junit  # noqa: PLC0415 - only for this format

        return junit(runs, rows)

    def sarif() -> str:
        from .formats.sarif import sarif  # noqa: PLC0415 - only for this format

        return formats.to_json(sarif(runs, rows))

    return {"junit": junit, "sarif": sarif}


def _write_traces(checked: Checked, place: Path, files: dict[str, str]) -> None:
    """Write the trace of each violation, and enter the file of each property."""
    from . import trace  # noqa: PLC0415 - only with --out

    for result in checked.found.results:
        if result.verdict is Verdict.VIOLATED and result.run is not None:
            file = f"{checked.report.title}.{result.name}.trace.json"
            made = trace.to_trace(checked.asked.described, checked.asked.preset, checked.machine, result)
            trace.write(made, place / file)
            files[result.name] = file


def _where(place: Path | None, traces: Mapping[str, str]) -> str:
    if place is None:
        return ""
    shows = "; hwmark replay shows and draws a trace" if traces else ""
    return f"Reports{' and traces' if traces else ''} are in {sanitize(str(place))}{shows}.\n"


def _write_reports(ways: Formats, place: Path) -> None:
    for name, file in FILES.items():
        write_file(place / file, ways[name]())


# -- catalogue --


def catalogue(ids: Sequence[str], output: str, workers: int | None, *, run: bool) -> int:
    """List rows of the catalogue, proved if asked for; return the exit code of the proofs."""
    known = {row.id: row for row in ROWS}
    rows = [known[named("row", one, known)] for one in ids] if ids else list(ROWS)
    provable = [row for row in rows if can_be_proved(row)]
    if run and not provable:
        raise InputError("none of these rows can be proved by exploring")
    proofs = _prove(provable, workers) if run else {}
    required = {} if ids else {"requirements": rows_of.plain_requirements()}
    ways: Formats = {
        **_for_programs([], list(proofs.values())),
        "json": lambda: formats.to_json({**rows_of.plain(rows, proofs, ran=run), **required}),
        "text": lambda: _text().catalogue_text(rows, proofs, required.get("requirements", ()), colour=sys.stdout.isatty()),
    }
    _answer(ways, output)
    return EXIT_CODES[worst(proved.verdict for proved in proofs.values())]


def _prove(rows: Sequence[Row], workers: int | None) -> dict[str, Proved]:
    found = _search(lambda stop, done: suite.run_suite((), rows, workers or available_workers(), stop, done), len(rows), None)
    return {proved.row.id: proved for proved in found.rows}


# -- compare --


def compare(name: str, output: str, workers: int | None, timeout: float | None) -> int:
    """Answer a comparison, and return the exit code: that of something undetermined, unless every cell is decided."""
    comparison = COMPARISONS[named("comparison", name, COMPARISONS)]
    found = _search(
        lambda stop, done: comparing.compare(comparison, workers or available_workers(), stop, done),
        len(comparing.scopes(comparison)),
        timeout,
    )
    ways: Formats = {
        "json": lambda: formats.to_json(comparing.plain(found)),
        "text": lambda: _tables().comparison_text(found, colour=sys.stdout.isatty()),
    }
    _answer(ways, output)
    return EXIT_CODES[found.verdict]


def comparisons(output: str) -> int:
    """List the comparisons."""
    ways: Formats = {
        "json": lambda: formats.to_json(comparing.plain_list()),
        "text": lambda: _tables().list_text(list(COMPARISONS.values()), colour=sys.stdout.isatty()),
    }
    _answer(ways, output)
    return 0


def _tables() -> ModuleType:
    from .formats import comparison  # noqa: PLC0415 - rich, only for text

    return comparison


# -- answers --


def _answer(ways: Formats, output: str) -> None:
    print_out(ways[output]())


def _text() -> ModuleType:
    from .formats import text  # noqa: PLC0415 - rich, only for text

    return text
