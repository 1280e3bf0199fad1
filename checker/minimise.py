# SPDX-License-Identifier: Apache-2.0
"""Shorter runs to the same violation: steps are left out as long as the rest still violates the property.

What comes out is a run from which no single step can be left out; it need not be a shortest one, which only a search
through all states finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hwmark.model.machine import ImpossibleError, Step
from hwmark.spec.property import Property

from .replay import step_key, takes_of
from .system import System, is_about_steps
from .verdict import Run


def minimise(explored: System, prop: Property | None, run: Run) -> Run:
    """Return a run to a violation of the property, or to the impossible if none is given, that needs all of its steps."""
    attempt = _Attempt(explored, prop, run.initial)
    steps = attempt.until_violated(run.steps)
    if steps is None:
        raise ValueError("the run to be shortened violates nothing")
    size = len(steps)
    while size:
        before = len(steps)
        start = 0
        while start < len(steps):
            shorter = attempt.until_violated([*steps[:start], *steps[start + size :]])
            if shorter is None:
                start += size
            else:
                steps = shorter
        if len(steps) == before or size > 1:
            size //= 2
    return Run(tuple(steps), run.initial)


class _Attempt:
    """Takes steps, leaving out those that are not enabled, until the property is violated."""

    def __init__(self, explored: System, prop: Property | None, initial: int) -> None:
        self.start, self.takes = explored.initial[initial], takes_of(explored)
        self.about_steps = prop is not None and is_about_steps(prop)
        self.bounds = [] if prop is None else explored.bind(prop)
        self.wants_impossible = prop is None

    def until_violated(self, steps: Sequence[Step]) -> list[Step] | None:
        """Return the steps that were taken up to the violation, or ``None`` if there is none."""
        state, taken = self.start, list[Step]()
        if not self.about_steps and self._violates(state):
            return taken
        for step in steps:
            try:
                after = self.takes[step_key(step)](state)
            except ImpossibleError:
                if self.wants_impossible:
                    return [*taken, step]
                continue
            if after is None:
                continue
            taken.append(step)
            if self._violates(*((state, step, after) if self.about_steps else (after,))):
                return taken
            state = after
        return None

    def _violates(self, *about: Any) -> bool:
        return any((one.when is None or one.when(*about)) and one.holds(*about) is not None for one in self.bounds)
