# SPDX-License-Identifier: Apache-2.0
"""The views of ``offsets``, ``consumer`` and ``pipeline``: every step of many walks is told, in lanes that are always the same."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.shipped import load_shipped
from hwmark.checker.trace import replay
from hwmark.model.consumer.rules import CommitRetry, UndefinedEnd
from hwmark.model.consumer.state import Bounds as ConsumerBounds
from hwmark.model.consumer.state import CommitMode, Reset
from hwmark.model.consumer.state import Config as ConsumerConfig
from hwmark.model.machine import Step
from hwmark.model.offsets.state import Bounds as OffsetsBounds
from hwmark.model.offsets.state import Config as OffsetsConfig
from hwmark.model.pipeline.state import Bounds as PipelineBounds
from hwmark.model.pipeline.state import Config as PipelineConfig
from hwmark.spec.consumer.described import DESCRIBED as CONSUMER
from hwmark.spec.described import Described
from hwmark.spec.offsets.described import DESCRIBED as OFFSETS
from hwmark.spec.offsets.rows import CONSUMER as CONSUMER_GROUP
from hwmark.spec.pipeline.described import DESCRIBED as PIPELINE
from hwmark.spec.pipeline.scopes import PUBLISH_SUBSCRIBE
from hwmark.spec.view import Event, Lane

WIDE_OFFSETS = OffsetsBounds(
    members=2, max_generation=6, commits=4, outside_commits=2, transactional_commits=3, failovers=2, retentions=2, deletions=1
)
WIDE_CONSUMER = ConsumerBounds(
    records=4,
    max_leader_epoch=3,
    commits=4,
    commits_under_way=2,
    seeks=2,
    restarts=2,
    failed_commits=2,
    undefined_answers=2,
    deletions=2,
    other_partitions=1,
)
WIDE_PIPELINE = PipelineBounds(consumers=2, partitions=2, messages=3, resends=1, rebalances=2, crashes=2)
RETRIED = evolve(CONSUMER.presets["consumer"], commit_retry=CommitRetry.LATER, undefined_end=UndefinedEnd.OFFSET)

CASES: dict[str, tuple[Described, Any, Any, Any]] = {
    "offsets": (OFFSETS, OFFSETS.presets["offsets"], OffsetsConfig(), WIDE_OFFSETS),
    "offsets, consumer protocol": (OFFSETS, OFFSETS.presets["offsets"], CONSUMER_GROUP, WIDE_OFFSETS),
    "consumer": (CONSUMER, CONSUMER.presets["consumer"], ConsumerConfig(), WIDE_CONSUMER),
    "consumer, no reset": (CONSUMER, RETRIED, ConsumerConfig(Reset.NONE), WIDE_CONSUMER),
    "consumer, automatic": (CONSUMER, CONSUMER.presets["consumer"], ConsumerConfig(Reset.LATEST, CommitMode.AUTOMATIC), WIDE_CONSUMER),
    **{f"pipeline, {name}": (PIPELINE, rules, PipelineConfig(), WIDE_PIPELINE) for name, rules in PIPELINE.presets.items()},
    "pipeline, publish-subscribe": (PIPELINE, PIPELINE.presets["commit_after"], PUBLISH_SUBSCRIBE, WIDE_PIPELINE),
}
WALKS, STEPS = 40, 50


@cache
def walks(case: str) -> list[list[tuple[Any, Step, Any]]]:
    """Return random walks of a case, the same each time: of each step the states before and after it."""
    described, *rest = CASES[case]
    machine = described.build(*rest)
    chance, instances, found = random.Random(0), list(machine.instances()), []  # noqa: S311 - repeatable, not secret
    for _ in range(WALKS):
        state, walk = machine.initial[0], []
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
    described, rules, config, bounds = CASES[case]
    machine = described.build(rules, config, bounds)
    view = described.view.of(machine)
    names = [lane.name for lane in view.lanes(machine.initial[0])]
    assert len(set(names)) == len(names)
    for walk in walks(case):
        sent: set[str] = set()
        for before, step, after in walk:
            told: Event = view.event(before, step, after)
            lanes: tuple[Lane, ...] = view.lanes(after)
            assert told.caption
            assert "None" not in told.caption
            assert {told.lane, told.source} <= {None, *names}
            assert [lane.name for lane in lanes] == names
            for lane in lanes:
                offsets = [cell.offset for cell in lane.cells or ()]
                assert offsets == list(range(offsets[0], offsets[0] + len(offsets))) if offsets else True
                assert all(mark.offset >= 0 for mark in lane.marks)
            assert told.receives is None or told.receives.name in sent
            sent |= {told.sends.name} if told.sends is not None else set()


@pytest.mark.parametrize("described", [OFFSETS, CONSUMER, PIPELINE], ids=lambda one: str(one.name))
def test_every_action_is_told(described: Described) -> None:
    """The walks take every action between them, and the legend explains every word."""
    told = {step.action for case, (one, *_) in CASES.items() if one is described for walk in walks(case) for _, step, _ in walk}
    machine = described.build(described.presets[described.right], described.module.Config(), described.small)
    assert {act.name for act in machine.actions} == told
    assert all(described.view.words.values())


@pytest.mark.parametrize(
    ("name", "captions"),
    [
        (
            "queue_crash",
            [
                "The producer sends a: offset 0 of partition 0",
                "Consumer 0 gets partition 0, and begins at offset 0",
                "Consumer 0 takes a (offset 0 of partition 0)",
                "Consumer 0 processes a (offset 0 of partition 0)",
                "Consumer 0 crashes",
                "Consumer 1 gets partition 0, and begins at offset 0",
                "Consumer 1 takes a (offset 0 of partition 0)",
                "Consumer 1 processes a (offset 0 of partition 0)",
            ],
        ),
        (
            "unknown_group_stored",
            [
                "Member 0 joins: a rebalance begins",
                "Generation 1 begins, which still has to be assigned",
                "Member 0 gets the partition, under generation 1",
                "The coordinator takes member 0 out of the group",
                "Generation 2 begins, without members",
                "Member 0 begins at offset 0: nothing is committed",
                "Member 0 commits offset 0, under generation 1",
                "The group has no offsets, and the group is deleted",
                "The coordinator commits offset 0 for member 0",
            ],
        ),
        (
            "undefined_end_as_offset",
            [
                "A producer appends a at offset 0, in leader epoch 0",
                "The consumer is assigned the partition; the application's callback begins",
                "The application's assignment callback is over",
                "The consumer begins to look up committed offsets of this partition",
                "The consumer takes it that nothing is committed: its position is to be reset",
                "The position is reset to offset 0",
                "The application polls, and reads a at offset 0",
                "The other replica becomes leader under leader epoch 1, although it does not hold everything",
                "The consumer hears of the leader of epoch 1",
                "The consumer asks where leader epoch 0 ends, and the leader does not know, and goes back to offset -1",
            ],
        ),
    ],
)
def test_a_lesson_is_told(name: str, captions: list[str]) -> None:
    """The steps of a kept trace, in words."""
    replayed = replay(load_shipped(name))
    described = next(one for one in (OFFSETS, CONSUMER, PIPELINE) if one.name == replayed.machine.name)
    view = described.view.of(replayed.machine)
    states = replayed.states
    told = [view.event(before, step, after).caption for before, step, after in zip(states, replayed.steps, states[1:], strict=False)]
    assert told == captions
