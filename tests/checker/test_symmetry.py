# SPDX-License-Identifier: Apache-2.0
"""Renaming identities: found in every type that can hold them, refused in every type that can hide them, and sound."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import Annotated, Any, Literal, NewType

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st
from toys import (
    Lamp,
    Lamps,
    drop,
    first_is_out,
    hold,
    hold_first_unlit,
    lamps,
    room,
    toggle,
    two_lit_at_most,
)

from hwmark.checker.equivariance import asymmetry, random_states
from hwmark.checker.explore import Options, explore
from hwmark.checker.symmetry import NotSymmetricError, OrbitKey, renamer, renamings
from hwmark.checker.system import system
from hwmark.model import replication
from hwmark.model.log import Record
from hwmark.model.machine import Identity, IndexedBy, Machine, Step
from hwmark.spec.abstract_log import continued
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Observer, Witness, invariant, reachable, step_property, witness


def right_machine(described: Described) -> Machine[Any]:
    """Return a machine under its right rules in its small scope."""
    return described.build(described.presets[described.right], described.module.Config(), described.small)


SYMMETRIC = tuple(name for name, described in MACHINES.items() if right_machine(described).interchangeable)
"""The machines that declare interchangeable identities."""

SWAP = {"lamp": {0: 1, 1: 0}}
TURN = {"lamp": {0: 1, 1: 2, 2: 0}}


class Colour(Enum):
    """A colour has no identity to rename."""

    RED = "red"


@frozen
class Shelf:
    """A record with identities inside a tuple inside a record."""

    pairs: tuple[tuple[Lamp, int], ...]
    owner: Lamp | None
    colour: Colour = Colour.RED


@frozen
class Other:
    """Another record, to be told apart from a shelf in a union."""

    lamp: Lamp


Number = NewType("Number", int)


# -- renaming values --


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, 0, 0),
        (bool, True, True),
        (Colour, Colour.RED, Colour.RED),
        (Lamp, 0, 1),
        (Lamp, 2, 2),
        (Lamp, -1, -1),
        (Lamp | None, 1, 0),
        (Lamp | None, None, None),
        (frozenset[Lamp], frozenset({0, -1}), frozenset({1, -1})),
        (frozenset[Lamp] | None, frozenset({1}), frozenset({0})),
        (frozenset[tuple[Lamp, int]], frozenset({(0, 0)}), frozenset({(1, 0)})),
        (tuple[Lamp, ...], (0, 0, 1), (1, 1, 0)),
        (tuple[int, Lamp], (0, 0), (0, 1)),
        (tuple[int, ...], (0, 1), (0, 1)),
        (Annotated[tuple[int, ...], IndexedBy("lamp")], (7, 8, 9), (8, 7, 9)),
        (Annotated[tuple[Lamp, ...], IndexedBy("lamp")], (0, 0, 2), (1, 1, 2)),
        (Annotated[tuple[frozenset[Lamp], ...], IndexedBy("lamp")], (frozenset({0}), frozenset()), (frozenset(), frozenset({1}))),
        (tuple[Annotated[tuple[int, ...], IndexedBy("lamp")], ...], ((7, 8),), ((8, 7),)),
        (Annotated[frozenset[Lamp], "a remark"], frozenset({0}), frozenset({1})),
        (Annotated[int, Identity("other kind")], 0, 0),
        (Annotated[tuple[int, ...], IndexedBy("other kind")], (7, 8), (7, 8)),
        (Shelf, Shelf(((0, 0), (1, 1)), None), Shelf(((1, 0), (0, 1)), None)),
        (Shelf, Shelf((), 0), Shelf((), 1)),
        (Shelf | None, Shelf((), 1), Shelf((), 0)),
        (Shelf | Other, Shelf((), 1), Shelf((), 0)),
        (Shelf | Other | None, Other(0), Other(1)),
        (int | str | None, 0, 0),
    ],
)
def test_identities_are_renamed_wherever_they_are(annotation: Any, value: object, expected: object) -> None:
    """Inside records, tuples, sets, optional and alternative values; places of indexed tuples move; nobody stays nobody."""
    assert renamer(annotation)(value, SWAP) == expected


def test_place_moves_to_the_image_of_its_index() -> None:
    """Under 0→1→2→0 what belonged to 0 belongs to 1; the inverse renaming would be a different state."""
    indexed = Annotated[tuple[str, ...], IndexedBy("lamp")]
    assert renamer(indexed)(("of 0", "of 1", "of 2"), TURN) == ("of 2", "of 0", "of 1")
    assert renamer(Lamp)(2, TURN) == 0


@pytest.mark.parametrize(
    "annotation",
    [
        Any,
        object,
        list[Lamp],
        dict[Lamp, int],
        set[Lamp],
        tuple,
        frozenset,
        Number,
        Literal[0, 1],
        Lamp | str,
        frozenset[Lamp] | tuple[Lamp, ...],
        frozenset[Any],
        tuple[Any, ...],
        tuple[int, object],
        Annotated[tuple[Any, ...], IndexedBy("lamp")],
    ],
    ids=str,
)
def test_type_that_may_hide_identities_is_refused(annotation: Any) -> None:
    """Guessing would merge states that differ, or keep apart states that do not."""
    with pytest.raises(NotSymmetricError, match="no identities can be found"):
        renamer(annotation)


@frozen
class Opaque:
    """A state whose type says nothing."""

    held: Any = -1


def test_search_under_symmetry_refuses_a_state_that_hides_identities() -> None:
    """The refusal comes before the first state."""
    machine = Machine("opaque", None, None, room().bounds, (Opaque(),), (), {"lamp": (0, 1)})
    with pytest.raises(NotSymmetricError, match=r"typing\.Any"):
        explore(machine, (), Options(symmetry=True))


def test_search_under_symmetry_refuses_a_memory_that_hides_identities() -> None:
    """An observer's memory is part of the state."""
    observer = Observer("seen", memory=Any, initial=lambda _: 0, observe=lambda memory, *_: memory)
    prop = invariant(sources=(), observers=(observer,))(lambda state, seen: None if seen == 0 else witness(state=state))
    with pytest.raises(NotSymmetricError, match=r"typing\.Any"):
        explore(room(toggle), (prop,), Options(symmetry=True))


