# SPDX-License-Identifier: Apache-2.0
"""What a consumer does: it learns who leads, compares its position with the leader's log, and reads below the high watermark."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.log import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EpochEnd, end_offset_for
from hwmark.model.machine import BrokerId, action, kafka, put

from .decisions import NOBODY
from .rules import PartitionRules, UndefinedEpochEnd
from .shared import brokers, consumers, epoch_cache, leads
from .state import Config, Consumer, State, Status


def validated(rules: PartitionRules, consumer: Consumer, end: EpochEnd, log_start_offset: int) -> Consumer:
    """Return a consumer once it knows where the epoch of its last record ends in the leader's log; it resets to the earliest offset."""
    if end.end_offset == UNDEFINED_OFFSET:
        match rules.undefined_epoch_end:
            case UndefinedEpochEnd.OUT_OF_RANGE:
                return evolve(consumer, position=log_start_offset, last_epoch=UNDEFINED_EPOCH, validated=True)
            case UndefinedEpochEnd.OFFSET:
                return evolve(consumer, position=end.end_offset, last_epoch=end.leader_epoch, validated=True)
            case _:
                assert_never(rules.undefined_epoch_end)
    is_truncated = end.end_offset < consumer.position
    if is_truncated:
        return evolve(consumer, position=end.end_offset, last_epoch=end.leader_epoch, validated=True)
    return evolve(consumer, validated=True)


@action(consumer=consumers, broker=brokers)
@kafka(
    "Metadata.updateLastSeenEpochIfNewer; SubscriptionState.maybeValidatePositionForCurrentLeader",
    versions="2.3–4.3 (KIP-320)",
    simplified="any running broker may be asked at any moment; older answers are ignored",
)
def refresh_metadata(state: State, *, consumer: int, broker: BrokerId) -> State | None:
    """A consumer learns from a broker of a newer leader epoch, and has to validate its position."""
    known, told = state.consumers[consumer], state.replicas[broker]
    if state.processes[broker].status is not Status.RUNNING or told.leader_epoch <= known.leader_epoch or told.leader == NOBODY:
        return None
    learned = evolve(known, leader=told.leader, leader_epoch=told.leader_epoch, validated=known.last_epoch == UNDEFINED_EPOCH)
    return put(state, consumers={consumer: learned})


@action(consumer=consumers)
@kafka(
    "OffsetsForLeaderEpochClient; SubscriptionState.maybeCompleteValidation; KafkaApis.handleOffsetForLeaderEpochRequest",
    versions="2.3–4.3 (KIP-320)",
    simplified="request and answer are one step; after a truncation the consumer goes on where the logs part (auto.offset.reset)",
)
def validate_position(state: State, rules: PartitionRules, *, consumer: int) -> State | None:
    """A consumer asks the leader where the epoch of its last record ends, and goes back if that is below its position."""
    known = state.consumers[consumer]
    if known.validated or not leads(state, known.leader) or state.replicas[known.leader].leader_epoch != known.leader_epoch:
        return None
    log = state.logs[known.leader]
    end = end_offset_for(epoch_cache(rules, state.replicas[known.leader], known.leader, log), known.last_epoch, log.end_offset)
    return put(state, consumers={consumer: validated(rules, known, end, log.log_start_offset)})


@action(consumer=consumers, broker=brokers)
@kafka(
    "ReplicaManager.fetchMessages; FetchCollector.collectFetch",
    versions="2.3–4.3, from followers since 2.4",
    simplified="request and answer are one step, of one record; which follower is preferred is left open",
)
def consume(state: State, config: Config, *, consumer: int, broker: BrokerId) -> State | None:
    """A consumer reads the next record below the high watermark, from the leader, or from a follower if it may."""
    known, theirs = state.consumers[consumer], state.replicas[broker]
    is_asked = broker == known.leader or config.follower_reads
    if not known.validated or not is_asked or state.processes[broker].status is not Status.RUNNING:
        return None
    if theirs.leader_epoch != known.leader_epoch or theirs.leader == NOBODY or (broker == known.leader and theirs.leader != broker):
        return None
    record = state.logs[broker].at(known.position)
    if record is None or known.position >= theirs.high_watermark:
        return None
    return put(state, consumers={consumer: evolve(known, position=known.position + 1, last_epoch=record.leader_epoch)})


@action(consumer=consumers)
@kafka(
    "FetchCollector.handleInitializeErrors; OffsetFetcher.resetPositionsIfNeeded",
    versions="0.9–4.3",
    simplified="the earliest offset is asked for in the same step (auto.offset.reset=earliest)",
)
def reset_position(state: State, *, consumer: int) -> State | None:
    """A consumer whose position the leader's log does not have (OFFSET_OUT_OF_RANGE) starts at the log's start again."""
    known = state.consumers[consumer]
    if not known.validated or not leads(state, known.leader) or state.replicas[known.leader].leader_epoch != known.leader_epoch:
        return None
    log = state.logs[known.leader]
    if log.log_start_offset <= known.position <= log.end_offset:
        return None
    return put(state, consumers={consumer: evolve(known, position=log.log_start_offset, last_epoch=UNDEFINED_EPOCH)})
