# SPDX-License-Identifier: Apache-2.0
"""Runs re-executed: all their states, or the step that cannot be taken."""

from __future__ import annotations

import pytest
from toy_lift import Direction, Lift, lift
from toys import counter, graph, one, stumble

from hwmark.checker.errors import InputError
from hwmark.checker.replay import replay_run
from hwmark.checker.verdict import Run
from hwmark.model.machine import Step

ONE = Step("one", {})


def test_a_run_has_one_state_more_than_steps() -> None:
    """States stand before and after each step, the initial one first, and the loop is kept."""
    replayed = replay_run(counter(initial=(7, 1)), Run((ONE, ONE), initial=1, loop=2))
    assert [state.value for state in replayed.states] == [1, 2, 3]
    assert (replayed.steps, replayed.loop, replayed.property, replayed.remarks) == ((ONE, ONE), 2, None, ())


def test_choices_are_values_not_texts() -> None:
    """A step is told from others by its values: an enum member is one, its text is none."""
    assert replay_run(lift(), Run((Step("move", {"direction": Direction.UP}),))).states[-1] == Lift(floor=1, visited=frozenset({0, 1}))
    with pytest.raises(InputError, match="no such step"):
        replay_run(lift(), Run((Step("move", {"direction": "up"}),)))


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (Run((ONE,), initial=1), "initial 1: the machine counter has 1 initial states, from 0"),
        (Run((ONE, Step("three", {}))), "step 2 of 2, three(): no such step in this machine and scope"),
        (
            Run((ONE,) * 6),
            "step 6 of 6, one(): not enabled, because `Count(state.value + 1) if state.value < bounds.limit else None` is None ",
        ),
        (Run((ONE, ONE, Step("stumble", {}))), "step 3 of 3, stumble(): ends in what its action holds to be impossible: nobody passes two"),
    ],
)
def test_a_run_that_cannot_be_taken_names_the_step(run: Run, expected: str) -> None:
    """Steps are counted from 1 in messages."""
    with pytest.raises(InputError) as error:
        replay_run(counter(one, stumble), run)
    assert str(error.value).startswith(expected)


def test_lanes_are_steps_of_their_own() -> None:
    """The same action with other choices is another step."""
    machine = graph({("free", 1, 0): 3})
    assert replay_run(machine, Run((Step("free", {"lane": 1}),))).states[-1].at == 3
    with pytest.raises(InputError, match=r"step 1 of 1, free\(lane=0\): not enabled, because `target is None`|`_move\(") as error:
        replay_run(machine, Run((Step("free", {"lane": 0}),)))
    assert "in _move" in str(error.value)
