# SPDX-License-Identifier: Apache-2.0
"""What a leader does, or a broker that believes that it leads: it appends, serves fetches, and writes the ISR to ZooKeeper."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.log import EpochCache, EpochEntry, Log, Record, append, assign_epoch, end_offset_for, epoch_entries, truncate_to
from hwmark.model.machine import BrokerId, action, kafka, put

from .rules import IsrWrite, LostAnswer, RefusedWrite, Rules
from .shared import brokers, leads, reaches_zookeeper, spend, stands_still, whether, with_high_watermark
from .state import Bounds, Config, Isr, PartitionZNode, Replica, State

# -- rules --


def is_current(rules: Rules, znode: PartitionZNode, replica: Replica) -> bool:
    """Whether ZooKeeper accepts a leader's write."""
    match rules.isr_write:
        case IsrWrite.ZK_VERSION:
            return replica.version == znode.version
        case IsrWrite.NOTHING:
            return True
        case _:
            assert_never(rules.isr_write)


def is_written_already(rules: Rules, znode: PartitionZNode, wanted: PartitionZNode) -> bool:
    """Whether a leader takes a refusal for an acceptance, because the znode is what it wanted to write."""
    match rules.lost_answer:
        case LostAnswer.COMPARED:
            return evolve(wanted, version=znode.version) == znode
        case LostAnswer.REFUSED:
            return False
        case _:
            assert_never(rules.lost_answer)


def once_refused(rules: Rules, replica: Replica, znode: PartitionZNode) -> Replica:
    """Return what a leader believes once its ISR was refused."""
    settled = evolve(replica, writing=frozenset())
    match rules.refused_write:
        case RefusedWrite.COUNTED_ON:
            return evolve(settled, isr=replica.isr | replica.writing)
        case RefusedWrite.SKIPPED:
            return settled
        case RefusedWrite.APPLIED:
            return evolve(settled, isr=replica.writing)
        case RefusedWrite.VERSION_ADOPTED:
            return evolve(settled, version=znode.version)
        case _:
            assert_never(rules.refused_write)


# -- producers --


@action(leader=brokers)
@kafka(
    "ReplicaManager.appendRecords; Partition.appendRecordsToLeader",
    versions="0.10.2–2.6",
    simplified="one record a request, with acks=all; a producer is told once the high watermark has passed its record; no retries",
)
def append_record(state: State, rules: Rules, config: Config, bounds: Bounds, *, leader: BrokerId) -> State | None:
    """A broker that believes that it leads appends what a producer sends, unless its ISR is below its minimum."""
    mine, record_id = state.replicas[leader], state.next_record_id
    if not leads(state, leader) or stands_still(rules, mine) or record_id >= bounds.records or len(mine.isr) < config.min_isr:
        return None
    log = append(state.logs[leader], Record(record_id, mine.leader_epoch))
    return with_high_watermark(put(state, logs={leader: log}, next_record_id=record_id + 1), rules, leader)


# -- followers --


@action(follower=brokers, leader=brokers)
@kafka(
    "ReplicaFetcherThread.truncate; AbstractFetcherThread.truncateToEpochEndOffsets; Partition.lastOffsetForLeaderEpoch",
    versions="2.1–2.6",
    simplified="question, answer and truncation are one step, and the rounds of KIP-279 are taken together",
)
def truncate(state: State, rules: Rules, *, follower: BrokerId, leader: BrokerId) -> State | None:
    """A follower finds where its log and that of its leader part, and truncates to there."""
    if not is_served(state, rules, follower, leader):
        return None
    log, offset = state.logs[follower], common_end(state, follower, leader)
    if offset == log.end_offset:
        return None
    theirs = state.replicas[follower]
    replica = evolve(theirs, high_watermark=min(theirs.high_watermark, offset))
    return put(state, logs={follower: truncate_to(log, offset)}, replicas={follower: replica})


@action(follower=brokers, leader=brokers, answered=whether)
@kafka(
    "ReplicaManager.fetchMessages; Partition.updateFollowerFetchState; Partition.maybeExpandIsr; ReplicaFetcherThread.processPartitionData",
    versions="2.1–2.6",
    simplified="fetch and answer are one step, of at most one record, between brokers of the same leader epoch; a fetch that brings "
    "nothing is left out; nobody asks whether the follower's broker is alive",
)
def fetch(state: State, rules: Rules, *, follower: BrokerId, leader: BrokerId, answered: bool) -> State | None:
    """A follower fetches: the leader notes how far it is, readmits it to the ISR if it has caught up, and sends the next record.

    ``answered``: whether the leader hears from ZooKeeper what became of the ISR.
    """
    if not is_served(state, rules, follower, leader):
        return None
    log, ours, mine, theirs = state.logs[follower], state.logs[leader], state.replicas[leader], state.replicas[follower]
    offset = log.end_offset
    if common_end(state, follower, leader) != offset:
        return None
    record, is_further = ours.at(offset), state.followers[leader][follower] != offset
    expands = follower not in mine.isr and not mine.writing and offset >= max(mine.high_watermark, mine.epoch_start)
    high_watermark = min(mine.high_watermark, offset + (record is not None))
    if not (expands or is_further or record is not None or high_watermark != theirs.high_watermark):
        return None
    if not answered and not (expands and may_lose_answer(state, leader)):
        return None
    known = (*state.followers[leader][:follower], offset, *state.followers[leader][follower + 1 :])
    after = put(state, followers={leader: known})
    if expands:
        after = asked(after, rules, leader, mine.isr | {follower}, answered=answered)
    if stands_still(rules, after.replicas[leader]):
        return after
    after = with_high_watermark(after, rules, leader)
    grown = log if record is None else append(log, record)
    return put(after, logs={follower: grown}, replicas={follower: evolve(theirs, high_watermark=high_watermark)})


