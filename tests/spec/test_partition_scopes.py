# SPDX-License-Identifier: Apache-2.0
"""In tiny scopes the right rules of the ``partition`` machine keep every promise, in as many states by either engine.

All counts are known from our own engines alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from attrs import evolve, frozen

from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as explore_with_tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Action, Machine
from hwmark.model.partition.machine import machine
from hwmark.model.partition.state import Bounds, Config, State
from hwmark.spec.partition.presets import PRESETS
from hwmark.spec.partition.properties import PROPERTIES
from hwmark.spec.property import Property, Reachable

NEVER_LOST = "acknowledged_is_never_lost"
"""Promised by no rules, as enough crashes lose whatever was written: who breaks it says what the others excuse."""


@frozen
class Scope:
    """What an operator sets, how far we look, and in how many states."""

    config: Config
    bounds: Bounds
    states: int

    def build(self, preset: str = "partition") -> Machine[State]:
        """Return the machine under the rules of a preset."""
        return machine(PRESETS[preset], self.config, self.bounds)

    def asked(self) -> list[Property]:
        """Return what is promised in this scope."""
        return [one for one in PROPERTIES if one.name != NEVER_LOST and (not isinstance(one, Reachable) or one.expected_in(self.bounds))]


SCOPES = {
    "alone, crashing": Scope(Config(replication_factor=1), Bounds(brokers=1, crashes=1), 37),
    "moving": Scope(Config(replication_factor=1), Bounds(reassignments=1), 194),
    "reading from followers": Scope(Config(follower_reads=True), Bounds(consumers=1), 29),
    "without a controller": Scope(Config(), Bounds(outages=1), 57),
    "deleting": Scope(Config(), Bounds(records=2, deletions=1), 328),
    "lagging": Scope(Config(), Bounds(lags=1), 592),
    "doubled requests": Scope(Config(), Bounds(initial_isr=1, duplicates=1), 826),
}
LARGER = {
    "fenced": Scope(Config(), Bounds(fences=1), 2447),
    "losing records": Scope(Config(min_isr=2), Bounds(lossy_crashes=1), 2304),
    "crashing": Scope(Config(), Bounds(crashes=1), 3632),
    "fenced while out of sync": Scope(Config(), Bounds(initial_isr=1, fences=1), 7283),
    "shutting down": Scope(Config(), Bounds(shutdowns=1), 11682),
}


def judged(explored: Machine[State], properties: Sequence[Property]) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True))


def vacuous(exploration: Exploration) -> set[str]:
    """Return which promises mean nothing in a scope; none may be broken, and none undecided for another reason."""
    left = [one for one in exploration.results if one.verdict is not Verdict.HOLDS]
    assert [(one.name, one.depth) for one in left if one.verdict is Verdict.VIOLATED] == []
    assert all(str(one.why).startswith("vacuous") for one in left)
    return {one.name for one in left}


@cache
def unobserved(scope: Scope) -> Exploration:
    """Judge all promises that need no memory."""
    return judged(scope.build(), [one for one in scope.asked() if not one.observers])


# -- the right rules --


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_right_rules_keep_every_promise(scope: Scope) -> None:
    """Every promise holds, with or without memory, and every goal that there is room for is met."""
    vacuous(unobserved(scope))
    assert unobserved(scope).states == scope.states
    vacuous(judged(scope.build(), [one for one in scope.asked() if one.observers]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("scope", LARGER.values(), ids=LARGER)
def test_right_rules_keep_every_promise_in_larger_scopes(scope: Scope) -> None:
    """As in the small ones."""
    test_right_rules_keep_every_promise(scope)


FENCED = {"isr_shrinks_and_grows", "log_is_truncated", "proposal_is_refused", "fetch_is_fenced"}
"""Goals that need somebody who is taken for dead and is not."""


def test_no_promise_is_vacuous_everywhere() -> None:
    """Each that needs no memory says something in one of the small scopes, or is about perturbations that are none of theirs."""
    said = {one.name for scope in SCOPES.values() for one in unobserved(scope).results if one.verdict is Verdict.HOLDS}
    assert {one.name for one in PROPERTIES if not one.observers} - said == FENCED | {"crash_is_survived"}


@pytest.mark.parametrize(("goals", "bounds"), [(FENCED, Bounds(fences=1)), ({"crash_is_survived"}, Bounds(lossy_crashes=1))])
def test_goals_of_larger_scopes_are_met(goals: set[str], bounds: Bounds) -> None:
    """As soon as there is room for them."""
    asked = [one for one in PROPERTIES if one.name in goals]
    assert all(isinstance(one, Reachable) and one.expected_in(bounds) for one in asked)
    found = explore(machine(PRESETS["partition"], Config(), bounds), asked, Options())
    assert {one.name: one.verdict for one in found.results} == dict.fromkeys(goals, Verdict.HOLDS)


@pytest.mark.parametrize("name", ["moving", "without a controller"])
def test_engines_agree(name: str) -> None:
    """On states, steps, how often each action is taken, and verdicts."""
    assert both(SCOPES[name])


@pytest.mark.exhaustive
@pytest.mark.parametrize("scope", [*SCOPES.values(), *LARGER.values()], ids=[*SCOPES, *LARGER])
def test_engines_agree_everywhere(scope: Scope) -> None:
    """In the larger scopes as in the small ones."""
    assert both(scope)


def both(scope: Scope) -> bool:
    """Whether two engines say the same about all promises that need no memory."""
    asked = [one for one in scope.asked() if not one.observers]
    reference = unobserved(scope)
    tables = explore_with_tables(scope.build(), asked, Options(keep_going=True))
    assert tables.states == reference.states == scope.states
    assert (tables.transitions, dict(tables.taken)) == (reference.transitions, dict(reference.taken))
    return [(one.name, one.verdict, one.depth) for one in tables.results] == [
        (one.name, one.verdict, one.depth) for one in reference.results
    ]


# -- what breaks without an action --


def without(scope: Scope, name: str) -> Machine[State]:
    """Return the machine in which an action is never possible."""

    def never(_state: State) -> None:
        return None

    def idle(one: Action) -> Action:
        never.__name__ = one.name
        return evolve(one, function=never)

    whole = scope.build()
    return evolve(whole, actions=tuple(idle(one) if one.name == name else one for one in whole.actions))


@pytest.mark.parametrize(
    ("scope", "name", "depths"),
    [
        ("without a controller", "append_record", {"record_is_acknowledged": None, "served_without_controller": None}),
        ("without a controller", "lose_controller", {"served_without_controller": None}),
        ("without a controller", "regain_controller", {"all_in_sync": 1}),
        ("lagging", "send_fetch", {"all_in_sync": 1, "commits_at_last": 1}),
        ("lagging", "handle_fetch", {"all_in_sync": 1, "commits_at_last": 2}),
        ("lagging", "receive_fetch", {"all_in_sync": 1, "commits_at_last": 3}),
        ("lagging", "answer_alter_partition", {"all_in_sync": 1, "proposal_is_settled": 1}),
        ("lagging", "receive_alter_partition", {"all_in_sync": 1}),
        ("alone, crashing", "start_broker", {"all_in_sync": 1}),
        ("alone, crashing", "fence_broker", {"all_in_sync": 1, "started_broker_serves": 3}),
        ("alone, crashing", "request_registration", {"all_in_sync": 1, "started_broker_serves": 3}),
        ("alone, crashing", "register_broker", {"all_in_sync": 1, "started_broker_serves": 4}),
        ("alone, crashing", "receive_registration", {"all_in_sync": 1, "started_broker_serves": 5}),
        ("alone, crashing", "learn_metadata", {"all_in_sync": 1, "started_broker_serves": 6}),
        ("alone, crashing", "unfence_broker", {"all_in_sync": 1, "started_broker_serves": 7}),
    ],
)
def test_what_never_comes_true_without_an_action(scope: str, name: str, depths: dict[str, int | None]) -> None:
    """A good state is out of reach, or not reached at last, once nobody takes the step that leads there."""
    asked = [one for one in SCOPES[scope].asked() if one.kind in {"reachable", "converges", "leads_to"}]
    found = judged(without(SCOPES[scope], name), asked)
    assert {one.name: one.depth for one in found.results if one.verdict is Verdict.VIOLATED} == depths


# -- what breaks under other rules --


@pytest.mark.parametrize(
    ("preset", "config", "bounds", "broken", "depth"),
    [
        ("commit_on_leader", Config(), Bounds(), "candidates_hold_committed", 1),
        ("retention_beyond_high_watermark", Config(), Bounds(deletions=1), "high_watermark_range", 2),
        ("expand_unguarded", Config(), Bounds(initial_isr=1), "candidates_hold_committed", 4),
    ],
)
def test_rules_that_break_a_promise_at_once(preset: str, config: Config, bounds: Bounds, broken: str, depth: int) -> None:
    """In so many steps, where the right rules keep it."""
    scope = Scope(config, bounds, 0)
    asked = [one for one in PROPERTIES if one.name == broken]
    (found,) = explore(scope.build(preset), asked, Options()).results
    assert (found.verdict, found.depth) == (Verdict.VIOLATED, depth)
    assert judged(scope.build(), asked).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("preset", "lags", "depth"),
    [("metadata_applied_again", 1, 8), ("waiting_applied_again", 1, None), ("waiting_applied_again", 2, 9), ("kafka_4_3_waiting", 1, None)],
)
def test_waiting_for_who_has_caught_up_hides_what_a_leader_forgot(preset: str, lags: int, depth: int | None) -> None:
    """As long as the follower counts as caught up: the high watermark waits for it though the leader forgot that it proposed it."""
    asked = [one for one in PROPERTIES if one.name == "candidates_hold_committed"]
    (found,) = judged(Scope(Config(), Bounds(lags=lags), 0).build(preset), asked).results
    assert (found.verdict, found.depth) == (Verdict.HOLDS if depth is None else Verdict.VIOLATED, depth)


def test_presets_differ_from_the_right_rules() -> None:
    """In one decision each, but for what Kafka does today, and for some that need another to matter."""
    right: dict[str, Any] = {name: getattr(PRESETS["partition"], name) for name in PRESETS["partition"].__annotations__}
    changed = {preset: [name for name in right if getattr(rules, name) is not right[name]] for preset, rules in PRESETS.items()}
    assert {preset: len(names) for preset, names in changed.items() if len(names) != 1} == {
        "partition": 0,
        "kafka_4_3": 4,
        "kafka_4_3_waiting": 6,
        "waiting_applied_again": 2,
        "waiting_ends_there": 2,
        "undefined_epoch_end_is_an_offset": 2,
    }
