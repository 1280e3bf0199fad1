# SPDX-License-Identifier: Apache-2.0
"""What the answers of kernels decide: the function itself is asked once more, about the real state or step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field

from hwmark.checker.conclusions import Conclusions
from hwmark.model.machine import ImpossibleError

from .kernels import DECIDES, Findings
from .learner import Functions, Question
from .states import States
from .values import NotLearnableError, typed

if TYPE_CHECKING:
    from numpy.typing import NDArray

IMPOSSIBLE_STEP = -1
"""Stands for a question where a step was held to be impossible."""

Decision = tuple[int, int]
"""By which question something was decided, and about which state, or about which step: state times instances plus instance."""


@define(eq=False)
class Deciding:
    """Keeps what is decided, and knows what is still to be asked."""

    functions: Functions
    conclusions: Conclusions
    states: States
    decisions: list[Decision] = field(factory=list)
    _numbers: dict[Any, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Number questions by property and choices."""
        asked = [*self.functions.states, *self.functions.steps]
        self._numbers = {_key(self.functions.question(number)): number for number in asked}

    # -- what to ask --

    @property
    def about_states(self) -> NDArray[np.int32]:
        """The questions about states that are still open, in the order in which the reference engine asks them."""
        return self._open(self.conclusions.about_states)

    @property
    def about_steps(self) -> NDArray[np.int32]:
        """The questions about steps that are still open, in that order."""
        return self._open(self.conclusions.about_steps)

    def _open(self, groups: Sequence[Any]) -> NDArray[np.int32]:
        bounds = [bound for _, _, _, grouped in groups for _, bound in grouped]
        return np.array([self._numbers[bound.property.name, typed(tuple(bound.choices.values()))] for bound in bounds], np.int32)

    # -- what was answered --

    def note(self, asked: NDArray[np.int32], found: Findings) -> None:
        """Note what was presupposed, and decide what is decided, the first place first."""
        for number in asked[found.presupposed > 0].tolist():
            self.conclusions.presupposed.add(self.functions.question(number).name)
        places = [(int(found.first[index]), index) for index in np.flatnonzero(found.first >= 0).tolist()]
        for where, index in sorted(places):
            self.decide((int(asked[index]), where))

    def decide(self, decision: Decision) -> None:
        """Decide a property by what it answers about one real state or step, unless it is decided already."""
        number, where = decision
        if number == IMPOSSIBLE_STEP:
            self._reach_impossible(where)
        else:
            question = self.functions.question(number)
            if question.name in self.conclusions.decided:
                return
            seen, run_to = self._real(question, where)
            answer = question.bound.holds(*seen) if question.outcome(*seen) & DECIDES else question.undecided
            if answer is question.undecided:
                raise NotLearnableError(f"{question.name} answers otherwise about a whole state: it depends on more than the state")
            self.conclusions.decide(question.bound, answer, run_to)
        self.decisions.append(decision)

    def _real(self, question: Question, where: int) -> tuple[tuple[Any, ...], Callable[[], Any]]:
        if not question.is_about_steps:
            return (self.states.state(where),), partial(self.states.run_to, where)
        before, number = self._step(where)
        step = self.states.system.steps[number]
        after = self.states.system.takes[number](before)
        return (before, step, after), partial(self.states.run_to, where // len(self.states.system.takes), (step,))

    def _step(self, where: int) -> tuple[Any, int]:
        state, number = divmod(where, len(self.states.system.takes))
        return self.states.state(state), number

    def _reach_impossible(self, where: int) -> None:
        before, number = self._step(where)
        try:
            self.states.system.takes[number](before)
        except ImpossibleError as error:
            last = (self.states.system.steps[number],)
            self.conclusions.reach_impossible(str(error), partial(self.states.run_to, where // len(self.states.system.takes), last))


def _key(question: Question) -> Any:
    return question.name, typed(tuple(question.bound.choices.values()))
