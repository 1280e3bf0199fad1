# SPDX-License-Identifier: Apache-2.0
"""How classic groups are drawn: who owns what, who is a zombie, and what happens, in Kafka's words."""

from __future__ import annotations

import pytest

from hwmark.checker.explore import explore
from hwmark.checker.replay import Replayed
from hwmark.checker.shipped import load_shipped
from hwmark.checker.trace import replay
from hwmark.checker.verdict import Verdict
from hwmark.model.group_classic.machine import machine
from hwmark.model.group_classic.rules import Rules
from hwmark.model.group_classic.state import (
    NOBODY,
    Answer,
    Bounds,
    Claim,
    Config,
    Consumer,
    Error,
    Group,
    GroupState,
    Member,
    Record,
    Request,
    State,
    StoredMember,
    Waiting,
)
from hwmark.model.machine import Machine, Step
from hwmark.spec.group_classic.events import EVENTS
from hwmark.spec.group_classic.lessons import LESSONS
from hwmark.spec.group_classic.view import VIEW, say
from hwmark.spec.property import Witness, step_property, witness
from hwmark.spec.view import Cell, Place, Tone


def replayed(name: str) -> Replayed:
    """Return a shipped run with all its states."""
    return replay(load_shipped(name))


def told(run: Replayed) -> list[str]:
    """Return how each step of a run is told."""
    view = VIEW.of(run.machine)
    return [view.event(*one).caption for one in zip(run.states, run.steps, run.states[1:], strict=False)]


def test_a_run_is_told_in_kafkas_words() -> None:
    """Each step has a caption that can be read without the model: a consumer is replaced while it runs, and commits."""
    assert told(replayed("no_instance_fence")) == [
        "Consumer 0 sends JoinGroup",
        "The coordinator makes consumer 0 a member: the group rebalances",
        "The time to join is over: generation 1 begins, led by consumer 0",
        "Consumer 0 is in generation 1 and sends SyncGroup",
        "The coordinator writes the assignment of generation 1, which consumer 0 has made",
        "The assignment is replicated, and the group stable: p0 for consumer 0",
        "Consumer 0 is assigned p0",
        "Consumer 0 is started anew, while its former run goes on as former consumer 1",
        "Consumer 0 sends JoinGroup",
        "The coordinator gives consumer 0 the place of its former run",
        "Consumer 0 is in generation 1 and sends SyncGroup",
        "The coordinator answers consumer 0 with its assignment",
        "Consumer 0 is assigned p0",
        "Former consumer 1 commits p0 in generation 1, and that is accepted",
    ]


def test_a_failover_and_a_late_member_are_told() -> None:
    """What the coordinator forgets, and what another one knows."""
    lines = told(replayed("late_sync_accepted"))
    for line in (
        "The coordinator resigns: consumers look for another one",
        "Another coordinator loads the group from the log: Stable in generation 2",
        "The time to join is over: generation 3 begins, led by consumer 1",
        "Consumer 0 gives up p1, and is to join again",
    ):
        assert line in lines


def test_lanes_show_who_owns_what_and_who_is_a_zombie() -> None:
    """The coordinator's lane has the assignment, a consumer's lane what it owns under its generation."""
    run = replayed("commits_of_any_generation")
    coordinator, *consumers = VIEW.of(run.machine).lanes(run.states[-1])
    assert (coordinator.role, coordinator.facts["generation"], coordinator.facts["in the log"]) == ("Stable", "2", "generation 2")
    assert coordinator.cells is not None
    assert [(cell.offset, cell.committed) for cell in coordinator.cells] == [(0, True)]
    by_tone = {one.tone: one for one in consumers}
    assert by_tone[Tone.WRONG].role == "zombie"
    assert by_tone[Tone.WRONG].cells == (Cell(0, "p0", 1, committed=False),)
    assert by_tone[Tone.LEADING].cells == (Cell(0, "p0", 2, committed=True),)


def test_lanes_show_what_is_under_way() -> None:
    """Requests, answers, what is given up, and what the coordinator waits for."""
    run = replayed("cooperative_one_phase")
    facts = {(name, value) for state in run.states for lane in VIEW.of(run.machine).lanes(state) for name, value in lane.facts.items()}
    expected = {
        ("sent", "JoinGroup"),
        ("sent", "SyncGroup"),
        ("answer", "MEMBER_ID_REQUIRED"),
        ("answer", "generation 1"),
        ("c0", "joins"),
        ("c0", "syncs"),
        ("c1", "has its id only"),
        ("leader", "c0"),
        ("is to", "join again"),
    }
    assert expected <= facts


