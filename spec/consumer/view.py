# SPDX-License-Identifier: Apache-2.0
"""How a consumer is drawn: the leader's log and the other replica's, what is committed, and the consumer with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.consumer.partition import is_unclean
from hwmark.model.consumer.positions import POSITIONED
from hwmark.model.consumer.state import INVALID_OFFSET, Committed, FetchState, Lookup, State
from hwmark.model.log import UNDEFINED_EPOCH, Log, Record
from hwmark.model.machine import Step
from hwmark.spec.naming import epoch_name, letter, record_name, records_name
from hwmark.spec.view import Cell, Event, Lane, Mark, Message, Place, Tone, View, by_action

LEADER, OTHER, CONSUMER = "leader", "other replica", "consumer"
STATES = {
    FetchState.UNASSIGNED: ("has no partition", Tone.PLAIN),
    FetchState.INITIALIZING: ("has no position yet", Tone.PLAIN),
    FetchState.AWAIT_RESET: ("waits for a position to be reset to", Tone.PLAIN),
    FetchState.AWAIT_VALIDATION: ("has to validate its position", Tone.WRONG),
    FetchState.FETCHING: ("reads", Tone.LEADING),
    FetchState.FAILED: ("the application has to decide", Tone.WRONG),
}
"""What the consumer's lane says of its state."""
LOOKUPS = {Lookup.WITH_PARTITION: "of this partition", Lookup.WITHOUT_PARTITION: "of other partitions"}
"""What is said of a lookup that is under way."""


