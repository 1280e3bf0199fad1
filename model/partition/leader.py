# SPDX-License-Identifier: Apache-2.0
"""What a leader does, or a broker that believes that it leads: it appends, serves fetches, proposes ISRs, and answers producers."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.log import UNDEFINED_EPOCH, EpochEnd, Log, Record, append, end_offset_for
from hwmark.model.machine import BrokerId, action, kafka, put

from .alter_partition import AlterPartition, BrokerState, Errors
from .caught_up import late, served
from .decisions import Brokers, effective_min_isr
from .rules import ExpandGuard, ExpandOn, FetchFence, PartitionRules, Refusal, Retention, Truncation
from .shared import brokers, epoch_cache, leads, maximal_isr, records, spend, with_high_watermark
from .state import (
    Acks,
    AlterPartitionAnswer,
    Bounds,
    Config,
    FetchAnswer,
    FetchError,
    FetchRequest,
    Follower,
    Replica,
    State,
    Status,
    Waiting,
)

# -- rules --


def is_in_sync(rules: PartitionRules, replica: Replica, follower: Follower) -> bool:
    """Whether a follower has fetched enough to be proposed for the ISR."""
    match rules.expand_guard:
        case ExpandGuard.EPOCH_START:
            return follower.end_offset >= max(replica.high_watermark, replica.epoch_start)
        case ExpandGuard.HIGH_WATERMARK:
            return follower.end_offset >= replica.high_watermark
        case ExpandGuard.EPOCH_START_ONLY:
            return follower.end_offset >= replica.epoch_start
        case ExpandGuard.NONE:
            return True
        case _:
            assert_never(rules.expand_guard)


def epoch_error(rules: PartitionRules, replica: Replica, leader_epoch: int) -> FetchError | None:
    """Return what is wrong with the leader epoch of a fetch (``Partition.checkCurrentLeaderEpoch``)."""
    match rules.fetch_fence:
        case FetchFence.LEADER_EPOCH:
            if leader_epoch < replica.leader_epoch:
                return FetchError.FENCED_LEADER_EPOCH
            return FetchError.UNKNOWN_LEADER_EPOCH if leader_epoch > replica.leader_epoch else None
        case FetchFence.NONE:
            return None
        case _:
            assert_never(rules.fetch_fence)


def divergence(rules: PartitionRules, replica: Replica, leader: BrokerId, log: Log, request: FetchRequest) -> EpochEnd | None:
    """Return where the follower's last epoch ends in the leader's log, if that is not where the follower is."""
    if request.last_fetched_epoch == UNDEFINED_EPOCH:
        return None
    known = end_offset_for(epoch_cache(rules, replica, leader, log), request.last_fetched_epoch, log.end_offset)
    match rules.truncation:
        case Truncation.EPOCH_AND_END:
            agree = known.leader_epoch == request.last_fetched_epoch and known.end_offset >= request.fetch_offset
            return None if agree else known
        case Truncation.END:
            return None if known.end_offset >= request.fetch_offset else EpochEnd(request.last_fetched_epoch, known.end_offset)
        case Truncation.HIGH_WATERMARK:
            return None
        case _:
            assert_never(rules.truncation)


def taken_back(state: State, rules: PartitionRules, config: Config, leader: BrokerId) -> State:
    """Return the state once a leader has taken a refused proposal back."""
    match rules.refusal:
        case Refusal.ADVANCES:
            return with_high_watermark(state, rules, config, leader)
        case Refusal.ENDS_THERE:
            return state
        case _:
            assert_never(rules.refusal)


def may_delete(rules: PartitionRules, replica: Replica, log: Log) -> int:
    """Return up to which offset the start of a log may move."""
    match rules.retention:
        case Retention.HIGH_WATERMARK:
            return replica.high_watermark
        case Retention.LOG_END:
            return log.end_offset
        case _:
            assert_never(rules.retention)


# -- producers --


@action(leader=brokers)
@kafka(
    "ReplicaManager.appendRecords; Partition.appendRecordsToLeader",
    versions="0.10.2–4.3",
    simplified="one record a request; the request takes no time, as nothing in it depends on what its sender knows; a request that is "
    "refused, for want of replicas or by a broker that does not lead, is as if it were not sent; no retries",
)
def append_record(state: State, rules: PartitionRules, config: Config, bounds: Bounds, *, leader: BrokerId) -> State | None:
    """A broker that believes that it leads appends what a producer sends; with ``acks=all`` only if the ISR is not below its minimum."""
    mine, record_id = state.replicas[leader], state.next_record_id
    if not leads(state, leader) or record_id >= bounds.records or (config.acks is Acks.ALL and not has_min_isr(config, mine, mine.isr)):
        return None
    log = state.logs[leader]
    after = put(
        state,
        logs={leader: append(log, Record(record_id, mine.leader_epoch))},
        next_record_id=record_id + 1,
        produced={record_id: None if config.acks is Acks.NONE else Waiting(leader, log.end_offset)},
    )
    return with_high_watermark(after, rules, config, leader)


@action(record=records)
@kafka(
    "DelayedProduce.tryComplete; Partition.checkEnoughReplicasReachOffset",
    versions="0.8–4.3, the maximal ISR since 2.7",
    simplified="no timeout: a request waits until the high watermark has passed it, or the broker stops leading",
)
def acknowledge_produce(state: State, config: Config, *, record: int) -> State | None:
    """A leader answers that a record is stored: with ``acks=1`` once it has it, with ``acks=all`` once it is committed."""
    waiting = state.produced[record]
    if waiting is None or (config.acks is Acks.ALL and not (is_committed(state, waiting) and has_enough_replicas(state, config, waiting))):
        return None
    return put(state, produced={record: None})


@action(record=records)
@kafka(
    "DelayedProduce.tryComplete; Partition.checkEnoughReplicasReachOffset",
    versions="0.8–4.3, the maximal ISR since 2.7",
    simplified="as when it is stored; the producer does not try again",
)
def refuse_produce(state: State, config: Config, *, record: int) -> State | None:
    """A leader answers NOT_ENOUGH_REPLICAS_AFTER_APPEND: the record is committed, but the ISR is below its minimum by now."""
    waiting = state.produced[record]
    if waiting is None or config.acks is not Acks.ALL or not is_committed(state, waiting) or has_enough_replicas(state, config, waiting):
        return None
    return put(state, produced={record: None})


def is_committed(state: State, waiting: Waiting) -> bool:
    """Whether the record of a produce request is below its leader's high watermark."""
    return state.replicas[waiting.leader].high_watermark > waiting.offset