def test_a_consumer_that_is_gone_is_crossed_out() -> None:
    """Its member is still there, under an id that nobody uses; its lane is empty."""
    run = replayed("static_rejoin_in_memory")
    crashed = run.states[7]
    coordinator, consumer = VIEW.of(run.machine).lanes(crashed)
    assert (coordinator.facts["leader"], coordinator.cells) == ("✗", (Cell(0, "✗", None, committed=True),))
    assert (consumer.role, consumer.cells) == ("does not run", ())


def test_a_dead_group_has_no_zombies() -> None:
    """While no coordinator has loaded the group nobody knows who is a member."""
    run = replayed("late_sync_accepted")
    dead = next(state for state in run.states if state.group.phase is GroupState.DEAD)
    lanes = VIEW.of(run.machine).lanes(dead)
    assert "generation" not in lanes[0].facts
    assert {lane.tone for lane in lanes} <= {Tone.PLAIN}


def test_a_witness_points_at_consumers_and_partitions() -> None:
    """Or at the coordinator, where it names no consumer."""
    state = replayed("cooperative_one_phase").states[-1]
    assert VIEW.blame(state, {"consumer": 0, "other": 1, "partition": 1}) == (Place("consumer 0", 1), Place("consumer 1", 1))
    assert VIEW.blame(state, {"owners": ()}) == (Place("coordinator"),)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("consumers[0].owned", frozenset({1, 0}), "p0, p1"),
        ("consumers[0].owned", frozenset[int](), "nothing"),
        ("members[0]", Member(0, Waiting.SYNC, assignment=frozenset({2})), "syncs, assigned p2"),
        ("members[0].claim", Claim(frozenset({0}), 3), "p0 of generation 3"),
        ("members[0].claim", Claim(), "nothing"),
        ("stored[0]", StoredMember(0, Claim(), frozenset()), "assigned nothing"),
        ("answers[0]", Answer(Error.FENCED_INSTANCE_ID), "FENCED_INSTANCE_ID"),
        ("answers[0]", Answer(generation=4), "generation 4"),
        ("answers[0]", Answer(assignment=frozenset({1})), "p1"),
        ("requests[0]", Request.JOIN, "JoinGroup"),
        ("consumers[0]", Consumer(0), "no member, owns nothing"),
        ("group", Group(), "Empty in generation 0"),
        ("record", Record(2), "generation 2"),
        ("group.leader", NOBODY, "nobody"),
        ("consumers[0].generation", -1, "none"),
        ("consumers[0].generation", 2, None),
    ],
)
def test_values_are_written_in_the_words_of_the_domain(path: str, value: object, said: str | None) -> None:
    """What is not special is left to be written as plain data."""
    assert say(path, value) == said


EVERYTHING = Bounds(consumers=1, partitions=1, replacements=1)


def drawn(group: Machine[State]) -> set[str]:
    """Tell every step of a scope and draw every state, and return which actions were told."""
    view = VIEW.of(group)

    @step_property(sources=("S8",))
    def can_be_drawn(before: State, step: Step, after: State) -> Witness | None:
        """Every step has a caption in words, and happens in a lane that there is."""
        event, names = view.event(before, step, after), {lane.name for lane in view.lanes(after)}
        is_drawn = event.lane in names and event.source in {None, *names} and event.caption[0].isupper() and "=" not in event.caption
        return None if is_drawn else witness(caption=event.caption, lane=event.lane)

    explored = explore(group, [can_be_drawn])
    assert explored.verdict is Verdict.HOLDS
    return {name for name, count in explored.taken.items() if count}


def test_every_step_can_be_drawn() -> None:
    """Whatever goes wrong, for a static and for a dynamic consumer: each action is told, and always in a lane that is there."""
    seen = {name for static_members in (0, 1) for name in drawn(machine(Rules(), Config(static_members=static_members), EVERYTHING))}
    assert seen == set(EVENTS) == {act.name for act in machine(Rules(), Config(), EVERYTHING).actions}


@pytest.mark.parametrize("name", LESSONS)
def test_lessons_end_with_what_they_are_about(name: str) -> None:
    """Each run is told to its end, and what it shows is pointed at in a lane that is there."""
    run = replayed(name)
    lanes = {lane.name for lane in VIEW.of(run.machine).lanes(run.states[-1])}
    places = VIEW.blame(run.states[-1], run.witness or {})
    assert places
    assert {place.lane for place in places} <= lanes
    assert len(told(run)) == len(run.steps)
