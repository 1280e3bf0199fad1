# SPDX-License-Identifier: Apache-2.0
"""What replication of one partition promises, as invariants, step properties, goals, and what comes true at last.

"A leader" here is any broker that believes that it leads, zombies included; "the true leader" is the one that the
quorum names and that knows it. Committed means below a leader's high watermark: that is what consumers may read.
"""

from __future__ import annotations

from hwmark.model.log import Log, Record
from hwmark.model.machine import BrokerId, Step
from hwmark.model.replication import NOBODY, Bounds, State, brokers, is_true_leader

from .abstract_log import AbstractLog, continued, first_difference, is_append
from .property import Observer, Witness, converges, invariant, leads_to, reachable, step_property, witness

# -- what several promises presuppose --


def leads(state: State, broker: BrokerId) -> bool:
    """Whether the broker believes that it leads."""
    return state.replicas[broker].leader == broker


def committed(state: State, broker: BrokerId) -> tuple[Record, ...]:
    """Return the records below the broker's high watermark."""
    return state.logs[broker].records[: state.replicas[broker].high_watermark]


def leads_with_committed(state: State, leader: BrokerId) -> bool:
    """Whether the broker believes that it leads, and holds something as committed."""
    return leads(state, leader) and state.replicas[leader].high_watermark > 0


def is_settled(state: State, bounds: Bounds) -> bool:
    """Whether the quorum has a leader, and leader epochs are left to elect another."""
    return state.quorum.leader != NOBODY and state.quorum.leader_epoch < bounds.max_leader_epoch


def disagreement(ours: Log, theirs: Log, end_offset: int) -> Witness | None:
    """Return the first offset below ``end_offset`` at which the logs, which both start at 0, do not hold the same record."""
    if ours.end_offset >= end_offset and ours.records[:end_offset] == theirs.records[:end_offset]:
        return None  # nearly always, and quick: copies of a record are one object
    for offset in range(end_offset):
        record, other = ours.at(offset), theirs.at(offset)
        if record is None or record != other:
            return witness(offset=offset, ours=record, theirs=other)
    return None


# -- invariants --


@invariant(sources=("S4", "S5", "S6", "K-320"), when=leads_with_committed, leader=brokers, member=brokers)
def weak_isr(state: State, *, leader: BrokerId, member: BrokerId) -> Witness | None:
    """Every member of the ISR that a leader knows holds the records that this leader counts as committed."""
    replica = state.replicas[leader]
    if member not in replica.isr:
        return None
    return disagreement(state.logs[leader], state.logs[member], replica.high_watermark)


@invariant(sources=("S5", "S13", "S14", "K-320"), when=leads_with_committed, leader=brokers, member=brokers)
def strong_isr(state: State, *, leader: BrokerId, member: BrokerId) -> Witness | None:
    """Every member of the quorum's ISR, from which the next leader is drawn, holds the records that any leader counts as committed."""
    if member not in state.quorum.isr:
        return None
    return disagreement(state.logs[leader], state.logs[member], state.replicas[leader].high_watermark)


def is_led_after_commit(state: State, broker: BrokerId) -> bool:
    """Whether somebody truly leads, and the broker holds something as committed."""
    leader = state.quorum.leader
    return state.replicas[broker].high_watermark > 0 and leader != NOBODY and is_true_leader(state, leader)


@invariant(sources=("S7", "S12", "S14", "K-101", "K-279"), when=is_led_after_commit, broker=brokers)
def leader_completeness(state: State, *, broker: BrokerId) -> Witness | None:
    """The true leader holds every record that is below anybody's high watermark: no committed record is lost."""
    leader = state.quorum.leader
    found = disagreement(state.logs[broker], state.logs[leader], state.replicas[broker].high_watermark)
    return None if found is None else witness(leader=leader, **found.facts)


def both_committed(state: State, broker: BrokerId, other: BrokerId) -> bool:
    """Whether two different brokers both hold something as committed."""
    return broker < other and state.replicas[broker].high_watermark > 0 < state.replicas[other].high_watermark