# -- orbits --


def lamp_states(count: int) -> st.SearchStrategy[Lamps]:
    """Return any states of a room, reachable or not."""
    lamp = st.integers(0, count - 1)
    lit = st.lists(st.booleans(), min_size=count, max_size=count).map(tuple)
    return st.builds(Lamps, lit, lamp | st.just(-1), st.frozensets(lamp))


@given(st.data(), st.integers(1, 4))
def test_orbit_keys_are_equal_exactly_for_states_of_one_orbit(data: st.DataObject, count: int) -> None:
    """Compared with trying every permutation by hand, on places, identities, sets of identities and nobody."""
    machine = room(count=count)
    key = OrbitKey(machine, system(machine).components())
    one, other = data.draw(lamp_states(count)), data.draw(lamp_states(count))
    if data.draw(st.booleans()):
        other = permuted(one, data.draw(st.permutations(range(count))))
    in_one_orbit = any(permuted(one, image) == other for image in itertools.permutations(range(count)))
    assert (key(one) == key(other)) == in_one_orbit


def permuted(state: Lamps, image: Any) -> Lamps:
    """Rename by hand: lamp i becomes ``image[i]``."""
    lit = [False] * len(state.lit)
    for lamp, is_lit in enumerate(state.lit):
        lit[image[lamp]] = is_lit
    return Lamps(tuple(lit), -1 if state.held < 0 else image[state.held], frozenset(image[lamp] for lamp in state.known))


def test_only_interchangeable_identities_are_renamed() -> None:
    """Where lamp 0 is special, only 1 and 2 may be swapped."""
    machine = evolve(room(), interchangeable={"lamp": (1, 2)})
    key = OrbitKey(machine, system(machine).components())
    assert key(Lamps((False, True, False))) == key(Lamps((False, False, True)))
    assert key(Lamps((True, False, False))) != key(Lamps((False, True, False)))
    assert key(Lamps((False,) * 3, held=1)) == key(Lamps((False,) * 3, held=2))
    assert key(Lamps((False,) * 3, held=0)) != key(Lamps((False,) * 3, held=1))


def test_renamings_of_two_kinds_are_all_pairs() -> None:
    """Each kind is renamed on its own; the identical renaming comes first."""
    machine = evolve(room(count=2), interchangeable={"lamp": (0, 1), "room": (0, 1, 2)})
    found = renamings(machine)
    assert found[0] == {"lamp": {0: 0, 1: 1}, "room": {0: 0, 1: 1, 2: 2}}
    assert len(found) == len({str(one) for one in found}) == 2 * 6


@pytest.mark.parametrize("name", SYMMETRIC)
def test_keys_of_a_machine_are_those_of_brute_force(name: str) -> None:
    """On states of random walks: the orbits by key are the orbits by renaming whole states."""
    described = MACHINES[name]
    machine = right_machine(described)
    explored = system(machine)
    key, rename = OrbitKey(machine, explored.components()), renamer(type(machine.initial[0]))
    orbits: dict[Any, Any] = {}
    for state in random_states(explored, seed=1, walks=20, steps=40):
        orbit = frozenset(rename(state, renaming) for renaming in renamings(machine))
        assert {key(one) for one in orbit} == {key(state)}
        assert orbits.setdefault(key(state), orbit) == orbit


@pytest.mark.parametrize("preset", ["truncate_to_high_watermark", "kip_320"])
def test_search_under_symmetry_visits_each_orbit_once(preset: str) -> None:
    """With all observers, beyond violations too: exactly one state for each orbit of the states that a naive search reaches."""
    described = MACHINES["replication"]
    machine = described.build(described.presets[preset], described.module.Config(), replication.Bounds(2, 2, 2, 2))
    properties = [prop for prop in described.properties if prop.kind in ("invariant", "step")]
    explored = system(machine, properties)
    assert len(explored.observers) == 2
    reached = dict.fromkeys(explored.initial)
    waiting = list(reached)
    for state in waiting:
        for after in [take(state) for take in explored.takes]:
            if after is not None and after not in reached:
                reached[after] = None
                waiting.append(after)
    key = OrbitKey(machine, explored.components())
    found = explore(machine, properties, Options(symmetry=True, keep_going=True))
    assert found.states == len({key(state) for state in reached})


