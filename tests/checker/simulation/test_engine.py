# SPDX-License-Identifier: Apache-2.0
"""Which engine walks: the one that is asked for, else the faster one, tables being tried for a share of the time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection

import pytest
from toys import counter, turn

from hwmark.checker.engine import Engine
from hwmark.checker.simulation import engine as engines
from hwmark.checker.simulation.engine import Walker, Walks
from hwmark.checker.simulation.findings import Findings
from hwmark.checker.simulation.plain_walks import PlainWalks, Stop
from hwmark.checker.simulation.request import Plan
from hwmark.checker.simulation.subject import Subject
from hwmark.checker.simulation.table_walks import TableWalks


class Clock:
    """A clock that only walks move."""

    def __init__(self) -> None:
        """Start at noon."""
        self.now = 0.0

    def perf_counter(self) -> float:
        """Return what time it is."""
        return self.now


def slow(walker: Walker, clock: Clock, seconds: float) -> None:
    """Let each batch of a walker take so many seconds."""
    walk = walker.walk

    def walk_slowly(first: int, last: int, decided: Collection[str], stop: Stop) -> Findings:
        clock.now += seconds
        return walk(first, last, decided, stop)

    walker.walk = walk_slowly  # type: ignore[method-assign]


def shares(monkeypatch: pytest.MonkeyPatch, engine: Engine, *, plain: float, tables: float, batches: int) -> tuple[float, float]:
    """Return how many steps each engine takes in so many batches that take these times."""
    clock = Clock()
    monkeypatch.setattr(engines, "time", clock)
    made = TableWalks.__init__

    def make(self: TableWalks, walks: PlainWalks, most_nodes: int) -> None:
        made(self, walks, most_nodes)
        slow(self, clock, tables)

    monkeypatch.setattr(TableWalks, "__init__", make)
    walks = Walks(Subject.of(counter(turn), ()), Plan(steps=10, engine=engine))
    slow(walks.plain, clock, plain)
    taken = [walks.walk(range(number, number + 1), (), lambda: None) for number in range(batches)]
    assert [one.found.steps for one in taken] == [10] * batches
    steps = Counter(one.engine for one in taken)
    return 10 * steps[Engine.REFERENCE], 10 * steps[Engine.TABLES]


def test_faster_tables_take_over_once_they_were_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain functions begin, and never walk again."""
    assert shares(monkeypatch, Engine.AUTO, plain=0.5, tables=0.1, batches=50) == (30, 470)


def test_slower_tables_get_their_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may catch up as they learn, and are tried again and again, but for no more than a fifth of the time."""
    plain, tables = shares(monkeypatch, Engine.AUTO, plain=0.5, tables=2.0, batches=100)
    assert (plain, tables) == (940, 60)
    assert 0.15 < 2.0 * tables / (2.0 * tables + 0.5 * plain) < engines.SHARE + 0.01


@pytest.mark.parametrize(("engine", "expected"), [(Engine.REFERENCE, (200, 0)), (Engine.TABLES, (0, 200))])
def test_an_engine_that_is_asked_for_walks_alone(monkeypatch: pytest.MonkeyPatch, engine: Engine, expected: tuple[int, int]) -> None:
    """However slow it is."""
    assert shares(monkeypatch, engine, plain=5.0, tables=5.0, batches=20) == expected


def test_few_walks_load_no_compiled_code() -> None:
    """The first moments are walked with the plain functions."""
    assert time.perf_counter() > 0
    walks = Walks(Subject.of(counter(turn), ()), Plan(steps=10))
    assert walks.walk(range(5), (), lambda: None).engine is Engine.REFERENCE
