# SPDX-License-Identifier: Apache-2.0
"""A partition with ZooKeeper keeps its promises under the right rules, and each promise can be broken.

All counts and depths are known from our own engines alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as explore_with_tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.log import Record, append
from hwmark.model.machine import Action, BrokerId, Machine, action, kafka, put
from hwmark.model.zookeeper.machine import machine
from hwmark.model.zookeeper.shared import brokers
from hwmark.model.zookeeper.state import Bounds, Config, State
from hwmark.spec.property import Property, Reachable
from hwmark.spec.row import Row
from hwmark.spec.zookeeper import properties as promises
from hwmark.spec.zookeeper.lessons import LESSONS
from hwmark.spec.zookeeper.presets import PRESETS
from hwmark.spec.zookeeper.rows import ROWS, SMALL, UNCLEAN
from hwmark.spec.zookeeper.scopes import COMMITTED, KINDS, PAIRS, PAIRS_OF_TWO, SCOPES

SAFE = tuple(prop for prop in promises.PROPERTIES if prop.kind in {"invariant", "step"})
PROMISED = tuple(prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable))
GOALS = tuple(prop for prop in promises.PROPERTIES if isinstance(prop, Reachable))
NAMED = {prop.name: prop for prop in promises.PROPERTIES}
TINY = Bounds(brokers=2, records=1, crashes=1, outages=1)


def build(preset: str = "zookeeper", bounds: Bounds = SMALL, config: Config | None = None) -> Machine[State]:
    """Return the machine under a preset."""
    return machine(PRESETS[preset], config or Config(), bounds)


def judged(explored: Machine[State], properties: Sequence[Property], *, keep_going: bool = True) -> Exploration:
    """Explore all reachable states, or until all is decided, and judge the properties there."""
    return explore(explored, properties, Options(keep_going=keep_going))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


@pytest.mark.parametrize(
    ("bounds", "config", "states"),
    [
        (SMALL, None, 2186),
        (TINY, None, 893),
        (Bounds(brokers=2, records=1, crashes=1, lags=1), Config(min_isr=2), 1093),
        (Bounds(brokers=3, records=1, first_leader=1, lags=1, elections=1), None, 2384),
    ],
)
def test_every_promise_holds(bounds: Bounds, config: Config | None, states: int) -> None:
    """In small scopes everything holds, and every goal that is expected there is met."""
    expected = [prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(bounds)]
    explored = judged(build(bounds=bounds, config=config), expected)
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, states)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_goals_are_met_in_their_scope_and_not_by_nothing(goal: Reachable) -> None:
    """Each in the least scope that promises it, and not where nothing goes wrong and nothing is written."""
    assert judged(build(bounds=Bounds(**goal.scope)), [goal], keep_going=False).verdict is Verdict.HOLDS
    assert judged(build(bounds=Bounds(brokers=2, records=0)), [goal]).verdict is Verdict.UNDETERMINED


def test_every_action_is_taken() -> None:
    """No action is idle in all of these scopes."""
    scopes = (
        Bounds(brokers=2, records=1, crashes=1, lags=1),
        Bounds(brokers=2, records=1, expiries=1, lags=1),
        Bounds(brokers=2, records=0, moves=1, outages=1),
        Bounds(brokers=2, records=0, elections=1, first_leader=1, lags=1, losses=1),
    )
    taken = {name for bounds in scopes for name, count in judged(build(bounds=bounds), ()).taken.items() if count}
    assert taken == {act.name for act in build().actions}


# -- scopes --


def test_any_two_kinds_of_perturbation_meet_in_a_scope() -> None:
    """Of three brokers, or of two where that would be large."""
    assert {frozenset(pair) for pair in (*PAIRS, *PAIRS_OF_TWO)} == {
        frozenset((one, other)) for one in KINDS for other in KINDS if one != other
    }


def test_scopes_ask_what_may_be_asked() -> None:
    """What is said of committed records is asked wherever unclean elections are not allowed."""
    for row in SCOPES:
        is_unclean = row.config == UNCLEAN
        assert (set(COMMITTED) <= set(row.holds)) is not is_unclean


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", [row for row in SCOPES if row.states is not None and row.states < 100_000], ids=lambda row: str(row.id))
def test_scopes(row: Row) -> None:
    """In each scope nothing breaks, in as many states as the scope says."""
    asked = [prop for prop in promises.PROPERTIES if prop.name in row.holds or (prop in SAFE and not prop.observers)]
    explored = explore_with_tables(build(str(row.rules_on), row.bounds, row.config), asked, Options(keep_going=True))
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, row.states)


# -- the mutants --

ELECTED = "expire_session 0, elect_controller 1"


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        (
            "zookeeper_refused_isr_skipped",
            f"fetch 1 0 0, {ELECTED}, receive_leader_and_isr 1 1, reconnect 0, repeat_isr_write 0, append_record 0",
        ),
        ("zookeeper_lost_answer_is_a_refusal", "fetch 1 0 0"),
        ("zookeeper_leader_stands_still", "append_record 0, lose_zookeeper, shrink_isr 0 1 1"),
        (
            "zookeeper_broker_epoch_exact",
            f"{ELECTED}, reconnect 0, handle_broker_startup 1 0, receive_leader_and_isr 0 1",
        ),
        (
            "zookeeper_controller_writes_unfenced",
            "expire_session 1, reconnect 1, delete_controller, elect_controller 1, handle_broker_failure 0 1, resign 0",
        ),
    ],
)
def test_counterexamples(name: str, steps: str) -> None:
    """The first counterexample of each of these lessons is this run."""
    lesson = LESSONS[name]
    explored = explore(build(lesson.preset, lesson.bounds, lesson.config), [NAMED[lesson.property]])
    (result,) = explored.results
    assert result.run is not None
    written = (" ".join([step.action, *(str(int(choice)) for choice in step.choices.values())]) for step in result.run.steps)
    assert ", ".join(written) == steps


def test_every_lesson_has_a_row() -> None:
    """Rows and lessons name the same traces, presets and scopes, and each lesson's property breaks."""
    rows = {row.trace: row for row in ROWS if row.trace is not None}
    assert set(rows) == set(LESSONS)
    for name, lesson in LESSONS.items():
        assert (lesson.preset, lesson.bounds) == (rows[name].rules_off, rows[name].bounds)
        assert lesson.property in rows[name].breaks


