# SPDX-License-Identifier: Apache-2.0
"""What a broker's process does: it stops cleanly or not, starts again, registers, and learns what the controller decided."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.log import Log, truncate_to
from hwmark.model.machine import BrokerId, action, kafka, put

from .caught_up import at_epoch_start, late
from .decisions import PartitionState
from .rules import FetcherRestart, FollowerMemory, MetadataAgain, PartitionRules, RegistrationMatch, Truncation
from .shared import brokers, offsets, spend, truth, with_high_watermark, without_old_metadata
from .state import (
    UNKNOWN,
    AlterPartitionAnswer,
    Bounds,
    Config,
    Follower,
    Process,
    RegistrationAnswer,
    RegistrationRequest,
    Replica,
    State,
    Status,
    partition_epochs,
)

# -- rules --


def believes(rules: PartitionRules, process: Process, answer: RegistrationAnswer) -> bool:
    """Whether a starting broker takes an answer for the one to its own registration."""
    match rules.registration_match:
        case RegistrationMatch.SAME_LIFE:
            return answer.life == process.life
        case RegistrationMatch.ANY:
            return True
        case _:
            assert_never(rules.registration_match)


def is_news(rules: PartitionRules, replica: Replica, partition: PartitionState) -> bool:
    """Whether a leader has to look at metadata, given what it learned from answers to its proposals."""
    match rules.metadata_again:
        case MetadataAgain.SKIPPED:
            return partition.partition_epoch > replica.partition_epoch
        case MetadataAgain.APPLIED:
            return partition.partition_epoch >= replica.partition_epoch
        case _:
            assert_never(rules.metadata_again)


def remembers(rules: PartitionRules, replica: Replica, partition: PartitionState) -> bool:
    """Whether a broker that is to lead still knows how far its followers have fetched, as it believes that it leads already."""
    if replica.leader != partition.leader:
        return False
    match rules.follower_memory:
        case FollowerMemory.FORGOTTEN:
            return partition.leader_epoch <= replica.leader_epoch + 1
        case FollowerMemory.KEPT:
            return True
        case _:
            assert_never(rules.follower_memory)


def fetches_anew(rules: PartitionRules, replica: Replica, partition: PartitionState) -> bool:
    """Whether a follower starts to fetch under the leader epoch of new metadata."""
    match rules.fetcher_restart:
        case FetcherRestart.LEADER_EPOCH:
            return partition.leader_epoch > replica.leader_epoch
        case FetcherRestart.LEADER:
            return partition.leader != replica.leader
        case _:
            assert_never(rules.fetcher_restart)


def truncates_to(rules: PartitionRules, replica: Replica, log: Log) -> int:
    """Return the offset to which a follower cuts its log as it starts to fetch in a new leader epoch."""
    match rules.truncation:
        case Truncation.EPOCH_AND_END | Truncation.END:
            return log.end_offset
        case Truncation.HIGH_WATERMARK:
            return replica.high_watermark
        case _:
            assert_never(rules.truncation)


# -- stopping --


@action(broker=brokers, kept=offsets, checkpoint=offsets)
@kafka(
    "LogManager.checkpointLogRecoveryOffsets; LogLoader.load; ReplicaManager.checkpointHighWatermarks",
    versions="0.8–4.3",
    simplified="what a failing machine loses is any part of the end of the log, whatever was flushed when; the high watermark on disk "
    "may be any earlier one; the log start offset on disk is the current one",
)
def crash(state: State, *, broker: BrokerId, kept: int, checkpoint: int) -> State | None:
    """A broker's process ends without notice; it comes back with ``kept`` of its log, and an older high watermark."""
    process, log = state.processes[broker], state.logs[broker]
    is_lossy = kept < log.end_offset
    if process.status is Status.STOPPED or kept > log.end_offset or not (state.budget.lossy_crashes if is_lossy else state.budget.crashes):
        return None
    lowest, highest = log.log_start_offset, min(state.replicas[broker].high_watermark, kept)
    if kept < lowest or not min(lowest, highest) <= checkpoint <= highest:
        return None
    after = _stopped(state, broker, truncate_to(log, kept), checkpoint, clean_epoch=UNKNOWN)
    return put(after, budget=spend(state.budget, "lossy_crashes" if is_lossy else "crashes"))


