# SPDX-License-Identifier: Apache-2.0
"""Properties asked again about runs: what the explorer finds is confirmed, anything else is refused."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from toys import KNOWN, STAYING, arrives, below, counter, first_lap, graph, stumble, turn

from hwmark.checker.errors import InputError
from hwmark.checker.explore import Options, explore
from hwmark.checker.judge import ask_again
from hwmark.checker.verdict import Result, Run
from hwmark.model.machine import Machine, Step
from hwmark.spec.property import Property

ONE, TURN = Step("one", {}), Step("turn", {})


def found_runs() -> list[tuple[str, Machine[Any], Property | None, Result]]:
    """Return every run that answers one of the toy questions."""
    return [
        (f"{known.name}: {result.name}", known.machine, {prop.name: prop for prop in known.properties}.get(result.name), result)
        for known in KNOWN
        for result in explore(known.machine, known.properties, Options(**known.options)).results
        if result.run is not None
    ]


FOUND = found_runs()


def free(*lanes: int) -> tuple[Step, ...]:
    """Return free moves in these lanes."""
    return tuple(Step("free", {"lane": lane}) for lane in lanes)


def test_there_are_runs_of_every_kind() -> None:
    """The toys have violated and met properties of each kind, lassos, and the impossible: nothing below is vacuous."""
    assert {result.kind for _, _, _, result in FOUND} == {"invariant", "step", "reachable", "converges", "leads_to"}
    assert any(prop is None for _, _, prop, _ in FOUND)
    assert any(result.run and result.run.loop is not None and result.run.loop < len(result.run.steps) for _, _, _, result in FOUND)


@pytest.mark.parametrize(("machine", "prop", "result"), [run[1:] for run in FOUND], ids=[run[0] for run in FOUND])
def test_what_the_explorer_found_is_confirmed(machine: Machine[Any], prop: Property | None, result: Result) -> None:
    """Each run of each toy shows what it was found for, with the same witness."""
    assert result.run is not None
    states, steps, found = ask_again(machine, prop, result.run)
    assert len(states) == len(steps) + 1
    assert (result.witness or {}).items() <= {**found.choices, **found.facts}.items()


@pytest.mark.parametrize(
    ("machine", "prop", "run", "expected"),
    [
        (counter(), below(3), Run((ONE, ONE)), "below_3 is not violated at the end of this run of 2 steps"),
        (counter(), below(0, when=lambda state: state.value > 1), Run((ONE,)), "below_0 is not violated at the end of this run of 1 steps"),
        (counter(turn, limit=3), first_lap, Run((TURN, TURN)), "first_lap is not violated at the end of this run of 2 steps"),
        (counter(stumble), None, Run(()), "impossible: a run of no steps reaches nothing impossible"),
        (counter(stumble), None, Run((Step("stumble", {}),)), "stumble(): nothing about this step is impossible: it is taken"),
        (
            graph({("free", 0, 0): 1, ("free", 0, 1): 0}),
            arrives(2),
            Run(free(0), loop=0),
            "loop: the state after the last step is not the one before step 1, so the run does not close",
        ),
        (graph({}), arrives(1), Run((), loop=1), "loop: a run that breaks arrives_at_last goes on for ever, from a step of 0 to 0; got 1"),
        (
            graph({("free", 0, 0): 1, ("free", 0, 1): 0}),
            arrives(1),
            Run(free(0, 0), loop=0),
            "arrives_at_last is not violated by this run: what it leads to comes true after all, or is never asked for",
        ),
        (
            graph({("free", 0, 0): 1}),
            arrives(2, start=(5,)),
            Run(free(0), loop=1),
            "arrives_at_last is not violated by this run: what it leads to comes true after all, or is never asked for",
        ),
        (
            graph({("steady", 0, 0): 1}),
            arrives(1),
            Run((), loop=0),
            "loop: it is not fair: steady(lane=0) stays enabled in it and is never taken",
        ),
        (
            graph({("free", 0, 0): 1, ("free", 0, 1): 0, ("eager", 0, 0): 2}),
            arrives(2),
            Run(free(0, 0), loop=0),
            "loop: it is not fair: eager(lane=0) is enabled in it again and again and is never taken",
        ),
    ],
)
def test_what_a_run_does_not_show_is_refused(machine: Machine[Any], prop: Property | None, run: Run, expected: str) -> None:
    """Too short a run, a loop that does not close or is not fair, a goal that comes true: each has its line."""
    with pytest.raises(InputError) as error:
        ask_again(machine, prop, run)
    assert str(error.value) == expected


def test_the_last_state_decides_not_one_before() -> None:
    """A run that goes on after its violation, to where the property holds again, is refused."""
    run = Run((TURN, TURN))
    assert ask_again(counter(turn, limit=3), below(2), run)[2].facts == {"value": 2}
    with pytest.raises(InputError, match="below_2 is not violated"):
        ask_again(counter(turn, limit=3), below(2), evolve(run, steps=(TURN,) * 3))


def test_a_weakly_fair_step_that_is_now_and_then_disabled_may_be_left() -> None:
    """Weak fairness demands only what stays enabled all round the loop; a step that changes nothing is never demanded."""
    machine = graph({("free", 0, 0): 1, ("free", 0, 1): 0, ("steady", 0, 0): 2, ("eager", 0, 1): 1})
    assert ask_again(machine, arrives(2), Run(free(0, 0), loop=0))[2].choices == {}


def test_a_demanded_step_that_changes_nothing_in_the_loop_is_not_taken() -> None:
    """A fair step that stays where it is at one place of the loop, and is left at another where it leads on, makes no loop fair."""
    run = Run((Step("eager", {"lane": 0}), Step("steady", {"lane": 0}), *free(0)), loop=0)
    with pytest.raises(InputError, match=r"eager\(lane=0\) is enabled in it again and again and is never taken"):
        ask_again(graph(STAYING), arrives(2), run)
