# SPDX-License-Identifier: Apache-2.0
"""Rows of the catalogue agree only when both sides say exactly what the row says."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.catalogue import SCHEMA, can_be_proved, not_proved, plain, prove
from hwmark.checker.errors import InputError
from hwmark.checker.verdict import Verdict
from hwmark.model.replication import Bounds
from hwmark.spec.catalogue import ROWS, Row

ROW = Row(
    id="T-101",
    rule="truncation by epoch",
    statement="A follower truncates where the leader's log of its last epoch ends.",
    sources=("K-101",),
    machine="replication",
    rules_off="kip_101",
    rules_on="kip_320",
    bounds=Bounds(replicas=2, log_size=2, records=2, max_leader_epoch=2),
    breaks={"weak_isr": 11, "strong_isr": 11},
)
CONTROL = evolve(ROW, id="T-0", breaks={}, control=True, rules_off="kip_320_follower_rule", rules_on="kip_320")


def never() -> str | None:
    """Do not stop."""
    return None


def test_a_right_row_agrees() -> None:
    """Published depths, and a right side that breaks nothing, agree; ``states`` are those of the right side."""
    proved = prove(ROW, never)
    assert (proved.agrees, proved.why) == (True, ())
    assert (proved.verdict_off, proved.verdict_on, proved.states) == (Verdict.VIOLATED, Verdict.HOLDS, prove(CONTROL, never).states)


def test_a_right_control_agrees() -> None:
    """A control breaks nothing on either side."""
    proved = prove(CONTROL, never)
    assert (proved.agrees, proved.verdict_off, proved.verdict_on) == (True, Verdict.HOLDS, Verdict.HOLDS)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"breaks": {"strong_isr": 10}}, "strong_isr is violated after 11 steps, not 10"),
        ({"breaks": {"strong_isr": 11, "structure": 4}}, "structure is holds, which the row does not say"),
        ({"rules_on": "kip_101"}, "under kip_101 weak_isr is violated after 11 steps"),
        ({"control": True, "breaks": {}}, "under kip_101 weak_isr is violated after 11 steps"),
        ({"breaks": {}}, "names nothing that breaks, and is no control"),
    ],
)
def test_a_wrong_row_is_contradicted(wrong: dict[str, Any], why: str) -> None:
    """A wrong depth, a property that holds, a broken right side, a control that breaks: each is said, and counts as violated."""
    proved = prove(evolve(ROW, **wrong), never)
    assert (proved.agrees, proved.verdict) == (False, Verdict.VIOLATED)
    assert any(why in one for one in proved.why), proved.why


def test_a_row_that_was_not_explored_does_not_agree() -> None:
    """An early stop leaves the row undetermined, for controls too."""
    for row in (ROW, CONTROL):
        proved = prove(row, lambda: "interrupted")
        assert (proved.agrees, proved.verdict) == (False, Verdict.UNDETERMINED)
        assert "interrupted" in proved.why[0]
    assert not_proved(ROW, "a worker process died").verdict is Verdict.UNDETERMINED


def test_names_that_do_not_exist_are_errors() -> None:
    """A row that names an unknown preset or property is refused."""
    with pytest.raises(InputError, match="kip_101"):
        prove(evolve(ROW, rules_off="kip101"), never)
    with pytest.raises(InputError, match="weak_isr"):
        prove(evolve(ROW, breaks={"weakisr": 1}), never)


def test_scopes_say_that_the_right_rules_hold() -> None:
    """A row with nothing to switch off explores one side, and is wrong where the scope has another size or something breaks."""
    scope = evolve(ROW, rules_off=None, breaks={}, holds=("weak_isr", "all_in_sync"))
    proved = prove(scope, never)
    assert (proved.agrees, proved.verdict_off, proved.verdict_on) == (True, None, Verdict.HOLDS)
    assert prove(evolve(scope, states=proved.states), never).agrees
    assert prove(evolve(scope, states=proved.states + 1), never).why == (
        f"under kip_320 there are {proved.states} states, not {proved.states + 1}",
    )
    assert not prove(evolve(scope, rules_on=ROW.rules_off), never).agrees


def test_planned_rows_are_not_run() -> None:
    """Only carried rows with a machine and rules that hold can be proved."""
    assert can_be_proved(ROW)
    for without in ({"status": "planned"}, {"machine": None}, {"rules_on": None}):
        assert not can_be_proved(evolve(ROW, **without))


def test_keys_are_those_of_the_contract() -> None:
    """Rows have the keys of ``hwmark.catalogue/1``; what running them showed is there only if they were run."""
    keys = ["id", "rule", "statement", "sources", "status", "machine", "rules_off", "rules_on", "bounds", "breaks", "trace", "control"]
    keys += ["config", "config_off", "bounds_off", "holds", "example"]
    listed, ran = plain([ROW], {}, ran=False), plain([ROW], {ROW.id: prove(ROW, never)}, ran=True)
    assert listed["schema"] == SCHEMA == "hwmark.catalogue/1"
    assert list(listed["rows"][0]) == keys
    assert list(ran["rows"][0]) == [*keys, "verdict_off", "verdict_on", "states", "agrees"]
    assert ran["rows"][0]["agrees"] is True
    assert plain([ROW], {}, ran=True)["rows"][0]["agrees"] is None


def test_ids_are_unique() -> None:
    """No two rows of the catalogue have the same id."""
    ids = [row.id for row in ROWS]
    assert sorted(set(ids)) == sorted(ids)
