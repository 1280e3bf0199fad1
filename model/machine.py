# SPDX-License-Identifier: Apache-2.0
"""How a machine is written: actions, steps, domains, and the machine itself.

An action is a pure function ``(state, rules, config, bounds, *, choice…) -> state | None`` that asks by name
for what it needs (``state`` first, the other three only if used). ``None`` means *not enabled*. Each choice has
a declared, ordered domain, so one step of a machine is ``(action name, choices)``: a plain label that can be
written down, replayed, and pasted into Python. Nothing here explores, draws, reads a clock or does I/O.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from operator import attrgetter
from types import FunctionType, MappingProxyType
from typing import Annotated, Any, Generic, NoReturn, TypeVar, cast

from attrs import field, fields, frozen

S = TypeVar("S")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

Domain = Callable[[Any], Sequence[Any]]
"""What a choice may be: a function of the machine's ``Bounds`` to an ordered, repeatable sequence."""


# -- interchangeable identities --


@frozen
class Identity:
    """Marks an int (in ``Annotated``) as the name of something of this kind; negative values name nobody."""

    kind: str


@frozen
class IndexedBy:
    """Marks a tuple (in ``Annotated``) whose i-th entry belongs to identity i of this kind."""

    kind: str


BrokerId = Annotated[int, Identity("broker")]
PerBroker = Annotated[tuple[T, ...], IndexedBy("broker")]


# -- choices and steps --


