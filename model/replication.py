# SPDX-License-Identifier: Apache-2.0
"""One partition replicated to several brokers, with an atomic quorum: the published family of Kafka's protocol.

The coordination service (ZooKeeper then, the KRaft quorum now) is one value that the controller and the true
leader update atomically. Every LeaderAndIsr request ever sent stays deliverable, which models loss, delay,
duplication and reordering. A broker does not crash: it may just never act again, and while it does act it may be a
zombie that still believes that it leads. Time is left out: whatever a timeout could cause may happen at any moment.
Left out: acks and min.insync.replicas, unclean election, retention, lossy crashes, the ELR; fetch and answer are one
step that copies one record. The rules are those of hachikuji/kafka-specification (KafkaReplication, KIP-101, KIP-279,
KIP-320), literal also where Kafka differs; each such place says so.
"""

from __future__ import annotations

from typing import assert_never

from attrs import field, frozen, validators

from .log import UNDEFINED_EPOCH, Log, Record, append, epoch_start_offset, first_offset_after_epoch, last_common_end, truncate_to
from .machine import BrokerId, Machine, PerBroker, action, kafka, put
from .rules import EpochStart, Fence, ReplicationRules, Truncation, TruncationFence

NOBODY: BrokerId = -1
Isr = frozenset[BrokerId]


@frozen(cache_hash=True)
class LeaderAndIsr:
    """What the controller decides: who leads in which leader epoch, and with which in-sync replicas."""

    leader_epoch: int
    leader: BrokerId
    isr: Isr


@frozen(cache_hash=True)
class Replica:
    """What one broker believes about the partition; its ISR is a cached view that may be out of date."""

    high_watermark: int = 0
    leader_epoch: int = UNDEFINED_EPOCH
    leader: BrokerId = NOBODY
    isr: Isr = frozenset()


@frozen(cache_hash=True)
class State:
    """The logs and beliefs of all brokers, the quorum's truth, and every request that was sent (one an epoch)."""

    logs: PerBroker[Log]
    replicas: PerBroker[Replica]
    quorum: LeaderAndIsr
    requests: tuple[LeaderAndIsr | None, ...]
    next_record_id: int = 0


@frozen
class Config:
    """Nothing that an operator sets is part of this machine."""


@frozen
class Bounds:
    """How far we look: leader epochs run from 0 to ``max_leader_epoch``, so there is one decision more than that."""

    replicas: int = field(default=2, validator=[validators.ge(1), validators.le(9)])
    log_size: int = field(default=2, validator=[validators.ge(1), validators.le(64)])
    records: int = field(default=2, validator=[validators.ge(0), validators.le(64)])
    max_leader_epoch: int = field(default=2, validator=[validators.ge(0), validators.le(64)])


def initial(bounds: Bounds) -> State:
    """Everybody is in sync and empty; nobody leads yet."""
    return State(
        logs=(Log(),) * bounds.replicas,
        replicas=(Replica(),) * bounds.replicas,
        quorum=LeaderAndIsr(UNDEFINED_EPOCH, NOBODY, frozenset(range(bounds.replicas))),
        requests=(None,) * (bounds.max_leader_epoch + 1),
    )


# -- domains --


def brokers(bounds: Bounds) -> range:
    """Return the ids of the brokers; each holds one replica."""
    return range(bounds.replicas)


def leader_epochs(bounds: Bounds) -> range:
    """Return the leader epochs that the controller can reach."""
    return range(bounds.max_leader_epoch + 1)


# -- rules --


def is_caught_up(fence: Fence, state: State, leader: BrokerId, follower: BrokerId, offset: int) -> bool:
    """Whether the leader may count the follower as holding everything below ``offset``."""
    theirs = state.replicas[follower]
    if theirs.leader != leader:
        return False
    match fence:
        case Fence.NONE:
            return state.logs[follower].end_offset >= offset and state.logs[leader].end_offset >= offset
        case Fence.RECORD_EPOCH:
            if state.replicas[leader].leader != leader:
                return False
            ours, copy = state.logs[leader].at(offset - 1), state.logs[follower].at(offset - 1)
            return offset == 0 or (ours is not None and copy is not None and ours.leader_epoch == copy.leader_epoch)
        case Fence.LEADER_EPOCH:
            mine = state.replicas[leader]
            return mine.leader == leader and mine.leader_epoch == theirs.leader_epoch and state.logs[follower].end_offset >= offset
        case _:
            assert_never(fence)


