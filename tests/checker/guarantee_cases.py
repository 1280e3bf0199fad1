# SPDX-License-Identifier: Apache-2.0
"""Settings and their cases, as the tests of guarantees ask about them."""

from __future__ import annotations

from attrs import evolve

from hwmark.checker.guarantees.command import case_of, covers
from hwmark.checker.guarantees.decide import Case, Covers, Decided, decide, nothing_covers
from hwmark.checker.guarantees.look import Plan
from hwmark.checker.guarantees.report import WORDS
from hwmark.spec.guarantees.settings import Settings, settings_of

PLAN = Plan()


def settings(**given: object) -> Settings:
    """Return what is usual, but for these options."""
    return settings_of({"acks": "all", "min_isr": 2, "replicas": 3, **given})


def only(case: Case, *promises: str) -> Case:
    """Return the case in which only these promises are asked, in the looks that ask them."""
    asked = [evolve(look, promises=tuple(name for name in look.promises if name in promises)) for look in case.looks]  # type: ignore[type-var]
    return Case(case.name, tuple(look for look in asked if look.promises))


def verdicts(found: Decided) -> list[dict[str, str]]:
    """Return the verdict of each promise, case by case."""
    return [{answer.promise: WORDS[answer.verdict] for answer in answers} for answers in found.answers]


def decided(*cases: Settings, promises: tuple[str, ...] = (), covering: bool = False, plan: Plan = PLAN) -> Decided:
    """Decide about settings, or about some of their promises."""
    made = [case_of(one) for one in cases]
    chosen: Covers = covers({case.name: one for case, one in zip(made, cases, strict=True)}) if covering else nothing_covers
    return decide([only(case, *promises) for case in made] if promises else made, plan, covers=chosen)


def verdict_of(one: Settings, promise: str) -> str:
    """Return the verdict of one promise under some settings."""
    return verdicts(decided(one, promises=(promise,)))[0][promise]
