# SPDX-License-Identifier: Apache-2.0
"""How replication of one partition is drawn: the quorum and the brokers as lanes, each broker with its log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.log import Log, Record
from hwmark.model.machine import BrokerId, Step
from hwmark.model.replication import NOBODY, LeaderAndIsr, State

from .naming import braces, broker_name, epoch_name, letter, record_name, records_name
from .view import Cell, Event, Lane, Mark, Message, Place, Tone, View, by_action

QUORUM = "controller (quorum)"
BROKERS = ("broker", "other", "leader", "follower", "member")
"""Names under which steps and witnesses speak of brokers."""


# -- lanes --


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the quorum's lane, which is the truth, and each broker's, which is what it believes."""
    return (quorum_lane(state), *(broker_lane(state, broker) for broker in range(len(state.replicas))))


def quorum_lane(state: State) -> Lane:
    """Return what the quorum holds: the leader, its epoch, and the ISR from which the next leader is drawn."""
    quorum = state.quorum
    return Lane(
        QUORUM,
        role=f"leader: {broker_name(quorum.leader)}",
        facts={"leader epoch": epoch_name(quorum.leader_epoch), "ISR": braces(quorum.isr)},
    )


def broker_lane(state: State, broker: BrokerId) -> Lane:
    """Return what a broker holds and believes: its role, its cached ISR, its log with high watermark and log end."""
    replica, log = state.replicas[broker], state.logs[broker]
    role, tone = role_of(state, broker)
    facts = {} if replica.leader == NOBODY else {"leader epoch": epoch_name(replica.leader_epoch), "ISR": braces(replica.isr)}
    cells = tuple(
        Cell(offset, letter(record.id), record.leader_epoch, offset < replica.high_watermark)
        for offset, record in enumerate(log.records, start=log.log_start_offset)
    )
    return Lane(
        broker_name(broker), role, tone, facts, cells, (Mark("HW", replica.high_watermark, strong=True), Mark("LEO", log.end_offset))
    )


def role_of(state: State, broker: BrokerId) -> tuple[str, Tone]:
    """Return what a broker takes itself for, and whether the quorum says so too."""
    replica, quorum = state.replicas[broker], state.quorum
    if replica.leader == NOBODY:
        return "knows no leader yet", Tone.PLAIN
    if replica.leader != broker:
        return f"follower of broker {replica.leader}", Tone.PLAIN
    if quorum.leader != broker:
        return "zombie leader", Tone.WRONG
    return ("leader", Tone.LEADING) if replica.leader_epoch == quorum.leader_epoch else ("leader of an old epoch", Tone.WRONG)


# -- events --


def request(decision: LeaderAndIsr) -> Message:
    """Return the LeaderAndIsr request that a decision of the controller sends to everybody."""
    says = (f"leader: {broker_name(decision.leader)}", f"leader epoch {epoch_name(decision.leader_epoch)}", f"ISR {braces(decision.isr)}")
    return Message(f"LeaderAndIsr, epoch {decision.leader_epoch}", says)


def elects(_before: State, step: Step, after: State) -> Event:
    """The controller elects."""
    caption = f"The controller elects broker {step.choices['leader']} leader, under leader epoch {after.quorum.leader_epoch}"
    return Event(caption, QUORUM, sends=request(after.quorum))


def takes_for_dead(before: State, step: Step, after: State) -> Event:
    """The controller takes a broker out."""
    broker = step.choices["broker"]
    lost = [
        f"out of the ISR, which is now {braces(after.quorum.isr)}" if before.quorum.isr != after.quorum.isr else "",
        "no longer leader" if broker == before.quorum.leader else "",
    ]
    caption = f"The controller takes broker {broker} for dead: {' and '.join(filter(None, lost))}; leader epoch {after.quorum.leader_epoch}"
    return Event(caption, QUORUM, sends=request(after.quorum))


def leads(before: State, step: Step, _after: State) -> Event:
    """A broker handles a request that names it leader."""
    broker, leader_epoch = step.choices["broker"], step.choices["leader_epoch"]
    received = before.requests[leader_epoch]
    caption = f"Broker {broker} learns that it leads, under leader epoch {leader_epoch}"
    return Event(caption, broker_name(broker), QUORUM, receives=request(received) if received else None)


def writes(before: State, step: Step, after: State) -> Event:
    """A leader, or a zombie, appends."""
    leader = step.choices["leader"]
    record = after.logs[leader].records[-1]
    who = f"Broker {leader}" + (", a zombie," if before.quorum.leader != leader else "")
    caption = f"{who} appends {letter(record.id)} at offset {after.logs[leader].end_offset - 1}, as leader of epoch {record.leader_epoch}"
    return Event(caption, broker_name(leader))