def frozen_mapping(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy that cannot be changed, in the same order."""
    return MappingProxyType(dict(given))


def choice_label(value: object) -> object:
    """Return how a choice is written in a step: plain JSON values stay, enum members become their value."""
    return value.value if isinstance(value, Enum) else value


@frozen
class Step:
    """One step of a machine: the action's name and the choices made, in the order the action declares them."""

    action: str
    choices: Mapping[str, Any] = field(converter=frozen_mapping, hash=False)

    def __str__(self) -> str:
        """Write the step as a call, for example ``fetch(follower=1, leader=0)``."""
        return f"{self.action}({', '.join(f'{name}={choice_label(value)}' for name, value in self.choices.items())})"


# -- quantified functions --


@frozen
class Quantified:
    """A function with a declared domain for each keyword choice; actions and properties are both of this kind."""

    function: Callable[..., Any]
    domains: Mapping[str, Domain]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def promise(self) -> str:
        """The first paragraph of the docstring, on one line."""
        return " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())

    def bindings(self, bounds: object) -> Iterator[dict[str, Any]]:
        """Yield every combination of choices in the scope ``bounds``, the last choice varying fastest."""
        values = [ordered(f"{self.name}: {name}", domain(bounds)) for name, domain in self.domains.items()]
        return (dict(zip(self.domains, chosen, strict=True)) for chosen in itertools.product(*values))

    def bind(self, context: Mapping[str, object], choices: Mapping[str, object]) -> Callable[..., Any]:
        """Fix the choices, and whatever of ``rules``, ``config``, ``bounds`` the function asks for."""
        return bind(self.function, {**context, **choices})


def bind(function: Callable[..., Any], values: Mapping[str, object]) -> Callable[..., Any]:
    """Fix those parameters of a function that have a value here, and ignore the other values.

    Where it can, this is a copy of the function with the values as defaults, which is called three times as fast as a
    ``functools.partial``: guards are most of what an exploration does.
    """
    names = [name for name in parameters(function) if name in values]
    code, keywords = function.__code__, function.__kwdefaults__ or {}
    positional = code.co_varnames[: code.co_argcount]
    fixed = [name for name in positional if name in values]
    is_plain = function.__defaults__ is None and not hasattr(function, "__wrapped__")
    if not is_plain or fixed != list(positional[len(positional) - len(fixed) :]):
        return partial(function, **{name: values[name] for name in names})
    copy = FunctionType(code, function.__globals__, function.__name__, tuple(values[name] for name in fixed), function.__closure__)
    copy.__kwdefaults__ = {**keywords, **{name: values[name] for name in names if name not in fixed}}
    return copy


@cache
def parameters(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of a function's parameters, in order."""
    return tuple(inspect.signature(function).parameters)


def ordered(what: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of a domain; a set is refused, because its order may differ from one run to the next."""
    if not isinstance(values, Sequence):
        raise TypeError(f"{what} needs a domain in a fixed order, such as a range or a tuple, not a {type(values).__name__}")
    return tuple(values)


def check_choices(function: Callable[..., object], domains: Mapping[str, Domain]) -> None:
    """Refuse a declaration whose domains are not exactly the function's keyword-only parameters, in their order."""
    keywords = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if keywords != list(domains):
        raise TypeError(f"{function.__name__}: declare a domain for each keyword choice {keywords}, in this order; got {list(domains)}")


# -- actions --


@frozen
class Origin:
    """Where Kafka does this: class and method, the versions followed, and what the action simplifies."""

    source: str
    versions: str
    simplified: str


@frozen
class Action(Quantified):
    """A quantified pure function from a state to its successor, or to ``None`` where it is not enabled."""

    origin: Origin


def kafka(source: str, *, versions: str, simplified: str) -> Callable[[F], F]:
    """Name an action's origin in Kafka; the page of the abstraction gap is generated from these."""

    def mark(function: F) -> F:
        function.__dict__["origin"] = Origin(source, versions, simplified)
        return function

    return mark


def action(**domains: Domain) -> Callable[[Callable[..., Any]], Action]:
    """Declare an action with the domain of each of its choices; goes above ``@kafka``."""

    def declare(function: Callable[..., Any]) -> Action:
        check_choices(function, domains)
        origin = function.__dict__.get("origin")
        if origin is None:
            raise TypeError(f"{function.__name__}: an action names its origin with @kafka(…) below @action(…)")
        return Action(function, MappingProxyType(domains), origin)

    return declare


class ImpossibleError(Exception):
    """An action reached what its author holds to be impossible: a violation, reported with its trace."""


def impossible(why: str) -> NoReturn:
    """Say inside an action that this cannot happen; unlike ``assert`` it also works under ``python -O``."""
    raise ImpossibleError(why)


# -- machines --


@frozen
class Machine(Generic[S]):
    """A machine in one scope: its initial states, its actions, and the values that they are bound to."""

    name: str
    rules: Any
    config: Any
    bounds: Any
    initial: tuple[S, ...]
    actions: tuple[Action, ...]
    interchangeable: Mapping[str, tuple[int, ...]] = field(factory=dict)
    """For each kind of identity, those that may be renamed into one another without changing anything."""

    @property
    def context(self) -> dict[str, object]:
        """What actions and properties may ask for by name."""
        return {"rules": self.rules, "config": self.config, "bounds": self.bounds}

    def instances(self) -> Iterator[tuple[Step, Callable[[S], S | None]]]:
        """Yield each action with each combination of choices: the step, and the function that takes it."""
        for act in self.actions:
            for choices in act.bindings(self.bounds):
                yield Step(act.name, choices), act.bind(self.context, choices)


@cache
def _field_places(cls: Any) -> tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]:
    """How to read all fields of a class at once, and the place of each."""
    names = [attribute.name for attribute in fields(cls)]
    read = attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)
    return read, {name: place for place, name in enumerate(names)}


def put(state: S, **changes: object) -> S:
    """Return the state with some fields replaced; a dict replaces single entries of an indexed field.

    ``put(state, logs={1: log}, quorum=quorum)`` is the state whose ``logs[1]`` and ``quorum`` are new. What stands in for
    a state, and notes what is done with it, has a method ``__put__`` of its own for the changes.
    """
    cls: Any = type(state)
    if hasattr(cls, "__put__"):
        return cast("S", cls.__put__(state, changes))
    read, places = _field_places(cls)
    values = list(read(state))
    for name, change in changes.items():
        if name not in places:
            raise TypeError(f"{cls.__name__} has no field {name}")
        place = places[name]
        if type(change) is dict:
            entries = list(values[place])
            for index, entry in change.items():
                entries[index] = entry
            values[place] = tuple(entries)
        else:
            values[place] = change
    return cast("S", cls(*values))