@action(broker=brokers)
@kafka(
    "BrokerServer.shutdown; LogManager.shutdown",
    versions="3.0–4.3, the broker epoch is in the file since 4.0 (KIP-966)",
    simplified="after a controlled shutdown, or without one where the controller cannot be asked",
)
def shut_down(state: State, *, broker: BrokerId) -> State | None:
    """A broker stops cleanly: once it has handed over, or at once where there is no controller to ask; nothing is lost."""
    registration, process = state.registrations[broker], state.processes[broker]
    if process.status is not Status.RUNNING:
        return None
    has_asked = registration.in_controlled_shutdown and truth(state).leader != broker
    if not has_asked and (state.controller_is_up or not state.budget.shutdowns):
        return None
    after = _stopped(state, broker, state.logs[broker], state.replicas[broker].high_watermark, clean_epoch=process.broker_epoch)
    return after if has_asked else put(after, budget=spend(state.budget, "shutdowns"))


def _stopped(state: State, broker: BrokerId, log: Log, high_watermark: int, *, clean_epoch: int) -> State:
    """Return the state without a broker's memory; what it asked for is still on its way.

    A proposal's answer is gone. A fetch's may come all the same: in Kafka it goes with the connection, here the broker's
    next life has to see by offset and epoch whether it is one to what it would ask now (``AnswerMatch``).
    """
    process, waiting = state.processes[broker], state.produced
    answered = {record: None for record, one in enumerate(waiting) if one is not None and one.leader == broker}
    slot = state.altering[broker]
    after = put(
        state,
        processes={broker: evolve(process, status=Status.STOPPED, broker_epoch=UNKNOWN, clean_epoch=clean_epoch)},
        positions={broker: UNKNOWN},
        replicas={broker: Replica(high_watermark=high_watermark)},
        logs={broker: log},
        followers={broker: (Follower(),) * len(state.processes)},
        altering={broker: None if isinstance(slot, AlterPartitionAnswer) else slot},
        produced=answered,
    )
    return without_old_metadata(after)


# -- starting --


@action(broker=brokers)
@kafka("BrokerServer.startup", versions="3.0–4.3", simplified="recovery of the log is part of the crash that made it necessary")
def start_broker(state: State, bounds: Bounds, *, broker: BrokerId) -> State | None:
    """A stopped broker starts its next life, unless it is to stay down."""
    process = state.processes[broker]
    if process.status is not Status.STOPPED or bounds.stays_down:
        return None
    return put(state, processes={broker: evolve(process, status=Status.STARTING, life=process.life + 1)})


@action(broker=brokers)
@kafka("BrokerLifecycleManager.sendBrokerRegistration", versions="3.0–4.3", simplified="retries are left out: the request arrives at last")
def request_registration(state: State, *, broker: BrokerId) -> State | None:
    """A starting broker asks the controller to register it, with the broker epoch that it wrote down at a clean shutdown."""
    process, slot = state.processes[broker], state.registering[broker]
    if process.status is not Status.STARTING or (slot is not None and slot.life == process.life):
        return None
    return put(state, registering={broker: RegistrationRequest(process.life, process.clean_epoch)})


@action(broker=brokers)
@kafka(
    "BrokerLifecycleManager.BrokerRegistrationResponseHandler; MetadataLoader",
    versions="3.0–4.3",
    simplified="a starting broker replays the metadata log up to its registration in no time, and learns of the partition from there on",
)
def receive_registration(state: State, rules: PartitionRules, *, broker: BrokerId) -> State | None:
    """A starting broker hears that it is registered, and runs; it knows nothing of the partition yet."""
    process, answer = state.processes[broker], state.registering[broker]
    if process.status is not Status.STARTING or not isinstance(answer, RegistrationAnswer) or not believes(rules, process, answer):
        return None
    begun = evolve(process, status=Status.RUNNING, broker_epoch=answer.life, clean_epoch=UNKNOWN)
    return put(state, processes={broker: begun}, registering={broker: None}, positions={broker: state.partition_epoch - 1})


