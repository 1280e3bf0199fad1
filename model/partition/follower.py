# SPDX-License-Identifier: Apache-2.0
"""What a follower does: it fetches from the leader that it knows, truncates where their logs part, and appends the rest."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.log import UNDEFINED_EPOCH, Log, append, end_offset_for, epoch_entries, truncate_to
from hwmark.model.machine import BrokerId, action, kafka, put

from .decisions import NOBODY
from .leader import start_at
from .rules import AnswerMatch, HighWatermarkOfDivergence, PartitionRules, Truncation
from .shared import brokers
from .state import FetchAnswer, FetchError, FetchRequest, Replica, State, Status

# -- rules --


def believes(rules: PartitionRules, replica: Replica, log: Log, answer: FetchAnswer) -> bool:
    """Whether a follower takes an answer for one to what it would ask now."""
    match rules.answer_match:
        case AnswerMatch.OFFSET_AND_EPOCH:
            return answer.fetch_offset == log.end_offset and answer.leader_epoch == replica.fetch_epoch
        case AnswerMatch.OFFSET:
            return answer.fetch_offset == log.end_offset
        case AnswerMatch.EPOCH:
            return answer.leader_epoch == replica.fetch_epoch
        case _:
            assert_never(rules.answer_match)


def last_fetched_epoch(rules: PartitionRules, log: Log) -> int:
    """Return the epoch that a follower shows with its fetch, for the leader to compare."""
    match rules.truncation:
        case Truncation.EPOCH_AND_END | Truncation.END:
            return log.latest_epoch
        case Truncation.HIGH_WATERMARK:
            return UNDEFINED_EPOCH
        case _:
            assert_never(rules.truncation)


def high_watermark_before_truncation(rules: PartitionRules, replica: Replica, log: Log, answer: FetchAnswer) -> int:
    """Return a follower's high watermark once it has read an answer that tells it to truncate, before it does."""
    match rules.high_watermark_of_divergence:
        case HighWatermarkOfDivergence.IGNORED:
            return replica.high_watermark
        case HighWatermarkOfDivergence.BEFORE_TRUNCATION:
            return min(answer.high_watermark, log.end_offset)
        case _:
            assert_never(rules.high_watermark_of_divergence)


# -- actions --


@action(follower=brokers)
@kafka(
    "AbstractFetcherThread.maybeFetch; AbstractFetcherThread.buildFetch; ReplicaFetcherManager.addFetcherForPartitions",
    versions="2.7–4.3, broker epochs since 3.5 (KIP-903)",
    simplified="one fetch in flight a follower: a follower of a new leader stops waiting for the old one; fetch sessions are left out",
)
def send_fetch(state: State, rules: PartitionRules, *, follower: BrokerId) -> State | None:
    """A follower asks the leader that it knows for what comes after the end of its log."""
    process, mine, log, slot = state.processes[follower], state.replicas[follower], state.logs[follower], state.fetching[follower]
    if process.status is not Status.RUNNING or mine.leader in {NOBODY, follower} or mine.fetch_epoch == UNDEFINED_EPOCH:
        return None
    is_waiting = isinstance(slot, FetchAnswer) or (slot is not None and slot.broker_epoch == process.broker_epoch)
    if slot is not None and is_waiting and slot.leader == mine.leader:
        return None
    request = FetchRequest(mine.leader, mine.fetch_epoch, log.end_offset, last_fetched_epoch(rules, log), process.broker_epoch)
    return put(state, fetching={follower: request})


@action(follower=brokers)
@kafka(
    "AbstractFetcherThread.processFetchRequest; AbstractFetcherThread.truncateOnFetchResponse; "
    "AbstractFetcherThread.handleOutOfRangeError; ReplicaFetcherThread.processPartitionData",
    versions="2.7–4.3",
    simplified="after OFFSET_OUT_OF_RANGE the limits of the leader's log come with the answer, where Kafka asks for them",
)
def receive_fetch(state: State, rules: PartitionRules, *, follower: BrokerId) -> State | None:
    """A follower takes an answer in if it still fits: it truncates, or appends a record and learns the high watermark."""
    answer, mine, log = state.fetching[follower], state.replicas[follower], state.logs[follower]
    if not isinstance(answer, FetchAnswer):
        return None
    after = put(state, fetching={follower: None})
    is_following = state.processes[follower].status is Status.RUNNING and mine.leader == answer.leader
    if not is_following or not believes(rules, mine, log, answer):
        return after
    if answer.diverging_epoch != UNDEFINED_EPOCH:
        seen = high_watermark_before_truncation(rules, mine, log, answer)
        if seen != mine.high_watermark:  # for a moment it shows records that it is about to drop
            return put(state, replicas={follower: put(mine, high_watermark=seen)})
    return _holding(after, follower, *taken_in(mine, log, answer))


def taken_in(replica: Replica, log: Log, answer: FetchAnswer) -> tuple[int, Log]:
    """Return a follower's high watermark and log once it has taken an answer in."""
    if answer.error is FetchError.OFFSET_OUT_OF_RANGE:
        return replica.high_watermark, _within(log, answer)
    if answer.error is not None:
        return replica.high_watermark, log
    if answer.diverging_epoch != UNDEFINED_EPOCH:
        return replica.high_watermark, truncate_to(log, truncation_offset(log, answer))
    longer = log if answer.record is None else append(log, answer.record)
    start = min(max(longer.log_start_offset, answer.log_start_offset), longer.end_offset)
    return answer.high_watermark, start_at(longer, start)


def truncation_offset(log: Log, answer: FetchAnswer) -> int:
    """Return where a follower cuts its log: to what both have of the epoch that the leader names, or to the end of an earlier one."""
    own = end_offset_for(epoch_entries(log), answer.diverging_epoch, log.end_offset)
    if own.leader_epoch == UNDEFINED_EPOCH:
        return min(answer.diverging_end, log.end_offset)
    return own.end_offset if own.leader_epoch != answer.diverging_epoch else min(own.end_offset, answer.diverging_end)


def _within(log: Log, answer: FetchAnswer) -> Log:
    """Return a follower's log within the limits of its leader's (``AbstractFetcherThread.fetchOffsetAndTruncate``)."""
    if answer.log_end_offset < log.end_offset:
        return truncate_to(log, answer.log_end_offset)
    return Log((), answer.log_start_offset) if answer.log_start_offset > log.end_offset else log


def _holding(state: State, follower: BrokerId, high_watermark: int, log: Log) -> State:
    """Return the state in which a follower has this log; its high watermark stays within it."""
    within = max(min(high_watermark, log.end_offset), log.log_start_offset)
    return put(state, logs={follower: log}, replicas={follower: put(state.replicas[follower], high_watermark=within)})
