# SPDX-License-Identifier: Apache-2.0
"""Walks taken with the machine's own functions: what a walk is, and what the compiled ones are tested against.

At each step the actions are tried in a random order, those that the walk leaves out last, and the choices of each in a
random order, until a step is enabled. So each enabled action is as likely as any other, whatever the number of its
choices, and only few of the disabled steps are tried.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Any

from hwmark.checker.questions import Questions
from hwmark.checker.system import own_state
from hwmark.checker.verdict import Run
from hwmark.model.machine import ImpossibleError

from .chance import ADDEND, FACTOR, MASK, SPELL, left_out, start, stream, walk_key
from .distinct import Signatures, observe
from .findings import Findings, Where
from .subject import Subject

Stop = Callable[[], str | None]
POLL_EVERY = 64
"""Steps between two looks at whether to stop."""

NO_STEP = -1
"""What is chosen where no step is enabled."""


class PlainWalks:
    """Takes walks of one seed through a subject, each of at most so many steps."""

    def __init__(self, subject: Subject, seed: int, most: int) -> None:
        """Prepare; nothing is walked yet."""
        self.subject, self.seed, self.most = subject, seed, most
        self._state_type = type(own_state(subject.explored.initial[0]))
        self._signatures = Signatures(subject.explored.initial[0])

    def walk(self, first: int, last: int, decided: Collection[str], stop: Stop) -> Findings:
        """Take the walks from ``first`` up to ``last``, until told to stop; what is decided is not asked any more."""
        found = Findings.none(len(self.subject.explored.steps))
        about_states, about_steps = self.subject.about_states(decided), self.subject.about_steps(decided)
        for number in range(first, last):
            if not self._walk(number, about_states, about_steps, found, stop):
                break
        return found

    def _walk(self, number: int, about_states: Questions, about_steps: Questions, found: Findings, stop: Stop) -> bool:
        """Take one walk, and note what it finds; return whether it was not stopped."""
        steps, signatures = self.subject.explored.steps, self._signatures
        before, at = self.initial(number), 0
        signature, values = signatures.first(before)
        observe(found.registers, signature)
        self._ask(about_states, found, (number, 0), before)
        for step, state in self.journey(number, found):
            if at % POLL_EVERY == 0 and stop() is not None:
                return False
            at += 1
            found.taken[step] += 1
            self._ask(about_steps, found, (number, at), before, steps[step], state)
            signature, values = signatures.next(signature, values, state)
            observe(found.registers, signature)
            self._ask(about_states, found, (number, at), state)
            before = state
        found.walks += 1
        found.ended += at < self.most
        return True

    @staticmethod
    def _ask(asked: Questions, found: Findings, where: Where, *about: Any) -> None:
        for when, names, undecided, bounds in asked:
            if when is not None:
                if not when(*about):
                    continue
                found.presupposed |= names
            for holds, bound in bounds:
                if holds(*about) is not undecided:
                    found.decide(bound.property.name, where)

    # -- what a walk is --

    def initial(self, number: int) -> Any:
        """Return the state in which a walk begins."""
        return self.subject.explored.initial[self._start(number)]

    def _start(self, number: int) -> int:
        return start(walk_key(self.seed, number), len(self.subject.explored.initial))

    def journey(self, number: int, found: Findings | None = None) -> Iterator[tuple[int, Any]]:
        """Yield each step of a walk, by its place among the system's steps, and the state after it."""
        found = found or Findings.none(len(self.subject.explored.steps))
        key, state, groups = walk_key(self.seed, number), self.initial(number), list[list[range]]()
        for at in range(self.most):
            if at % SPELL == 0:
                groups = self._groups(left_out(key, at, len(self.subject.actions)))
            step, state = self._choose(state, stream(key, at + 1), groups, found, (number, at + 1))
            if step == NO_STEP:
                return
            yield step, state

    def _groups(self, is_left_out: Sequence[bool]) -> list[list[range]]:
        """Return the steps of each action: first of those that are not left out, then of the others."""
        steps = [range(first, last) for first, last in pairwise(self.subject.ends)]
        return [
            [of_one for of_one, is_out in zip(steps, is_left_out, strict=True) if of_one and is_out is group] for group in (False, True)
        ]

    def _choose(self, state: Any, generator: int, groups: Sequence[Sequence[range]], found: Findings, where: Where) -> tuple[int, Any]:
        """Return a step that is enabled, and the state after it; ``NO_STEP`` if there is none."""
        takes, tried = self.subject.explored.takes, found.tried
        for group in groups:
            actions = list(group)
            while actions:
                generator = (generator * FACTOR + ADDEND) & MASK
                place = (generator >> 32) * len(actions) >> 32
                steps = list(actions[place])
                actions[place] = actions[-1]
                actions.pop()
                while steps:
                    generator = (generator * FACTOR + ADDEND) & MASK
                    place = (generator >> 32) * len(steps) >> 32
                    step = steps[place]
                    steps[place] = steps[-1]
                    steps.pop()
                    tried[step] += 1
                    try:
                        after = takes[step](state)
                    except ImpossibleError:
                        found.reach_impossible(where, step)
                        continue
                    if after is not None:
                        self._check_type(step, after)
                        return step, after
        return NO_STEP, state

    def _check_type(self, step: int, after: Any) -> None:
        if type(own_state(after)) is not self._state_type:
            raise TypeError(
                f"{self.subject.explored.steps[step]}: an action answers a {self._state_type.__name__} or None, not {own_state(after)!r}"
            )

    def run(self, number: int, steps: int) -> Run:
        """Return the first steps of a walk as a run."""
        taken = [step for step, _ in islice(self.journey(number), steps)]
        return Run(tuple(self.subject.explored.steps[step] for step in taken), self._start(number))

    def last_signature(self, number: int) -> int:
        """Return the signature of the state in which a walk ends."""
        last = deque(chain([self.initial(number)], (state for _, state in self.journey(number))), maxlen=1)
        return self._signatures.first(last[0])[0]
