# SPDX-License-Identifier: Apache-2.0
"""Whole simulations: what is violated is found and shown by a short run, and nothing is ever said to hold but a met goal."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
import toy_lift
from attrs import evolve
from toys import toy

from hwmark.checker import asked as asked_module
from hwmark.checker.asked import Asked
from hwmark.checker.engine import Engine
from hwmark.checker.judge import ask_again
from hwmark.checker.simulation import crew, discovery, table_walks
from hwmark.checker.simulation import simulate as simulation
from hwmark.checker.simulation.request import Plan, Request
from hwmark.checker.simulation.simulate import A_SAMPLE, NOT_JUDGED, Progress, Simulated, simulate
from hwmark.checker.simulation.swarm import variants
from hwmark.checker.system import IMPOSSIBLE
from hwmark.checker.verdict import Result, Verdict
from hwmark.model.machine import action, impossible
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Reachable


@pytest.fixture(autouse=True)
def _small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sample the guards of few walks: what is sampled is tested elsewhere."""
    monkeypatch.setattr(simulation, "SAMPLED_WALKS", 2)


@pytest.fixture
def _lift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the toy lift a machine like ours."""
    monkeypatch.setitem(asked_module.MACHINES, "lift", toy_lift.LIFT)


USUAL = Plan()
LIFT = pytest.mark.usefixtures("_lift")


def never() -> str | None:
    """Do not stop."""
    return None


def simulated(machine: str, preset: str | None = None, *, plan: Plan = USUAL, **given: Any) -> Simulated:
    """Simulate a machine."""
    return simulate(variants(Request(machine, preset, **given))[1], plan, never)


def results(found: Simulated) -> dict[str, Result]:
    """Return the results by name."""
    return {result.name: result for result in found.results}


def violated(found: Simulated) -> dict[str, int]:
    """Return what is violated, and after how many steps."""
    return {result.name: result.depth or 0 for result in found.results if result.verdict is Verdict.VIOLATED}


# -- what is found --


@pytest.mark.parametrize(
    ("name", "preset", "bounds", "shortest"),
    [
        ("replication", "truncate_to_high_watermark", "replicas=2,log_size=3,records=3,max_leader_epoch=2", {"weak_isr": 8}),
        ("replication", "kip_101", "replicas=2,log_size=3,records=3,max_leader_epoch=2", {"strong_isr": 11}),
        ("async_isr", "version_unchecked", "replicas=3,max_version=2,max_offset=1", {"valid_high_watermark": 6}),
        ("async_isr", "high_watermark_over_committed_isr", "replicas=3,max_version=2,max_offset=1", {"valid_high_watermark": 6}),
        ("log", "epoch_cache_not_truncated", "", {"epoch_cache_matches": 2}),
    ],
)
def test_failing_walks_become_about_as_short_as_the_shortest(name: str, preset: str, bounds: str, shortest: dict[str, int]) -> None:
    """In small scopes, where breadth-first search knows the shortest run, what is left of a walk has two steps more at most."""
    found = violated(simulated(name, preset, bounds=bounds, properties=(*shortest, "structure"), plan=Plan(walks=300)))
    assert found.keys() == shortest.keys()
    for prop, depth in shortest.items():
        assert depth <= found[prop] <= depth + 2


@pytest.mark.parametrize(
    ("preset", "bounds", "properties"),
    [
        ("truncate_to_high_watermark", "", ("strong_isr", "structure")),
        ("kip_101", "", ("strong_isr", "append_only_log", "structure")),
        ("kip_279", "replicas=5,log_size=8,records=8,max_leader_epoch=6", ("strong_isr", "structure")),
    ],
)
def test_violations_are_found_in_scopes_too_large_to_exhaust(preset: str, bounds: str, properties: tuple[str, ...]) -> None:
    """Every run that is shown replays with the machine's own functions, and violates what it is said to."""
    found = simulated("replication", preset, bounds=bounds, properties=properties, plan=Plan(walks=400))
    assert violated(found).keys() == {*properties} - {"structure"}
    for result in found.results:
        if result.verdict is Verdict.VIOLATED:
            asked = found.discoveries[result.name].variant.asked
            assert result.run is not None
            _, _, shown = ask_again(asked.build(), asked.described.find(result.name), result.run)
            assert {**shown.choices, **shown.facts} == result.witness
            assert result.depth == len(result.run.steps) <= found.discoveries[result.name].walked


