# SPDX-License-Identifier: Apache-2.0
"""Failing walks made short: steps are left out, and then what is left of the machine is searched breadth-first.

Steps that do without the ones left out but for a choice are taken with another choice: after one election less, epochs
have other numbers. The search is confined to the actions and choices that the run still has, which makes a small machine
of a large one. A shortest run of that is one of the large machine too; another that uses other choices may be shorter still.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.minimise import minimise
from hwmark.checker.replay import step_key
from hwmark.checker.system import IMPOSSIBLE, System, Take, is_about_steps
from hwmark.checker.verdict import Run, Verdict
from hwmark.model.machine import Action, ImpossibleError, Machine, Step
from hwmark.spec.property import Property

from .plain_walks import Stop

MOST_STATES = 10_000
"""States of the search for a shorter run."""


def shortest(explored: System, prop: Property | None, runs: Sequence[Run], stop: Stop) -> int:
    """Return which of several runs is the shortest once steps are left out of each: the best one to be made short."""
    lengths = [len(run.steps if stop() is not None else minimise(explored, prop, run).steps) for run in runs]
    return lengths.index(min(lengths))


def shortened(explored: System, prop: Property | None, run: Run, stop: Stop) -> Run:
    """Return a short run to a violation of the property, or to the impossible if none is given."""
    if stop() is not None:
        return run
    run = minimise(explored, prop, run)
    shorter: Run | None = run
    while shorter is not None and stop() is None:
        run = shorter
        shorter = _without_steps(explored, prop, run) or _searched(explored.machine, prop, run, stop)
    return run


# -- leaving out a step --


def _without_steps(explored: System, prop: Property | None, run: Run) -> Run | None:
    """Return a shorter run in which one step is left out, or two, and others may have another choice, if there is one."""
    mending, start, places = _Mending(explored, prop), explored.initial[run.initial], range(len(run.steps))
    names = dict.fromkeys(name for step in run.steps for name in step.choices)
    for left_out in itertools.chain(*(itertools.combinations(places, count) for count in (1, 2))):
        rest = [step for place, step in enumerate(run.steps) if place not in left_out]
        for name in names:
            steps = mending.until_violated(start, rest, name)
            if steps is not None:
                return minimise(explored, prop, evolve(run, steps=tuple(steps)))
    return None


class _Mending:
    """Takes steps until the property is violated; one that is not enabled gets another choice of one name, or is left out."""

    def __init__(self, explored: System, prop: Property | None) -> None:
        self.about_steps = prop is not None and is_about_steps(prop)
        self.bounds = [] if prop is None else explored.bind(prop)
        self.wants_impossible = prop is None
        self.steps, self.takes = explored.steps, explored.takes
        self.alike: dict[Any, list[tuple[Step, Take]]] = {}

    def until_violated(self, state: Any, steps: Sequence[Step], name: str) -> list[Step] | None:
        """Return the steps that were taken up to the violation, or ``None`` if there is none."""
        taken = list[Step]()
        for step in steps:
            for instance, take in self._alike(step, name):
                try:
                    after = take(state)
                except ImpossibleError:
                    if self.wants_impossible:
                        return [*taken, instance]
                    continue
                if after is not None:
                    taken.append(instance)
                    if self._violates(*((state, instance, after) if self.about_steps else (after,))):
                        return taken
                    state = after
                    break
        return None

    def _alike(self, step: Step, name: str) -> list[tuple[Step, Take]]:
        """Return the step, and then those that differ from it in the choice of this name, the nearest numbers first."""
        key = (name, step_key(step))
        if key not in self.alike:
            places = [place for place, one in enumerate(self.steps) if _differs_at_most_in(name, step, one)]
            places.sort(key=lambda place: _distance(step.choices.get(name), self.steps[place].choices.get(name)))
            self.alike[key] = [(self.steps[place], self.takes[place]) for place in places]
        return self.alike[key]

    def _violates(self, *about: Any) -> bool:
        return any((one.when is None or one.when(*about)) and one.holds(*about) is not None for one in self.bounds)


def _differs_at_most_in(name: str, step: Step, other: Step) -> bool:
    return step.action == other.action and all(one == name or _same(value, other.choices[one]) for one, value in step.choices.items())


def _distance(ours: Any, theirs: Any) -> tuple[bool, int, int]:
    """Return what orders choices by how far they are from ours: itself, numbers by their distance, and all others as they are."""
    gap = theirs - ours if type(ours) is type(theirs) is int else 0
    return not _same(ours, theirs), abs(gap), gap


# -- searching --


def _searched(machine: Machine[Any], prop: Property | None, run: Run, stop: Stop) -> Run | None:
    """Return a shorter run that uses no other actions and choices, if one is found."""
    confined = evolve(
        machine,
        actions=tuple(_confined(act, run, machine.bounds) for act in machine.actions if any(step.action == act.name for step in run.steps)),
    )
    found = explore(confined, () if prop is None else (prop,), Options(max_states=MOST_STATES, stop=stop))
    name = IMPOSSIBLE if prop is None else prop.name
    for result in found.results:
        if result.name == name and result.verdict is Verdict.VIOLATED and result.run is not None and len(result.run.steps) < len(run.steps):
            return result.run
    return None


def _confined(act: Action, run: Run, bounds: Any) -> Action:
    """Return the action with only those choices that the run makes."""
    made = [step.choices for step in run.steps if step.action == act.name]
    domains = {}
    for name, domain in act.domains.items():
        values = tuple(value for value in domain(bounds) if any(_same(value, choices[name]) for choices in made))
        domains[name] = lambda _, values=values: values
    return evolve(act, domains=domains)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
