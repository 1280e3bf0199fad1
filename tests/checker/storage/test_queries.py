# SPDX-License-Identifier: Apache-2.0
"""The queries of ``docs/statespace.md`` do what the page says, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import fields
from toy_space import Space, space_of, store

from hwmark.checker.storage import checkpoint, files, manifest, parts, values
from hwmark.checker.storage.arrow import pq
from hwmark.spec.machines import MACHINES

PAGE = (Path(__file__).parents[3] / "docs" / "statespace.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Return the one block of code in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Space:
    """Store the small space of the replicated partition where the queries look for it."""
    described = MACHINES["replication"]
    machine = described.build(described.presets[described.right], described.module.Config(), described.module.Bounds(2, 2, 2, 1))
    made = space_of(machine)
    with pytest.MonkeyPatch.context() as patch:
        for module in (parts, checkpoint, manifest):
            patch.setattr(module, "PART_STATES", 500)
        store(tmp_path_factory.getbasetemp() / "space", made)
    return made


@pytest.fixture(autouse=True)
def _beside_the_space(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries name the directory as in the page."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


def test_states_are_counted_with_polars(space: Space) -> None:
    """Each level is there with its states, and with those in which the true ISR is one broker."""
    pytest.importorskip("polars", reason="polars is not installed: pip install hwmark[test]")
    known: dict[str, Any] = {}
    exec(block("python"), known)  # noqa: S102 - the page's own code
    alone = [0] * len(space.levels)
    for number, state in enumerate(space.states):
        alone[space.level_of(number)] += len(state.quorum.isr) == 1
    expected = [(level, states, alone[level]) for level, states in enumerate(space.levels)]
    assert known["answer"].rows() == expected
    assert sum(alone) > 0


def test_a_run_is_found_with_duckdb(space: Space) -> None:
    """The steps lead from the initial state to one in which both brokers believe that they lead, and none is nearer."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: pip install hwmark[test]")
    rows = duckdb.sql(block("sql")).fetchall()
    assert [level for level, _ in rows] == list(range(len(rows)))
    takes = dict(zip(map(str, space.explored.steps), space.explored.takes, strict=True))
    state = space.states[0]
    for _, step in rows[1:]:
        state = takes[step](state)
    assert rows[0] == (0, None)
    assert [replica.leader for replica in state.replicas] == [0, 1]
    distances = [
        space.level_of(number) for number, one in enumerate(space.states) if [replica.leader for replica in one.replicas] == [0, 1]
    ]
    assert min(distances) == len(rows) - 1


def test_the_page_tells_of_every_file_and_column(space: Space, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Schema, kinds of files, columns that every state has, and tags of values are all on the page."""
    assert f"`{manifest.SCHEMA}`" in PAGE
    assert {f"`{kind}-*.{ending}`" for kind, ending in (("states", "parquet"), ("rows", "parquet"), ("values", "jsonl"))} <= set(
        re.findall(r"`[^`\n]+`", PAGE)
    )
    assert f"`{files.LOCK}`" in PAGE
    assert f"{parts.GROUP_STATES:,}" in PAGE
    columns = pq.read_schema(next((tmp_path_factory.getbasetemp() / "space").glob("states-*.parquet"))).names
    assert columns[:6] == ["number", "level", "parent", "step", "logs_0", "logs_1"]
    told = set(re.findall(r"`([a-z_0-9]+)`", PAGE))
    assert {*columns[:6], *values._TAGS, "parent", "via", "word_0", "word", "shift", "bits", "first", "part"} <= told  # noqa: SLF001
    assert {attribute.name for attribute in fields(manifest.PartFiles)} == {"count", "rows", "states"}
    assert space.levels[0] == 1