@pytest.mark.parametrize("name", list(MACHINES))
def test_the_right_rules_are_a_clean_sample(name: str) -> None:
    """Nothing is violated, no promise is said to hold, and goals are met, though rare ones perhaps not by so few walks."""
    found = simulated(name, plan=Plan(walks=150))
    goals = {result.name for result in found.results if isinstance(MACHINES[name].find(result.name), Reachable)}
    for result in found.results:
        if result.name in goals:
            assert result.verdict in {Verdict.HOLDS, Verdict.UNDETERMINED}
        else:
            assert result.verdict is Verdict.UNDETERMINED
            assert result.why in {f"{A_SAMPLE}: {found.steps:,} steps of 150 walks", "vacuous: its choices have no values in this scope"}
    assert not goals or any(result.verdict is Verdict.HOLDS for result in found.results)
    assert found.walks == 150
    assert 0 < found.states <= found.steps + 150
    assert sum(found.total(lambda one, name=act: one.found.taken[name]) for act in range(len(found.variants[0].found.taken))) == found.steps  # type: ignore[misc]


def test_walks_depend_on_the_seed_alone() -> None:
    """The same seed finds the same by the same walks, in whatever way they are taken; another seed takes others."""

    def shown(plan: Plan) -> list[Any]:
        found = simulated("replication", "kip_101", plan=plan, properties=("epoch_lineage", "zombie_writes", "structure"))
        where = {name: (one.walk, one.walked) for name, one in found.discoveries.items()}
        return [found.results, where, found.sample.actions["become_leader"].outcomes, found.states, found.variants[0].found.taken]

    first = shown(Plan(walks=100))
    assert first == shown(Plan(walks=100)) == shown(Plan(walks=100, engine=Engine.TABLES))
    assert first != shown(Plan(walks=100, seed=1))


@LIFT
def test_what_comes_true_at_last_is_not_judged() -> None:
    """Convergence and what is led to are undetermined, with the reason; by default they are not asked."""
    plan = Plan(walks=50)
    found = results(simulated("lift", properties=("comes_back", "is_served_at_last", "moves_closed"), plan=plan))
    assert [(found[name].verdict, found[name].why) for name in ("comes_back", "is_served_at_last")] == [
        (Verdict.UNDETERMINED, NOT_JUDGED)
    ] * 2
    assert {"comes_back", "is_served_at_last"}.isdisjoint(results(simulated("lift", plan=plan)))


@LIFT
def test_properties_of_states_and_steps_and_with_observers_are_judged() -> None:
    """The unsafe lift breaks its promises, and every kind of goal is met; goals show no run."""
    found = results(simulated("lift", "unsafe", plan=Plan(walks=100)))
    assert {name: one.verdict for name, one in found.items()} == {
        "open_below": Verdict.VIOLATED,
        "moves_closed": Verdict.VIOLATED,
        "climbs_twice": Verdict.VIOLATED,
        "climbs_in_sight": Verdict.VIOLATED,
        "top_is_called": Verdict.HOLDS,
        "call_is_served": Verdict.HOLDS,
        "stays_whole": Verdict.VIOLATED,
        "impossible": Verdict.VIOLATED,
    }


