# SPDX-License-Identifier: Apache-2.0
"""What a search asks of each state and step, and what the answers mean.

An answer that is neither a witness, nor ``None``, nor a goal's ``True`` or ``False`` is refused: a property that answers
in the wrong type must not pass for one that holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from hwmark.spec.property import Converges, LeadsTo, Property, Reachable, Witness

from .system import Bound, System
from .verdict import Verdict

LATER = (Converges, LeadsTo)
"""The kinds of properties that are decided on the stored graph, once it is complete."""

Questions = list[tuple[Callable[..., bool] | None, frozenset[str], bool | None, list[tuple[Callable[..., Any], Bound]]]]
"""Bound properties with equal presuppositions together: the presupposition, the names, the answer that decides nothing,
and each function to ask."""


def questions(explored: System, properties: Sequence[Property]) -> Questions:
    """Return what there is to ask about these properties."""
    groups: dict[tuple[Any, ...], list[Bound]] = {}
    for prop in properties:
        undecided = False if isinstance(prop, Reachable) else None
        for bound in explored.bind(prop):
            groups.setdefault((undecided, *bound.presupposes), []).append(bound)
    return [
        (bounds[0].when, frozenset(bound.property.name for bound in bounds), undecided, [(bound.holds, bound) for bound in bounds])
        for (undecided, *_), bounds in groups.items()
    ]


def meaning(bound: Bound, answer: Any) -> tuple[Verdict, Mapping[str, Any]]:
    """Return the verdict and the facts of an answer that decides a property; raises ``TypeError`` if it means nothing."""
    if isinstance(bound.property, Reachable):
        if answer is not True:
            raise TypeError(f"{bound.property.name}: a goal answers True or False, not {answer!r}")
        return Verdict.HOLDS, bound.choices
    if not isinstance(answer, Witness):
        raise TypeError(f"{bound.property.name}: a promise answers None or a witness, not {answer!r}")
    return Verdict.VIOLATED, {**bound.choices, **answer.facts}


def follows_names(prop: Property) -> bool:
    """Whether the property follows named identities along runs, which symmetry renames from one state to the next."""
    return isinstance(prop, LeadsTo) or (isinstance(prop, Converges) and bool(prop.domains))


@frozen
class GraphQuestion:
    """A convergence or leads-to property with its choices, and its answers by state number."""

    bound: Bound
    when: bytearray = field(factory=bytearray, eq=False)
    goal: bytearray = field(factory=bytearray, eq=False)

    def ask(self, state: Any) -> None:
        """Note what the next state answers."""
        self.when.append(self.bound.when is None or bool(self.bound.when(state)))
        self.goal.append(bool(self.bound.holds(state)))
