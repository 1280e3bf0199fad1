# SPDX-License-Identifier: Apache-2.0
"""The asynchronous ISR machine keeps its promises, and each promise can be broken.

State counts, and the depths of the mutants of ``valid_high_watermark``, are those published for AsyncIsr; the counts of
orbits and the depths of the other properties are known from this engine alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from attrs import asdict, evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.async_isr import (
    Bounds,
    Config,
    State,
    VersionedIsr,
    controller_handle_request,
    controller_shrink_isr,
    follower_replicate,
    followers,
    leader_handle_update,
    leader_request_expand_isr,
    machine,
    versions,
)
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.spec import async_isr as promises
from hwmark.spec.property import Property, Reachable
from hwmark.spec.versions import ASYNC_ISR

SMALL = Bounds(replicas=3, max_version=2, max_offset=1)
UNOBSERVED = tuple(prop for prop in promises.PROPERTIES if not prop.observers)
GOALS = tuple(prop for prop in promises.PROPERTIES if isinstance(prop, Reachable))


def build(preset: str = "async_isr", bounds: Bounds = SMALL) -> Machine[State]:
    """Return the machine under the rules of a preset."""
    return machine(ASYNC_ISR[preset], Config(), bounds)


def judged(explored: Machine[State], properties: Sequence[Property], **options: Any) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


def violation(explored: Machine[State], prop: Property) -> list[str]:
    """Return the steps of the shortest counterexample to a property that must be violated."""
    (result,) = judged(explored, [prop]).results
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    return [str(step) for step in result.run.steps]


# -- the right rules --


@pytest.mark.parametrize(
    ("scope", "states", "orbits"), [((3, 2, 1), 1460, 733), ((2, 2, 1), 42, 42), ((2, 3, 2), 168, 168), ((3, 2, 2), 4088, 2050)]
)
def test_right_rules_keep_every_promise(scope: tuple[int, int, int], states: int, orbits: int) -> None:
    """In each published scope every promise holds, in exactly the published number of states, and also under symmetry."""
    bounds = Bounds(*scope)
    expected = [prop for prop in UNOBSERVED if not isinstance(prop, Reachable) or prop.expected_in(bounds)]
    plain = judged(build(bounds=bounds), expected)
    assert (Verdict.HOLDS, states) == (plain.verdict, plain.states)
    safe = [prop for prop in expected if prop.kind != "leads_to"]
    symmetric = judged(build(bounds=bounds), safe, symmetry=True)
    assert (Verdict.HOLDS, orbits) == (symmetric.verdict, symmetric.states)


def test_committed_stays_replicated() -> None:
    """Under the right rules nobody who lacks a record ever committed gets into the ISR; the observer adds no states."""
    exploration = judged(build(), [promises.committed_stays_replicated])
    assert (exploration.verdict, exploration.states) == (Verdict.HOLDS, 1460)


def test_every_action_is_taken() -> None:
    """No action of the machine is idle in the small scope."""
    assert all(judged(build(), ()).taken.values())


# -- the mutants --


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize(
    ("preset", "depths", "states", "orbits"),
    [
        ("high_watermark_over_committed_isr", {"valid_high_watermark": 6}, 1460, 733),
        ("high_watermark_over_proposed_isr", {"valid_high_watermark": 3}, 1460, 733),
        ("version_unchecked", {"valid_high_watermark": 6}, 2300, 1153),
        ("expand_unguarded", {}, 1460, 733),
    ],
)
def test_mutants(*, preset: str, depths: dict[str, int], states: int, orbits: int, symmetry: bool) -> None:
    """Each mutant breaks the high watermark in as many steps as published, and the control breaks nothing."""
    safe = [prop for prop in UNOBSERVED if prop.kind != "leads_to"]
    exploration = judged(build(preset), safe, symmetry=symmetry)
    assert (depths, orbits if symmetry else states) == (broken(exploration), exploration.states)


@pytest.mark.parametrize(
    ("preset", "steps"),
    [
        (
            "high_watermark_over_committed_isr",
            [
                "controller_shrink_isr(follower=1)",
                "leader_write()",
                "leader_handle_update(version=1)",
                "leader_request_expand_isr(follower=1)",
                "controller_handle_request(version=1, follower=1)",
                "follower_replicate(follower=2)",
            ],
        ),
        ("high_watermark_over_proposed_isr", ["leader_request_shrink_isr(follower=1)", "leader_write()", "follower_replicate(follower=2)"]),
        (
            "version_unchecked",
            [
                "controller_shrink_isr(follower=1)",
                "leader_request_shrink_isr(follower=2)",
                "controller_handle_request(version=0, follower=2)",
                "leader_write()",
                "leader_handle_update(version=1)",
                "follower_replicate(follower=2)",
            ],
        ),
    ],
)
def test_counterexamples(preset: str, steps: list[str]) -> None:
    """Each mutant's first counterexample is this run."""
    assert steps == violation(build(preset), promises.valid_high_watermark)


def test_unguarded_expansion_takes_back_what_was_committed() -> None:
    """The control is one only while the high watermark is derived: who remembers it sees a member without a committed record."""
    assert violation(build("expand_unguarded", Bounds(replicas=2, max_version=2, max_offset=1)), promises.committed_stays_replicated) == [
        "controller_shrink_isr(follower=1)",
        "leader_write()",
        "leader_handle_update(version=1)",
        "leader_request_expand_isr(follower=1)",
        "controller_handle_request(version=1, follower=1)",
    ]


# -- each other promise can be broken --


