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
from .report import Checked

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
KINDS = {
    Verdict.DEVIATES: ("fail", "error"),
    Verdict.KNOWN: ("informational", "none"),
    Verdict.ALLOWED: ("informational", "none"),
    Verdict.UNDETERMINED: ("open", "none"),
}


def junit(*reports: Checked) -> str:
    """Return reports as one XML document: a suite for each field of each."""
    root = ET.Element("testsuites", name="hwmark")
    for report in reports:
        for field in dict.fromkeys(check.field for check in report.checks):
            checks = [check for check in report.checks if check.field == field]
            suite = ET.SubElement(root, "testsuite", name=f"{sanitize(report.target)}/{field}")
            for check in checks:
                case = ET.SubElement(suite, "testcase", classname=f"{check.api}/{check.field}", name=check.rule)
                _say(case, check)
            _count(suite, checks)
    _count(root, [check for report in reports for check in report.checks])
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
        case Verdict.KNOWN | Verdict.ALLOWED:
            ET.SubElement(case, "system-out").text = _message(check)
        case Verdict.CLEAN:
            pass


def _count(element: ET.Element, checks: list[Check]) -> None:
    counted = {"failures": Verdict.DEVIATES, "errors": Verdict.UNDETERMINED, "skipped": Verdict.NOT_ASKED}
    element.set("tests", str(len(checks)))
    for name, verdict in counted.items():
        element.set(name, str(sum(check.verdict is verdict for check in checks)))


def sarif(*reports: Checked) -> dict[str, Any]:
    """Return reports as a SARIF log with a run for each: a rule for each check, a result for each that is not clean."""
    return {"$schema": SARIF, "version": "2.1.0", "runs": list(map(_run, reports))}


def _run(report: Checked) -> dict[str, Any]:
    rules = [
        {
            "id": check.id,
            "name": check.rule,
            "shortDescription": {"text": sanitize(check.promise)},
            "properties": {"tags": list(map(sanitize, check.sources))},
        }
        for check in report.checks
    ]
    return {
        "tool": {"driver": {"name": "hwmark", "version": version("hwmark"), "rules": rules}},
        "invocations": [{"executionSuccessful": report.stopped is None and not report.having(Verdict.UNDETERMINED)}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(index, check) for index, check in enumerate(report.checks) if check.verdict in KINDS],
        "properties": report.facts(),
    }


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
    excused = f"{check.verdict.value} ({check.why}): " if check.verdict in (Verdict.KNOWN, Verdict.ALLOWED) else ""
    return sanitize(f"{excused}{check.promise} {check.deviation.story.question} {assignments(check.deviation.witness)}")


def _table(check: Check) -> str:
    if check.deviation is None:
        return ""
    story = check.deviation.story
    return "\n".join(sanitize(" | ".join(row)) for row in (story.columns, *story.rows, (story.wrong,)))
