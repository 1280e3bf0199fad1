# SPDX-License-Identifier: Apache-2.0
"""Any three kinds of perturbation together, as ``docs/partition.md`` says how to sample them: no walk breaks a promise.

All pairs are exhausted, in rows of the catalogue; triples are walked at random, which is a sample and no proof.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from attrs import asdict, evolve

from hwmark.checker.asked import Asked
from hwmark.checker.simulation.request import Plan, Request
from hwmark.checker.simulation.simulate import simulate
from hwmark.checker.simulation.swarm import variants
from hwmark.checker.verdict import Verdict
from hwmark.spec.partition.presets import PRESETS
from hwmark.spec.partition.scopes import KINDS, TWO

PAGE = Path(__file__).parents[2] / "docs" / "partition.md"
BATCH = 64
"""Walks that a simulation takes in one combination before it goes on to the next."""


def written() -> dict[str, list[str]]:
    """Return the options of the page's command for triples."""
    lines = PAGE.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    (line,) = (one for one in lines if one.startswith("hwmark simulate") and "--swarm 3=" in one)
    _, _, _, *words = shlex.split(line)
    options: dict[str, list[str]] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        options.setdefault(option, []).append(value)
    return options


def triples() -> tuple[Asked, ...]:
    """Return what the page's command asks in each of its combinations."""
    given = written()
    config, bounds = given["--config"][0], given["--bounds"][0]
    return variants(Request("partition", None, (), config, bounds, tuple(given["--property"]), tuple(given["--swarm"])))[1]


def kinds(asked: Asked) -> tuple[str, ...]:
    """Return which perturbations happen, once each."""
    bounds = asdict(asked.bounds)
    assert {bounds[kind] for kind in KINDS} == {0, 1}
    return tuple(kind for kind in KINDS if bounds[kind])


def walked(asked: Sequence[Asked], seed: int = 0) -> dict[str, str]:
    """Return what walks in each of these combinations broke: the properties, and which kinds of perturbation they had."""
    found = simulate(asked, Plan(seed, walks=BATCH * len(asked), steps=int(written()["--steps"][0])), lambda: None)
    assert found.walks == BATCH * len(asked) or any(one.verdict is Verdict.VIOLATED for one in found.results)
    return {one.name: str(one.depth) for one in found.results if one.verdict is Verdict.VIOLATED}


def test_the_page_samples_every_triple() -> None:
    """Each once, in the scope of pairs but with two records, and with walks enough for each."""
    asked = triples()
    assert [kinds(one) for one in asked] == list(combinations(KINDS, 3))
    assert {one.config for one in asked} == {evolve(TWO)}
    assert int(written()["--walks"][0]) == BATCH * len(asked)


LAGS = ("fences", "lags", "losses")


def test_a_triple_breaks_nothing() -> None:
    """And is broken by a rule that is wrong, so that walks go where it matters."""
    (asked,) = (one for one in triples() if kinds(one) == LAGS)
    assert walked([asked]) == {}
    wrong = "high_watermark_over_proposed_isr"
    assert "candidates_hold_committed" in walked([evolve(asked, rules=PRESETS[wrong], preset=wrong)])


@pytest.mark.exhaustive
def test_every_eleventh_triple_breaks_nothing() -> None:
    """With another seed than the page's."""
    assert walked(triples()[::11], seed=1) == {}
