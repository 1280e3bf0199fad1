# SPDX-License-Identifier: Apache-2.0
"""How asynchronous ISR changes are drawn: who knows what, and messages that come late."""

from __future__ import annotations

from hwmark.checker.replay import replay_run
from hwmark.checker.verdict import Run
from hwmark.model.async_isr import Bounds, Config, machine
from hwmark.model.machine import Step
from hwmark.model.rules import AsyncIsrRules, HighWatermarkOver, VersionCheck
from hwmark.spec.async_isr_view import VIEW
from hwmark.spec.view import Mark, Place

UNCHECKED = machine(AsyncIsrRules(version_check=VersionCheck.NONE), Config(), Bounds())
STALE = (
    Step("controller_shrink_isr", {"follower": 1}),
    Step("leader_request_shrink_isr", {"follower": 2}),
    Step("controller_handle_request", {"version": 0, "follower": 2}),
    Step("leader_write", {}),
    Step("leader_handle_update", {"version": 1}),
    Step("follower_replicate", {"follower": 2}),
)
"""The controller accepts a proposal that was made under an older version, and the leader does not hear of it."""


def test_a_run_is_told_in_kafkas_words() -> None:
    """Each step has a caption that can be read without the model."""
    states = replay_run(UNCHECKED, Run(STALE)).states
    told = [VIEW.of(UNCHECKED).event(*one).caption for one in zip(states, STALE, states[1:], strict=False)]
    assert told == [
        "The controller takes broker 1 for dead: ISR {0, 2}, version 1",
        "The leader proposes to drop broker 2: ISR {0, 1}, under version 0",
        "The controller accepts the leader's proposal, although it was made under version 0: ISR {0, 1}, version 2",
        "The leader appends a at offset 0",
        "The leader learns the decision with version 1",
        "Broker 2 fetches a (offset 0)",
    ]


def test_the_lanes_show_truth_and_belief() -> None:
    """The controller's lane has the ISR, the leader's what it knows of it, the followers' whether they are in it."""
    controller, leader, one, two = VIEW.of(UNCHECKED).lanes(replay_run(UNCHECKED, Run(STALE)).states[-1])
    assert (controller.role, dict(controller.facts)) == ("ISR {0, 1}", {"version": "2"})
    assert dict(leader.facts) == {"knows ISR": "{0, 2}", "version": "1"}
    assert (one.role, two.role) == ("in the ISR", "not in the ISR")


def test_the_high_watermark_follows_the_rules() -> None:
    """It is derived under the machine's own rules: after a proposal to shrink, the maximal ISR holds it back, the proposed one does not."""
    drawn = []
    for over in (HighWatermarkOver.MAXIMAL, HighWatermarkOver.PROPOSED):
        checked = machine(AsyncIsrRules(high_watermark_over=over), Config(), Bounds(replicas=2))
        run = Run((Step("leader_write", {}), Step("leader_request_shrink_isr", {"follower": 1})))
        drawn.append(VIEW.of(checked).lanes(replay_run(checked, run).states[-1])[1].marks[0])
    assert drawn == [Mark("HW", 0, strong=True), Mark("HW", 1, strong=True)]


def test_a_witness_points_at_the_record_that_is_missing() -> None:
    """The member that lacks a committed record is blamed at its end, and the leader that counts it as committed."""
    state = UNCHECKED.initial[0]
    assert VIEW.blame(state, {"member": 1, "end_offset": 0}) == (Place("broker 0", 0), Place("broker 1", 0))
    assert VIEW.blame(state, {"isr": frozenset({0})}) == ()
