# SPDX-License-Identifier: Apache-2.0
"""Walks: real runs of the machine, repeatable one by one, and the same over tables, however much those know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import asdict
from toy_lift import LIFT, lift
from toy_space import is_bounded, knobs
from toys import below, counter, largest_grows, never_back, one, reaches_three, stumble, toy, turn, two

from hwmark.checker.replay import execute
from hwmark.checker.simulation import table_walks
from hwmark.checker.simulation.chance import left_out, walk_key
from hwmark.checker.simulation.findings import DisagreeError, Findings
from hwmark.checker.simulation.plain_walks import PlainWalks
from hwmark.checker.simulation.subject import Subject
from hwmark.checker.simulation.table_walks import TableWalks
from hwmark.checker.tables.values import NotLearnableError
from hwmark.checker.verdict import Run
from hwmark.model.machine import ImpossibleError, Machine, action
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Property


def shipped(name: str, preset: str, **bounds: int) -> tuple[Machine[Any], tuple[Property, ...]]:
    """Return a machine of ours with all its properties."""
    described = MACHINES[name]
    scope = type(described.small)(**{**asdict(described.small), **bounds})
    return described.build(described.presets[preset], described.module.Config(), scope), described.properties


WALKED: dict[str, Callable[[], tuple[Machine[Any], tuple[Property, ...]]]] = {
    "replication": lambda: shipped("replication", "kip_320", replicas=4),
    "replication, broken": lambda: shipped("replication", "truncate_to_high_watermark", replicas=3),
    "async_isr, broken": lambda: shipped("async_isr", "version_unchecked"),
    "log": lambda: shipped("log", "log", log_size=4),
    "log, broken": lambda: shipped("log", "epoch_cache_not_truncated"),
    "a lift with observers and two initial states": lambda: (lift(), LIFT.properties),
    "values of many types": lambda: (knobs(), (is_bounded,)),
    "something impossible": lambda: (counter(two, stumble, limit=9), (below(4), never_back, reaches_three)),
    "an observed ring": lambda: (counter(turn), (largest_grows,)),
}


def walks(name: str, seed: int = 0, most: int = 30) -> PlainWalks:
    """Return walks through one of the machines above."""
    return PlainWalks(Subject.of(*WALKED[name]()), seed, most)


def never() -> str | None:
    """Do not stop."""
    return None


MACHINE = pytest.mark.parametrize("name", WALKED)


# -- what a walk is --


@MACHINE
def test_a_walk_takes_enabled_steps_only_and_ends_where_there_are_none(name: str) -> None:
    """The machine's own functions take each walk step by step, and it is shorter than allowed only where nothing is enabled."""
    walking = walks(name)
    explored = walking.subject.explored
    for number in range(20):
        run = walking.run(number, 30)
        states = execute(explored, run)
        assert [after for _, after in walking.journey(number)] == list(states[1:])
        if len(run.steps) < 30:
            assert not any(is_enabled(take, states[-1]) for take in explored.takes)


def is_enabled(take: Callable[[Any], Any], state: Any) -> bool:
    """Return whether a step can be taken; what is held to be impossible cannot."""
    try:
        return take(state) is not None
    except ImpossibleError:
        return False


def test_what_a_walk_leaves_out_is_taken_only_where_nothing_else_is_enabled() -> None:
    """Of two counting steps the one that is left out comes only at the end, where the other one is not enabled."""
    walking = PlainWalks(Subject.of(counter(one, two, limit=50), ()), 0, 100)
    one_sided = 0
    for number in range(60):
        chosen = left_out(walk_key(0, number), 0, 2)
        taken = [step.action for step in walking.run(number, 100).steps]
        if chosen == [True, False]:
            assert taken in (["two"] * 25, ["two"] * 24 + ["one"])
            one_sided += 1
        elif chosen == [False, True]:
            assert taken == ["one"] * 50
            one_sided += 1
        else:
            assert {"one", "two"} == set(taken)
    assert one_sided > 5


def test_each_enabled_action_is_as_likely_whatever_its_choices() -> None:
    """An action with nine choices does not crowd out one that has none."""

    @action(number=lambda _: range(9))
    @toy
    def nine(state: Any, *, number: int) -> Any:  # noqa: ARG001 - nine ways to do the same
        """Counts in nine ways."""
        return type(state)(state.value + 1)

    walking = PlainWalks(Subject.of(counter(one, nine, limit=10**6), ()), 0, 100)
    everywhere = [number for number in range(100) if not any(left_out(walk_key(0, number), 0, 2))][:20]
    taken = [step.action for number in everywhere for step in walking.run(number, 100).steps]
    assert 900 < taken.count("nine") < 1100


