# SPDX-License-Identifier: Apache-2.0
"""A run with all its states: what pictures, explanations and exports are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from hwmark.model.machine import ImpossibleError, Machine, Step

from .errors import InputError
from .explain import explain
from .system import System, own_state, system
from .verdict import Run


@frozen
class Replayed:
    """A run re-executed: ``states[i]`` is the state before ``steps[i]``, so there is one state more than steps.

    ``loop`` is the step that a lasso goes back to (its state equals the last one); ``len(steps)``: it stops for ever.
    ``property`` is what the run violates or meets, with the witness found at its end. A run that ends in what an action
    holds to be impossible stops before that step, which has no state after it; the witness names the step. ``remarks``
    are what the reader of a trace should know about it.
    """

    machine: Machine[Any]
    states: tuple[Any, ...]
    steps: tuple[Step, ...]
    loop: int | None = None
    property: str | None = None
    witness: Mapping[str, Any] | None = None
    note: str = ""
    remarks: tuple[str, ...] = ()


def replay_run(machine: Machine[Any], run: Run) -> Replayed:
    """Take the steps of a run one after the other; raises ``InputError`` where a step is unknown or not enabled."""
    return Replayed(machine, execute(system(machine), run), run.steps, run.loop)


def execute(explored: System, run: Run) -> tuple[Any, ...]:
    """Return the states of a run, the initial one first; raises ``InputError`` where a step cannot be taken."""
    if not 0 <= run.initial < len(explored.initial):
        raise InputError(f"initial {run.initial}: the machine {explored.machine.name} has {len(explored.initial)} initial states, from 0")
    states = [explored.initial[run.initial]]
    takes = takes_of(explored)
    for number, step in enumerate(run.steps, start=1):
        where = f"step {number} of {len(run.steps)}, {step}"
        take = takes.get(step_key(step))
        if take is None:
            raise InputError(f"{where}: no such step in this machine and scope")
        try:
            after = take(states[-1])
        except ImpossibleError as error:
            raise InputError(f"{where}: ends in what its action holds to be impossible: {error}") from None
        if after is None:
            raise InputError(f"{where}: {explain(explored.machine, own_state(states[-1]), step)}")
        states.append(after)
    return tuple(states)


def takes_of(explored: System) -> dict[Any, Callable[[Any], Any]]:
    """Return the function that takes each step."""
    return {step_key(step): take for step, take in zip(explored.steps, explored.takes, strict=True)}


def step_key(step: Step) -> tuple[str, tuple[Any, ...]]:
    """Return what tells a step from all others, as a key of dicts."""
    return step.action, tuple(step.choices.items())
