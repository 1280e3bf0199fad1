# SPDX-License-Identifier: Apache-2.0
"""Nothing is orphaned, and nothing planned is called carried: requirements, and what quotes them."""

from __future__ import annotations

import pytest

from hwmark.spec.catalogue import ROWS
from hwmark.spec.coverage import CARRIED_BY, QUOTED
from hwmark.spec.requirements import CARRIED, FAULTS, PLANNED, PROTOCOL, REQUIREMENTS, USERS, Requirement, is_known

PLANNED_ROWS = {row.id: row.sources for row in ROWS if row.status == PLANNED}


def test_every_requirement_has_its_own_id() -> None:
    """No two requirements share an id, and each statement is a sentence."""
    rows = [*USERS, *PROTOCOL, *FAULTS]
    assert len(REQUIREMENTS) == len(rows)
    assert [row.id for row in rows if not row.statement.endswith(".")] == []


def test_every_source_that_is_quoted_exists() -> None:
    """Properties and rows quote requirements, or what is published elsewhere."""
    quoted = {**QUOTED, **PLANNED_ROWS}
    assert {name: source for name, sources in quoted.items() for source in sources if not is_known(source)} == {}


def test_every_property_and_every_row_quotes_a_requirement() -> None:
    """Each promise and each row is there for a reason that stands in the requirements."""
    quoted = {**QUOTED, **PLANNED_ROWS}
    assert [name for name, sources in quoted.items() if not any(source in REQUIREMENTS for source in sources)] == []


@pytest.mark.parametrize("requirement", [one for one in REQUIREMENTS.values() if one.status == CARRIED], ids=lambda one: one.id)
def test_what_is_called_carried_is_quoted(requirement: Requirement) -> None:
    """A carried requirement is quoted by a property or by a row that is proved."""
    assert CARRIED_BY[requirement.id] != ()


@pytest.mark.parametrize("requirement", [one for one in REQUIREMENTS.values() if one.status == PLANNED], ids=lambda one: one.id)
def test_what_is_planned_is_quoted_by_nothing_that_is_carried(requirement: Requirement) -> None:
    """Once something carries part of a planned requirement, the requirement is to be split."""
    assert CARRIED_BY[requirement.id] == ()


@pytest.mark.parametrize("requirement", [one for one in (*PROTOCOL, *FAULTS) if one.status == PLANNED], ids=lambda one: one.id)
def test_each_planned_rule_and_fault_has_a_row_to_come(requirement: Requirement) -> None:
    """What is planned of KIPs and faults stands in the catalogue, with what goes wrong without it."""
    assert [name for name, sources in PLANNED_ROWS.items() if requirement.id in sources] != []


def test_a_status_is_one_of_two() -> None:
    """A requirement is carried or planned."""
    with pytest.raises(ValueError, match="status"):
        Requirement("S0", "Nothing.", "maybe")


@pytest.mark.parametrize(
    ("source", "known"),
    [("S1", True), ("KIP-966", True), ("KAFKA-7128", True), ("redpanda#11864", True), ("S99", False), ("KIP-", False), ("", False)],
)
def test_sources_are_rows_or_published_elsewhere(source: str, known: bool) -> None:  # noqa: FBT001 - a table of cases
    """A mistyped id is not known."""
    assert is_known(source) is known


def test_who_carries_a_requirement_is_read_off_the_sources() -> None:
    """A property is named with its machine, a row by its id."""
    assert {"replication.strong_isr", "expand_fenced"} <= set(CARRIED_BY["S5"])
