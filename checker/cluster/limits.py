# SPDX-License-Identifier: Apache-2.0
"""When a search ends before everything is explored."""

from __future__ import annotations

import time

from attrs import frozen

from hwmark.checker.explore import Options

from .crew import StoppedError
from .kernels import MOST_NUMBER


@frozen
class Limits:
    """The most that codes, nodes, a shard's states, and edges may number, and what a round is; others are for tests."""

    values: int = 2**31 - 1
    nodes: int = 2**31 - 1
    states: int = MOST_NUMBER
    edges: int = 1 << 28
    """Steps between states that the driver still judges as a whole, which takes some fifty bytes for each."""
    round: int = 1 << 15
    """States that each of up to 16 shards expands in a round; more shards expand more, so that parcels are as large."""


class Clock:
    """Tells when to stop."""

    def __init__(self, options: Options) -> None:
        """Start now."""
        self.options, self.started, self.preparation = options, time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the beginning, without those for starting shards."""
        return time.monotonic() - self.started - self.preparation

    def limit(self) -> str | None:
        """Return why to stop, or ``None``."""
        if self.options.timeout is not None and time.monotonic() - self.started > self.options.timeout:
            return f"reached the limit of {self.options.timeout:g} s"
        return self.options.stop()

    def poll(self) -> None:
        """Raise ``StoppedError`` where it is time to stop."""
        stopped = self.limit()
        if stopped is not None:
            raise StoppedError(stopped)