def has_enough_replicas(state: State, config: Config, waiting: Waiting) -> bool:
    """Whether whoever may be in the ISR by now is as many as the operator asks for."""
    mine = state.replicas[waiting.leader]
    return has_min_isr(config, mine, maximal_isr(mine))


def has_min_isr(config: Config, replica: Replica, isr: Brokers) -> bool:
    """Whether an ISR has as many members as the operator asks for (``Partition.effectiveMinIsr``)."""
    return len(isr) >= effective_min_isr(config.min_isr, replica.replicas)


# -- fetches --


@action(follower=brokers)
@kafka(
    "ReplicaManager.fetchMessages; Partition.fetchRecords; Partition.updateFollowerFetchState; Partition.maybeExpandIsr; DelayedFetch",
    versions="2.7–4.3 (truncation on fetch), broker epochs since 3.5 (KIP-903)",
    simplified="one record an answer; a fetch without news waits until there is some, where Kafka sends an empty answer after a while; "
    "a request to a broker that does not run is refused; a leader also proposes followers that are fenced, as its metadata may be late",
)
def handle_fetch(state: State, rules: PartitionRules, config: Config, *, follower: BrokerId) -> State | None:
    """A leader serves a fetch: it refuses, or tells where the logs part, or notes how far the follower is, and sends what is new."""
    request = state.fetching[follower]
    if not isinstance(request, FetchRequest):
        return None
    if state.processes[request.leader].status is not Status.RUNNING:
        return put(state, fetching={follower: None})
    looked_at = serve(state, rules, config, follower, request)
    if looked_at is None:
        return None
    after, answer = looked_at
    process = state.processes[follower]
    if process.status is not Status.RUNNING or process.broker_epoch != request.broker_epoch:
        answer = None  # nobody is there to hear it
    return put(after, fetching={follower: answer})


