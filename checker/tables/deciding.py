# SPDX-License-Identifier: Apache-2.0
"""What the answers of kernels decide: the function itself is asked once more, about the real state or step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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
        decided = np.flatnonzero(found.first >= 0)
        for where in np.unique(found.first[decided]).tolist():
            here = set(asked[decided[found.first[decided] == where]].tolist())
            for number in self._in_order(here):
                self.decide((number, where))

    def _in_order(self, questions: Collection[int]) -> list[int]:
        """Return these of the open questions in the order in which they are asked now, which changes with each that is decided."""
        return [number for number in (*self.about_states.tolist(), *self.about_steps.tolist()) if number in questions]

    def decide(self, decision: Decision) -> None:
        """Decide a property by what it answers about one real state or step, unless it is decided already."""
        number, where = decision
        if number == IMPOSSIBLE_STEP:
            self._reach_impossible(where)
        else:
            question = self.functions.question(number)
            if question.name in self.conclusions.decided:
                return
            state, number = divmod(where, len(self.states.system.takes)) if question.is_about_steps else (where, -1)
            answer = self._in_any_order(question.name, state, partial(self._answer, question, number))
            if answer is question.undecided:
                raise NotLearnableError(f"{question.name} answers otherwise about a whole state: it depends on more than the state")
            self.conclusions.decide(question.bound, answer, self._run_to(state, number))
        self.decisions.append(decision)

    def _in_any_order(self, name: str, state: int, ask: Callable[[Any], Any]) -> Any:
        """Return what is answered about a state, in whatever order its sets are iterated."""
        codes, components = self.states.codes(state), self.states.components
        answer = ask(components.decode(codes))
        for turn in range(1, 1 + components.turns(codes)):
            try:
                agrees = ask(components.decode(codes, turn)) == answer
            except Exception:  # noqa: BLE001 - it raised nothing before
                agrees = False
            if not agrees:
                raise NotLearnableError(f"what {name} says depends on the order of a set")
        return answer

    def _answer(self, question: Question, number: int, before: Any) -> Any:
        """Return what a question answers about a state, or about the step of this number that leaves it."""
        seen = (before,) if number < 0 else (before, self.states.system.steps[number], self.states.system.takes[number](before))
        return question.bound.holds(*seen) if question.outcome(*seen) & DECIDES else question.undecided

    def _run_to(self, state: int, number: int) -> Callable[[], Any]:
        last = (self.states.system.steps[number],) if number >= 0 else ()
        return partial(self.states.run_to, state, last)

    def _reach_impossible(self, where: int) -> None:
        state, number = divmod(where, len(self.states.system.takes))
        name = str(self.states.system.steps[number])
        why = self._in_any_order(name, state, partial(self._impossible, number))
        if why is None:
            raise NotLearnableError(f"{name} is not impossible in a whole state: it depends on more than the state")
        self.conclusions.reach_impossible(why, self._run_to(state, number))

    def _impossible(self, number: int, before: Any) -> str | None:
        try:
            self.states.system.takes[number](before)
        except ImpossibleError as error:
            return str(error)
        return None


def _key(question: Question) -> Any:
    return question.name, typed(tuple(question.bound.choices.values()))
