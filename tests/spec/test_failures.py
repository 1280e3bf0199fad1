# SPDX-License-Identifier: Apache-2.0
"""What is left of a partition once brokers or its controller are gone, and for what a commit may wait.

All depths are known from our own engines alone.
"""

from __future__ import annotations

import pytest
from attrs import evolve

from hwmark.checker.asked import observed_properties
from hwmark.checker.compare import compare
from hwmark.checker.explore import explore
from hwmark.checker.formats.comparison import cell_text
from hwmark.checker.verdict import Verdict
from hwmark.model.machine import Machine, action, kafka
from hwmark.model.partition.machine import machine
from hwmark.model.partition.shared import brokers, decided, truth
from hwmark.model.partition.state import Acks, Bounds, Config, State
from hwmark.spec.comparisons import COMPARISONS
from hwmark.spec.majority.rows import BOTH_GONE, BROKER_GONE, CONTROLLER_GONE
from hwmark.spec.partition.described import DESCRIBED
from hwmark.spec.partition.failures import (
    PROPERTIES,
    acknowledged_without_controller,
    nothing_is_decided_without_controller,
    stays_writable,
)
from hwmark.spec.partition.presets import RIGHT
from hwmark.spec.partition.scopes import ONE, TWO, TWO_MIN_TWO


def build(bounds: Bounds, config: Config = TWO) -> Machine[State]:
    """Return a partition under the right rules."""
    return machine(RIGHT, config, bounds)


@pytest.mark.parametrize(
    ("config", "bounds", "depth"),
    [
        (TWO, BROKER_GONE, None),
        (TWO, evolve(BROKER_GONE, crashes=2), 2),
        (TWO_MIN_TWO, BROKER_GONE, 1),
        (TWO_MIN_TWO, evolve(BROKER_GONE, stays_down=False), None),
        (ONE, BROKER_GONE, 1),
        (evolve(TWO, elr=False), BROKER_GONE, None),
        (evolve(TWO, acks=Acks.LEADER), BROKER_GONE, None),
    ],
)
def test_one_replica_has_to_be_left_and_as_many_as_the_minimum(config: Config, bounds: Bounds, depth: int | None) -> None:
    """Writable stays what has one replica left, unless more are asked for, or the others come back."""
    (result,) = explore(build(bounds, config), [stays_writable]).results
    assert (result.verdict, result.depth) == (Verdict.HOLDS if depth is None else Verdict.VIOLATED, depth)


@pytest.mark.parametrize(("bounds", "depth"), [(CONTROLLER_GONE, None), (BOTH_GONE, 3)])
def test_without_the_controller_a_dead_member_stops_it(bounds: Bounds, depth: int | None) -> None:
    """While all that are in sync run records are committed; nobody takes a dead one out of the ISR, and nobody is elected."""
    without, decides = explore(build(bounds), [acknowledged_without_controller, nothing_is_decided_without_controller]).results
    assert (without.verdict, without.depth) == (Verdict.HOLDS if depth is None else Verdict.VIOLATED, depth)
    assert decides.verdict is Verdict.HOLDS


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def elect_without_controller(state: State, *, broker: int) -> State | None:
    """A broker takes over although there is no controller to say so."""
    partition = truth(state)
    if state.controller_is_up or broker == partition.leader or partition.leader_epoch:
        return None
    return decided(state, evolve(partition, leader=broker, leader_epoch=1, partition_epoch=partition.partition_epoch + 1))


def test_an_election_without_a_controller_is_seen() -> None:
    """A machine in which somebody takes over by itself breaks the promise that nothing is decided."""
    whole = build(CONTROLLER_GONE)
    mistaken = evolve(whole, actions=(*whole.actions, elect_without_controller))
    (result,) = explore(mistaken, [nothing_is_decided_without_controller]).results
    assert (result.verdict, result.depth) == (Verdict.VIOLATED, 2)


def test_the_partition_has_these_promises() -> None:
    """They are asked like all others."""
    assert all(one in DESCRIBED.properties for one in PROPERTIES)


# -- side by side --


def test_the_commit_rules_side_by_side() -> None:
    """Each cell is decided, and says what is written here; those of ``quorums`` stand on the page about majorities."""
    found = compare(COMPARISONS["commit_rules"], 1, lambda: None, lambda _: None)
    assert found.verdict is Verdict.HOLDS
    assert [[cell_text(cell).plain for cell in row if cell is not None] for row in found.cells] == [
        ["holds", "broken in 5 steps", "holds"],
        ["broken in 1 step", "holds", "holds"],
        ["holds", "broken in 1 step", "holds"],
    ]


def test_promise_about_outages_is_asked_where_there_are_some() -> None:
    """Elsewhere it would be vacuous, and a suite that asks everything undetermined."""
    for outages in (0, 1):
        asked = observed_properties(DESCRIBED, evolve(DESCRIBED.small, outages=outages))
        assert (acknowledged_without_controller.name in asked) == bool(outages)
