# SPDX-License-Identifier: Apache-2.0
"""How committed offsets are drawn: the coordinator with what it holds, its log, and the members with what they believe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.machine import Step
from hwmark.model.offsets.rules import Rules
from hwmark.model.offsets.state import (
    INVALID_OFFSET,
    CommitRequest,
    Config,
    Entry,
    Marker,
    OffsetCommit,
    Phase,
    Protocol,
    State,
    Tombstone,
)
from hwmark.model.offsets.store import last_stable_offset, outcome
from hwmark.model.offsets.validation import Error, commit_error, sender
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId
from hwmark.spec.view import Cell, Event, Lane, Mark, Message, Place, Tone, View

COORDINATOR, LOG = "coordinator", "__consumer_offsets"
PHASES = {
    Phase.ABSENT: "no such group",
    Phase.EMPTY: "group is empty",
    Phase.PREPARING_REBALANCE: "preparing a rebalance",
    Phase.COMPLETING_REBALANCE: "completing a rebalance",
    Phase.STABLE: "group is stable",
}
"""What the coordinator's lane calls the states of the group."""
STORED = {phase: "none" if phase is Phase.ABSENT else phase.value for phase in Phase}
"""What the latest record about the group says of its state."""


def member_name(member: MemberId) -> str:
    """Return how a member is called, which is also the name of its lane."""
    return "nobody" if member < 0 else f"member {member}"


def offset_name(commit: OffsetCommit | None) -> str:
    """Return how a committed offset is written."""
    return "none" if commit is None else str(commit.offset)


# -- lanes --


def lanes(state: State, config: Config) -> tuple[Lane, ...]:
    """Return the coordinator, the log that it would read again, and the members."""
    word = "generation" if config.group_protocol is Protocol.CLASSIC else "epoch"
    members = (member_lane(state, member, word) for member in range(len(state.believed)))
    return (coordinator_lane(state, word), log_lane(state, word), *members)


def coordinator_lane(state: State, word: str) -> Lane:
    """Return what the coordinator holds in memory."""
    if state.is_loading:
        return Lane(COORDINATOR, "has not read its log yet", Tone.WRONG)
    facts = {word: str(state.generation), "partition": member_name(state.owner), "committed": offset_name(state.committed)}
    facts |= {f"pending, {member_name(one)}": offset_name(pending) for one, pending in enumerate(state.pending) if pending is not None}
    return Lane(COORDINATOR, PHASES[state.phase], facts=facts)


def log_lane(state: State, word: str) -> Lane:
    """Return the records about the offset, and what the latest one about the group says."""
    left = {entry.record_offset: entry for entry in state.log}
    cells = tuple(cell(state, offset, left.get(offset)) for offset in range(state.next_record_offset))
    stored = state.stored
    facts = {"group record": STORED[stored.phase], word: str(stored.generation), "partition": member_name(stored.owner)}
    marks = (Mark("LSO", last_stable_offset(state.log), strong=True), Mark("LEO", state.next_record_offset))
    return Lane(LOG, facts=facts, cells=cells, marks=marks)


def member_lane(state: State, member: MemberId, word: str) -> Lane:
    """Return what a member believes, and the request that it has under way."""
    known, position, request = state.believed[member], state.positions[member], state.requests[member]
    facts = (
        {} if known == UNKNOWN_GENERATION else {word: str(known), "position": "unknown" if position == INVALID_OFFSET else str(position)}
    )
    if request is not None:
        facts |= {"under way": f"{kind_of(request)} {request.offset}", "sent under": f"{word} {request.generation}"}
    if known == UNKNOWN_GENERATION:
        is_member = state.epochs[member] != UNKNOWN_GENERATION
        return Lane(member_name(member), "is a member" if is_member else "is no member", facts=facts)
    if state.stored.owner == member and known >= state.stored.assignment_epoch:
        return Lane(member_name(member), "has the partition", Tone.LEADING, facts)
    return Lane(member_name(member), "believes to have the partition", Tone.WRONG, facts)


def cell(state: State, offset: int, entry: Entry | None) -> Cell:
    """Return the cell of a record, or of one that compaction removed."""
    return Cell(offset, "·", None, committed=True) if entry is None else Cell(offset, entry_label(entry), None, is_decided(state, entry))


