# SPDX-License-Identifier: Apache-2.0
"""The ray engine answers what the reference engine does, with any number of shards, and never wrongly when one is lost.

Here shards are objects of this process (``toy_crew``), told and telling nothing but what can travel.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve, frozen
from toy_crew import Inside, inside
from toys import ALL, KNOWN, SYMMETRIC, Known, answers_of, below, counter, one, room, toggle, toy, two_lit_at_most

from hwmark.checker import explore as reference
from hwmark.checker.asked import default_properties
from hwmark.checker.cluster import engine as cluster
from hwmark.checker.explore import Options
from hwmark.checker.questions import meaning
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.system import system
from hwmark.checker.tables.values import NotLearnableError
from hwmark.checker.verdict import Exploration, Result
from hwmark.model import async_isr, log_machine, replication
from hwmark.model.machine import Machine, action
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Converges, LeadsTo, Property, StepProperty, Witness, invariant, witness

TINY: dict[str, Any] = {
    "replication": replication.Bounds(2, 1, 1, 1),
    "async_isr": async_isr.Bounds(3, 1, 1),
    "log": log_machine.Bounds(2, 2, 1),
}
"""The scopes of the default suite."""
LARGER: dict[str, tuple[Any, ...]] = {
    "replication": (replication.Bounds(3, 1, 1, 1), replication.Bounds(2, 2, 2, 2)),
    "async_isr": (async_isr.Bounds(3, 2, 1),),
    "log": (log_machine.Bounds(3, 3, 1),),
}
"""Scopes of ``-m exhaustive``, of the right rules: with three shards, and with one, without observers."""


def figures(found: Exploration) -> Any:
    """Return what does not depend on which of several shortest runs was found."""
    results = [(one.name, one.kind, one.verdict, one.depth, one.why, one.run is None) for one in found.results]
    return found.states, found.transitions, found.depth, found.complete, found.stopped, found.taken, results


def ends_as_it_says(machine: Machine[Any], prop: Property, properties: tuple[Property, ...], result: Result) -> bool:
    """Whether a run takes real steps to where a promise without a loop is broken, or a goal is met, with that witness."""
    assert result.run is not None
    explored = system(machine, properties)
    takes = {str(step): take for step, take in zip(explored.steps, explored.takes, strict=True)}
    states = [explored.initial[result.run.initial]]
    for step in result.run.steps:
        states.append(takes[str(step)](states[-1]))
        assert states[-1] is not None, step
    seen = (states[-2], result.run.steps[-1], states[-1]) if isinstance(prop, StepProperty) else (states[-1],)
    answers = [(bound, bound.holds(*seen)) for bound in explored.bind(prop)]
    return (result.verdict, result.witness) in [meaning(bound, answer) for bound, answer in answers if answer]


def properties_of(described: Described, bounds: Any, *, observed: bool) -> tuple[Property, ...]:
    """Return what is asked by default, or everything."""
    named = [prop.name for prop in described.properties] if observed else default_properties(described, bounds)
    return tuple(prop for prop in described.properties if prop.name in named)


def matrix() -> Iterator[Any]:
    """Yield every preset of the machines with scopes here: all promises with two shards in a tiny scope; right rules in larger ones."""
    for name, described in ((name, described) for name, described in MACHINES.items() if name in TINY):
        for preset in described.presets:
            yield pytest.param(described, preset, TINY[name], True, 2, id=f"{name}-{preset}")
        for bounds, (observed, shards) in itertools.product(LARGER[name], ((True, 3), (False, 1))):
            case = f"{name}-{bounds}-{observed}-{shards}"
            yield pytest.param(described, described.right, bounds, observed, shards, id=case, marks=(pytest.mark.exhaustive,))


# -- the same answers --


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_answers_are_those_known_by_hand(known: Known, shards: int) -> None:
    """Of every toy: states, transitions, depth, verdicts and reasons; of several shortest runs one shard finds the known one."""
    found = cluster.explore(known.machine, known.properties, Options(**known.options), shards=shards, muster=inside())
    assert (found.states, found.transitions, found.depth) == (known.states, known.transitions, known.depth)
    assert (found.complete, found.stopped) == (known.stopped is None, known.stopped)
    answers = answers_of(found)
    for result in found.results:
        name, expected = result.name, known.answers[result.name]
        if shards > 1 and answers[name] != expected:
            prop = next(prop for prop in known.properties if prop.name == name)
            assert ends_as_it_says(known.machine, prop, known.properties, result)
            answers[name] = evolve(answers[name], steps=expected.steps, facts=expected.facts)
    assert answers == known.answers


@pytest.mark.parametrize(("described", "preset", "bounds", "observed", "shards"), tuple(matrix()))
def test_answers_are_those_of_the_reference_engine(described: Described, preset: str, bounds: Any, *, observed: bool, shards: int) -> None:
    """Of every machine and preset, plainly and under symmetry: all figures, verdicts, and depths."""
    machine = described.build(described.presets[preset], described.module.Config(), bounds)
    properties = properties_of(described, bounds, observed=observed)
    for symmetry in (False, True) if machine.interchangeable else (False,):
        options = Options(symmetry=symmetry, keep_going=True)
        expected = reference.explore(machine, properties, options)
        found = cluster.explore(machine, properties, options, shards=shards, muster=inside())
        assert figures(found) == figures(expected)
        assert (found.engine, found.workers) == ("ray", shards)


def small_replication(preset: str = "kip_101") -> tuple[Machine[Any], tuple[Property, ...]]:
    """Return a machine of a few hundred states, with all promises that are asked by default."""
    described, bounds = MACHINES["replication"], replication.Bounds(2, 2, 2, 1)
    machine = described.build(described.presets[preset], described.module.Config(), bounds)
    return machine, properties_of(described, bounds, observed=False)


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("symmetry", [False, True])
def test_rounds_may_be_of_any_size(shards: int, *, symmetry: bool) -> None:
    """With rounds of three states everything is as with large ones, but for which shortest run was found."""
    machine, properties = small_replication()
    options = Options(symmetry=symmetry, keep_going=True)
    expected = reference.explore(machine, properties, options)
    found = cluster.explore(machine, properties, options, shards=shards, muster=inside(), limits=cluster.Limits(round=3))
    assert figures(found) == figures(expected)


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_the_same_shards_find_the_same_runs(shards: int) -> None:
    """Nothing depends on anything but the number of shards: the whole answer is the same again, runs and all."""
    machine, properties = small_replication()
    first, second = (cluster.explore(machine, properties, Options(keep_going=True), shards=shards, muster=inside()) for _ in range(2))
    assert evolve(first, seconds=0, preparation=0) == evolve(second, seconds=0, preparation=0)


def test_one_shard_finds_the_runs_of_the_reference_engine() -> None:
    """A single shard numbers states as the reference engine does, so everything is the same."""
    machine, properties = small_replication()
    options = Options(keep_going=True)
    found = cluster.explore(machine, properties, options, muster=inside())
    assert evolve(found, seconds=0, preparation=0, engine="reference") == evolve(reference.explore(machine, properties, options), seconds=0)


@pytest.mark.parametrize("shards", [2, 3])
def test_states_are_spread_evenly(shards: int) -> None:
    """Each shard owns about as many states as each other."""
    crews: list[Inside] = []
    described = MACHINES["replication"]
    machine = described.build(described.presets["kip_101"], described.module.Config(), replication.Bounds(2, 2, 2, 2))
    found = cluster.explore(machine, (), shards=shards, muster=inside(crews=crews))
    known = [shard.figures().states for shard in crews[0].shards]
    assert sum(known) == found.states
    assert max(known) - min(known) < 0.1 * found.states / shards


@frozen
class Notes:
    """What somebody wrote down, at first for two."""

    notes: tuple[int, ...] = (0, 0)


@action()
@toy
def add(state: Notes) -> Notes | None:
    """Makes the tuple longer."""
    return Notes((*state.notes, len(state.notes))) if len(state.notes) < 5 else None


@invariant(sources=())
def no_four(state: Notes) -> Witness | None:
    """There are never four notes."""
    return witness() if len(state.notes) == 4 else None


def test_a_field_that_changes_its_length_is_one_component() -> None:
    """The search begins anew with the same shards, and gives the right answer."""
    crews: list[Inside] = []
    machine = Machine("notes", None, None, None, (Notes(),), (add,))
    found = cluster.explore(machine, (no_four,), Options(keep_going=True), shards=2, muster=inside(crews=crews))
    assert (found.states, found.transitions, found.depth) == (4, 3, 3)
    assert [one.depth for one in found.results] == [2]
    assert len(crews) == 1


# -- limits --


@pytest.mark.parametrize("most", [1, 2, 7, 50, 200])
@pytest.mark.parametrize("shards", [1, 2, 3])
def test_the_limit_of_states_is_kept_exactly(most: int, shards: int) -> None:
    """So many states are reported and none more, at the depth at which the reference engine stops; nothing is said to hold."""
    machine, properties = small_replication()
    options = Options(max_states=most, keep_going=True)
    expected = reference.explore(machine, properties, options)
    found = cluster.explore(machine, properties, options, shards=shards, muster=inside())
    assert (found.states, found.depth, found.stopped) == (most, expected.depth, expected.stopped)
    assert [one.name for one in found.results if one.verdict is one.verdict.HOLDS and one.run is None] == []


def test_a_shard_that_is_full_ends_the_search() -> None:
    """Numbers that would not fit are never given."""
    found = cluster.explore(counter(limit=50), (below(99),), shards=2, muster=inside(), limits=cluster.Limits(states=9))
    assert (found.complete, found.stopped) == (False, "a shard numbers no more than 9 states")
    assert found.results[0].verdict is found.verdict.UNDETERMINED


@pytest.mark.parametrize(("limits", "what"), [(cluster.Limits(values=3), "values"), (cluster.Limits(nodes=3), "nodes")])
def test_what_does_not_fit_its_width_is_refused(limits: cluster.Limits, what: str) -> None:
    """Codes and nodes that do not fit are refused as the tables engine does."""
    machine, properties = small_replication()
    with pytest.raises(NotLearnableError, match=what):
        cluster.explore(machine, properties, shards=2, muster=inside(), limits=limits)


def test_too_many_shards_are_refused() -> None:
    """More shards than an origin can name are not told apart, so there are none."""
    with pytest.raises(NotLearnableError, match="16,384 shards"):
        cluster.explore(counter(), (), shards=16_385, muster=inside())


def test_symmetry_needs_interchangeable_identities() -> None:
    """A machine that declares none is refused, as by every engine."""
    with pytest.raises(NotSymmetricError):
        cluster.explore(counter(), (below(9),), Options(symmetry=True), muster=inside())


def test_nobody_waits_for_shards_that_are_not_needed() -> None:
    """Where the search ends at once, shards are not even started."""
    crews: list[Inside] = []
    found = cluster.explore(counter(), (below(9),), Options(timeout=0), shards=2, muster=inside(crews=crews))
    assert (found.states, found.stopped, crews) == (1, "reached the limit of 0 s", [])


@pytest.mark.parametrize("calls", [0, 3, 10, 40])
def test_the_search_can_be_stopped_while_shards_are_waited_for(calls: int) -> None:
    """Whoever stops it is heard in the midst of a round; what was found until then is reported."""
    asked = itertools.count()
    machine, properties = small_replication()
    options = Options(keep_going=True, stop=lambda: "interrupted" if next(asked) > calls else None)
    found = cluster.explore(machine, properties, options, shards=2, muster=inside())
    assert (found.complete, found.stopped) == (False, "interrupted")
    assert [one.name for one in found.results if one.verdict is one.verdict.HOLDS and one.run is None] == []


# -- losses --


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("dies", [0, 1])
def test_a_shard_that_is_lost_at_any_call_never_makes_an_answer_wrong(dies: int, *, symmetry: bool) -> None:
    """Whichever call it is lost at, nothing is said to hold that was not looked at, and what is found is right."""
    machine, properties = room(toggle), (two_lit_at_most,)
    options = Options(**(SYMMETRIC if symmetry else ALL))
    crews: list[Inside] = []
    expected = cluster.explore(machine, properties, options, shards=2, muster=inside(crews=crews))
    for call in range(crews[0].calls):
        found = cluster.explore(machine, properties, options, shards=2, muster=inside(dies_at=call, dies=dies))
        assert (found.complete, found.stopped) == (False, "a shard died")
        assert found.states <= expected.states
        assert found.transitions <= expected.transitions
        assert found.results == expected.results or [one.verdict.value for one in found.results] == ["undetermined"]


def test_shards_that_are_lost_while_the_graph_is_judged_leave_that_open() -> None:
    """Everything was explored then, and only what is decided on the graph is not known."""
    known = next(known for known in KNOWN if known.name.startswith("a trap two steps away"))
    crews: list[Inside] = []
    cluster.explore(known.machine, known.properties, shards=2, muster=inside(crews=crews))
    found = cluster.explore(known.machine, known.properties, shards=2, muster=inside(dies_at=crews[0].calls - 1))
    assert (found.complete, found.states) == (True, known.states)
    assert [(one.verdict.value, one.why) for one in found.results] == [("undetermined", "a shard died")]


def test_successors_that_do_not_come_end_the_search() -> None:
    """As many must come as were sent, or nothing is believed."""
    crews: list[Inside] = []
    found = cluster.explore(counter(one, limit=50), (below(99),), shards=2, muster=inside(crews=crews, loses_at=5))
    assert (found.complete, found.stopped) == (False, "not all successors that were sent came to their shards")


def test_too_many_edges_leave_open_only_what_is_judged_on_the_graph() -> None:
    """Nobody holds more edges than allowed; everything else is explored to the end."""
    machine, properties = small_replication("kip_320")
    exact = cluster.explore(machine, properties, Options(keep_going=True), shards=2, muster=inside())
    found = cluster.explore(machine, properties, Options(keep_going=True), shards=2, muster=inside(), limits=cluster.Limits(edges=100))
    assert (found.states, found.transitions, found.complete) == (exact.states, exact.transitions, True)
    for result, known in zip(found.results, exact.results, strict=True):
        if isinstance(next(prop for prop in properties if prop.name == result.name), Converges | LeadsTo):
            assert result.why == "there are more than 100 steps between states, too many to judge them as a whole"
        else:
            assert result == known


def test_owners_do_not_change_as_rows_are_packed_anew() -> None:
    """A counter far beyond the first width of its code is explored exactly: no state has two owners."""
    found = cluster.explore(counter(limit=600), (below(9999),), shards=3, muster=inside())
    assert (found.states, found.transitions, found.depth, found.verdict.value) == (601, 600, 600, "holds")
