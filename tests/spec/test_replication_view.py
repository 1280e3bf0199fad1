# SPDX-License-Identifier: Apache-2.0
"""How replication is drawn: roles, logs, and captions in Kafka's words."""

from __future__ import annotations

from typing import Any

from hwmark.checker.replay import replay_run
from hwmark.checker.verdict import Run
from hwmark.model.log import Record
from hwmark.model.machine import Step
from hwmark.model.replication import Bounds, Config, LeaderAndIsr, machine
from hwmark.spec import versions
from hwmark.spec.replication_view import QUORUM, VIEW
from hwmark.spec.view import Lane, Mark, Place, Tone

LOST_RECORD = (
    Step("controller_elect_leader", {"leader": 0}),
    Step("controller_shrink_isr", {"broker": 1}),
    Step("become_leader", {"broker": 0, "leader_epoch": 1}),
    Step("leader_write", {"leader": 0}),
    Step("become_follower", {"broker": 1, "leader_epoch": 0}),
    Step("leader_expand_isr", {"leader": 0, "follower": 1}),
    Step("controller_elect_leader", {"leader": 1}),
    Step("follower_fetch", {"follower": 1, "leader": 0}),
    Step("leader_advance_high_watermark", {"leader": 0}),
    Step("become_follower", {"broker": 1, "leader_epoch": 1}),
    Step("become_leader", {"broker": 1, "leader_epoch": 2}),
)
"""A follower truncates to its high watermark, and a committed record is lost."""


def states() -> tuple[Any, ...]:
    """Return the states of that run."""
    checked = machine(versions.TRUNCATE_TO_HIGH_WATERMARK, Config(), Bounds())
    return replay_run(checked, Run(LOST_RECORD)).states


def broker(number: int, state: Any) -> Lane:
    """Return a broker's lane."""
    return {lane.name: lane for lane in VIEW.lanes(state)}[f"broker {number}"]


def test_a_run_is_told_in_kafkas_words() -> None:
    """Each step has a caption that can be read without the model."""
    after = states()
    told = [VIEW.event(before, step, later) for before, step, later in zip(after, LOST_RECORD, after[1:], strict=False)]
    assert [one.caption for one in told] == [
        "The controller elects broker 0 leader, under leader epoch 0",
        "The controller takes broker 1 for dead: out of the ISR, which is now {0}; leader epoch 1",
        "Broker 0 learns that it leads, under leader epoch 1",
        "Broker 0 appends a at offset 0, as leader of epoch 1",
        "Broker 1 becomes follower of broker 0, under leader epoch 0, and has nothing to truncate",
        "Broker 0, the leader, readmits broker 1 to the ISR (its log end 0 has reached the high watermark 0): {0, 1}",
        "The controller elects broker 1 leader, under leader epoch 2",
        "Broker 1 fetches a (offset 0) from broker 0",
        "Broker 0, a zombie, advances its high watermark to 1: a now counts as committed",
        "Broker 1 becomes follower of broker 0, under leader epoch 1, and truncates its log to offset 0: drops a",
        "Broker 1 learns that it leads, under leader epoch 2",
    ]
    assert [(one.source, one.lane) for one in told[5:10]] == [
        ("broker 0", QUORUM),
        (None, QUORUM),
        ("broker 0", "broker 1"),
        (None, "broker 0"),
        (QUORUM, "broker 1"),
    ]


def test_roles_tell_belief_from_truth() -> None:
    """A leader is one that the quorum names in that epoch; who believes to lead otherwise is a zombie or behind."""
    after = states()
    roles = [broker(0, after[number]).role for number in (0, 3, 7)]
    assert roles == ["knows no leader yet", "leader", "zombie leader"]
    assert [broker(0, after[number]).tone for number in (0, 3, 7)] == [Tone.PLAIN, Tone.LEADING, Tone.WRONG]
    assert broker(1, after[5]).role == "follower of broker 0"
    behind = (
        Step("controller_elect_leader", {"leader": 0}),
        Step("controller_shrink_isr", {"broker": 1}),
        Step("become_leader", {"broker": 0, "leader_epoch": 0}),
    )
    last = replay_run(machine(versions.KIP_101, Config(), Bounds()), Run(behind)).states[-1]
    assert (broker(0, last).role, broker(0, last).tone) == ("leader of an old epoch", Tone.WRONG)


def test_logs_show_letters_epochs_and_what_is_committed() -> None:
    """A cell has the record's letter and epoch, and is committed below that broker's high watermark; HW and LEO are marks."""
    before, after = (broker(0, states()[number]) for number in (8, 9))
    assert [(cell.offset, cell.label, cell.epoch, cell.committed) for cell in before.cells or ()] == [(0, "a", 1, False)]
    assert [(cell.offset, cell.label, cell.epoch, cell.committed) for cell in after.cells or ()] == [(0, "a", 1, True)]
    assert after.marks == (Mark("HW", 1, strong=True), Mark("LEO", 1))


def test_a_witness_points_at_brokers_and_offset() -> None:
    """The brokers that a witness names are blamed, at its offset; what is no broker is not."""
    state = states()[-1]
    found = {"broker": 0, "leader": 1, "offset": 0, "ours": Record(0, 1), "theirs": None}
    assert VIEW.blame(state, found) == (Place("broker 0", 0), Place("broker 1", 0))
    assert VIEW.blame(state, {"leader": -1, "other": 7, "member": "x"}) == ()
    assert VIEW.blame(state, {"leader": 1}) == (Place("broker 1", None),)


def test_values_are_said_in_words() -> None:
    """Records, logs and decisions read as a person writes them, and nobody is nobody."""
    state = states()[9]
    assert VIEW.say("logs[0].records[0]", Record(1, 2)) == "b (epoch 2)"
    assert VIEW.say("logs[0]", state.logs[0]) == "[a (epoch 1)]"
    assert VIEW.say("quorum.leader", -1) == "nobody"
    assert VIEW.say("quorum.leader_epoch", -1) == "none"
    assert VIEW.say("quorum", LeaderAndIsr(3, 1, frozenset({1, 0}))) == "leader: broker 1; leader epoch 3; ISR {0, 1}"
    assert VIEW.say("next_record_id", 1) is None
