# SPDX-License-Identifier: Apache-2.0
"""How it is shown that a machine refines a more abstract one: each of its steps is zero, one or several steps of that one.

An observer keeps a state of the abstract machine beside the run. An explanation says for which abstract steps a step of the
machine stands, and these are taken by the abstract machine's own actions under its own rules, so that what the observer
holds is reachable there, whatever the explanation says: a wrong explanation can only cry wolf. A step is none of the
abstract machine's if an abstract step that it stands for is not enabled, or if the two states do not agree afterwards. A
property of steps says so: ``broken`` knows the first, and is told the second.

A run may do what the abstract machine knows nothing of. From there on nothing is said of it, and its memory is just why.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NoReturn

from attrs import define, field, frozen

from hwmark.model.machine import Action, Step

from .property import Observer, Witness, witness

# -- what is remembered --


@frozen(cache_hash=True)
class Followed:
    """The abstract machine has followed the run so far: its state, and what the explanation keeps beside it."""

    state: Any
    notes: Any


@frozen(cache_hash=True)
class Left:
    """The run has done what the abstract machine knows nothing of."""

    why: Enum


@frozen(cache_hash=True)
class Refused:
    """A step stands for abstract steps of which the last is not enabled: those taken, that one, and the state before it."""

    taken: tuple[str, ...]
    refused: str
    state: Any


Memory = Followed | Left | Refused

# -- one step --


class _RefusedError(Exception):
    """An abstract step is not enabled."""


class _LeftError(Exception):
    """The run does what the abstract machine knows nothing of."""


@define
class Walk:
    """The abstract machine on its way through one step of the other: where it is, and which steps it has tried."""

    state: Any
    notes: Any
    rules: Any
    bounds: Any
    steps: list[str] = field(factory=list)

    def after(self, action: Action, **choices: Any) -> Any:
        """Return the abstract state after a step, or ``None`` where it is not enabled."""
        return action.bind({"rules": self.rules, "bounds": self.bounds}, choices)(self.state)

    def take(self, action: Action, **choices: Any) -> None:
        """Take an abstract step; where it is not enabled the machine is no refinement."""
        self.steps.append(str(Step(action.name, choices)))
        after = self.after(action, **choices)
        if after is None:
            raise _RefusedError
        self.state = after

    def take_if_enabled(self, action: Action, **choices: Any) -> bool:
        """Take an abstract step where it is enabled, and return whether it was."""
        is_enabled = self.after(action, **choices) is not None
        if is_enabled:
            self.take(action, **choices)
        return is_enabled

    def leave(self, why: Enum) -> NoReturn:
        """Say that the run does what the abstract machine knows nothing of."""
        raise _LeftError(why)

    def through(self, explain: Callable[[Walk], None]) -> Memory:
        """Take the abstract steps that an explanation takes, and return what is to be remembered."""
        try:
            explain(self)
        except _LeftError as left:
            return Left(*left.args)
        except _RefusedError:
            *taken, refused = self.steps
            return Refused(tuple(taken), refused, self.state)
        return Followed(self.state, self.notes)


def follower(
    name: str,
    *,
    walk: Callable[[Any, Any], Walk],
    start: Callable[[Any], Memory],
    explain: Callable[[Walk, Any, Step, Any], None],
) -> Observer:
    """Return the observer that follows a machine with the abstract one.

    ``walk`` begins at an abstract state and what is noted beside it. ``start`` is the memory in an initial state of the machine.
    ``explain`` takes on a walk the abstract steps for which a step stands, given the states before and after it.
    """

    def observe(memory: Memory, before: Any, step: Step, after: Any) -> Memory:
        if not isinstance(memory, Followed):
            return memory
        return walk(memory.state, memory.notes).through(lambda taken: explain(taken, before, step, after))

    return Observer(name, memory=Memory, initial=start, observe=observe)


# -- what is said --


def is_followed(memories: tuple[Memory, Memory]) -> bool:
    """Whether the abstract machine has followed the run to the state before a step, and still does or ought to after it."""
    return isinstance(memories[0], Followed) and not isinstance(memories[1], Left)


def broken(memories: tuple[Memory, Memory], step: Step, differs: Callable[[Followed], Witness | None]) -> Witness | None:
    """Return why a step is none of the abstract machine's, if so; ``differs`` compares the machine with it afterwards."""
    before, after = memories
    if isinstance(after, Refused):
        return witness(step=str(step), taken=after.taken, refused=after.refused, abstract=after.state)
    if not isinstance(after, Followed) or not isinstance(before, Followed):
        return None
    found = differs(after)
    return None if found is None else witness(step=str(step), **found.facts, abstract_before=before.state, abstract=after.state)
