# SPDX-License-Identifier: Apache-2.0
"""Who takes batches of walks: this process, or several others at once.

What a batch finds does not depend on who takes it, so that however many there are, a simulation finds the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import Future
from typing import Protocol

from hwmark.checker.asked import Asked
from hwmark.checker.workers import Pool, Stop

from .engine import Taken, Walks
from .request import Plan

WAITING = 16
"""Batches for each process: as long as one takes over tables that learn, the others do not run out of work."""


class Crew(Protocol):
    """Takes batches of walks through variants, which are given by their numbers."""

    room: int
    """Batches that can be begun before the first one is waited for."""

    def begin(self, variant: int, batch: range, decided: Collection[str]) -> Future[Taken]:
        """Begin to take a batch of walks."""
        ...

    def tell(self, why: str) -> None:
        """Tell why to stop: what was begun ends soon."""

    def close(self) -> None:
        """Take no more batches."""


class Alone:
    """Takes each batch in this process, while the caller waits."""

    room = 1

    def __init__(self, variants: Sequence[Asked], plan: Plan, stop: Stop) -> None:
        """Walk through these variants, until told to stop."""
        self._variants, self._plan, self._stop = variants, plan, stop
        self._walks: dict[int, Walks] = {}

    def walks(self, variant: int) -> Walks:
        """Return the walks through a variant."""
        if variant not in self._walks:
            self._walks[variant] = Walks.of(self._variants[variant], self._plan)
        return self._walks[variant]

    def begin(self, variant: int, batch: range, decided: Collection[str]) -> Future[Taken]:
        """Take a batch of walks."""
        taken = Future[Taken]()
        taken.set_result(self.walks(variant).walk(batch, decided, self._stop))
        return taken

    def tell(self, why: str) -> None:
        """Nothing goes on here while somebody else does something."""

    def close(self) -> None:
        """There is nothing to be closed."""


class Processes:
    """Lets several processes take batches, each with tables of its own."""

    def __init__(self, variants: Sequence[Asked], plan: Plan) -> None:
        """Prepare the processes, which start as batches come."""
        self.room = WAITING * plan.workers
        self._pool = Pool(plan.workers, _prepare, variants, plan)

    def begin(self, variant: int, batch: range, decided: Collection[str]) -> Future[Taken]:
        """Let a process take a batch of walks."""
        return self._pool.submit(_take, variant, batch, tuple(decided))

    def tell(self, why: str) -> None:
        """Tell all processes."""
        self._pool.tell(why)

    def close(self) -> None:
        """End the processes."""
        self._pool.tell("no more walks are wanted")
        self._pool.close()


# -- in the process --

_alone: Alone | None = None


def _prepare(variants: Sequence[Asked], plan: Plan) -> None:
    global _alone  # noqa: PLW0603 - a process pool hands nothing else to its tasks
    _alone = Alone(variants, plan, lambda: None)


def _take(stop: Stop, variant: int, batch: range, decided: Collection[str]) -> Taken:
    if _alone is None:
        raise RuntimeError("this process is not prepared")
    return _alone.walks(variant).walk(batch, decided, stop)
