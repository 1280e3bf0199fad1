# SPDX-License-Identifier: Apache-2.0
"""Reports as SARIF 2.1.0: a rule for each property, a result for each one that does not hold, at the property's source.

A violation is a failure with its steps as a code flow. What is undetermined is of kind ``open``: there was not enough to
decide; the run then counts as not successful. Places are relative to the project's root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from hwmark.checker.catalogue import Proved
from hwmark.checker.report import Judged, Report, Source
from hwmark.checker.text import sanitize
from hwmark.checker.verdict import Verdict
from hwmark.checker.wording import in_steps

from . import assignments

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
CATALOGUE = Source("spec/catalogue.py", 1)


def sarif(runs: Sequence[Report], rows: Sequence[Proved] = ()) -> dict[str, Any]:
    """Return the reports, and the rows that were run, as one SARIF log."""
    logged = [_run(list(_rules(run)), list(_results(run)), run.properties, _facts(run)) for run in runs]
    if rows:
        logged.append(_run([_row_rule(one) for one in rows], list(_row_results(rows)), rows, {"rows": len(rows)}))
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": logged}


def _run(
    rules: list[dict[str, Any]], results: list[dict[str, Any]], judged: Sequence[Judged | Proved], facts: dict[str, Any]
) -> dict[str, Any]:
    positions = {rule["id"]: index for index, rule in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = positions[result["ruleId"]]
    return {
        "tool": {"driver": {"name": "hwmark", "version": version("hwmark"), "rules": rules}},
        "invocations": [{"executionSuccessful": all(one.verdict is not Verdict.UNDETERMINED for one in judged)}],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": facts,
    }


# -- one check --


def _rules(run: Report) -> Iterator[dict[str, Any]]:
    for one in run.properties:
        yield {
            "id": _rule_id(run, one),
            "name": one.name,
            "shortDescription": _text(one.promise),
            "properties": {"tags": [one.kind, *map(sanitize, one.sources)]},
        }


def _results(run: Report) -> Iterator[dict[str, Any]]:
    for one in run.properties:
        if one.verdict is Verdict.HOLDS:
            continue
        result = _result(_rule_id(run, one), one.verdict, f"{one.name} {_finding(run, one)}", one.source)
        if one.steps:
            flow = [{"location": {**_place(step.source), "message": _text(step.call)}} for step in one.steps]
            result["codeFlows"] = [{"message": _text("From an initial state:"), "threadFlows": [{"locations": flow}]}]
        yield result


def _rule_id(run: Report, one: Judged) -> str:
    return f"{run.machine}/{one.name}"


def _finding(run: Report, one: Judged) -> str:
    where = f"under {run.preset or 'rules without a name'} in {assignments(run.bounds)}"
    if one.steps is None:
        return f"is {one.verdict.value} {where}: {one.why}"
    return f"is violated after {in_steps(len(one.steps))} {where}: {assignments(one.witness or {})}"


def _facts(run: Report) -> dict[str, Any]:
    return {
        "machine": run.machine,
        "rules": assignments(run.rules),
        "config": assignments(run.config),
        "bounds": assignments(run.bounds),
        "states": run.states,
        "transitions": run.transitions,
        "complete": run.complete,
        "verdict": run.verdict.value,
    }


# -- rows of the catalogue --


def _row_rule(proved: Proved) -> dict[str, Any]:
    row = proved.row
    return {
        "id": row.id,
        "name": sanitize(row.rule),
        "shortDescription": _text(row.statement),
        "properties": {"tags": list(map(sanitize, row.sources))},
    }


def _row_results(rows: Sequence[Proved]) -> Iterator[dict[str, Any]]:
    for proved in rows:
        if not proved.agrees:
            yield _result(proved.row.id, proved.verdict, f"{proved.row.id}: {'; '.join(proved.why)}", CATALOGUE)


# -- the pieces --


def _result(rule: str, verdict: Verdict, message: str, source: Source) -> dict[str, Any]:
    failed = verdict is Verdict.VIOLATED
    return {
        "ruleId": rule,
        "kind": "fail" if failed else "open",
        "level": "error" if failed else "none",
        "message": _text(message),
        "locations": [_place(source)],
    }


def _place(source: Source) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": source.file, "uriBaseId": "%SRCROOT%"}, "region": {"startLine": source.line}}}


def _text(text: str) -> dict[str, str]:
    return {"text": sanitize(text)}
