# SPDX-License-Identifier: Apache-2.0
"""Leaders of the ``placement`` machine are where they are promised to be, and each promise can be broken; so can each contract.

All counts and depths are known from our own engines alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as explore_with_tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.model.placement.admin_utils import assign_replicas
from hwmark.model.placement.controller import balance_leaders, expand_isr, unfence_broker
from hwmark.model.placement.machine import machine
from hwmark.model.placement.placer import Placement, Refusal, Topic, UsableBroker, place
from hwmark.model.placement.rules import PlacerRules
from hwmark.model.placement.state import NOBODY, Bounds, Config, State, brokers, partitions
from hwmark.spec.placement import contracts
from hwmark.spec.placement import properties as promises
from hwmark.spec.placement.lessons import LESSONS
from hwmark.spec.placement.presets import PRESETS
from hwmark.spec.placement.questions import Scope, questions
from hwmark.spec.placement.rows import ONE_FAILS, ROWS, SMALL, TWO_MOVE
from hwmark.spec.placement.scopes import SCOPES
from hwmark.spec.property import Property, Reachable

DEFAULT = Config()
SAFE = tuple(prop for prop in promises.PROPERTIES if prop.kind in {"invariant", "step"})


def build(preset: str = "first_eligible", bounds: Bounds = SMALL, config: Config = DEFAULT) -> Machine[State]:
    """Return the machine under a preset."""
    return machine(PRESETS[preset], config, bounds)


def judged(explored: Machine[State], properties: Sequence[Property], **options: Any) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


def test_small_scope() -> None:
    """In the small scope everything holds, and every goal is met that is expected there."""
    expected = [prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(SMALL)]
    explored = judged(build(), expected)
    assert (explored.verdict, explored.states, explored.transitions, explored.depth) == (Verdict.HOLDS, 2_008, 6_525, 12)


@pytest.mark.parametrize(
    ("preset", "depths"),
    [
        ("first_eligible", {}),
        ("last_eligible", {"right_successor_leads": 2}),
        ("least_loaded", {}),
        ("least_loaded_before", {"right_successor_leads": 2}),
    ],
)
def test_whom_each_rule_elects(preset: str, depths: dict[str, int]) -> None:
    """By order the first eligible leads, and by load the least loaded."""
    explored = judged(build(preset, TWO_MOVE), SAFE)
    assert (explored.states, broken(explored)) == (775, depths)


@pytest.mark.parametrize("config", [DEFAULT, Config(auto_leader_rebalance=False, operator=True)])
def test_every_action_is_taken(config: Config) -> None:
    """No action is idle, but for those that the config leaves to somebody else."""
    idle = {name for name, count in judged(build(config=config), ()).taken.items() if not count}
    assert idle == ({"balance_leaders"} if config.operator else {"elect_preferred_leader"})


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", SCOPES, ids=lambda row: str(row.id))
def test_scopes(row: Any) -> None:
    """In each scope nothing breaks, in as many states as the scope says."""
    named = [prop for prop in promises.PROPERTIES if prop.name in row.holds]
    safety = [prop for prop in SAFE if prop not in named]
    explored = explore_with_tables(build(row.rules_on, row.bounds, row.config or DEFAULT), [*safety, *named], Options(keep_going=True))
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, row.states)


# -- the mutants --

CREATED = "create_topic 0 0"


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("placement_last_eligible", f"{CREATED}, fence_broker 0"),
        ("placement_least_loaded_before", f"{CREATED}, fence_broker 1"),
        ("placement_same_order", CREATED),
        ("placement_unbalanced", f"{CREATED}, fence_broker 0"),
        ("placement_preferred_at_once", f"{CREATED}, fence_broker 0, unfence_broker 0, balance_leaders"),
        ("placement_no_election_on_return", f"{CREATED}, fence_broker 0, unfence_broker 0"),
        ("placement_late_broker", f"fence_broker 0, {CREATED}, unfence_broker 0"),
    ],
)
def test_counterexamples(name: str, steps: str) -> None:
    """The first counterexample of each lesson is this run."""
    lesson = LESSONS[name]
    prop = next(one for one in promises.PROPERTIES if one.name == lesson.property)
    (result,) = explore(build(lesson.preset, lesson.bounds, lesson.config or DEFAULT), [prop]).results
    assert result.run is not None
    assert ", ".join(" ".join([step.action, *map(str, step.choices.values())]) for step in result.run.steps) == steps


def test_every_lesson_has_a_row() -> None:
    """Rows and lessons name the same traces, presets and scopes, and each lesson's property breaks."""
    rows = {row.trace: (row.rules_off, row.bounds_off or row.bounds, row.config_off or row.config) for row in ROWS}
    assert rows == {name: (lesson.preset, lesson.bounds, lesson.config) for name, lesson in LESSONS.items()}
    assert all(LESSONS[str(row.trace)].property in row.breaks for row in ROWS)
    assert {preset for row in (*ROWS, *SCOPES) for preset in (row.rules_off, row.rules_on) if preset} == set(PRESETS)


