# SPDX-License-Identifier: Apache-2.0
"""How placement is drawn: who leads what, who is gone, and what happens."""

from __future__ import annotations

import pytest

from hwmark.checker.replay import Replayed
from hwmark.checker.shipped import load_shipped
from hwmark.checker.trace import replay
from hwmark.model.machine import Step
from hwmark.model.placement.state import NOBODY, Partition, State
from hwmark.spec.placement.lessons import LESSONS
from hwmark.spec.placement.view import VIEW, blame, elects, expands, lanes, say
from hwmark.spec.property import witness
from hwmark.spec.view import Cell, Place, Tone

LED = Partition((0, 1, 2), frozenset({0, 1}), 0)
MOVED = Partition((1, 2, 0), frozenset({0}), 0)
STATE = State(fenced=(False, False, True), partitions=(LED, MOVED), failures=1)


def told(run: Replayed) -> list[str]:
    """Return how each step of a run is told."""
    view = VIEW.of(run.machine)
    return [view.event(*one).caption for one in zip(run.states, run.steps, run.states[1:], strict=False)]


def test_a_run_is_told() -> None:
    """Each step has a caption that says which partitions have another leader."""
    assert told(replay(load_shipped("placement_preferred_at_once"))) == [
        "The topic is created; its partitions are led by 0, 1, 2",
        "Broker 0 fails: partition 0 to broker 1",
        "Broker 0 is back",
        "The controller elects preferred leaders: partition 0 to broker 0",
    ]
    assert told(replay(load_shipped("placement_no_election_on_return")))[1] == "Broker 0 fails: partition 0 to nobody"


def test_other_steps_are_told() -> None:
    """A replica in sync comes from the leader that takes it in; an operator asks for one partition."""
    event = expands(STATE, Step("expand_isr", {"partition": 1, "broker": 1}), STATE)
    assert (event.caption, event.lane, event.source) == ("Broker 1 is in sync again in partition 1", "broker 1", "broker 0")
    after = State(STATE.fenced, (LED, Partition(MOVED.replicas, MOVED.isr, 1)), 1)
    event = elects(STATE, Step("elect_preferred_leader", {"partition": 1}), after)
    assert event.caption == "An operator asks for the preferred leader: partition 1 to broker 1"


def test_lanes() -> None:
    """The controller knows the partitions; a broker has its replicas by partition, in the colour of the preferred leader."""
    controller, *brokers = lanes(STATE)
    assert controller.facts == {
        "partition 0": "on 0, 1, 2, led by 0",
        "partition 1": "on 1, 2, 0, led by 0",
    }
    assert [(one.role, one.tone) for one in brokers] == [
        ("leads 2", Tone.LEADING),
        ("leads nothing", Tone.PLAIN),
        ("is gone", Tone.WRONG),
    ]
    assert brokers[0].cells == (Cell(0, "0", 0, committed=True), Cell(1, "1", 1, committed=True))
    assert brokers[1].cells == (Cell(0, "0", 0, committed=False), Cell(1, "(1)", 1, committed=False))
    assert lanes(State((False,), (Partition(),), 0))[0].role == "no topic yet"


def test_what_a_witness_points_at() -> None:
    """The leader in its partition, the brokers that lead the most, or else the controller."""
    assert blame(STATE, witness(partition=1, leader=0).facts) == (Place("broker 0", 1),)
    assert blame(STATE, witness(led=(2, 2, 0)).facts) == (Place("broker 0"), Place("broker 1"))
    for facts in (witness(led=(2, 1)), witness(leader=NOBODY, partition=0), witness(electable=(0,))):
        assert blame(STATE, facts.facts) == (Place("controller"),)


def test_leaders_are_written_as_brokers() -> None:
    """And nothing else is."""
    assert (say("partitions[0].leader", 1), say("partitions[0].leader", NOBODY)) == ("broker 1", "nobody")
    assert say("failures", 1) is None


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_can_be_told(name: str) -> None:
    """Each step of each lesson has a caption, and each state lanes."""
    run = replay(load_shipped(name))
    assert all(told(run))
    assert {len(VIEW.of(run.machine).lanes(state)) for state in run.states} == {4}
