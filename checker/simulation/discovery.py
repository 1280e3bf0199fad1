# SPDX-License-Identifier: Apache-2.0
"""Where walks decided a property, and the run that shows it: whatever compiled code says is asked again here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from hwmark.checker.asked import Asked
from hwmark.checker.engine import Engine
from hwmark.checker.questions import meaning
from hwmark.checker.replay import execute, step_key, takes_of
from hwmark.checker.system import System, is_about_steps, system
from hwmark.checker.verdict import Run, Verdict
from hwmark.checker.wording import in_steps
from hwmark.model.machine import ImpossibleError
from hwmark.spec.property import Property, Reachable

from .engine import Taken
from .findings import DisagreeError, Findings
from .plain_walks import PlainWalks
from .request import Plan
from .subject import Subject


@define(eq=False)
class Variant:
    """One combination of alternatives, what is walked there, and what was found so far."""

    asked: Asked
    subject: Subject
    plain: PlainWalks
    first: range
    """The first batch of walks."""
    found: Findings
    engines: set[Engine] = field(factory=set)

    @classmethod
    def of(cls, asked: Asked, plan: Plan, first: range) -> Variant:
        """Return a variant where nothing was walked yet."""
        subject = Subject.of(asked.build(), asked.asked_properties())
        return cls(asked, subject, PlainWalks(subject, plan.seed, plan.steps), first, Findings.none(len(subject.explored.steps)))

    def add(self, taken: Taken) -> None:
        """Add what a batch of walks found."""
        self.found.add(taken.found)
        self.engines.add(taken.engine)


@frozen
class Discovery:
    """Where a property was decided first: in which variant, and after how many steps of which walk.

    ``last`` is the last of these steps where no walk takes it, since its action holds it to be impossible.
    """

    variant: Variant
    walk: int
    walked: int
    last: int | None = None

    def run(self) -> Run:
        """Return the walk up to there."""
        run = self.variant.plain.run(self.walk, self.walked if self.last is None else self.walked - 1)
        return run if self.last is None else evolve(run, steps=(*run.steps, self.variant.subject.explored.steps[self.last]))

    def alone(self, prop: Property | None) -> System:
        """Return the machine without the observers of other properties."""
        return system(self.variant.subject.explored.machine, () if prop is None else (prop,))


def judged(subject: Subject, name: str, run: Run) -> tuple[Verdict, Mapping[str, Any]]:
    """Return what a run says at its end about a property, or about the impossible; raises ``DisagreeError`` if it says nothing."""
    explored, prop = subject.explored, subject.find(name)
    if prop is None:
        before = execute(explored, evolve(run, steps=run.steps[:-1]))[-1]
        try:
            takes_of(explored)[step_key(run.steps[-1])](before)
        except ImpossibleError as error:
            return Verdict.VIOLATED, {"why": str(error)}
        raise DisagreeError(f"nothing about {run.steps[-1]} is impossible")
    states = execute(explored, run)
    about = (states[-2], run.steps[-1], states[-1]) if is_about_steps(prop) else (states[-1],)
    for bound in explored.bind(prop):
        if bound.when is None or bound.when(*about):
            answer = bound.holds(*about)
            if answer is not (False if isinstance(prop, Reachable) else None):
                return meaning(bound, answer)
    raise DisagreeError(f"{name} is not decided at the end of a run of {in_steps(len(run.steps))}")
