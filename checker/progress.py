# SPDX-License-Identifier: Apache-2.0
"""One line on a terminal that says how far a search is; nothing at all where standard error is no terminal.

How much is left is estimated from the sizes of the levels. In a finite scope they grow ever more slowly and then shrink
ever faster: the logarithm of one size over the one before falls about linearly. That fall, over the last few levels, is
extended until a level is empty. As long as growth does not slow down, or levels still double, that would say nothing:
there is no estimate, and the line says ``?``.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Sequence
from typing import TextIO

from .explore import Progress

FITTED = 5
"""Over how many growth rates the fall is taken."""
LONGEST = 10_000
"""Levels beyond which an estimate is given up."""
REDRAW_EVERY = 0.2
"""Seconds between two drawings."""
BAR = 20
"""Characters of the bar."""


def remaining_states(levels: Sequence[int], expanded: int) -> float | None:
    """Return about how many states are still to be expanded, or ``None`` where the sizes of the levels do not tell yet."""
    if len(levels) < FITTED + 2 or 0 in levels:
        return None
    rates = [math.log(size / before) for before, size in zip(levels[-FITTED - 1 :], levels[-FITTED:], strict=False)]
    fall = (rates[-1] - rates[0]) / (FITTED - 1)
    if fall >= 0 or rates[-1] > math.log(2):
        return None
    size, rate, total = float(levels[-1]), rates[-1], float(sum(levels) - expanded)
    for _ in range(LONGEST):
        rate += fall
        size *= math.exp(rate)
        if size < 1:
            return total
        total += size
    return None


def remaining_seconds(progress: Progress) -> float | None:
    """Return about how many seconds a search still takes at its speed so far."""
    states = remaining_states(progress.levels, progress.expanded)
    return None if states is None or not progress.expanded else states * progress.seconds / progress.expanded


def memory() -> str:
    """Return the most memory that this process has held, or ``?`` where the system does not tell."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return "?"
    import sys  # noqa: PLC0415

    unit = 1 if sys.platform == "darwin" else 1024
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20:,.0f} MiB"


class ProgressLine:
    """The line; call it with the progress of one search, or tell it how many of several are done."""

    def __init__(self, stream: TextIO) -> None:
        """Write to this stream if it is a terminal."""
        self._stream = stream if stream.isatty() else None
        self._drawn = -math.inf

    def __call__(self, progress: Progress) -> None:
        """Draw how far one search is."""
        if self._due():
            self._draw(search_line(progress))

    def done(self, finished: int, total: int) -> None:
        """Draw how many searches are done."""
        if self._due():
            self._draw(f"{_bar(finished / total)} {finished} of {total} done")

    def show(self, fraction: float | None, said: str) -> None:
        """Draw this, after a bar that is full to a fraction."""
        if self._due():
            self._draw(f"{_bar(fraction)} {said}")

    def clear(self) -> None:
        """Take the line away."""
        if self._stream is not None and self._drawn > -math.inf:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _due(self) -> bool:
        return self._stream is not None and time.monotonic() - self._drawn >= REDRAW_EVERY

    def _draw(self, line: str) -> None:
        if self._stream is not None:
            self._drawn = time.monotonic()
            self._stream.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
            self._stream.flush()


def search_line(progress: Progress) -> str:
    """Return as one line: states so far, steps a second, the frontier, about how long it still takes, and memory.

    Then what tells how well functions are learned: runs of Python functions for each state, and the component that grows most.
    """
    seen = progress.expanded + progress.frontier
    speed = progress.transitions / progress.seconds if progress.seconds else 0
    left, states_left = remaining_seconds(progress), remaining_states(progress.levels, progress.expanded)
    fraction = None if states_left is None else progress.expanded / (progress.expanded + states_left)
    about = "?" if left is None else f"about {left:,.0f} s"
    line = f"{_bar(fraction)} {seen:,} states, {speed:,.0f} steps/s, frontier {progress.frontier:,}, left {about}, memory {memory()}"
    if progress.python_calls is not None:
        line += f", {progress.python_calls / seen:.3f} calls a state"
    return line if progress.growing is None else f"{line}, {progress.growing} grows most"


def _bar(fraction: float | None) -> str:
    full = 0 if fraction is None else round(BAR * fraction)
    return f"[{'#' * full}{'.' * (BAR - full)}]"