# -- each other promise can be broken --


@action(partition=partitions, broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def leader_is_taken_away(state: State, *, partition: int, broker: int) -> State | None:
    """Somebody else who may lead gets a partition for no reason."""
    ours = state.partitions[partition]
    return put(state, partitions={partition: put(ours, leader=broker)}) if broker in ours.isr and ours.leader != NOBODY else None


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def replicas_are_sorted(state: State, *, partition: int) -> State | None:
    """The order of the replicas is lost."""
    ours = state.partitions[partition]
    return put(state, partitions={partition: put(ours, replicas=tuple(sorted(ours.replicas)))}) if ours.replicas else None


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def broker_goes_unseen(state: State, *, broker: int) -> State | None:
    """A broker is fenced, and the partitions stay as they were."""
    return None if state.fenced[broker] else put(state, fenced={broker: True}, failures=state.failures + 1)


@pytest.mark.parametrize(
    ("mistake", "depths"),
    [
        (leader_is_taken_away, {"leaders_stay": 2}),
        (replicas_are_sorted, {"replicas_stay": 2}),
        (broker_goes_unseen, {"fenced_brokers_are_not_in_sync": 2, "leaders_may_lead": 2}),
    ],
)
def test_mistakes(mistake: Action, depths: dict[str, int]) -> None:
    """The promises that no rule is about are each broken by a machine with one mistaken action more."""
    whole = build(bounds=ONE_FAILS)
    asked = [prop for prop in SAFE if prop.name in depths]
    assert broken(explore(evolve(whole, actions=(*whole.actions, mistake)), asked)) == depths


@pytest.mark.parametrize("idle", [unfence_broker, expand_isr, balance_leaders])
def test_without_an_action_nothing_comes_back(idle: Action) -> None:
    """Preferred leaders do not lead again once nobody takes a step that leads there."""
    whole = build(bounds=ONE_FAILS)
    lacking = evolve(whole, actions=tuple(one for one in whole.actions if one is not idle))
    assert broken(judged(lacking, [promises.preferred_leaders_lead_again])) == {"preferred_leaders_lead_again": 2}


def test_what_cannot_come_back_is_not_promised() -> None:
    """Where bounds let nobody return, that all lead again is vacuous."""
    (result,) = judged(build(bounds=evolve(ONE_FAILS, returns=0)), [promises.preferred_leaders_lead_again]).results
    assert result.verdict is Verdict.UNDETERMINED


# -- the contracts of the placer --

FOUR = tuple(UsableBroker(broker, rack) for broker, rack in enumerate("aabb"))
LAST_FENCED = (*FOUR[:3], evolve(FOUR[3], fenced=True))
WHOLE = Topic(FOUR, 2, 2)
RIGHT = PlacerRules()


@pytest.mark.parametrize(
    ("broken_one", "topic", "answer"),
    [
        (contracts.refuses_what_is_impossible, evolve(WHOLE, replication_factor=0), ((), ())),
        (contracts.refuses_what_is_impossible, evolve(WHOLE, replication_factor=5), Refusal.ALL_FENCED),
        (contracts.refuses_what_is_impossible, evolve(WHOLE, brokers=(evolve(FOUR[0], fenced=True),)), Refusal.TOO_FEW_BROKERS),
        (contracts.refuses_what_is_impossible, WHOLE, Refusal.NOT_POSITIVE),
        (contracts.on_distinct_brokers, WHOLE, ((0, 2), (3, 3))),
        (contracts.on_distinct_brokers, WHOLE, ((0, 2), (3, 1, 0))),
        (contracts.on_distinct_brokers, WHOLE, ((0, 2), (3, 4))),
        (contracts.on_distinct_brokers, WHOLE, ((0, 2),)),
        (contracts.leaders_are_not_fenced, evolve(WHOLE, brokers=LAST_FENCED), ((0, 2), (3, 1))),
        (contracts.fenced_brokers_come_last, evolve(WHOLE, brokers=LAST_FENCED), ((0, 3), (1, 2))),
        (contracts.spread_over_racks, WHOLE, ((0, 2), (3, 2))),
        (contracts.leaders_are_spread, WHOLE, ((0, 2), (0, 3))),
        (contracts.replicas_are_spread, evolve(WHOLE, partitions=3), ((0, 2), (2, 0), (0, 2))),
    ],
)
def test_each_contract_can_be_broken(broken_one: Any, topic: Topic, answer: Placement | Refusal) -> None:
    """A wrong answer is called wrong by its contract, and the placer's answer is right by all of them."""
    assert broken_one.when(topic)
    assert broken_one.function(topic, answer) is not None
    assert [one.name for one in contracts.CONTRACTS if one.witness(lambda asked: place(asked, RIGHT), topic)] == []


@pytest.mark.parametrize(("racks", "is_alike"), [("aabb", True), ("aab", False), ("abc", True)])
def test_what_contracts_presuppose(racks: str, *, is_alike: bool) -> None:
    """Spread is promised where racks are alike, and nothing of what is refused."""
    topic = Topic(tuple(UsableBroker(broker, rack) for broker, rack in enumerate(racks)), 1, 1)
    assert contracts.are_racks_alike(topic) is contracts.nobody_is_fenced(topic) is is_alike
    assert not contracts.are_racks_alike(evolve(topic, replication_factor=0))


# -- where ZooKeeper's controllers put replicas --

WIDE = (Scope(brokers=5, partitions=5, draws=2), Scope(racks=3, partitions=3, draws=2), Scope(brokers=5, racks=1, partitions=11, draws=2))


@pytest.mark.parametrize("scope", WIDE, ids=["two racks", "three racks", "no racks"])
def test_leaders_were_spread_over_any_racks(scope: Scope) -> None:
    """``AdminUtils`` kept the contracts, and spread leaders also where racks are not alike."""
    asked = 0
    for topic in filter(contracts.is_placed, questions(scope)):
        asked += 1
        answer = assign_replicas(topic)
        assert not isinstance(answer, Refusal)
        least, most = contracts.spread(topic, [replicas[0] for replicas in answer])
        assert most - least <= 1
        assert [one.name for one in contracts.CONTRACTS if one.when(topic) and one.function(topic, answer) is not None] == []
    assert asked > 500


def test_more_replicas_than_racks_were_not_spread() -> None:
    """Once each rack had a replica it took the next brokers, whatever their racks."""
    topic = Topic(tuple(UsableBroker(broker, rack) for broker, rack in enumerate("aabbb")), 1, 4, (0, 1))
    assert assign_replicas(topic) == ((0, 3, 4, 2),)
    assert contracts.spread_over_racks.function(topic, assign_replicas(topic)) is not None