@pytest.mark.parametrize("preset", ["kafka_2_6", "kafka_2_5", "kafka_2_1", "kafka_2_0"])
def test_releases_lose_a_record_where_an_answer_is_lost(preset: str) -> None:
    """What was found of a refusal that is taken for the whole truth is so in each of these releases."""
    explored = judged(build(preset, Bounds(brokers=2, records=1, outsiders=1, expiries=1, losses=1)), [promises.leader_completeness])
    assert broken(explored) == {"leader_completeness": 7}


# -- each other promise can be broken --


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def leader_leaves_isr(state: State, *, broker: BrokerId) -> State | None:
    """Somebody is out of the ISR, although it leads or is the last one."""
    return put(state, znode=evolve(state.znode, isr=state.znode.isr - {broker})) if broker in state.znode.isr else None


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def decided_without_zookeeper(state: State, *, broker: BrokerId) -> State | None:
    """Somebody is elected although ZooKeeper is down."""
    if state.zookeeper_is_up or state.znode.leader == broker or state.znode.leader_epoch:
        return None
    return put(state, znode=evolve(state.znode, leader=broker, leader_epoch=state.znode.leader_epoch + 1))


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def leads_unasked(state: State, *, broker: BrokerId) -> State | None:
    """A follower believes that it leads."""
    replica = state.replicas[broker]
    return put(state, replicas={broker: put(replica, leader=broker)}) if replica.leader not in {broker, -1} else None


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def high_watermark_runs_ahead(state: State, *, broker: BrokerId) -> State | None:
    """A high watermark is one further."""
    replica = state.replicas[broker]
    if replica.high_watermark > state.logs[broker].end_offset:
        return None
    return put(state, replicas={broker: put(replica, high_watermark=replica.high_watermark + 1)})


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def high_watermark_is_at_the_end(state: State, *, broker: BrokerId) -> State | None:
    """Whatever is in a log counts as committed there."""
    replica, end_offset = state.replicas[broker], state.logs[broker].end_offset
    return put(state, replicas={broker: put(replica, high_watermark=end_offset)}) if replica.high_watermark < end_offset else None


@action(broker=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def record_from_nowhere(state: State, *, broker: BrokerId) -> State | None:
    """A follower has a record that its leader never wrote."""
    replica, log = state.replicas[broker], state.logs[broker]
    if replica.leader in {broker, -1} or log.records:
        return None
    return put(state, logs={broker: append(log, Record(9, replica.leader_epoch))})


@action(leader=brokers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def repeat_isr_write(state: State, *, leader: BrokerId) -> State | None:
    """Instead of asking ZooKeeper again a leader drops what it holds, writes something else, and calls it committed."""
    replica, log = state.replicas[leader], state.logs[leader]
    if replica.leader != leader or not log.records or log.records[0].id == 9:
        return None
    rewritten = append(evolve(log, records=()), Record(9, replica.leader_epoch))
    return put(state, logs={leader: rewritten}, replicas={leader: put(replica, high_watermark=1)})


@pytest.mark.parametrize(
    ("mistake", "depths"),
    [
        (leader_leaves_isr, {"valid_partition": 1}),
        (decided_without_zookeeper, {"nothing_is_decided_in_an_outage": 2}),
        (leads_unasked, {"single_leader": 1}),
        (high_watermark_runs_ahead, {"high_watermark_range": 1}),
        (high_watermark_is_at_the_end, {"high_watermark_prefix": 7, "dead_member_blocks_commits": 4}),
        (record_from_nowhere, {"epoch_lineage": 2}),
        (repeat_isr_write, {"append_only_log": 4}),
    ],
)
def test_mistakes(mistake: Action, depths: dict[str, int]) -> None:
    """The promises that no rule is about are each broken by a machine with one mistaken action more."""
    whole = build(bounds=evolve(TINY, records=2))
    others = [act for act in whole.actions if act.name != mistake.name]
    assert broken(judged(evolve(whole, actions=(*others, mistake)), [NAMED[name] for name in depths], keep_going=False)) == depths


def test_what_breaks_is_every_promise() -> None:
    """Rows and mistakes together break each promise."""
    mistaken = {
        "valid_partition",
        "nothing_is_decided_in_an_outage",
        "single_leader",
        "high_watermark_range",
        "high_watermark_prefix",
        "dead_member_blocks_commits",
        "epoch_lineage",
        "append_only_log",
    }
    assert mistaken | {name for row in ROWS for name in row.breaks} == {prop.name for prop in PROMISED}


@pytest.mark.parametrize(("name", "value"), [("brokers", 0), ("records", -1), ("crashes", 10), ("first_leader", -1)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
