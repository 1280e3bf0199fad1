# SPDX-License-Identifier: Apache-2.0
"""The ``consumer`` machine keeps its promises, and each promise can be broken.

All counts and depths are known from our own engines alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import asdict, evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as explore_with_tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.consumer.machine import machine
from hwmark.model.consumer.positions import finish_callback, finish_lookup, refresh_metadata, reset_position, validate_position
from hwmark.model.consumer.state import Bounds, CommitMode, Committed, Config, FetchState, Reset, State
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.spec.consumer import properties as promises
from hwmark.spec.consumer.lessons import LESSONS
from hwmark.spec.consumer.presets import PRESETS, RIGHT
from hwmark.spec.consumer.rows import ELECTION, ROWS, SMALL, TWO_COMMITS
from hwmark.spec.consumer.scopes import SCOPES
from hwmark.spec.property import Property, Reachable

SAFE = tuple(prop for prop in promises.PROPERTIES if prop.kind in {"invariant", "step"})
UNOBSERVED = tuple(prop for prop in SAFE if not prop.observers)
EVENTFUL = Bounds(
    records=1, max_leader_epoch=1, commits=1, commits_under_way=1, seeks=1, failed_commits=1, undefined_answers=1, deletions=1
)


def build(preset: str = "consumer", bounds: Bounds = SMALL, config: Config | None = None) -> Machine[State]:
    """Return the machine under the rules of a preset."""
    return machine(PRESETS[preset], config or Config(), bounds)


def judged(explored: Machine[State], properties: Sequence[Property], **options: Any) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


def test_right_rules_keep_every_promise() -> None:
    """In the small scope every promise holds, with or without memory, and the goals that it has room for are met."""
    expected = [prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(SMALL)]
    explored = judged(build(), [prop for prop in expected if not prop.observers])
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, 2251)
    assert judged(build(), [prop for prop in expected if prop.observers]).verdict is Verdict.HOLDS


@pytest.mark.parametrize("reset", Reset)
@pytest.mark.parametrize("mode", CommitMode)
def test_right_rules_hold_whatever_is_set(reset: Reset, mode: CommitMode) -> None:
    """Promises hold under each reset policy, with commits by the application or by the consumer."""
    config = Config(auto_offset_reset=reset, commit_mode=mode)
    explored = judged(build(bounds=evolve(SMALL, records=1, deletions=1), config=config), [*SAFE, promises.consumer_catches_up])
    assert explored.verdict is Verdict.HOLDS


def test_every_action_is_taken() -> None:
    """No action of the machine is idle in these scopes together."""
    taken = {name for scope in (SMALL, EVENTFUL) for name, count in judged(build(bounds=scope), ()).taken.items() if count}
    assert taken == {act.name for act in build().actions}


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", SCOPES, ids=lambda row: str(row.id))
def test_scopes(row: Any) -> None:
    """In each scope nothing breaks, in as many states as the scope says."""
    named = [prop for prop in promises.PROPERTIES if prop.name in row.holds]
    explored = explore_with_tables(build(row.rules_on, row.bounds, row.config), [*UNOBSERVED, *named], Options(keep_going=True))
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, row.states)


# -- the mutants --


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.id))
def test_rows(row: Any) -> None:
    """Each rule taken away breaks what its row says and no other safety promise, and nothing breaks with it."""
    off, on = (explore_with_tables(build(preset, row.bounds), SAFE, Options(keep_going=True)) for preset in (row.rules_off, row.rules_on))
    assert broken(off) == dict(row.breaks)
    assert on.verdict is Verdict.HOLDS


START = "append_record, assign_partition, finish_callback, begin_lookup, finish_lookup, reset_position, poll, "
AGAIN = START + "build_commit, commit_arrives 0, restart, "
BOTH = START.replace("append_record", "append_record, append_record") + "build_commit, poll, build_commit, "


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("reset_in_callback", AGAIN + "assign_partition, begin_lookup, finish_lookup"),
        ("reset_after_callback", AGAIN + "assign_partition, begin_lookup, finish_callback, finish_lookup"),
        ("reset_of_all", AGAIN + "begin_lookup, assign_partition, finish_lookup"),
        ("loaded_offset_always", AGAIN + "assign_partition, begin_lookup, seek 0, finish_lookup"),
        ("fetch_without_epoch", START + "elect_other_replica, append_record, append_record, poll"),
        ("position_unvalidated", START + "elect_other_replica, append_record, append_record, refresh_metadata, poll"),
        (
            "end_offset_validation",
            (
                "append_record, append_record, elect_other_replica, append_record, assign_partition, finish_callback, begin_lookup, "
                "finish_lookup, refresh_metadata, reset_position, poll, elect_other_replica, refresh_metadata, validate_position, poll"
            ),
        ),
        (
            "commit_without_epoch",
            (
                START + "elect_other_replica, append_record, append_record, build_commit, commit_arrives 0, restart, assign_partition, "
                "finish_callback, begin_lookup, finish_lookup, poll"
            ),
        ),
        ("undefined_end_as_offset", START + "elect_other_replica, refresh_metadata, validate_without_answer"),
        ("commits_in_any_order", BOTH + "commit_arrives 1, commit_arrives 0"),
        ("async_commit_retried", BOTH + "commit_fails 0, commit_arrives 0, commit_arrives 0"),
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
    rows = {row.trace: (row.rules_off, row.bounds, row.config) for row in ROWS}
    assert rows == {name: (lesson.preset, lesson.bounds, lesson.config) for name, lesson in LESSONS.items()}
    assert all(LESSONS[str(row.trace)].property in row.breaks for row in ROWS)


def test_presets_differ_in_few_rules() -> None:
    """Each preset changes one decision, those of 3.7 and 3.8 also when positions are looked up."""
    right = asdict(RIGHT)
    changed = {name: {rule for rule, value in asdict(rules).items() if value is not right[rule]} for name, rules in PRESETS.items()}
    assert {name for name, rules in changed.items() if len(rules) != 1} == {"consumer", "reset_in_callback", "reset_after_callback"}


# -- each other promise can be broken --


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def consumer_skips(state: State) -> State | None:
    """The consumer loses a fetched record."""
    is_reading = state.fetch_state is FetchState.FETCHING and state.log.at(state.position) is not None
    return put(state, position=state.position + 1, offset_epoch=state.leader_epoch) if is_reading else None


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def consumer_commits_ahead(state: State) -> State | None:
    """The consumer commits the offset after the next record, too."""
    return put(state, committed=Committed(state.position + 1)) if state.fetch_state is FetchState.FETCHING else None


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def validation_claims_truncation(state: State) -> State | None:
    """The consumer goes back after a change of leader, whatever the leader says."""
    return put(state, fetch_state=FetchState.FETCHING, position=0) if state.fetch_state is FetchState.AWAIT_VALIDATION else None


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def epoch_is_invented(state: State) -> State | None:
    """The consumer knows a leader epoch that nobody leads yet."""
    return put(state, known_leader_epoch=state.leader_epoch + 1) if state.known_leader_epoch == state.leader_epoch else None


@pytest.mark.parametrize(
    ("mistake", "bounds", "depths"),
    [
        (consumer_skips, evolve(ELECTION, max_leader_epoch=0), {"position_moves_by_reading": 6, "delivery_is_in_order": 11}),
        (consumer_commits_ahead, TWO_COMMITS, {"committed_was_read": 5}),
        (epoch_is_invented, SMALL, {"structure": 1}),
    ],
)
def test_mistakes(mistake: Action, bounds: Bounds, depths: dict[str, int]) -> None:
    """The promises that no rule is about are each broken by a machine with one mistaken action more."""
    whole = build(bounds=bounds)
    asked = [prop for prop in SAFE if prop.name in depths]
    assert broken(judged(evolve(whole, actions=(*whole.actions, mistake)), asked)) == depths


def test_a_claim_of_truncation_must_be_true() -> None:
    """A consumer that goes back although nothing was truncated reads again what it has read."""
    wrong = evolve(validate_position, function=validation_claims_truncation.function)
    whole = build(bounds=evolve(ELECTION, records=1))
    named = type(validate_position)(wrong.function, wrong.domains, wrong.origin)
    lying = evolve(whole, actions=tuple(renamed(named, "validate_position") if one is validate_position else one for one in whole.actions))
    assert broken(judged(lying, [promises.truncation_is_real])) == {"truncation_is_real": 11}


def renamed(mistake: Action, name: str) -> Action:
    """Return a mistaken action under the name of the one whose place it takes."""

    def take(state: State) -> State | None:
        after: State | None = mistake.function(state)
        return after

    take.__name__ = name
    return Action(take, mistake.domains, mistake.origin)


@pytest.mark.parametrize(
    ("idle", "depth"),
    [(finish_callback, 0), (finish_lookup, 0), (reset_position, 0), (refresh_metadata, 1), (validate_position, 8)],
)
def test_without_an_action_nobody_catches_up(idle: Action, depth: int) -> None:
    """A good state is out of reach once nobody takes the step that leads there."""
    whole = build(bounds=evolve(ELECTION, records=1))
    lacking = evolve(whole, actions=tuple(one for one in whole.actions if one is not idle))
    assert broken(judged(lacking, [promises.consumer_catches_up])) == {"consumer_catches_up": depth}


@pytest.mark.parametrize(("name", "value"), [("records", -1), ("commits", 65), ("other_partitions", 2)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
