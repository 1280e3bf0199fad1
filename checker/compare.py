# SPDX-License-Identifier: Apache-2.0
"""Answers a comparison: every cell is decided by exploring, or is undetermined.

What is asked of one column in the same bounds is asked in one exploration. A measure becomes a goal for each of its values, so
that any engine can decide it: those that are met, in a scope that was explored, are the values that occur. ``plain`` is the JSON
form, ``hwmark.comparison/1``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from attrs import frozen

from hwmark.model.machine import Machine, bind
from hwmark.spec.comparison import Ask, Column, Comparison, Measure, widened
from hwmark.spec.comparisons import COMPARISONS
from hwmark.spec.described import Described
from hwmark.spec.property import Invariant, Property, Reachable, Witness, witness

from .asked import described, named
from .engines import search
from .explore import Options
from .plain import to_plain
from .system import IMPOSSIBLE
from .verdict import Exploration, Result, Run, Verdict
from .workers import Stop, Task, run_all

SCHEMA = "hwmark.comparison/1"
LIST_SCHEMA = "hwmark.comparisons/1"


@frozen
class Reached:
    """A value that a measure takes, and after how many steps at the earliest."""

    value: int
    depth: int


@frozen
class Cell:
    """One answer: of a property its verdict, of a measure the least and the most (``holds``, once both are known)."""

    asked: str
    kind: str
    bounds: Any
    verdict: Verdict
    states: int
    depth: int | None = None
    witness: Mapping[str, Any] | None = None
    run: Run | None = None
    least: Reached | None = None
    most: Reached | None = None
    why: str | None = None


@frozen
class Compared:
    """A comparison with its answers: for each line, the cell of each column, ``None`` where the question does not apply."""

    comparison: Comparison
    cells: tuple[tuple[Cell | None, ...], ...]
    stopped: str | None
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """``holds`` once every cell is decided, one way or the other; else ``undetermined``, also where nothing was asked."""
        verdicts = [cell.verdict for row in self.cells for cell in row if cell is not None]
        return Verdict.UNDETERMINED if Verdict.UNDETERMINED in verdicts or not verdicts else Verdict.HOLDS


# -- what is explored --


@frozen
class Scope:
    """One exploration: a column in some bounds, and what is asked there, by the number of its line."""

    column: int
    bounds: Any
    asks: tuple[tuple[int, Ask], ...]


def scopes(comparison: Comparison) -> tuple[Scope, ...]:
    """Return the explorations that answer a comparison, column by column; raises ``InputError`` for names that do not exist."""
    found: list[Scope] = []
    for number, column in enumerate(comparison.columns):
        chosen = described(column.machine)
        named("preset", column.rules, chosen.presets)
        asks: dict[Any, list[tuple[int, Ask]]] = {}
        for row, line in enumerate(comparison.lines):
            ask = line.of(column.machine)
            if ask is not None:
                if isinstance(ask.what, str):
                    named("property", ask.what, [prop.name for prop in chosen.properties])
                asks.setdefault(widened(chosen.small if column.bounds is None else column.bounds, ask), []).append((row, ask))
        found += [Scope(number, bounds, tuple(together)) for bounds, together in asks.items()]
    return tuple(found)


def compare(comparison: Comparison, workers: int, stop: Stop, done: Callable[[int], None]) -> Compared:
    """Answer a comparison that is declared, on so many processes; what was not finished once ``stop`` answers is undetermined."""
    started, wanted = time.monotonic(), scopes(comparison)
    tasks = [Task(partial(explored, comparison.name, number), partial(not_explored, scope)) for number, scope in enumerate(wanted)]
    cells: dict[tuple[int, int], Cell] = {}
    for scope, answers in zip(wanted, run_all(tasks, workers, stop, done), strict=True):
        cells |= {(row, scope.column): cell for (row, _), cell in zip(scope.asks, answers, strict=True)}
    rows = tuple(tuple(cells.get((row, column)) for column in range(len(comparison.columns))) for row in range(len(comparison.lines)))
    why = stop()
    stopped = why if why in {cell.why for cell in cells.values()} else None
    return Compared(comparison, rows, stopped, time.monotonic() - started)


def explored(name: str, number: int, stop: Stop) -> tuple[Cell, ...]:
    """Explore one scope of a comparison, named so that another process finds it, and return the cells that it answers."""
    comparison = COMPARISONS[name]
    scope = scopes(comparison)[number]
    column = comparison.columns[scope.column]
    chosen, machine = described(column.machine), built(column, scope.bounds)
    properties = {ask.name: asked_of(chosen, machine, ask) for _, ask in scope.asks}
    found = search(machine, [prop for several in properties.values() for prop in several], Options(symmetry=column.symmetry, stop=stop))
    return tuple(answer(ask, scope.bounds, found, properties[ask.name]) for _, ask in scope.asks)


def built(column: Column, bounds: Any) -> Machine[Any]:
    """Return the machine of a column in some bounds."""
    chosen = described(column.machine)
    return chosen.build(chosen.presets[column.rules], chosen.module.Config() if column.config is None else column.config, bounds)


def asked_of(chosen: Described, machine: Machine[Any], ask: Ask) -> tuple[Property, ...]:
    """Return the properties that decide what is asked."""
    if isinstance(ask.what, Measure):
        return tuple(values_of(ask.what, machine))
    return tuple(prop for prop in chosen.properties if prop.name == ask.what)


def values_of(measure: Measure, machine: Machine[Any]) -> Iterator[Property]:
    """Yield that a measure takes none but its values, and then for each value the goal that it is taken."""
    read, values = bind(measure.function, machine.context), tuple(measure.values(machine.bounds))
    when = None if measure.when is None else bind(measure.when, machine.context)

    def is_declared(state: Any) -> Witness | None:
        number = read(state)
        return None if number in values else witness(value=number)

    is_declared.__name__ = f"{measure.name} is declared"
    yield Invariant(is_declared, MappingProxyType({}), sources=(), when=when)
    for value in values:

        def is_taken(state: Any, value: int = value) -> bool:
            return bool(read(state) == value)

        is_taken.__name__ = f"{measure.name}={value}"
        yield Reachable(is_taken, MappingProxyType({}), sources=(), when=when)


# -- answers --


def answer(ask: Ask, bounds: Any, found: Exploration, properties: Sequence[Property]) -> Cell:
    """Return the cell of a question, given the exploration in which these properties were asked for it."""
    results = {one.name: one for one in found.results}
    ours = [results[prop.name] for prop in properties]
    if IMPOSSIBLE in results:
        why = (results[IMPOSSIBLE].witness or {})["why"]
        return _unknown(ask, bounds, found.states, f"an action reached what its author holds to be impossible: {why}")
    if isinstance(ask.what, Measure):
        return _measured(ask, bounds, found, ours)
    (one,) = ours
    return Cell(one.name, one.kind, bounds, one.verdict, found.states, one.depth, one.witness, one.run, why=one.why)


def _measured(ask: Ask, bounds: Any, found: Exploration, results: Sequence[Result]) -> Cell:
    """Return the least and the most of a measure, if the scope was explored and all its numbers are among its values."""
    is_declared, *values = results
    if is_declared.verdict is Verdict.VIOLATED:
        return _unknown(ask, bounds, found.states, f"it is also {(is_declared.witness or {})['value']}, which its values leave out")
    open_ones = [one for one in (is_declared, *values) if one.verdict is Verdict.UNDETERMINED]
    if open_ones:
        return _unknown(ask, bounds, found.states, open_ones[0].why or "")
    taken = [Reached(int(one.name.rpartition("=")[2]), one.depth or 0) for one in values if one.verdict is Verdict.HOLDS]
    least, most = (best(taken, key=lambda one: one.value) for best in (min, max))
    return Cell(ask.name, "measure", bounds, Verdict.HOLDS, found.states, least=least, most=most)


def _unknown(ask: Ask, bounds: Any, states: int, why: str) -> Cell:
    return Cell(ask.name, "measure" if isinstance(ask.what, Measure) else "property", bounds, Verdict.UNDETERMINED, states, why=why)


def not_explored(scope: Scope, why: str) -> tuple[Cell, ...]:
    """Return the cells of a scope that was not explored."""
    return tuple(_unknown(ask, scope.bounds, 0, why) for _, ask in scope.asks)


# -- as JSON --


def plain(compared: Compared) -> dict[str, Any]:
    """Return a comparison with its answers as JSON data."""
    comparison = compared.comparison
    return {
        "schema": SCHEMA,
        **plain_question(comparison),
        "lines": [
            {"label": line.label, "cells": [None if cell is None else _plain_cell(cell) for cell in row]}
            for line, row in zip(comparison.lines, compared.cells, strict=True)
        ],
        "stopped": compared.stopped,
        "seconds": round(compared.seconds, 3),
        "verdict": "decided" if compared.verdict is Verdict.HOLDS else compared.verdict.value,
    }


def plain_list() -> dict[str, Any]:
    """Return which comparisons there are as JSON data."""
    return {"schema": LIST_SCHEMA, "comparisons": [plain_question(one) for one in COMPARISONS.values()]}


def plain_question(comparison: Comparison) -> dict[str, Any]:
    """Return what a comparison asks as JSON data."""
    return {
        "name": comparison.name,
        "question": comparison.question,
        "teaches": comparison.teaches,
        "sources": list(comparison.sources),
        "columns": [_plain_column(column) for column in comparison.columns],
        "lines": [{"label": line.label} for line in comparison.lines],
    }


def _plain_column(column: Column) -> dict[str, Any]:
    machine = built(column, described(column.machine).small if column.bounds is None else column.bounds)
    return {
        "label": column.label,
        "machine": column.machine,
        "rules": {"preset": column.rules, "values": to_plain(machine.rules)},
        "config": to_plain(machine.config),
        "symmetry": column.symmetry,
    }


def _plain_cell(cell: Cell) -> dict[str, Any]:
    return {
        "asked": cell.asked,
        "kind": cell.kind,
        "bounds": to_plain(cell.bounds),
        "verdict": cell.verdict.value,
        "depth": cell.depth,
        "witness": None if cell.witness is None else to_plain(cell.witness),
        "trace": None if cell.run is None else [{"action": step.action, "choices": to_plain(step.choices)} for step in cell.run.steps],
        "loop": None if cell.run is None else cell.run.loop,
        "least": to_plain(cell.least),
        "most": to_plain(cell.most),
        "states": cell.states,
        "why": cell.why,
    }