def can_fetch(rules: ReplicationRules, state: State, leader: BrokerId, follower: BrokerId) -> bool:
    """Whether the leader serves this follower's fetch at the follower's end."""
    return is_caught_up(rules.fetch_fence, state, leader, follower, state.logs[follower].end_offset)


def acknowledges(rules: ReplicationRules, state: State, leader: BrokerId, follower: BrokerId, offset: int) -> bool:
    """Whether the follower counts as holding everything below ``offset`` when the high watermark advances."""
    return is_caught_up(rules.high_watermark_fence, state, leader, follower, offset)


def is_out_of_sync(rules: ReplicationRules, state: State, leader: BrokerId, follower: BrokerId) -> bool:
    """Whether the leader may drop the follower from the ISR: it lacks some of the leader's log."""
    return not is_caught_up(rules.shrink_fence, state, leader, follower, state.logs[leader].end_offset)


def is_back_in_sync(rules: ReplicationRules, state: State, leader: BrokerId, follower: BrokerId) -> bool:
    """Whether the leader may add the follower to the ISR: it has reached the leader's high watermark."""
    return is_caught_up(rules.expand_fence, state, leader, follower, state.replicas[leader].high_watermark)


def has_reached_epoch(rules: ReplicationRules, state: State, leader: BrokerId, follower: BrokerId) -> bool:
    """Whether enough of the leader's epoch is replicated for the ISR to grow."""
    log, mine = state.logs[leader], state.replicas[leader]
    match rules.expand_epoch_start:
        case EpochStart.NONE:
            return True
        case EpochStart.HIGH_WATERMARK:
            record = log.at(mine.high_watermark)
            return record.leader_epoch == mine.leader_epoch if record else mine.high_watermark == log.end_offset
        case EpochStart.FOLLOWER:
            return state.logs[follower].end_offset >= epoch_start_offset(log, mine.leader_epoch)
        case _:
            assert_never(rules.expand_epoch_start)


def may_ask(rules: ReplicationRules, state: State, leader: BrokerId, leader_epoch: int) -> bool:
    """Whether a new follower may ask this leader where to truncate."""
    match rules.truncation_fence:
        case TruncationFence.NONE:
            return True
        case TruncationFence.LEADER_EPOCH:
            theirs = state.replicas[leader]
            return theirs.leader == leader and theirs.leader_epoch == leader_epoch
        case _:
            assert_never(rules.truncation_fence)


def truncation_offset(rules: ReplicationRules, state: State, leader: BrokerId, follower: BrokerId) -> int:
    """Return the offset down to which a new follower cuts its log; one above its end blocks it."""
    ours = state.logs[follower]
    match rules.truncation:
        case Truncation.HIGH_WATERMARK:
            return state.replicas[follower].high_watermark
        case Truncation.EPOCH_END:
            return end_of_last_epoch(state, leader, follower)
        case Truncation.EPOCH_END_CLAMPED:
            return min(end_of_last_epoch(state, leader, follower), ours.end_offset)
        case Truncation.LAST_COMMON_RECORD:
            return last_common_end(ours, state.logs[leader])
        case Truncation.ON_FETCH:
            return ours.end_offset
        case _:
            assert_never(rules.truncation)


def truncates_on_fetch(rules: ReplicationRules) -> bool:
    """Whether a follower truncates when a fetch finds that its log and the leader's disagree."""
    return rules.truncation is Truncation.ON_FETCH


# -- the controller --


