# SPDX-License-Identifier: Apache-2.0
"""The states of a search by number, in memory or stored, and the runs that lead to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field

from hwmark.checker.system import System
from hwmark.checker.verdict import Run
from hwmark.model.machine import Step

from . import kernels
from .components import Components
from .rows import Rows

if TYPE_CHECKING:
    from .stored import Stored


@define(eq=False)
class States:
    """All states that were found."""

    system: System
    components: Components
    rows: Rows
    stored: Stored | None = None
    first_initial: list[int] = field(factory=list)
    """For each different initial state its place among the machine's."""

    def codes(self, number: int) -> list[int]:
        """Return the codes of a state."""
        place = number - self.rows.first
        if place < 0 and self.stored is not None:
            return self.stored.space.at(number)[0]
        codes = np.empty((1, len(self.rows.layout.word)), np.int32)
        kernels.unpack_rows(self.rows.layout, self.rows.rows[place : place + 1], codes)
        return [int(code) for code in codes[0]]

    def state(self, number: int) -> Any:
        """Return a state."""
        return self.components.decode(self.codes(number))

    def _found_by(self, number: int) -> tuple[int, int]:
        """Return the parent of a state, and the instance that found it."""
        place = number - self.rows.first
        if place < 0 and self.stored is not None:
            return self.stored.space.at(number)[1:]
        return int(self.rows.parents[place]), int(self.rows.via[place])

    def run_to(self, number: int, last: tuple[Step, ...] = ()) -> Run:
        """Return the run to a state, and these steps after it."""
        steps: list[Step] = []
        number = int(number)
        while number >= len(self.first_initial):
            number, via = self._found_by(number)
            steps.append(self.system.steps[via])
        return Run((*reversed(steps), *last), initial=self.first_initial[number])
