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

from hwmark.checker.engine import Engine

from .findings import Findings
from .plain_walks import PlainWalks, Stop
from .subject import Subject

TRIED_AFTER = 1.5
"""Seconds after which tables are tried: before, compiled code is not worth loading."""
SHARE = 0.2
"""The share of the time that tables may take while they are slower."""


class Walker(Protocol):
    """Takes walks by their numbers, and does not ask what is decided already."""

    def walk(self, first: int, last: int, decided: Collection[str], stop: Stop) -> Findings:
        """Take the walks from ``first`` up to ``last``, until told to stop."""


class Walks:
    """Takes the walks through one subject, batch by batch; raises what ``TableWalks`` raises."""

    def __init__(self, subject: Subject, seed: int, most: int, engine: Engine) -> None:
        """Prepare; nothing is walked yet."""
        self.subject, self.plain, self.engine = subject, PlainWalks(subject, seed, most), engine
        self._tables: Walker | None = None
        self.found = Findings.none(len(subject.explored.steps))
        self.first: range | None = None
        """The first batch."""
        self.steps = dict.fromkeys((Engine.REFERENCE, Engine.TABLES), 0)
        self._seconds = dict.fromkeys((Engine.REFERENCE, Engine.TABLES), 0.0)
        self._latest_speed = 0.0

    def walk(self, batch: range, decided: Collection[str], stop: Stop) -> Findings:
        """Take a batch of walks, and add what it finds to ``found``."""
        self.first = self.first or batch
        engine = self._engine()
        walker = self._loaded(batch, stop) if engine is Engine.TABLES else self.plain
        started = time.perf_counter()
        found = walker.walk(batch.start, batch.stop, decided, stop)
        seconds = time.perf_counter() - started
        self.steps[engine] += found.steps
        self._seconds[engine] += seconds
        if engine is Engine.TABLES:
            self._latest_speed = found.steps / seconds
        self.found.add(found)
        return found

    def _engine(self) -> Engine:
        if self.engine is not Engine.AUTO:
            return self.engine
        plain, tables = self._seconds[Engine.REFERENCE], self._seconds[Engine.TABLES]
        if plain < TRIED_AFTER:
            return Engine.REFERENCE
        is_faster = self._latest_speed > self.steps[Engine.REFERENCE] / plain
        return Engine.TABLES if is_faster or tables < SHARE * (plain + tables) else Engine.REFERENCE

    def _loaded(self, batch: range, stop: Stop) -> Walker:
        """Return the walks over tables; loading what they need is not held against them."""
        if self._tables is None:
            from .table_walks import TableWalks  # noqa: PLC0415 - compiled code

            self._tables = TableWalks(self.plain)
            self._tables.walk(batch.start, batch.start + 1, (), stop)
        return self._tables
