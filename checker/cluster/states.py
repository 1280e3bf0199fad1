# SPDX-License-Identifier: Apache-2.0
"""The states of all shards, for the driver: by one number each, which is that of the shard and the number there."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define

from hwmark.checker.tables.states import States
from hwmark.checker.verdict import Run
from hwmark.model.machine import Step

from .crew import Crew
from .kernels import INSTANCE_AT, MOST_INSTANCES, NUMBER_AT, NUMBER_BITS
from .roots import Roots


@define(eq=False, kw_only=True)
class Scattered(States):
    """All states that were found, wherever they are."""

    roots: Roots
    crew: Crew | None = None

    def codes(self, number: int) -> list[int]:
        """Return the codes of a state."""
        known = self.roots.codes.get(int(number))
        return known if known is not None else [int(code) for code in self._call("codes", number)[0]]

    def run_to(self, number: int, last: tuple[Step, ...] = ()) -> Run:
        """Return the run to a state, and these steps after it."""
        steps: list[Step] = []
        number = int(number)
        while number not in self.roots.places:
            origin = int(self._call("origins", number)[0])
            steps.append(self.system.steps[(origin >> INSTANCE_AT) % MOST_INSTANCES])
            number = origin >> NUMBER_AT
        return Run((*reversed(steps), *last), initial=self.roots.places[number])

    def _call(self, method: str, number: int) -> Any:
        if self.crew is None:
            raise LookupError("only initial states are known so far")
        shard, place = divmod(int(number), 1 << NUMBER_BITS)
        return self.crew.call(method, {shard: (np.array([place]),)})[shard]