def is_served(state: State, rules: Rules, follower: BrokerId, leader: BrokerId) -> bool:
    """Whether a follower runs and follows a leader that runs and serves it: both are in the same leader epoch (KIP-320)."""
    mine, theirs = state.replicas[leader], state.replicas[follower]
    if follower == leader or not leads(state, leader) or not state.processes[follower].is_running or stands_still(rules, mine):
        return False
    return theirs.leader == leader and theirs.leader_epoch == mine.leader_epoch


def epoch_cache(replica: Replica, log: Log) -> EpochCache:
    """Return where leader epochs start in a leader's log: as its records say, and its own one from its election on."""
    return assign_epoch(epoch_entries(log), EpochEntry(replica.leader_epoch, replica.epoch_start))


def common_end(state: State, follower: BrokerId, leader: BrokerId) -> int:
    """Return up to which offset a follower finds that its log agrees with its leader's, by asking where its last epochs end there."""
    mine, ours, log = state.replicas[leader], state.logs[leader], state.logs[follower]
    cache = epoch_cache(mine, ours)
    while log.records:
        theirs = end_offset_for(cache, log.latest_epoch, ours.end_offset)
        if theirs.leader_epoch == log.latest_epoch:
            return min(theirs.end_offset, log.end_offset)
        local = end_offset_for(epoch_entries(log), theirs.leader_epoch, log.end_offset)
        log = truncate_to(log, min(local.end_offset, theirs.end_offset))
    return 0


# -- the ISR --


@action(leader=brokers, follower=brokers, answered=whether)
@kafka(
    "Partition.maybeShrinkIsr; Partition.shrinkIsr; ReplicationUtils.updateLeaderAndIsr",
    versions="0.9–2.6",
    simplified="no lag time: a member that has not fetched up to the end of the log may be dropped, as often as the bounds say; where "
    "ZooKeeper can be reached, asking and hearing the answer are one step, since the leader does nothing between",
)
def shrink_isr(state: State, rules: Rules, *, leader: BrokerId, follower: BrokerId, answered: bool) -> State | None:
    """A leader drops a member of the ISR that lags, by writing the ISR to ZooKeeper; where that does not answer it waits."""
    mine = state.replicas[leader]
    if not state.budget.lags or not leads(state, leader) or mine.writing or follower == leader or follower not in mine.isr:
        return None
    if state.followers[leader][follower] == state.logs[leader].end_offset or not (answered or may_lose_answer(state, leader)):
        return None
    after = put(state, budget=spend(state.budget, "lags"))
    return with_high_watermark(asked(after, rules, leader, mine.isr - {follower}, answered=answered), rules, leader)


@action(leader=brokers)
@kafka(
    "KafkaZkClient.conditionalUpdatePath; ReplicationUtils.checkLeaderAndIsrZkData",
    versions="0.8.2–3.9",
    simplified="nothing of note",
)
def repeat_isr_write(state: State, rules: Rules, *, leader: BrokerId) -> State | None:
    """A leader that waits for ZooKeeper writes its ISR again, and hears what became of it."""
    mine = state.replicas[leader]
    if not leads(state, leader) or not mine.writing or not reaches_zookeeper(state, leader):
        return None
    return with_high_watermark(asked(state, rules, leader, mine.writing, answered=True), rules, leader)


def may_lose_answer(state: State, leader: BrokerId) -> bool:
    """Whether an answer of ZooKeeper to a leader may get lost."""
    return state.budget.losses > 0 and reaches_zookeeper(state, leader)


def asked(state: State, rules: Rules, leader: BrokerId, isr: Isr, *, answered: bool) -> State:
    """Return the state once a leader has asked ZooKeeper for an ISR, and knows the answer unless there is none yet.

    Where there is an answer this is one step: what others do between might as well come before, as the leader looks at none of it.
    """
    mine = evolve(state.replicas[leader], writing=isr)
    if not reaches_zookeeper(state, leader):
        return put(state, replicas={leader: mine})
    wanted = PartitionZNode(leader, mine.leader_epoch, isr, mine.controller_epoch, state.znode.version + 1)
    is_written = is_current(rules, state.znode, mine)
    after = put(state, znode=wanted, isr_change_notified=True) if is_written else state
    if not answered:
        return put(after, replicas={leader: mine}, budget=spend(after.budget, "losses"))
    if is_written or is_written_already(rules, state.znode, wanted):
        settled = evolve(mine, isr=isr, version=after.znode.version, writing=frozenset())
    else:
        settled = once_refused(rules, mine, after.znode)
    return put(after, replicas={leader: settled})
