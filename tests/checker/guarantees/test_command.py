# SPDX-License-Identifier: Apache-2.0
"""``hwmark guarantees`` as a user meets it: exit codes, what is printed and written, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from guarantee_cases import only, settings, verdict_of

from hwmark.checker.cli import run
from hwmark.checker.guarantees import command
from hwmark.checker.guarantees.command import case_of
from hwmark.checker.guarantees.decide import Case, decide
from hwmark.checker.guarantees.look import Plan
from hwmark.checker.shipped import find_trace
from hwmark.checker.trace import replay
from hwmark.checker.verdict import Verdict
from hwmark.spec.guarantees.grid import grid
from hwmark.spec.guarantees.settings import Settings
from hwmark.spec.guarantees.titles import TITLES

ALONE = ("guarantees", "--acks", "all", "--min-isr", "1", "--replicas", "1")
EAGER = ("guarantees", "--acks", "1", "--min-isr", "2", "--replicas", "2")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command line in this process; return exit code, standard output and standard error."""
    code = run((*arguments, "--workers", "1"))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("given", "code", "verdict"),
    [(("--crashes", "0"), 0, "holds"), (("--crashes", "1"), 1, "broken"), (("--crashes", "0", "--timeout", "0"), 3, "not decided")],
)
def test_exit_code_is_that_of_the_verdict(capsys: pytest.CaptureFixture[str], given: tuple[str, ...], code: int, verdict: str) -> None:
    """Nothing goes wrong: all holds; the only replica is killed: nothing is served; no time: nothing is known."""
    found, out, err = answer(capsys, *ALONE, *given)
    assert (found, err) == (code, "")
    assert f"All together: {verdict}, in " in out


def test_the_answer_says_what_breaks_and_where_was_looked(capsys: pytest.CaptureFixture[str]) -> None:
    """Each promise with its verdict, the story of what breaks several at once, its steps, what is odd, and the scopes."""
    _, out, _ = answer(capsys, *ALONE, "--crashes", "1")
    for title in TITLES.values():
        assert title in out
    said = " ".join(out.split())
    assert "Broken after 1 step: the partition stays writable." in said
    assert "Broker 0 crashes; no replica is up, and no request with acks=all is acknowledged any more." in said
    assert "1. Broker 0 crashes, and loses nothing of its log" in said
    assert "--crashes 1 --lossy-crashes 0 --fences 0 --shutdowns 0 --out DIR also writes a trace and a picture of each." in said
    assert "There is one copy of each record." in said
    assert "88 states, all of them" in said


