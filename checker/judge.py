# SPDX-License-Identifier: Apache-2.0
"""Properties asked again about a given run: whether it shows what it is said to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from hwmark.model.machine import ImpossibleError, Machine, Step
from hwmark.spec.property import Converges, LeadsTo, Property, Reachable, Witness

from .errors import InputError
from .explain import explain
from .replay import execute, step_key, takes_of
from .system import IMPOSSIBLE, Bound, System, is_about_steps, own_state, system
from .verdict import Run


@frozen
class Found:
    """What a property says at the end of a run: for which choices, and the witness's facts if it has any."""

    choices: Mapping[str, Any]
    facts: Mapping[str, Any]


def ask_again(machine: Machine[Any], prop: Property | None, run: Run) -> tuple[tuple[Any, ...], tuple[Step, ...], Found]:
    """Re-execute a run and ask about it again; without a property, it must end in what an action holds to be impossible.

    Returns the states, the steps that were taken, and what was found; the step into the impossible has no state after it.
    """
    if prop is not None:
        explored = system(machine, (prop,))
        states = execute(explored, run)
        return states, run.steps, judge(explored, prop, states, run)
    if not run.steps:
        raise InputError(f"{IMPOSSIBLE}: a run of no steps reaches nothing impossible")
    explored = system(machine)
    states = execute(explored, evolve(run, steps=run.steps[:-1]))
    why = _why_impossible(explored, states[-1], run.steps[-1])
    return states, run.steps[:-1], Found({}, {"step": str(run.steps[-1]), "why": why})


def _why_impossible(explored: System, state: Any, step: Step) -> str:
    """Return what an action says is impossible about taking a step; raises ``InputError`` if it says nothing."""
    try:
        after = takes_of(explored)[step_key(step)](state)
    except ImpossibleError as error:
        return str(error)
    said = explain(explored.machine, own_state(state), step) if after is None else "it is taken"
    raise InputError(f"{step}: nothing about this step is impossible: {said}")


def judge(explored: System, prop: Property, states: Sequence[Any], run: Run) -> Found:
    """Ask a property about a run again; raises ``InputError`` unless the run shows what a run to it must show.

    An invariant, or a property of steps, must be violated at the end; a goal must be met there. A trap of ``Converges``
    must end where ``when`` holds and the goal does not: that the goal cannot be reached from there is what the explorer
    decided from the whole graph, and is not asked again. A lasso of ``LeadsTo`` must close, be fair, and never meet the
    goal after ``when``.
    """
    bounds = explored.bind(prop)
    if isinstance(prop, LeadsTo):
        return _judge_lasso(explored, bounds, prop, states, run)
    if run.loop is not None:
        raise InputError(f"loop: only a run that breaks a leads_to property goes on for ever, and {prop.name} is of kind {prop.kind}")
    if is_about_steps(prop):
        at_end: tuple[Any, ...] = (states[-2], run.steps[-1], states[-1]) if run.steps else ()
    else:
        at_end = (states[-1],)
    for bound in bounds if at_end else ():
        if bound.when is not None and not bound.when(*at_end):
            continue
        answer = bound.holds(*at_end)
        if isinstance(answer, Witness):
            return Found(bound.choices, answer.facts)
        if bool(answer) != isinstance(prop, Converges):
            return Found(bound.choices, {})
    said = "is not met" if isinstance(prop, Reachable) else "is not violated"
    raise InputError(f"{prop.name} {said} at the end of this run of {len(run.steps)} steps")


def _judge_lasso(explored: System, bounds: Sequence[Bound], prop: LeadsTo, states: Sequence[Any], run: Run) -> Found:
    loop, length = run.loop, len(run.steps)
    if loop is None or not 0 <= loop <= length:
        raise InputError(f"loop: a run that breaks {prop.name} goes on for ever, from a step of 0 to {length}; got {loop}")
    if states[loop] != states[-1]:
        raise InputError(f"loop: the state after the last step is not the one before step {loop + 1}, so the run does not close")
    _check_fair(explored, prop, states[loop:], run.steps[loop:])
    for bound in bounds:
        goal = [bool(bound.holds(state)) for state in states]
        since = max((index for index, met in enumerate(goal) if met), default=-1) + 1
        if since <= loop and any(bound.when is None or bound.when(state) for state in states[since:]):
            return Found(bound.choices, {})
    raise InputError(f"{prop.name} is not violated by this run: what it leads to comes true after all, or is never asked for")


def _check_fair(explored: System, prop: LeadsTo, states: Sequence[Any], steps: Sequence[Step]) -> None:
    """Refuse a loop that never takes a step which fairness demands; a step that changes nothing does not count."""
    taken = {step_key(step) for step, before, after in zip(steps, states, states[1:], strict=False) if before != after}
    for step, take in zip(explored.steps, explored.takes, strict=True):
        if step.action not in (*prop.weak, *prop.strong) or step_key(step) in taken:
            continue
        enabled = [_changes(take, state) for state in states]
        if all(enabled):
            raise InputError(f"loop: it is not fair: {step} stays enabled in it and is never taken")
        if step.action in prop.strong and any(enabled):
            raise InputError(f"loop: it is not fair: {step} is enabled in it again and again and is never taken")


def _changes(take: Callable[[Any], Any], state: Any) -> bool:
    """Whether a step leads to another state; fairness is about such steps only."""
    try:
        after = take(state)
    except ImpossibleError:
        return False
    return after is not None and after != state
