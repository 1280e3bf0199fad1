# SPDX-License-Identifier: Apache-2.0
"""The report of driving a target, from which every format is made. ``plain`` is the JSON form, ``hwmark.conform/1``."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from hwmark.checker.plain import to_plain

from .found import Check, Implementation, Outcome, Plan, Verdict

SCHEMA = "hwmark.conform/1"
A_SAMPLE = "A sample, not a proof: other questions may find what these did not."


@frozen
class Checked:
    """What was checked, by which checks, and what came of it."""

    target: str
    checks: tuple[Check, ...]
    unseen: tuple[str, ...]
    """The ids that are pinned, and were not found."""
    stopped: str | None
    seconds: float

    def having(self, *verdicts: Verdict) -> list[Check]:
        """Return the checks with one of these verdicts."""
        return [check for check in self.checks if check.verdict in verdicts]

    @property
    def outcome(self) -> Outcome:
        """A new deviation decides; what was cut short, or asked nothing, is not clean."""
        if self.having(Verdict.DEVIATES):
            return Outcome.DEVIATES
        if self.stopped is not None or self.having(Verdict.UNDETERMINED):
            return Outcome.UNDETERMINED
        return Outcome.CLEAN if self.having(Verdict.CLEAN, Verdict.KNOWN, Verdict.ALLOWED) else Outcome.UNDETERMINED

    def facts(self) -> dict[str, Any]:
        """Return what a log for other programs says beside the checks."""
        return {"target": self.target, "verdict": self.outcome.value}


@frozen
class Report(Checked):
    """What was asked of whom: implementations, under a plan."""

    plan: Plan
    implementations: tuple[Implementation, ...]

    def facts(self) -> dict[str, Any]:
        """Return the same, and the seed."""
        return {**super().facts(), "seed": self.plan.seed}


def plain(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    return {
        "schema": SCHEMA,
        "target": report.target,
        "seed": report.plan.seed,
        "budget": report.plan.budget,
        "implementations": [to_plain(one) for one in report.implementations],
        "checks": [plain_check(one) for one in report.checks],
        "unseen": list(report.unseen),
        "stopped": report.stopped,
        "seconds": round(report.seconds, 3),
        "verdict": report.outcome.value,
    }


def plain_check(check: Check) -> dict[str, Any]:
    """Return a check as JSON data."""
    deviation = check.deviation
    return {
        "id": check.id,
        "field": check.field,
        "rule": check.rule,
        "promise": check.promise,
        "sources": list(check.sources),
        "asked": check.asked,
        "verdict": check.verdict.value,
        "why": check.why,
        "question": None if deviation is None else to_plain(deviation.question),
        "answer": None if deviation is None else to_plain(deviation.answer),
        "witness": None if deviation is None else to_plain(deviation.witness),
    }
