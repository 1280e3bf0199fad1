# SPDX-License-Identifier: Apache-2.0
"""What a log promises that a majority of its replicas commits: to clients, and between its replicas.

"A leader" is any broker that runs and believes that it leads. Epochs are those of elections; a leader of an earlier epoch may not
know yet that there is a later one. What a leader says is committed must outlive it: every leader of a later epoch has it.
"""

from __future__ import annotations

from hwmark.model.log import Log
from hwmark.model.machine import BrokerId, Step
from hwmark.model.majority.replication import quorum, serves
from hwmark.model.majority.rules import Rules
from hwmark.model.majority.state import Bounds, Role, State, brokers, consumers
from hwmark.spec.property import Witness, converges, invariant, reachable, step_property, witness

from .observers import ACKNOWLEDGED, COMMITTED, Acknowledged, Committed


def leads(state: State, broker: BrokerId) -> bool:
    """Whether a broker runs and believes that it leads."""
    return state.replicas[broker].role is Role.LEADER


def disagreement(ours: Log, theirs: Log, end_offset: int) -> Witness | None:
    """Return the first offset below ``end_offset`` where two logs do not hold the same record."""
    for offset in range(end_offset):
        if ours.at(offset) != theirs.at(offset):
            return witness(offset=offset, ours=ours.at(offset), theirs=theirs.at(offset))
    return None


# -- leaders and logs --


