# SPDX-License-Identifier: Apache-2.0
"""``hwmark judge`` answers in every format, draws what it found, and pins what is known."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from script import Script

from hwmark.checker.cli import run
from hwmark.checker.oracle.command import FILES

ROOT = Path(__file__).resolve().parents[3]
LOST = ROOT / "docs" / "examples" / "lost-write.jsonl"
SVG = "{http://www.w3.org/2000/svg}"


def test_all_formats_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder gets the answer in every format, and a picture of the first finding of each anomaly."""
    assert run(["judge", str(LOST), "--json", "--out", str(tmp_path)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((tmp_path / FILES["json"]).read_text(encoding="utf-8"))
    assert told["schema"] == "hwmark.judgement/1"
    (history,) = told["histories"]
    assert (history["history"], history["lines"], history["verdict"]) == (str(LOST), 9, "deviates")
    found = {check["rule"]: check for check in history["checks"] if check["verdict"] == "deviates"}
    assert set(found) == {"lost_write", "int_poll_skip"}
    assert found["lost_write"]["question"] == {"partition": "t-0", "ops": [1, 3]}
    assert found["lost_write"]["witness"] == {"offset": 1, "value": "y"}
    assert (
        history["requirements"] | {"S7": "deviates", "S9": "deviates", "S6": "not_asked", "S1-topics": "clean"} == history["requirements"]
    )
    assert [len(check["findings"]) for check in found.values()] == [1, 1]
    failures = ET.parse(tmp_path / FILES["junit"]).getroot().findall(".//failure")  # noqa: S314 - our own
    assert len(failures) == 2
    (log,) = json.loads((tmp_path / FILES["sarif"]).read_text(encoding="utf-8"))["runs"]
    assert [result["ruleId"] for result in log["results"]] == ["history/records/lost_write", "history/order/int_poll_skip"]
    assert {path.name for path in tmp_path.iterdir()} == {*FILES.values(), "lost_write.svg", "int_poll_skip.svg"}
    drawn = ET.parse(tmp_path / "lost_write.svg").getroot()  # noqa: S314 - our own
    said = {text.text for text in drawn.iter(f"{SVG}text")}
    assert {"line 4: a calls produce", "y", "Violated: history/records/lost_write"} <= said


def test_known_findings_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is pinned is told, and only news fails; what is pinned and not found is told too."""
    known = tmp_path / "known.json"
    ids = ("history/records/lost_write", "history/order/int_poll_skip", "history/order/poll_skip")
    known.write_text(
        json.dumps({"schema": "hwmark.known/1", "known": [{"id": one, "why": "an exercise"} for one in ids]}), encoding="utf-8"
    )
    assert run(["judge", str(LOST), "--known", str(known)]) == 0
    printed = capsys.readouterr().out
    assert "Known: history/records/lost_write: an exercise" in printed
    assert "Pinned, but not found this time: history/order/poll_skip." in printed


def test_several_histories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is judged by itself; the worst decides."""
    script = Script()
    script.client("a").send("x", at=0)
    script.client("b").poll((0, "x"))
    clean = tmp_path / "clean.jsonl"
    clean.write_bytes(script.file.getvalue())
    assert run(["judge", str(clean), str(LOST), "--format", "junit"]) == 1
    suites = [suite.get("name") for suite in ET.fromstring(capsys.readouterr().out).iter("testsuite")]  # noqa: S314 - our own
    assert suites[0] == f"{clean}/records"
    assert f"{LOST}/records" in suites
    assert run(["judge", str(clean)]) == 0


def test_nothing_to_ask_about_is_undetermined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A history without calls shows nothing, and is not called clean."""
    path = tmp_path / "empty.jsonl"
    path.write_bytes(Script().file.getvalue())
    assert run(["judge", str(path)]) == 3
    assert "undetermined: nothing was asked." in capsys.readouterr().out
