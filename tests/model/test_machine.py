# SPDX-License-Identifier: Apache-2.0
"""How machines are written: declarations that are refused, functions bound to their choices, and steps as labels."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from hwmark.model.machine import ImpossibleError, Machine, Step, action, bind, frozen_mapping, impossible, kafka, put

origin = kafka("nothing of Kafka", versions="none", simplified="a toy")


@frozen
class Pair:
    """Two numbers, and some more by index."""

    left: int = 0
    right: int = 0
    many: tuple[int, ...] = (0, 0, 0)


@frozen
class Bounds:
    """How many numbers there are."""

    numbers: int = 2


class Colour(Enum):
    """A choice that is no number."""

    RED = "red"


def numbers(bounds: Bounds) -> range:
    """Return the numbers."""
    return range(bounds.numbers)


@action(left=numbers, right=numbers)
@origin
def choose(state: Pair, bounds: Bounds, *, left: int, right: int) -> Pair | None:
    """Chooses two numbers.

    This is not the promise.
    """
    return put(state, left=left, right=right) if left + right < bounds.numbers else None


def machine(*actions: Any, bounds: Any = None) -> Machine[Pair]:
    """Return a machine of these actions."""
    return Machine("pair", "rules", "config", bounds or Bounds(), (Pair(),), actions)


# -- steps --


def test_step_is_written_as_a_call() -> None:
    """With the choices in their order, members of enums by their value."""
    assert str(Step("fetch", {"follower": 1, "leader": 0})) == "fetch(follower=1, leader=0)"
    assert str(Step("paint", {"colour": Colour.RED})) == "paint(colour=red)"
    assert str(Step("wait", {})) == "wait()"


def test_step_cannot_be_changed_through_its_choices() -> None:
    """Neither through the mapping it holds nor through the one it was made of."""
    choices = {"leader": 0}
    step = Step("elect", choices)
    choices["leader"] = 1
    assert step == Step("elect", {"leader": 0})
    with pytest.raises(TypeError):
        step.choices["leader"] = 1  # type: ignore[index]


def test_equal_steps_have_equal_hashes() -> None:
    """Steps may be kept in sets."""
    assert len({Step("elect", {"leader": 0}), Step("elect", {"leader": 0}), Step("elect", {"leader": 1})}) == 2


def test_frozen_mapping_keeps_the_order() -> None:
    """The order of choices is that of their declaration."""
    assert list(frozen_mapping({"b": 1, "a": 2})) == ["b", "a"]


# -- declarations --


def test_action_declares_a_domain_for_each_choice() -> None:
    """None may be missing, and none may be left over."""
    with pytest.raises(TypeError, match=r"declare a domain for each keyword choice \['left', 'right'\], in this order; got \['left'\]"):
        action(left=numbers)(choose.function)
    with pytest.raises(TypeError, match="declare a domain"):
        action(left=numbers, right=numbers, up=numbers)(choose.function)


def test_domains_are_declared_in_the_order_of_the_choices() -> None:
    """The order decides how steps are written and numbered."""
    with pytest.raises(TypeError, match="in this order"):
        action(right=numbers, left=numbers)(choose.function)


def test_action_names_its_origin() -> None:
    """Without it the page of what the model leaves out would have a hole."""
    with pytest.raises(TypeError, match="names its origin"):
        action()(lambda state: state)


def test_promise_is_the_first_paragraph_of_the_docstring() -> None:
    """On one line, as reports print it."""
    assert choose.promise == "Chooses two numbers."
    assert evolve(choose, function=lambda state: state).promise == ""


@pytest.mark.parametrize("values", [{1, 2}, frozenset({1}), (number for number in (1, 2)), {1: 2}])
def test_domain_without_an_order_is_refused(values: object) -> None:
    """The numbers of steps, and with them the runs that are shown, must be the same every time."""
    with pytest.raises(TypeError, match="choose: right needs a domain in a fixed order"):
        list(evolve(choose, domains={"left": numbers, "right": lambda _: values}).bindings(Bounds()))


def test_last_choice_varies_fastest() -> None:
    """The order of instances is that of the domains."""
    assert [str(step) for step, _ in machine(choose).instances()] == [
        f"choose(left={left}, right={right})" for left, right in itertools.product(range(2), repeat=2)
    ]


def test_empty_domain_leaves_no_instances() -> None:
    """An action that has nothing to choose from cannot be taken."""
    assert list(machine(choose, bounds=Bounds(0)).instances()) == []


def test_instances_do_what_the_action_does() -> None:
    """Each with its own choices, and the scope that it asks for."""
    after = {str(step): take(Pair()) for step, take in machine(choose).instances()}
    assert after == {
        "choose(left=0, right=0)": Pair(0, 0),
        "choose(left=0, right=1)": Pair(0, 1),
        "choose(left=1, right=0)": Pair(1, 0),
        "choose(left=1, right=1)": None,
    }


# -- binding --


def with_all(state: object, rules: object, config: object, bounds: object, *, left: int) -> tuple[object, ...]:
    """Return whatever it was given."""
    return state, rules, config, bounds, left


def with_some(state: object, config: object, *, right: int) -> tuple[object, ...]:
    """Return whatever it was given."""
    return state, config, right


def out_of_order(rules: object, state: object, *, left: int) -> tuple[object, ...]:
    """Return whatever it was given, the state not first."""
    return rules, state, left


def with_default(state: object, rules: object, more: int = 7) -> tuple[object, ...]:
    """Return whatever it was given, and more."""
    return state, rules, more


def with_keyword_default(state: object, *, left: int = 3, right: int = 4) -> tuple[object, ...]:
    """Return whatever it was given."""
    return state, left, right


def about_a_step(before: object, step: object, after: object, bounds: object, *, left: int) -> tuple[object, ...]:
    """Return whatever it was given."""
    return before, step, after, bounds, left


@functools.wraps(with_some)
def wrapped(*args: Any, **kwargs: Any) -> tuple[object, ...]:
    """Stands for a decorated function, whose signature is not its own."""
    return with_some(*args, **kwargs)


VALUES = {"rules": "R", "config": "C", "bounds": "B", "left": 1, "right": 2}


@pytest.mark.parametrize(
    ("function", "call", "expected"),
    [
        (with_all, ("S",), ("S", "R", "C", "B", 1)),
        (with_some, ("S",), ("S", "C", 2)),
        (with_default, ("S",), ("S", "R", 7)),
        (with_keyword_default, ("S",), ("S", 1, 2)),
        (about_a_step, ("X", "S", "Y"), ("X", "S", "Y", "B", 1)),
        (wrapped, ("S",), ("S", "C", 2)),
        (lambda state: (state,), ("S",), ("S",)),
    ],
)
def test_bind_fixes_what_the_function_asks_for(function: Callable[..., Any], call: tuple[object, ...], expected: object) -> None:
    """By name, and ignores the rest; defaults that have no value here stay."""
    assert bind(function, VALUES)(*call) == expected


def test_bind_works_where_the_state_is_not_first() -> None:
    """Then the state has to be given by name."""
    assert bind(out_of_order, VALUES)(state="S") == ("R", "S", 1)


def test_bind_keeps_what_a_function_remembers() -> None:
    """Closures and the function itself stay as they are."""
    offset = 10

    def add(state: int, *, left: int) -> int:
        return state + left + offset

    assert bind(add, {"left": 1})(2) == 13
    assert bind(add, {"left": 5})(2) == 17
    with pytest.raises(TypeError):
        add(2)  # type: ignore[call-arg]


# -- states --


@given(st.integers(), st.integers(), st.lists(st.integers(), min_size=3, max_size=3).map(tuple))
def test_put_replaces_only_what_it_is_given(left: int, right: int, many: tuple[int, ...]) -> None:
    """Whole fields, or single entries of an indexed one; the state itself stays as it was."""
    state = Pair(left, right, many)
    assert put(state, left=5) == Pair(5, right, many)
    assert put(state, many={1: 5}) == Pair(left, right, (many[0], 5, many[2]))
    assert put(state, many={0: 5, 2: 6}, right=7) == Pair(left, 7, (5, many[1], 6))
    assert put(state, many=(1,)) == Pair(left, right, (1,))
    assert put(state) == state == Pair(left, right, many)


def test_put_refuses_a_field_that_does_not_exist() -> None:
    """A typing mistake must not vanish."""
    with pytest.raises(TypeError, match="Pair has no field middle"):
        put(Pair(), middle=1)


def test_put_refuses_an_entry_that_does_not_exist() -> None:
    """An index beyond the end is a mistake, not a longer tuple."""
    with pytest.raises(IndexError):
        put(Pair(), many={3: 1})


def test_impossible_says_why() -> None:
    """It raises, also where asserts are switched off."""
    with pytest.raises(ImpossibleError, match="nobody comes here"):
        impossible("nobody comes here")