@given(st.lists(st.lists(st.builds(Record, st.integers(0, 2), st.integers(0, 1)), max_size=3).map(tuple), max_size=4), st.data())
def test_abstract_log_does_not_depend_on_who_holds_what(views: list[tuple[Record, ...]], data: st.DataObject) -> None:
    """The brokers' views may come in any order, contradicting ones too."""
    assert continued(views[0] if views else (), views) == continued(views[0] if views else (), data.draw(st.permutations(views)))


# -- machines that treat identities alike, and some that lie --


@pytest.mark.parametrize(("name", "preset"), [(name, preset) for name in SYMMETRIC for preset in MACHINES[name].presets])
def test_machine_treats_its_identities_alike(name: str, preset: str) -> None:
    """π(step(s)) = step_π(π(s)) for every action and observer, and every promise answers the same about renamed states."""
    described = MACHINES[name]
    machine = described.build(described.presets[preset], described.module.Config(), with_several(described.small))
    assert asymmetry(machine, described.properties, walks=6) is None


def with_several(small: Any) -> Any:
    """Return bounds with three replicas where there are replicas, and the small scope of other machines."""
    return evolve(small, replicas=3) if hasattr(small, "replicas") else small


def test_honest_toy_passes() -> None:
    """Toggling, holding and dropping lamps are alike for all lamps."""
    assert asymmetry(room(toggle, hold, drop), (two_lit_at_most,)) is None


def test_action_that_takes_the_first_is_caught() -> None:
    """No type shows it, and symmetry reduction would miss states without a word."""
    found = asymmetry(room(toggle, hold_first_unlit), ())
    assert found is not None
    assert "hold_first_unlit" in found
    assert "do not do the same" in found


def test_action_that_is_offered_for_some_only_is_caught() -> None:
    """Choices that leave out one identity have no counterpart."""
    first_only = evolve(toggle, domains={"lamp": lambda _: (0,)})
    assert "its choices do not range over all identities" in str(asymmetry(room(first_only), ()))


@invariant(sources=())
def holds_first(state: Lamps) -> Witness | None:
    """Only the first lamp is ever held."""
    return witness() if state.held > 0 else None


@step_property(sources=())
def toggles_in_order(_before: Lamps, step: Step, _after: Lamps) -> Witness | None:
    """The first lamp is not toggled."""
    return witness() if step.choices == {"lamp": 0} else None


@reachable(sources=(), scope={})
def first_is_lit(state: Lamps) -> bool:
    """The first lamp is lit."""
    return state.lit[0]


@invariant(sources=(), lamp=lambda bounds: tuple(lamps(bounds))[:1])
def some_is_out(state: Lamps, *, lamp: Lamp) -> Witness | None:
    """The lamps that it ranges over are never lit."""
    return witness() if state.lit[lamp] else None


@pytest.mark.parametrize("prop", [first_is_out, holds_first, toggles_in_order, first_is_lit, some_is_out], ids=lambda prop: prop.name)
def test_promise_that_tells_identities_apart_is_caught(prop: Any) -> None:
    """Its verdict would depend on which state of an orbit is met first."""
    assert str(asymmetry(room(toggle, hold), (prop,))).startswith(prop.name)


def test_observer_that_tells_identities_apart_is_caught() -> None:
    """Its memory would depend on which state of an orbit is met first."""
    observer = Observer("first", memory=bool, initial=lambda _: False, observe=lambda _m, _b, _s, after: after.lit[0])
    prop = invariant(sources=(), observers=(observer,))(lambda state, first: witness(state=state) if first is None else None)
    assert "do not do the same" in str(asymmetry(room(toggle), (prop,)))


def test_observer_that_begins_otherwise_is_caught() -> None:
    """The memory at the start is renamed with the state as well."""
    observer = Observer("first", memory=Lamp, initial=lambda _: 0, observe=lambda memory, *_: memory)
    prop = invariant(sources=(), observers=(observer,))(lambda state, first: witness(state=state) if first is None else None)
    assert "observer first begins otherwise" in str(asymmetry(room(toggle), (prop,)))


def test_choice_without_a_type_is_refused() -> None:
    """Without a type one cannot know whether a choice is an identity."""

    def untyped(state: Lamps, *, lamp) -> Lamps:  # type: ignore[no-untyped-def]  # noqa: ANN001
        return toggle.function(state, lamp=lamp)

    with pytest.raises(NotSymmetricError, match=r"typing\.Any"):
        asymmetry(room(evolve(toggle, function=untyped)), ())


def test_random_states_are_the_same_for_the_same_seed() -> None:
    """A failure can be repeated."""
    explored = system(room(toggle, hold, drop))
    assert random_states(explored, seed=3, walks=3, steps=9) == random_states(explored, seed=3, walks=3, steps=9)
    assert random_states(explored, seed=3, walks=3, steps=9) != random_states(explored, seed=4, walks=3, steps=9)
