# SPDX-License-Identifier: Apache-2.0
"""A run with all its states: what pictures, explanations and exports are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from hwmark.model.machine import Machine, Step

from .verdict import Run


@frozen
class Replayed:
    """A run re-executed: ``states[i]`` is the state before ``steps[i]``, so there is one state more than steps.

    ``loop`` is the step that a lasso goes back to (its state equals the last one); ``len(steps)``: it stops for ever.
    ``property`` is what the run violates or meets, with the witness found at its end.
    """

    machine: Machine[Any]
    states: tuple[Any, ...]
    steps: tuple[Step, ...]
    loop: int | None = None
    property: str | None = None
    witness: Mapping[str, Any] | None = None
    note: str = ""


def replay_run(machine: Machine[Any], run: Run) -> Replayed:
    """Take the steps of a run one after the other; raises ``ValueError`` where a step is unknown or not enabled."""
    takes = {str(step): take for step, take in machine.instances()}
    states = [machine.initial[run.initial]]
    for number, step in enumerate(run.steps):
        take = takes.get(str(step))
        after = take(states[-1]) if take is not None else None
        if after is None:
            raise ValueError(f"step {number}: {step} is {'not enabled' if take else 'no step of this machine'}")
        states.append(after)
    return Replayed(machine, tuple(states), run.steps, run.loop)
