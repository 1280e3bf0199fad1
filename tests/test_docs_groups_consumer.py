# SPDX-License-Identifier: Apache-2.0
"""The page about consumer groups says what the model says: its run, its picture, its scopes, its commands and links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import astuple

from hwmark.checker.replay import replay_run
from hwmark.spec.catalogue import ROWS
from hwmark.spec.group_consumer.presets import KAFKA_4_3, PRESETS, RIGHT
from hwmark.spec.group_consumer.scopes import SCOPES
from hwmark.spec.group_consumer.view import VIEW

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "groups-consumer.md").read_text(encoding="utf-8")


@pytest.fixture
def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the page's program knows after it was run in an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    namespace: dict[str, Any] = {"__name__": "page"}
    exec(compile(program, "groups-consumer.md", "exec"), namespace)  # noqa: S102 - our own page
    return namespace


def test_the_program_draws_the_picture(drawn: dict[str, Any], tmp_path: Path) -> None:
    """The picture of the page is the one that its program writes."""
    (name,) = {path.name for path in tmp_path.iterdir()}
    assert drawn["replayed"].witness is None
    assert (DOCS / "pictures" / "runs" / name).read_text(encoding="utf-8") == (tmp_path / name).read_text(encoding="utf-8")


def test_the_steps_are_those_of_the_picture(drawn: dict[str, Any]) -> None:
    """Each numbered line is how the view tells that step, and at the end the group is stable."""
    told = re.findall(r"^\d+\. (.+)\.$", PAGE, re.MULTILINE)
    replayed = replay_run(drawn["replayed"].machine, drawn["Run"](drawn["steps"]))
    view = VIEW.of(replayed.machine)
    steps = zip(replayed.states, replayed.steps, replayed.states[1:], strict=False)
    assert told == [view.event(before, step, after).caption for before, step, after in steps]


def test_the_scopes_are_those_of_the_catalogue() -> None:
    """Every scope, with its pinned number of states."""
    rows = re.findall(r"^\| (.+) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert rows == [(row.statement, f"{row.states:,}") for row in SCOPES]


def test_what_the_page_names_exists() -> None:
    """Rows, presets and files; and the rules of Kafka 4.3.1 differ from the right ones in as many as the page says."""
    assert set(re.findall(r"--rules (\w+)", PAGE)) <= set(PRESETS)
    named = {"retries_are_tolerated", *re.findall(r"catalogue --run (\w+)", PAGE)}
    assert named <= {row.id for row in ROWS}
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if not (DOCS / link).exists()] == []
    assert sum(ours is not kafkas for ours, kafkas in zip(astuple(RIGHT), astuple(KAFKA_4_3), strict=True)) == 2
