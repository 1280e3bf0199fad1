# SPDX-License-Identifier: Apache-2.0
"""The classes that annotations lead to, and which values fit them."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import pytest
from attrs import frozen, make_class
from toy_space import Gear, Mood, Point, State, Tree

from hwmark.checker.errors import InputError
from hwmark.checker.storage.annotations import fits, reachable_classes
from hwmark.model.machine import BrokerId, PerBroker

T = TypeVar("T")
Id = NewType("Id", int)


@frozen
class Box(Generic[T]):
    """A record of anything."""

    inside: T


@frozen
class Unresolved:
    """A record of a class that nobody knows."""

    inside: Missing  # type: ignore[name-defined]  # noqa: F821 - on purpose


def test_classes_are_found_wherever_they_are() -> None:
    """Records and enums are found inside containers, unions, other records, type arguments and literals."""
    assert set(reachable_classes([State]).values()) >= {State, Mood, Gear, Point, Tree}
    assert list(reachable_classes([dict[str, Box[Point]]]).values()) == [Box, Point]
    assert list(reachable_classes([Literal[Mood.CALM], Annotated[int, "mark"], Any, T]).values()) == [Mood]


def test_two_classes_of_one_name_are_refused() -> None:
    """Their values could not be told apart in a file."""
    twins = [make_class("Twin", ["x"]), make_class("Twin", ["x"])]
    for twin in twins:
        twin.__annotations__ = {"x": int}
    with pytest.raises(InputError, match=r"two classes of theirs are named .*Twin"):
        reachable_classes(twins)


def test_an_annotation_that_cannot_be_resolved_is_named() -> None:
    """The class is named, and what is missing."""
    with pytest.raises(InputError, match=r"states with a Unresolved cannot be stored: .*Missing"):
        reachable_classes([Unresolved])


@pytest.mark.parametrize(
    ("annotation", "right", "wrong"),
    [
        (int, [0, -1, True], ["0", 0.0, None]),
        (bool, [True], [1]),
        (float, [0.5, 1], ["x"]),
        (str, ["x"], [b"x"]),
        (None, [None], [0]),
        (BrokerId, [3], ["3"]),
        (Id, [3], ["3"]),
        (Mood, [Mood.CALM], ["calm", Gear.PARK]),
        (Point, [Point(1)], [Point("1"), Mood.CALM, None]),  # type: ignore[arg-type]  # on purpose
        (Box[int], [Box(1), Box("1")], [Point(1)]),
        (int | None, [None, 1], ["1"]),
        (tuple[int, ...], [(), (1, 2)], [(1, "2"), [1]]),
        (PerBroker[int], [(1, 2)], ["12"]),
        (tuple[int, str], [(1, "2")], [(1, 2), (1,)]),
        (frozenset[Point], [frozenset(), frozenset((Point(1),))], [frozenset((1,)), {Point(1)}]),
        (Literal[1, "x"], [1, "x"], [True, "y"]),
        (Any, [1, None, NotImplemented], []),
    ],
    ids=str,
)
def test_values_fit_their_annotations(annotation: Any, right: list[Any], wrong: list[Any]) -> None:
    """A value fits if it is of the annotated type through and through; what cannot be checked fits."""
    assert all(map(fits(annotation), right))
    assert not any(map(fits(annotation), wrong))
