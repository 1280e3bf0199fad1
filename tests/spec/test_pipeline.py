# SPDX-License-Identifier: Apache-2.0
"""The ``pipeline`` machine delivers as promised, and each promise can be broken.

All counts and depths are known from our own engines alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.equivariance import asymmetry
from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as explore_with_tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION
from hwmark.model.pipeline.clients import assign_partition, commit, replaced, send, take
from hwmark.model.pipeline.machine import machine
from hwmark.model.pipeline.state import Bounds, Config, Grant, State, consumers, messages, partitions
from hwmark.spec.pipeline import properties as promises
from hwmark.spec.pipeline.lessons import LESSONS
from hwmark.spec.pipeline.presets import PRESETS
from hwmark.spec.pipeline.rows import ROWS, SMALL, TWO
from hwmark.spec.pipeline.scopes import PUBLISH_SUBSCRIBE, SCOPES
from hwmark.spec.property import Property, Reachable

QUEUE = Config()
SAFE = tuple(prop for prop in promises.PROPERTIES if prop.kind in {"invariant", "step"})
UNOBSERVED = tuple(prop for prop in SAFE if not prop.observers)
TWICE, LOST, SHARED = "processed_at_most_once", "committed_was_processed", "processed_by_one_consumer"


def build(preset: str = "commit_with", bounds: Bounds = SMALL, config: Config = QUEUE) -> Machine[State]:
    """Return the machine with a point of commit."""
    return machine(PRESETS[preset], config, bounds)


def judged(explored: Machine[State], properties: Sequence[Property], **options: Any) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


@pytest.mark.parametrize(
    ("preset", "config", "states", "depths"),
    [
        ("commit_with", QUEUE, 195, {}),
        ("commit_after", QUEUE, 279, {TWICE: 7, SHARED: 7}),
        ("commit_before", QUEUE, 255, {LOST: 5}),
        ("commit_with", PUBLISH_SUBSCRIBE, 124, {}),
        ("commit_after", PUBLISH_SUBSCRIBE, 182, {TWICE: 8}),
        ("commit_before", PUBLISH_SUBSCRIBE, 182, {LOST: 5}),
    ],
)
def test_each_point_of_commit(preset: str, config: Config, states: int, depths: dict[str, int]) -> None:
    """In the small scope everything holds but what the point of commit gives up, and every group can get every record."""
    expected = [prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(SMALL)]
    explored = judged(build(preset, config=config), [prop for prop in expected if not prop.observers])
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, states)
    assert broken(judged(build(preset, config=config), [prop for prop in expected if prop.observers])) == depths


def test_consumers_and_partitions_are_interchangeable() -> None:
    """In a queue nothing depends on which consumer or partition is which; with a group for each, on which partition."""
    scope = Bounds(consumers=3, partitions=2, messages=2, rebalances=1, crashes=1)
    for config in (QUEUE, PUBLISH_SUBSCRIBE):
        assert asymmetry(build("commit_after", scope, config), promises.PROPERTIES, walks=5) is None


def test_every_action_is_taken() -> None:
    """No action is idle under all points of commit."""
    taken = {name for preset in PRESETS for name, count in judged(build(preset), ()).taken.items() if count}
    assert taken == {act.name for act in build().actions}


@pytest.mark.parametrize(
    ("goal", "config", "depth"),
    [(promises.zombie_takes_a_record, QUEUE, 4), (promises.committed_record_is_read_again, PUBLISH_SUBSCRIBE, 6)],
)
def test_goals_of_one_way_to_deliver(goal: Reachable, config: Config, depth: int) -> None:
    """In a queue there are zombies; among several groups one reads what another has committed."""
    (result,) = judged(build(bounds=Bounds(**goal.scope), config=config), [goal]).results
    assert (result.verdict, result.depth) == (Verdict.HOLDS, depth)


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", SCOPES, ids=lambda row: str(row.id))
def test_scopes(row: Any) -> None:
    """In each scope nothing breaks, in as many states as the scope says."""
    named = [prop for prop in promises.PROPERTIES if prop.name in row.holds]
    options = Options(keep_going=True, symmetry=row.symmetry)
    explored = explore_with_tables(build(row.rules_on, row.bounds, row.config or QUEUE), [*UNOBSERVED, *named], options)
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, row.states)


# -- the mutants --

CRASH = "send 0 0, assign_partition 0 0, take 0 0, process 0, crash 0, "


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("commit_before", "send 0 0, assign_partition 0 0, take 0 0, commit 0 0, crash 0"),
        ("commit_after", CRASH + "assign_partition 0 0, take 0 0, process 0"),
        ("queue_crash", CRASH + "assign_partition 0 1, take 0 1, process 1"),
        ("queue_rebalance", "send 0 0, assign_partition 0 0, assign_partition 0 1, take 0 0, take 0 1, process 0, process 1"),
    ],
)
def test_counterexamples(name: str, steps: str) -> None:
    """The first counterexample of each lesson is this run."""
    lesson = LESSONS[name]
    prop = next(one for one in promises.PROPERTIES if one.name == lesson.property)
    (result,) = explore(build(lesson.preset, lesson.bounds), [prop]).results
    assert result.run is not None
    assert ", ".join(" ".join([step.action, *map(str, step.choices.values())]) for step in result.run.steps) == steps


def test_every_lesson_has_a_row() -> None:
    """Rows and lessons name the same traces, presets and scopes, and each lesson's property breaks."""
    rows = {row.trace: (row.rules_off, row.bounds) for row in ROWS}
    assert rows == {name: (lesson.preset, lesson.bounds) for name, lesson in LESSONS.items()}
    assert all(LESSONS[str(row.trace)].property in row.breaks for row in ROWS)