def entry_label(entry: Entry) -> str:
    """Return what a cell of the log says."""
    if isinstance(entry, OffsetCommit):
        return str(entry.offset) if entry.producer == NOBODY else f"t{entry.offset}"
    return "–" if isinstance(entry, Tombstone) else "C" if entry.is_commit else "A"


def is_decided(state: State, entry: Entry) -> bool:
    """Whether a record counts already, or not any more."""
    return not isinstance(entry, OffsetCommit) or outcome(state.log, entry) is not None


def request_name(request: CommitRequest) -> str:
    """Return how a request is written."""
    return f"{kind_of(request)} {request.offset}, generation {request.generation}"


def kind_of(request: CommitRequest) -> str:
    """Return Kafka's name of a request."""
    return "TxnOffsetCommit" if request.is_transactional else "OffsetCommit"


# -- events --


def commit_message(member: MemberId, request: CommitRequest) -> Message:
    """Return the message that carries a member's commit."""
    return Message(f"{kind_of(request)} of member {member}", (f"offset {request.offset}", f"generation {request.generation}"))


def handled(before: State, step: Step, rules: Rules, config: Config) -> Event:
    """The coordinator answers a commit."""
    member = step.choices["member"]
    request = before.requests[member]
    if request is None:
        return Event(str(step))
    error = commit_error(rules, config, before, sender(rules, member, request))
    if error is not Error.NONE:
        caption = f"The coordinator refuses offset {request.offset} of member {member}: {error.value}"
    elif request.is_transactional:
        caption = f"The coordinator writes offset {request.offset} of member {member}, to count once its transaction is committed"
    else:
        caption = f"The coordinator commits offset {request.offset} for member {member}"
    return Event(caption, COORDINATOR, member_name(member), receives=commit_message(member, request))


def sent(_before: State, step: Step, after: State) -> Event:
    """A member commits."""
    member = step.choices["member"]
    request = after.requests[member]
    if request is None:
        return Event(str(step))
    how = " with its producer's transaction" if request.is_transactional else ""
    caption = f"Member {member} commits offset {request.offset}{how}, under generation {request.generation}"
    return Event(caption, member_name(member), sends=commit_message(member, request))


def joins(_before: State, step: Step, after: State) -> Event:
    """A member joins."""
    what = "a rebalance begins" if after.phase is Phase.PREPARING_REBALANCE else f"the group epoch is {after.generation}"
    return Event(f"Member {step.choices['member']} joins: {what}", COORDINATOR, member_name(step.choices["member"]))


def removes(_before: State, step: Step, _after: State) -> Event:
    """A member is taken out."""
    return Event(f"The coordinator takes member {step.choices['member']} out of the group", COORDINATOR)


def completes(_before: State, _step: Step, after: State) -> Event:
    """A generation begins."""
    end = ", without members" if after.phase is Phase.EMPTY else ", which still has to be assigned"
    return Event(f"Generation {after.generation} begins{end}", COORDINATOR)


def assigns(_before: State, step: Step, after: State) -> Event:
    """The partition is given away."""
    member = step.choices["member"]
    return Event(f"Member {member} gets the partition, under generation {after.generation}", member_name(member), COORDINATOR)


def releases(_before: State, step: Step, after: State) -> Event:
    """The partition is given up."""
    member = step.choices["member"]
    return Event(f"Member {member} gives the partition up, and is moved on to epoch {after.generation}", member_name(member))


def advances(_before: State, step: Step, after: State) -> Event:
    """An epoch is raised."""
    return Event(f"Member {step.choices['member']} keeps the partition, and is moved on to epoch {after.generation}", COORDINATOR)


def hears(_before: State, step: Step, after: State) -> Event:
    """A member hears of its epoch."""
    member = step.choices["member"]
    return Event(f"Member {member} hears that its epoch is {after.believed[member]}", member_name(member), COORDINATOR)


def finds_place(before: State, step: Step, after: State) -> Event:
    """A member asks where to begin."""
    member = step.choices["member"]
    position = after.positions[member]
    if position == INVALID_OFFSET:
        return Event(f"Member {member} asks for its offset, and hears that it is no member", member_name(member), COORDINATOR)
    why = "nothing is committed" if before.committed is None else "the committed offset"
    return Event(f"Member {member} begins at offset {position}: {why}", member_name(member), COORDINATOR)


