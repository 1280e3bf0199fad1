# SPDX-License-Identifier: Apache-2.0
"""What is explored: a machine, together with the memories of the observers that the chosen properties name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from attrs import frozen

from hwmark.model.machine import Action, Machine, Step, bind, parameters
from hwmark.spec.property import LeadsTo, Observer, Property, Reachable, StepProperty

from .symmetry import state_components

Take = Callable[[Any], Any]
N = TypeVar("N", Action, Observer, Property)

IMPOSSIBLE = "impossible"
"""The name under which it is reported that an action reached what its author holds to be impossible."""


@frozen(cache_hash=True)
class Observed:
    """A machine's state, and what each observer remembers there."""

    state: Any
    memories: tuple[Any, ...]


@frozen
class Bound:
    """A property with its choices fixed: functions of a system's state, or of before, step and after."""

    property: Property
    choices: Mapping[str, Any]
    when: Callable[..., bool] | None
    holds: Callable[..., Any]
    presupposes: tuple[Any, ...]
    """Equal for bound properties whose ``when`` is the same question, so that it need be asked only once."""


@frozen
class System:
    """Initial states, and the functions that take each step; states are the machine's own, or ``Observed``."""

    machine: Machine[Any]
    observers: tuple[Observer, ...]
    initial: tuple[Any, ...]
    steps: tuple[Step, ...]
    takes: tuple[Take, ...]

    def components(self) -> list[tuple[Callable[[Any], Any], Any]]:
        """Return a getter and the annotated type for each component of a state."""
        plain = state_components(type(self.machine.initial[0]))
        if not self.observers:
            return plain
        inside = [(partial(_inside, get), annotation) for get, annotation in plain]
        return [*inside, *((partial(_memory, index), observer.memory) for index, observer in enumerate(self.observers))]

    def bind(self, prop: Property) -> list[Bound]:
        """Return the property once for every combination of its choices in the machine's scope."""
        return [self._bind(prop, choices) for choices in prop.bindings(self.machine.bounds)]

    def _bind(self, prop: Property, choices: Mapping[str, Any]) -> Bound:
        holds = self._adapt(prop.bind(self.machine.context, choices), prop, prop.function)
        if prop.when is None:
            return Bound(prop, choices, None, holds, (None,))
        asked = {name: value for name, value in choices.items() if name in parameters(prop.when)}
        when = self._adapt(bind(prop.when, {**self.machine.context, **asked}), prop, prop.when)
        return Bound(prop, choices, when, holds, (prop.when, *asked.items()))

    def _adapt(self, function: Callable[..., Any], prop: Property, asks: Callable[..., Any]) -> Callable[..., Any]:
        if not self.observers:
            return function
        names = [observer.name for observer in self.observers]
        wanted = [(observer.name, names.index(observer.name)) for observer in prop.observers if observer.name in parameters(asks)]
        if is_about_steps(prop):
            return partial(_on_observed_step, function, wanted)
        return partial(_on_observed_state, function, wanted)


def is_about_steps(prop: Property) -> bool:
    """Whether the property is a function of a step rather than of a state."""
    return isinstance(prop, StepProperty) or (isinstance(prop, Reachable) and parameters(prop.function)[0] == "before")


def system(machine: Machine[Any], properties: Sequence[Property] = ()) -> System:
    """Compose the machine with the observers that these properties name, each once, and with no others.

    Raises ``ValueError`` where something would be left out unseen: no or unlike initial states, fairness to an
    action that does not exist, or two actions, properties or observers of one name.
    """
    if not machine.initial:
        raise ValueError(f"machine {machine.name} has no initial state")
    if len({type(state) for state in machine.initial}) > 1:
        raise ValueError(f"machine {machine.name} has initial states of several types, which one set of properties cannot be about")
    actions = {act.name for act in _by_name("action", machine.actions)}
    for prop in properties:
        unknown = sorted({*prop.weak, *prop.strong} - actions) if isinstance(prop, LeadsTo) else []
        if unknown:
            raise ValueError(f"{prop.name} is to be fair to {', '.join(unknown)}, which is no action of machine {machine.name}")
    _by_name("property", properties)
    observers = tuple(_by_name("observer", [observer for prop in properties for observer in prop.observers]))
    instances = tuple(machine.instances())
    steps = tuple(step for step, _ in instances)
    if not observers:
        return System(machine, (), machine.initial, steps, tuple(take for _, take in instances))
    initial = tuple(Observed(state, tuple(observer.initial(state) for observer in observers)) for state in machine.initial)
    takes = tuple(partial(_take_observed, take, step, observers) for step, take in instances)
    return System(machine, observers, initial, steps, takes)


def _by_name(what: str, named: Sequence[N]) -> list[N]:
    """Return each once, in the order first named."""
    known: dict[str, N] = {}
    for one in named:
        if one.name == IMPOSSIBLE or known.setdefault(one.name, one) is not one:
            raise ValueError(f"more than one {what} is named {one.name}: each needs its own name")
    return list(known.values())


def own_state(state: Any) -> Any:
    """Return the machine's own state inside a system's state."""
    return state.state if isinstance(state, Observed) else state


def _take_observed(take: Take, step: Step, observers: tuple[Observer, ...], observed: Observed) -> Observed | None:
    after = take(observed.state)
    if after is None:
        return None
    remembered = zip(observers, observed.memories, strict=True)
    return Observed(after, tuple(observer.observe(memory, observed.state, step, after) for observer, memory in remembered))


def _on_observed_state(function: Callable[..., Any], wanted: list[tuple[str, int]], observed: Observed) -> Any:
    return function(observed.state, **{name: observed.memories[index] for name, index in wanted})


def _on_observed_step(function: Callable[..., Any], wanted: list[tuple[str, int]], before: Observed, step: Step, after: Observed) -> Any:
    memories = {name: (before.memories[index], after.memories[index]) for name, index in wanted}
    return function(before.state, step, after.state, **memories)


def _inside(get: Callable[[Any], Any], observed: Observed) -> Any:
    return get(observed.state)


def _memory(index: int, observed: Observed) -> Any:
    return observed.memories[index]
