# SPDX-License-Identifier: Apache-2.0
"""What a history was found to show: a check for each anomaly. ``plain`` is the JSON form, ``hwmark.judgement/1``."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from hwmark.checker.conform.found import Check, Deviation, Story, Verdict
from hwmark.checker.conform.report import Checked, plain_check
from hwmark.checker.text import sanitize, shown

from .findings import Asked, Finding
from .search import Explained
from .witness import Witness, rows

SCHEMA = "hwmark.judgement/1"
EXPLAINED = "All that was told fits together: some run of logs, commits and transactions explains it, call by call."

GRAVEST = (Verdict.DEVIATES, Verdict.KNOWN, Verdict.UNDETERMINED, Verdict.ALLOWED, Verdict.CLEAN, Verdict.NOT_ASKED)
"""Verdicts, the gravest first."""


@frozen
class Judgement(Checked):
    """The checks of one history: how many lines it has, and what was passed over."""

    lines: int
    remarks: tuple[str, ...]
    findings: dict[str, tuple[Finding, ...]]
    """Of each check that found something: the first findings."""
    witnesses: dict[str, Witness]
    """And the events that show the very first."""


def check(field: str, asked: Asked, witness: Witness) -> Check:
    """Return the check of one anomaly; its deviation is the first finding."""
    anomaly = asked.anomaly
    common = ("history", field, anomaly.name, anomaly.promise, anomaly.sources, asked.asked)
    if not asked.asked:
        return Check(*common, Verdict.NOT_ASKED, f"the history has no {anomaly.about}")
    if not asked.found:
        return Check(*common, Verdict.CLEAN)
    first = asked.findings[0]
    times = "once" if asked.found == 1 else f"{asked.found:,} times"
    question = f"Found {times}; first in partition {first.place}." if first.place is not None else f"Found {times}."
    wrong = ", ".join(f"{name} {shown(value)}" for name, value in first.facts.items())
    story = Story(question, ("line", "process", "type", "call"), rows(witness), wrong)
    deviation = Deviation({"partition": first.place, "ops": list(first.ops)}, None, first.facts, story)
    return Check(*common, Verdict.DEVIATES if first.allowed is None else Verdict.ALLOWED, first.allowed, deviation)


def search_check(explained: Explained, witness: Witness) -> Check:
    """Return the check that says whether any state of the abstract log explains the history."""
    common = ("history", "search", "explained", EXPLAINED, ("S2", "S9"), explained.events)
    if explained.stopped is not None:
        return Check(*common, Verdict.UNDETERMINED, explained.stopped)
    if explained.unexplained is None:
        return Check(*common, Verdict.CLEAN)
    last = explained.unexplained
    against = [{"says": one.says, "expected": one.expected, "got": one.got} for one in explained.against]
    wrong = "; ".join(f"{one.says}: expected {shown(one.expected)}, got {shown(one.got)}" for one in explained.against)
    question = f"Up to line {last.number - 1} the history can be explained; no state explains line {last.number}."
    story = Story(question, ("line", "process", "type", "call"), rows(witness), f"The nearest candidates: {wrong}.")
    ops = sorted({event.line.op for event in witness})
    return Check(*common, Verdict.DEVIATES, None, Deviation({"partition": None, "ops": ops}, None, {"nearest": against}, story))


def plain(judgement: Judgement) -> dict[str, Any]:
    """Return the judgement as JSON data."""
    return {
        "history": judgement.target,
        "lines": judgement.lines,
        "remarks": list(map(sanitize, judgement.remarks)),
        "checks": [
            {**plain_check(one), "findings": [_plain(two) for two in judgement.findings.get(one.rule, ())]} for one in judgement.checks
        ],
        "requirements": requirements(judgement),
        "unseen": list(judgement.unseen),
        "stopped": judgement.stopped,
        "seconds": round(judgement.seconds, 3),
        "verdict": judgement.outcome.value,
    }


def requirements(judgement: Judgement) -> dict[str, str]:
    """Return for each requirement that checks quote the gravest of their verdicts."""
    return {
        one: next(verdict.value for verdict in GRAVEST if any(one in check.sources for check in judgement.having(verdict)))
        for one in sorted({source for check in judgement.checks for source in check.sources})
    }


def _plain(finding: Finding) -> dict[str, Any]:
    return {"partition": finding.place, "ops": list(finding.ops), "facts": finding.facts, "allowed": finding.allowed}