@LIFT
def test_a_promise_that_was_never_asked_is_vacuous(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing meets what a promise presupposes, or its choices have no values, the sample says so."""
    vacuous = (
        evolve(toy_lift.stays_whole, when=lambda state: state.floor > 99),
        evolve(toy_lift.open_below, domains={"floor": lambda _: ()}, when=None),
    )
    monkeypatch.setitem(asked_module.MACHINES, "lift", evolve(toy_lift.LIFT, properties=vacuous))
    found = results(simulated("lift"))
    assert found["stays_whole"].why == "vacuous: nothing in this sample meets what the property presupposes"
    assert found["open_below"].why == "vacuous: its choices have no values in this scope"


def changed_lift(monkeypatch: pytest.MonkeyPatch, *actions: Any) -> None:
    """Let the lift do these actions and nothing else."""
    module = type(
        "Module",
        (),
        {
            "Config": toy_lift.Config,
            "machine": staticmethod(lambda *scope: evolve(toy_lift.machine(*scope), actions=actions)),
            "__doc__": "",
        },
    )
    monkeypatch.setitem(asked_module.MACHINES, "lift", evolve(toy_lift.LIFT, module=module))


def test_the_impossible_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an action holds to be impossible is a violation with its run, though nobody asked about it."""

    @action()
    @toy
    def fall(state: toy_lift.Lift) -> toy_lift.Lift | None:
        """Falls, which cannot be."""
        return impossible("the rope holds") if state.floor == 3 else None

    changed_lift(monkeypatch, toy_lift.move, fall)
    for engine in (Engine.REFERENCE, Engine.TABLES):
        found = results(simulated("lift", "unsafe", plan=Plan(walks=50, engine=engine)))[IMPOSSIBLE]
        assert (found.verdict, found.kind, found.witness) == (Verdict.VIOLATED, "invariant", {"why": "the rope holds"})
        assert found.run is not None
        assert [step.action for step in found.run.steps] in (["move"] * 2 + ["fall"], ["move"] * 3 + ["fall"])


def test_a_machine_that_does_nothing_was_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No step, no sample."""

    @action()
    @toy
    def rest(_: toy_lift.Lift) -> None:
        """Does nothing."""

    changed_lift(monkeypatch, rest)
    found = simulated("lift", properties=("stays_whole",))
    assert (found.steps, found.walks) == (0, 1000)
    assert results(found)["stays_whole"].why == "nothing was walked: no step can be taken"


@LIFT
def test_a_violation_at_the_start_has_no_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise that an initial state breaks is broken by a run of no steps from there."""
    grounded = evolve(toy_lift.open_below, function=_grounded, domains={}, when=None)
    monkeypatch.setitem(asked_module.MACHINES, "lift", evolve(toy_lift.LIFT, properties=(grounded,)))
    found = simulated("lift")
    result = results(found)["_grounded"]
    assert (result.depth, result.run and result.run.initial, found.stopped) == (0, 1, "every property is decided")


def _grounded(state: toy_lift.Lift) -> Any:
    """The lift is on the ground floor."""
    return toy_lift.witness(floor=state.floor) if state.floor else None


# -- limits --


def test_a_limit_of_time_leaves_a_sample() -> None:
    """Walks without a limit end with the time, and say so."""
    started = time.monotonic()
    found = simulated("async_isr", plan=Plan(walks=None, timeout=0.5))
    assert time.monotonic() - started < 10
    assert (found.stopped, found.walks > 0) == ("reached the limit of 0.5 s", True)
    assert (results(found)["structure"].why or "").startswith(A_SAMPLE)


def test_an_interrupt_before_the_first_walk_leaves_nothing() -> None:
    """All is undetermined for that reason."""
    found = simulate(variants(Request("async_isr"))[1], Plan(), lambda: "interrupted")
    assert {result.why for result in found.results} == {"interrupted"}
    assert (found.steps, found.variants, found.stopped) == (0, (), "interrupted")


def test_an_interrupt_later_leaves_what_was_seen() -> None:
    """What was violated so far is reported, with the walk as it was taken, and the rest is a smaller sample."""
    seen: list[Progress] = []
    found = simulate(variants(Request("replication", "kip_101"))[1], Plan(), lambda: "interrupted" if len(seen) > 2 else None, seen.append)
    assert (found.stopped, found.walks) == ("interrupted", 192)
    assert [one.walks for one in seen] == [64, 128, 192]
    for name, depth in violated(found).items():
        assert depth == found.discoveries[name].walked


def test_all_that_is_asked_for_is_walked_in_batches() -> None:
    """So many walks and no more, though they are no whole number of batches."""
    assert [simulated("log", plan=Plan(walks=walks, steps=5)).walks for walks in (1, 64, 65, 130)] == [1, 64, 65, 130]


# -- several processes --


def test_several_processes_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many walk: the same decisions, counts and sample, of the same walks."""
    _, combinations = variants(
        Request("async_isr", "version_unchecked", swarm=("replicas=3,4",), properties=("structure", "version_order"))
    )
    alone = simulate(combinations, Plan(walks=700, steps=20), never)
    monkeypatch.setattr(simulation, "ALONE_FOR", 0.0)
    seen: list[Progress] = []
    several = simulate(combinations, Plan(walks=700, steps=20, workers=2), never, seen.append)
    assert several.results == alone.results
    assert (several.walks, several.steps, several.states, several.stopped) == (alone.walks, alone.steps, alone.states, None)
    assert [one.found.taken for one in several.variants] == [one.found.taken for one in alone.variants]
    assert {name: (one.walk, one.walked) for name, one in several.discoveries.items()} == {
        name: (one.walk, one.walked) for name, one in alone.discoveries.items()
    }
    assert seen[-1].walks == 700


def test_several_processes_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once somebody stops them, and what was seen until then counts."""
    monkeypatch.setattr(simulation, "ALONE_FOR", 0.0)
    seen: list[Progress] = []
    _, combinations = variants(Request("async_isr"))
    plan = Plan(walks=10**9, steps=10, workers=2)
    found = simulate(combinations, plan, lambda: "interrupted" if seen and seen[-1].walks > 200 else None, seen.append)
    assert (found.stopped, found.walks > 200) == ("interrupted", True)
    assert (results(found)["structure"].why or "").startswith(A_SAMPLE)


def test_processes_that_die_leave_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation whose processes died says so."""
    monkeypatch.setattr(simulation, "ALONE_FOR", 0.0)
    monkeypatch.setattr(crew, "_take", _die)
    _, combinations = variants(Request("async_isr"))
    found = simulate(combinations, Plan(walks=10**9, workers=2), never)
    assert (found.stopped, found.walks) == ("a worker process died", 0)


def _die(*_: Any) -> None:
    """End the process at once."""
    os._exit(1)


# -- variants --


def test_every_combination_is_walked_in_turn() -> None:
    """Batches take the combinations one after the other; a violation says in which it was found."""
    _, combinations = variants(
        Request("replication", swarm=("rules=kip_320,kip_101", "replicas=3,4"), properties=("epoch_lineage", "structure"))
    )
    found = simulate(combinations, Plan(walks=64 * 6, steps=60), never)
    walks = {(one.asked.preset, one.asked.bounds.replicas): one.found.walks for one in found.variants}
    assert sorted(walks.values()) == [64, 64, 128, 128]
    assert walks.keys() == {(preset, replicas) for preset in ("kip_320", "kip_101") for replicas in (3, 4)}
    assert violated(found)
    assert {one.variant.asked.preset for name, one in found.discoveries.items() if name in violated(found)} == {"kip_101"}


def test_few_walks_reach_few_combinations() -> None:
    """What was not walked is not counted as walked."""
    _, combinations = variants(Request("log", swarm=("log_size=1,2,3,4",)))
    found = simulate(combinations, Plan(walks=100), never)
    assert (len(found.variants), found.combinations) == (2, 4)


# -- tables that cannot be used --


def forgetful() -> Any:
    """Return an action that depends on more than the state."""
    calls: list[Any] = []

    @action()
    @toy
    def wander(state: toy_lift.Lift) -> toy_lift.Lift:
        """Goes to a floor that depends on how often it was called."""
        calls.append(state)
        return evolve(state, floor=len(calls) % 3)

    return wander


def test_what_tables_refuse_is_walked_with_plain_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The note says so, and why."""
    changed_lift(monkeypatch, forgetful())
    found = simulated("lift", plan=Plan(walks=20, engine=Engine.TABLES), properties=("stays_whole",))
    assert (found.note or "").startswith("walked with the machine's own functions: wander() ")
    assert found.variants[0].engines == {Engine.REFERENCE}


def test_tables_that_lie_are_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decision that the machine's own functions do not confirm starts all over without tables."""
    walk = table_walks.TableWalks.walk

    def lie(self: Any, *given: Any) -> Any:
        found = walk(self, *given)
        found.decide("structure", (0, 1))
        return found

    monkeypatch.setattr(table_walks.TableWalks, "walk", lie)
    found = simulated("replication", plan=Plan(walks=100, engine=Engine.TABLES))
    assert found.note == "walked with the machine's own functions: structure is not decided at the end of a run of 1 step"
    assert violated(found) == {}
    assert (results(found)["structure"].why or "").startswith(A_SAMPLE)
    assert discovery.DisagreeError is table_walks.DisagreeError


def test_a_promise_that_answers_in_the_wrong_type_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise that answers neither a witness nor nothing must not pass."""
    wrong = evolve(toy_lift.stays_whole, function=_wrong)
    monkeypatch.setitem(asked_module.MACHINES, "lift", evolve(toy_lift.LIFT, properties=(wrong,)))
    with pytest.raises(TypeError, match="a promise answers None or a witness"):
        simulated("lift")


def _wrong(_: toy_lift.Lift) -> bool:
    """Answers whether, and not why."""
    return False


def test_asked_is_what_was_given() -> None:
    """Bounds are twice the small ones unless given, and given ones are as they are given."""
    (asked,) = variants(Request("replication", bounds="replicas=3"))[1]
    assert isinstance(asked, Asked)
    assert (asked.bounds.replicas, asked.bounds.log_size, asked.bounds.max_leader_epoch) == (3, 6, 4)