@action(leader=brokers)
@kafka(
    "OfflinePartitionLeaderSelector.selectLeader; PartitionStateMachine.doElectLeaderForPartitions; PartitionChangeBuilder.electLeader",
    versions="0.8–1.0; 1.1–3.9 with ZooKeeper; 3.3–4.3 with KRaft",
    simplified="any other ISR member may be elected, alive or not; Kafka takes the first eligible one in assignment order",
)
def controller_elect_leader(state: State, bounds: Bounds, *, leader: BrokerId) -> State | None:
    """The controller elects another member of the ISR, under the next leader epoch."""
    if leader == state.quorum.leader or leader not in state.quorum.isr:
        return None
    return decide(state, bounds, leader, state.quorum.isr)


@action(broker=brokers)
@kafka(
    "KafkaController.removeReplicaFromIsr; ReplicaStateMachine.doRemoveReplicasFromIsr; "
    "ReplicationControlManager.generateLeaderAndIsrUpdates",
    versions="0.8–1.0; 1.1–3.9 with ZooKeeper; 3.0–4.3 with KRaft",
    simplified="any broker may be taken for dead at any moment; without a leader the ISR may shrink to empty, "
    "where Kafka keeps its last member until the ELR (KIP-966)",
)
def controller_shrink_isr(state: State, bounds: Bounds, *, broker: BrokerId) -> State | None:
    """The controller takes a broker for dead: out of the ISR, unless it leads alone, and out of the leadership."""
    quorum = state.quorum
    if broker not in quorum.isr and broker != quorum.leader:
        return None
    if broker != quorum.leader:
        return decide(state, bounds, quorum.leader, quorum.isr - {broker})
    return decide(state, bounds, NOBODY, quorum.isr if quorum.isr == {broker} else quorum.isr - {broker})


# -- the leader --


@action(broker=brokers, leader_epoch=leader_epochs)
@kafka(
    "Partition.makeLeader; ReplicaManager.makeLeaders; ReplicaManager.applyLocalLeadersDelta",
    versions="0.8–4.3; 0.8.2–3.9 with ZooKeeper; 3.0–4.3 with KRaft",
    simplified="any newer request may be taken first, skipping others; what a leader notes of its followers, and Kafka resets here, "
    "is not kept: their logs are looked at",
)
def become_leader(state: State, *, broker: BrokerId, leader_epoch: int) -> State | None:
    """A broker learns that it leads under a newer leader epoch; log and high watermark stay as they are."""
    request = state.requests[leader_epoch]
    if request is None or request.leader != broker or leader_epoch <= state.replicas[broker].leader_epoch:
        return None
    return put(state, replicas={broker: believe(request, state.replicas[broker].high_watermark)})


@action(leader=brokers)
@kafka(
    "Partition.appendMessagesToLeader; Partition.appendRecordsToLeader",
    versions="0.8–0.10.1; 0.10.2–4.3",
    simplified="one record an append; no acks, no min.insync.replicas; a deposed leader that does not know it appends too",
)
def leader_write(state: State, bounds: Bounds, *, leader: BrokerId) -> State | None:
    """A broker that believes that it leads appends a new record under its leader epoch."""
    mine, log = state.replicas[leader], state.logs[leader]
    if mine.leader != leader or state.next_record_id >= bounds.records or log.end_offset >= bounds.log_size:
        return None
    record = Record(state.next_record_id, mine.leader_epoch)
    return put(state, logs={leader: append(log, record)}, next_record_id=state.next_record_id + 1)


@action(leader=brokers)
@kafka(
    "Partition.maybeIncrementLeaderHW",
    versions="0.8–4.3",
    simplified="by one offset a step, over the cached ISR only: no caught-up outsiders (0.10.2), no maximal ISR (2.7, KIP-497), "
    "no minimum ISR (3.7); Kafka compares the end offsets that followers last fetched at, here their logs are looked at",
)
def leader_advance_high_watermark(state: State, rules: ReplicationRules, *, leader: BrokerId) -> State | None:
    """A broker that believes that it leads advances its high watermark over a record that all its ISR acknowledges."""
    mine = state.replicas[leader]
    advanced = mine.high_watermark + 1
    if mine.leader != leader or advanced > state.logs[leader].end_offset:
        return None
    for member in sorted(mine.isr):
        if not acknowledges(rules, state, leader, member, advanced):
            return None
    return put(state, replicas={leader: put(mine, high_watermark=advanced)})


