# SPDX-License-Identifier: Apache-2.0
"""What is asked of a partition, over the wire, and the answers in the model's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.partition.requests import (
    LATER,
    At,
    Deleted,
    DeleteRecords,
    EpochEnd,
    Fetch,
    Fetched,
    InitProducerId,
    ListOffsets,
    NotAnswered,
    OffsetForLeaderEpoch,
    OffsetFound,
    Produce,
    Produced,
    ProducerIdGiven,
    Support,
)

from .batches import batches, records_of
from .follower_wire import SINCE_RACKS, asked, fetching
from .leading import relative_of
from .session import (
    DELETE_RECORDS,
    EPOCH_END,
    FETCH,
    INIT_PRODUCER_ID,
    LATEST,
    LIST_OFFSETS,
    PRODUCE,
    VERSIONS,
    Session,
    error_of,
    first_of,
    once_ready,
)

TIMES = {At.LATEST: LATEST, At.EARLIEST: -2, At.MAX_TIMESTAMP: -3, At.UNHEARD_OF: -77}
SUPPORTING = {Support.NOTHING: VERSIONS[PRODUCE], Support.ABORTABLE: (11, 11), Support.ADDS: (12, 12)}
"""The versions of Produce of those that know more or less of KIP-890."""
BEFORE_RACKS = (VERSIONS[FETCH][0], 10)
FETCHING = {(False, False): VERSIONS[FETCH], (False, True): BEFORE_RACKS, (True, False): SINCE_RACKS, (True, True): BEFORE_RACKS}
"""The versions of Fetch, by whether a follower is asked, and by somebody who knows of no racks."""
EARLY = 50_000
"""Milliseconds: what has a later time was not sent by the program."""


def init(session: Session, request: InitProducerId) -> ProducerIdGiven:
    """Ask for a producer id."""
    values = {"transactional_id": None, "transaction_timeout": 60_000, "producer_id": NOTHING, "producer_epoch": NOTHING}
    version = session.version(INIT_PRODUCER_ID)
    answer = once_ready(session, lambda: session.connection.call(INIT_PRODUCER_ID, version, values))
    error = error_of(answer.error_code)
    if error is not Errors.NONE:
        return ProducerIdGiven(error)
    epoch = int(answer.producer_epoch)
    return ProducerIdGiven(error, session.ids.new(request.producer, int(answer.producer_id), epoch), epoch)


def produce(session: Session, request: Produce) -> Produced | NotAnswered:
    """Send records, and wait where no answer is to come until they have been dealt with.

    Those of a transaction are sent once it has a coordinator: else a leader, which cannot ask anybody, answers NOT_ENOUGH_REPLICAS.
    """
    topic, partition = session.place(request.where)
    version, broker = session.version(PRODUCE, *SUPPORTING[request.support]), asked(session, request)
    data = {"name": topic, "partition_data": ({"index": partition, "records": batches(session, request)},)}
    session.sent += request.count
    name = None
    if request.transactional and request.producer:
        name = session.transactional_id(request.producer)
        session.coordinator(request.producer)
    values = {"transactional_id": name, "acks": request.acks, "timeout": 5000, "topic_data": (data,)}
    answer = broker.call(PRODUCE, version, values, is_answered=request.acks != 0)
    if answer is None:
        session.settle()
        session.catch_up()
        return NotAnswered()
    told = first_of(first_of(answer.responses).partition_responses)
    error = error_of(told.error_code)
    if error is not Errors.NONE:
        return Produced(error)
    session.catch_up()
    return Produced(error, int(told.base_offset), int(getattr(told, "log_start_offset", NOTHING)))


def fetch(session: Session, request: Fetch) -> Fetched:
    """Ask for records; those below the offset that was asked for are passed over, as clients do."""
    topic, partition = session.place(request.where)
    values = fetching(topic, partition, request.offset, session.current(request.epoch), read_committed=request.read_committed)
    version = session.version(FETCH, *FETCHING[request.of_follower, request.before_racks])
    answer = asked(session, request).call(FETCH, version, values)
    error = error_of(answer.error_code)
    if error is not Errors.NONE:
        return Fetched(error)
    told = first_of(first_of(answer.responses).partitions)
    error = error_of(told.error_code)
    if error is not Errors.NONE:
        return Fetched(error)
    limits = (int(told.high_watermark), int(told.last_stable_offset), int(told.log_start_offset))
    records = tuple((offset, value) for offset, value in records_of(told.records or b"") if offset >= request.offset)
    aborted = tuple((session.ids.name_of(int(one.producer_id)), int(one.first_offset)) for one in told.aborted_transactions or ())
    return Fetched(error, *limits, records, aborted)


def list_offsets(session: Session, request: ListOffsets) -> OffsetFound:
    """Ask for an offset."""
    topic, partition = session.place(request.where)
    at = session.began + request.time if request.at is At.TIME else TIMES[request.at]
    wanted = {"partition_index": partition, "current_leader_epoch": session.current(request.epoch), "timestamp": at}
    topics = ({"name": topic, "partitions": (wanted,) * (2 if request.twice else 1)},)
    values = {"replica_id": -1, "isolation_level": int(request.read_committed), "topics": topics}
    lowest, highest = VERSIONS[LIST_OFFSETS]
    version = session.version(LIST_OFFSETS, 7 if request.at is At.MAX_TIMESTAMP else lowest, highest)
    told = first_of(first_of(asked(session, request).call(LIST_OFFSETS, version, values).topics).partitions)
    error = error_of(told.error_code)
    if error is not Errors.NONE:
        return OffsetFound(error)
    since = int(told.timestamp) - session.began
    timestamp = NOTHING if told.timestamp == NOTHING else LATER if since > EARLY else since
    epoch = relative_of(session.epochs, int(told.leader_epoch))
    return OffsetFound(error, int(told.offset), timestamp, epoch)


def delete(session: Session, request: DeleteRecords) -> Deleted:
    """Ask for records to be deleted."""
    topic, partition = session.place(request.where)
    wanted = {"name": topic, "partitions": ({"partition_index": partition, "offset": request.offset},)}
    answer = asked(session, request).call(DELETE_RECORDS, session.version(DELETE_RECORDS), {"topics": (wanted,), "timeout": 5000})
    told = first_of(first_of(answer.topics).partitions)
    error = error_of(told.error_code)
    return Deleted(error, int(told.low_watermark) if error is Errors.NONE else NOTHING)


def epoch_end(session: Session, request: OffsetForLeaderEpoch) -> EpochEnd:
    """Ask where a leader epoch ends."""
    topic, partition = session.place(request.where)
    epoch = NOTHING if request.leader_epoch is None else session.epoch(request.leader_epoch)
    wanted = {"partition": partition, "current_leader_epoch": session.current(request.epoch), "leader_epoch": epoch}
    values = {"replica_id": -1, "topics": ({"topic": topic, "partitions": (wanted,)},)}
    told = first_of(first_of(asked(session, request).call(EPOCH_END, session.version(EPOCH_END), values).topics).partitions)
    error = error_of(told.error_code)
    if error is not Errors.NONE:
        return EpochEnd(error)
    return EpochEnd(error, relative_of(session.epochs, int(told.leader_epoch)), int(told.end_offset))


ASKS: Mapping[type[Any], Callable[[Session, Any], Any]] = {
    InitProducerId: init,
    Produce: produce,
    Fetch: fetch,
    ListOffsets: list_offsets,
    DeleteRecords: delete,
    OffsetForLeaderEpoch: epoch_end,
}
"""How each request is asked."""
