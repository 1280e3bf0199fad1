# SPDX-License-Identifier: Apache-2.0
"""The progress line: its estimate, and that it is seen on terminals only."""

from __future__ import annotations

import io
import itertools
import math

import pytest

from hwmark.checker.explore import Options, Progress, explore
from hwmark.checker.progress import ProgressLine, remaining_seconds, remaining_states, search_line
from hwmark.spec.machines import MACHINES


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_estimate_follows_levels_that_rise_and_fall() -> None:
    """For the levels of a cube (binomial numbers) the estimate is near the truth from before the peak on."""
    levels = [math.comb(40, size) for size in range(41)]
    for seen in (16, 20, 25):
        estimate = remaining_states(levels[:seen], sum(levels[:seen]))
        assert estimate is not None
        assert estimate == pytest.approx(sum(levels[seen:]), rel=0.5)


def test_there_is_no_estimate_while_growth_does_not_slow_down() -> None:
    """Few levels, levels that still double, steady growth, and faster growth say nothing about the end."""
    assert remaining_states([math.comb(40, size) for size in range(8)], 10) is None
    assert remaining_states([1, 4, 9, 16], 10) is None
    assert remaining_states([5 ** (12 - depth) * 6**depth for depth in range(12)], 10) is None
    assert remaining_states([math.factorial(depth) for depth in range(12)], 10) is None


def test_estimate_of_a_real_search_means_something() -> None:
    """Once half of a replication scope is seen, the estimate of all is within a factor of two."""
    described = MACHINES["replication"]
    seen: list[Progress] = []
    found = explore(
        described.build(described.presets["kip_320"], described.module.Config(), described.small), (), Options(progress=seen.append)
    )
    estimates = [(remaining_states(one.levels, one.expanded), one.expanded) for one in seen if one.expanded > found.states / 2]
    assert len(estimates) > 10
    for estimate, expanded in estimates:
        assert estimate is not None
        assert found.states / 2 < estimate + expanded < found.states * 2


def test_nothing_is_written_where_nobody_looks() -> None:
    """A stream that is no terminal stays empty."""
    stream = io.StringIO()
    line = ProgressLine(stream)
    line(Progress((1, 2), 1, 2, 3, 1.0))
    line.done(1, 2)
    line.clear()
    assert stream.getvalue() == ""


def test_the_line_on_a_terminal_is_taken_away_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal sees states, speed, frontier, what is left and memory, never wider than it is, and at last an empty line."""
    monkeypatch.setenv("COLUMNS", "60")
    stream = Terminal()
    line = ProgressLine(stream)
    line(Progress((1, 2), 1000, 24, 3, 2.0))
    line(Progress((1, 2), 2000, 24, 3, 2.0))
    line.clear()
    drawn, cleared = stream.getvalue().split("\r\x1b[K")[1:]
    assert drawn.startswith("[....................] 1,024 states, 2 steps/s, frontier 24")
    assert (len(drawn), cleared) == (59, "")


def test_what_is_left_is_unknown_at_first_and_then_said() -> None:
    """The line says ``?`` until there is an estimate, then seconds at the speed so far."""
    assert "left ?" in search_line(Progress((1, 2), 10, 2, 3, 1.0))
    levels = tuple(math.comb(20, size) for size in range(12))
    progress = Progress(levels, sum(levels), levels[-1], 0, 10.0)
    left = remaining_seconds(progress)
    assert left is not None
    assert left == pytest.approx(10 * (2**20 - sum(levels)) / sum(levels), rel=0.5)
    assert f"left about {left:,.0f} s" in search_line(progress)
    assert list(itertools.accumulate(levels))[-1] == progress.expanded


def test_the_line_tells_how_well_functions_are_learned() -> None:
    """Where functions are learned, the line ends with how seldom they ran, and with the component that grows most."""
    line = search_line(Progress((1, 2), 10, 2, 3, 1.0, python_calls=6, growing="logs (61 values)"))
    assert line.endswith(", 0.500 calls a state, logs (61 values) grows most")
    assert "calls" not in search_line(Progress((1, 2), 10, 2, 3, 1.0))
