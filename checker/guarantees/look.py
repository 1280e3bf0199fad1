# SPDX-License-Identifier: Apache-2.0
"""One look: a scope of a machine in which some promises are asked, explored, or shown to break by a run of another scope."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from attrs import frozen

from hwmark.checker.asked import Asked, described
from hwmark.checker.engine import Engine
from hwmark.checker.engines import search
from hwmark.checker.errors import InputError
from hwmark.checker.explore import Options
from hwmark.checker.judge import ask_again
from hwmark.checker.verdict import Exploration, Result, Run, Verdict
from hwmark.checker.workers import Stop


class Look(Protocol):
    """A scope of a machine, in words and in values, and the names of what is promised there."""

    @property
    def statement(self) -> str:
        """The scope in words."""
        ...

    @property
    def machine(self) -> str:
        """The name of the machine."""
        ...

    @property
    def rules(self) -> str:
        """The name of a preset."""
        ...

    @property
    def config(self) -> Any:
        """What an operator sets."""
        ...

    @property
    def bounds(self) -> Any:
        """How far to look."""
        ...

    @property
    def promises(self) -> tuple[str, ...]:
        """What is asked."""
        ...


@frozen
class Plan:
    """How to search: with which engine, on how many processes, and up to how many states of a look."""

    engine: Engine = Engine.AUTO
    workers: int = 1
    max_states: int | None = None


Key = tuple[Any, ...]


def key_of(look: Look) -> Key:
    """Return what decides the answers of a look: equal for looks of equal machines."""
    return look.machine, look.rules, look.config, look.bounds


def asked(look: Look, promises: Iterable[str], plan: Plan) -> Asked:
    """Return the check of these promises in a look."""
    return Asked(
        machine=look.machine,
        preset=look.rules,
        rules=described(look.machine).presets[look.rules],
        config=look.config,
        bounds=look.bounds,
        properties=tuple(promises),
        max_states=plan.max_states,
        engine=plan.engine,
    )


def explored(look: Look, promises: tuple[str, ...], plan: Plan, threads: int, stop: Stop) -> Exploration:
    """Explore a look."""
    check = asked(look, promises, plan)
    return search(
        check.build(), check.asked_properties(), Options(max_states=plan.max_states, stop=stop), engine=plan.engine, workers=threads
    )


def lost(look: Look, promises: tuple[str, ...], why: str) -> Exploration:
    """Return what is known of a look whose search gave no answer: nothing."""
    kinds = {prop.name: prop.kind for prop in described(look.machine).all_properties}
    results = tuple(Result(name, kinds[name], Verdict.UNDETERMINED, why=why) for name in promises)
    return Exploration(0, 0, 0, complete=False, stopped=why, seconds=0, taken={}, results=results)


def replays(look: Look, promise: str, run: Run, plan: Plan) -> Result | None:
    """Return the violation that a run of another case shows in a look, if it does."""
    check = asked(look, (promise,), plan)
    (prop,) = check.asked_properties()
    if prop.kind == "converges":  # only the whole graph tells what cannot be reached
        return None
    try:
        _, _, found = ask_again(check.build(), prop, run)
    except InputError:
        return None
    return Result(promise, prop.kind, Verdict.VIOLATED, len(run.steps), {**found.choices, **found.facts}, run)