def consumes(before: State, step: Step, _after: State) -> Event:
    """A member consumes."""
    member = step.choices["member"]
    return Event(f"Member {member} consumes the record at offset {before.positions[member]}", member_name(member))


def stops(_before: State, step: Step, _after: State) -> Event:
    """A member stops."""
    return Event(f"Member {step.choices['member']} stops consuming", member_name(step.choices["member"]))


def commits_outside(_before: State, step: Step, _after: State) -> Event:
    """Somebody sets the offset."""
    return Event(f"Somebody outside of the group commits offset {step.choices['offset']}", COORDINATOR)


def ends(_before: State, step: Step, _after: State) -> Event:
    """A transaction ends."""
    how = "committed" if step.choices["is_commit"] else "aborted"
    return Event(f"The transaction of member {step.choices['member']} is {how}", COORDINATOR)


def expires(before: State, _step: Step, after: State) -> Event:
    """Offsets expire."""
    what = "The committed offset expires" if before.committed is not None else "The group has no offsets"
    return Event(what + (", and the group is deleted" if after.phase is Phase.ABSENT else ""), COORDINATOR)


def told(caption: str, lane: str = COORDINATOR) -> Callable[[State, Step, State], Event]:
    """Return a function that tells a step that is always the same."""
    return lambda _before, _step, _after: Event(caption, lane)


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "join_group": joins,
    "remove_member": removes,
    "complete_join": completes,
    "sync_group": assigns,
    "assign_partition": assigns,
    "release_partition": releases,
    "advance_epoch": advances,
    "hear_epoch": hears,
    "fetch_offset": finds_place,
    "consume": consumes,
    "send_commit": sent,
    "send_transactional_commit": sent,
    "stop_consuming": stops,
    "commit_from_outside": commits_outside,
    "end_transaction": ends,
    "pass_retention_period": told("The retention period passes"),
    "expire_offsets": expires,
    "delete_group": told("An operator deletes the group with its offsets"),
    "compact_log": told("The log is compacted", LOG),
    "fail_over": told("Another broker becomes the coordinator, and knows nothing yet"),
    "load_group": told("The coordinator has read its log"),
}
"""How each action of the machine is told, but for the answer to a commit, which depends on the rules."""


def event(before: State, step: Step, after: State, rules: Rules, config: Config) -> Event:
    """Return how a step is told."""
    return handled(before, step, rules, config) if step.action == "handle_commit" else EVENTS[step.action](before, step, after)


def blame(state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the coordinator, and the log or the member of which a witness speaks."""
    named = [facts["member"]] if isinstance(facts.get("member"), int) else []
    log = (Place(LOG),) if "replayed" in facts and state.log else ()
    return (Place(COORDINATOR), *log, *(Place(member_name(member)) for member in named))


def entry_text(entry: Entry) -> str:
    """Return how a record of the log is written in text."""
    if isinstance(entry, OffsetCommit):
        return f"offset {entry.offset}" + ("" if entry.producer == NOBODY else f", in the transaction of member {entry.producer}")
    if isinstance(entry, Tombstone):
        return "deletion of the offset"
    return f"{'commit' if entry.is_commit else 'abort'} marker of member {entry.producer}"


def say(path: str, value: Any) -> str | None:
    """Write records, requests and the members' knowledge in the words of the domain."""
    if isinstance(value, OffsetCommit | Tombstone | Marker):
        return entry_text(value)
    if isinstance(value, CommitRequest):
        return request_name(value)
    if isinstance(value, Phase):
        return PHASES[value]
    return member_name(value) if path in {"owner", "stored.owner"} else None


VIEW = View(
    lanes=lanes,
    event=event,
    blame=blame,
    say=say,
    words={
        "committed": "decided: an offset, one in a transaction (t) that was committed (C) or aborted (A), a deletion (–), gone (·)",
        "uncommitted": "an offset in a transaction that is not decided",
        "LSO": "last stable offset: the first record whose transaction is undecided, or the log's end",
        "LEO": "log end offset: where the next record will go",
        "has the partition": "by the latest record about the group",
        "believes to have the partition": "but it was taken from it",
    },
)
"""The view of the ``offsets`` machine."""
