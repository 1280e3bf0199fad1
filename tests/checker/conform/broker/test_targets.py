# SPDX-License-Identifier: Apache-2.0
"""What the brokers do that come in wheels is known, and nothing else is found; each known deviation is still there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hwmark.checker.cli import run

HERE = Path(__file__).resolve().parent


def conform(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code, and the report."""
    code = run(["conform", *arguments, "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, report


def test_few_programs_show_nothing_new(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the broker that comes with a client library."""
    code, report = conform(capsys, "mock", "--budget", "30", "--known", str(HERE / "known-mock.json"))
    assert (code, report["verdict"]) == (0, "clean")
    assert sum(check["verdict"] == "known" for check in report["checks"]) > 40


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["mock", "tansu"])
def test_deviations_are_known(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the default budget and seed nothing is news; a program of one deviation is played again from its file."""
    known = HERE / f"known-{target}.json"
    code, report = conform(capsys, target, "--known", str(known))
    assert (code, report["verdict"]) == (0, "clean")
    found = [check["id"] for check in report["checks"] if check["verdict"] == "known"]
    assert len(found) > 20
    assert len(report["unseen"]) <= 3
    code, report = conform(capsys, target, "--out", str(tmp_path))
    assert code == 1
    again = [check for check in report["checks"] if check["verdict"] == "deviates"]
    assert {check["id"] for check in again} == set(found)
    assert max(len(check["question"]) for check in again) <= 6
    kept = tmp_path / "produce.error.checksum.json"
    assert json.loads(kept.read_text(encoding="utf-8"))["program"] == [{"do": "Produce", "flaw": "crc"}]
    code, report = conform(capsys, target, "--replay", str(kept))
    assert (code, [check["id"] for check in report["checks"] if check["verdict"] == "deviates"]) == (1, ["produce/error/checksum"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["broker"], "conform broker needs --bootstrap HOST:PORT"),
        (["broker", "--bootstrap", "here"], "--bootstrap: expected HOST:PORT, got 'here'"),
        (["broker", "--bootstrap", "127.0.0.1:0"], "--bootstrap: expected HOST:PORT, got '127.0.0.1:0'"),
        (["broker", "--bootstrap", "127.0.0.1:1"], "127.0.0.1:1 cannot be reached: Connection refused"),
        (["mock", "--bootstrap", "127.0.0.1:1"], "--bootstrap is for conform broker and conform clients, not for mock"),
        (["tansu", "--release", "4.0.1"], "--release is for conform kafka and conform clients, not for tansu"),
        (["assignors", "--replay", "FILE"], "--replay is for brokers and clients, not for assignors"),
        (["broker", "--bootstrap", "127.0.0.1:1", "--nodes", "3"], "--nodes is for conform kafka, not for broker"),
        (["mock", "--replay", "OTHER"], 'expected {"format": "hwmark.program/1", "program": […]}'),
        (["mock", "--replay", "EMPTY"], "a program is a list of requests, with one at least"),
    ],
)
def test_bad_input(arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, and exit code 2."""
    files = {
        "FILE": '{"format": "hwmark.program/1", "program": [{"do": "Produce"}]}',
        "OTHER": "{}",
        "EMPTY": '{"format": "hwmark.program/1", "program": []}',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert run(["conform", *(str(tmp_path / one) if one in files else one for one in arguments)]) == 2
    printed, errors = capsys.readouterr()
    assert printed == ""
    assert said in errors
    assert errors.count("\n") == 1
