# SPDX-License-Identifier: Apache-2.0
"""``hwmark conform`` as a user meets it: exit codes, formats, what is known, what is not installed, and Ctrl-C."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from hwmark.checker.cli import run
from hwmark.checker.conform import command
from hwmark.checker.conform.assignors import judge as judging
from hwmark.checker.conform.assignors.node_library import FOLDER
from hwmark.checker.conform.assignors.subjects import Library, NotInstalledError, Subject
from hwmark.checker.conform.assignors.target import conform
from hwmark.model.assignors.groups import Assignment, Assignor, Group, TopicPartition, assignment, subscribed_topics, subscribers
from hwmark.model.assignors.range_assignor import range_assignor

WRONG = "assignors/mine.range/in_ranges"


class Mine:
    """A library with one assignor."""

    version = "1.0"

    def __init__(self, assign: Assignor) -> None:
        """Offer this one as its range assignor."""
        self._assign, self.is_closed = assign, False

    def subjects(self) -> tuple[Subject, ...]:
        """Return the assignor."""
        return (Subject("mine.range", "range", self._assign),)

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True


def to_the_last(group: Group) -> Assignment:
    """Give all partitions of a topic to the last of its subscribers: neither in ranges nor balanced."""
    shares: dict[str, list[TopicPartition]] = {member.id: [] for member in group.members}
    for topic in subscribed_topics(group):
        shares[max(member.id for member in subscribers(group, topic.name))] += topic.all_partitions()
    return assignment(shares)


RIGHT, BROKEN = Mine(range_assignor), Mine(to_the_last)


def missing() -> Library:
    """Open a library that is not installed."""
    raise NotInstalledError("not installed: pip install absent")


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "SHORTENING_SECONDS", 0.1)


def offer(monkeypatch: pytest.MonkeyPatch, libraries: Mapping[str, Any]) -> None:
    """Let these be the libraries."""
    monkeypatch.setattr(command, "TARGETS", {"assignors": partial(conform, libraries=libraries)})


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command in this process; return exit code, standard output and standard error."""
    code = run(("conform", "assignors", "--budget", "40", *arguments))
    out, err = capsys.readouterr()
    return code, out, err


def pin(tmp_path: Path, *ids: str) -> str:
    """Write a file that pins these deviations; return its path."""
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"schema": "hwmark.known/1", "known": [{"id": one, "why": "It goes round."} for one in ids]}))
    return str(path)


# -- exit codes --


def test_a_clean_sample_says_that_it_is_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 0, and no proof."""
    monkeypatch.setenv("COLUMNS", "110")
    offer(monkeypatch, {"mine": lambda: RIGHT})
    code, out, err = answer(capsys)
    assert (code, err) == (0, "")
    assert "clean: 9 clean. A sample, not a proof" in out
    assert "Not asked of mine.range: nothing tells it static members: static_members_keep_their_place." in out
    assert RIGHT.is_closed


def test_a_deviation_is_told_as_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1; the id, the promise, the topics, who gets what, and what is wrong."""
    offer(monkeypatch, {"mine": lambda: BROKEN})
    code, out, _ = answer(capsys)
    assert code == 1
    story = out[out.index(f"\n{WRONG}\n") :]
    for said in ("Promised: Each topic is cut into ranges", "Topics: ", "subscribes to", "Wrong: topic=", "deviates: "):
        assert said in story


