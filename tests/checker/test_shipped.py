# SPDX-License-Identifier: Apache-2.0
"""Shipped traces are found by name, files by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwmark.checker import shipped
from hwmark.checker.asked import ask
from hwmark.checker.errors import InputError
from hwmark.checker.report import check
from hwmark.checker.trace import Trace, dumps, to_trace

SMALL = "replicas=2,log_size=2,records=2,max_leader_epoch=2"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    """Ship one trace, ``lesson``, in a package of its own, and return it."""
    asked = ask("replication", preset="kip_101", bounds=SMALL, properties=("strong_isr",))
    checked = check(asked)
    made = to_trace(asked.described, asked.preset, checked.machine, checked.found.results[0])
    (tmp_path / "lessons_of_a_test").mkdir()
    (tmp_path / "lessons_of_a_test" / "lesson.json").write_text(dumps(made), encoding="utf-8")
    (tmp_path / "lessons_of_a_test" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(shipped, "PACKAGE", "lessons_of_a_test")
    return made


def test_a_name_and_a_path_find_the_same_trace(kept: Trace, tmp_path: Path) -> None:
    """The shipped trace is found by its name, and by the path of its file, from a folder without such a file."""
    assert shipped.shipped_names() == ["lesson"]
    assert shipped.find_trace("lesson") == kept
    assert shipped.find_trace(str(tmp_path / "lessons_of_a_test" / "lesson.json")) == kept


def test_a_file_without_the_usual_ending_is_a_path(kept: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is there wins over a name that is not."""
    (tmp_path / "mine").write_text(dumps(kept), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert shipped.find_trace("mine") == kept


@pytest.mark.usefixtures("kept")
def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    """The error says what was probably meant."""
    with pytest.raises(InputError, match="no shipped trace 'leson'; did you mean 'lesson'"):
        shipped.find_trace("leson")
