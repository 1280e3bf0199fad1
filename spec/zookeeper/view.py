# SPDX-License-Identifier: Apache-2.0
"""How a partition with ZooKeeper is drawn: ZooKeeper with what it holds, and the brokers with their logs and what they believe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hwmark.model.log import Log, Record
from hwmark.model.machine import BrokerId
from hwmark.model.zookeeper.shared import has_session, is_controller
from hwmark.model.zookeeper.state import NOBODY, UNKNOWN, LeaderAndIsr, PartitionZNode, State
from hwmark.spec.naming import braces, broker_name, epoch_name, letter, record_name, records_name
from hwmark.spec.view import Cell, Lane, Mark, Place, Tone, View, by_action

from .view_events import EVENTS, ZOOKEEPER

# -- lanes --


def lanes(state: State) -> tuple[Lane, ...]:
    """Return ZooKeeper's lane, and each broker's."""
    return (zookeeper_lane(state), *(broker_lane(state, broker) for broker in range(len(state.replicas))))


def zookeeper_lane(state: State) -> Lane:
    """Return what ZooKeeper holds: the partition, the controller, and who is registered."""
    znode = state.znode
    registered = braces(broker for broker, epoch in enumerate(state.registrations) if epoch != UNKNOWN)
    facts = {
        "leader": broker_name(znode.leader),
        "leader epoch": str(znode.leader_epoch),
        "ISR": braces(znode.isr),
        "version": str(znode.version),
        "controller": broker_name(state.controller),
        "controller epoch": str(state.controller_epoch),
        "registered": registered,
    }
    return Lane(ZOOKEEPER, "up", facts=facts) if state.zookeeper_is_up else Lane(ZOOKEEPER, "down", Tone.WRONG, facts)


def broker_lane(state: State, broker: BrokerId) -> Lane:
    """Return what a broker holds and believes; of one that crashed, what is on its disk."""
    replica, log = state.replicas[broker], state.logs[broker]
    role, tone = role_of(state, broker)
    cells = tuple(
        Cell(offset, letter(record.id), record.leader_epoch, offset < replica.high_watermark) for offset, record in enumerate(log.records)
    )
    marks = (Mark("HW", replica.high_watermark, strong=True), Mark("LEO", log.end_offset))
    return Lane(broker_name(broker), role, tone, facts_of(state, broker), cells, marks)


def role_of(state: State, broker: BrokerId) -> tuple[str, Tone]:
    """Return what a broker does or takes itself for, and how that is set off."""
    replica, znode = state.replicas[broker], state.znode
    if not state.processes[broker].is_running:
        return "crashed", Tone.WRONG
    if replica.leader == NOBODY:
        return "knows of no leader", Tone.PLAIN
    if replica.leader != broker:
        return f"follower of broker {replica.leader}", Tone.PLAIN
    if znode.leader != broker:
        return "zombie leader", Tone.WRONG
    if replica.leader_epoch != znode.leader_epoch:
        return "leader of an old epoch", Tone.WRONG
    return ("leader, waits for ZooKeeper" if replica.writing else "leader"), Tone.LEADING


def facts_of(state: State, broker: BrokerId) -> dict[str, str]:
    """Return the epochs that a broker knows, what it knows as a leader, and what it is as a controller."""
    process, replica, role = state.processes[broker], state.replicas[broker], state.controllers[broker]
    if not process.is_running:
        return {}
    registration = state.registrations[broker]
    is_behind = f", registered as {registration}" if registration != process.broker_epoch else ""
    facts = {"broker epoch": f"{process.broker_epoch}{is_behind if has_session(state, broker) else ', session expired'}"}
    if replica.leader != NOBODY:
        facts["leader epoch"] = epoch_name(replica.leader_epoch)
    if replica.leader == broker:
        facts |= {"ISR": braces(replica.isr), "version": str(replica.version)}
        ends = enumerate(state.followers[broker])
        facts |= {f"broker {other} at": str(end) for other, end in ends if other != broker and end != UNKNOWN}
    if replica.writing:
        facts["asks for ISR"] = braces(replica.writing)
    if role is not None:
        alive = braces(other for other, epoch in enumerate(role.live) if epoch != UNKNOWN)
        facts["is"] = f"{'' if is_controller(state, broker) else 'deposed '}controller, epoch {role.controller_epoch}"
        facts["takes for alive"] = alive
    return facts


# -- witnesses and values --

BROKERS = ("broker", "other", "leader", "elected")
"""Names under which witnesses speak of brokers."""


def blame(state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return ZooKeeper for an ISR, and the brokers that a witness names, at its offset."""
    zookeeper = [Place(ZOOKEEPER)] if "isr" in facts else []
    named, offset = [facts[name] for name in BROKERS if isinstance(facts.get(name), int)], facts.get("offset")
    return (*zookeeper, *(Place(broker_name(one), offset) for one in dict.fromkeys(named) if 0 <= one < len(state.replicas)))


def say(path: str, value: Any) -> str | None:
    """Write records as letters, znodes and requests as what they say, and -1 as what it stands for."""
    match value:
        case Record():
            return record_name(value)
        case Log():
            return records_name(value.records)
        case PartitionZNode():
            return f"{decision(value)}; version {value.version}"
        case LeaderAndIsr():
            return f"{decision(value.decision)}; controller epoch {value.controller_epoch}, for broker epoch {value.broker_epoch}"
        case int() if value == NOBODY:
            return "nobody" if path.rsplit(".", 1)[-1] in {"leader", "controller"} else "none"
        case _:
            return None


def decision(znode: PartitionZNode) -> str:
    """Return who leads and who is in sync."""
    return f"leader: {broker_name(znode.leader)}; leader epoch {znode.leader_epoch}; ISR {braces(znode.isr)}"


VIEW = View(
    lanes=lanes,
    event=by_action(EVENTS),
    blame=blame,
    say=say,
    words={
        "cell": "a record written in leader epoch",
        "committed": "below the high watermark of that broker",
        "uncommitted": "not below the high watermark of that broker",
        "HW": "high watermark: what is before it counts as committed there",
        "LEO": "log end offset: where the next record will go",
        "leader": "believes that it leads, and ZooKeeper agrees",
        "leader, waits for ZooKeeper": "has asked ZooKeeper for an ISR, and has no answer",
        "zombie leader": "believes that it leads; in ZooKeeper there is another decision",
        "leader of an old epoch": "leads in ZooKeeper, but does not know the newest leader epoch yet",
        "knows of no leader": "has started, and no controller has told it anything",
        "crashed": "stopped without notice; the log is what is on its disk",
        "down": "nothing is read, written, or expires",
    },
)
"""The view of the ``zookeeper`` machine."""