# -- metadata --


@action(broker=brokers, partition_epoch=partition_epochs)
@kafka(
    "BrokerMetadataPublisher.onMetadataUpdate; ReplicaManager.applyDelta; Partition.makeLeader; Partition.makeFollower",
    versions="3.0–4.3",
    simplified="any later record may come next, as records are published in batches; which other brokers are fenced is not followed, "
    "so that a leader may propose one that is",
)
def learn_metadata(state: State, rules: PartitionRules, config: Config, *, broker: BrokerId, partition_epoch: int) -> State | None:
    """A broker learns a decision of the controller, and leads, follows, or drops its replica accordingly."""
    partition = state.metadata[partition_epoch]
    if state.processes[broker].status is not Status.RUNNING or partition is None or partition_epoch <= state.positions[broker]:
        return None
    after = put(state, positions={broker: partition_epoch})
    if broker not in partition.replicas:
        after = _drop_replica(after, broker, partition)
    elif partition.leader == broker:
        after = _lead(after, rules, config, broker, partition)
    else:
        after = _follow(after, rules, broker, partition)
    return without_old_metadata(after)


def _lead(state: State, rules: PartitionRules, config: Config, broker: BrokerId, partition: PartitionState) -> State:
    mine = state.replicas[broker]
    if not is_news(rules, mine, partition):
        return state
    is_new_epoch = partition.leader_epoch > mine.leader_epoch
    replica = evolve(
        mine,
        leader=broker,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        replicas=partition.replicas,
        isr=partition.isr,
        proposed=frozenset(),
        epoch_start=state.logs[broker].end_offset if is_new_epoch else mine.epoch_start,
        fetch_epoch=UNKNOWN,
    )
    is_known = remembers(rules, mine, partition)
    known = tuple(
        one if is_known and follower in partition.replicas else Follower() for follower, one in enumerate(state.followers[broker])
    )
    if is_new_epoch:
        known = at_epoch_start(rules, known, partition.isr - {broker}, replica.epoch_start if is_known else UNKNOWN)
    known = late(known, (mine.isr & (mine.proposed or mine.isr)) - partition.isr)  # the controller dropped them: they are fenced
    return with_high_watermark(put(state, replicas={broker: replica}, followers={broker: known}), rules, config, broker)


def _follow(state: State, rules: PartitionRules, broker: BrokerId, partition: PartitionState) -> State:
    mine, log = state.replicas[broker], state.logs[broker]
    if partition.partition_epoch < mine.partition_epoch:
        return state
    fetches = fetches_anew(rules, mine, partition)
    cut = truncate_to(log, truncates_to(rules, mine, log)) if fetches else log
    replica = Replica(
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        high_watermark=min(mine.high_watermark, cut.end_offset),
        fetch_epoch=partition.leader_epoch if fetches else mine.fetch_epoch,
    )
    return _step_down(put(state, replicas={broker: replica}, logs={broker: cut}), broker)


def _drop_replica(state: State, broker: BrokerId, partition: PartitionState) -> State:
    replica = Replica(partition_epoch=partition.partition_epoch)
    return _step_down(put(state, replicas={broker: replica}, logs={broker: Log()}, fetching={broker: None}), broker)


def _step_down(state: State, broker: BrokerId) -> State:
    """Return the state once a broker that does not lead has answered who waits, and forgot its followers."""
    answered = {record: None for record, one in enumerate(state.produced) if one is not None and one.leader == broker}
    return put(state, followers={broker: (Follower(),) * len(state.processes)}, produced=answered)
