# SPDX-License-Identifier: Apache-2.0
"""Every format says what the report says, shows nothing undetermined as green, and lets no text steer its reader."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from hwmark.checker.asked import ask
from hwmark.checker.catalogue import Proved, not_proved
from hwmark.checker.formats import to_json
from hwmark.checker.formats.junit import junit
from hwmark.checker.formats.sarif import sarif
from hwmark.checker.formats.text import catalogue_text, report_text, suite_text
from hwmark.checker.report import Report, check
from hwmark.checker.suite import Suite
from hwmark.checker.verdict import Verdict
from hwmark.spec.catalogue import Row

SMALL = "replicas=2,log_size=2,records=2,max_leader_epoch=2"
EVIL = "\x1b[31m<script>&\"'\x00\u202e]]>\ufffe\nnext"
FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


@pytest.fixture(scope="module")
def violated() -> Report:
    """Return a report with two violations, and properties that hold."""
    return check(
        ask("replication", preset="kip_101", bounds=SMALL, properties=("weak_isr", "strong_isr", "structure"), keep_going=True)
    ).report


@pytest.fixture(scope="module")
def limited() -> Report:
    """Return a report where nothing is known."""
    return check(ask("replication", bounds=SMALL, properties=("weak_isr", "structure"), max_states=10)).report


@pytest.fixture(scope="module")
def lasso() -> Report:
    """Return a report with a run that goes on for ever: under these rules a replica's truncation is blocked for good."""
    bounds = "replicas=2,log_size=2,records=2,max_leader_epoch=3"
    return check(ask("replication", preset="kip_101", bounds=bounds, properties=("commits_at_last",))).report


ROW = Row(
    id="T-1", rule="a rule", statement="What it says.", sources=("S1",), machine="replication", rules_off="kip_101", rules_on="kip_320"
)
LOST = not_proved(ROW, "a worker process died")
AGREED = Proved(ROW, LOST.bounds, Verdict.VIOLATED, Verdict.HOLDS, 7, Verdict.HOLDS, ())


def hostile(report: Report) -> Report:
    """Return the report with text in it that would steer terminals and break markup."""
    first, *others = report.properties
    steps = tuple(evolve(step, call=EVIL) for step in first.steps or ())
    evil = evolve(first, promise=EVIL, witness={"evil": EVIL}, why=EVIL, sources=(EVIL,), steps=steps or None)
    return evolve(report, stopped=EVIL, properties=(evil, *others))


# -- JUnit --


def test_junit_counts_and_cases(violated: Report) -> None:
    """A case for each property; a violation is a failure with witness and steps; the counts are those of the cases."""
    root = ET.fromstring(junit([violated]))  # noqa: S314 - our own text
    (suite,) = root
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["3", "2", "0"]
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors")] == ["replication.kip_101", "3", "2", "0"]
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["weak_isr", "strong_isr", "structure"]
    failure = cases[0].find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("violated after 11 steps: leader=")
    assert (failure.text or "").splitlines()[-1] == f"11. {(violated.properties[0].steps or ())[-1].call}"
    assert list(cases[2]) == []


def test_junit_shows_undetermined_as_error(limited: Report) -> None:
    """Nothing that is not known is passed or skipped."""
    root = ET.fromstring(junit([limited], [LOST, AGREED]))  # noqa: S314 - our own text
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["4", "0", "3"]
    errors = root.findall(".//error")
    assert [error.get("message") for error in errors] == ["reached the limit of 10 states"] * 2 + ["a worker process died"]


# -- SARIF --


def check_sarif(log: dict[str, Any]) -> None:
    """Assert what the standard demands of the parts that are used."""
    assert log["version"] == "2.1.0"
    assert set(log) == {"$schema", "version", "runs"}
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        assert all(rule["shortDescription"]["text"] for rule in rules)
        assert isinstance(run["invocations"][0]["executionSuccessful"], bool)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert (result["kind"], result["level"]) in {("fail", "error"), ("open", "none")}
            assert result["message"]["text"]
            flows = [step["location"] for flow in result.get("codeFlows", ()) for step in flow["threadFlows"][0]["locations"]]
            for place in (*result["locations"], *flows):
                physical = place["physicalLocation"]
                assert re.fullmatch(r"[a-z_/]+\.py", physical["artifactLocation"]["uri"])
                assert physical["region"]["startLine"] >= 1


