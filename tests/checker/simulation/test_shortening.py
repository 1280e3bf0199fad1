# SPDX-License-Identifier: Apache-2.0
"""Failing walks made short: still failing, of real steps, and about as short as the shortest there are."""

from __future__ import annotations

from typing import Any

import pytest
from toys import below, counter, goes_from_three, never_back, one, room, stumble, toggle, toy, turn, two, two_lit_at_most

from hwmark.checker.judge import ask_again
from hwmark.checker.simulation.shortening import shortened, shortest
from hwmark.checker.system import system
from hwmark.checker.verdict import Run
from hwmark.model.machine import Machine, Step, action
from hwmark.spec.property import Property


def never() -> str | None:
    """Do not stop."""
    return None


def short(machine: Machine[Any], prop: Property | None, *steps: Step) -> list[str]:
    """Return the steps that are left of a run."""
    run = shortened(system(machine, () if prop is None else (prop,)), prop, Run(steps), never)
    ask_again(machine, prop, run)
    return [str(step) for step in run.steps]


ONE, TWO, TURN, STUMBLE = (Step(name, {}) for name in ("one", "two", "turn", "stumble"))


def test_steps_that_are_not_needed_are_left_out() -> None:
    """Lamps that are lit and put out again have nothing to do with three that are lit."""
    toggles = [Step("toggle", {"lamp": lamp}) for lamp in (3, 0, 3, 1, 3, 0, 0, 2)]
    assert short(room(toggle, count=4), two_lit_at_most, *toggles) == ["toggle(lamp=0)", "toggle(lamp=3)", "toggle(lamp=1)"]


def test_a_shorter_way_with_the_same_steps_is_found() -> None:
    """No step can be left out of 1 + 1 + 2 + 2, but 2 + 2 + 2 is shorter."""
    assert short(counter(one, two, limit=9), below(6), ONE, ONE, TWO, TWO) == ["two()", "two()", "two()"]


def test_steps_get_other_choices_where_one_before_them_goes() -> None:
    """Tickets are numbered: without the first one, which nobody needs, the second one has its number."""

    @action(number=lambda _: range(9))
    @toy
    def call(state: Any, *, number: int) -> Any:
        """Calls the next number."""
        return type(state)(state.value + 1) if state.value % 10 == number else None

    @action(number=lambda _: range(9))
    @toy
    def serve(state: Any, *, number: int) -> Any:
        """Serves whoever was called last, once."""
        return type(state)(state.value + 100) if state.value < 100 and state.value % 10 == number + 1 else None

    steps = [Step("call", {"number": number}) for number in range(6)] + [Step("serve", {"number": 5})]
    assert short(counter(call, serve), below(100), *steps) == ["call(number=0)", "serve(number=0)"]


def test_a_run_to_the_impossible_is_made_short() -> None:
    """Where an action stumbles at 2, two steps lead there."""
    assert short(counter(one, stumble, turn, limit=3), None, TURN, TURN, TURN, ONE, ONE, STUMBLE) == ["one()", "one()", "stumble()"]


def test_properties_of_steps_are_asked_of_the_last_step() -> None:
    """Going once round the ring breaks the promise that no step goes back."""
    assert short(counter(turn, limit=3), never_back, *[TURN] * 3) == ["turn()"] * 3


def test_what_violates_nothing_is_refused() -> None:
    """A run that is no counterexample cannot be made a short one; nor can a goal's run be mistaken for one."""
    with pytest.raises(ValueError, match="violates nothing"):
        short(counter(one), below(5), ONE)
    assert goes_from_three.kind == "reachable"


def test_nothing_is_tried_once_stopped() -> None:
    """An interrupted search shows the walk as it was taken."""
    run = Run((ONE, ONE, TWO, TWO))
    explored = system(counter(one, two, limit=9), (below(6),))
    assert shortened(explored, below(6), run, lambda: "interrupted") == run


def test_the_best_of_several_runs_is_chosen() -> None:
    """Not the one that is shortest as it is, but the one that is shortest once steps are left out."""
    machine, prop = counter(one, turn, two, limit=9), below(3)
    explored = system(machine, (prop,))
    runs = [Run((ONE, ONE, ONE)), Run((TURN, TWO, ONE, ONE, ONE))]
    assert shortest(explored, prop, runs, never) == 1
    assert shortest(explored, prop, runs, lambda: "interrupted") == 0
