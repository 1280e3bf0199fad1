# SPDX-License-Identifier: Apache-2.0
"""The checks that a broker makes before it does anything, in the order in which Kafka 4.3.1 makes them: the first that fails answers.

Each has a name that stays, so that a deviation can be told by it. All replicas of the partition are modelled as one that knows what
each of them does, whoever is asked; everybody may ask anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.part import UNKNOWN, Check
from hwmark.model.broker_api.state import State
from hwmark.model.broker_api.transactions.verification import AT_ONCE, WITH_COORDINATOR, begun, is_other_epoch

from .requests import At, CurrentEpoch, DeleteRecords, Fetch, Flaw, ListOffsets, OffsetForLeaderEpoch, Produce
from .transactional import is_open

LAST_SEQUENCE = 2**31 - 1
ACKS = frozenset({-1, 0, 1})
NOT_LEADER = Errors.NOT_LEADER_OR_FOLLOWER


def has_flaw(flaw: Flaw) -> Callable[[State, Produce], bool]:
    """Return whether a batch has this flaw."""
    return lambda _state, request: request.flaw is flaw


def says_epoch(epoch: CurrentEpoch) -> Callable[[State, Any], bool]:
    """Return whether a request says this of the leader epoch."""
    return lambda _state, request: request.epoch is epoch


def is_stale(state: State, request: Produce) -> bool:
    """Whether the epoch of a producer is older than the one whose records are there."""
    return request.producer is not None and state.epoch_of(request.producer, request.epoch) < state.producer(request.producer).epoch


def is_late_beginning(state: State, request: Produce) -> bool:
    """Whether a batch that adds its partition to a transaction is the first that is known of its producer, and not the first of all."""
    if request.producer is None:
        return False
    known, entry = state.producer(request.producer), begun(state, request).producer(request.producer).verification
    return entry is not None and entry.adds and request.sequence != 0 and not known.batches


def is_overtaking(state: State, request: Produce) -> bool:
    """Whether a batch with a lesser sequence was about to be appended, and is not there yet."""
    entry = None if request.producer is None else begun(state, request).producer(request.producer).verification
    return entry is not None and request.sequence > entry.sequence


def is_gap_in_new_epoch(state: State, request: Produce) -> bool:
    """Whether a producer's first batch of an epoch, in a partition that knows an earlier one, does not begin with sequence 0."""
    if request.producer is None:
        return False
    return state.producer(request.producer).epoch != NOTHING and is_other_epoch(state, request) and request.sequence != 0


def is_gap(state: State, request: Produce) -> bool:
    """Whether a batch does not go on where the last one of the same epoch ended."""
    if request.producer is None:
        return False
    known = state.producer(request.producer)
    due = 0 if known.last_sequence == LAST_SEQUENCE else known.last_sequence + 1
    return known.epoch != NOTHING and not is_other_epoch(state, request) and request.sequence != due


def is_between(state: State, request: Produce) -> bool:
    """Whether a batch is no part of the transaction that its producer has open."""
    return request.producer is not None and not request.transactional and is_open(state, request.producer)


def is_out_of_range(state: State, request: Fetch) -> bool:
    """Whether the log does not reach to an offset; its end is still in it."""
    return not state.log_start_offset <= request.offset <= state.end_offset


def is_of_follower(_state: State, request: Any) -> bool:
    """Whether a request goes to a replica that does not lead."""
    return request.of_follower is True


def is_appended_to_follower(_state: State, request: Produce) -> bool:
    """Whether a batch goes to a replica that does not lead; acks that there are not are refused first, outside of transactions."""
    return request.of_follower and (request.transactional or request.acks in ACKS)


def is_fetched_from_leader(state: State, request: Fetch) -> bool:
    """Whether a replica is fetched from that does not lead, by somebody whom only the leader serves (``FetchParams.fetchOnlyLeader``)."""
    return request.of_follower and (request.before_racks or "followers_serve" in state.lacks)


def leader_answers(fails: Callable[[State, Any], bool], kafka: str) -> Check:
    """Return the check that the replica leads that is asked, which is made in several places."""
    return Check("leader_answers", "Who does not lead a partition refuses what is for its leader.", kafka, fails, NOT_LEADER)


FENCED = Check(
    "older_leader_epoch",
    "Who knows an older leader epoch is told so.",
    "Partition.checkCurrentLeaderEpoch",
    says_epoch(CurrentEpoch.OLDER),
    Errors.FENCED_LEADER_EPOCH,
)
AHEAD = Check(
    "newer_leader_epoch",
    "Who knows a newer leader epoch than the broker is told so.",
    "Partition.checkCurrentLeaderEpoch",
    says_epoch(CurrentEpoch.NEWER),
    Errors.UNKNOWN_LEADER_EPOCH,
)

