# SPDX-License-Identifier: Apache-2.0
"""The ``majority`` machine keeps its promises, each promise can be broken, and each step is told.

All counts and depths are known from our own engines alone.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.equivariance import asymmetry
from hwmark.checker.explore import Options, explore
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Action, Machine, Step, action, kafka, put
from hwmark.model.majority.machine import machine
from hwmark.model.majority.replication import receive_fetch
from hwmark.model.majority.state import Bounds, Config, Role, State, brokers, consumers
from hwmark.spec.majority.described import DESCRIBED
from hwmark.spec.majority.lessons import LESSONS
from hwmark.spec.majority.presets import PRESETS
from hwmark.spec.majority.properties import PROPERTIES
from hwmark.spec.majority.rows import ROWS
from hwmark.spec.majority.scopes import SMALL
from hwmark.spec.majority.view import EVENTS
from hwmark.spec.property import Reachable

SAFE = tuple(prop for prop in PROPERTIES if prop.kind in {"invariant", "step"} and prop.name != "reads_are_committed")
ONE = Bounds(brokers=3, records=1, max_leader_epoch=1, timeouts=1)


def build(preset: str = "majority", bounds: Bounds = SMALL) -> Machine[State]:
    """Return the machine under these rules."""
    return machine(PRESETS[preset], Config(), bounds)


def judged(explored: Machine[State], *names: str, **options: Any) -> Exploration:
    """Explore all reachable states and judge the named properties there."""
    properties = [prop for prop in PROPERTIES if prop.name in names]
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


def test_everything_holds_while_a_leader_is_taken_for_dead() -> None:
    """With a timeout every promise holds, and every goal that is due is met."""
    expected = [prop.name for prop in PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(ONE)]
    expected.remove("reads_are_committed")
    found = judged(build(bounds=ONE), *expected)
    assert (found.verdict, found.states) == (Verdict.HOLDS, 2_368)


def test_symmetry_counts_orbits() -> None:
    """All but the first leader are interchangeable, in what they do and in what is promised of them."""
    assert asymmetry(build(bounds=evolve(SMALL, consumers=1)), PROPERTIES, walks=5) is None
    whole, orbits = (judged(build(bounds=ONE), *[prop.name for prop in SAFE], symmetry=on) for on in (False, True))
    assert (whole.verdict, orbits.verdict, whole.states, orbits.states) == (Verdict.HOLDS, Verdict.HOLDS, 2_368, 1_191)


def test_every_action_is_taken() -> None:
    """No action is idle."""
    bounds = evolve(ONE, crashes=1, records=1, consumers=1, timeouts=0)
    taken = explore(build(bounds=bounds), (), Options()).taken
    assert {name for name, count in taken.items() if count} == set(EVENTS) == {act.name for act in build().actions}


@pytest.mark.parametrize(("gone", "of", "depth"), [(1, 2, 1), (1, 3, None), (2, 3, 2), (1, 4, None), (2, 4, 2)])
def test_a_majority_has_to_be_left(gone: int, of: int, depth: int | None) -> None:
    """After so many failures a log of so many replicas goes on, or not, from the first failure too many on."""
    bounds = Bounds(brokers=of, records=0, max_leader_epoch=gone, crashes=gone, stays_down=True)
    found = judged(build(bounds=bounds), "stays_writable", symmetry=of > 2)
    assert broken(found) == ({} if depth is None else {"stays_writable": depth})
    assert found.complete


# -- each rule taken away --


RUNS = {
    "majority_half_is_enough": "append_record 0, acknowledge_produce 0, crash 0 1, start_election 1",
    "majority_vote_for_any_log": "append_record 0, receive_fetch 1, handle_fetch 1, crash 0 1, start_election 2, request_vote 2 1",
    "majority_vote_for_the_longest_log": "append_record 0, start_election 1, request_vote 1 0, start_election 0, request_vote 1 2, "
    "begin_quorum_epoch 1 2, receive_fetch 2, handle_fetch 2, request_vote 0 1",
    "majority_vote_forgotten": "start_election 1, begin_quorum_epoch 0 1, start_election 2, request_vote 1 0, crash 0 0, start 0, "
    "request_vote 2 0",
    "majority_commit_of_any_epoch": "append_record 0, start_election 1, request_vote 1 0, start_election 0, request_vote 1 2, "
    "request_vote 0 1, start_election 1, request_vote 0 2, begin_quorum_epoch 0 2, receive_fetch 2, handle_fetch 2, request_vote 1 2",
    "majority_follower_not_truncated": "append_record 0, start_election 1, request_vote 1 2, append_record 1, begin_quorum_epoch 1 0, "
    "receive_fetch 0",
    "majority_flushed_later": "append_record 0, receive_fetch 1, handle_fetch 1, acknowledge_produce 0, crash 0 0, start_election 2, "
    "start 0, request_vote 2 0",
    "majority_of_two": "crash 0 0",
}
"""The first counterexample of each lesson, as actions and the values of their choices."""
SLOW = "majority_commit_of_any_epoch"


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.exhaustive] if name == SLOW else []) for name in RUNS])
def test_counterexamples(name: str) -> None:
    """The first counterexample of each lesson is this run."""
    lesson = LESSONS[name]
    prop = next(one for one in PROPERTIES if one.name == lesson.property)
    (result,) = explore(build(lesson.preset, lesson.bounds), [prop]).results
    assert result.run is not None
    assert ", ".join(" ".join([step.action, *map(str, step.choices.values())]) for step in result.run.steps) == RUNS[name]


def test_every_rule_has_a_row_and_a_lesson() -> None:
    """Rows and lessons name the same traces, presets and scopes, and each lesson's property breaks."""
    rows = {row.trace: (row.machine, row.rules_off, row.bounds if row.bounds_off is None else row.bounds_off) for row in ROWS}
    assert rows == {name: (lesson.machine, lesson.preset, lesson.bounds) for name, lesson in LESSONS.items()}
    assert all(LESSONS[str(row.trace)].property in row.breaks for row in ROWS)
    assert {row.rules_off for row in ROWS if row.machine == "majority"} == set(PRESETS)