def test_seeds_decide() -> None:
    """The same seed gives the same walks, another one gives others."""
    same, again, other = (walks("replication", seed) for seed in (3, 3, 4))
    runs: list[list[Run]] = [[walking.run(number, 30) for number in range(5)] for walking in (same, again, other)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@MACHINE
def test_a_walk_does_not_depend_on_the_walks_before_it(name: str) -> None:
    """Walks taken together find what the same walks find in two parts, in any order."""
    walking = walks(name)
    together, parts = walking.walk(0, 20, (), never), walking.walk(7, 20, (), never)
    parts.add(walking.walk(0, 7, (), never))
    assert same(parts, together)


def same(one: Findings, other: Findings) -> bool:
    """Return whether walks found the same."""
    return asdict(one, recurse=False) == asdict(other, recurse=False)


def test_stopped_walks_keep_what_they_found() -> None:
    """Of walks that are stopped, those that were finished count, and all steps."""
    answers = iter([None] * 5 + ["interrupted"] * 9)
    found = walks("replication").walk(0, 20, (), lambda: next(answers))
    assert (found.walks, found.steps > 0) == (5, True)


def test_what_is_decided_is_not_asked() -> None:
    """A property that is decided already is not decided again."""
    found = walks("replication, broken").walk(0, 60, ("log_is_truncated",), never)
    assert "log_is_truncated" not in found.decided
    assert "leadership_moves" in found.decided


def test_an_action_that_answers_something_else_is_refused() -> None:
    """A step to what is no state of the machine is an error, not a walk."""

    @action()
    @toy
    def lose(_: Any) -> Any:
        """Answers a number."""
        return 7

    with pytest.raises(TypeError, match="answers a Count or None, not 7"):
        PlainWalks(Subject.of(counter(lose), ()), 0, 5).walk(0, 1, (), never)


# -- over tables --


@MACHINE
@pytest.mark.parametrize("seed", [0, 1])
def test_walks_over_tables_are_the_same(name: str, seed: int) -> None:
    """Everything that walks find is the same over tables: counts, decisions and their places, and signatures of states."""
    plain = walks(name, seed)
    tables = TableWalks(plain)
    for first, last in ((0, 24), (24, 32)):
        assert same(plain.walk(first, last, (), never), tables.walk(first, last, (), never))
    assert same(plain.walk(3, 9, ("below_4", "structure"), never), tables.walk(3, 9, ("below_4", "structure"), never))


@pytest.mark.parametrize("name", ["replication, broken", "log, broken", "something impossible"])
def test_walks_do_not_depend_on_what_tables_know(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that stop after each step, note one miss at a time, or begin anew with each batch, take the same walks."""
    monkeypatch.setattr(table_walks, "STEPS_AT_ONCE", 1)
    monkeypatch.setattr(table_walks, "MOST_NOTED", 1)
    plain = walks(name)
    tables = TableWalks(plain, most_nodes=0)
    for first, last in ((0, 9), (9, 20)):
        learner = tables.learner
        assert same(plain.walk(first, last, (), never), tables.walk(first, last, (), never))
        assert tables.learner is not learner


def test_long_walks_over_tables_are_the_same() -> None:
    """Also where they leave out other actions after a while."""
    plain = walks("log", most=250)
    assert same(plain.walk(0, 8, (), never), TableWalks(plain).walk(0, 8, (), never))


def test_stopped_walks_over_tables_keep_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walks that are stopped in the middle have taken steps, and are not finished."""
    monkeypatch.setattr(table_walks, "STEPS_AT_ONCE", 1)
    answers = iter([None] * 20 + ["interrupted"] * 9)
    found = TableWalks(walks("log", most=100)).walk(0, 20, (), lambda: next(answers))
    assert (found.walks, found.steps > 0) == (0, True)


def test_machines_that_tables_refuse_are_refused() -> None:
    """An action that remembers its calls cannot be learned."""
    calls = []

    @action()
    @toy
    def forget(state: Any) -> Any:
        """Counts by as much as it was called."""
        calls.append(state)
        return type(state)(state.value + len(calls))

    with pytest.raises(NotLearnableError):
        TableWalks(PlainWalks(Subject.of(counter(forget), ()), 0, 20)).walk(0, 5, (), never)


def test_tables_that_lead_elsewhere_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch's first walk is taken again with the machine's own functions, and must end in the same state."""
    tables = TableWalks(walks("replication"))
    monkeypatch.setattr(PlainWalks, "last_signature", lambda *_: 0)
    with pytest.raises(DisagreeError, match="walk 0"):
        tables.walk(0, 5, (), never)