# -- lanes --


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the two replicas, and the consumer."""
    position = (Mark("position", state.position, strong=True),) if state.position != INVALID_OFFSET else ()
    committed = (Mark("committed offset", state.committed.offset),) if state.committed is not None else ()
    return (
        log_lane(LEADER, state.log, Tone.LEADING, {"leader epoch": epoch_name(state.leader_epoch)}, (*committed, *position)),
        log_lane(OTHER, state.other_log, Tone.PLAIN, {}, ()),
        consumer_lane(state),
    )


def log_lane(name: str, log: Log, tone: Tone, facts: Mapping[str, str], marks: tuple[Mark, ...]) -> Lane:
    """Return the lane of a replica with its log."""
    cells = tuple(
        Cell(offset, letter(one.id), one.leader_epoch, committed=True) for offset, one in enumerate(log.records, log.log_start_offset)
    )
    return Lane(
        name, tone=tone, facts=facts, cells=cells, marks=(Mark("log start", log.log_start_offset), *marks, Mark("LEO", log.end_offset))
    )


def consumer_lane(state: State) -> Lane:
    """Return what the consumer knows, and what it has under way."""
    role, tone = STATES[state.fetch_state]
    facts = {"knows leader epoch": epoch_name(state.known_leader_epoch)}
    if state.position != INVALID_OFFSET:
        facts["position"] = str(state.position)
    if state.offset_epoch != UNDEFINED_EPOCH:
        facts["last record of epoch"] = epoch_name(state.offset_epoch)
    if state.is_callback_pending:
        facts["assignment callback"] = "runs"
    if state.lookup in LOOKUPS:
        facts["looks up offsets"] = LOOKUPS[state.lookup]
    if state.under_way:
        facts["commits under way"] = ", ".join(str(commit.offset) for commit in state.under_way)
    return Lane(CONSUMER, role, tone, facts)


# -- events --


def commit_message(commit: Committed) -> Message:
    """Return the message that carries a commit."""
    return Message(f"OffsetCommit {commit.offset}", () if commit.leader_epoch < 0 else (f"leader epoch {commit.leader_epoch}",))


def appends(_before: State, _step: Step, after: State) -> Event:
    """A record is appended."""
    record = after.log.records[-1]
    return Event(
        f"A producer appends {letter(record.id)} at offset {after.log.end_offset - 1}, in leader epoch {record.leader_epoch}", LEADER
    )


def elects(before: State, _step: Step, after: State) -> Event:
    """The other replica takes over."""
    how = ", although it does not hold everything" if is_unclean(before) else ""
    return Event(f"The other replica becomes leader under leader epoch {after.leader_epoch}{how}", LEADER, OTHER)


def deletes(_before: State, step: Step, _after: State) -> Event:
    """Records are deleted."""
    return Event(f"The records before offset {step.choices['offset']} are deleted", LEADER)


def begins_lookup(_before: State, _step: Step, after: State) -> Event:
    """Offsets are looked up."""
    return Event(f"The consumer begins to look up committed offsets {LOOKUPS[after.lookup]}", CONSUMER)


def ends_lookup(before: State, _step: Step, after: State) -> Event:
    """Offsets are there."""
    if after.fetch_state in POSITIONED and after.position != before.position:
        return Event(f"The consumer's position is the committed offset {after.position}", CONSUMER)
    if after.fetch_state is FetchState.AWAIT_RESET and before.fetch_state is not FetchState.AWAIT_RESET:
        return Event("The consumer takes it that nothing is committed: its position is to be reset", CONSUMER)
    if after.fetch_state is FetchState.FAILED and before.fetch_state is not FetchState.FAILED:
        return Event("The application is told that there is no offset: NoOffsetForPartitionException", CONSUMER)
    return Event("The lookup of committed offsets ends, and changes nothing here", CONSUMER)


def resets(_before: State, _step: Step, after: State) -> Event:
    """A position is reset."""
    return Event(f"The position is reset to offset {after.position}", CONSUMER, LEADER)


def seeks(_before: State, step: Step, _after: State) -> Event:
    """The application seeks."""
    return Event(f"The application seeks to offset {step.choices['offset']}", CONSUMER)


def polls(before: State, _step: Step, after: State) -> Event:
    """A record is returned, or the offset is out of range."""
    record = before.log.at(before.position)
    if record is None:
        end = "its position is to be reset" if after.fetch_state is FetchState.AWAIT_RESET else "the application is told"
        return Event(f"Offset {before.position} is out of range: {end}", CONSUMER, LEADER)
    caption = f"The application polls, and reads {letter(record.id)} at offset {before.position}"
    if len(after.under_way) == len(before.under_way):
        return Event(caption, CONSUMER, LEADER)
    commit = after.under_way[-1]
    return Event(f"{caption}; offset {commit.offset} is committed automatically", CONSUMER, LEADER, sends=commit_message(commit))


def hears_of_leader(_before: State, _step: Step, after: State) -> Event:
    """Metadata is refreshed."""
    return Event(f"The consumer hears of the leader of epoch {after.leader_epoch}", CONSUMER, LEADER)


def validates(before: State, step: Step, after: State) -> Event:
    """A position is validated."""
    asked = f"The consumer asks where leader epoch {before.offset_epoch} ends"
    if step.action == "validate_without_answer":
        asked += ", and the leader does not know"
    if after.position == before.position:
        return Event(f"{asked}: its position stands", CONSUMER, LEADER)
    if after.fetch_state is FetchState.FETCHING:
        return Event(f"{asked}, and goes back to offset {after.position}", CONSUMER, LEADER)
    end = "its position is to be reset" if after.fetch_state is FetchState.AWAIT_RESET else "the application is told of the truncation"
    return Event(f"{asked}: {end}", CONSUMER, LEADER)


def builds(_before: State, _step: Step, after: State) -> Event:
    """A commit is built."""
    commit = after.under_way[-1]
    return Event(f"The consumer commits offset {commit.offset}", CONSUMER, sends=commit_message(commit))


def arrives(before: State, step: Step, _after: State) -> Event:
    """A commit arrives."""
    commit = before.under_way[step.choices["place"]]
    return Event(f"The commit of offset {commit.offset} arrives", LEADER, CONSUMER, receives=commit_message(commit))


def fails(before: State, step: Step, after: State) -> Event:
    """A commit fails."""
    commit = before.under_way[step.choices["place"]]
    again = ", and is to be sent again" if len(after.under_way) == len(before.under_way) else ""
    return Event(f"The commit of offset {commit.offset} fails{again}", CONSUMER)


def told(caption: str, lane: str = CONSUMER) -> Callable[[State, Step, State], Event]:
    """Return a function that tells a step that is always the same."""
    return lambda _before, _step, _after: Event(caption, lane)


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "append_record": appends,
    "replicate": told("The other replica holds what the leader holds", OTHER),
    "elect_other_replica": elects,
    "delete_records": deletes,
    "assign_partition": told("The consumer is assigned the partition; the application's callback begins"),
    "finish_callback": told("The application's assignment callback is over"),
    "begin_lookup": begins_lookup,
    "finish_lookup": ends_lookup,
    "reset_position": resets,
    "seek": seeks,
    "poll": polls,
    "refresh_metadata": hears_of_leader,
    "validate_position": validates,
    "validate_without_answer": validates,
    "build_commit": builds,
    "commit_arrives": arrives,
    "commit_fails": fails,
    "restart": told("The consumer ends, and another takes its place"),
}
"""How each action of the machine is told."""


def blame(_state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the consumer, and the offset in the leader's log that a witness names."""
    offset = facts.get("offset")
    return (Place(CONSUMER), *((Place(LEADER, offset),) if isinstance(offset, int) else ()))


def say(_path: str, value: Any) -> str | None:
    """Write logs and commits in short."""
    if isinstance(value, Record):
        return record_name(value)
    if isinstance(value, Log):
        return f"{records_name(value.records)} from {value.log_start_offset}"
    if isinstance(value, Committed):
        return f"{value.offset}" + ("" if value.leader_epoch < 0 else f" (epoch {value.leader_epoch})")
    return None


VIEW = View(
    lanes=lanes,
    event=by_action(EVENTS),
    blame=blame,
    say=say,
    words={
        "cell": "a record written in leader epoch",
        "committed": "readable",
        "committed offset": "where a restarted consumer resumes",
        "log start": "log start offset: what is before it is gone",
        "position": "the offset that the consumer reads next",
        "LEO": "log end offset: where the next record will go",
    },
)
"""The view of the ``consumer`` machine."""
