# SPDX-License-Identifier: Apache-2.0
"""Instrumented copies of functions do what the originals do, and note what they saw."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from hwmark.checker.recording import MAX_DEPTH, record, source_of


def seen(function: Any, *args: Any, **keywords: Any) -> list[tuple[str, Any]]:
    """Return the source text and the value of everything that was seen."""
    frame = record(function, *args, **keywords)
    assert frame is not None
    return [(ast.unparse(entry.node), entry.value) for entry in frame.entries]


def guard(state: list[int], *, index: int, limit: int = 3) -> list[int] | None:
    """Refuse large entries."""
    value = state[index]
    if value > limit or limit < 0:
        return None
    return [*state, value]


def test_values_are_seen_in_the_order_of_evaluation() -> None:
    """Parts come before the whole, what is not evaluated is not seen, and the return comes last."""
    assert seen(guard, [1, 5], index=1) == [
        ("index", 1),
        ("state[index]", 5),
        ("value", 5),
        ("limit", 3),
        ("value > limit", True),
        ("value > limit or limit < 0", True),
        ("return None", None),
    ]


@pytest.mark.parametrize("index", [0, 1])
def test_the_copy_returns_what_the_original_does(index: int) -> None:
    """The last thing seen is what the original returns."""
    assert seen(guard, [1, 5], index=index)[-1][1] == guard([1, 5], index=index)


def loops(numbers: tuple[int, ...]) -> int | None:
    """Return the first even number."""
    for number in numbers:
        if number % 2:
            continue
        match number:
            case 0:
                return None
            case _:
                return half(number) * 2
    return None


def half(number: int) -> int:
    """Return half a number, found from below."""
    return next(one for one in range(number) if one * 2 == number)


def test_loops_matches_and_helpers() -> None:
    """Values in loops are seen each time, and a helper's frame hangs on the call."""
    assert seen(loops, (1, 3)) == [
        ("number", 1),
        ("number % 2", 1),
        ("number", 3),
        ("number % 2", 1),
        ("return None", None),
    ]
    frame = record(loops, (1, 4))
    assert frame is not None
    (call,) = [entry for entry in frame.entries if isinstance(entry.node, ast.Call)]
    assert call.value == 2
    assert call.call is not None
    assert ast.unparse(call.call.entries[-1].node).startswith("return next(")
    assert frame.entries[-1].value == 4
    assert seen(loops, (0,))[-1] == ("return None", None)


def countdown(number: int) -> int:
    """Count down by calling itself."""
    if number == 0:
        return 0
    return countdown(number - 1)


def test_calls_are_followed_a_few_levels_only() -> None:
    """Deep recursion is computed, and not recorded all the way."""
    frame, depth = record(countdown, 50), 0
    while frame is not None:
        assert frame.entries[-1].value == 0
        calls = [entry.call for entry in frame.entries if isinstance(entry.node, ast.Call)]
        frame, depth = (calls[0] if calls else None), depth + 1
    assert depth == MAX_DEPTH + 1


def test_free_names_and_functions_inside() -> None:
    """A function that uses names of the function around it, and defines another inside, is recorded; the inner one is not."""
    around = 7

    def outer(number: int) -> int:
        def inner(one: int) -> int:
            return one + around

        return inner(number)

    assert seen(outer, 1) == [("number", 1), ("inner(number)", 8), ("return inner(number)", 8)]


def test_what_has_no_source_is_not_recorded() -> None:
    """Builtins, lambdas and made-up code have nothing to look into."""
    made_up: dict[str, Any] = {}
    exec("def made_up(state): return None", made_up)  # noqa: S102 - a function without a file
    for function in (len, lambda state: None, made_up["made_up"]):  # noqa: ARG005 - a lambda of the shape of an action
        assert source_of(function) is None
        assert record(function, ()) is None