@action(leader=brokers, follower=brokers)
@kafka(
    "Partition.maybeShrinkIsr",
    versions="0.8–2.6",
    simplified="no lag time: any member that lacks a record may be dropped; the quorum changes in the same step, where since 2.7 "
    "the controller is asked (KIP-497)",
)
def leader_shrink_isr(state: State, rules: ReplicationRules, *, leader: BrokerId, follower: BrokerId) -> State | None:
    """The true leader drops a follower that is not caught up to its log end; the leader epoch stays."""
    isr = state.replicas[leader].isr
    if follower == leader or follower not in isr or not is_true_leader(state, leader) or not is_out_of_sync(rules, state, leader, follower):
        return None
    return update_isr(state, leader, isr - {follower})


@action(leader=brokers, follower=brokers)
@kafka(
    "Partition.updateLeaderHWAndMaybeExpandIsr; Partition.maybeExpandIsr",
    versions="0.8; 0.9–2.6",
    simplified="the quorum changes in the same step, where since 2.7 the controller is asked (KIP-497); whether the follower's broker "
    "is alive is not asked",
)
def leader_expand_isr(state: State, rules: ReplicationRules, *, leader: BrokerId, follower: BrokerId) -> State | None:
    """The true leader readmits a follower that has reached its high watermark, and as much of its epoch as the rules ask for."""
    isr = state.replicas[leader].isr
    if follower in isr or not is_true_leader(state, leader):
        return None
    if not is_back_in_sync(rules, state, leader, follower) or not has_reached_epoch(rules, state, leader, follower):
        return None
    return update_isr(state, leader, isr | {follower})


# -- the follower --


@action(broker=brokers, leader_epoch=leader_epochs)
@kafka(
    "ReplicaManager.makeFollowers; ReplicaFetcherThread.maybeTruncate; AbstractFetcherThread.truncateToEpochEndOffsets",
    versions="0.8–0.10; 0.11–2.0; 2.1–2.7",
    simplified="the leader's answer and the truncation are one step, where since 2.8 truncation rides on the fetch (KIP-595); the rounds "
    "of KIP-279 are taken together; a broker truncates also if it keeps its leader, which Kafka does since 2.1; "
    "a request that names no leader is never applied, so that a deposed leader acts on until it sees a later one",
)
def become_follower(state: State, rules: ReplicationRules, *, broker: BrokerId, leader_epoch: int) -> State | None:
    """A broker learns of another leader under a newer leader epoch, and truncates its log to where it takes the two to agree."""
    request = state.requests[leader_epoch]
    if request is None or request.leader in (NOBODY, broker) or leader_epoch <= state.replicas[broker].leader_epoch:
        return None
    if not may_ask(rules, state, request.leader, leader_epoch):
        return None
    offset = truncation_offset(rules, state, request.leader, broker)
    if offset > state.logs[broker].end_offset:
        return None
    high_watermark = min(offset, state.replicas[broker].high_watermark)
    return put(state, logs={broker: truncate_to(state.logs[broker], offset)}, replicas={broker: believe(request, high_watermark)})


@action(follower=brokers, leader=brokers)
@kafka(
    "ReplicaFetcherThread.processPartitionData; ReplicaManager.fetchMessages",
    versions="0.8–4.3; 0.9–4.3",
    simplified="request and answer are one step and copy one record; the high watermark travels only with a record, "
    "and may move the follower's back",
)
def follower_fetch(state: State, rules: ReplicationRules, *, follower: BrokerId, leader: BrokerId) -> State | None:
    """A follower copies the record at its end from its leader, and learns the leader's high watermark with it."""
    record = state.logs[leader].at(state.logs[follower].end_offset) if state.replicas[leader].leader == leader else None
    if record is None or not can_fetch(rules, state, leader, follower):
        return None
    log = append(state.logs[follower], record)
    high_watermark = min(state.replicas[leader].high_watermark, log.end_offset)
    return put(state, logs={follower: log}, replicas={follower: put(state.replicas[follower], high_watermark=high_watermark)})


