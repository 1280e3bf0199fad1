# SPDX-License-Identifier: Apache-2.0
"""The ``offsets`` machine keeps its promises in either group protocol, and each promise can be broken.

All counts and depths are known from our own engines alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import asdict, evolve

from hwmark.checker.equivariance import asymmetry
from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as explore_with_tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.model.offsets.coordinator import end_transaction, load_group
from hwmark.model.offsets.group import complete_join, written
from hwmark.model.offsets.machine import machine
from hwmark.model.offsets.members import fetch_offset
from hwmark.model.offsets.state import Bounds, Config, Phase, State, members
from hwmark.spec.offsets import properties as promises
from hwmark.spec.offsets.lessons import LESSONS
from hwmark.spec.offsets.presets import PRESETS, RIGHT
from hwmark.spec.offsets.rows import CONSUMER, ROWS, SMALL
from hwmark.spec.offsets.scopes import SCOPES
from hwmark.spec.property import Property, Reachable

CLASSIC = Config()
SAFE = tuple(prop for prop in promises.PROPERTIES if prop.kind in {"invariant", "step"})
UNOBSERVED = tuple(prop for prop in SAFE if not prop.observers)
TRANSACTIONS = Bounds(members=2, max_generation=2, commits=0, transactional_commits=1)
LARGE = 200_000
"""States beyond which a scope is left to ``hwmark catalogue --run``."""


def build(preset: str = "offsets", bounds: Bounds = SMALL, config: Config = CLASSIC) -> Machine[State]:
    """Return the machine under the rules of a preset."""
    return machine(PRESETS[preset], config, bounds)


def judged(explored: Machine[State], properties: Sequence[Property], **options: Any) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


@pytest.mark.parametrize(("config", "states"), [(CLASSIC, 2335), (CONSUMER, 813)])
def test_right_rules_keep_every_promise(config: Config, states: int) -> None:
    """In the small scope every promise holds, with or without memory, and the goals that it has room for are met."""
    expected = [prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(SMALL)]
    asked = [prop for prop in expected if config is CLASSIC or prop is not promises.beliefs_are_grants]
    explored = judged(build(config=config), [prop for prop in asked if not prop.observers])
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, states)
    assert judged(build(config=config), [prop for prop in asked if prop.observers]).verdict is Verdict.HOLDS


def test_members_are_interchangeable() -> None:
    """Nothing in the machine and its promises depends on which member is which."""
    scope = Bounds(members=3, commits=2, outside_commits=1, transactional_commits=2, failovers=1, retentions=1, deletions=1)
    for config in (CLASSIC, CONSUMER):
        assert asymmetry(build(bounds=scope, config=config), promises.PROPERTIES, walks=10) is None


@pytest.mark.parametrize(
    ("config", "idle"),
    [
        (CLASSIC, {"assign_partition", "release_partition", "advance_epoch", "hear_epoch"}),
        (CONSUMER, {"complete_join", "sync_group"}),
    ],
)
def test_only_the_other_protocol_is_idle(config: Config, idle: set[str]) -> None:
    """In these scopes together each action is taken but those of the other protocol."""
    taken = set()
    for scope in (SMALL, TRANSACTIONS, Bounds(members=1, commits=1, outside_commits=1, retentions=1, deletions=1)):
        taken |= {name for name, count in judged(build(bounds=scope, config=config), ()).taken.items() if count}
    assert {act.name for act in build().actions} - taken == idle


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", [row for row in SCOPES if row.states <= LARGE], ids=lambda row: str(row.id))
def test_scopes(row: Any) -> None:
    """In each scope but the largest the right rules keep every promise that needs no memory, in as many states as the scope says."""
    config = row.config or CLASSIC
    named = [prop for prop in promises.PROPERTIES if prop.name in row.holds]
    explored = explore_with_tables(
        build(bounds=row.bounds, config=config), [*UNOBSERVED, *named], Options(keep_going=True, symmetry=row.symmetry)
    )
    assert (explored.verdict, explored.states) == (Verdict.HOLDS, row.states)


# -- the mutants --


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.id))
def test_rows(row: Any) -> None:
    """Each rule taken away breaks what its row says and no other safety promise; nothing breaks with it; a control breaks nothing."""
    config = row.config or CLASSIC
    machines = (build(preset, row.bounds, config) for preset in (row.rules_off, row.rules_on))
    off, on = (explore_with_tables(one, UNOBSERVED, Options(keep_going=True)) for one in machines)
    assert broken(off) == dict(row.breaks)
    assert on.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        (
            "expiry_in_active_group",
            (
                "join_group 0, complete_join, sync_group 0, fetch_offset 0, send_commit 0, handle_commit 0, pass_retention_period, "
                "expire_offsets"
            ),
        ),
        (
            "expiry_from_last_commit",
            (
                "join_group 0, assign_partition 0, fetch_offset 0, send_commit 0, handle_commit 0, pass_retention_period, remove_member "
                "0, expire_offsets"
            ),
        ),
        (
            "marker_order",
            (
                "join_group 0, complete_join, sync_group 0, fetch_offset 0, send_transactional_commit 0, consume 0, handle_commit 0, "
                "send_commit 0, handle_commit 0, end_transaction 0 True"
            ),
        ),
        (
            "unknown_group_stored",
            (
                "join_group 0, complete_join, sync_group 0, remove_member 0, complete_join, fetch_offset 0, send_commit 0, "
                "expire_offsets, handle_commit 0"
            ),
        ),
        (
            "generation_unchecked",
            (
                "join_group 0, complete_join, sync_group 0, join_group 1, complete_join, sync_group 1, fetch_offset 0, fetch_offset 1, "
                "consume 0, send_commit 0, send_commit 1, handle_commit 0, handle_commit 1"
            ),
        ),
        (
            "epoch_unchecked",
            (
                "join_group 0, assign_partition 0, join_group 1, fetch_offset 0, consume 0, send_commit 0, release_partition 0, "
                "assign_partition 0, fetch_offset 0, handle_commit 0, send_commit 0, handle_commit 0"
            ),
        ),
        (
            "transactional_commit_unfenced",
            (
                "join_group 0, complete_join, sync_group 0, join_group 1, complete_join, sync_group 1, fetch_offset 0, fetch_offset 1, "
                "consume 0, send_transactional_commit 0, handle_commit 0, end_transaction 0 True"
            ),
        ),
        (
            "unstable_offset_fetch",
            (
                "join_group 0, complete_join, sync_group 0, join_group 1, fetch_offset 0, consume 0, send_transactional_commit 0, "
                "handle_commit 0, complete_join, sync_group 0, fetch_offset 0, end_transaction 0 True"
            ),
        ),
        (
            "served_while_loading",
            (
                "join_group 0, complete_join, sync_group 0, fetch_offset 0, consume 0, send_commit 0, handle_commit 0, remove_member 0, "
                "join_group 0, complete_join, sync_group 0, fail_over, fetch_offset 0"
            ),
        ),
    ],
)
def test_counterexamples(name: str, steps: str) -> None:
    """The first counterexample of each lesson is this run."""
    lesson = LESSONS[name]
    wrong = build(lesson.preset, lesson.bounds, lesson.config or CLASSIC)
    prop = next(one for one in promises.PROPERTIES if one.name == lesson.property)
    (result,) = explore(wrong, [prop]).results
    assert result.run is not None
    assert ", ".join(" ".join([step.action, *map(str, step.choices.values())]) for step in result.run.steps) == steps


def test_every_lesson_has_a_row() -> None:
    """Rows and lessons name the same traces, presets and scopes."""
    rows = {row.trace: (row.rules_off, row.bounds, row.config) for row in ROWS if row.trace is not None}
    assert rows == {name: (lesson.preset, lesson.bounds, lesson.config) for name, lesson in LESSONS.items()}


def test_presets_differ_in_one_rule() -> None:
    """Each preset but the right one changes exactly one decision."""
    right = asdict(RIGHT)
    changed = {name: sum(value is not right[rule] for rule, value in asdict(rules).items()) for name, rules in PRESETS.items()}
    assert changed == {name: int(name != "offsets") for name in PRESETS}


# -- each other promise can be broken --


@action(member=members)
@kafka("none", versions="none", simplified="a mistake for the tests")
def member_skips(state: State, bounds: Bounds, *, member: int) -> State | None:
    """A member moves on without having consumed anything."""
    return put(state, positions={member: bounds.max_offset}) if state.positions[member] >= 0 else None


@action(member=members)
@kafka("none", versions="none", simplified="a mistake for the tests")
def owner_changes_quietly(state: State, *, member: int) -> State | None:
    """A member gets the partition without a new generation."""
    return written(put(state, owner=member)) if state.phase is Phase.STABLE and state.owner != member else None


@action(member=members)
@kafka("none", versions="none", simplified="a mistake for the tests")
def member_invents(state: State, *, member: int) -> State | None:
    """A member believes to own the partition without having got it."""
    return put(state, believed={member: state.generation})


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def group_vanishes(state: State) -> State | None:
    """The coordinator forgets the group, but not its offset."""
    return put(state, phase=Phase.ABSENT)


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def log_is_lost(state: State) -> State | None:
    """The log loses its records."""
    return put(state, log=()) if state.log else None


@pytest.mark.parametrize(
    ("mistake", "depths"),
    [
        (member_skips, {"committed_was_delivered": 7}),
        (owner_changes_quietly, {"refines_ownership": 4, "structure": 4, "commits_are_fenced": 7}),
        (member_invents, {"beliefs_are_grants": 1}),
        (group_vanishes, {"structure": 7}),
        (log_is_lost, {"coordinator_state_is_replay": 7}),
    ],
)
def test_mistakes(mistake: Action, depths: dict[str, int]) -> None:
    """The promises that no rule is about are each broken by a machine with one mistaken action more."""
    whole = build(bounds=Bounds(members=2 if mistake is owner_changes_quietly else 1, commits=1))
    asked = [prop for prop in SAFE if prop.name in depths]
    assert broken(judged(evolve(whole, actions=(*whole.actions, mistake)), asked)) == depths


@pytest.mark.parametrize(
    ("idle", "bounds", "depth"),
    [(complete_join, SMALL, 0), (fetch_offset, SMALL, 0), (load_group, SMALL, 1), (end_transaction, TRANSACTIONS, 6)],
)
def test_without_an_action_nobody_finds_a_place(idle: Action, bounds: Bounds, depth: int) -> None:
    """A good state is out of reach once nobody takes the step that leads there."""
    whole = build(bounds=bounds)
    lacking = evolve(whole, actions=tuple(one for one in whole.actions if one is not idle))
    assert broken(judged(lacking, [promises.owner_finds_its_place])) == {"owner_finds_its_place": depth}


@pytest.mark.parametrize(("name", "value"), [("members", 0), ("max_offset", 0), ("max_generation", 0), ("commits", -1), ("failovers", 65)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
