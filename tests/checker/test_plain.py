# SPDX-License-Identifier: Apache-2.0
"""Values as plain data and as short text: always the same, whatever the order of sets in memory."""

from __future__ import annotations

import json
from enum import Enum

import pytest
from attrs import frozen

from hwmark.checker.plain import to_plain, to_text


class Colour(Enum):
    """A colour."""

    RED = "red"


@frozen
class Pair:
    """Two values."""

    one: object
    other: object = None


CASES = [
    (None, None, "None"),
    (True, True, "True"),
    (3, 3, "3"),
    ("a'b", "a'b", '"a\'b"'),
    (Colour.RED, "red", "Colour.RED"),
    ((1, (2,)), [1, [2]], "(1, (2,))"),
    ((), [], "()"),
    (range(2), [0, 1], "(0, 1)"),
    (frozenset({3, 1, 2}), [1, 2, 3], "{1, 2, 3}"),
    (frozenset({-1, 10, 9, 2}), [-1, 2, 9, 10], "{-1, 2, 9, 10}"),
    (frozenset({"b", "a"}), ["a", "b"], "{'a', 'b'}"),
    (frozenset(), [], "{}"),
    (frozenset({(2, Colour.RED), (1, Colour.RED)}), [[1, "red"], [2, "red"]], "{(1, Colour.RED), (2, Colour.RED)}"),
    (
        Pair(frozenset({2, 1}), Pair(1)),
        {"one": [1, 2], "other": {"one": 1, "other": None}},
        "Pair(one={1, 2}, other=Pair(one=1, other=None))",
    ),
]


@pytest.mark.parametrize(("value", "plain", "text"), CASES)
def test_values_have_one_form(value: object, plain: object, text: str) -> None:
    """Each value has one form as data, which is JSON, and one as text; sets are in the order of their members."""
    assert to_plain(value) == plain
    assert json.loads(json.dumps(to_plain(value))) == plain
    assert to_text(value) == text


def test_mappings_keep_their_order() -> None:
    """The facts of a witness stay in the order in which they were given; keys are texts."""
    assert list(to_plain({"b": 1, Colour.RED: (2,)}).items()) == [("b", 1), ("red", [2])]


def test_what_is_no_plain_value_is_refused() -> None:
    """A function is no data, and has no short text, also inside."""
    with pytest.raises(TypeError, match="a builtin_function_or_method cannot be written as plain data"):
        to_plain((1, print))
    assert to_text(Pair((1, print))) is None
