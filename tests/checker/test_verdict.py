# SPDX-License-Identifier: Apache-2.0
"""Verdicts are three-valued: the worst of several decides, and what was not looked at is never green."""

from __future__ import annotations

import itertools

import pytest

from hwmark.checker.verdict import Exploration, Result, Verdict, worst

HOLDS, VIOLATED, UNDETERMINED = Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNDETERMINED


def exploration(*verdicts: Verdict, complete: bool = True) -> Exploration:
    """Return an exploration with these results."""
    results = tuple(Result(f"p{number}", "invariant", verdict) for number, verdict in enumerate(verdicts))
    return Exploration(1, 0, 0, complete, None if complete else "interrupted", 0.0, {}, results)


@pytest.mark.parametrize("verdicts", tuple(itertools.product(Verdict, repeat=3)))
def test_violated_beats_undetermined_beats_holds(verdicts: tuple[Verdict, ...]) -> None:
    """In every combination and order."""
    expected = VIOLATED if VIOLATED in verdicts else UNDETERMINED if UNDETERMINED in verdicts else HOLDS
    assert worst(verdicts) is expected
    assert exploration(*verdicts).verdict is expected


def test_nothing_asked_holds_only_if_everything_was_explored() -> None:
    """A search that stopped early and was asked nothing says nothing."""
    assert exploration().verdict is HOLDS
    assert exploration(complete=False).verdict is UNDETERMINED


def test_decided_before_the_stop_stays_decided() -> None:
    """Results say themselves what the stop left open."""
    assert exploration(HOLDS, complete=False).verdict is HOLDS
    assert exploration(HOLDS, UNDETERMINED, complete=False).verdict is UNDETERMINED
    assert exploration(VIOLATED, UNDETERMINED, complete=False).verdict is VIOLATED
