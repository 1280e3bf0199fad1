# SPDX-License-Identifier: Apache-2.0
"""Codes stand for exactly one value each, down to the types inside it; and equal values in which sets are turned are found out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from enum import Enum, Flag, IntEnum
from typing import Any, NamedTuple

import pytest
from attrs import define, field, frozen
from hypothesis import assume, given
from hypothesis import strategies as st

from hwmark.checker.tables.components import Kind
from hwmark.checker.tables.values import (
    LeakedError,
    Map,
    NotLearnableError,
    TurnedSet,
    Values,
    class_of,
    compared_fields,
    is_simple,
    turned,
    turns,
    typed,
)
from hwmark.checker.tables.views import View
from hwmark.model.machine import frozen_mapping


class Color(Enum):
    """An enum."""

    RED = 1
    BLUE = 2


class Number(IntEnum):
    """An enum whose members equal numbers."""

    NONE = 0
    ONE = 1


class Marks(Flag):
    """An enum whose members can be combined."""

    A = 1
    B = 2


@frozen
class Pair:
    """A record."""

    left: Any = 0
    right: Any = 0


@frozen
class Twin:
    """Another record with the same fields."""

    left: Any = 0
    right: Any = 0


def _plainly(value: Any) -> Any:
    """Return what a value is made of, written out without regard to equality: the plainest encoding there is."""
    if isinstance(value, frozenset):
        return ("frozenset", sorted(map(repr, map(_plainly, value))))
    if isinstance(value, tuple):
        return ("tuple", [_plainly(one) for one in value])
    if isinstance(value, Pair | Twin):
        return (type(value).__name__, _plainly(value.left), _plainly(value.right))
    if isinstance(value, Mapping):
        return ("mapping", [(_plainly(key), _plainly(one)) for key, one in value.items()])
    return (type(value).__name__, repr(value))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from((0.0, -0.0, 1.0, 2.5, float("inf"))),
    st.sampled_from(("", "0", "1", "a")),
    st.sampled_from((b"", b"0", b"a")),
    st.sampled_from((*Color, *Number, Marks(0), *Marks, Marks.A | Marks.B)),
    st.sampled_from((range(0), range(3), range(0, 3, 1), range(0, 4, 2), range(0, 3, 2))),
    st.sampled_from((int, bool, Pair)),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Twin, inner, inner),
    ),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_keys_are_equal_for_the_same_values_only(one: Any, other: Any) -> None:
    """Types count as contents do, at any depth."""
    assert (typed(one) == typed(other)) is (_plainly(one) == _plainly(other))
    if typed(one) == typed(other):
        assert hash(typed(one)) == hash(typed(other))


@given(VALUES)
def test_keys_are_those_of_equal_copies(value: Any) -> None:
    """A value that is made anew has the same key; one in which a scalar is another has another."""
    assert typed(turned(value, 1)) == typed(value)
    assert typed((value,)) != typed(value)
    assert typed(frozenset((value,))) != typed((value,))


ALIKE = ((0, False), (1, True), (0, 0.0), (0.0, -0.0), (1, Number.ONE), (range(3), range(0, 3, 1)), (range(0, 3, 2), range(0, 4, 2)))
"""Values that are equal: those of the first so many pairs are not the same."""
WRAPPED = (lambda one: one, lambda one: (one,), lambda one: frozenset((one,)), lambda one: Pair(0, one), lambda one: (Pair((one,)),))


@pytest.mark.parametrize("wrap", range(len(WRAPPED)))
@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_equal_values_of_different_types_are_refused(one: Any, other: Any, wrap: int) -> None:
    """In components, where the reference engine takes them for one; elsewhere they have a code each."""
    one, other = WRAPPED[wrap](one), WRAPPED[wrap](other)
    assert one == other
    strict, loose = Values("strict", strict=True), Values("loose")
    assert (strict.code(one), loose.code(one)) == (0, 0)
    if typed(one) == typed(other):
        assert (strict.code(other), loose.code(other)) == (0, 0)
    else:
        with pytest.raises(NotLearnableError, match="equal values of different types"):
            strict.code(other)
        assert loose.code(other) == 1
    assert loose.code(one) == 0


@given(st.lists(VALUES, max_size=12))
def test_codes_number_values_as_they_are_met(values: list[Any]) -> None:
    """Each has the same code ever after, which leads to the same value."""
    known = Values("known")
    codes = [known.code(value) for value in values]
    firsts = list(dict.fromkeys(codes))
    assert firsts == list(range(len(firsts)))
    assert [known.code(value) for value in values] == codes
    assert [_plainly(known.values[code]) for code in codes] == [_plainly(value) for value in values]


@given(st.lists(VALUES, min_size=2, max_size=8, unique_by=lambda value: repr(_plainly(value))), st.integers(0, 6))
def test_more_values_than_allowed_are_refused(values: list[Any], most: int) -> None:
    """And those that were met before still have their codes."""
    assume(most < len(values) - 1)
    known = Values("known", most=most)
    for value in values[: most + 1]:
        known.code(value)
    with pytest.raises(NotLearnableError, match="more than"):
        known.code(values[most + 1])
    assert [known.code(value) for value in values[: most + 1]] == list(range(most + 1))


# -- what is no value --


class Plain:
    """No attrs class."""


class Text(str):
    """More than text."""

    __slots__ = ()


class Point(NamedTuple):
    """More than a tuple."""

    x: int


class AView(View):
    """A view."""


@define
class Mutable:
    """A record that can change."""

    x: int = 0


@frozen
class Silent:
    """A record of which one field does not count."""

    x: int = 0
    y: int = field(default=0, eq=False)


@frozen
class Keyed:
    """A record of which one field counts in its own way."""

    x: int = field(default=0, eq=abs)


@frozen(eq=False)
class Modulo:
    """A record that compares in its own way."""

    x: int = 0

    def __eq__(self, other: object) -> bool:
        """Whether it is as far from a multiple of three."""
        return isinstance(other, Modulo) and self.x % 3 == other.x % 3

    def __hash__(self) -> int:
        """Return the remainder."""
        return self.x % 3


@frozen(eq=False)
class Inheriting(Pair):
    """A record that compares as another does, which has fewer fields."""

    more: int = 0


STRANGE = (
    [1],
    {1: 2},
    {1},
    bytearray(b"a"),
    Plain(),
    Text("a"),
    Point(1),
    float("nan"),
    len,
    Mutable(),
    Silent(),
    Keyed(),
    Modulo(),
    Inheriting(),
)


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_what_is_not_frozen_through_and_through_is_refused(value: Any) -> None:
    """At any depth: lists, subclasses that may do more, numbers that equal nothing, records that compare otherwise."""
    for wrapped in (value, (value,), Pair(0, value)):
        with pytest.raises(NotLearnableError):
            typed(wrapped)


def test_views_are_no_values() -> None:
    """A view that gets into a value would hide what is read of it."""
    for leaked in (AView(), (AView(),), Pair(0, (AView(),))):
        with pytest.raises(LeakedError):
            typed(leaked)


def test_mappings_count_as_they_are_written() -> None:
    """The choices of steps: with their order, by which they are shown."""
    assert typed(frozen_mapping({"a": 1, "b": 2})) == typed(frozen_mapping({"a": 1, "b": 2}))
    assert typed(frozen_mapping({"a": 1, "b": 2})) != typed(frozen_mapping({"b": 2, "a": 1}))
    assert typed(frozen_mapping({"a": 1})) != typed(frozen_mapping({"a": True}))


@frozen(kw_only=True)
class Named:
    """A record whose fields are named where it is made."""

    members: frozenset[int]


@frozen
class Tripled:
    """A record whose field is not what it was made of."""

    x: int = field(converter=lambda x: 3 * x, default=0)


@frozen
class Checked:
    """A record that is checked as it is made."""

    x: int = 0

    def __attrs_post_init__(self) -> None:
        """Do nothing."""


@frozen(init=False)
class Unmade(Pair):
    """A record that is made as another is, which has fewer fields."""

    more: int = 0


def test_simple_records_are_their_fields() -> None:
    """All that attrs wrote counts only if it was written for this class."""
    assert [is_simple(cls) for cls in (Pair, Twin, Named, Tripled, Checked, Unmade)] == [True, True, False, False, False, False]
    assert compared_fields(Pair) == ("left", "right")
    assert compared_fields(int) is None


# -- sets in other orders --

SETS = st.recursive(
    st.integers(-9, 9),
    lambda inner: st.one_of(st.frozensets(inner, max_size=4), st.lists(inner, max_size=3).map(tuple), st.builds(Pair, inner, inner)),
    max_leaves=8,
)


def _orders(value: Any) -> Any:
    """Return a value with the order of each set written down."""
    if isinstance(value, tuple):
        return tuple(map(_orders, value))
    if isinstance(value, frozenset):
        return ("set", *map(_orders, value))
    return (_orders(value.left), _orders(value.right)) if isinstance(value, Pair) else value


@given(SETS, st.integers(1, 20))
def test_turned_values_are_equal_and_ordered_otherwise(value: Any, turn: int) -> None:
    """Whatever is inside; where there is no set with several members nothing is another."""
    other = turned(value, turn)
    assert other == value
    assert hash(other) == hash(value)
    assert typed(other) == typed(value)
    assert class_of(other) is type(value)
    if turns(value) == 0:
        assert _orders(other) == _orders(value)
    elif turn == 1:
        assert _orders(other) != _orders(value)


@pytest.mark.parametrize("members", range(7))
def test_turns_try_whatever_can_matter_in_an_order(members: int) -> None:
    """Up to three members all orders; beyond, each member at each place, and each before and behind each other."""
    value = frozenset(range(members))
    orders = {tuple(turned(value, turn)) for turn in range(turns(value) + 1)}
    assert all(sorted(order) == list(range(members)) for order in orders)
    if members < 4:
        assert orders == set(itertools.permutations(range(members)))
    assert {(place, one) for order in orders for place, one in enumerate(order)} == set(itertools.product(range(members), repeat=2))
    assert {pair for order in orders for pair in itertools.combinations(order, 2)} == set(itertools.permutations(range(members), 2))


def test_records_that_are_made_otherwise_are_turned_too() -> None:
    """Unless they make something else of what they are made of."""
    named = Named(members=frozenset((0, 8)))
    assert turned(named, 1) == named
    assert list(turned(named, 1).members) == list(named.members)[::-1]
    with pytest.raises(NotLearnableError, match="makes other values"):
        turned(Tripled(1), 1)


@given(st.frozensets(st.integers(0, 9), min_size=2, max_size=4), st.frozensets(st.integers(0, 9), max_size=4), st.integers(1, 7))
def test_sets_that_are_made_of_turned_ones_are_turned(one: frozenset[int], other: frozenset[int], turn: int) -> None:
    """Whatever they are made by they are right, and what they share with the turned one is in its order."""
    first = turned(one, turn)
    made = {
        "and": (first & other, one & other),
        "or": (first | other, one | other),
        "sub": (first - other, one - other),
        "xor": (first ^ other, one ^ other),
        "rand": (other & first, other & one),
        "ror": (other | first, other | one),
        "rsub": (other - first, other - one),
        "rxor": (other ^ first, other ^ one),
        "union": (first.union(other, (3,)), one.union(other, (3,))),
        "intersection": (first.intersection(other), one.intersection(other)),
        "difference": (first.difference(other), one.difference(other)),
        "symmetric_difference": (first.symmetric_difference(other), one.symmetric_difference(other)),
        "copy": (first.copy(), one),
    }
    for name, (found, expected) in made.items():
        assert found == expected, name
        assert type(found) is TurnedSet, name
        assert [member for member in found if member in one] == [member for member in first if member in found], name
    assert (first <= other, first == other, first.isdisjoint(other)) == (one <= other, one == other, one.isdisjoint(other))
    with pytest.raises(TypeError):
        first | [3]  # type: ignore[operator]


def test_kinds_keep_their_turned_values() -> None:
    """By code, also as more values are met."""
    kind = Kind.of("it", frozenset[int], 99)
    for value in (frozenset((1, 2)), frozenset((3,)), frozenset((1, 2, 3))):
        kind.code(value)
    assert [kind.turns(code) for code in range(3)] == [1, 0, 5]
    assert [list(value) for value in kind.turned_values(1)] == [[2, 1], [3], [2, 3, 1]]
    kind.code(frozenset((4, 5)))
    assert [list(value) for value in kind.turned_values(1)] == [[2, 1], [3], [2, 3, 1], [5, 4]]
    assert kind.turned_values(0) is kind.values.values


# -- maps --


def test_maps_are_asked_once_for_each_value() -> None:
    """What they answer is noted, and heard of, once."""
    asked, heard = [], []
    source, target = Values("source", values=["a", "bb", "cc"]), Values("target")

    def length(value: str) -> int:
        asked.append(value)
        return len(value)

    one = Map(0, source, target, length, changed=lambda code, found: heard.append((code, found)))
    assert [one.known(code) for code in range(5)] == [-1] * 5
    assert [one.apply(code) for code in (1, 2, 1, 0, 2)] == [0, 0, 0, 1, 0]
    assert (asked, heard) == (["bb", "cc", "a"], [(1, 0), (2, 0), (0, 1)])
    source.values.append("d")
    assert (one.known(3), one.apply(3), one.known(3)) == (-1, 1, 1)
