# SPDX-License-Identifier: Apache-2.0
"""How one replica's log is drawn: the records on disk with their segments, and beside them the cache of leader epochs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.log import EpochEntry, Record, Segment, stored
from hwmark.model.log_machine import State
from hwmark.model.machine import Step

from .naming import epoch_name, letter, record_name, records_name
from .view import Cell, Event, Lane, Mark, Place, Tone, View, by_action

LOG, CACHE = "log", "leader epoch cache"


# -- lanes --


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the log with its role, and the epoch cache, which should say the same."""
    cells = tuple(
        Cell(offset, letter(record.id), record.leader_epoch, offset >= state.log_start_offset)
        for offset, record in enumerate(stored(state.segments).records, start=state.segments[0].base_offset)
    )
    segments = ", ".join(f"{segment.base_offset}–{segment.end_offset}" for segment in state.segments)
    marks = (Mark("log start", state.log_start_offset, strong=True), Mark("LEO", state.end_offset))
    role, tone = ("leader", Tone.LEADING) if state.leads else ("follower", Tone.PLAIN)
    entries = {f"epoch {entry.leader_epoch}": f"starts at offset {entry.start_offset}" for entry in state.epoch_cache}
    return (
        Lane(LOG, role, tone, {"leader epoch": epoch_name(state.leader_epoch), "segments": segments}, cells, marks),
        Lane(CACHE, "" if entries else "empty", facts=entries),
    )


# -- events --


def begins(_before: State, step: Step, _after: State) -> Event:
    """The replica becomes leader."""
    return Event(f"The replica becomes leader under leader epoch {step.choices['leader_epoch']}", LOG)


def appends(_before: State, step: Step, after: State) -> Event:
    """A record is appended."""
    record = stored(after.segments).records[-1]
    who = "The leader appends" if step.action == "append_as_leader" else "The follower appends a copy of"
    return Event(f"{who} {letter(record.id)} at offset {after.end_offset - 1}, of leader epoch {record.leader_epoch}", LOG)


def truncates(_before: State, step: Step, _after: State) -> Event:
    """Records are dropped from the end."""
    return Event(f"The log is truncated to offset {step.choices['offset']}", LOG)


def starts_anew(_before: State, step: Step, _after: State) -> Event:
    """The log is dropped."""
    return Event(f"The whole log is dropped, and starts anew at offset {step.choices['offset']}", LOG)


def rolls(_before: State, _step: Step, after: State) -> Event:
    """A segment is closed."""
    return Event(f"The active segment is closed; the next one begins at offset {after.segments[-1].base_offset}", LOG)


def deletes(_before: State, step: Step, _after: State) -> Event:
    """Old segments are deleted."""
    return Event(f"Retention deletes the segments before offset {step.choices['base_offset']}", LOG)


def moves_start(_before: State, step: Step, _after: State) -> Event:
    """The log start offset moves."""
    return Event(f"DeleteRecords moves the log start offset to {step.choices['offset']}", LOG)


def crashes(before: State, step: Step, _after: State) -> Event:
    """The broker crashes."""
    end_offset = step.choices["end_offset"]
    lost = "no record" if end_offset == before.end_offset else f"the records from offset {end_offset} on"
    return Event(f"The broker crashes, loses {lost}, and loads its log again", LOG)


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "begin_leader_epoch": begins,
    "append_as_leader": appends,
    "append_as_follower": appends,
    "truncate_to": truncates,
    "truncate_fully_and_start_at": starts_anew,
    "roll_segment": rolls,
    "delete_segments": deletes,
    "advance_log_start_offset": moves_start,
    "crash_and_recover": crashes,
}
"""How each action of the machine is told."""


def blame(_state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the cache where a witness speaks of it, and the offset in the log where it names one."""
    cache = (Place(CACHE),) if facts.keys() & {"cached", "answered", "latest"} else ()
    offset = facts.get("offset")
    return (*cache, Place(LOG, offset)) if isinstance(offset, int) else cache


def say(_path: str, value: Any) -> str | None:
    """Write records as letters, and segments and cache entries in short."""
    if isinstance(value, Record):
        return record_name(value)
    if isinstance(value, Segment):
        return f"from {value.base_offset}: {records_name(value.records)}"
    if isinstance(value, EpochEntry):
        return f"epoch {value.leader_epoch} from {value.start_offset}"
    return None


VIEW = View(
    lanes=lanes,
    event=by_action(EVENTS),
    blame=blame,
    say=say,
    words={
        "cell": "a record written in leader epoch",
        "committed": "readable",
        "uncommitted": "still on disk, but below the log start offset: gone for readers",
        "log start": "log start offset: what is before it is gone",
        "LEO": "log end offset: where the next record will go",
    },
)
"""The view of the ``log`` machine."""
