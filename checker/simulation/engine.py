# SPDX-License-Identifier: Apache-2.0
"""Which engine takes the walks through one subject: the machine's own functions, or compiled code over learned tables.

Both take the same walks. Tables are slow while they learn and fast once they know: in scopes of a size that they can
come to know they are several times as fast, in far larger ones they never catch up. So unless one is asked for, the plain
functions begin, the tables are tried for a share of the time, and whichever is faster now takes the next batch.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Protocol

from attrs import frozen

from hwmark.checker.asked import Asked
from hwmark.checker.engine import Engine

from .findings import Findings
from .plain_walks import PlainWalks, Stop
from .request import Plan
from .subject import Subject

TRIED_AFTER = 1.5
"""Seconds after which tables are tried: before, compiled code is not worth loading."""
SHARE = 0.2
"""The share of the time that tables may take while they are slower."""


class Walker(Protocol):
    """Takes walks by their numbers, and does not ask what is decided already."""

    def walk(self, first: int, last: int, decided: Collection[str], stop: Stop) -> Findings:
        """Take the walks from ``first`` up to ``last``, until told to stop."""
        ...


@frozen
class Taken:
    """What a batch of walks found, and which engine took it."""

    found: Findings
    engine: Engine


class Walks:
    """Takes the walks through one subject, batch by batch; raises what ``TableWalks`` raises."""

    def __init__(self, subject: Subject, plan: Plan) -> None:
        """Prepare; nothing is walked yet."""
        self.subject, self.plan, self.plain = subject, plan, PlainWalks(subject, plan.seed, plan.steps)
        self._tables: Walker | None = None
        self._steps: dict[Engine, int] = dict.fromkeys((Engine.REFERENCE, Engine.TABLES), 0)
        self._seconds: dict[Engine, float] = dict.fromkeys((Engine.REFERENCE, Engine.TABLES), 0.0)
        self._latest_speed = 0.0

    @classmethod
    def of(cls, asked: Asked, plan: Plan) -> Walks:
        """Return the walks through what is asked."""
        return cls(Subject.of(asked.build(), asked.asked_properties()), plan)

    def walk(self, batch: range, decided: Collection[str], stop: Stop) -> Taken:
        """Take a batch of walks."""
        engine = self._engine()
        walker = self._loaded(batch, stop) if engine is Engine.TABLES else self.plain
        started = time.perf_counter()
        found = walker.walk(batch.start, batch.stop, decided, stop)
        seconds = time.perf_counter() - started
        self._steps[engine] += found.steps
        self._seconds[engine] += seconds
        if engine is Engine.TABLES:
            self._latest_speed = found.steps / seconds
        return Taken(found, engine)

    def _engine(self) -> Engine:
        if self.plan.engine is not Engine.AUTO:
            return self.plan.engine
        plain, tables = self._seconds[Engine.REFERENCE], self._seconds[Engine.TABLES]
        if plain < TRIED_AFTER:
            return Engine.REFERENCE
        is_faster = self._latest_speed > self._steps[Engine.REFERENCE] / plain
        return Engine.TABLES if is_faster or tables < SHARE * (plain + tables) else Engine.REFERENCE

    def _loaded(self, batch: range, stop: Stop) -> Walker:
        """Return the walks over tables; loading what they need is not held against them."""
        if self._tables is None:
            from .table_walks import MOST_NODES, TableWalks  # noqa: PLC0415 - compiled code

            self._tables = TableWalks(self.plain, MOST_NODES // self.plan.workers)
            self._tables.walk(batch.start, batch.start + 1, (), stop)
        return self._tables
