# SPDX-License-Identifier: Apache-2.0
"""The view of ``topic``: every step of many walks is told, in lanes that are always the same."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.shipped import load_shipped
from hwmark.checker.trace import replay
from hwmark.model.machine import Step
from hwmark.model.topic.machine import machine
from hwmark.model.topic.state import Batch, Bounds, Channel, Config, Producer, Record, Request, Stored, Strategy
from hwmark.spec.topic.presets import PRESETS
from hwmark.spec.topic.view import VIEW, say

WIDE = Bounds(producers=2, partitions=2, records=3, keys=2, added=1, refusals=2, disconnects=2, consumers=1)
CASES = {
    "default": Config(),
    "batches": Config(batch_size=2),
    "not idempotent": Config(enable_idempotence=False),
    "explicit": Config(strategy=Strategy.EXPLICIT),
    "turns": Config(strategy=Strategy.ROUND_ROBIN),
}
WALKS, STEPS = 30, 50


@cache
def walks(case: str) -> list[list[tuple[Any, Step, Any]]]:
    """Return random walks of a case, the same each time: of each step the states before and after it."""
    whole = machine(PRESETS["topic"], CASES[case], WIDE)
    chance, instances, found = random.Random(0), list(whole.instances()), []  # noqa: S311 - repeatable, not secret
    for _ in range(WALKS):
        state, walk = whole.initial[0], []
        while len(walk) < STEPS:
            enabled = [(step, after) for step, take in instances if (after := take(state)) is not None]
            if not enabled:
                break
            name = chance.choice(sorted({step.action for step, _ in enabled}))
            step, after = chance.choice([one for one in enabled if one[0].action == name])
            walk.append((state, step, after))
            state = after
        found.append(walk)
    return found


@pytest.mark.parametrize("case", CASES)
def test_walks_are_told(case: str) -> None:
    """Captions say what happens, lanes are the same everywhere, cells follow each other, and what is received was sent."""
    whole = machine(PRESETS["topic"], CASES[case], WIDE)
    view = VIEW.of(whole)
    names = [lane.name for lane in view.lanes(whole.initial[0])]
    assert names == ["producer 0", "producer 1", "partition 0", "partition 1", "partition 2", "consumer"]
    for walk in walks(case):
        sent: set[str] = set()
        for before, step, after in walk:
            told, lanes = view.event(before, step, after), view.lanes(after)
            assert told.caption
            assert "None" not in told.caption
            assert {told.lane, told.source} <= {None, *names}
            assert [lane.name for lane in lanes] == names
            for lane in lanes:
                assert [cell.offset for cell in lane.cells or ()] == list(range(len(lane.cells or ())))
                assert all(0 <= mark.offset <= len(lane.cells or ()) for mark in lane.marks)
            assert told.receives is None or told.receives.name in sent
            sent |= {told.sends.name} if told.sends is not None else set()


def test_every_action_is_told() -> None:
    """The walks take every action between them, and the legend explains every word."""
    told = {step.action for case in CASES for walk in walks(case) for _, step, _ in walk}
    assert {act.name for act in machine(PRESETS["topic"], Config(), WIDE).actions} == told
    assert all(VIEW.words.values())
    roles = {lane.role for case in CASES for walk in walks(case) for _, _, after in walk for lane in VIEW.lanes(after, WIDE)}
    assert roles - {""} <= set(VIEW.words)


@pytest.mark.parametrize(
    ("name", "captions"),
    [
        (
            "topic_stored_twice",
            [
                "Record a is put into a batch for partition 0",
                "Producer 0 sends a",
                "Batch a is appended",
                "The connection to partition 0 is lost, and a put back",
                "Producer 0 sends a again",
                "Batch a is appended",
            ],
        ),
        (
            "topic_any_first_sequence",
            [
                "Record a is put into a batch for partition 0",
                "Record b is put into a batch for partition 0",
                "Producer 0 sends a, sequence 0",
                "Producer 0 sends b, sequence 1",
                "Batch a, sequence 0 is refused for the moment",
                "Batch b, sequence 1 is appended",
            ],
        ),
        (
            "topic_keys_move",
            [
                "Record a (key 1) is put into a batch for partition 0",
                "Producer 0 sends a (key 1), sequence 0",
                "Batch a (key 1), sequence 0 is appended",
                "Partition 1 is added",
                "Producer 0 learns of 2 partitions",
                "Record b (key 1) is put into a batch for partition 1",
                "Producer 0 sends b (key 1), sequence 0",
                "Batch b (key 1), sequence 0 is appended",
                "The consumer reads b (key 1) of partition 1",
                "The consumer reads a (key 1) of partition 0",
            ],
        ),
    ],
)
def test_a_lesson_is_told(name: str, captions: list[str]) -> None:
    """The steps of a kept trace, in words."""
    replayed = replay(load_shipped(name))
    view = VIEW.of(replayed.machine)
    states = replayed.states
    told = [view.event(before, step, after).caption for before, step, after in zip(states, replayed.steps, states[1:], strict=False)]
    assert told == captions


def test_values_are_said() -> None:
    """Records, batches and what producers know, in words; whatever else is plain stays as it is."""
    record = Record(1, 0, key=0)
    batch = Batch((record,), 3)
    assert [say("", value) for value in (record, batch, Request(batch), Stored(7, record))] == [
        "a1 (key 1)",
        "a1 (key 1), sequence 3",
        "a1 (key 1), sequence 3 under way",
        "a1 (key 1) at 7",
    ]
    assert [say("", one) for one in (Channel(), Channel(waiting=(evolve(batch, is_closed=True),), late=(batch,)))] == [
        "nothing",
        "a1 (key 1), sequence 3 waits again; a1 (key 1), sequence 3 late",
    ]
    assert [say("", Producer(1)), say("", Producer(2, sent=1, sticky=1))] == [
        "0 sent, 0 refused, knows of 1 partition",
        "1 sent, 0 refused, knows of 2 partitions, sticky partition 1",
    ]
    assert say("", 3) is None