# -- each other promise can be broken --


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def consumed_record_is_deleted(state: State, *, partition: int) -> State | None:
    """What the first group has committed is deleted, as a queue elsewhere would do."""
    return put(state, logs={partition: state.logs[partition][1:]}) if state.committed[0][partition] else None


@action(message=messages)
@kafka("none", versions="none", simplified="a mistake for the tests")
def producer_assumes(state: State, *, message: int) -> State | None:
    """The producer takes a message for stored without having sent it."""
    return put(state, acknowledged={message: True})


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def offset_is_reset(state: State, *, partition: int) -> State | None:
    """A group forgets how far it was."""
    return put(state, committed={0: replaced(state.committed[0], partition, 0)}) if state.committed[0][partition] else None


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def offset_is_skipped(state: State, *, partition: int) -> State | None:
    """A group commits the next record without anybody having taken it."""
    offset = state.committed[0][partition]
    return put(state, committed={0: replaced(state.committed[0], partition, offset + 1)}) if offset < len(state.logs[partition]) else None


@action(partition=partitions, consumer=consumers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def owner_changes_quietly(state: State, *, partition: int, consumer: int) -> State | None:
    """Another consumer owns a partition under the same generation."""
    granted = state.grants[0][partition]
    if granted.owner in {NOBODY, consumer}:
        return None
    return put(state, grants={0: replaced(state.grants[0], partition, Grant(granted.generation, consumer))})


@action(partition=partitions, consumer=consumers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def consumer_invents(state: State, *, partition: int, consumer: int) -> State | None:
    """A consumer believes to own a partition that it never got, under a generation of somebody else's."""
    ours, granted = state.consumers[consumer], state.grants[0][partition]
    if granted.owner == NOBODY or granted.generation < 1 or ours.held[partition] != UNKNOWN_GENERATION:
        return None
    return put(state, consumers={consumer: put(ours, held=replaced(ours.held, partition, granted.generation - 1))})


@pytest.mark.parametrize(
    ("mistake", "depths"),
    [
        (consumed_record_is_deleted, {"consuming_deletes_nothing": 5}),
        (producer_assumes, {"acknowledged_is_stored": 1}),
        (offset_is_reset, {"committed_only_grows": 5}),
        (offset_is_skipped, {"owner_begins_at_committed": 3, LOST: 2}),
        (owner_changes_quietly, {"refines_ownership": 2}),
        (consumer_invents, {"beliefs_are_grants": 4}),
    ],
)
def test_mistakes(mistake: Action, depths: dict[str, int]) -> None:
    """The promises that no point of commit is about are each broken by a machine with one mistaken action more."""
    whole = build(bounds=evolve(SMALL, messages=1))
    asked = [prop for prop in SAFE if prop.name in depths]
    assert broken(judged(evolve(whole, actions=(*whole.actions, mistake)), asked)) == depths


@pytest.mark.parametrize(("idle", "depth"), [(send, 0), (assign_partition, 0), (take, 0), (commit, 0)])
def test_without_an_action_nothing_is_delivered(idle: Action, depth: int) -> None:
    """Not every group can get everything once nobody takes the step that leads there."""
    whole = build("commit_after", TWO)
    lacking = evolve(whole, actions=tuple(one for one in whole.actions if one is not idle))
    assert broken(judged(lacking, [promises.every_group_gets_everything])) == {"every_group_gets_everything": depth}


@pytest.mark.parametrize(("name", "value"), [("consumers", 0), ("partitions", 0), ("messages", -1), ("crashes", 10)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
