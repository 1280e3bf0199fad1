# SPDX-License-Identifier: Apache-2.0
"""Rows about pure functions: they name what exists, and proving them finds out what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, fields

from hwmark.checker.catalogue import plain_row, prove
from hwmark.checker.errors import InputError
from hwmark.checker.functions import broken_by
from hwmark.checker.verdict import Verdict
from hwmark.spec.assignors.questions import Scope
from hwmark.spec.catalogue import ROWS, Row
from hwmark.spec.functions import FUNCTIONS
from hwmark.spec.requirements import CARRIED, REQUIREMENTS

FUNCTION_ROWS = [row for row in ROWS if row.machine in FUNCTIONS]
BY_ID = {row.id: row for row in FUNCTION_ROWS}
A03 = BY_ID["lone_stale_claim_counts"]


def never() -> str | None:
    """Do not stop."""
    return None


@pytest.mark.parametrize("row", FUNCTION_ROWS, ids=lambda row: row.id)
def test_a_row_names_what_exists(row: Row) -> None:
    """Presets and contracts exist, the presets differ in the named rule alone, and a carried requirement is quoted."""
    described = FUNCTIONS[str(row.machine)]
    off, on = described.presets[str(row.rules_off)], described.presets[str(row.rules_on)]
    names = [attribute.name for attribute in fields(described.rules)]
    assert [name for name in names if getattr(off, name) is not getattr(on, name)] == row.rule.split(", ")
    assert set(row.breaks) <= {contract.name for contract in described.contracts}
    assert type(row.bounds) is type(described.small)
    assert any(REQUIREMENTS[source].status == CARRIED for source in row.sources if source in REQUIREMENTS)


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.id, marks=[] if row.quick else [pytest.mark.exhaustive]) for row in FUNCTION_ROWS]
)
def test_every_question_of_the_scope_says_so(row: Row) -> None:
    """Off, each named contract breaks first at a question of that size; on, none of so many questions breaks any."""
    proved = prove(row, never)
    assert proved.why == ()
    assert (proved.verdict_off, proved.verdict_on, proved.states, proved.agrees) == (Verdict.VIOLATED, Verdict.HOLDS, row.states, True)


def test_every_preset_has_a_row() -> None:
    """Each preset that takes a rule away is one side of a row; the last one is all that Kafka takes away."""
    used = {preset for row in FUNCTION_ROWS for preset in (row.rules_off, row.rules_on)}
    assert {preset for one in FUNCTIONS.values() for preset in one.presets} - used == {"kafka_4_3"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"breaks": {"moves_in_two_steps": 7}}, "first breaks at a question of size 6, not 7"),
        ({"breaks": {"moves_in_two_steps": 6, "one_owner": 6}}, "one_owner holds, which the row does not say"),
        ({"states": 19}, "there are 20 questions, not 19"),
        ({"example": None}, "the row has no example"),
        ({"example": evolve(A03.example, answer={})}, "the example has another answer"),
        ({"example": BY_ID["moved_partitions_wait"].example}, "the example is no smallest question"),
        ({"rules_on": "newest_generation_only"}, "under newest_generation_only moves_in_two_steps is broken"),
        ({"bounds": Scope(members=1)}, "moves_in_two_steps holds, which the row does not say"),
    ],
)
def test_a_wrong_row_is_contradicted(wrong: dict[str, Any], why: str) -> None:
    """A wrong size, a contract that holds, another number of questions, a wrong example: each is said."""
    proved = prove(evolve(A03, **wrong), never)
    assert (proved.agrees, proved.verdict) == (False, Verdict.VIOLATED)
    assert any(why in one for one in proved.why), proved.why


def test_a_row_that_was_not_asked_does_not_agree() -> None:
    """An early stop leaves the row undetermined; unknown names are refused."""
    proved = prove(A03, lambda: "interrupted")
    assert (proved.agrees, proved.verdict) == (False, Verdict.UNDETERMINED)
    assert "interrupted" in proved.why[0]
    with pytest.raises(InputError, match="did you mean 'one_owner'"):
        prove(evolve(A03, breaks={"one_owners": 1}), never)


def test_the_example_is_written_as_json() -> None:
    """Question and answer are plain data; a question that makes the function fail has no answer."""
    written = plain_row(A03, None, ran=False)["example"]
    assert written["question"]["members"][1]["owned"] == [{"topic": "t", "partition": 0}]
    assert written["answer"] == {"m1": [{"topic": "t", "partition": 0}], "m2": []}
    assert plain_row(BY_ID["vanished_partitions_are_not_kept"], None, ran=False)["example"]["answer"] is None


def test_all_of_kafkas_deviations_together_break_each_example_of_its_own() -> None:
    """The preset with all that Kafka 4.3.1 does fails where each of its rules alone does."""
    for name in ("claims_compare_alike", "disputed_partitions_wait", "vanished_partitions_are_not_kept", "empty_subscriptions_differ"):
        row = BY_ID[name]
        assert row.example is not None
        assert set(row.breaks) & set(broken_by(FUNCTIONS[str(row.machine)], "kafka_4_3", row.example.question)), name