def serve(
    state: State, rules: PartitionRules, config: Config, follower: BrokerId, request: FetchRequest
) -> tuple[State, FetchRequest | FetchAnswer | None] | None:
    """Return the state once a leader has looked at a fetch, and what becomes of it; ``None`` if it waits on as before."""
    leader = request.leader
    mine, log = state.replicas[leader], state.logs[leader]
    limits = FetchAnswer(
        leader,
        request.leader_epoch,
        request.fetch_offset,
        high_watermark=mine.high_watermark,
        log_start_offset=log.log_start_offset,
        log_end_offset=log.end_offset,
    )
    error = epoch_error(rules, mine, request.leader_epoch) or _error(mine, leader, follower)
    if error is not None:
        return state, evolve(limits, error=error)
    parted = divergence(rules, mine, leader, log, request)
    is_undefined = parted is not None and parted.leader_epoch == UNDEFINED_EPOCH
    if is_undefined or not log.log_start_offset <= request.fetch_offset or (parted is None and request.fetch_offset > log.end_offset):
        return state, evolve(limits, error=FetchError.OFFSET_OUT_OF_RANGE)
    if parted is not None:
        return state, evolve(limits, diverging_epoch=parted.leader_epoch, diverging_end=parted.end_offset)
    known = served(rules, state.followers[leader][follower], request, log.end_offset)
    is_further = state.followers[leader][follower].end_offset != known.end_offset
    fetched = tuple(known if other == follower else one for other, one in enumerate(state.followers[leader]))
    after = put(state, followers={leader: fetched})
    expands = can_expand(after, rules, leader, follower)
    if expands:
        after = _proposing(after, leader, mine.isr | {follower})
    if is_further:
        after = with_high_watermark(after, rules, config, leader)
    record, theirs = log.at(request.fetch_offset), state.replicas[follower]
    if record is None and not _is_news(limits, theirs, state.logs[follower], request):
        return None if request.held and not expands else (after, evolve(request, held=True))
    return after, evolve(limits, record=record)


def _error(replica: Replica, leader: BrokerId, follower: BrokerId) -> FetchError | None:
    if replica.leader != leader:
        return FetchError.NOT_LEADER_OR_FOLLOWER
    return None if follower in replica.replicas else FetchError.UNKNOWN_LEADER_EPOCH


def _is_news(limits: FetchAnswer, theirs: Replica, log: Log, request: FetchRequest) -> bool:
    """Whether an answer without a record tells the follower something: it asks again at once if it does not."""
    is_higher = min(limits.high_watermark, request.fetch_offset) > theirs.high_watermark
    return is_higher or limits.log_start_offset > log.log_start_offset


# -- the ISR --


def can_expand(state: State, rules: PartitionRules, leader: BrokerId, follower: BrokerId) -> bool:
    """Whether a leader proposes a follower for the ISR: no other change is under way, and it is in sync."""
    mine = state.replicas[leader]
    if mine.proposed or follower in mine.isr or not may_propose(state, leader):
        return False
    return is_in_sync(rules, mine, state.followers[leader][follower])


def may_propose(state: State, leader: BrokerId) -> bool:
    """Whether no proposal of this life of the broker is under way (``AlterPartitionManager.submit``)."""
    slot = state.altering[leader]
    sent = slot.request if isinstance(slot, AlterPartitionAnswer) else slot
    return sent is None or sent.broker_epoch != state.processes[leader].broker_epoch


def _proposing(state: State, leader: BrokerId, isr: Brokers) -> State:
    """Return the state once a leader has proposed an ISR, with the broker epochs in which its members fetched."""
    mine, own = state.replicas[leader], state.processes[leader].broker_epoch
    members = tuple(
        BrokerState(member, own if member == leader else state.followers[leader][member].broker_epoch) for member in sorted(isr)
    )
    request = AlterPartition(leader, own, mine.leader_epoch, mine.partition_epoch, members)
    return put(state, replicas={leader: put(mine, proposed=isr)}, altering={leader: request})


@action(leader=brokers, follower=brokers)
@kafka(
    "Partition.maybeShrinkIsr; Partition.getOutOfSyncReplicas; Partition.prepareIsrShrink",
    versions="2.7–4.3",
    simplified="no lag time: a member that has not fetched up to the end of the log may be dropped, as often as the bounds say",
)
def propose_shrink(state: State, *, leader: BrokerId, follower: BrokerId) -> State | None:
    """A leader proposes an ISR without a member that lags."""
    mine = state.replicas[leader]
    if not state.budget.lags or not leads(state, leader) or follower == leader or follower not in mine.isr or mine.proposed:
        return None
    if not may_propose(state, leader) or state.followers[leader][follower].end_offset == state.logs[leader].end_offset:
        return None
    after = put(state, followers={leader: late(state.followers[leader], frozenset({follower}))}, budget=spend(state.budget, "lags"))
    return _proposing(after, leader, mine.isr - {follower})


