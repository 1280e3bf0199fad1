# SPDX-License-Identifier: Apache-2.0
"""Measures one case in a process of its own, so that nothing is left of another: ``python bench/case.py PROBLEM SCOPE ENGINE [THREADS]``.

``replication 3,2,2,1 tables 2``: the replication machine under its right rules, with these bounds (replicas, log size, records,
last leader epoch), and all that is asked there by default, convergence and liveness included. ``two_phase_commit 7 reference``:
that problem with seven resource managers, and its invariant. Prints one JSON object: what was found, the seconds of the
search, apart those of compiling or loading kernels, and the peak of the resident memory.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from two_phase_commit import machine as two_phase_commit
from two_phase_commit.self_report import peak_mebibytes

from hwmark.checker.asked import default_properties
from hwmark.checker.explore import Options, Progress
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Machine
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Property

Figures = dict[str, Any]
Problem = tuple[Machine[Any], Sequence[Property]]

STRETCHES = (100_000, 1_000_000, 10_000_000)
"""Where the stretches end whose time is told, in expanded states; each begins halfway. The last one may end with the search,
a little before."""
NEARLY = 0.95


def replication(scope: str) -> Problem:
    """Return the machine with these bounds, and what is asked there by default."""
    described = MACHINES["replication"]
    bounds = described.module.Bounds(*map(int, scope.split(",")))
    asked = default_properties(described, bounds)
    machine = described.build(described.presets[described.right], described.module.Config(), bounds)
    return machine, [prop for prop in described.properties if prop.name in asked]


def two_phase(scope: str) -> Problem:
    """Return two-phase commit with so many resource managers, and its invariant."""
    return two_phase_commit.machine(two_phase_commit.Bounds(int(scope))), [two_phase_commit.consistent]


PROBLEMS = {"replication": replication, "two_phase_commit": two_phase}


def with_reference(problem: Problem) -> tuple[Exploration, Figures]:
    """Explore with the reference engine."""
    from hwmark.checker.explore import explore  # noqa: PLC0415 - as for the tables engine

    return explore(*problem, Options(keep_going=True)), {}


def with_tables(problem: Problem, threads: int) -> tuple[Exploration, Figures]:
    """Explore with the tables engine; return also what its arrays took, and how long each stretch."""
    import numpy as np  # noqa: PLC0415 - not into the memory of the reference engine

    from hwmark.checker.tables import engine  # noqa: PLC0415 - not into the memory of the reference engine

    watched: list[Watched] = []
    curve: list[tuple[float, ...]] = []

    class Watched(engine._Search):  # noqa: SLF001 - no report tells what each of its arrays takes
        """A search that can be looked at from outside."""

        def run(self) -> Exploration:
            watched[:] = [self]
            return super().run()

    def note(progress: Progress) -> None:
        curve.append((progress.expanded, progress.transitions, progress.seconds, watched[0].chunks.seconds_learning))

    engine._Search = Watched  # type: ignore[misc]  # noqa: SLF001 - as above
    found = engine.explore(*problem, Options(keep_going=True, progress=note), threads=threads)
    rows, chunks = watched[0].rows, watched[0].chunks
    edges = chunks.targets.nbytes + chunks.labels.nbytes + chunks.degrees.nbytes
    expanded, *counted = np.array(curve).T
    stretches = []
    for wanted in STRETCHES:
        end = min(wanted, int(expanded[-1]))
        if end >= NEARLY * wanted:
            passed = [float(np.diff(np.interp([end / 2, end], expanded, one))[0]) for one in counted]
            stretches.append({"expanded": end, **dict(zip(("steps", "seconds", "learning"), passed, strict=True))})
    return found, {"bytes": {"states": rows.bytes_held, "edges": edges, "answers": watched[0].answers.nbytes}, "stretches": stretches}


def measure(problem: str, scope: str, engine: str, threads: int = 1) -> Figures:
    """Return what one case finds and takes; ends the program if that is not what it must find."""
    asked = PROBLEMS[problem](scope)
    found, more = with_reference(asked) if engine == "reference" else with_tables(asked, threads)
    if found.verdict is not Verdict.HOLDS:
        raise SystemExit(f"{problem} {scope}: not all of its promises hold with {engine}, but they are {found.verdict.value}")
    if problem == "two_phase_commit" and found.states != two_phase_commit.distinct_states(int(scope)):
        raise SystemExit(f"{problem} {scope}: {engine} found {found.states:,} states, which is not how many there are")
    return {
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "seconds": found.seconds,
        "preparation": found.preparation,
        "peak_mebibytes": peak_mebibytes(),
        **more,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(*sys.argv[1:4], *map(int, sys.argv[4:]))) + "\n")
