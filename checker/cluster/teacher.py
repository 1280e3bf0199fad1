# SPDX-License-Identifier: Apache-2.0
"""Learns what shards miss, and tells all of them: there is one learner, and so one set of codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hwmark.checker.tables.learner import Functions, Learner
from hwmark.checker.tables.rows import Rows

from .crew import Crew
from .messages import Knowledge, Missing


class Teacher:
    """Calls methods of shards that may miss something, and teaches them until nothing is missing."""

    def __init__(self, learner: Learner, functions: Functions, packing: Rows, crew: Crew) -> None:
        """Have told the shards nothing yet."""
        self.learner, self.functions, self.packing, self.crew = learner, functions, packing, crew
        self.actions = np.arange(len(learner.system.takes), dtype=np.int32)
        self.of_steps, self.of_states = np.zeros(0, np.int32), np.zeros(0, np.int32)
        """What is asked of steps, and of states, that for later last; it must not change while shards wait to go on."""
        self.told: tuple[bytes, ...] = ()

    def ask(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method of some shards until none misses anything; return the answers in the order of shards."""
        answers: dict[int, Any] = dict.fromkeys(sorted(arguments))
        waiting = arguments
        while waiting:
            self._inform()
            heard = self.crew.call(method, waiting)
            missing = {shard: answer for shard, answer in heard.items() if isinstance(answer, Missing)}
            answers |= heard
            waiting = {shard: arguments[shard] for shard in missing}
            self._learn(missing.values())
        return list(answers.values())

    def tell(self, method: str, *arguments: Any) -> None:
        """Call a method of all shards with the same arguments, each of which travels once."""
        shared = tuple(map(self.crew.share, arguments))
        self.crew.call(method, dict.fromkeys(range(self.crew.size), shared))

    def _inform(self) -> None:
        """Tell all shards what is known and asked now, if that has changed."""
        about = (self.of_steps.tobytes(), self.of_states.tobytes())
        if self.told != about:
            learner = self.learner
            knowledge = Knowledge(
                trees=learner.forest.arrays(),
                layout=self.packing.layout,
                renamings=learner.renamings,
                actions=learner.screen(self.actions),
                of_steps=learner.screen(self.of_steps),
                of_states=learner.screen(self.of_states),
            )
            self.tell("learn", knowledge)
            self.told = about

    def _learn(self, missing: Iterable[Missing]) -> None:
        """Learn each thing that is missing once, in the order of shards and states."""
        known: set[int] = set()
        for one in missing:
            for root, instance, key, codes in zip(*(part.tolist() for part in one), strict=True):
                if key not in known:
                    known.add(key)
                    self._resolve(root, instance, codes)
        if known:
            self.learner.rename_new()
            self.packing.fit()
            self.told = ()
            self.crew.poll()

    def _resolve(self, root: int, instance: int, codes: list[int]) -> None:
        if root in self.functions.steps:
            after = self.learner.successor(self.learner.resolve(instance, codes), codes)
            self.learner.resolve(root, [*codes, *(after or ()), instance])
        else:
            self.learner.resolve(root, codes)