@action(leader=brokers, follower=brokers)
@kafka(
    "Partition.maybeExpandIsr",
    versions="no release: Kafka looks at the ISR when it handles a fetch",
    simplified="only under the rule that lets a leader go by what it noted before",
)
def propose_from_memory(state: State, rules: PartitionRules, *, leader: BrokerId, follower: BrokerId) -> State | None:
    """A leader proposes a follower for the ISR by what it knows of it, without a fetch that says so now."""
    if rules.expand_on is ExpandOn.FETCH or follower == leader or not leads(state, leader):
        return None
    if follower not in state.replicas[leader].replicas or not can_expand(state, rules, leader, follower):
        return None
    return _proposing(state, leader, state.replicas[leader].isr | {follower})


@action(leader=brokers)
@kafka(
    "Partition.submitAlterPartition; Partition.handleAlterPartitionUpdate; Partition.handleAlterPartitionError",
    versions="2.7–4.3",
    simplified="what is refused for good stays pending until new metadata come, as in Kafka; the controller is never the wrong one",
)
def receive_alter_partition(state: State, rules: PartitionRules, config: Config, *, leader: BrokerId) -> State | None:
    """A leader learns what became of the ISR that it proposed: it takes it over, or takes the proposal back, or waits for metadata."""
    answer, mine = state.altering[leader], state.replicas[leader]
    if not isinstance(answer, AlterPartitionAnswer):
        return None
    after = put(state, altering={leader: None})
    if not mine.proposed:  # it has learned something else since
        return after
    if answer.error is Errors.INELIGIBLE_REPLICA:
        return taken_back(put(after, replicas={leader: put(mine, proposed=frozenset())}), rules, config, leader)
    if answer.error is not Errors.NONE or answer.leader_epoch != mine.leader_epoch or answer.partition_epoch < mine.partition_epoch:
        return after
    known = evolve(mine, isr=answer.isr, partition_epoch=answer.partition_epoch, proposed=frozenset())
    return with_high_watermark(put(after, replicas={leader: known}), rules, config, leader)


# -- the start of the log --


@action(broker=brokers)
@kafka(
    "UnifiedLog.deleteOldSegments",
    versions="0.8–4.3, not beyond the high watermark since 1.0 (KAFKA-5634)",
    simplified="no age and no size: the first segment may go at any moment, as often as the bounds say; replicas roll at the same offsets",
)
def delete_old_segment(state: State, rules: PartitionRules, bounds: Bounds, *, broker: BrokerId) -> State | None:
    """A broker deletes the first segment of its log, consumed or not; the log starts at the next one."""
    log = state.logs[broker]
    start = (log.log_start_offset // bounds.segment_size + 1) * bounds.segment_size
    if not state.budget.deletions or state.processes[broker].status is not Status.RUNNING:
        return None
    if start > min(may_delete(rules, state.replicas[broker], log), log.end_offset):
        return None
    return put(state, logs={broker: start_at(log, start)}, budget=spend(state.budget, "deletions"))


@action(leader=brokers)
@kafka(
    "ReplicaManager.deleteRecords; Partition.deleteRecordsOnLeader; UnifiedLog.maybeIncrementLogStartOffset",
    versions="0.11–4.3",
    simplified="up to the high watermark; the answer, which waits for all replicas, is left out",
)
def delete_records(state: State, *, leader: BrokerId) -> State | None:
    """A leader moves the start of its log to its high watermark at a client's request; followers learn of it as they fetch."""
    log, mine = state.logs[leader], state.replicas[leader]
    if not state.budget.deletions or not leads(state, leader) or mine.high_watermark <= log.log_start_offset:
        return None
    return put(state, logs={leader: start_at(log, mine.high_watermark)}, budget=spend(state.budget, "deletions"))


def start_at(log: Log, offset: int) -> Log:
    """Return the log without the records below an offset."""
    return Log(log.records[offset - log.log_start_offset :], offset)