def test_sarif_of_violations(violated: Report) -> None:
    """A rule for each property with its promise, a failure for each violation at the property's source, with its steps."""
    log = sarif([violated])
    check_sarif(log)
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [f"replication/{one.name}" for one in violated.properties]
    assert [rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]] == [one.promise for one in violated.properties]
    assert [(result["ruleId"], result["kind"]) for result in run["results"]] == [
        ("replication/weak_isr", "fail"),
        ("replication/strong_isr", "fail"),
    ]
    first = run["results"][0]
    assert "violated after 11 steps under kip_101" in first["message"]["text"]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "spec/replication.py"
    flow = [step["location"] for step in first["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [place["message"]["text"] for place in flow] == [step.call for step in violated.properties[0].steps or ()]
    assert {place["physicalLocation"]["artifactLocation"]["uri"] for place in flow} == {"model/replication.py"}
    assert run["invocations"][0]["executionSuccessful"] is True


def test_sarif_points_at_the_declaration(violated: Report) -> None:
    """File and line of a result are where the property is declared."""
    from hwmark.spec import replication  # noqa: PLC0415 - only its source

    lines = Path(replication.__file__).read_text(encoding="utf-8").splitlines()
    place = sarif([violated])["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert "def weak_isr" in lines[place["region"]["startLine"]]


def test_sarif_of_what_is_unknown(limited: Report) -> None:
    """What is undetermined is open, and the run is not successful; a lost row likewise."""
    log = sarif([limited], [LOST, AGREED])
    check_sarif(evolve_rows(log))
    assert [[result["kind"] for result in run["results"]] for run in log["runs"]] == [["open", "open"], ["open"]]
    assert [run["invocations"][0]["executionSuccessful"] for run in log["runs"]] == [False, False]


def evolve_rows(log: dict[str, Any]) -> dict[str, Any]:
    """Return the log without the repeated rule of the two rows that share an id here."""
    log["runs"][1]["tool"]["driver"]["rules"] = log["runs"][1]["tool"]["driver"]["rules"][:1]
    log["runs"][1]["results"] = [{**result, "ruleIndex": 0} for result in log["runs"][1]["results"]]
    return log


# -- text --


def test_text_shows_a_shortest_counterexample(violated: Report) -> None:
    """The promise, the verdict, the steps with what each changed, the witness, the actions and the figures are there."""
    shown = report_text(violated)
    assert "weak_isr is violated after 11 steps:" in shown
    assert " 11. " in shown
    assert "strong_isr is violated too, after 11 steps: ask with --property strong_isr." in shown
    assert re.search(r"quorum\.leader_epoch +-1 → 0|quorum\.leader_epoch +none → 0", shown)
    assert "9,045 states" in shown
    assert "Never enabled: " in shown
    assert "Not asked: leader_completeness, " in shown
    assert shown.endswith("violated: 1 holds, 2 violated.\n")


def test_text_of_a_lasso(lasso: Report) -> None:
    """A run that goes on for ever says from where, or that nothing happens any more; JSON gives the index."""
    (one,) = lasso.properties
    assert one.loop is not None
    assert one.steps is not None
    told = "and then nothing happens any more." if one.loop == len(one.steps) else "from here on, again and again:"
    assert told in report_text(lasso)


def test_text_says_what_is_not_known(limited: Report) -> None:
    """An early stop gives no diameter and its reason, and no action counts as never enabled."""
    shown = report_text(limited)
    assert "diameter unknown" in shown
    assert "Stopped early: reached the limit of 10 states." in shown
    assert "Never taken so far: " in shown
    assert "undetermined: 2 undetermined." in shown


@pytest.mark.parametrize("width", [30, 60, 80, 110, 200])
def test_text_loses_nothing_at_any_width(violated: Report, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However narrow the terminal, tables wrap: no letter is cut, and no line is wider than it (40 at least)."""
    monkeypatch.setenv("COLUMNS", str(width))
    one = report_text(violated)
    table = one[one.index("property") : one.index("weak_isr is violated")]
    expected = Counter(
        "".join(part.name + part.kind + part.verdict.value + str(part.depth or "") + part.promise for part in violated.properties)
    )
    seen = Counter(table)
    assert not {letter for letter, count in expected.items() if letter.strip() and seen[letter] < count}
    assert max(map(len, table.splitlines())) <= max(width, 40)


def test_a_narrow_terminal_gets_whole_words(violated: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where columns would break each word, what stands in them follows one after the other; prose is broken between words."""
    monkeypatch.setenv("COLUMNS", "40")
    one = report_text(violated)
    assert "\n  weak_isr · invariant · violated · 11" in one
    assert {"committed.", "property", "strong_isr", "promise", "leader_advance_high_watermark"} <= set(one.split())


def test_suite_text_is_one_table_with_a_line_for_each_trouble(violated: Report, limited: Report) -> None:
    """Runs and rows stand in one table; whatever is not as promised has its line; the verdict comes last."""
    shown = suite_text(Suite((violated, limited), (AGREED, LOST), 1.0))
    assert "replication.kip_101: weak_isr is violated after 11 steps" in shown
    assert "replication.kip_320: 2 properties are undetermined: reached the limit of 10 states" in shown
    assert "T-1: a worker process died" in shown
    assert shown.endswith("violated: 2 checks, 2 rows of the catalogue, 1.0 s.\n")


def test_catalogue_text_lists_and_proves() -> None:
    """Without proofs the status is there, with them the agreement and its troubles."""
    planned = evolve(ROW, id="T-2", status="planned", machine=None)
    assert re.search(r"T-2 .* planned", catalogue_text([planned], {}))
    assert re.search(r"T-1 .* agrees", catalogue_text([ROW], {"T-1": AGREED}))
    assert "T-1: a worker process died" in catalogue_text([ROW], {"T-1": LOST})


def test_colour_is_only_where_it_is_asked_for(violated: Report) -> None:
    """No escape sequence reaches a file or a pipe."""
    assert "\x1b" not in report_text(violated)
    assert "\x1b" in report_text(violated, colour=True)


# -- hostile text --


@pytest.mark.parametrize("which", ["violated", "limited"])
def test_no_format_lets_text_steer_its_reader(which: str, request: pytest.FixtureRequest) -> None:
    """Escape sequences, markup, bidi marks and characters that XML forbids arrive as plain visible text."""
    report = hostile(request.getfixturevalue(which))
    row = evolve(LOST, row=evolve(ROW, rule=EVIL, statement=EVIL, sources=(EVIL,)), why=(EVIL,))
    suite = Suite((report,), (row,), 1.0)
    xml, text = junit([report], [row]), report_text(report) + suite_text(suite) + catalogue_text([row.row], {row.row.id: row})
    ET.fromstring(xml)  # noqa: S314 - our own text
    check_sarif(json.loads(to_json(sarif([report], [row]))))
    for written in (xml, text, to_json(sarif([report], [row]))):
        assert not FORBIDDEN.search(written)
    assert "<script>" not in xml
    decoded = json.dumps(sarif([report], [row]), ensure_ascii=False)
    assert not FORBIDDEN.search(decoded)
