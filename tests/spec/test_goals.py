# SPDX-License-Identifier: Apache-2.0
"""Each goal is met in the scope that it declares, in larger ones, and in none that is smaller in any bound.

A goal that is never met shows that a model does nothing; a scope that is too large hides that for the scopes below.
"""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, fields

from hwmark.checker.explore import Options, explore
from hwmark.checker.verdict import Result, Verdict
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Reachable

GOALS = [(name, prop) for name, described in MACHINES.items() for prop in described.properties if isinstance(prop, Reachable)]
IDS = [f"{name}-{prop.name}" for name, prop in GOALS]
CIRCUMSTANCES = {"start", "initial_isr", "segment_size"}
"""Bounds that say how a run begins, or how logs are cut, and not how far to look."""
ENOUGH = 20_000
"""More states than any search for a goal here needs."""


def looked_for(name: str, goal: Reachable, bounds: Any) -> Result:
    """Return what a search for a goal says under the machine's right rules, expecting it in every scope."""
    described = MACHINES[name]
    machine = described.build(described.presets[described.right], described.module.Config(), bounds)
    return explore(machine, (evolve(goal, scope={}),), Options(max_states=ENOUGH)).results[0]


def scopes(name: str, goal: Reachable, change: int) -> list[Any]:
    """Return the scopes that differ from the declared one by ``change`` in a single bound, as far as bounds allow."""
    found = []
    described = MACHINES[name]
    for bound, least in goal.scope.items():
        try:
            bounds = described.module.Bounds(**{**goal.scope, bound: least + change})
            described.build(described.presets[described.right], described.module.Config(), bounds)
            found.append(bounds)
        except ValueError:
            assert change < 0, "a larger bound is always allowed here"
    return found


@pytest.mark.parametrize(("name", "goal"), GOALS, ids=IDS)
def test_goal_declares_its_least_scope(name: str, goal: Reachable) -> None:
    """It is met there and one larger in each bound, and not one smaller in any, after everything was explored.

    A bound that it leaves out is at the machine's default, which allows nothing of that kind.
    """
    described = MACHINES[name]
    left_out = {bound.name: bound.default for bound in fields(type(described.small)) if bound.name not in goal.scope}
    assert set(goal.scope) <= {bound.name for bound in fields(type(described.small))}
    assert {value for bound, value in left_out.items() if bound not in CIRCUMSTANCES} <= {0}
    assert looked_for(name, goal, described.module.Bounds(**goal.scope)).verdict is Verdict.HOLDS
    assert {looked_for(name, goal, bounds).verdict for bounds in scopes(name, goal, 1)} == {Verdict.HOLDS}
    assert {looked_for(name, goal, bounds).verdict for bounds in scopes(name, goal, -1)} <= {Verdict.VIOLATED}


REPLICATION_GOALS = {
    "record_is_committed": 4,
    "leadership_moves": 4,
    "log_is_truncated": 6,
    "isr_shrinks_and_grows": 5,
    "zombie_writes": 4,
}
"""How many steps it takes to meet each goal of replication in its least scope: few enough to follow by hand."""


def test_goals_of_replication_are_met_in_as_many_steps_as_by_hand() -> None:
    """For instance a record is committed by electing, becoming leader, writing, and advancing the high watermark."""
    found = {goal.name: looked_for(name, goal, MACHINES[name].module.Bounds(**goal.scope)) for name, goal in GOALS if name == "replication"}
    assert {name: result.depth for name, result in found.items()} == REPLICATION_GOALS
    committed = found["record_is_committed"].run
    assert committed is not None
    assert [step.action for step in committed.steps] == [
        "controller_elect_leader",
        "become_leader",
        "leader_write",
        "leader_advance_high_watermark",
    ]