@invariant(sources=("S2", "S6", "S14", "K-101"), when=both_committed, broker=brokers, other=brokers)
def high_watermark_prefix(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Two replicas agree on every record below both their high watermarks: consumers read the same everywhere."""
    return disagreement(
        state.logs[broker], state.logs[other], min(state.replicas[broker].high_watermark, state.replicas[other].high_watermark)
    )


def both_hold_records(state: State, broker: BrokerId, other: BrokerId) -> bool:
    """Whether two different brokers both hold records."""
    return broker < other and bool(state.logs[broker].records) and bool(state.logs[other].records)


@invariant(sources=("S2", "K-101", "K-279", "R03"), when=both_hold_records, broker=brokers, other=brokers)
def epoch_lineage(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Two logs with a record of the same leader epoch at the same offset agree on everything up to it."""
    ours, theirs = state.logs[broker], state.logs[other]
    shorter = min(ours.end_offset, theirs.end_offset)
    if ours.records[:shorter] == theirs.records[:shorter]:
        return None
    for offset in range(shorter - 1, -1, -1):
        record, other_record = ours.at(offset), theirs.at(offset)
        if record is not None and other_record is not None and record.leader_epoch == other_record.leader_epoch:
            return disagreement(ours, theirs, offset + 1)
    return None


@invariant(sources=("S1",), when=leads, broker=brokers, other=brokers)
def single_leader(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """No two brokers believe that they lead in the same leader epoch; a deposed one is a zombie of an earlier epoch."""
    if broker >= other or not leads(state, other):
        return None
    leader_epoch = state.replicas[broker].leader_epoch
    return witness(leader_epoch=leader_epoch) if state.replicas[other].leader_epoch == leader_epoch else None


@invariant(sources=("S1", "S5"))
def leader_in_isr(state: State) -> Witness | None:
    """The quorum's leader, if it names one, is a member of the quorum's ISR."""
    if state.quorum.leader == NOBODY or state.quorum.leader in state.quorum.isr:
        return None
    return witness(leader=state.quorum.leader, isr=state.quorum.isr)


@invariant(sources=("S1", "S4", "S6"), broker=brokers)
def structure(state: State, bounds: Bounds, *, broker: BrokerId) -> Witness | None:
    """Every value is in its range: the high watermark within the log, epochs known to the quorum, the ISR made of replicas."""
    replica, log, quorum = state.replicas[broker], state.logs[broker], state.quorum
    if not 0 <= replica.high_watermark <= log.end_offset <= bounds.log_size:
        return witness(high_watermark=replica.high_watermark, log_end_offset=log.end_offset)
    if replica.leader_epoch > quorum.leader_epoch:
        return witness(leader_epoch=replica.leader_epoch, quorum_leader_epoch=quorum.leader_epoch)
    for record in log.records:
        if record.leader_epoch > quorum.leader_epoch or not 0 <= record.id < state.next_record_id:
            return witness(record=record, quorum_leader_epoch=quorum.leader_epoch, next_record_id=state.next_record_id)
    for isr in (replica.isr, quorum.isr):
        if isr and not (min(isr) >= 0 and max(isr) < bounds.replicas):
            return witness(isr=isr, replicas=bounds.replicas)
    return None


# -- steps --


@step_property(sources=("S1", "K-101"), broker=brokers)
def leader_epoch_order(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """Nobody's leader epoch goes back, neither a replica's nor the quorum's."""
    if after.replicas[broker].leader_epoch < before.replicas[broker].leader_epoch:
        return witness(whose="replica", before=before.replicas[broker].leader_epoch, after=after.replicas[broker].leader_epoch)
    if after.quorum.leader_epoch < before.quorum.leader_epoch:
        return witness(whose="quorum", before=before.quorum.leader_epoch, after=after.quorum.leader_epoch)
    return None


@step_property(sources=("S5",))
def election_from_isr(before: State, step: Step, after: State) -> Witness | None:
    """Whoever the controller elects was a member of the ISR just before."""
    elected = after.quorum.leader
    if elected in (NOBODY, before.quorum.leader) or elected in before.quorum.isr:
        return None
    return witness(step=str(step), elected=elected, isr=before.quorum.isr)


@step_property(sources=("S6",), broker=brokers)
def high_watermark_bound(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """No step moves a high watermark past the log end offset of its replica."""
    high_watermark, end_offset = after.replicas[broker].high_watermark, after.logs[broker].end_offset
    if high_watermark <= end_offset:
        return None
    return witness(step=str(step), before=before.replicas[broker].high_watermark, after=high_watermark, log_end_offset=end_offset)


def led_with_committed(before: State, step: Step, after: State, broker: BrokerId) -> bool:
    """Whether the broker believed that it led, and held something as committed, before the step."""
    return leads_with_committed(before, broker)


@step_property(sources=("S2", "S6", "S14"), when=led_with_committed, broker=brokers)
def committed_stability(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """A record once below a leader's high watermark is never rewritten or truncated there."""
    found = disagreement(before.logs[broker], after.logs[broker], before.replicas[broker].high_watermark)
    return None if found is None else witness(step=str(step), **found.facts)


# -- what observers remember --


def _views(state: State) -> list[AbstractLog]:
    return [committed(state, broker) for broker in range(len(state.replicas)) if leads(state, broker)]


EVER_COMMITTED = Observer(
    "ever_committed",
    memory=tuple[Record, ...],
    initial=lambda _: (),
    observe=lambda memory, _before, _step, after: continued(memory, _views(after)),
)
"""The log of records that leaders counted as committed, as clients know it."""


EVER_EXPOSED = Observer(
    "ever_exposed",
    memory=frozenset[tuple[int, Record]],
    initial=lambda _: frozenset(),
    observe=lambda memory, _before, _step, after: memory.union(*(enumerate(view) for view in _views(after))),
)
"""Every record that a consumer could have read from some leader, with its offset."""


@step_property(sources=("S2", "S6", "S14"), observers=(EVER_COMMITTED,), broker=brokers)
def append_only_log(
    before: State, step: Step, after: State, ever_committed: tuple[AbstractLog, AbstractLog], *, broker: BrokerId
) -> Witness | None:
    """To its clients the partition is one append-only log: each step leaves it or appends, and every high watermark is within it."""
    old, new = ever_committed
    if not is_append(old, new):
        return witness(step=str(step), before=old, after=new)
    offset = first_difference(new, committed(after, broker))
    return None if offset is None else witness(step=str(step), log=new, offset=offset, held=committed(after, broker))


@invariant(sources=("S6", "S14"), observers=(EVER_EXPOSED,))
def consistent_reads(state: State, ever_exposed: frozenset[tuple[int, Record]]) -> Witness | None:
    """Whoever reads an offset from any leader at any time reads the same record there."""
    read: dict[int, Record] = {}
    for offset, record in sorted(ever_exposed, key=lambda one: (one[0], one[1].id)):
        if read.setdefault(offset, record) != record:
            return witness(offset=offset, one=read[offset], other=record)
    return None


# -- goals --


@reachable(sources=("S7",), scope={"replicas": 1, "log_size": 1, "records": 1, "max_leader_epoch": 0}, leader=brokers)
def record_is_committed(state: State, *, leader: BrokerId) -> bool:
    """A leader counts a record as committed."""
    return leads_with_committed(state, leader)


@reachable(sources=("S5", "S12"), scope={"replicas": 2, "log_size": 1, "records": 0, "max_leader_epoch": 1}, leader=brokers)
def leadership_moves(state: State, *, leader: BrokerId) -> bool:
    """A second broker becomes leader after a first one, which does not know it yet."""
    return is_true_leader(state, leader) and any(leads(state, other) for other in range(len(state.replicas)) if other != leader)


@reachable(sources=("S2", "K-101"), scope={"replicas": 2, "log_size": 1, "records": 1, "max_leader_epoch": 1}, broker=brokers)
def log_is_truncated(before: State, step: Step, after: State, *, broker: BrokerId) -> bool:
    """A replica truncates records."""
    return after.logs[broker].end_offset < before.logs[broker].end_offset


@reachable(sources=("S4",), scope={"replicas": 2, "log_size": 1, "records": 0, "max_leader_epoch": 0}, broker=brokers)
def isr_shrinks_and_grows(before: State, step: Step, after: State, *, broker: BrokerId) -> bool:
    """A broker that was dropped from the ISR (at first all are in it) is readmitted."""
    return broker not in before.quorum.isr and broker in after.quorum.isr


@reachable(sources=("S1",), scope={"replicas": 1, "log_size": 1, "records": 1, "max_leader_epoch": 1}, leader=brokers)
def zombie_writes(before: State, step: Step, after: State, *, leader: BrokerId) -> bool:
    """A deposed leader that does not know it appends a record."""
    return (
        step.action == "leader_write"
        and before.quorum.leader != leader
        and len(after.logs[leader].records) > len(before.logs[leader].records)
    )


# -- what comes true at last --


@converges(sources=("S4", "S13"), when=is_settled)
def all_in_sync(state: State) -> bool:
    """While the quorum has a leader and epochs are left, all can get in sync: one log, all committed, all in the ISR."""
    leader = state.quorum.leader
    if leader == NOBODY or len(state.quorum.isr) < len(state.logs) or not is_true_leader(state, leader):
        return False
    log = state.logs[leader]
    return state.replicas[leader].high_watermark == log.end_offset and all(other == log for other in state.logs)


def has_uncommitted(state: State, bounds: Bounds, leader: BrokerId) -> bool:
    """Whether the quorum's leader, with epochs left, has records that it does not count as committed yet."""
    if state.quorum.leader != leader or not is_settled(state, bounds):
        return False
    return state.replicas[leader].high_watermark < state.logs[leader].end_offset


@leads_to(
    sources=("S7",),
    when=has_uncommitted,
    weak=("become_leader", "become_follower", "follower_fetch", "follower_truncate"),
    strong=("leader_advance_high_watermark",),
    leader=brokers,
)
def commits_at_last(state: State, bounds: Bounds, *, leader: BrokerId) -> bool:
    """If brokers and network keep working, the leader's records are committed at last, unless it is deposed or epochs run out."""
    return not has_uncommitted(state, bounds, leader)


PROPERTIES = (
    weak_isr,
    strong_isr,
    leader_completeness,
    high_watermark_prefix,
    epoch_lineage,
    single_leader,
    leader_in_isr,
    structure,
    leader_epoch_order,
    election_from_isr,
    high_watermark_bound,
    committed_stability,
    append_only_log,
    consistent_reads,
    record_is_committed,
    leadership_moves,
    log_is_truncated,
    isr_shrinks_and_grows,
    zombie_writes,
    all_in_sync,
    commits_at_last,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