def test_json_has_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Settings, scopes, and of each promise the verdict; of a broken one the cause, three sentences, and the steps."""
    code, out, _ = answer(capsys, *ALONE, "--json")
    found = json.loads(out)
    assert (code, found["schema"], found["verdict"]) == (1, "hwmark.guarantees/1", "broken")
    assert found["settings"]["faults"] == {"crashes": 0, "lossy_crashes": 1, "fences": 0, "shutdowns": 0}
    assert [scope["complete"] for scope in found["scopes"]] == [True, True]
    assert [one["name"] for one in found["promises"]] == list(TITLES)
    first = found["promises"][0]
    assert (first["verdict"], first["cause"], first["depth"], len(first["trace"])) == ("broken", "single_replica", 9, 9)
    assert len(first["explanation"]) == 3
    assert first["check"].startswith("hwmark check partition --rules kafka_4_3 ")


def test_out_has_a_trace_that_replays_and_a_picture_of_each_broken_promise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Beside the report in both formats; the trace carries the explanation."""
    _, out, _ = answer(capsys, *ALONE, "--out", str(tmp_path))
    broken = [one for one in json.loads((tmp_path / "guarantees.json").read_text())["promises"] if one["verdict"] == "broken"]
    assert len(broken) == 5
    assert (tmp_path / "guarantees.txt").read_text() == out
    for one in broken:
        found = find_trace(one["trace_file"])
        assert replay(found).property == one["name"]
        assert found.note == " ".join(one["explanation"])
        assert Path(one["picture_file"]).read_text().startswith("<svg")
        assert one["trace_file"] in out.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*ALONE, "--release", "3.9", "--elr"), "Kafka 3.9 has no eligible leader replicas"),
        ((*ALONE[:5], "--replicas", "3", "--brokers", "2"), "INVALID_REPLICATION_FACTOR"),
        (("guarantees", "--acks", "some", "--min-isr", "1", "--replicas", "1"), "acks is one of"),
        (("guarantees", "--acks", "1"), "--min-isr, --replicas must be given, or --matrix"),
        ((*ALONE, "--matrix"), "--matrix has its own settings: --acks cannot be given with it"),
        ((*ALONE, "--format", "markdown"), "--format markdown is for --matrix"),
        ((*ALONE, "--json", "--format", "text"), "--json is short for --format json"),
        ((*ALONE, "--timeout", "-1"), "--timeout: expected a number of seconds"),
        ((*ALONE, "--engine", "ray"), "engine ray is for one large scope"),
        ((*ALONE, "--crashes", "10"), "--crashes"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    """On standard error, with exit code 2."""
    code, out, err = answer(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


# -- the grid --


def test_the_grid_in_every_format(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell with its number, its settings, and how each promise was decided; a broken promise of a grid is an answer."""
    cells = [one for one in grid() if one.replicas == 1 and one.release == "3.9"]
    monkeypatch.setattr(command, "grid", lambda: iter(cells))
    code, out, _ = answer(capsys, "guarantees", "--matrix")
    assert code == 1
    assert "63 promises in 9 cells: " in " ".join(out.split())
    _, out, _ = answer(capsys, "guarantees", "--matrix", "--json")
    found = json.loads(out)
    assert [cell["number"] for cell in found["cells"]] == list(range(1, 10))
    ways = {promise["how"] for cell in found["cells"] for promise in cell["promises"]}
    assert ways == {"explored", "replayed", "follows"}
    for cell in found["cells"]:
        for promise in cell["promises"]:
            assert (promise["cell"] is None) == (promise["how"] == "explored")
    _, out, _ = answer(capsys, "guarantees", "--matrix", "--format", "markdown")
    assert out.startswith("# What settings promise\n")
    assert sum(line.startswith("| 1 | 1 | 1 | 3.9, no ELR | clean | 0 | 1 lossy crash | **no**, ") for line in out.splitlines()) == 1


# -- what must be shown --


@pytest.mark.parametrize(("acks", "written"), [("all", "broken"), ("1", "holds")])
def test_of_two_replicas_that_are_both_asked_for_one_is_down(acks: str, written: str) -> None:
    """acks=all is refused, acks=1 accepted and not shown; what was committed can be read."""
    one = settings(acks=acks, replicas=2)
    assert verdict_of(one, "writes_go_on") == written
    assert verdict_of(one, "written_is_shown") == "broken"
    assert verdict_of(one, "reads_go_on") == "holds"


@pytest.mark.exhaustive
def test_what_is_recommended_survives_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    """Three replicas, two in sync, acks=all, ELR, clean elections, one lossy crash: every promise holds."""
    code, out, _ = answer(capsys, "guarantees", "--acks", "all", "--min-isr", "2", "--replicas", "3", "--json")
    found = json.loads(out)
    assert code == 0
    assert {one["verdict"] for one in found["promises"]} == {"holds"}


@pytest.mark.parametrize(("one", "look"), [(settings(acks="1"), 1), (settings(unclean=True, crashes=2), 0)], ids=["acks=1", "unclean"])
def test_three_replicas_lose_with_acks_of_the_leader_and_with_unclean_elections(one: Settings, look: int) -> None:
    """One lossy crash, or two crashes where unclean elections are allowed, and an acknowledged record is gone in five steps."""
    case = only(case_of(one), "acknowledged_lasts")
    ((found,),) = decide([Case(case.name, (case.looks[look],))], Plan()).answers  # broken in one scope is broken
    assert found.verdict is Verdict.VIOLATED
    assert found.result is not None
    assert found.result.depth == 5


# -- the page --

PAGE = Path(__file__).parents[3] / "docs" / "guarantees.md"
CELL = re.compile(r"\| (\d+) \|")


def cells_of_the_page() -> dict[int, list[str]]:
    """Return the verdicts in the committed page, by the number of the cell."""
    words = {"yes": "holds", "**no**": "broken", "?": "not decided"}
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if CELL.match(line):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found[int(cells[0])] = [words[cell.partition(",")[0]] for cell in cells[-len(TITLES) :]]
    return found


def test_the_page_is_about_the_grid() -> None:
    """A line for each cell, in its order."""
    assert list(cells_of_the_page()) == list(range(1, len(list(grid())) + 1))


def recheck(number: int, *promises: str) -> None:
    """Decide some promises of a cell again, and compare them with the page."""
    one = list(grid())[number - 1]
    said = dict(zip(TITLES, cells_of_the_page()[number], strict=True))
    for promise in promises or TITLES:
        assert verdict_of(one, promise) == said[promise], promise


@pytest.mark.parametrize("number", [1, 14, 27])
def test_cells_of_the_page_say_what_exploring_says(number: int) -> None:
    """A sample of quick cells, each decided again by itself."""
    recheck(number)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [30, 40, 50, 60])
def test_more_cells_of_the_page_say_what_exploring_says(number: int) -> None:
    """Cells of two replicas."""
    recheck(number)


def test_whether_the_page_serves_is_what_exploring_says() -> None:
    """Of what is usual in 3.9, whether it stays writable, consumable and readable after one crash."""
    usual = settings(release="3.9", crashes=1)
    recheck([*grid()].index(usual) + 1, "writes_go_on", "written_is_shown", "reads_go_on")
