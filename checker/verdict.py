# SPDX-License-Identifier: Apache-2.0
"""What an exploration says: three-valued verdicts for each property, and the figures of the search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from attrs import frozen

from hwmark.model.machine import Step


class Verdict(Enum):
    """``holds`` only when the whole scope was explored; whatever was not looked at is ``undetermined``."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDETERMINED = "undetermined"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of several together: violated beats undetermined beats holds."""
    found = set(verdicts)
    return next((one for one in (Verdict.VIOLATED, Verdict.UNDETERMINED) if one in found), Verdict.HOLDS)


@frozen
class Run:
    """A run from an initial state; a lasso repeats the steps from ``loop`` on, or stops for ever if there are none."""

    steps: tuple[Step, ...]
    initial: int = 0
    loop: int | None = None


@frozen
class Result:
    """The verdict on one property: of a violation, its shortest depth in steps, its witness, and its run.

    Of a reachability goal that was met, depth and run are those of the first state or step that meets it.
    """

    name: str
    kind: str
    verdict: Verdict
    depth: int | None = None
    witness: Mapping[str, Any] | None = None
    run: Run | None = None
    why: str | None = None


@frozen
class Exploration:
    """The figures of one search, and its results in the order of the properties."""

    states: int
    transitions: int
    depth: int
    complete: bool
    stopped: str | None
    seconds: float
    taken: Mapping[str, int]
    results: tuple[Result, ...]
    engine: str = "reference"
    workers: int = 1
    preparation: float = 0
    """Seconds spent before on compiling code, or on loading what was compiled before."""
    note: str | None = None
    """What somebody should know of how it was explored, such as why another engine was taken than the one asked for."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on all properties together; a search that stopped early and was asked nothing is undetermined."""
        if not self.results and not self.complete:
            return Verdict.UNDETERMINED
        return worst(one.verdict for one in self.results)
