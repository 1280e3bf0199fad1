# SPDX-License-Identifier: Apache-2.0
"""What is said of guards: each sampled state has one outcome of each action, and the operand that decided is named."""

from __future__ import annotations

from toys import counter, one, stumble, turn, two

from hwmark.checker.simulation.coverage import ENABLED, IMPOSSIBLE, sample
from hwmark.checker.simulation.plain_walks import PlainWalks
from hwmark.checker.simulation.subject import Subject
from hwmark.spec.machines import MACHINES


def test_outcomes_add_up() -> None:
    """Of each action every sampled state tells one outcome, and an action is enabled where it was drawn or taken."""
    described = MACHINES["replication"]
    walking = PlainWalks(Subject.of(described.build(described.presets["kip_320"], described.module.Config(), described.small), ()), 0, 40)
    taken = sample([(walking, number) for number in range(8)], lambda: None)
    assert 5 * 8 < taken.states <= 8 * 8  # some walks have fewer states
    assert list(taken.actions) == list(walking.subject.actions)
    for seen in taken.actions.values():
        assert sum(seen.outcomes.values()) == taken.states
        assert seen.outcomes.get(ENABLED, 0) <= seen.enabled_in <= taken.states
        assert seen.passed_over <= seen.enabled_in
    gone_on = sum(seen.enabled_in - seen.passed_over for seen in taken.actions.values())
    assert 0 < gone_on <= taken.states
    assert any("request is None" in outcome for outcome in taken.actions["become_leader"].outcomes)
    assert any(outcome.endswith("(in decide)") for outcome in taken.actions["controller_elect_leader"].outcomes)


def test_the_operand_is_named() -> None:
    """A counter at its limit cannot count on, and says so."""
    walking = PlainWalks(Subject.of(counter(one, two, limit=4, initial=(4,)), ()), 0, 9)
    taken = sample([(walking, 0)], lambda: None)
    assert taken.states == 1
    assert {name: seen.outcomes for name, seen in taken.actions.items()} == {
        "one": {"Count(state.value + 1) if state.value < bounds.limit else None is None": 1},
        "two": {"Count(state.value + 2) if state.value + 1 < bounds.limit else None is None": 1},
    }
    assert [(seen.enabled_in, seen.passed_over) for seen in taken.actions.values()] == [(0, 0), (0, 0)]


def test_the_impossible_is_an_outcome() -> None:
    """What an action holds to be impossible is neither enabled nor held back by a guard."""
    walking = PlainWalks(Subject.of(counter(stumble, turn, limit=3, initial=(2,)), ()), 0, 1)
    taken = sample([(walking, 0)], lambda: None)
    assert taken.actions["stumble"].outcomes[IMPOSSIBLE] == 1
    assert taken.actions["turn"].enabled_in == 2


def test_a_stopped_sample_is_what_was_seen() -> None:
    """Nothing is sampled once the simulation is interrupted."""
    walking = PlainWalks(Subject.of(counter(one), ()), 0, 9)
    assert sample([(walking, 0)], lambda: "interrupted").states == 0
    assert sample([], lambda: None).states == 0


def test_enabled_comes_first_then_what_held_back_most() -> None:
    """Outcomes are told in this order."""
    walking = PlainWalks(Subject.of(counter(one, two, limit=4), ()), 0, 9)
    ordered = sample([(walking, number) for number in range(20)], lambda: None).actions["two"].ordered()
    assert ordered[0][0] == ENABLED
    counts = [count for _, count in ordered[1:]]
    assert counts == sorted(counts, reverse=True)
