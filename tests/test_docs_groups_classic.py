# SPDX-License-Identifier: Apache-2.0
"""The page about classic groups says what the model says: its runs, its pictures, its scopes, its commands and links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import astuple

from hwmark.checker.replay import Replayed
from hwmark.checker.shipped import shipped_names
from hwmark.spec.catalogue import ROWS
from hwmark.spec.group_classic.presets import PRESETS
from hwmark.spec.group_classic.scopes import SCOPES
from hwmark.spec.group_classic.view import VIEW

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "groups.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Return what the page's program knows after it was run in an empty folder, and the folder."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    namespace: dict[str, Any] = {"__name__": "page"}
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(program, "groups.md", "exec"), namespace)  # noqa: S102 - our own page
    return namespace, folder


def test_the_program_draws_the_pictures(drawn: tuple[dict[str, Any], Path]) -> None:
    """The pictures of the page are those that its program writes, and there are no others."""
    names = {path.name for path in drawn[1].iterdir()}
    assert names == set(re.findall(r"\]\(pictures/runs/(\S+)\)", PAGE))
    assert [name for name in sorted(names) if (DOCS / "pictures" / "runs" / name).read_bytes() != (drawn[1] / name).read_bytes()] == []


def told(run: Replayed) -> dict[str, str]:
    """Return how the view tells each step of a run, by its number."""
    view = VIEW.of(run.machine)
    steps = zip(run.states, run.steps, run.states[1:], strict=False)
    return {str(number): view.event(*one).caption for number, one in enumerate(steps, start=1)}


def test_the_steps_are_those_of_the_pictures(drawn: tuple[dict[str, Any], Path]) -> None:
    """Each numbered line is how the view tells that step: of the eager run first, then of the cooperative one."""
    lines = re.findall(r"^(\d+)\. (.+)\.$", PAGE, re.MULTILINE)
    second = next(place for place in range(1, len(lines)) if int(lines[place][0]) < int(lines[place - 1][0]))
    for name, listed in (("classic_group_eager", lines[:second]), ("classic_group_cooperative", lines[second:])):
        steps = told(drawn[0]["runs"][name])
        assert listed == [(number, steps[number]) for number, _ in listed]
        assert len(listed) > 20


def test_every_join_is_a_rebalance(drawn: tuple[dict[str, Any], Path]) -> None:
    """Three consumers need three generations, cooperative ones one more for each partition that moves; all own one at the end."""
    runs = drawn[0]["runs"]
    assert {name: run.states[-1].group.generation for name, run in runs.items()} == {
        "classic_group_eager": 3,
        "classic_group_cooperative": 5,
    }
    assert [[len(one.owned) for one in run.states[-1].consumers] for run in runs.values()] == [[1, 1, 1]] * 2


def test_the_scopes_are_those_of_the_catalogue() -> None:
    """Every scope, with its pinned number of states."""
    rows = re.findall(r"^\| (.+) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert rows == [(row.statement, f"{row.states:,}") for row in SCOPES]


def test_what_the_page_names_exists() -> None:
    """Rows, presets, traces and files; and Kafka's rules differ from the right ones in as many as the page says."""
    assert set(re.findall(r"--rules (\w+)", PAGE)) <= set(PRESETS)
    assert set(re.findall(r"hwmark replay (\w+)", PAGE)) <= set(shipped_names())
    named = {*re.findall(r"\(`([a-z_]+)`\)", PAGE), *re.findall(r"catalogue --run (\w+)", PAGE)}
    assert len(named) == 4
    assert named <= {row.id for row in ROWS}
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if not (DOCS / link).exists()] == []
    right, kafka = PRESETS["group_classic"], PRESETS["kafka_3_5"]
    assert sum(ours is not kafkas for ours, kafkas in zip(astuple(right), astuple(kafka), strict=True)) == 3
