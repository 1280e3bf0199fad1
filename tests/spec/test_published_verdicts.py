# SPDX-License-Identifier: Apache-2.0
"""The published replication family: every verdict, shortest depth and state count equals the published one.

``published_verdicts.json`` holds, for each variant and scope (replicas, log size, records, largest leader epoch), the
shortest depth of each violated property (a property not named holds) and the number of reachable states, plain and
under replica symmetry. The variants and properties are those of hachikuji/kafka-specification; depths and counts were
derived from its modules by an independent exhaustive exploration, and the counts of five variants confirmed with TLC.
Diameters count steps and transitions leave out the initial state, where others count states and include it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker import explore as reference
from hwmark.checker.explore import Options, explore
from hwmark.checker.tables import engine as tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.replication import Bounds
from hwmark.model.rules import Truncation
from hwmark.spec.machines import MACHINES

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "published_verdicts.json").read_text())
PUBLISHED = {"weak_isr", "strong_isr", "leader_completeness", "high_watermark_prefix", "epoch_lineage"}
EVERYWHERE = {"single_leader", "leader_in_isr", "structure", "leader_epoch_order", "election_from_isr", "high_watermark_bound"}
SMALLEST, DEFAULT_LIMIT = (2, 2, 2, 2), (3, 2, 2, 1)
"""The scope in which the default suite asks both engines of every variant; the largest in which it asks the tables engine."""
REFERENCE_LIMIT = (3, 2, 2, 2)
"""The largest scope in which the reference engine is asked too: of the right variant, under symmetry."""
ENGINES = {"reference": reference.explore, "tables": tables.explore}


@cache
def explored(variant: str, scope: tuple[int, ...], *, symmetry: bool, engine: str = "reference") -> Exploration:
    """Explore one variant in one scope, past every violation."""
    described = MACHINES["replication"]
    machine = described.build(described.presets[variant], described.module.Config(), Bounds(*scope))
    properties = [prop for prop in described.properties if prop.name in PUBLISHED | EVERYWHERE]
    return ENGINES[engine](machine, properties, Options(symmetry=symmetry, keep_going=True))


def cases(*, symmetry: bool) -> list[Any]:
    """Return the rows to check by each engine, those too large for the default suite marked as exhaustive, each with its name."""
    found = []
    for row in ROWS:
        variant, scope = row["variant"], tuple(row["scope"])
        large = scope[0] == 3 and scope != DEFAULT_LIMIT
        right = variant == "kip_320"
        if not symmetry and "states" not in row:
            continue
        name = f"{variant}-{'/'.join(map(str, scope))}"
        found.append(pytest.param(row, "tables", id=f"{name}-tables", marks=[pytest.mark.exhaustive] if large else []))
        if scope in (SMALLEST, *([DEFAULT_LIMIT] if right else [])):
            found.append(pytest.param(row, "reference", id=f"{name}-reference"))
        elif not large or (right and symmetry and scope == REFERENCE_LIMIT):
            found.append(pytest.param(row, "reference", id=f"{name}-reference", marks=pytest.mark.exhaustive))
    return found


def check(row: dict[str, Any], engine: str, *, symmetry: bool) -> Exploration:
    """Assert that an exploration of the row's scope finds the published verdicts and depths, and return it."""
    found = explored(row["variant"], tuple(row["scope"]), symmetry=symmetry, engine=engine)
    assert found.complete
    if "violations" in row:
        violated = {one.name: one.depth for one in found.results if one.verdict is Verdict.VIOLATED}
        assert violated == row["violations"]
        held = {one.name for one in found.results if one.verdict is Verdict.HOLDS}
        assert held == (PUBLISHED | EVERYWHERE) - set(violated)
    return found


@pytest.mark.parametrize(("row", "engine"), cases(symmetry=True))
def test_symmetric_exploration_equals_the_published_row(row: dict[str, Any], engine: str) -> None:
    """Under replica symmetry verdicts and depths are those of the plain search, and the orbits are counted exactly."""
    found = check(row, engine, symmetry=True)
    assert found.states == row.get("states_symmetric", found.states)
    assert found.depth == row.get("diameter", found.depth)


@pytest.mark.parametrize(("row", "engine"), cases(symmetry=False))
def test_plain_exploration_equals_the_published_row(row: dict[str, Any], engine: str) -> None:
    """Without symmetry verdicts, depths, states, transitions and diameter are the published ones."""
    found = check(row, engine, symmetry=False)
    assert found.states == row["states"]
    assert found.depth == row.get("diameter", found.depth)
    assert found.transitions == row.get("transitions", found.transitions)


def test_every_published_row_is_claimed() -> None:
    """The file is whole: thirteen variants, each with all five scopes of the verdict table."""
    judged = {
        (row["variant"], tuple(row["scope"])) for row in ROWS if "violations" in row and row["scope"] not in ([2, 2, 2, 3], [3, 2, 2, 3])
    }
    scopes = {(2, 2, 2, 2), (2, 3, 3, 2), (3, 2, 2, 1), (3, 2, 2, 2), (3, 3, 3, 2)}
    variants = {variant for variant, _ in judged}
    assert len(variants) == 13
    assert judged == {(variant, scope) for variant in variants for scope in scopes}
    assert variants <= set(MACHINES["replication"].presets)


@pytest.mark.parametrize(("scope", "states"), [((2, 2, 2, 2), 6_295), ((3, 2, 2, 1), 41_041)])
def test_the_follower_rule_of_kafka_is_safe(scope: tuple[int, ...], states: int) -> None:
    """Admitting a follower that itself reached the leader's epoch start (``Partition.isFollowerInSync``) keeps every promise."""
    found = explored("kip_320_follower_rule", scope, symmetry=False)
    assert found.states == states
    assert found.verdict is Verdict.HOLDS


@pytest.mark.exhaustive
def test_the_follower_rule_of_kafka_is_safe_with_three_decisions() -> None:
    """The same with three brokers and three controller decisions, where every other admission rule differs."""
    found = explored("kip_320_follower_rule", (3, 2, 2, 2), symmetry=False, engine="tables")
    assert found.states == 826_936
    assert found.verdict is Verdict.HOLDS


@pytest.mark.parametrize(("scope", "symmetry", "states"), [((2, 2, 2, 2), False, 9_047), ((2, 3, 3, 2), True, 16_472)])
def test_clamping_the_lookup_of_kip_101_changes_counts_but_no_verdict(scope: tuple[int, ...], symmetry: bool, states: int) -> None:  # noqa: FBT001
    """Where the looked-up end is above the follower's, the literal rule blocks it and the shipped one truncates nothing."""
    described = MACHINES["replication"]
    rules = evolve(described.presets["kip_101"], truncation=Truncation.EPOCH_END_CLAMPED)
    machine = described.build(rules, described.module.Config(), Bounds(*scope))
    properties = [prop for prop in described.properties if prop.name in PUBLISHED]
    found = explore(machine, properties, Options(symmetry=symmetry, keep_going=True))
    literal = next(row for row in ROWS if row["variant"] == "kip_101" and tuple(row["scope"]) == scope)
    assert found.states == states
    assert {one.name: one.depth for one in found.results if one.verdict is Verdict.VIOLATED} == literal["violations"]