@invariant(sources=("S1", "KIP-595"), broker=brokers, other=brokers)
def single_leader(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """No two brokers lead in the same epoch."""
    if broker >= other or not leads(state, broker) or not serves(state, other, state.replicas[broker].leader_epoch):
        return None
    return witness(leader_epoch=state.replicas[broker].leader_epoch)


@invariant(sources=("S2", "KIP-595"), broker=brokers, other=brokers)
def log_matching(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Two logs with a record of the same epoch at the same offset agree on everything up to it."""
    if broker >= other:
        return None
    ours, theirs = state.logs[broker], state.logs[other]
    for offset in range(min(ours.end_offset, theirs.end_offset) - 1, -1, -1):
        record, other_record = ours.at(offset), theirs.at(offset)
        if record is not None and other_record is not None and record.leader_epoch == other_record.leader_epoch:
            return disagreement(ours, theirs, offset + 1)
    return None


@step_property(sources=("S1", "KIP-595"), broker=brokers)
def epochs_grow(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """No replica's epoch goes back, and while it runs neither does what it knows to be committed."""
    old, new = before.replicas[broker], after.replicas[broker]
    is_back = new.role is not Role.STOPPED and new.high_watermark < old.high_watermark
    if new.leader_epoch >= old.leader_epoch and not is_back:
        return None
    return witness(step=str(step), before=(old.leader_epoch, old.high_watermark), after=(new.leader_epoch, new.high_watermark))


@invariant(sources=("S6", "KIP-595"), broker=brokers, other=brokers)
def high_watermark_prefix(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """A replica has all that it knows to be committed, and two replicas agree on it: consumers read the same everywhere."""
    known = min(state.replicas[broker].high_watermark, state.replicas[other].high_watermark)
    ours, theirs = state.logs[broker], state.logs[other]
    if known > ours.end_offset:
        return witness(offset=ours.end_offset, high_watermark=known)
    return disagreement(ours, theirs, known) if broker < other else None


# -- what is committed --


@invariant(sources=("S14", "KIP-595"), observers=(COMMITTED,), broker=brokers)
def committed_survives(state: State, committed: Committed, *, broker: BrokerId) -> Witness | None:
    """Whoever leads in the epoch in which something was committed, or in a later one, has all that was committed."""
    if not leads(state, broker) or state.replicas[broker].leader_epoch < committed.leader_epoch:
        return None
    return disagreement(state.logs[broker], Log(committed.records), len(committed.records))


@step_property(sources=("S2", "S14"), observers=(COMMITTED,))
def append_only_log(before: State, step: Step, after: State, committed: tuple[Committed, Committed]) -> Witness | None:
    """To its clients the log only grows at its end: each step leaves what is committed, or appends."""
    old, new = (one.records for one in committed)
    return None if new[: len(old)] == old else witness(step=str(step), before=old, after=new)


@invariant(sources=("S7", "S13-failures"), observers=(ACKNOWLEDGED,), broker=brokers)
def acknowledged_survives(state: State, acknowledged: Acknowledged, *, broker: BrokerId) -> Witness | None:
    """Whoever leads in the epoch in which a producer was told that its record is stored, or in a later one, has the record."""
    if not leads(state, broker) or state.replicas[broker].leader_epoch < acknowledged.leader_epoch:
        return None
    lost = sorted(acknowledged.records - {record.id for record in state.logs[broker].records})
    return witness(record=lost[0]) if lost else None


@step_property(sources=("S6", "S14"), observers=(COMMITTED,), consumer=consumers)
def reads_are_committed(
    before: State, step: Step, after: State, committed: tuple[Committed, Committed], *, consumer: int
) -> Witness | None:
    """What a consumer reads is the committed record at its position."""
    if step.action != "consume" or step.choices["consumer"] != consumer:
        return None
    position = before.consumers[consumer]
    record = before.logs[step.choices["broker"]].at(position)
    if committed[0].records[position : position + 1] == (record,):
        return None
    return witness(position=position, read=record, committed=committed[0].records)


# -- goals --


def small(**scope: int) -> dict[str, int]:
    """Return a minimal scope: one broker, no record, no election, and no trouble, but for these."""
    return {"brokers": 1, "records": 0, "max_leader_epoch": 0, **scope}


@reachable(sources=("S7",), scope=small(records=1))
def record_is_acknowledged(before: State, step: Step, after: State) -> bool:
    """A producer is told that its record is stored."""
    return step.action == "acknowledge_produce"


@reachable(sources=("S13-failures",), scope=small(brokers=2, max_leader_epoch=1, timeouts=1), broker=brokers)
def leadership_moves(state: State, *, broker: BrokerId) -> bool:
    """Another broker leads than the first one, and has committed a record."""
    return leads(state, broker) and broker > 0 and state.replicas[broker].high_watermark > 0


@reachable(sources=("S1", "KIP-595"), scope=small(brokers=3, max_leader_epoch=1, timeouts=1), broker=brokers)
def zombie_leads(state: State, *, broker: BrokerId) -> bool:
    """A broker still believes that it leads while another leads in a later epoch."""
    epoch = state.replicas[broker].leader_epoch
    return leads(state, broker) and any(one.role is Role.LEADER and one.leader_epoch > epoch for one in state.replicas)


@reachable(sources=("K-101", "KIP-595"), scope=small(brokers=3, records=1, max_leader_epoch=1, timeouts=1), broker=brokers)
def log_is_truncated(before: State, step: Step, after: State, *, broker: BrokerId) -> bool:
    """A follower truncates records as its leader tells it to."""
    return step.action == "receive_fetch" and after.logs[broker].end_offset < before.logs[broker].end_offset


@reachable(sources=("S5", "KIP-595"), scope=small(brokers=2, records=1, max_leader_epoch=1, timeouts=1), candidate=brokers)
def vote_is_refused(before: State, step: Step, after: State, *, candidate: BrokerId) -> bool:
    """A candidate does not get a vote since its log lacks records."""
    if step.action != "request_vote" or step.choices["candidate"] != candidate:
        return False
    voter: BrokerId = step.choices["voter"]
    old, new = before.replicas[voter], after.replicas[voter]
    return old.leader_epoch < new.leader_epoch and new.stands_by != candidate


# -- what stays possible --


def has_epochs(state: State, bounds: Bounds) -> bool:
    """Whether there is another epoch for an election, whoever asks for it."""
    return max(replica.leader_epoch for replica in state.replicas) < bounds.max_leader_epoch


@converges(sources=("S13-failures", "KIP-595"), when=has_epochs)
def stays_writable(state: State, rules: Rules) -> bool:
    """While epochs are left a leader can still commit: all it has is committed, and enough replicas run and follow it."""
    needed = quorum(rules, len(state.replicas))
    return any(leads(state, broker) and commits(state, broker, needed) for broker in range(len(state.replicas)))


def commits(state: State, leader: BrokerId, needed: int) -> bool:
    """Whether a leader has committed all it has, and so many replicas, itself among them, have it and follow."""
    mine, log = state.replicas[leader], state.logs[leader]
    following = sum(
        one.role in (Role.LEADER, Role.FOLLOWER)
        and (one.stands_by, one.leader_epoch) == (leader, mine.leader_epoch)
        and state.logs[broker] == log
        for broker, one in enumerate(state.replicas)
    )
    return mine.high_watermark == log.end_offset and following >= needed


PROPERTIES = (
    single_leader,
    log_matching,
    epochs_grow,
    high_watermark_prefix,
    committed_survives,
    append_only_log,
    acknowledged_survives,
    reads_are_committed,
    record_is_acknowledged,
    leadership_moves,
    zombie_leads,
    log_is_truncated,
    vote_is_refused,
    stays_writable,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
