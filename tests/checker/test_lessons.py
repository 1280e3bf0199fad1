# SPDX-License-Identifier: Apache-2.0
"""The shipped traces are the lessons' shortest counterexamples, step by step, found anew."""

from __future__ import annotations

from typing import Any

import pytest

from hwmark.checker import lessons
from hwmark.checker.fingerprint import fingerprint
from hwmark.checker.shipped import load_shipped, shipped_names
from hwmark.checker.trace import NOT_ASKED_AGAIN, load, replay
from hwmark.spec.catalogue import ROWS
from hwmark.spec.lessons import LESSONS
from hwmark.spec.machines import MACHINES
from hwmark.spec.replication_rows import THREE

CASES: list[Any] = [pytest.param(name, marks=[pytest.mark.exhaustive] if one.bounds == THREE else []) for name, one in LESSONS.items()]


def test_each_lesson_is_shipped() -> None:
    """There is one trace for each lesson, and each trace that a catalogue row names."""
    assert shipped_names() == sorted(LESSONS)
    assert {row.trace for row in ROWS if row.trace is not None} <= set(LESSONS)


@pytest.mark.parametrize("name", CASES)
def test_the_shipped_trace_is_what_the_explorer_finds(name: str) -> None:
    """Exploring again gives the same file: the same steps, as many as the shortest counterexample has."""
    assert lessons.find(LESSONS[name]) == load_shipped(name)


@pytest.mark.parametrize("name", LESSONS)
def test_the_shipped_trace_replays_and_tells_its_lesson(name: str) -> None:
    """Each trace violates its property again, was made from the present model, and tells its lesson in three sentences."""
    trace = load_shipped(name)
    replayed = replay(trace)
    assert replayed.property == LESSONS[name].property
    assert set(replayed.remarks) <= {NOT_ASKED_AGAIN}
    assert trace.model == fingerprint(MACHINES[trace.machine].module)
    assert trace.note == LESSONS[name].note
    assert len(trace.note.split(". ")) == 3


def test_a_lesson_is_written_where_it_is_asked_for(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes the lessons named into the folder named, and refuses what it does not know."""
    assert lessons.main([str(tmp_path), "version_unchecked"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["version_unchecked.json"]
    assert load(tmp_path / "version_unchecked.json") == load_shipped("version_unchecked")
    assert lessons.main([str(tmp_path), "no_such_lesson"]) == 2
    assert "version_unchecked" in capsys.readouterr().err
