# SPDX-License-Identifier: Apache-2.0
"""How one replica's log is drawn: records on disk, segments, and the cache of leader epochs."""

from __future__ import annotations

from hwmark.checker.replay import replay_run
from hwmark.checker.verdict import Run
from hwmark.model.log import EpochEntry, Record, Segment
from hwmark.model.log_machine import Bounds, Config, machine
from hwmark.model.machine import Step
from hwmark.model.rules import LogRules
from hwmark.spec.log_view import VIEW
from hwmark.spec.view import Mark, Place

LIFE = (
    Step("begin_leader_epoch", {"leader_epoch": 0}),
    Step("append_as_leader", {}),
    Step("roll_segment", {}),
    Step("append_as_leader", {}),
    Step("advance_log_start_offset", {"offset": 1}),
    Step("crash_and_recover", {"end_offset": 2}),
)
"""A log that grows, rolls, and loses its start."""

MACHINE = machine(LogRules(), Config(), Bounds())
STATES = replay_run(MACHINE, Run(LIFE)).states


def test_a_run_is_told_in_kafkas_words() -> None:
    """Each step has a caption that can be read without the model."""
    assert [VIEW.event(*one).caption for one in zip(STATES, LIFE, STATES[1:], strict=False)] == [
        "The replica becomes leader under leader epoch 0",
        "The leader appends a at offset 0, of leader epoch 0",
        "The active segment is closed; the next one begins at offset 1",
        "The leader appends b at offset 1, of leader epoch 0",
        "DeleteRecords moves the log start offset to 1",
        "The broker crashes, loses no record, and loads its log again",
    ]


def test_records_below_the_start_are_shown_as_gone() -> None:
    """What is on disk is drawn, what cannot be read any more not as a whole; segments and cache are told."""
    log, cache = VIEW.lanes(STATES[5])
    assert [(cell.label, cell.committed) for cell in log.cells or ()] == [("a", False), ("b", True)]
    assert dict(log.facts) == {"leader epoch": "0", "segments": "0–1, 1–2"}
    assert log.marks == (Mark("log start", 1, strong=True), Mark("LEO", 2))
    assert dict(cache.facts) == {"epoch 0": "starts at offset 1"}


def test_a_witness_points_at_cache_or_offset() -> None:
    """A witness about the cache blames the cache; one that names an offset, the log there."""
    assert VIEW.blame(STATES[0], {"cached": (), "expected": ()}) == (Place("leader epoch cache"),)
    assert VIEW.blame(STATES[0], {"offset": 1}) == (Place("log", 1),)


def test_values_are_said_in_words() -> None:
    """Records, segments and entries of the cache read as a person writes them."""
    assert VIEW.say("", Record(0, 1)) == "a (epoch 1)"
    assert VIEW.say("", Segment(1, (Record(0, 1),))) == "from 1: [a (epoch 1)]"
    assert VIEW.say("", EpochEntry(1, 0)) == "epoch 1 from 0"
    assert VIEW.say("leads", True) is None  # noqa: FBT003 - a value of the state
