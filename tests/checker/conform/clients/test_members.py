# SPDX-License-Identifier: Apache-2.0
"""Members in processes of their own: whatever becomes of them is a finding, and nothing is left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hwmark.checker.cli import run
from hwmark.checker.conform.clients import members
from hwmark.checker.conform.clients.members import Cluster, ProcessGroup
from hwmark.checker.conform.clients.target import OF_THE_MOCK, Place, drive
from hwmark.checker.conform.found import Check, Found, Plan, Verdict
from hwmark.checker.errors import InputError

HERE = Path(__file__).resolve().parent
JOIN = {"assignor": "range", "partitions": {"t": 1}, "steps": [{"do": "join", "member": "a", "topics": ["t"]}]}
LINE = "import sys; line = sys.stdin.readline(); "
OTHER = '{"events": [{"what": "assigned", "at": 0, "until": 0, "partitions": [{"topic": "x", "partition": 0}]}]}'
WRONG = {
    "import sys; sys.exit('no module')": "it ended with exit code 1: no module",
    LINE + "import os; os.abort()": "signal 6 ended it",
    LINE + "input()": "no answer for 2 s",
    LINE + "print('yes', flush=True); input()": "not JSON",
    LINE + "print('[]', flush=True); input()": "its answer: expected an object with events, id, generation, got []",
    LINE + "print('{\"id\": 7}', flush=True); input()": "its answer.id: expected text, got 7",
    LINE + "sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush(); input()": "its answer is not UTF-8",
    LINE + f"print({OTHER!r}, flush=True); input()": "it tells of 'x', which is no topic of this group",
}
"""What a member does, and what is said of it."""


def never() -> None:
    """Do not stop."""


def driven(member: tuple[str, ...], program: Any = JOIN) -> Found:
    """Play a program with members that run this command."""
    cluster = Cluster()
    try:
        place = Place((), OF_THE_MOCK, (ProcessGroup(cluster, f"hwmark-{time.time_ns():x}", member),))
        return drive(place, Plan(replay=program), never, lambda _done, _of: None)
    finally:
        cluster.end()


def deviating(found: Found) -> list[Check]:
    """Return the checks that deviate."""
    return [check for check in found.checks if check.verdict is Verdict.DEVIATES]


@pytest.mark.parametrize(("code", "said"), WRONG.items())
def test_member_that_is_none(code: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hangs, dies, or answers what is no answer: a finding, in bounded time."""
    monkeypatch.setattr(members, "START", 2.0)
    (check,) = deviating(driven((sys.executable, "-c", code)))
    assert check.id == "range/member/answers"
    assert check.deviation is not None
    assert said in str(check.deviation.witness["why"])


def test_cluster_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be played: one line says why."""
    monkeypatch.setattr(members, "CLUSTER", (sys.executable, "-c", "import sys; sys.exit('no cluster')"))
    with pytest.raises(InputError, match="the cluster: it ended with exit code 1: no cluster"):
        driven(members.MEMBER)


def test_real_members(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A group of librdkafka's consumers, librdkafka's mock cluster: one joins after the other, one is frozen and goes on."""
    steps = [
        {"do": "join", "member": "a", "topics": ["t"]},
        {"do": "join", "member": "b", "topics": ["t"]},
        {"do": "freeze", "member": "a"},
        {"do": "resume", "member": "a"},
    ]
    program = {"assignor": "cooperative-sticky", "partitions": {"t": 2}, "steps": steps}
    file = tmp_path / "program.json"
    file.write_text(json.dumps({"format": "hwmark.program/1", "target": "clients", "program": program}), encoding="utf-8")
    code = run(["conform", "clients", "--replay", str(file), "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (code, report["verdict"]) == (0, "clean")
    asked = {check["rule"]: check["asked"] for check in report["checks"]}
    assert asked["lost_is_told"] == 1
    assert asked["keeps_most"] >= 1
    assert asked["in_order"] > 10
    assert [one["name"] for one in report["implementations"]] == ["librdkafka's consumers", "librdkafka's mock cluster"]


def test_interrupt_leaves_a_report_and_no_process() -> None:
    """Members that are frozen then end too."""
    command = [sys.executable, "-m", "hwmark.checker", "conform", "clients", "--budget", "8", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:  # noqa: S603 - ours
        time.sleep(6)
        started = of(process.pid)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    report: dict[str, Any] = json.loads(out)
    assert (process.returncode, report["stopped"]) == (3, "interrupted")
    assert len(started) > 2
    assert [one for one in started if Path(f"/proc/{one}").exists()] == []


def of(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    found: list[int] = []
    for one in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = one.read_text(encoding="utf-8").rpartition(")")[2].split()
            found += [int(one.parent.name)] if int(fields[1]) == parent else []
    return found


@pytest.mark.exhaustive
def test_deviations_are_known(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On the mock cluster nothing is news."""
    monkeypatch.setattr("hwmark.checker.conform.clients.target.ALL_SHORTENING_SECONDS", 0.0)
    monkeypatch.setattr("hwmark.checker.conform.clients.finder.AGAIN", 2)
    code = run(["conform", "clients", "--known", str(HERE / "known-mock.json"), "--budget", "24", "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [check["id"] for check in report["checks"] if check["verdict"] == "deviates"] == []
    assert code in {0, 3}  # what was broken once, and not again, is undetermined


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bootstrap", "here:x"], "--bootstrap: expected HOST:PORT, got 'here:x'"),
        (["--bootstrap", "127.0.0.1:1"], "the cluster: it ended with exit code 1: 127.0.0.1:1 does not answer:"),
        (["--bootstrap", "here"], "--bootstrap: expected HOST:PORT, got 'here'"),
        (["--library", "aiokafka"], "--library is for conform assignors, not for clients"),
        (["--command", "x"], "--command is for conform process, not for clients"),
        (["--replay", "OTHER"], "a program is an object with assignor, partitions and steps"),
    ],
)
def test_bad_input(arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, and exit code 2."""
    other = tmp_path / "other.json"
    other.write_text('{"format": "hwmark.program/1", "program": [{"do": "Produce"}]}', encoding="utf-8")
    assert run(["conform", "clients", *(str(other) if one == "OTHER" else one for one in arguments)]) == 2
    printed, errors = capsys.readouterr()
    assert printed == ""
    assert said in errors
    assert errors.count("\n") == 1
