# SPDX-License-Identifier: Apache-2.0
"""The shape of a comparison: the same questions, asked of several machines, rules or settings, and answered side by side.

A column is a machine under some rules, with what an operator sets and how far we look. A line is a question: a property of the
machine by its name, or a measure, a number that is read off every reachable state. Machines may know the question by different
names and in other bounds, or not at all; nothing here says what the answers are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import evolve, field, frozen

from hwmark.model.machine import Domain, Quantified, check_choices, frozen_mapping


@frozen
class Measure(Quantified):
    """A number that is read off every state where ``when`` holds: which of its ``values`` occur, and so the least and the most.

    ``values`` is a function of the machine's bounds, as the domains of choices are; a state with any other number is a mistake
    in the measure, and leaves it unknown.
    """

    values: Domain
    when: Callable[..., bool] | None = None


def measure(*, values: Domain, when: Callable[..., bool] | None = None) -> Callable[[Callable[..., int]], Measure]:
    """Declare a measure: a function of a state, which may ask for rules, config and bounds by name."""

    def declare(function: Callable[..., int]) -> Measure:
        check_choices(function, {})
        return Measure(function, MappingProxyType({}), values, when)

    return declare


@frozen
class Ask:
    """What is asked of a machine: a property by its name, or a measure; in the column's bounds, but for these."""

    what: str | Measure
    bounds: Mapping[str, Any] = field(factory=dict, converter=frozen_mapping, hash=False)

    @property
    def name(self) -> str:
        """The name of the property or measure."""
        return self.what if isinstance(self.what, str) else self.what.name


@frozen
class Column:
    """One of those that are compared: a machine, a preset of its rules, what an operator sets, and how far we look."""

    label: str
    machine: str
    rules: str
    config: Any = None
    bounds: Any = None
    """``None`` for the machine's defaults and its small scope."""
    symmetry: bool = False
    """Whether one state of each orbit is explored."""


@frozen
class Line:
    """One question: the same for every machine, or for each machine that it applies to."""

    label: str
    asks: Ask | Mapping[str, Ask] = field(hash=False)

    def of(self, machine: str) -> Ask | None:
        """Return what is asked of a machine; ``None`` where the question does not apply."""
        return self.asks if isinstance(self.asks, Ask) else self.asks.get(machine)


@frozen
class Comparison:
    """Several columns, the questions that are asked of each, what is to be learned from the answers, and where that is from."""

    name: str
    question: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    teaches: str
    sources: tuple[str, ...]


def widened(bounds: Any, ask: Ask) -> Any:
    """Return a column's bounds with what a question changes in them."""
    return evolve(bounds, **ask.bounds)
