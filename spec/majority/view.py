# SPDX-License-Identifier: Apache-2.0
"""How a log that a majority commits is drawn: a lane for each broker with its role, its vote and its log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.log import Record
from hwmark.model.machine import BrokerId, Step
from hwmark.model.majority.state import CONTROL, NOBODY, Replica, Role, State
from hwmark.spec.naming import braces, broker_name, letter
from hwmark.spec.view import Cell, Event, Lane, Mark, Place, Tone, View

BEGINS = "L"
"""How the record is written with which a leader begins its epoch (LeaderChangeMessage)."""


def label(record: Record) -> str:
    """Return the name of a record."""
    return BEGINS if record.id == CONTROL else letter(record.id)


# -- lanes --


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the brokers."""
    return tuple(lane(state, broker) for broker in range(len(state.replicas)))


def lane(state: State, broker: BrokerId) -> Lane:
    """Return a broker with its log."""
    replica, log = state.replicas[broker], state.logs[broker]
    cells = tuple(
        Cell(offset, label(record), record.leader_epoch, committed=offset < replica.high_watermark)
        for offset, record in enumerate(log.records)
    )
    marks = (Mark("HW", replica.high_watermark, strong=True), Mark("LEO", log.end_offset))
    name, tone = role(state, replica)
    return Lane(broker_name(broker), name, tone, facts(state, broker), cells, marks)


def role(state: State, replica: Replica) -> tuple[str, Tone]:
    """Return what a broker does, or believes to do."""
    if replica.role is not Role.LEADER:
        return replica.role.value, Tone.PLAIN
    is_late = any(one.leader_epoch > replica.leader_epoch for one in state.replicas)
    return ("leader of an old epoch", Tone.WRONG) if is_late else ("leader", Tone.LEADING)


def facts(state: State, broker: BrokerId) -> dict[str, str]:
    """Return a broker's epoch, whom it follows or votes for, and what it knows as a candidate or leader."""
    replica = state.replicas[broker]
    shown = {"epoch": str(replica.leader_epoch)}
    match replica.role:
        case Role.FOLLOWER:
            shown["follows"] = broker_name(replica.stands_by)
        case Role.CANDIDATE:
            shown["votes of"] = braces(replica.votes)
        case Role.LEADER:
            known = [f"{other} at {end}" for other, end in enumerate(state.followers[broker]) if end]
            shown |= {"knows of": ", ".join(known)} if known else {}
        case Role.UNATTACHED | Role.STOPPED:
            shown |= {"stands by": broker_name(replica.stands_by)} if replica.stands_by != NOBODY else {}
    return shown


# -- events --


def appends(before: State, step: Step, after: State) -> Event:
    """A leader appends."""
    leader = step.choices["leader"]
    record, offset = after.logs[leader].records[-1], after.logs[leader].end_offset - 1
    caption = f"Broker {leader} appends {label(record)} at offset {offset}, as leader of epoch {record.leader_epoch}"
    return Event(f"{caption}{commits(after, leader, before)}", broker_name(leader))


def commits(after: State, leader: BrokerId, before: State) -> str:
    """Return that a leader commits in a step, if it does."""
    old, new = before.replicas[leader].high_watermark, after.replicas[leader].high_watermark
    return f", and commits up to offset {new - 1}" if new > old else ""


def takes_in(before: State, step: Step, after: State) -> Event:
    """A follower takes in what its leader answers."""
    follower = step.choices["follower"]
    leader, old, new = before.replicas[follower].stands_by, before.logs[follower], after.logs[follower]
    if new.end_offset < old.end_offset:
        what = f"truncates to offset {new.end_offset}, where its log and that of broker {leader} part"
    elif new.end_offset > old.end_offset:
        what = f"gets {label(new.records[-1])} from broker {leader}"
    else:
        what = f"learns from broker {leader} that it has committed up to offset {after.replicas[follower].high_watermark - 1}"
    return Event(f"Broker {follower} {what}", broker_name(follower), broker_name(leader))


def hears(before: State, step: Step, after: State) -> Event:
    """A leader hears how far a follower is."""
    follower = step.choices["follower"]
    leader, end = before.replicas[follower].stands_by, before.logs[follower].end_offset
    caption = f"Broker {leader} learns that broker {follower} is at offset {end}{commits(after, leader, before)}"
    return Event(caption, broker_name(leader), broker_name(follower))


