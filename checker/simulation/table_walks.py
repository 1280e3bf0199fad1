# SPDX-License-Identifier: Apache-2.0
"""The walks of ``plain_walks``, taken by compiled code over learned tables.

What the tables do not know is learned where a walk comes to it, and the walk goes on from there. How much is known
changes how long a walk takes, never where it goes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from hwmark.checker.tables.components import Components, ResizedError, components
from hwmark.checker.tables.learner import Functions, Learner, functions

from . import kernels
from .chance import MASK, start, walk_key
from .distinct import REGISTERS, Signatures
from .findings import DisagreeError, Findings
from .plain_walks import PlainWalks, Stop
from .subject import Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS_AT_ONCE = 20_000
"""Steps of all walks together between two looks at whether to stop."""
MOST_NOTED = 1 << 14
"""Misses that are noted before they are learned."""
MOST_NODES = 1 << 21
"""Room for nodes at which the trees are begun anew: they take about a gigabyte then."""


class TableWalks:
    """Takes the same walks as ``PlainWalks``; raises ``NotLearnableError`` for what the tables cannot do exactly."""

    def __init__(self, plain: PlainWalks, most_nodes: int = MOST_NODES) -> None:
        """Prepare; nothing is learned yet."""
        self.plain, self.most_nodes = plain, most_nodes
        self.subject: Subject = plain.subject
        explored = self.subject.explored
        self._functions: Functions = functions(explored, self.subject.about_states(), self.subject.about_steps(), [])
        self._whole: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        """Begin with tables that know nothing."""
        self.components: Components = components(self.subject.explored, self._whole)
        self.learner = self._new_learner()
        self._shares = _Shares(self.components)
        self._initial = [self.components.encode(state) for state in self.subject.explored.initial]

    def _new_learner(self) -> Learner:
        return Learner(self.subject.explored, self.components, self._functions, symmetry=False, most_nodes=2**31 - 1)

    def walk(self, first: int, last: int, decided: Collection[str], stop: Stop) -> Findings:
        """Take the walks from ``first`` up to ``last``, until told to stop; what is decided is not asked any more."""
        if len(self.learner.forest.arrays().nodes) > self.most_nodes:
            self.learner = self._new_learner()
        while True:
            try:
                return self._walk(first, last, decided, stop)
            except ResizedError as error:
                self._whole.add(error.name)
                self._begin()

    def _walk(self, first: int, last: int, decided: Collection[str], stop: Stop) -> Findings:
        learner, about, width = self.learner, self._functions, len(self.components.kinds)
        asked = kernels.Asked(
            np.array(self.subject.ends, np.int32),
            *(
                np.array([root for root in roots if about.question(root).name not in decided], np.int32)
                for roots in (about.states, about.steps)
            ),
        )
        walking, noted = self._beginnings(first, last), self._noted()
        missing = kernels.Missing(np.empty(MOST_NOTED, np.int32), np.empty(MOST_NOTED, np.int32), np.empty(MOST_NOTED, np.int64))
        budget = max(1, STEPS_AT_ONCE // (last - first))
        while stop() is None and (walking.phase != kernels.OVER).any():
            signed = self._shares.arrays()
            missed = kernels.walk(learner.forest.arrays(), asked, signed, walking, noted, missing, self.plain.most, budget)
            noted_now = min(missed, MOST_NOTED)
            _, places = np.unique(missing.key[:noted_now], return_index=True)
            for place in np.sort(places).tolist():
                root, codes = int(missing.root[place]), walking.codes[missing.row[place]].tolist()
                learner.resolve(root, codes if root in about.steps else codes[:width])
        self._check(first, walking)
        return self._findings(first, walking, noted)

    def _beginnings(self, first: int, last: int) -> kernels.Walking:
        """Return the walks at their start."""
        count, width = last - first, len(self.components.kinds)
        walking = kernels.Walking(
            codes=np.zeros((count, 2 * width + 1), np.int32),
            phase=np.full(count, kernels.ARRIVED, np.uint8),
            at=np.zeros(count, np.int32),
            key=np.array([walk_key(self.plain.seed, number) for number in range(first, last)], np.uint64),
            left_out=np.zeros((count, len(self.subject.actions)), np.uint8),
            signature=np.zeros(count, np.uint64),
        )
        signed = self._shares.arrays()
        for row, key in enumerate(walking.key.tolist()):
            codes = self._initial[start(key, len(self._initial))]
            walking.codes[row, :width] = codes
            walking.signature[row] = signed.shares[signed.starts + codes].sum()
        return walking

    def _noted(self) -> kernels.Noted:
        steps, roots = len(self.subject.explored.steps), len(self._functions.learned)
        return kernels.Noted(
            taken=np.zeros(steps, np.int64),
            tried=np.zeros(steps, np.int64),
            presupposed=np.zeros(roots, np.uint8),
            first=np.full(roots, -1, np.int64),
            impossible=np.full(2, -1, np.int64),
            registers=np.zeros(REGISTERS, np.uint8),
        )

    def _check(self, first: int, walking: kernels.Walking) -> None:
        """Take the first walk again with the machine's own functions."""
        if walking.phase[0] == kernels.OVER and self.plain.last_signature(first) != int(walking.signature[0]):
            raise DisagreeError(f"walk {first} over the tables is not the one that the machine's own functions take")

    def _findings(self, first: int, walking: kernels.Walking, noted: kernels.Noted) -> Findings:
        """Return what the walks found as plain values."""
        about, rows = self._functions, self.plain.most + 1
        presupposed = np.flatnonzero(noted.presupposed).tolist()
        is_over = walking.phase == kernels.OVER
        found = Findings(
            taken=noted.taken.tolist(),
            tried=noted.tried.tolist(),
            walks=int(is_over.sum()),
            ended=int((is_over & (walking.at < self.plain.most)).sum()),
            presupposed={question.name for question in map(about.question, presupposed) if question.bound.when is not None},
            registers=bytearray(noted.registers.tobytes()),
        )
        for root in np.flatnonzero(noted.first >= 0).tolist():
            row, steps = divmod(int(noted.first[root]), rows)
            found.decide(about.question(root).name, (first + row, steps))
        if noted.impossible[0] >= 0:
            row, steps = divmod(int(noted.impossible[0]), rows)
            found.reach_impossible((first + row, steps), int(noted.impossible[1]))
        return found


