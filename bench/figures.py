# SPDX-License-Identifier: Apache-2.0
"""What was measured, and the tables in which it is told: medians, and ratios to a named baseline of the same run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, frozen

Figures = dict[str, Any]

BASELINES = {"reference": "reference", "peers": "tables, 1 thread", "growth": "the second scope"}
"""The tables, and what the ratios in each are to; in the first two, in the same scope."""


MILLION = 1_000_000


@frozen
class Case:
    """One thing to measure: for which table, in which scope, who explores, and the program in ``bench/`` that measures it."""

    table: str
    scope: str
    contender: str
    program: str


@define
class Run:
    """All that was measured in one run: the samples of each program, and who was left out, and why."""

    cases: Sequence[Case]
    samples: Mapping[str, Sequence[Figures]]
    left_out: Mapping[str, str]
    machine: str = ""
    compilation: float | None = None

    def median(self, case: Case) -> Figures:
        """Return the figures of the run that took as long as half of them at most."""
        taken = sorted(self.samples[case.program], key=lambda sample: float(sample["seconds"]))
        return taken[(len(taken) - 1) // 2]

    def rate(self, case: Case) -> float:
        """Return how many states a second were explored."""
        sample = self.median(case)
        return float(sample["states"] / sample["seconds"])

    def of(self, table: str) -> list[Case]:
        """Return the cases of a table."""
        return [case for case in self.cases if case.table == table]

    def ratio(self, case: Case) -> float:
        """Return how quick that is, as a multiple of its baseline."""
        alike = self.of(case.table)
        if case.table == "growth":
            baseline = alike[1]
        else:
            baseline = next(one for one in alike if one.scope == case.scope and one.contender == BASELINES[case.table])
        return self.rate(case) / self.rate(baseline)


@frozen
class Row:
    """The cells of a row, and the program that measures it."""

    cells: tuple[str, ...]
    program: str


@frozen
class Told:
    """A table: what it is about, its columns, of which the first are names and the others figures, its rows, and how to read it."""

    name: str
    title: str
    note: str
    heads: tuple[str, ...]
    names: int
    rows: tuple[Row, ...]


def tables(measured: Run) -> Iterator[Told]:
    """Yield a table for each kind of case that was measured."""
    if measured.of("reference"):
        yield beside_reference(measured)
    if measured.of("peers"):
        yield beside_peers(measured)
    if measured.of("growth"):
        yield growth(measured)
        if stretches(measured).rows:
            yield stretches(measured)


def beside_reference(measured: Run) -> Told:
    """Return the table of our two engines."""
    heads = ("scope", "engine", "states", "transitions", "seconds", "states/s", "× reference", "peak MiB", "runs")
    rows = []
    for case in measured.of("reference"):
        sample = measured.median(case)
        cells = (case.scope, case.contender, f"{sample['states']:,}", f"{sample['transitions']:,}", *_speed(measured, case))
        rows.append(Row((*cells, f"{sample['peak_mebibytes']:,.0f}", _runs(measured, case)), case.program))
    note = "Scope: replicas, log size, records, last leader epoch."
    return Told("reference", "The replication machine with all its default promises", note, heads, 2, tuple(rows))


def beside_peers(measured: Run) -> Told:
    """Return the table of other checkers."""
    heads = ("managers", "checker", "states", "seconds", "states/s", "× tables, 1 thread", "peak MiB", "before", "runs")
    rows = []
    for case in measured.of("peers"):
        sample = measured.median(case)
        before = sample["build_seconds"] if "build_seconds" in sample else sample["preparation"]
        cells = (case.scope, case.contender, f"{sample['states']:,}", *_speed(measured, case), f"{sample['peak_mebibytes']:,.0f}")
        rows.append(Row((*cells, f"{before:.1f} s" if before else "", _runs(measured, case)), case.program))
    note = "Before: to load compiled kernels, or to make and compile Spin's verifier; not in the seconds."
    return Told("peers", "Two-phase commit with one invariant, all interleavings, exactly", note, heads, 2, tuple(rows))


def growth(measured: Run) -> Told:
    """Return the table of larger and larger scopes."""
    heads = ("scope", "states", "seconds", "states/s", "× second scope", "states", "edges", "answers", "peak MiB", "runs")
    rows = []
    for case in measured.of("growth"):
        sample = measured.median(case)
        held = [f"{sample['bytes'][part] / sample['states']:.1f} B" for part in ("states", "edges", "answers")]
        cells = (case.scope, f"{sample['states']:,}", *_speed(measured, case), *held)
        rows.append(Row((*cells, f"{sample['peak_mebibytes']:,.0f}", _runs(measured, case)), case.program))
    note = (
        "Bytes a state of the arrays, spare room included: the states (packed rows, parents, steps and the hash table); the edges "
        "between them; what each answers about convergence and liveness."
    )
    threads = measured.of("growth")[0].contender
    return Told("growth", f"Whole scopes of the replication machine ({threads})", note, heads, 1, tuple(rows))


def stretches(measured: Run) -> Told:
    """Return the table of how quick the largest search was while it grew."""
    case = measured.of("growth")[-1]
    found = measured.median(case)["stretches"]
    baseline = next((one for one in found if one["expanded"] == MILLION), None)
    rows = []
    for one in found if baseline else ():
        speed = one["expanded"] / 2 / one["seconds"]
        compiled = one["steps"] / (one["seconds"] - one["learning"])
        ratios = speed / (MILLION / 2 / baseline["seconds"]), compiled / (baseline["steps"] / (baseline["seconds"] - baseline["learning"]))
        cells = (f"{one['expanded'] / 2:,.0f} to {one['expanded']:,}", f"{speed:,.0f}", f"{ratios[0]:.2f}")
        rows.append(Row((*cells, f"{one['learning'] / one['seconds']:.0%}", f"{compiled:,.0f}", f"{ratios[1]:.2f}"), case.program))
    heads = ("states expanded", "states/s", "× at 1 million", "learning", "steps/s without it", "× at 1 million")
    note = "The last stretch ends with the search; what is judged once all is explored is not in it."
    return Told("stretches", f"While the scope {case.scope} is explored", note, heads, 1, tuple(rows))


def _speed(measured: Run, case: Case) -> tuple[str, str, str]:
    ratio = measured.ratio(case)
    digits = 0 if ratio >= 10 else 2 if ratio >= 0.1 else 3
    return f"{measured.median(case)['seconds']:.2f}", f"{measured.rate(case):,.0f}", f"{ratio:.{digits}f}"


def _runs(measured: Run, case: Case) -> str:
    return str(len(measured.samples[case.program]))
