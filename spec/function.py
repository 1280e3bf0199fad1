# SPDX-License-Identifier: Apache-2.0
"""How promises about a pure function of Kafka are written: contracts, each a predicate on a question and its answer.

A contract returns ``None``, or a witness of what is wrong. It may ask the function ``again`` about other inputs and relate
the answers; ``when`` is what it presupposes of the input. Its docstring is the promise that reports print.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from hwmark.model.machine import ImpossibleError

from .property import Witness, witness

Again = Callable[[Any], tuple[Any, ...]]
"""The other inputs that a contract asks about, given the first."""


def no_more(_question: Any) -> tuple[Any, ...]:
    """Ask about nothing else."""
    return ()


def always(_question: Any) -> bool:
    """Presuppose nothing."""
    return True


@frozen
class Contract:
    """A promise about the answer to one question, and the answers to those that it asks besides."""

    function: Callable[..., Witness | None]
    sources: tuple[str, ...]
    when: Callable[[Any], bool] = always
    again: Again = no_more
    asks_for_answers: bool = False
    """Whether it is about there being an answer at all; of a question without one no other contract says anything."""

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def promise(self) -> str:
        """The first paragraph of the docstring, on one line."""
        return " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())

    def witness(self, answer: Callable[[Any], Any], question: Any) -> Witness | None:
        """Return what is wrong with an answer, or ``None``; asks whatever else the contract asks."""
        if not self.when(question):
            return None
        try:
            return self.function(question, answer(question), *map(answer, self.again(question)))
        except ImpossibleError as error:
            return witness(why=str(error)) if self.asks_for_answers else None


def contract(
    *, sources: tuple[str, ...], when: Callable[[Any], bool] = always, again: Again = no_more
) -> Callable[[Callable[..., Witness | None]], Contract]:
    """Declare a contract."""
    return lambda function: Contract(function, sources, when, again)


def _answers(_question: Any, _answer: Any) -> Witness | None:
    """Every question has an answer: the function does not fail."""
    return None


_answers.__name__ = "answers"
ANSWERS = Contract(_answers, ("S8-assignors",), asks_for_answers=True)
"""What is promised of every function."""


@frozen
class DescribedFunction:
    """A pure function of Kafka under rules, its contracts, and all questions of a scope, the smallest first."""

    name: str
    function: Callable[[Any, Any], Any]
    """Takes a question and the rules; raises ``ImpossibleError`` where Kafka fails."""
    rules: type[Any]
    presets: Mapping[str, Any]
    right: str
    contracts: tuple[Contract, ...]
    questions: Callable[[Any], Iterator[Any]]
    size: Callable[[Any], int]
    small: Any
    """The scope in which the right rules are checked unless a row says another one."""

    def under(self, preset: str) -> Callable[[Any], Any]:
        """Return the function under a preset."""
        rules = self.presets[preset]
        return lambda question: self.function(question, rules)

    def find(self, name: str) -> Contract | None:
        """Return the contract of this name, if the function has it."""
        return next((one for one in self.contracts if one.name == name), None)
