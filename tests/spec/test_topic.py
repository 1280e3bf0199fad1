# SPDX-License-Identifier: Apache-2.0
"""The ``topic`` machine keeps records once and in order as promised, and each promise can be broken.

All counts and depths are known from our own engines alone; the larger scopes are proved with the catalogue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.equivariance import asymmetry
from hwmark.checker.explore import Options, explore
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.model.topic.broker import handle_produce
from hwmark.model.topic.machine import machine
from hwmark.model.topic.producer import receive_answer, send, send_batch
from hwmark.model.topic.state import Batch, Bounds, Config, Outcome, Record, Request, State, Stored, partitions, producers, replaced
from hwmark.spec.property import Property, Reachable
from hwmark.spec.topic import properties as promises
from hwmark.spec.topic.lessons import LESSONS
from hwmark.spec.topic.presets import PRESETS
from hwmark.spec.topic.rows import DEFAULT, EXPLICIT, NOT_IDEMPOTENT, ONE_IN_FLIGHT, ROUND_ROBIN, ROWS, SMALL, STICKY

SAFE = tuple(prop for prop in promises.PROPERTIES if prop.kind in {"invariant", "step"})
UNOBSERVED = tuple(prop for prop in SAFE if not prop.observers)
OBSERVED = tuple(prop for prop in SAFE if prop.observers)
ONCE, IN_ORDER, KEYS = "stored_once", "first_copies_are_in_order", "key_keeps_partition"


def build(preset: str = "topic", bounds: Bounds = SMALL, config: Config = DEFAULT) -> Machine[State]:
    """Return the machine under a preset."""
    return machine(PRESETS[preset], config, bounds)


def judged(explored: Machine[State], properties: Sequence[Property], **options: Any) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


@pytest.mark.parametrize(
    ("config", "states", "depths"),
    [
        (DEFAULT, 1826, {}),
        (NOT_IDEMPOTENT, 2908, {ONCE: 6, IN_ORDER: 8}),
        (ONE_IN_FLIGHT, 1483, {ONCE: 6}),
        (STICKY, 3253, {KEYS: 2}),
        (ROUND_ROBIN, 947, {KEYS: 2}),
        (EXPLICIT, 3487, {KEYS: 2}),
    ],
    ids=["default", "not idempotent", "one in flight", "sticky", "round robin", "explicit"],
)
def test_each_setting(config: Config, states: int, depths: dict[str, int]) -> None:
    """In the small scope everything holds but what the setting gives up, and every record can be stored."""
    explored = judged(build(config=config), [*UNOBSERVED, promises.everything_can_be_stored])
    assert (explored.states, broken(explored)) == (states, {})
    assert broken(judged(build(config=config), OBSERVED)) == depths


def test_the_default_keeps_every_promise() -> None:
    """None of them is vacuous in the small scope, but for goals that need more."""
    expected = [prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(SMALL)]
    assert judged(build(), expected).verdict is Verdict.HOLDS


def test_producers_are_interchangeable() -> None:
    """Nothing depends on which producer is which."""
    scope = Bounds(producers=3, partitions=2, records=2, keys=1, added=1, refusals=1, disconnects=1, consumers=1)
    for config in (DEFAULT, NOT_IDEMPOTENT, ROUND_ROBIN):
        assert asymmetry(build(bounds=scope, config=config), promises.PROPERTIES, walks=5) is None


def test_every_action_is_taken() -> None:
    """No action is idle."""
    explored = judged(build(bounds=Bounds(partitions=1, records=1, added=1, refusals=1, disconnects=1, consumers=1)), ())
    assert [name for name, count in explored.taken.items() if not count] == []


@pytest.mark.parametrize(
    ("goal", "config", "depth"),
    [(promises.record_is_refused, EXPLICIT, 1), (promises.record_is_stored_twice, NOT_IDEMPOTENT, 6)],
)
def test_goals_of_what_is_set(goal: Reachable, config: Config, depth: int) -> None:
    """A record that names a missing partition is refused; without idempotence a record is stored twice."""
    (result,) = judged(build(bounds=Bounds(**goal.scope), config=config), [goal]).results
    assert (result.verdict, result.depth) == (Verdict.HOLDS, depth)


# -- the mutants --

TWO_SENT = "send 0 -1 0, send 0 -1 0, send_batch 0 0, send_batch 0 0, "
LOST = "send 0 -1 0, send_batch 0 0, handle_produce 0 0, lose_connection 0 0, "

MOVED = "send 0 0 0, send_batch 0 1, handle_produce 0 1, poll 1, poll 0"


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("topic_stored_twice", LOST + "send_batch 0 0, handle_produce 0 0"),
        (
            "topic_reordered_by_a_refusal",
            TWO_SENT + "refuse_produce 0 0, handle_produce 0 0, receive_answer 0 0, send_batch 0 0, handle_produce 0 0",
        ),
        ("topic_reordered_by_a_disconnect", TWO_SENT + "lose_connection 0 0, send_batch 0 0, handle_produce 0 0, handle_late 0 0"),
        ("topic_sequences_unchecked", TWO_SENT + "refuse_produce 0 0, handle_produce 0 0"),
        ("topic_any_first_sequence", TWO_SENT + "refuse_produce 0 0, handle_produce 0 0"),
        ("topic_last_batch_remembered", TWO_SENT + "handle_produce 0 0, handle_produce 0 0, lose_connection 0 0"),
        ("topic_retries_first", TWO_SENT + "lose_connection 0 0"),
        ("topic_retries_elsewhere", LOST + "send_batch 0 1, handle_produce 0 1"),
        ("topic_missing_partition_wrapped", "send 0 -1 1"),
        (
            "topic_keys_ignored",
            "send 0 0 0, send 0 0 1, send_batch 0 0, send_batch 0 1, handle_produce 0 0, handle_produce 0 1, poll 1, poll 0",
        ),
        (
            "topic_keys_move",
            "send 0 0 0, send_batch 0 0, handle_produce 0 0, create_partition, refresh_metadata 0, " + MOVED,
        ),
        (
            "topic_without_order",
            "send 0 -1 0, send 0 -1 1, send_batch 0 0, send_batch 0 1, handle_produce 0 0, handle_produce 0 1, poll 1, poll 0",
        ),
        ("topic_offsets_of_32_bits", TWO_SENT + "handle_produce 0 0, handle_produce 0 0"),
    ],
)
def test_counterexamples(name: str, steps: str) -> None:
    """The first counterexample of each lesson is this run."""
    lesson = LESSONS[name]
    prop = next(one for one in promises.PROPERTIES if one.name == lesson.property)
    (result,) = explore(build(lesson.preset, lesson.bounds, lesson.config), [prop]).results
    assert result.run is not None
    assert ", ".join(" ".join([step.action, *map(str, step.choices.values())]) for step in result.run.steps) == steps


def test_every_lesson_has_a_row() -> None:
    """Each trace of a row is a lesson, of a property that breaks there."""
    assert {row.trace for row in ROWS if row.trace is not None} == set(LESSONS)
    assert all(LESSONS[row.trace].property in row.breaks for row in ROWS if row.trace is not None)


# -- each other promise can be broken --


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def records_move(state: State, *, partition: int) -> State | None:
    """The records of the first partition are brought to one that was added."""
    if partition == 0 or partition >= state.partitions or not state.logs[0]:
        return None
    return put(state, logs={0: (), partition: (*state.logs[partition], *state.logs[0])})


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def offset_is_used_again(state: State, *, partition: int) -> State | None:
    """A record gets the offset of the last one."""
    log = state.logs[partition]
    return put(state, logs={partition: (*log, Stored(log[-1].offset, Record(0, 9)))}) if log else None


@action(producer=producers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def metadata_is_too_new(state: State, *, producer: int) -> State | None:
    """A producer believes in a partition that is not there."""
    return put(state, producers={producer: put(state.producers[producer], partitions=state.partitions + 1)})


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def producers_are_forgotten(state: State, *, partition: int) -> State | None:
    """A leader forgets what it knows of producers."""
    return put(state, remembered={partition: ((),) * len(state.producers)}) if any(state.remembered[partition]) else None


@action(producer=producers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def metadata_is_older(state: State, *, producer: int) -> State | None:
    """A producer hears of fewer partitions than there are."""
    ours = state.producers[producer]
    return put(state, producers={producer: put(ours, partitions=1)}) if ours.partitions > 1 else None


@action(producer=producers, partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def answers_overtake(state: State, *, producer: int, partition: int) -> State | None:
    """A request is answered before an older one."""
    channel = state.channels[producer][partition]
    if len(channel.in_flight) < 2:
        return None
    done = (*channel.in_flight[:-1], put(channel.in_flight[-1], outcome=Outcome.DONE))
    return put(state, channels={producer: replaced(state.channels[producer], partition, put(channel, in_flight=done))})


@action(producer=producers, partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def requests_are_not_counted(state: State, *, producer: int, partition: int) -> State | None:
    """More requests are sent than may be in flight."""
    channel = state.channels[producer][partition]
    requests = (Request(Batch((Record(producer, 0),))),) * 6
    return put(state, channels={producer: replaced(state.channels[producer], partition, put(channel, in_flight=requests))})


GROWN = Bounds(partitions=1, records=2, keys=1, added=1, disconnects=1)
KEYED = Bounds(partitions=2, records=2, keys=1, disconnects=1)


@pytest.mark.parametrize(
    ("mistake", "bounds", "depths"),
    [
        (records_move, GROWN, {"logs_are_appended_to": 5}),
        (offset_is_used_again, GROWN, {"offsets_increase": 4}),
        (metadata_is_too_new, GROWN, {"records_are_in_the_topic": 2}),
        (producers_are_forgotten, GROWN, {"idempotent_records_are_stored_once": 7}),
        (metadata_is_older, KEYED, {"same_key_same_partition": 3}),
        (answers_overtake, KEYED, {"connection_has_room": 5}),
        (requests_are_not_counted, KEYED, {"connection_has_room": 1}),
    ],
)
def test_mistakes(mistake: Action, bounds: Bounds, depths: dict[str, int]) -> None:
    """The promises that no rule and no setting is about are each broken by a machine with one mistaken action more."""
    whole = build(bounds=bounds)
    asked = [prop for prop in SAFE if prop.name in depths]
    assert broken(explore(evolve(whole, actions=(*whole.actions, mistake)), asked)) == depths


@pytest.mark.parametrize("idle", [send, send_batch, handle_produce, receive_answer])
def test_without_an_action_nothing_is_stored(idle: Action) -> None:
    """Not everything can be stored, or known to be, once nobody takes the step that leads there."""
    whole = build(bounds=Bounds(partitions=1, records=1))
    lacking = evolve(whole, actions=tuple(one for one in whole.actions if one is not idle))
    assert broken(judged(lacking, [promises.everything_can_be_stored])) == {"everything_can_be_stored": 0}
