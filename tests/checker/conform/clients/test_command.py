# SPDX-License-Identifier: Apache-2.0
"""The command as users see it, with a simulated group in the place of real ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_group import FakeGroup

from hwmark.checker.cli import run
from hwmark.checker.conform import command
from hwmark.checker.conform.clients.target import Place, drive
from hwmark.checker.conform.found import Found, Implementation, Plan
from hwmark.checker.workers import Stop

LOST = "range/pause/lost_is_told"


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Drive simulated groups instead of real ones; return the plans that come."""
    seen: list[Plan] = []

    def clients(plan: Plan, stop: Stop, done: Callable[[int, int], None]) -> Found:
        seen.append(plan)
        return drive(Place((Implementation("simulated", "1"),), ("range",), (FakeGroup("lost_is_told"),)), plan, stop, done)

    monkeypatch.setitem(command.TARGETS, "clients", clients)
    return seen


def conform(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code, and the report."""
    code = run(["conform", "clients", "--json", *arguments])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, report


def test_deviation_is_kept_known_and_replayed(plans: list[Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its program is a file that plays again, and once it is pinned it fails no more."""
    code, report = conform(capsys, "--budget", "16", "--out", str(tmp_path))
    assert (code, [check["id"] for check in report["checks"] if check["verdict"] == "deviates"]) == (1, [LOST])
    kept = tmp_path / "range.pause.lost_is_told.json"
    written = json.loads(kept.read_text(encoding="utf-8"))
    assert (written["format"], written["target"], written["id"]) == ("hwmark.program/1", "clients", LOST)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".txt", ".xml", ".sarif"}
    code, report = conform(capsys, "--replay", str(kept))
    assert (code, [check["id"] for check in report["checks"] if check["verdict"] == "deviates"]) == (1, [LOST])
    known = tmp_path / "known.json"
    known.write_text(json.dumps({"schema": "hwmark.known/1", "known": [{"id": LOST, "why": "it is simulated"}]}), encoding="utf-8")
    code, report = conform(capsys, "--budget", "16", "--known", str(known))
    assert (code, report["verdict"]) == (0, "clean")
    assert [(check["id"], check["why"]) for check in report["checks"] if check["verdict"] == "known"] == [(LOST, "it is simulated")]
    assert [plan.replay is None for plan in plans] == [True, False, True]


def test_plan(plans: list[Plan], capsys: pytest.CaptureFixture[str]) -> None:
    """The default budget is that of clients; an address and versions of Kafka come as they are given."""
    run(["conform", "clients"])
    assert "At most 64 programs, seed 0, " in capsys.readouterr().out
    run(["conform", "clients", "--budget", "2", "--bootstrap", "127.0.0.1:9", "--release", "4.3.1", "--release", "4.0.1", "--seed", "5"])
    assert [(plan.budget, plan.address, plan.names, plan.seed) for plan in plans] == [
        (64, None, (), 0),
        (2, "127.0.0.1:9", ("4.3.1", "4.0.1"), 5),
    ]