# -- each other promise can be broken --


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def epoch_is_forgotten(state: State, *, broker: int) -> State | None:
    """A replica goes back to the first epoch."""
    replica = state.replicas[broker]
    return put(state, replicas={broker: put(replica, leader_epoch=0)}) if replica.leader_epoch else None


@action(consumer=consumers, broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def consume(state: State, *, consumer: int, broker: int) -> State | None:
    """A consumer reads whatever a replica has."""
    position = state.consumers[consumer]
    return put(state, consumers={consumer: position + 1}) if position < state.logs[broker].end_offset else None


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def leader_proclaims_itself(state: State, *, broker: int) -> State | None:
    """A replica leads in its epoch without having been elected."""
    replica = state.replicas[broker]
    return put(state, replicas={broker: put(replica, role=Role.LEADER, stands_by=broker)}) if replica.role is Role.FOLLOWER else None


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def all_counts_as_committed(state: State, *, broker: int) -> State | None:
    """A replica takes one record more than it has for committed."""
    replica, end = state.replicas[broker], state.logs[broker].end_offset
    return put(state, replicas={broker: put(replica, high_watermark=end + 1)}) if replica.high_watermark <= end else None


@pytest.mark.parametrize(
    ("mistake", "depths"),
    [
        (epoch_is_forgotten, {"epochs_grow": 2}),
        (consume, {"reads_are_committed": 2}),
        (leader_proclaims_itself, {"single_leader": 1}),
        (all_counts_as_committed, {"high_watermark_prefix": 1}),
    ],
)
def test_mistakes(mistake: Action, depths: dict[str, int]) -> None:
    """The promises that are about more than one rule are each broken by a machine with one mistaken action."""
    whole = build(bounds=evolve(ONE, consumers=1))
    actions = (*(act for act in whole.actions if act.name != mistake.name), mistake)
    properties = [prop for prop in PROPERTIES if prop.name in depths]
    assert broken(explore(evolve(whole, actions=actions), properties)) == depths


def test_without_fetching_nothing_is_committed() -> None:
    """It is not writable for ever once followers get nothing."""
    whole = build(bounds=ONE)
    lacking = evolve(whole, actions=tuple(act for act in whole.actions if act is not receive_fetch))
    assert broken(judged(lacking, "stays_writable")) == {"stays_writable": 1}


# -- how it is drawn --


def told(explored: Machine[State], steps: int, seed: int) -> list[tuple[Any, Any, State, Step]]:
    """Return event, lanes, state and step of each step of a random walk."""
    draw, state, shown = random.Random(seed), explored.initial[0], []  # noqa: S311 - no secret
    instances = list(explored.instances())
    for _ in range(steps):
        enabled = [(step, after) for step, take in instances if (after := take(state)) is not None]
        if not enabled:
            break
        step, after = draw.choice(enabled)
        event = DESCRIBED.view.event(state, step, after)
        shown.append((event, DESCRIBED.view.lanes(after), after, step))
        state = after
    return shown


@pytest.mark.parametrize("preset", PRESETS)
def test_every_step_is_told(preset: str) -> None:
    """Each event happens in a lane that there is, and lanes are always the same, under any rules."""
    bounds = Bounds(brokers=3, records=3, max_leader_epoch=5, consumers=1, timeouts=3, crashes=3, lossy_crashes=2)
    seen: set[str] = set()
    for seed in range(15):
        for event, lanes, state, step in told(build(preset, bounds), 60, seed):
            assert [lane.name for lane in lanes] == ["broker 0", "broker 1", "broker 2"]
            assert event.lane in {lane.name for lane in lanes}
            assert event.caption
            assert [len(lane.cells or ()) for lane in lanes] == [len(log.records) for log in state.logs]
            seen.add(step.action)
    assert seen == set(EVENTS)


TOLD = (
    "append_record 0, receive_fetch 1, handle_fetch 1, receive_fetch 1, acknowledge_produce 0, append_record 0, start_election 2, "
    "request_vote 2 1, start_election 1, request_vote 2 1, request_vote 1 2, begin_quorum_epoch 1 0, receive_fetch 0, consume 0 1, "
    "crash 1 2, start 1"
)


def test_captions_say_what_happens() -> None:
    """A run with elections, refusals, truncation and commits, told step by step."""
    explored = build(bounds=Bounds(brokers=3, records=2, max_leader_epoch=2, timeouts=2, crashes=1, consumers=1))
    takes = {" ".join([step.action, *map(str, step.choices.values())]): (step, take) for step, take in explored.instances()}
    state, captions = explored.initial[0], []
    for written in TOLD.split(", "):
        step, take = takes[written]
        after = take(state)
        assert after is not None, written
        captions.append(DESCRIBED.view.event(state, step, after).caption)
        state = after
    assert captions == [
        "Broker 0 appends a at offset 0, as leader of epoch 0",
        "Broker 1 gets a from broker 0",
        "Broker 0 learns that broker 1 is at offset 1, and commits up to offset 0",
        "Broker 1 learns from broker 0 that it has committed up to offset 0",
        "Broker 0 tells the producer that a is committed",
        "Broker 0 appends b at offset 1, as leader of epoch 0",
        "Broker 2 asks to be elected in epoch 1",
        "Broker 1 enters epoch 1, and does not vote for broker 2",
        "Broker 1 asks to be elected in epoch 2",
        "Broker 1 is in epoch 2 already, which broker 2 enters",
        "Broker 2 votes for broker 1, which leads epoch 2 now, and begins it with L",
        "Broker 0 follows broker 1, the leader of epoch 2",
        "Broker 0 truncates to offset 1, where its log and that of broker 1 part",
        "Consumer 0 reads a at offset 0 from broker 1",
        "Broker 1 crashes",
        "Broker 1 starts again, in epoch 2",
    ]
