# SPDX-License-Identifier: Apache-2.0
"""Drives a broker with programs until the budget is used up, and makes each deviation that it finds small."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from hwmark.checker.conform.found import Check, Deviation, Found, Implementation, Plan, Story, Verdict
from hwmark.checker.errors import InputError
from hwmark.checker.workers import Stop
from hwmark.spec.broker_api import PROMISES, SOURCES

from .asking import BrokenError, Broker
from .drawing import PARTS, draw_programs
from .play import ANSWER, Played, Rule, play, told
from .programs import Program, from_data, smallest, to_data

Done = Callable[[int, int], None]
"""Says how many of its parts are done of how many."""
COLUMNS = ("", "request", "with")
AGAIN = 5
"""How often a smallest program is played again, to see whether it deviates each time."""
SHORTENING_SECONDS = 30.0
"""How long one program is made smaller and played again at most: a broker that hangs takes its time each time."""


class EnoughError(Exception):
    """There is a reason to stop."""


@define
class Finder:
    """What was seen of a broker: how often each rule was asked, and the first program that deviates from it."""

    broker: Broker
    stop: Stop
    is_replay: bool = False
    """Whether a program is played as it is, and not made smaller."""
    asked: Counter[Rule] = field(factory=Counter)
    programs: dict[str, Program] = field(factory=dict)
    avoided: dict[str, frozenset[str]] = field(factory=dict)
    """Which requests were not asked when such a program was played: else it would not come to the same again."""
    deviating: dict[str, Rule] = field(factory=dict)
    not_asked: dict[str, str] = field(factory=dict)
    played: int = 0
    requests: int = 0

    def take(self, program: Program) -> None:
        """Play one program, and note what it shows."""
        if self.stop() is not None:
            raise EnoughError
        avoided = self.breaking()
        shown = play(program, self.broker, avoided)
        self.played += 1
        self.requests += len(shown.steps)
        self.not_asked |= shown.not_asked
        for step in shown.steps:
            self.asked.update(step.compared)
            for rule in step.deviating:
                self.deviating.setdefault(rule.id, rule)
                self.programs.setdefault(rule.id, program)
                self.avoided.setdefault(rule.id, avoided)

    def breaking(self) -> frozenset[str]:
        """Return the ids of requests that break the connection."""
        return frozenset(name for name, rule in self.deviating.items() if rule.field == ANSWER)

    def check(self, rule: Rule) -> Check:
        """Return what is said of one rule; a deviation with a smallest program."""
        common = (rule.api, rule.field, rule.rule, PROMISES[rule.api, rule.rule], SOURCES[rule.api, rule.rule], self.asked[rule])
        if rule.id not in self.deviating:
            return Check(*common, Verdict.CLEAN)
        program, last = self.programs[rule.id], time.monotonic() + SHORTENING_SECONDS
        if not self.is_replay:
            program = smallest(program, lambda one: time.monotonic() < last and self.step(one, rule) is not None)
        steps = [self.step(program, rule)]
        while len(steps) < AGAIN and time.monotonic() < last:
            steps.append(self.step(program, rule))
        found = next((step for step in steps if step is not None), None)
        times = sum(step is not None for step in steps)
        if found is None:
            again = (
                f"in none of {len(steps)} times that it was asked again" if self.stop() is None else f"was not asked again: {self.stop()}"
            )
            return Check(*common, Verdict.UNDETERMINED, f"it deviated once, and {again}")
        flaky = f" It deviated in {times} of {len(steps)} times." if times < len(steps) else ""
        data = to_data(program)
        expected, got = told(found.expected), told(found.got)
        wrong = f"Expected {written(expected)}; got {written(got)}.{flaky}"
        witness = {"field": rule.field, "expected": expected, "got": got}
        return Check(*common, Verdict.DEVIATES, None, Deviation(data, got, witness, Story("", COLUMNS, rows(data), wrong)))

    def as_found(self, rule: Rule) -> Check:
        """Return what is said of one rule of a broker that does not answer any more."""
        common = (rule.api, rule.field, rule.rule, PROMISES[rule.api, rule.rule], SOURCES[rule.api, rule.rule], self.asked[rule])
        if rule.id not in self.deviating:
            return Check(*common, Verdict.CLEAN)
        data = to_data(self.programs[rule.id])
        story = Story("", COLUMNS, rows(data), "The broker broke before this could be made smaller.")
        return Check(*common, Verdict.DEVIATES, None, Deviation(data, None, {"field": rule.field}, story))

    def step(self, program: Program, rule: Rule) -> Played | None:
        """Return the first step of a program that deviates from a rule, or ``None``."""
        if self.stop() is not None:
            return None
        return play(program, self.broker, self.avoided[rule.id]).deviations().get(rule.id)


def rows(data: list[dict[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """Return a program as rows: each request with what it says."""
    said = [", ".join(f"{name}={value}" for name, value in one.items() if name != "do") for one in data]
    return tuple((str(number), one["do"], words) for number, (one, words) in enumerate(zip(data, said, strict=True), start=1))


def written(answer: Mapping[str, object]) -> str:
    """Return an answer in one line."""
    if "broken" in answer:
        return str(answer["broken"])
    said = {name: value for name, value in answer.items() if name != "answer"}
    return ", ".join(f"{name} {value}" for name, value in said.items()) or "no answer"


def drive(driven: Implementation, broker: Broker, plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive one broker under a plan; raises ``InputError`` where it cannot be asked anything."""
    finder = Finder(broker, stop, plan.replay is not None)

    def take(program: Program) -> None:
        finder.take(program)
        done(finder.played, len(PARTS) * plan.budget)

    broken: str | None = None
    try:
        if plan.replay is not None:
            take(from_data(plan.replay))
        else:
            draw_programs(plan.budget, plan.seed, take)
    except EnoughError:
        pass
    except BrokenError as error:
        if not finder.played:
            raise InputError(f"{driven.name}: {error}") from None
        broken = f"{driven.name}: {error}"
    checks, why = _checks(finder)
    unasked = () if plan.replay is not None else _unasked(finder)
    return Found((driven,), (*checks, *unasked), broken or why or stop())


def _checks(finder: Finder) -> tuple[tuple[Check, ...], str | None]:
    """Return the checks, and why what deviates could not be made smaller, if it could not."""
    rules = sorted(finder.asked, key=lambda rule: rule.id)
    checks: list[Check] = []
    try:
        checks.extend(finder.check(rule) for rule in rules)
    except BrokenError as error:
        return (*checks, *(finder.as_found(rule) for rule in rules[len(checks) :])), str(error)
    return tuple(checks), None


def _unasked(finder: Finder) -> list[Check]:
    """Return a check for each rule that could never be asked."""
    asked = {(rule.api, rule.rule) for rule in finder.asked}
    found = []
    for (api, rule), promise in PROMISES.items():
        if (api, rule) not in asked:
            why = finder.not_asked.get(f"{api}/{rule}", "no program came to it")
            found.append(Check(api, ANSWER, rule, promise, SOURCES[api, rule], 0, Verdict.NOT_ASKED, why))
    return found
