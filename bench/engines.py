# SPDX-License-Identifier: Apache-2.0
"""Measures our engines beside each other and beside other checkers, and how the tables engine grows, all in one run.

``python bench/engines.py`` prints tables, ``--json`` data, and ``--write`` writes ``docs/performance.md``. Some eight minutes on
two CPUs that have nothing else to do. What is printed are medians, and ratios to a baseline of the same run: absolute figures
are those of one machine. Each case runs in a process of its own; the cases take turns, so that whatever else goes on in the
machine meets all of them. A peer that is missing, or fails, is left out with one line, and the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import asdict
from figures import BASELINES, Case, Figures, Run, tables
from performance_page import COMPILING, described_machine, page, today, versions
from rich import box
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "performance.md"
LONG = 30
"""A case that takes more seconds than this is measured once: what disturbs it for a moment does not count."""
THREADS = (1, 2)
PEERS = ("musil", "musil-tuples", "minicheck", "spin")
SCOPES: Mapping[str, Sequence[str]] = {
    "reference": ("3,2,2,1", "3,2,2,2"),
    "peers": ("5", "7", "8"),
    "growth": ("3,2,1,2", "3,2,2,2", "3,2,2,3"),
}
SMALL: Mapping[str, Sequence[str]] = {"reference": ("2,1,1,1",), "peers": ("3",), "growth": ("2,1,1,1", "2,1,1,2", "2,2,2,1")}
LARGE = "9"
WIDTH = 120
"""Columns of what is printed elsewhere than in a terminal."""


class FailedError(Exception):
    """A case that could not be measured; the message is one line."""


def cases(scopes: Mapping[str, Sequence[str]], wanted: Sequence[str]) -> list[Case]:
    """Return what is to be measured for these tables."""
    found = []
    for scope in scopes["reference"]:
        found.append(Case("reference", scope, "reference", f"case.py replication {scope} reference"))
        found += [_tables("reference", "replication", scope, threads) for threads in THREADS]
    for scope in scopes["peers"]:
        found += [_tables("peers", "two_phase_commit", scope, threads) for threads in THREADS]
        found += [Case("peers", scope, peer, f"two_phase_commit/peers.py {scope} --peer {peer}") for peer in PEERS]
    found += [_tables("growth", "replication", scope, THREADS[-1]) for scope in scopes["growth"]]
    return [case for case in found if case.table in wanted]


def _tables(table: str, problem: str, scope: str, threads: int) -> Case:
    return Case(table, scope, f"tables, {threads} thread{'s' * (threads > 1)}", f"case.py {problem} {scope} tables {threads}")


def run(program: str, environment: Mapping[str, str] = {}) -> Figures:
    """Run a program that prints what it measured."""
    name, *arguments = program.split()
    line = [sys.executable, str(HERE / name), *arguments, *(["--json"] if name.endswith("peers.py") else [])]
    done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, **environment}, check=False)  # noqa: S603 - our own
    if done.returncode != 0:
        raise FailedError((done.stderr.strip().splitlines() or [f"{program} failed with {done.returncode} and said nothing"])[-1])
    said: Figures = json.loads(done.stdout)
    return said


def measure(chosen: Sequence[Case], runs: int) -> Run:
    """Measure all cases in turn, several times over; raises ``FailedError`` if one of ours fails, or if counts differ."""
    samples: dict[str, list[Figures]] = {}
    left_out: dict[str, str] = {}
    programs = {case.program: case.contender for case in chosen}
    for number in range(runs):
        for program, contender in programs.items():
            taken = samples.get(program, [])
            if contender in left_out or (taken and taken[0]["seconds"] > LONG):
                continue
            sys.stderr.write(f"run {number + 1} of {runs}: {program}\n")
            try:
                samples[program] = [*taken, run(program)]
            except FailedError as error:
                if contender not in PEERS:
                    raise
                left_out[contender] = str(error)
                sys.stderr.write(f"left out: {error}\n")
    _compare(chosen, samples)
    return Run([case for case in chosen if case.program in samples], samples, left_out)


def _compare(chosen: Sequence[Case], samples: Mapping[str, Sequence[Figures]]) -> None:
    """See that whoever explored the same found the same."""
    for name in ("states", "transitions", "depth"):
        found: dict[tuple[str, str], int] = {}
        for case in chosen:
            for sample in samples.get(case.program, ()):
                problem = (case.table, case.scope)
                if name in sample and found.setdefault(problem, sample[name]) != sample[name]:
                    raise FailedError(f"{case.program} found {sample[name]:,} {name}, where {found[problem]:,} were found before")


def compilation() -> float:
    """Return how many seconds it takes to compile the kernels, as it does the first time."""
    sys.stderr.write("compiling the kernels\n")
    with tempfile.TemporaryDirectory() as folder:
        return float(run(COMPILING, {"NUMBA_CACHE_DIR": folder})["preparation"])


def show(measured: Run) -> None:
    """Print all tables to the terminal."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for told in tables(measured):
        drawn = Table(title=told.title, caption=told.note, title_justify="left", caption_justify="left", box=box.SIMPLE)
        for number, head in enumerate(told.heads):
            drawn.add_column(head, justify="left" if number < told.names else "right", no_wrap=True)
        for row in told.rows:
            drawn.add_row(*row.cells)
        console.print(drawn)
    if measured.compilation is not None:
        console.print(f"Compiling the kernels, once after an installation: {measured.compilation:.0f} s")


def as_json(measured: Run) -> str:
    """Return everything as JSON: each case with the figures of its median run, and the ratio to its baseline."""
    figures = [
        {**asdict(case), **measured.median(case), "runs": len(measured.samples[case.program]), "ratio": measured.ratio(case)}
        for case in measured.cases
    ]
    about = {"machine": measured.machine, "date": today(), "versions": versions(measured), "baselines": BASELINES}
    return json.dumps({**about, "compilation": measured.compilation, "figures": figures, "left_out": measured.left_out}, indent=2)


def main() -> None:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="how often each case is measured (default: 3)")
    parser.add_argument("--only", choices=BASELINES, action="append", help="only this table, and nothing compiled anew; may be repeated")
    parser.add_argument("--large", action="store_true", help=f"two-phase commit with {LARGE} resource managers too")
    parser.add_argument("--small", action="store_true", help="only the smallest scopes, to try it")
    parser.add_argument("--machine", default=described_machine(), help="what to call this machine (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print data")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(HERE.parent)}, which needs all tables")
    asked = parser.parse_args()
    if asked.runs < 1 or (asked.write and (asked.only or asked.small)):
        parser.error("--runs is 1 or more, and --write writes all tables in full")
    scopes = dict(SMALL if asked.small else SCOPES)
    if asked.large:
        scopes["peers"] = (*scopes["peers"], LARGE)
    try:
        measured = measure(cases(scopes, asked.only or tuple(BASELINES)), asked.runs)
        measured.machine = asked.machine
        if not (asked.small or asked.only):
            measured.compilation = compilation()
    except FailedError as error:
        raise SystemExit(str(error)) from None
    if asked.json:
        sys.stdout.write(as_json(measured) + "\n")
    else:
        show(measured)
    if asked.write:
        PAGE.write_text(page(measured), encoding="utf-8")
    raise SystemExit(bool(measured.left_out))


if __name__ == "__main__":
    main()
