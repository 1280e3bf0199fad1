# SPDX-License-Identifier: Apache-2.0
"""How records spread and are committed: the leader appends, followers fetch, and what a majority has is committed."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.log import UNDEFINED_EPOCH, Log, Record, append, end_offset_for, epoch_entries, truncate_to
from hwmark.model.machine import BrokerId, action, kafka, put

from .rules import CommitEpoch, QuorumSize, Rules, Truncation
from .state import Bounds, Role, State, Waiting, brokers, consumers, records

# -- rules --


def quorum(rules: Rules, replicas: int) -> int:
    """Return how many replicas elect and commit."""
    match rules.quorum_size:
        case QuorumSize.MAJORITY:
            return replicas // 2 + 1
        case QuorumSize.HALF:
            return (replicas + 1) // 2
        case _:
            assert_never(rules.quorum_size)


def may_commit(rules: Rules, log: Log, offset: int, leader_epoch: int) -> bool:
    """Whether a leader may say that all below an offset is committed, given that enough replicas have it."""
    match rules.commit_epoch:
        case CommitEpoch.OWN:
            last = log.at(offset - 1)
            return last is not None and last.leader_epoch == leader_epoch
        case CommitEpoch.ANY:
            return True
        case _:
            assert_never(rules.commit_epoch)


def shared_end(rules: Rules, leader: Log, follower: Log) -> int:
    """Return up to where a follower keeps its log: to its end, or to where the leader's log ends its last epoch."""
    match rules.truncation:
        case Truncation.BY_EPOCH:
            if follower.latest_epoch == UNDEFINED_EPOCH:
                return follower.end_offset
            known = end_offset_for(epoch_entries(leader), follower.latest_epoch, leader.end_offset)
            own = end_offset_for(epoch_entries(follower), known.leader_epoch, follower.end_offset)
            return max(0, min(own.end_offset, known.end_offset))
        case Truncation.NONE:
            return follower.end_offset
        case _:
            assert_never(rules.truncation)


# -- the leader --


@action(leader=brokers)
@kafka(
    "KafkaRaftClient.prepareAppend; KafkaRaftClient.schedulePreparedAppend; KafkaRaftClient.appendBatch",
    versions="2.7–4.3 (KIP-595)",
    simplified="one record at a time, in no time; what is written is flushed in the same step",
)
def append_record(state: State, rules: Rules, bounds: Bounds, *, leader: BrokerId) -> State | None:
    """A leader, or who believes to be one, appends a producer's record to its log."""
    mine, log, record = state.replicas[leader], state.logs[leader], state.next_record_id
    if mine.role is not Role.LEADER or record >= bounds.records:
        return None
    after = put(
        state,
        logs={leader: append(log, Record(record, mine.leader_epoch))},
        produced={record: Waiting(leader, log.end_offset)},
        next_record_id=record + 1,
    )
    return with_high_watermark(after, rules, leader)


@action(record=records)
@kafka(
    "KafkaRaftClient.maybeFireHandleCommit; KafkaRaftClient.onUpdateLeaderHighWatermark",
    versions="2.7–4.3 (KIP-595)",
    simplified="whoever leads no more, or stops, answers with an error, which is left out",
)
def acknowledge_produce(state: State, *, record: int) -> State | None:
    """A leader tells a producer that its record is committed."""
    waiting = state.produced[record]
    if waiting is None or state.replicas[waiting.leader].high_watermark <= waiting.offset:
        return None
    return put(state, produced={record: None})


def with_high_watermark(state: State, rules: Rules, leader: BrokerId) -> State:
    """Return the state once a leader has committed what enough replicas have (``LeaderState.maybeUpdateHighWatermark``)."""
    mine, log = state.replicas[leader], state.logs[leader]
    others = (end for broker, end in enumerate(state.followers[leader]) if broker != leader)
    ends = sorted((log.end_offset, *others), reverse=True)
    committed = ends[quorum(rules, len(ends)) - 1]
    if committed <= mine.high_watermark or not may_commit(rules, log, committed, mine.leader_epoch):
        return state
    return put(state, replicas={leader: put(mine, high_watermark=committed)})


# -- the followers --


@action(follower=brokers)
@kafka(
    "KafkaRaftClient.handleFetchRequest; RaftLog.validateOffsetAndEpoch; LeaderState.updateReplicaState",
    versions="2.7–4.3 (KIP-595)",
    simplified="a request arrives at any moment or never, and tells how far the follower is now",
)
def handle_fetch(state: State, rules: Rules, *, follower: BrokerId) -> State | None:
    """A leader learns from a fetch how far a follower is whose log agrees with its own, and may commit what enough have."""
    theirs, log = state.replicas[follower], state.logs[follower]
    leader = theirs.stands_by
    if theirs.role is not Role.FOLLOWER or not serves(state, leader, theirs.leader_epoch):
        return None
    is_known = state.followers[leader][follower] == log.end_offset
    if is_known or shared_end(rules, state.logs[leader], log) < log.end_offset:
        return None
    known = tuple(log.end_offset if broker == follower else end for broker, end in enumerate(state.followers[leader]))
    return with_high_watermark(put(state, followers={leader: known}), rules, leader)


@action(follower=brokers)
@kafka(
    "KafkaRaftClient.handleFetchResponse; KafkaRaftClient.appendAsFollower; RaftLog.truncateToEndOffset; FollowerState.updateHighWatermark",
    versions="2.7–4.3 (KIP-595)",
    simplified="an answer comes at any moment or never, with what the leader has now, one record at a time; no snapshots",
)
def receive_fetch(state: State, rules: Rules, *, follower: BrokerId) -> State | None:
    """A follower truncates what its leader does not have, or else gets the next record, and learns what is committed."""
    theirs, log = state.replicas[follower], state.logs[follower]
    leader = theirs.stands_by
    if theirs.role is not Role.FOLLOWER or not serves(state, leader, theirs.leader_epoch):
        return None
    kept = shared_end(rules, state.logs[leader], log)
    if kept < log.end_offset:
        cut = put(theirs, high_watermark=min(theirs.high_watermark, kept))
        return put(state, logs={follower: truncate_to(log, kept)}, replicas={follower: cut})
    record = state.logs[leader].at(log.end_offset)
    longer = log if record is None else append(log, record)
    high_watermark = max(theirs.high_watermark, min(state.replicas[leader].high_watermark, longer.end_offset))
    if record is None and high_watermark == theirs.high_watermark:
        return None
    return put(state, logs={follower: longer}, replicas={follower: put(theirs, high_watermark=high_watermark)})


def serves(state: State, leader: BrokerId, leader_epoch: int) -> bool:
    """Whether a broker leads in an epoch."""
    replica = state.replicas[leader]
    return replica.role is Role.LEADER and replica.leader_epoch == leader_epoch


# -- the consumers --


@action(consumer=consumers, broker=brokers)
@kafka(
    "KafkaRaftClient.updateListenersProgress; RaftLog.read",
    versions="2.7–4.3 (KIP-595)",
    simplified="any replica may be read from, below what it knows to be committed; so does every broker that reads metadata",
)
def consume(state: State, *, consumer: int, broker: BrokerId) -> State | None:
    """A consumer reads the next record that some replica knows to be committed."""
    position, replica = state.consumers[consumer], state.replicas[broker]
    if replica.role is Role.STOPPED or position >= replica.high_watermark:
        return None
    return put(state, consumers={consumer: position + 1})
