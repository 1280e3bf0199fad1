# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of views, and what holds for the view of every machine: each step of a small scope can be told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from hwmark.model import async_isr, log_machine, replication
from hwmark.model.machine import Machine, Step
from hwmark.model.rules import AsyncIsrRules, HighWatermarkOver, LogRules
from hwmark.spec import versions
from hwmark.spec.async_isr_view import VIEW as ASYNC_ISR
from hwmark.spec.log_view import VIEW as LOG
from hwmark.spec.replication_view import VIEW as REPLICATION
from hwmark.spec.view import PLAIN, View

SMALL_ISR = async_isr.Bounds(replicas=2, max_version=2, max_offset=2)
UNSAFE_ISR = AsyncIsrRules(high_watermark_over=HighWatermarkOver.COMMITTED)
CASES: dict[str, tuple[Machine[Any], View]] = {
    "replication": (replication.machine(versions.KIP_320, replication.Config(), replication.Bounds()), REPLICATION),
    "replication, first try": (replication.machine(versions.KIP_320_FIRST_TRY, replication.Config(), replication.Bounds()), REPLICATION),
    "async_isr": (async_isr.machine(UNSAFE_ISR, async_isr.Config(), SMALL_ISR), ASYNC_ISR),
    "log": (log_machine.machine(LogRules(), log_machine.Config(), log_machine.Bounds()), LOG),
    "any, without a view": (async_isr.machine(UNSAFE_ISR, async_isr.Config(), SMALL_ISR), PLAIN),
}
each_case = pytest.mark.parametrize(("machine", "view"), CASES.values(), ids=CASES)


def transitions(machine: Machine[Any], limit: int = 3000) -> Iterator[tuple[Any, Step, Any]]:
    """Yield the first transitions of a machine, breadth first."""
    instances = list(machine.instances())
    seen = dict.fromkeys(machine.initial)
    level = list(seen)

    def of(states: list[Any]) -> Iterator[tuple[Any, Step, Any]]:
        for before in states:
            for step, take in instances:
                after = take(before)
                if after is not None:
                    yield before, step, after

    while level:
        found: dict[Any, None] = {}
        for before, step, after in of(level):
            yield before, step, after
            if after not in seen:
                seen[after] = found[after] = None
        level = list(found)[:limit]


@each_case
def test_every_step_is_told(machine: Machine[Any], view: View) -> None:
    """Each step has a caption, happens in a lane that exists, and comes from one that exists; lanes are the same everywhere."""
    bound = view.of(machine)
    names = [lane.name for lane in bound.lanes(machine.initial[0])]
    assert len(set(names)) == len(names)
    for before, step, after in islice(transitions(machine), 3000):
        told = bound.event(before, step, after)
        assert told.caption
        assert "None" not in told.caption
        assert {told.lane, told.source} <= {None, *names}
        assert [lane.name for lane in bound.lanes(after)] == names


@each_case
def test_every_action_is_told(machine: Machine[Any], view: View) -> None:
    """No action is left out: each is taken within the steps that are told, unless the rules never enable it."""
    told = {step.action for _, step, _ in islice(transitions(machine), 3000)}
    never = {"follower_truncate"} if machine.rules != versions.KIP_320_FIRST_TRY else set()
    assert {act.name for act in machine.actions} - told <= never
    assert view.words == {} or all(view.words.values())


@each_case
def test_logs_are_drawn_as_they_are(machine: Machine[Any], view: View) -> None:
    """Cells stand at consecutive offsets; marks stand between them, at either end, or below them where records are gone."""
    bound = view.of(machine)
    for _, _, after in islice(transitions(machine), 1000):
        for lane in bound.lanes(after):
            offsets = [cell.offset for cell in lane.cells or ()]
            assert offsets == list(range(offsets[0], offsets[0] + len(offsets))) if offsets else True
            assert all(0 <= mark.offset <= max([mark.offset, *offsets]) for mark in lane.marks)


@each_case
def test_what_is_received_was_sent(machine: Machine[Any], view: View) -> None:
    """Along every path each message that a step receives has the name of one that an earlier step sent."""
    bound = view.of(machine)
    sent: dict[Any, frozenset[str]] = {machine.initial[0]: frozenset({"decision, version 0"})}
    for before, step, after in islice(transitions(machine), 1000):
        told = bound.event(before, step, after)
        if told.receives is not None:
            assert told.receives.name in sent[before]
        sent.setdefault(after, sent[before] | ({told.sends.name} if told.sends is not None else frozenset()))
