# SPDX-License-Identifier: Apache-2.0
"""How asynchronous ISR changes are drawn: the controller, the leader with what it knows, and its followers' logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.async_isr import LEADER, Isr, State, high_watermark, proposed
from hwmark.model.machine import BrokerId, Step
from hwmark.model.rules import AsyncIsrRules

from .naming import braces, broker_name, letter
from .view import Cell, Event, Lane, Mark, Message, Place, Tone, View, by_action

CONTROLLER = "controller"


# -- lanes --


def lanes(state: State, rules: AsyncIsrRules) -> tuple[Lane, ...]:
    """Return the controller, who decides the ISR, the leader, and the followers."""
    committed = high_watermark(rules, state)
    truth = Lane(CONTROLLER, role=f"ISR {braces(state.controller.isr)}", facts={"version": str(state.controller.version)})
    return (truth, *(broker_lane(state, broker, committed) for broker in range(len(state.offsets))))


def broker_lane(state: State, broker: BrokerId, committed: int) -> Lane:
    """Return a broker's log; the leader's also with its high watermark, and the ISR that it knows and proposed."""
    end_offset = state.offsets[broker]
    cells = tuple(Cell(offset, letter(offset), None, offset < committed) for offset in range(end_offset))
    if broker != LEADER:
        role = "in the ISR" if broker in state.controller.isr else "not in the ISR"
        return Lane(broker_name(broker), role, cells=cells, marks=(Mark("LEO", end_offset),))
    facts = {"knows ISR": braces(state.leader.isr), "version": str(state.leader.version)}
    if state.pending_isr:
        facts["proposed"] = braces(state.pending_isr)
    return Lane(broker_name(broker), "leader", Tone.LEADING, facts, cells, (Mark("HW", committed, strong=True), Mark("LEO", end_offset)))


# -- events --


def decision(isr: Isr, version: int) -> Message:
    """Return the news of a decision of the controller."""
    return Message(f"decision, version {version}", (f"ISR {braces(isr)}",))


def proposal(isr: Isr, version: int) -> Message:
    """Return the request with which the leader proposes an ISR."""
    return Message(f"AlterPartition {braces(isr)}", (f"under version {version}",))


def takes_for_dead(_before: State, step: Step, after: State) -> Event:
    """The controller takes a follower out."""
    isr, version = after.controller.isr, after.controller.version
    caption = f"The controller takes broker {step.choices['follower']} for dead: ISR {braces(isr)}, version {version}"
    return Event(caption, CONTROLLER, sends=decision(isr, version))


def decides(before: State, step: Step, after: State) -> Event:
    """The controller accepts a proposal."""
    isr, version, under = after.controller.isr, after.controller.version, step.choices["version"]
    asked = proposed(before, under, step.choices["follower"])
    stale = "" if under == before.controller.version else f", although it was made under version {under}"
    caption = f"The controller accepts the leader's proposal{stale}: ISR {braces(isr)}, version {version}"
    received = None if asked is None else proposal(asked, under)
    return Event(caption, CONTROLLER, broker_name(LEADER), sends=decision(isr, version), receives=received)


def proposes(before: State, step: Step, _after: State) -> Event:
    """The leader proposes a change."""
    follower, known = step.choices["follower"], before.leader
    does = "drop" if step.action == "leader_request_shrink_isr" else "add"
    isr = known.isr ^ {follower}
    caption = f"The leader proposes to {does} broker {follower}: ISR {braces(isr)}, under version {known.version}"
    return Event(caption, broker_name(LEADER), sends=proposal(isr, known.version))


def writes(_before: State, _step: Step, after: State) -> Event:
    """The leader appends."""
    end_offset = after.offsets[LEADER]
    return Event(f"The leader appends {letter(end_offset - 1)} at offset {end_offset - 1}", broker_name(LEADER))


def learns(before: State, step: Step, _after: State) -> Event:
    """The leader hears of a decision."""
    version = step.choices["version"]
    isr = before.updates[version]
    caption = f"The leader learns the decision with version {version}"
    return Event(caption, broker_name(LEADER), CONTROLLER, receives=None if isr is None else decision(isr, version))


def replicates(_before: State, step: Step, after: State) -> Event:
    """A follower copies a record."""
    follower = step.choices["follower"]
    offset = after.offsets[follower] - 1
    return Event(f"Broker {follower} fetches {letter(offset)} (offset {offset})", broker_name(follower), broker_name(LEADER))


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "controller_shrink_isr": takes_for_dead,
    "controller_handle_request": decides,
    "leader_request_shrink_isr": proposes,
    "leader_request_expand_isr": proposes,
    "leader_write": writes,
    "leader_handle_update": learns,
    "follower_replicate": replicates,
}
"""How each action of the machine is told."""


def blame(_state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the member of the ISR that lacks a record, and the leader that counts it as committed."""
    member, offset = facts.get("member"), facts.get("end_offset")
    if not isinstance(member, int):
        return ()
    return tuple(Place(broker_name(broker), offset) for broker in dict.fromkeys((LEADER, member)))


VIEW = View(
    lanes=lanes,
    event=by_action(EVENTS),
    blame=blame,
    words={
        "committed": "the leader counts it as committed",
        "uncommitted": "the leader does not count it as committed",
        "HW": "high watermark: what is before it counts as committed",
        "LEO": "log end offset, as the leader knows it",
        "in the ISR": "by the controller's decision, which the leader may not know",
    },
)
"""The view of the ``async_isr`` machine."""