def acknowledges(before: State, step: Step, _after: State) -> Event:
    """A producer is told."""
    waiting, record = before.produced[step.choices["record"]], letter(step.choices["record"])
    leader = NOBODY if waiting is None else waiting.leader
    return Event(f"Broker {leader} tells the producer that {record} is committed", broker_name(leader))


def consumes(before: State, step: Step, _after: State) -> Event:
    """A consumer reads."""
    consumer, broker = step.choices["consumer"], step.choices["broker"]
    position = before.consumers[consumer]
    record = label(before.logs[broker].records[position])
    return Event(f"Consumer {consumer} reads {record} at offset {position} from broker {broker}", broker_name(broker))


def stands(before: State, step: Step, after: State) -> Event:
    """A replica begins an election."""
    candidate = step.choices["candidate"]
    epoch = after.replicas[candidate].leader_epoch
    wins = f", wins at once, and begins it with {BEGINS}" if after.replicas[candidate].role is Role.LEADER else ""
    return Event(f"Broker {candidate} asks to be elected in epoch {epoch}{wins}{commits(after, candidate, before)}", broker_name(candidate))


def votes(before: State, step: Step, after: State) -> Event:
    """A candidate asks for a vote."""
    candidate, voter = step.choices["candidate"], step.choices["voter"]
    mine, theirs = after.replicas[candidate], after.replicas[voter]
    if mine.role is Role.UNATTACHED:
        what = f"is in epoch {theirs.leader_epoch} already, which broker {candidate} enters"
    elif theirs.stands_by != candidate:
        what = f"enters epoch {theirs.leader_epoch}, and does not vote for broker {candidate}"
    else:
        wins = (
            f", which leads epoch {mine.leader_epoch} now, and begins it with {BEGINS}{commits(after, candidate, before)}"
            if mine.role is Role.LEADER
            else ""
        )
        what = f"votes for broker {candidate}{wins}"
    return Event(f"Broker {voter} {what}", broker_name(voter), broker_name(candidate))


def is_known(before: State, step: Step, after: State) -> Event:
    """A leader makes itself known."""
    leader, follower = step.choices["leader"], step.choices["follower"]
    if after.replicas[leader].role is not Role.LEADER:
        epoch = before.replicas[follower].leader_epoch
        return Event(f"Broker {leader} hears of epoch {epoch}, and leads no more", broker_name(leader), broker_name(follower))
    caption = f"Broker {follower} follows broker {leader}, the leader of epoch {after.replicas[leader].leader_epoch}"
    return Event(caption, broker_name(follower), broker_name(leader))


def crashes(before: State, step: Step, _after: State) -> Event:
    """A broker crashes."""
    broker, kept = step.choices["broker"], step.choices["kept"]
    lost = before.logs[broker].end_offset - kept
    how = f", and {'all' if not kept else 'the end'} of its log is lost" if lost else ""
    return Event(f"Broker {broker} crashes{how}", broker_name(broker))


def starts(_before: State, step: Step, after: State) -> Event:
    """A broker starts."""
    broker = step.choices["broker"]
    return Event(f"Broker {broker} starts again, in epoch {after.replicas[broker].leader_epoch}", broker_name(broker))


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "append_record": appends,
    "receive_fetch": takes_in,
    "handle_fetch": hears,
    "acknowledge_produce": acknowledges,
    "consume": consumes,
    "start_election": stands,
    "request_vote": votes,
    "begin_quorum_epoch": is_known,
    "crash": crashes,
    "start": starts,
}
"""How each action of the machine is told."""


def event(before: State, step: Step, after: State) -> Event:
    """Return how a step is told."""
    return EVENTS[step.action](before, step, after)


def blame(_state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the offset that a witness names in the logs of the brokers that it names, or those brokers."""
    named = [facts[name] for name in ("broker", "other") if isinstance(facts.get(name), int)]
    offset = facts.get("offset")
    return tuple(Place(broker_name(broker), offset if isinstance(offset, int) else None) for broker in named)


def say(_path: str, value: Any) -> str | None:
    """Write records in the words of the domain."""
    return f"{label(value)} (epoch {value.leader_epoch})" if isinstance(value, Record) else None


VIEW = View(
    lanes=lanes,
    event=event,
    blame=blame,
    say=say,
    words={
        "cell": "a record written in leader epoch",
        "committed": "below the high watermark of that broker",
        "uncommitted": "not below the high watermark of that broker",
        "HW": "high watermark: what is before it counts as committed there",
        "LEO": "log end offset: where the next record will go",
        "leader of an old epoch": "somebody is in a later epoch, and it does not know",
    },
)
"""The view of the ``majority`` machine."""
