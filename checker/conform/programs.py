# SPDX-License-Identifier: Apache-2.0
"""A report of ``hwmark conform`` for other programs: JUnit XML with a case for each check, and SARIF 2.1.0.

A new deviation is a failure; a known one is none, but is told. What is undetermined is an error, not a skipped case.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any
from xml.etree import ElementTree as ET

from hwmark.checker.formats import assignments
from hwmark.checker.text import sanitize

from .found import Check, Verdict
from .report import Report

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
KINDS = {Verdict.DEVIATES: ("fail", "error"), Verdict.KNOWN: ("informational", "none"), Verdict.UNDETERMINED: ("open", "none")}


def junit(report: Report) -> str:
    """Return the report as one XML document: a suite for each field."""
    root = ET.Element("testsuites", name="hwmark")
    for field in dict.fromkeys(check.field for check in report.checks):
        checks = [check for check in report.checks if check.field == field]
        suite = ET.SubElement(root, "testsuite", name=f"{report.target}/{field}")
        for check in checks:
            case = ET.SubElement(suite, "testcase", classname=f"{check.api}/{check.field}", name=check.rule)
            _say(case, check)
        _count(suite, checks)
    _count(root, report.checks)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(('<?xml version="1.0" encoding="UTF-8"?>\n', "\n"))


def _say(case: ET.Element, check: Check) -> None:
    match check.verdict:
        case Verdict.DEVIATES:
            ET.SubElement(case, "failure", type="deviates", message=_message(check)).text = _table(check)
        case Verdict.UNDETERMINED:
            ET.SubElement(case, "error", type="undetermined", message=_message(check))
        case Verdict.NOT_ASKED:
            ET.SubElement(case, "skipped", message=_message(check))
        case Verdict.KNOWN:
            ET.SubElement(case, "system-out").text = f"known: {_message(check)}"
        case Verdict.CLEAN:
            pass


def _count(element: ET.Element, checks: tuple[Check, ...] | list[Check]) -> None:
    counted = {"failures": Verdict.DEVIATES, "errors": Verdict.UNDETERMINED, "skipped": Verdict.NOT_ASKED}
    element.set("tests", str(len(checks)))
    for name, verdict in counted.items():
        element.set(name, str(sum(check.verdict is verdict for check in checks)))


def sarif(report: Report) -> dict[str, Any]:
    """Return the report as a SARIF log: a rule for each check, a result for each that is not clean."""
    rules = [
        {
            "id": check.id,
            "name": check.rule,
            "shortDescription": {"text": sanitize(check.promise)},
            "properties": {"tags": list(map(sanitize, check.sources))},
        }
        for check in report.checks
    ]
    results = [_result(index, check) for index, check in enumerate(report.checks) if check.verdict in KINDS]
    run = {
        "tool": {"driver": {"name": "hwmark", "version": version("hwmark"), "rules": rules}},
        "invocations": [{"executionSuccessful": report.stopped is None and not report.having(Verdict.UNDETERMINED)}],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"target": report.target, "seed": report.plan.seed, "verdict": report.outcome.value},
    }
    return {"$schema": SARIF, "version": "2.1.0", "runs": [run]}


def _result(index: int, check: Check) -> dict[str, Any]:
    kind, level = KINDS[check.verdict]
    return {
        "ruleId": check.id,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": _message(check)},
        "fingerprints": {"hwmark/id": check.id},
        "locations": [{"logicalLocations": [{"name": check.field, "fullyQualifiedName": f"{check.api}/{check.field}", "kind": "module"}]}],
    }


def _message(check: Check) -> str:
    """Return in one line what is wrong, or why nothing is known."""
    if check.deviation is None:
        return sanitize(check.why or "")
    known = f"known ({check.why}): " if check.verdict is Verdict.KNOWN else ""
    return sanitize(f"{known}{check.promise} {check.deviation.story.question} {assignments(check.deviation.witness)}")


def _table(check: Check) -> str:
    if check.deviation is None:
        return ""
    story = check.deviation.story
    return "\n".join(sanitize(" | ".join(row)) for row in (story.columns, *story.rows, (story.wrong,)))