class _Shares:
    """The share of each value in the signature of a state, as an array that grows with the values."""

    def __init__(self, components: Components) -> None:
        self._signatures = Signatures(components.system.initial[0])
        self._kinds = components.kinds
        self._shares: list[_Growing] = [
            _Growing(place, index if part.entries is not None else None)
            for place, part in enumerate(components.parts)
            for index in range(part.width)
        ]
        self._known = -1
        self._arrays = kernels.Signed(np.zeros(0, np.int64), np.zeros(0, np.uint64))

    def arrays(self) -> kernels.Signed:
        """Return all shares as they are now."""
        known = sum(len(kind.values.values) for kind in self._kinds)
        if known != self._known:
            for growing, kind in zip(self._shares, self._kinds, strict=True):
                growing.grow(kind.values.values, self._signatures)
            lengths = [len(growing.shares) for growing in self._shares]
            self._arrays = kernels.Signed(
                np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.int64),
                np.concatenate([growing.shares for growing in self._shares]),
            )
            self._known = known
        return self._arrays


class _Growing:
    """The shares of one component's values by code, with room for more."""

    def __init__(self, place: int, index: int | None) -> None:
        self.place, self.index = place, index
        self.known = 0
        self.shares: NDArray[np.uint64] = np.zeros(16, np.uint64)

    def grow(self, values: list[Any], signatures: Signatures) -> None:
        """Enter the shares of values that are new."""
        if len(values) > len(self.shares):
            longer = np.zeros(2 * len(values), np.uint64)
            longer[: self.known] = self.shares[: self.known]
            self.shares = longer
        for code in range(self.known, len(values)):
            value = values[code]
            share = signatures.of_part(self.place, value) if self.index is None else signatures.of_entry(self.place, self.index, value)
            self.shares[code] = share & MASK
        self.known = len(values)