def advances(before: State, step: Step, after: State) -> Event:
    """A leader advances its high watermark."""
    leader = step.choices["leader"]
    high_watermark = after.replicas[leader].high_watermark
    record = after.logs[leader].at(high_watermark - 1)
    who = f"Broker {leader}" + (", a zombie," if before.quorum.leader != leader else "")
    what = f": {letter(record.id)} now counts as committed" if record else ""
    return Event(f"{who} advances its high watermark to {high_watermark}{what}", broker_name(leader))


def shrinks(_before: State, step: Step, after: State) -> Event:
    """A leader drops a follower from the ISR."""
    leader, follower = step.choices["leader"], step.choices["follower"]
    caption = f"Broker {leader}, the leader, drops broker {follower} from the ISR: {braces(after.quorum.isr)}"
    return Event(caption, QUORUM, broker_name(leader))


def expands(before: State, step: Step, after: State) -> Event:
    """A leader readmits a follower to the ISR."""
    leader, follower = step.choices["leader"], step.choices["follower"]
    end_offset, high_watermark = before.logs[follower].end_offset, before.replicas[leader].high_watermark
    reached = f"its log end {end_offset} has reached the high watermark {high_watermark}"
    caption = f"Broker {leader}, the leader, readmits broker {follower} to the ISR ({reached}): {braces(after.quorum.isr)}"
    return Event(caption, QUORUM, broker_name(leader))


def follows(before: State, step: Step, after: State) -> Event:
    """A broker handles a request that names another leader."""
    broker, leader_epoch = step.choices["broker"], step.choices["leader_epoch"]
    received = before.requests[leader_epoch]
    leader = after.replicas[broker].leader
    caption = f"Broker {broker} becomes follower of broker {leader}, under leader epoch {leader_epoch}, and {cut(before, after, broker)}"
    return Event(caption, broker_name(broker), QUORUM, receives=request(received) if received else None)


def fetches(before: State, step: Step, after: State) -> Event:
    """A follower copies a record."""
    follower, leader = step.choices["follower"], step.choices["leader"]
    log, old, new = after.logs[follower], before.replicas[follower].high_watermark, after.replicas[follower].high_watermark
    learns = f", and learns the high watermark {new}" if old != new else ""
    caption = f"Broker {follower} fetches {letter(log.records[-1].id)} (offset {log.end_offset - 1}) from broker {leader}{learns}"
    return Event(caption, broker_name(follower), broker_name(leader))


def truncates(before: State, step: Step, after: State) -> Event:
    """A follower truncates when a fetch finds a disagreement."""
    follower, leader = step.choices["follower"], step.choices["leader"]
    caption = f"Broker {follower} finds on a fetch that its log and that of broker {leader} disagree, and {cut(before, after, follower)}"
    return Event(caption, broker_name(follower), broker_name(leader))


def cut(before: State, after: State, broker: BrokerId) -> str:
    """Return what a broker's truncation drops."""
    old, new = before.logs[broker], after.logs[broker]
    if old.end_offset == new.end_offset:
        return "has nothing to truncate"
    dropped = ", ".join(letter(record.id) for record in old.records[len(new.records) :])
    return f"truncates its log to offset {new.end_offset}: drops {dropped}"


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "controller_elect_leader": elects,
    "controller_shrink_isr": takes_for_dead,
    "become_leader": leads,
    "leader_write": writes,
    "leader_advance_high_watermark": advances,
    "leader_shrink_isr": shrinks,
    "leader_expand_isr": expands,
    "become_follower": follows,
    "follower_fetch": fetches,
    "follower_truncate": truncates,
}
"""How each action of the machine is told."""


# -- witnesses and values --


def blame(state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the brokers that a witness names, at the offset that it names."""
    named = [facts[name] for name in BROKERS if isinstance(facts.get(name), int)]
    offset = facts.get("offset")
    return tuple(Place(broker_name(broker), offset) for broker in dict.fromkeys(named) if 0 <= broker < len(state.replicas))


def say(path: str, value: Any) -> str | None:
    """Write records as letters, logs as lists of them, and the values that stand for nobody and none."""
    field = path.rsplit(".", 1)[-1]
    if isinstance(value, Record):
        return record_name(value)
    if isinstance(value, Log):
        return records_name(value.records)
    if isinstance(value, LeaderAndIsr):
        return "; ".join(request(value).says)
    if field == "leader" and value == NOBODY:
        return broker_name(NOBODY)
    if field == "leader_epoch" and isinstance(value, int):
        return epoch_name(value)
    return None


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
        "leader": "believes that it leads, and the quorum agrees",
        "zombie leader": "believes that it leads; the quorum has decided otherwise",
        "leader of an old epoch": "the quorum's leader, but it does not know the newest leader epoch yet",
    },
)
"""The view of the ``replication`` machine."""