@action(follower=brokers, leader=brokers)
@kafka(
    "AbstractFetcherThread.truncateOnFetchResponse",
    versions="none: the rejected first try at KIP-320",
    simplified="request and answer are one step; with the leader epoch in the fetch this is how 2.8–4.3 truncate (KIP-595)",
)
def follower_truncate(state: State, rules: ReplicationRules, *, follower: BrokerId, leader: BrokerId) -> State | None:
    """A follower that finds its log to disagree with its leader's truncates it to their last common record."""
    if not truncates_on_fetch(rules) or state.replicas[leader].leader != leader or state.replicas[follower].leader != leader:
        return None
    ours, theirs = state.logs[follower], state.logs[leader]
    if not needs_truncation(ours, theirs):
        return None
    offset = last_common_end(ours, theirs)
    high_watermark = min(offset, state.replicas[follower].high_watermark)
    replica = put(state.replicas[follower], high_watermark=high_watermark)
    return put(state, logs={follower: truncate_to(ours, offset)}, replicas={follower: replica})


def machine(rules: ReplicationRules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the replication machine: one controller, and brokers each of which may lead, follow, or be a zombie."""
    return Machine(
        name="replication",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            controller_elect_leader,
            controller_shrink_isr,
            become_leader,
            leader_write,
            leader_advance_high_watermark,
            leader_shrink_isr,
            leader_expand_isr,
            become_follower,
            follower_fetch,
            follower_truncate,
        ),
        interchangeable={"broker": tuple(brokers(bounds))},
    )


# -- helpers --


def decide(state: State, bounds: Bounds, leader: BrokerId, isr: Isr) -> State | None:
    """Record a decision of the controller under the next leader epoch, and send it to everybody."""
    leader_epoch = state.quorum.leader_epoch + 1
    if leader_epoch > bounds.max_leader_epoch:
        return None
    decision = LeaderAndIsr(leader_epoch, leader, isr)
    return put(state, quorum=decision, requests={leader_epoch: decision})


def update_isr(state: State, leader: BrokerId, isr: Isr) -> State:
    """Change the ISR in the quorum and in the leader's view at once."""
    mine = put(state.replicas[leader], isr=isr)
    return put(state, quorum=put(state.quorum, isr=isr), replicas={leader: mine})


def believe(request: LeaderAndIsr, high_watermark: int) -> Replica:
    """Return what a broker believes once it has handled a request."""
    return Replica(high_watermark, request.leader_epoch, request.leader, request.isr)


def is_true_leader(state: State, broker: BrokerId) -> bool:
    """Whether the broker leads in the quorum, and believes so under the quorum's leader epoch."""
    mine = state.replicas[broker]
    return mine.leader == broker == state.quorum.leader and mine.leader_epoch == state.quorum.leader_epoch


def end_of_last_epoch(state: State, leader: BrokerId, follower: BrokerId) -> int:
    """Return the leader's end of the follower's last epoch as KIP-101 looks it up, else the follower's high watermark."""
    ours, theirs = state.logs[follower], state.logs[leader]
    if not ours.records:
        return 0
    if theirs.records and theirs.latest_epoch == ours.latest_epoch:
        return theirs.end_offset
    offset = first_offset_after_epoch(theirs, ours.latest_epoch)
    return state.replicas[follower].high_watermark if offset is None else offset


def needs_truncation(ours: Log, theirs: Log) -> bool:
    """Whether a follower's log is longer than its leader's, or ends with a record of another epoch."""
    if ours.end_offset > theirs.end_offset:
        return True
    last = theirs.at(ours.end_offset - 1)
    return last is not None and last.leader_epoch != ours.latest_epoch
