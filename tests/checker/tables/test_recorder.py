# SPDX-License-Identifier: Apache-2.0
"""Of a step, as of a state, only what a promise looks at is recorded, in whatever way it looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve, frozen

from hwmark.checker import explore as reference
from hwmark.checker.explore import Options
from hwmark.checker.tables import engine as tables
from hwmark.checker.verdict import Verdict
from hwmark.model.machine import Machine, Step, action, kafka, put
from hwmark.spec.property import StepProperty, Witness, step_property, witness

SIZE = 3
AMOUNTS = range(1, 9)


@frozen
class Clock:
    """A number below ``SIZE``."""

    hour: int = 0


def amounts(_bounds: object) -> range:
    """Return how far the clock may be turned."""
    return AMOUNTS


@action(amount=amounts)
@kafka("nothing of Kafka", versions="none", simplified="a clock")
def turn(state: Clock, *, amount: int) -> Clock | None:
    """Turns the clock."""
    return put(state, hour=(state.hour + amount) % SIZE)


MACHINE: Machine[Clock] = Machine("clock", None, None, None, (Clock(),), (turn,))


def test_a_promise_that_does_not_look_at_the_step_is_learned_apart_from_it() -> None:
    """It is run once for each two hours, not once for each way to get from one to the other, and checked as often, with two steps each."""
    real, recorded = [], []

    @step_property(sources=())
    def in_range(before: Clock, _step: Step, after: Clock) -> Witness | None:
        """The clock stays in its range."""
        (real if type(before) is Clock else recorded).append((before.hour, after.hour))
        return None if max(before.hour, after.hour) < SIZE else witness(hour=after.hour)

    tables.explore(MACHINE, (in_range,), Options(keep_going=True))
    assert len(recorded) == SIZE**2
    assert sorted(recorded) == sorted(real[::2]) == sorted(real[1::2]) == [(one, other) for one in range(SIZE) for other in range(SIZE)]


def _matches(step: Step) -> bool:
    match step:
        case Step(action="turn", choices={"amount": 8}):
            return False
        case _:
            return True


LAST = Step("turn", {"amount": 8})
LOOKS: dict[str, Callable[[Step], bool]] = {
    "action": lambda step: step.action != "turn",
    "choice": lambda step: step.choices["amount"] < 8,
    "get": lambda step: step.choices.get("amount", 0) < 8,
    "items": lambda step: list(step.choices.items()) != [("amount", 8)],
    "str": lambda step: str(step) != "turn(amount=8)",
    "format": lambda step: f"{step}" != "turn(amount=8)",
    "repr": lambda step: "8" not in repr(step),
    "equal": lambda step: step != LAST,
    "equal, turned round": lambda step: LAST != step,  # noqa: SIM300 - that is what is tried
    "in": lambda step: step not in {LAST, Step("wait", {})},
    "class": lambda step: not isinstance(step, Step),
    "match": _matches,
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_promise_may_look_at_the_step_in_any_way(name: str) -> None:
    """The answer is that of the reference engine, with the same run and witness."""

    @step_property(sources=())
    def looked_at(_before: Clock, step: Step, _after: Clock) -> Witness | None:
        """The step is looked at."""
        return None if LOOKS[name](step) else witness(step=str(step))

    asked: tuple[StepProperty, ...] = (looked_at,)
    expected, found = (one(MACHINE, asked, Options(keep_going=True)) for one in (reference.explore, tables.explore))
    assert _said(found) == _said(expected)
    assert found.results[0].verdict is Verdict.VIOLATED


def _said(found: Any) -> Any:
    return evolve(found, seconds=0, preparation=0, engine="")
