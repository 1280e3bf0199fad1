# SPDX-License-Identifier: Apache-2.0
"""What is explored: observers composed when a chosen property names them, and properties bound to all their choices."""

from __future__ import annotations

from attrs import evolve
from toys import (
    LAPS,
    LARGEST,
    Count,
    Room,
    below,
    counter,
    first_lap,
    graph,
    is_not_three,
    largest_grows,
    never_held_lit,
    room,
    toggle,
    turn,
)

from hwmark.checker.system import Observed, is_about_steps, own_state, system
from hwmark.model.machine import Step
from hwmark.spec.property import Observer, Witness, invariant, reachable, witness


def test_without_observers_states_are_the_machine_s_own() -> None:
    """Nothing is wrapped that need not be."""
    found = system(counter(turn, limit=3), (below(3),))
    assert found.initial == (Count(0),)
    assert [take(Count(2)) for take in found.takes] == [Count(0)]
    assert own_state(Count(2)) == Count(2)


def test_observers_are_composed_once_each_in_the_order_first_named() -> None:
    """Two properties that name the same observer share its memory."""
    found = system(counter(turn, limit=3), (first_lap, largest_grows, first_lap))
    assert found.observers == (LAPS, LARGEST)
    assert found.initial == (Observed(Count(0), (0, 0)),)
    assert found.takes[0](Observed(Count(2), (0, 2))) == Observed(Count(0), (1, 2))
    assert own_state(found.initial[0]) == Count(0)


def test_step_that_is_not_enabled_is_not_observed() -> None:
    """The memory stays as long as nothing happens."""
    found = system(counter(), (largest_grows,))
    assert found.takes[0](Observed(Count(5), (5,))) is None


def test_observer_sees_the_step_and_both_states() -> None:
    """Before, the step with its choices, after."""
    seen: list[object] = []
    observer = Observer(
        "seen", memory=int, initial=lambda state: state.value, observe=lambda memory, *what: seen.append(what) or memory + 1
    )
    prop = invariant(sources=(), observers=(observer,))(lambda state, seen: witness(state=state) if seen < 0 else None)
    found = system(counter(initial=(3,)), (prop,))
    assert found.takes[0](found.initial[0]) == Observed(Count(4), (4,))
    assert seen == [(Count(3), Step("one", {}), Count(4))]


def test_property_is_given_the_memories_it_asks_for() -> None:
    """By name, whatever the order in which the observers are composed."""
    asked: list[tuple[int, int]] = []

    def asks(_: Count, largest: int, laps: int) -> Witness | None:
        asked.append((largest, laps))
        return None

    prop = invariant(sources=(), observers=(LARGEST, LAPS))(asks)
    found = system(counter(turn, limit=3), (first_lap, prop))
    found.bind(prop)[0].holds(Observed(Count(0), (1, 2)))
    assert asked == [(2, 1)]


def test_presupposition_is_given_memories_too() -> None:
    """A property may presuppose what an observer remembers."""
    prop = invariant(sources=(), when=lambda _, laps: laps == 1, observers=(LAPS,))(lambda _: witness())
    (bound,) = system(counter(turn, limit=3), (prop,)).bind(prop)
    assert bound.when is not None
    assert [bound.when(Observed(Count(0), (laps,))) for laps in (0, 1)] == [False, True]


def test_property_is_bound_to_every_combination_of_choices() -> None:
    """In the order of the domains; the presupposition is asked only for the choices that it names."""
    bounds = system(room(toggle), (never_held_lit,)).bind(never_held_lit)
    assert [dict(bound.choices) for bound in bounds] == [{"lamp": 0}, {"lamp": 1}, {"lamp": 2}]
    assert len({bound.presupposes for bound in bounds}) == 1
    numbers = system(counter(), (is_not_three,)).bind(is_not_three)
    assert len({bound.presupposes for bound in numbers}) == len(numbers) == 6


def test_components_reach_into_observed_states() -> None:
    """The fields of the machine's state, then each memory with its declared type."""
    assert [get(Count(4)) for get, _ in system(counter()).components()] == [4]
    found = system(counter(), (first_lap, largest_grows)).components()
    assert [get(Observed(Count(4), (1, 9))) for get, _ in found] == [4, 1, 9]
    assert [annotation for _, annotation in found] == [int, int, int]


def test_properties_of_steps_are_known_by_kind_or_by_their_first_parameter() -> None:
    """A goal may be about states or about steps."""
    assert is_about_steps(largest_grows)
    assert not is_about_steps(first_lap)
    assert is_about_steps(reachable(sources=(), scope={})(lambda before, _step, after: before == after))
    assert not is_about_steps(reachable(sources=(), scope={})(lambda state: state is None))


def test_steps_are_those_of_the_machine_in_its_order() -> None:
    """Actions in the order of the machine, the last choice varying fastest."""
    assert [str(step) for step in system(evolve(room(toggle), bounds=Room(2))).steps] == ["toggle(lamp=0)", "toggle(lamp=1)"]
    assert [str(step) for step in system(graph({("free", 1, 0): 1})).steps] == [
        f"{name}(lane={lane})" for name in ("steady", "eager", "free") for lane in (0, 1)
    ]
