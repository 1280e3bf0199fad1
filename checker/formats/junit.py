# SPDX-License-Identifier: Apache-2.0
"""Reports as JUnit XML: a suite for each check, a case for each property, one suite for the rows of the catalogue.

A violated property is a failure. An undetermined one is an error, not a skipped case: many readers show those as green.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from hwmark.checker.catalogue import Proved
from hwmark.checker.report import Judged, Report
from hwmark.checker.text import sanitize
from hwmark.checker.verdict import Verdict
from hwmark.checker.wording import in_steps

from . import assignments, say


def junit(runs: Sequence[Report], rows: Sequence[Proved] = ()) -> str:
    """Return the reports, and the rows that were run, as one XML document."""
    root = ET.Element("testsuites", name="hwmark")
    for run in runs:
        suite = _element(root, "testsuite", name=run.title, time=f"{run.seconds:.3f}")
        facts = _element(suite, "properties")
        for name, value in _facts(run):
            _element(facts, "property", name=name, value=value)
        for one in run.properties:
            _say(_case(suite, run.title, one.name), one.verdict, *_property_says(one))
    if rows:
        suite = _element(root, "testsuite", name="catalogue")
        for proved in rows:
            _say(_case(suite, "catalogue", proved.row.id), proved.verdict, "; ".join(proved.why))
    for suite in root:
        _count(suite, [suite])
    _count(root, list(root))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(('<?xml version="1.0" encoding="UTF-8"?>\n', "\n"))


def _facts(run: Report) -> list[tuple[str, str]]:
    return [
        ("rules", assignments(run.rules)),
        ("config", assignments(run.config)),
        ("bounds", assignments(run.bounds)),
        ("engine", run.engine),
        ("symmetry", "on" if run.symmetry else "off"),
        ("states", str(run.states)),
        ("transitions", str(run.transitions)),
        ("diameter", say(run.diameter)),
        ("complete", "yes" if run.complete else f"no: {run.stopped}"),
    ]


def _property_says(one: Judged) -> tuple[str, Sequence[str]]:
    """What is wrong in one line, and the whole story in several."""
    if one.steps is None:
        return one.why or "", [one.promise]
    story = [f"{number}. {step.call}" for number, step in enumerate(one.steps, start=1)]
    if one.loop is not None:
        story.append(f"and again from step {one.loop + 1} on" if one.loop < len(one.steps) else "and then nothing for ever")
    return f"violated after {in_steps(len(one.steps))}: {assignments(one.witness or {})}", [one.promise, *story]


def _case(suite: ET.Element, group: str, name: str) -> ET.Element:
    return _element(suite, "testcase", classname=group, name=name)


def _say(case: ET.Element, verdict: Verdict, message: str, story: Sequence[str] = ()) -> None:
    if verdict is not Verdict.HOLDS:
        kind = "failure" if verdict is Verdict.VIOLATED else "error"
        _element(case, kind, message=message, type=verdict.value).text = "\n".join(map(sanitize, story))


def _element(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, tag, {name: sanitize(value) for name, value in attributes.items()})


def _count(element: ET.Element, suites: Sequence[ET.Element]) -> None:
    """Write how many cases an element has inside, and how many are not as promised."""
    for name, path in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error")):
        element.set(name, str(sum(len(suite.findall(path)) for suite in suites)))
