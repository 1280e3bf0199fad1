# SPDX-License-Identifier: Apache-2.0
"""What is left of a partition once brokers or its controller are gone, and the comparisons with other ways to commit.

The answers of the comparisons are pinned here; all are known from our own engines alone.
"""

from __future__ import annotations

import pytest
from attrs import evolve

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

HOLDS = "holds"
ANSWERS = {
    "quorums": {
        "1 gone: writable": [HOLDS, HOLDS, HOLDS, "broken in 1 step", HOLDS, HOLDS],
        "1 gone: nothing lost": [HOLDS] * 6,
        "2 gone: writable": ["broken in 2 steps", HOLDS, "broken in 2 steps", "broken in 1 step", "broken in 2 steps", HOLDS],
        "2 gone: nothing lost": [HOLDS] * 6,
        "no controller": [HOLDS] * 6,
        "1 gone, no controller": ["broken in 3 steps", "broken in 8 steps", "broken in 8 steps", "broken in 1 step", HOLDS, HOLDS],
        "disk of the last lost": ["broken in 9 steps", "broken in 9 steps", HOLDS, HOLDS, HOLDS, HOLDS],
    },
    "commit_rules": {
        "After a crash of the leader the next one has all that was acknowledged": [HOLDS, "broken in 5 steps", HOLDS],
        "It is still writable if a replica crashes and stays away": ["broken in 1 step", HOLDS, HOLDS],
        "Whoever may be elected has all that counts as committed": [HOLDS, "broken in 1 step", HOLDS],
    },
}


@pytest.mark.parametrize("name", [pytest.param("commit_rules"), pytest.param("quorums", marks=[pytest.mark.exhaustive])])
def test_answers(name: str) -> None:
    """Each cell is decided, and says what is written here."""
    found = compare(COMPARISONS[name], 1, lambda: None, lambda _: None)
    assert found.verdict is Verdict.HOLDS
    assert {
        line.label: [cell_text(cell).plain for cell in row if cell is not None]
        for line, row in zip(found.comparison.lines, found.cells, strict=True)
    } == ANSWERS[name]
