# SPDX-License-Identifier: Apache-2.0
"""The abstract ownership machine keeps its promises, each can be broken, and a machine that breaks them is no refinement.

All counts are known from our own engines alone.
"""

from __future__ import annotations

import pytest
from attrs import asdict, evolve

from hwmark.checker.equivariance import asymmetry
from hwmark.checker.explore import Options, explore
from hwmark.checker.verdict import Verdict
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.model.ownership import (
    NOBODY,
    UNKNOWN_GENERATION,
    Bounds,
    Config,
    State,
    generations,
    give_up,
    given,
    learn,
    machine,
    members,
    partitions,
    replaced,
)
from hwmark.spec import ownership as promises
from hwmark.spec.property import Property, Reachable

SAFE = tuple(prop for prop in promises.PROPERTIES if prop.kind in ("invariant", "step"))
GOALS = tuple(prop for prop in promises.PROPERTIES if isinstance(prop, Reachable))


def build(bounds: Bounds = Bounds()) -> Machine[State]:  # noqa: B008 - frozen
    """Return the machine in a scope."""
    return machine(promises.OWNERSHIP["ownership"], Config(), bounds)


def broken(explored: Machine[State], properties: tuple[Property, ...] = SAFE) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    results = explore(explored, properties, Options(keep_going=True)).results
    return {one.name: one.depth for one in results if one.verdict is Verdict.VIOLATED}


@pytest.mark.parametrize(("scope", "states", "orbits"), [((2, 1, 2), 197, 99), ((3, 1, 2), 571, 115), ((2, 2, 1), 2025, 529)])
def test_every_promise_holds(scope: tuple[int, int, int], states: int, orbits: int) -> None:
    """In each scope every promise holds, also of states up to renaming of members and partitions."""
    explored = explore(build(Bounds(*scope)), promises.PROPERTIES, Options(keep_going=True))
    assert (Verdict.HOLDS, states) == (explored.verdict, explored.states)
    assert all(explored.taken.values())
    assert orbits == explore(build(Bounds(*scope)), (), Options(symmetry=True)).states


def test_members_and_partitions_are_interchangeable() -> None:
    """Nothing in the machine and its promises depends on which member or partition is which."""
    assert asymmetry(build(Bounds(3, 2, 2)), promises.PROPERTIES) is None


# -- each promise can be broken --


@action(partition=partitions, generation=generations, member=members)
@kafka("none", versions="none", simplified="a mistake for the tests")
def coordinator_grants_again(state: State, *, partition: int, generation: int, member: int) -> State | None:
    """The coordinator gives a partition to another member under any generation."""
    granted = given(state.grants[partition], generation, member)
    return put(state, grants={partition: granted}, owners={partition: member})


@action(partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def coordinator_forgets(state: State, *, partition: int) -> State | None:
    """The coordinator forgets whom it gave the partition."""
    forgotten = (NOBODY,) * len(state.grants[partition])
    return put(state, grants={partition: forgotten}, owners={partition: NOBODY})


@action(member=members, partition=partitions, generation=generations)
@kafka("none", versions="none", simplified="a mistake for the tests")
def member_invents(state: State, *, member: int, partition: int, generation: int) -> State | None:
    """A member believes in a grant without having got it."""
    return put(state, believed={member: replaced(state.believed[member], partition, generation)})


@action(partition=partitions, member=members)
@kafka("none", versions="none", simplified="a mistake for the tests")
def owner_changes_quietly(state: State, *, partition: int, member: int) -> State | None:
    """Another member owns the partition without a new generation."""
    return None if state.owners[partition] == NOBODY else put(state, owners={partition: member})


@pytest.mark.parametrize(
    ("mistake", "depths"),
    [
        (
            coordinator_grants_again,
            {"refines_ownership": 2, "grants_stand": 2, "owner_is_latest": 2, "belief_was_true": 3, "beliefs_are_grants": 3},
        ),
        (coordinator_forgets, {"refines_ownership": 2, "grants_stand": 2, "belief_was_true": 3}),
        (member_invents, {"refines_ownership": 1, "beliefs_are_grants": 1, "belief_was_true": 1}),
        (owner_changes_quietly, {"refines_ownership": 2, "owner_is_latest": 2}),
    ],
)
def test_mistakes(mistake: Action, depths: dict[str, int]) -> None:
    """Each promise is broken by a machine with one mistaken action more, and each such machine is no refinement."""
    whole = build()
    assert depths == broken(evolve(whole, actions=(*whole.actions, mistake)))


def test_a_member_cannot_believe_in_what_another_had() -> None:
    """An old generation that somebody else had is no belief that a refinement may come to: only the memory of grants tells."""
    late = evolve(build(), actions=(*(one for one in build().actions if one is not learn), member_invents_late))
    assert broken(late, (promises.refines_ownership, promises.beliefs_are_grants)) == {"beliefs_are_grants": 3}


@action(member=members, partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def member_invents_late(state: State, *, member: int, partition: int) -> State | None:
    """A member believes in the first generation once the partition was given away twice."""
    is_over = state.grants[partition][0] != NOBODY and state.grants[partition][1] != NOBODY
    unknown = all(known[partition] == UNKNOWN_GENERATION for known in state.believed)
    return put(state, believed={member: replaced(state.believed[member], partition, 0)}) if is_over and unknown else None


@pytest.mark.parametrize("idle", [learn, give_up])
def test_without_an_action_nobody_settles(idle: Action) -> None:
    """Unless members hear of what they got, and zombies give up, there is no partition whose one owner knows it."""
    whole = build()
    lacking = evolve(whole, actions=tuple(one for one in whole.actions if one is not idle))
    assert broken(lacking, (promises.one_owner_knows,)).keys() == {"one_owner_knows"}


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_goals_have_minimal_scopes(goal: Reachable) -> None:
    """Each goal is met in the scope it names, and in none that is smaller by one in any bound."""
    assert asdict(Bounds()).keys() == goal.scope.keys()
    assert Verdict.HOLDS is explore(build(Bounds(**goal.scope)), [goal]).verdict
    for name, least in goal.scope.items():
        try:
            smaller = Bounds(**{**goal.scope, name: least - 1})
        except ValueError:
            continue
        assert Verdict.UNDETERMINED is explore(build(smaller), [goal]).verdict


@pytest.mark.parametrize(("name", "value"), [("members", 0), ("partitions", 0), ("max_generation", -1), ("members", 10)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
