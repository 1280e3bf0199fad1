# SPDX-License-Identifier: Apache-2.0
"""The tables engine answers exactly what the reference engine does: figures, verdicts, depths, runs and witnesses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from toys import KNOWN, Count, Known, answers_of, counter

from hwmark.checker import explore as reference
from hwmark.checker.asked import default_properties
from hwmark.checker.explore import Options
from hwmark.checker.tables import engine as tables
from hwmark.checker.verdict import Exploration
from hwmark.model import async_isr, log_machine, replication
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import converges, invariant, leads_to

SMALL: dict[str, tuple[Any, ...]] = {
    "replication": (replication.Bounds(2, 2, 2, 1), replication.Bounds(3, 1, 1, 0)),
    "async_isr": (async_isr.Bounds(3, 1, 1),),
    "log": (log_machine.Bounds(2, 2, 1),),
}
"""Scopes of the default suite."""
LARGER: dict[str, tuple[Any, ...]] = {
    "replication": (replication.Bounds(2, 2, 2, 2), replication.Bounds(3, 1, 1, 1)),
    "async_isr": (async_isr.Bounds(3, 2, 1),),
    "log": (log_machine.Bounds(3, 3, 1),),
}
"""Scopes of ``-m exhaustive``."""


def said(found: Exploration) -> Exploration:
    """Return what an exploration says, without how long it took and who found it."""
    return evolve(found, seconds=0, preparation=0, engine="", workers=1)


def matrix() -> Iterator[Any]:
    """Yield machines with every preset in small scopes, and in ``-m exhaustive`` all machines in larger ones, also with observers.

    Machines that have no scopes here are compared in their small scope, in ``-m exhaustive``. Which rules a machine follows does not
    change how it is learnt: beyond the default suite these are the right ones.
    """
    for name, described in MACHINES.items():
        has_observers = any(prop.observers for prop in described.properties)
        small = [(preset, bounds, False) for preset, bounds in itertools.product(described.presets, SMALL.get(name, ()))]
        small += [(described.right, bounds, True) for bounds in SMALL.get(name, ()) if has_observers]
        larger = [(described.right, bounds, False) for bounds in LARGER.get(name, (described.small,))]
        larger += [(described.right, bounds, True) for _, bounds, _ in larger if has_observers]
        for cases, marks in ((small, ()), (larger, (pytest.mark.exhaustive,))):
            for preset, bounds, observed in cases:
                yield pytest.param(described, preset, bounds, observed, id=f"{name}-{preset}-{bounds}-{observed}", marks=marks)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_answers_are_those_known_by_hand(known: Known, threads: int) -> None:
    """Of every toy: states, transitions, depth, verdicts, exact runs and reasons."""
    found = tables.explore(known.machine, known.properties, Options(**known.options), threads=threads)
    assert answers_of(found) == known.answers
    assert (found.states, found.transitions, found.depth) == (known.states, known.transitions, known.depth)
    assert (found.complete, found.stopped) == (known.stopped is None, known.stopped)


@pytest.mark.parametrize(("described", "preset", "bounds", "observed"), tuple(matrix()))
def test_answers_are_those_of_the_reference_engine(described: Described, preset: str, bounds: Any, *, observed: bool) -> None:
    """Of every machine and preset, plainly and under symmetry, on one and on two threads, everything is the same."""
    machine = described.build(described.presets[preset], described.module.Config(), bounds)
    named = [prop.name for prop in described.properties] if observed else default_properties(described, bounds)
    properties = [prop for prop in described.properties if prop.name in named]
    for symmetry in (False, True) if machine.interchangeable else (False,):
        options = Options(symmetry=symmetry, keep_going=True)
        expected = said(reference.explore(machine, properties, options))
        for number in (1, 2):
            assert said(tables.explore(machine, properties, options, threads=number)) == expected


@pytest.mark.parametrize(
    "declare", [invariant(sources=()), converges(sources=()), leads_to(sources=(), when=lambda state: state.value > 0)]
)
def test_a_promise_that_raises_raises(declare: Any) -> None:
    """What a promise of any kind raises about some state is raised, as the reference engine does."""

    def fragile(state: Count) -> None:
        if state.value == 3:
            raise LookupError("three")

    with pytest.raises(LookupError, match="three"):
        tables.explore(counter(), (declare(fragile),))
