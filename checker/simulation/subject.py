# SPDX-License-Identifier: Apache-2.0
"""What walks are taken through: a system, its steps grouped by action, and what is asked on the way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Any

from attrs import frozen

from hwmark.checker.questions import LATER, Questions, questions
from hwmark.checker.system import System, is_about_steps, system
from hwmark.model.machine import Machine
from hwmark.spec.property import Property


@frozen(eq=False)
class Subject:
    """A machine in one scope, composed with the observers that the properties asked about need."""

    explored: System
    properties: tuple[Property, ...]
    """Those that a walk can judge: what comes true at last is not among them."""
    actions: tuple[str, ...]
    ends: tuple[int, ...]
    """The steps of the n-th action are those from ``ends[n]`` up to ``ends[n + 1]``."""

    @classmethod
    def of(cls, machine: Machine[Any], properties: Sequence[Property]) -> Subject:
        """Return the subject of walks through a machine."""
        asked = tuple(prop for prop in properties if not isinstance(prop, LATER))
        explored = system(machine, asked)
        actions = tuple(act.name for act in machine.actions)
        counts = [sum(step.action == name for step in explored.steps) for name in actions]
        return cls(explored, asked, actions, (0, *accumulate(counts)))

    def find(self, name: str) -> Property | None:
        """Return the property of this name that is asked."""
        return next((prop for prop in self.properties if prop.name == name), None)

    def about_states(self, decided: Collection[str] = ()) -> Questions:
        """Return what is asked of each state."""
        return questions(self.explored, [prop for prop in self._open(decided) if not is_about_steps(prop)])

    def about_steps(self, decided: Collection[str] = ()) -> Questions:
        """Return what is asked of each step."""
        return questions(self.explored, [prop for prop in self._open(decided) if is_about_steps(prop)])

    def _open(self, decided: Collection[str]) -> list[Property]:
        return [prop for prop in self.properties if prop.name not in decided]