@action(follower=followers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def controller_drops_quietly(state: State, *, follower: int) -> State | None:
    """The controller changes the ISR without a new version."""
    controller = state.controller
    isr = controller.isr - {follower}
    return put(state, controller=VersionedIsr(isr, controller.version), updates={controller.version: isr})


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def controller_forgets(state: State) -> State | None:
    """The controller starts again with version 0."""
    return put(state, controller=VersionedIsr(state.controller.isr, 0))


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def leader_leaves(state: State, bounds: Bounds) -> State | None:
    """The controller drops the leader itself."""
    return controller_shrink_isr.function(state, bounds, follower=0)


@action(follower=followers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def follower_invents(state: State, bounds: Bounds, *, follower: int) -> State | None:
    """A follower gets ahead of the leader."""
    return put(state, offsets={follower: min(bounds.max_offset, state.offsets[follower] + 1)})


@action(version=versions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def leader_takes_any_update(state: State, *, version: int) -> State | None:
    """The leader also takes an update that is older than what it knows."""
    isr = state.updates[version]
    return None if isr is None else put(state, leader=VersionedIsr(isr, version), pending_isr=frozenset())


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def leader_assumes_acceptance(state: State) -> State | None:
    """The leader takes what it proposed for decided."""
    return put(state, leader=VersionedIsr(state.pending_isr, state.leader.version)) if state.pending_isr else None


@pytest.mark.parametrize(
    ("mistake", "depths"),
    [
        (controller_drops_quietly, {"decision_stability": 1, "leader_view": 1}),
        (controller_forgets, {"version_order": 2, "structure": 3, "decision_stability": 3, "leader_view": 4}),
        (leader_leaves, {"structure": 1}),
        (follower_invents, {"structure": 1}),
        (leader_takes_any_update, {"version_order": 3}),
        (leader_assumes_acceptance, {"leader_view": 2}),
    ],
)
def test_mistakes_break_structure_and_steps(mistake: Action, depths: dict[str, int]) -> None:
    """Structure, the leader's view and the promises about steps are each broken by a machine with one mistaken action more."""
    wrong = build()
    wrong = evolve(wrong, actions=(*wrong.actions, mistake))
    safe = (promises.structure, promises.leader_view, promises.version_order, promises.decision_stability)
    assert depths == broken(judged(wrong, safe))


def without(*idle: Action) -> Machine[State]:
    """Return the right machine without some of its actions."""
    whole = build()
    return evolve(whole, actions=tuple(one for one in whole.actions if one not in idle))


@pytest.mark.parametrize(
    ("idle", "prop", "steps"),
    [
        (leader_handle_update, promises.proposals_can_be_resolved, ["leader_request_shrink_isr(follower=1)"]),
        (leader_request_expand_isr, promises.all_in_sync, ["controller_shrink_isr(follower=1)"]),
        (follower_replicate, promises.all_in_sync, ["leader_write()"]),
    ],
)
def test_without_an_action_nothing_converges(idle: Action, prop: Property, steps: list[str]) -> None:
    """A good state is out of reach once nobody takes the step that leads there."""
    assert steps == violation(without(idle), prop)


def test_a_controller_that_never_answers_resolves_nothing() -> None:
    """Proposals stay pending if the controller neither accepts nor decides anything itself."""
    deaf = without(controller_handle_request, controller_shrink_isr)
    assert violation(deaf, promises.proposals_can_be_resolved) == ["leader_request_shrink_isr(follower=1)"]


@pytest.mark.parametrize("kept", ["controller_handle_request", "leader_handle_update"])
def test_resolution_needs_fairness_to_both(kept: str) -> None:
    """If fairness is owed to one side only, the other may leave a proposal pending for ever."""
    unfair = evolve(promises.proposals_are_resolved, weak=(kept,))
    (result,) = judged(build(), [unfair]).results
    assert Verdict.VIOLATED is result.verdict


def test_liveness_is_undetermined_under_symmetry() -> None:
    """What comes true at last is never called true where it was not decided."""
    exploration = judged(build(), [promises.proposals_are_resolved], symmetry=True)
    assert Verdict.UNDETERMINED is exploration.verdict


# -- goals --


def smaller(scope: dict[str, int]) -> Iterator[Bounds]:
    """Yield each scope that is smaller by one in one bound, as far as bounds allow."""
    for name, least in scope.items():
        try:
            yield Bounds(**{**scope, name: least - 1})
        except ValueError:
            continue


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_goals_have_minimal_scopes(goal: Reachable) -> None:
    """Each goal is met in the scope it names, and in none that is smaller by one in any bound."""
    assert asdict(Bounds()).keys() == goal.scope.keys()
    assert Verdict.HOLDS is judged(build(bounds=Bounds(**goal.scope)), [goal]).verdict
    unmet = [judged(build(bounds=bounds), [goal]).verdict for bounds in smaller(goal.scope)]
    assert unmet
    assert {Verdict.UNDETERMINED} == set(unmet)


@pytest.mark.parametrize(("name", "value"), [("replicas", 0), ("max_version", -1), ("max_offset", -1), ("replicas", 10)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})


def test_presets_differ_in_one_rule() -> None:
    """Each preset but the right one changes exactly one decision."""
    right = asdict(ASYNC_ISR["async_isr"])
    changed = {name: sum(value is not right[rule] for rule, value in asdict(rules).items()) for name, rules in ASYNC_ISR.items()}
    assert {name: int(name != "async_isr") for name in ASYNC_ISR} == changed
