# SPDX-License-Identifier: Apache-2.0
"""Every row of the catalogue says what the explorer finds, and every lesson belongs to a row.

Quick rows are proved here, the others with ``-m exhaustive``, but for those of more than ``LARGE`` states, which
``hwmark catalogue --run`` proves, and scopes of which a machine's own tests ask more.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict, astuple, fields

from hwmark.checker.catalogue import prove, sides
from hwmark.spec.catalogue import ROWS, Row
from hwmark.spec.lesson import Lesson
from hwmark.spec.lessons import LESSONS
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Converges, LeadsTo
from hwmark.spec.requirements import CARRIED, PLANNED, REQUIREMENTS

CARRIED_ROWS = [row for row in ROWS if row.status == CARRIED and row.machine in MACHINES]
PUBLISHED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "published_verdicts.json").read_text())
LARGE = 50_000
"""States beyond which a row is left to the command."""
LARGE_TOO = {
    "commit_own_epoch_only",
    "eligible_leader_replicas",
    "expand_from_epoch_start_as_shipped",
    "fewer_lossy_crashes_than_min_isr",
    "longest_log_is_not_the_most_complete",
    "only_replicas_are_eligible",
    "truncate_by_epoch_as_shipped",
    "truncate_to_shared_epoch_on_fetch",
}
"""Rows that do not say how many states they have, and have as many."""
ASKED_MORE = {"consumer", "offsets", "pipeline", "placement", "zookeeper"}
"""Machines whose own tests explore their scopes."""


def cases() -> list[Any]:
    """Return the rows to prove under their ids, those that are not quick marked as exhaustive."""
    rows = [row for row in CARRIED_ROWS if row.id not in LARGE_TOO and (row.states is None or row.states <= LARGE)]
    scopes = {row.id for row in rows if row.rules_off is None and not row.quick and row.machine in ASKED_MORE}
    return [pytest.param(row, id=row.id, marks=[] if row.quick else [pytest.mark.exhaustive]) for row in rows if row.id not in scopes]


def differing(ours: Any, theirs: Any) -> list[str]:
    """Return the names of the fields in which two values of one class differ."""
    return [one.name for one in fields(type(ours)) if getattr(ours, one.name) != getattr(theirs, one.name)]


# -- what rows say --


def test_rows_have_ids_of_their_own() -> None:
    """A row is found by its id, a word in lower case."""
    assert len({row.id for row in ROWS}) == len(ROWS)
    assert [row.id for row in ROWS if not re.fullmatch(r"[a-z][a-z_0-9]+", row.id)] == []


def test_statements_are_sentences() -> None:
    """A statement says the rule in whole sentences, and fits into a table."""
    assert [row.id for row in ROWS if not (row.statement[0].isupper() and row.statement.endswith("."))] == []
    assert [row.id for row in ROWS if len(row.statement) > 340] == []


@pytest.mark.parametrize("row", CARRIED_ROWS, ids=lambda row: row.id)
def test_a_carried_row_can_be_run(row: Row) -> None:
    """Machine, presets, bounds and properties of a carried row exist, and it names in what its two sides differ."""
    described = MACHINES[str(row.machine)]
    asked = sides(row)
    assert all(type(one.bounds) is type(described.small) for one in asked)
    assert {*row.breaks, *row.holds} <= {prop.name for prop in described.properties}
    assert any(REQUIREMENTS[source].status == CARRIED for source in row.sources if source in REQUIREMENTS)
    if row.rules_off is None:
        assert (dict(row.breaks), row.control, row.trace) == ({}, False, None)
        return
    off, on = asked
    assert row.rule.split(", ") == differing(off.rules, on.rules) + differing(off.config, on.config) + differing(off.bounds, on.bounds)
    assert bool(row.breaks) is not row.control


@pytest.mark.parametrize("row", [row for row in ROWS if row.status == PLANNED], ids=lambda row: row.id)
def test_a_planned_row_claims_nothing(row: Row) -> None:
    """A planned row has no machine, no depths and no trace, and is behind some planned requirement."""
    assert row == Row(row.id, row.rule, row.statement, row.sources, PLANNED)
    assert any(REQUIREMENTS[source].status == PLANNED for source in row.sources if source in REQUIREMENTS)


@pytest.mark.parametrize("described", MACHINES.values(), ids=lambda described: described.name)
def test_every_preset_has_a_row(described: Any) -> None:
    """Each preset that takes a rule away is one side of a row of its machine."""
    used = {preset for row in CARRIED_ROWS if row.machine == described.name for preset in (row.rules_off, row.rules_on)}
    assert set(described.presets) - used == set()


def test_a_row_of_another_status_is_refused() -> None:
    """A row is carried or planned."""
    with pytest.raises(ValueError, match="status"):
        Row("id", "rule", "Statement.", (), "perhaps")


def test_rows_about_a_published_scope_say_what_was_published() -> None:
    """Where variant and scope of a row are published, its depths are the published ones, all of them or none."""
    published = {(row["variant"], tuple(row["scope"])): row.get("violations") for row in PUBLISHED}
    safety = {name for violations in published.values() for name in violations or ()}
    compared = []
    for row in CARRIED_ROWS:
        violations = published.get((str(row.rules_off), astuple(row.bounds))) if row.machine == "replication" else None
        if violations is not None and set(row.breaks) <= safety:
            compared.append(row.id)
            assert dict(row.breaks) == violations, row.id
    assert len(compared) == 13


# -- what the explorer finds --


@pytest.mark.parametrize("row", cases())
def test_the_explorer_finds_what_a_row_says(row: Row) -> None:
    """Without the rule each named property breaks in the fewest steps that the row says; with it nothing breaks in the whole scope."""
    proved = prove(row, lambda: None)
    assert (proved.agrees, proved.why) == (True, ())


def test_liveness_is_not_asked_under_symmetry() -> None:
    """A row that breaks what must come true at last explores plain states: under symmetry it would be undetermined."""
    eventual = {prop.name for one in MACHINES.values() for prop in one.properties if isinstance(prop, Converges | LeadsTo)}
    assert [row.id for row in CARRIED_ROWS if row.symmetry and set(row.breaks) & eventual] == []


# -- lessons --


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_that_of_its_row(name: str) -> None:
    """Each lesson breaks, without the rule of the row that names it, one of the properties that the row says."""
    lesson = LESSONS[name]
    (row,) = (row for row in ROWS if row.trace == name)
    config, bounds = (ours if theirs is None else theirs for ours, theirs in ((row.config, row.config_off), (row.bounds, row.bounds_off)))
    assert (lesson.machine, lesson.preset, lesson.config, lesson.bounds) == (row.machine, row.rules_off, config, bounds)
    assert lesson.property in row.breaks


def test_every_trace_that_a_row_names_has_a_lesson() -> None:
    """A row does not name a trace that nobody wrote about."""
    assert [row.id for row in ROWS if row.trace is not None and row.trace not in LESSONS] == []


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_note_has_three_sentences_about_roles(lesson: Lesson) -> None:
    """A note says what happens, why the rule allowed it, and what ended it, without broker numbers or control characters."""
    assert len(re.split(r"(?<=[.!?]) (?=[A-Z])", lesson.note)) == 3
    assert re.search(r"\bbroker \d|\br\d\b", lesson.note) is None
    assert all(text.isprintable() and text for text in asdict(lesson, filter=lambda _, value: isinstance(value, str)).values())