def test_only_news_fails(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Known deviations are told and do not fail; what was pinned and is not found any more is named."""
    offer(monkeypatch, {"mine": lambda: BROKEN})
    other = "assignors/mine.range/balanced_by_topic"
    code, out, _ = answer(capsys, "--known", pin(tmp_path, WRONG, other))
    assert code == 0
    assert f"Known: {WRONG}: It goes round." in out
    offer(monkeypatch, {"mine": lambda: RIGHT})
    code, out, _ = answer(capsys, "--known", pin(tmp_path, WRONG, "assignors/other.range/in_ranges"))
    assert code == 0
    assert f"Pinned, but not found this time: {WRONG}." in out
    assert "other.range" not in out


def test_what_is_not_installed_is_skipped_unless_it_was_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A note in one line; an error, exit code 2, if it was asked for; undetermined if there is nothing else."""
    offer(monkeypatch, {"mine": lambda: RIGHT, "absent": missing})
    code, out, _ = answer(capsys)
    assert (code, "absent: not installed: pip install absent.\n" in out) == (0, True)
    assert answer(capsys, "--library", "absent") == (2, "", "hwmark: absent is not installed: pip install absent\n")
    offer(monkeypatch, {"absent": missing})
    code, out, _ = answer(capsys)
    assert (code, "undetermined: nothing was asked." in out) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("conform", "asignors"), "there is no target 'asignors'; did you mean 'assignors'?"),
        (("conform", "assignors", "--library", "kafka-pyton"), "there is no library 'kafka-pyton'; did you mean 'kafka-python'?"),
        (("conform", "assignors", "--budget", "0"), "--budget"),
        (("conform", "assignors", "--known", "no such file"), "no such file: No such file or directory"),
        (("conform",), "TARGET"),
    ],
)
def test_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, nothing on standard output, and no traceback."""
    code = run(arguments)
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "expected"),
        ('{"schema": "hwmark.known/2", "known": []}', "expected"),
        ('{"schema": "hwmark.known/1", "known": {}}', "entry 1"),
        ('{"schema": "hwmark.known/1", "known": [{"id": "a/b/c"}]}', "entry 1"),
        ('{"schema": "hwmark.known/1", "known": [{"id": "a/b", "why": ""}]}', "no id of the form api/field/rule"),
        ('{"schema": "hwmark.known/1", "known": [{"id": "a/b/c", "why": ""}, {"id": "a/b/c", "why": ""}]}', "pinned twice"),
        ("\u202e", "not JSON"),
    ],
)
def test_a_wrong_file_of_known_deviations_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, said: str) -> None:
    """Whatever is wrong with it is said in one line, before anything is asked."""
    path = tmp_path / "known.json"
    path.write_text(content, encoding="utf-8")
    code, out, err = answer(capsys, "--known", str(path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


# -- formats --


def test_json_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``hwmark.conform/1``, alone on standard output."""
    offer(monkeypatch, {"mine": lambda: BROKEN, "absent": missing})
    code, out, err = answer(capsys, "--json", "--known", pin(tmp_path, WRONG))
    report = json.loads(out)
    assert (code, err) == (1, "")
    keys = ["schema", "target", "seed", "budget", "implementations", "checks", "unseen", "stopped", "seconds", "verdict"]
    assert list(report) == keys
    assert (report["schema"], report["target"], report["verdict"]) == ("hwmark.conform/1", "assignors", "deviates")
    assert report["implementations"][1] == {"name": "absent", "version": None, "why": "not installed: pip install absent"}
    keys = ["id", "field", "rule", "promise", "sources", "asked", "verdict", "why", "question", "answer", "witness"]
    assert all(list(check) == keys for check in report["checks"])
    (known,) = (check for check in report["checks"] if check["id"] == WRONG)
    assert (known["verdict"], known["why"]) == ("known", "It goes round.")
    assert {"topics", "members"} == set(known["question"])


def test_other_programs_read_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """JUnit fails new deviations alone, SARIF names every one; both have as many checks as the report."""
    offer(monkeypatch, {"mine": lambda: BROKEN})
    code, out, _ = answer(capsys, "--known", pin(tmp_path, WRONG), "--out", str(tmp_path / "reports"))
    assert (code, f"Reports are in {tmp_path / 'reports'}." in out) == (1, True)
    reports = {name: (tmp_path / "reports" / file).read_text(encoding="utf-8") for name, file in command.FILES.items()}
    checks = json.loads(reports["json"])["checks"]
    news = [check["id"] for check in checks if check["verdict"] == "deviates"]
    suites = ET.fromstring(reports["junit"])  # noqa: S314 - our own
    failed = [f"{case.get('classname')}/{case.get('name')}" for case in suites.iter("testcase") if case.find("failure") is not None]
    assert (failed, suites.get("tests"), suites.get("failures")) == (news, str(len(checks)), str(len(news)))
    (log,) = json.loads(reports["sarif"])["runs"]
    assert [one["ruleId"] for one in log["results"] if one["kind"] == "fail"] == news
    assert [one["ruleId"] for one in log["results"] if one["kind"] == "informational"] == [WRONG]


# -- the world --


def test_kafkajs_tells_what_it_lacks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without Node, or without the package, it is said how to get it."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda _name: "/usr/bin/node")
    code, _, err = answer(capsys, "--library", "kafkajs")
    assert (code, f"npm install kafkajs there, or name another folder in {FOLDER}" in err) == (2, True)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert answer(capsys, "--library", "kafkajs") == (2, "", "hwmark: kafkajs is not installed: it needs node on the PATH\n")


def test_ctrl_c_leaves_an_honest_report(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not asked to the end is undetermined, exit code 3, and standard output is still one JSON document."""
    calls = count()

    def interrupted(group: Group) -> Assignment:
        if next(calls) == 100:
            signal.raise_signal(signal.SIGINT)
        return range_assignor(group)

    library = Mine(interrupted)
    offer(monkeypatch, {"mine": lambda: library})
    code, out, err = answer(capsys, "--json")
    report = json.loads(out)
    assert (code, err, report["stopped"], report["verdict"]) == (3, "", "interrupted", "undetermined")
    assert {check["verdict"] for check in report["checks"]} == {"undetermined", "not_asked"}
    assert library.is_closed