OF_PRODUCERS = (
    Check(
        "older_producer_epoch",
        "Records of an epoch that the producer has left are refused.",
        "ProducerAppendInfo.checkProducerEpoch",
        is_stale,
        Errors.INVALID_PRODUCER_EPOCH,
    ),
    Check(
        "transaction_begins_at_zero",
        "The first batch of a producer that makes a partition part of a transaction has sequence 0.",
        "ProducerAppendInfo.checkSequence",
        is_late_beginning,
        Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ),
    Check(
        "least_sequence_first",
        "No batch is appended before one with a lesser sequence that could not be.",
        "VerificationStateEntry.maybeUpdateLowestSequenceAndEpoch",
        is_overtaking,
        Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ),
    Check(
        "new_epoch_begins_at_zero",
        "In a new epoch a producer begins with sequence 0.",
        "ProducerAppendInfo.checkSequence",
        is_gap_in_new_epoch,
        Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ),
    Check(
        "next_sequence",
        "A batch goes on where the producer's last one ended.",
        "ProducerAppendInfo.checkSequence",
        is_gap,
        Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ),
    Check(
        "nothing_between",
        "While a producer's transaction is open, its records are part of it.",
        "ProducerAppendInfo.appendDataBatch",
        is_between,
        Errors.INVALID_TXN_STATE,
    ),
)
"""What is compared with what is known of a batch's producer."""

CHECKS: dict[type[Any], tuple[Check, ...]] = {
    Produce: (
        Check(
            "transactional_without_id",
            "A transactional batch in a request without a transactional id is refused.",
            "KafkaApis.handleProduceRequest",
            has_flaw(Flaw.TRANSACTIONAL),
            Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ),
        UNKNOWN,
        Check(
            "some_batch",
            "A request has a batch for each partition that it names.",
            "ProduceRequest.validateRecords",
            has_flaw(Flaw.NO_BATCH),
            Errors.INVALID_RECORD,
        ),
        Check(
            "present_format",
            "A batch has the present format.",
            "ProduceRequest.validateRecords",
            has_flaw(Flaw.OLD_MAGIC),
            Errors.INVALID_RECORD,
        ),
        Check(
            "one_batch",
            "A request has no second batch for a partition.",
            "ProduceRequest.validateRecords",
            has_flaw(Flaw.TWO_BATCHES),
            Errors.INVALID_RECORD,
        ),
        leader_answers(is_appended_to_follower, "Partition.maybeStartTransactionVerification; Partition.appendRecordsToLeader"),
        AT_ONCE,
        *WITH_COORDINATOR,
        Check(
            "required_acks",
            "There are no acks but 0, 1 and -1 (all).",
            "ReplicaManager.isValidRequiredAcks",
            lambda _state, request: request.acks not in ACKS,
            Errors.INVALID_REQUIRED_ACKS,
        ),
        Check(
            "base_offset",
            "A client's batch begins at offset 0.",
            "UnifiedLog.analyzeAndValidateRecords",
            has_flaw(Flaw.BASE_OFFSET),
            Errors.INVALID_RECORD,
        ),
        Check(
            "checksum",
            "A batch whose checksum is not its own is refused.",
            "UnifiedLog.analyzeAndValidateRecords",
            has_flaw(Flaw.CRC),
            Errors.CORRUPT_MESSAGE,
        ),
        *OF_PRODUCERS,
    ),
    Fetch: (
        UNKNOWN,
        FENCED,
        AHEAD,
        leader_answers(is_fetched_from_leader, "FetchParams.fetchOnlyLeader; Partition.localLogWithEpochOrThrow"),
        Check(
            "offset_in_range",
            "Only offsets from the log's start to its end can be fetched from.",
            "UnifiedLog.read; LocalLog.read",
            is_out_of_range,
            Errors.OFFSET_OUT_OF_RANGE,
        ),
    ),
    ListOffsets: (
        Check(
            "named_twice",
            "A partition is named once in a request.",
            "ReplicaManager.fetchOffset",
            lambda _state, request: request.twice,
            Errors.INVALID_REQUEST,
        ),
        Check(
            "unheard_of_time",
            "A negative time that means nothing is not supported.",
            "ReplicaManager.isListOffsetsTimestampUnsupported",
            lambda _state, request: request.at is At.UNHEARD_OF,
            Errors.UNSUPPORTED_VERSION,
        ),
        UNKNOWN,
        FENCED,
        AHEAD,
        leader_answers(is_of_follower, "Partition.fetchOffsetForTimestamp; Partition.localLogWithEpochOrThrow"),
    ),
    DeleteRecords: (
        UNKNOWN,
        leader_answers(is_of_follower, "Partition.deleteRecordsOnLeader"),
        Check(
            "deleted_in_range",
            "Records are deleted up to the high watermark at most.",
            "Partition.deleteRecordsOnLeader; UnifiedLog.maybeIncrementLogStartOffset",
            lambda state, request: request.offset < NOTHING or request.offset > state.end_offset,
            Errors.OFFSET_OUT_OF_RANGE,
        ),
    ),
    OffsetForLeaderEpoch: (UNKNOWN, FENCED, AHEAD, leader_answers(is_of_follower, "Partition.lastOffsetForLeaderEpoch")),
}
"""By type of request."""
