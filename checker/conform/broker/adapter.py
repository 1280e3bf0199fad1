# SPDX-License-Identifier: Apache-2.0
"""Asks a broker the requests of the model over the wire, and returns its answers in the model's words."""

from __future__ import annotations

import io
import itertools
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

from attrs import define, field
from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64

from hwmark.model.broker_api import requests
from hwmark.model.broker_api.requests import NOTHING, At, CurrentEpoch, Errors, Flaw, Where

from .wire import BrokenError, CannotAskError, Connection

PRODUCE, FETCH, LIST_OFFSETS, METADATA, CREATE_TOPICS, DELETE_RECORDS, INIT_PRODUCER_ID, EPOCH_END = 0, 1, 2, 3, 19, 21, 22, 23
VERSIONS = {
    PRODUCE: (3, 9),
    FETCH: (9, 11),
    LIST_OFFSETS: (4, 7),
    METADATA: (7, 9),
    CREATE_TOPICS: (2, 5),
    DELETE_RECORDS: (0, 2),
    INIT_PRODUCER_ID: (0, 4),
    EPOCH_END: (2, 4),
}
"""The versions that are spoken, lowest and highest, by API: those that know topics by name."""
API_OF: dict[type[Any], int] = {
    requests.Produce: PRODUCE,
    requests.Fetch: FETCH,
    requests.ListOffsets: LIST_OFFSETS,
    requests.DeleteRecords: DELETE_RECORDS,
    requests.InitProducerId: INIT_PRODUCER_ID,
    requests.OffsetForLeaderEpoch: EPOCH_END,
}
TIMES = {At.LATEST: -1, At.EARLIEST: -2, At.MAX_TIMESTAMP: -3, At.UNHEARD_OF: -77}
CURRENT = {CurrentEpoch.UNSAID: None, CurrentEpoch.RIGHT: 0, CurrentEpoch.OLDER: -1, CurrentEpoch.NEWER: 5}
MOST_BYTES = 1 << 20
NUMBER = re.compile(r"[0-9]{1,18}")
"""The value of a record that a program may have sent."""
NOT_YET = "COORDINATOR_LOAD_IN_PROGRESS"
"""A broker that has to fetch a block of producer ids first says so, and is asked again."""


class OtherError(str):
    """An error that the model does not have; its name."""

    __slots__ = ()


class Broker(Protocol):
    """Whoever answers requests of the model."""

    def begin(self) -> None:
        """Begin a program: with an empty partition, and producers that nobody knows."""
        ...

    def ask(self, request: requests.Request) -> requests.Answer:
        """Return the answer to a request; ``BrokenError`` where there is none, ``CannotAskError`` where it cannot be asked."""
        ...


@define
class WireBroker:
    """A broker behind a connection. Topics are made by ``CreateTopics``, or, where that is not known, by asking for them."""

    connection: Connection
    prefix: str = "hwmark"
    revive: Callable[[], Connection] | None = None
    """Starts the broker anew where it has died."""
    _topic: str = ""
    _leader_epoch: int = 0
    _began: int = 0
    _sent: int = 0
    _ids: dict[str, tuple[int, int]] = field(factory=dict)
    _given: set[int] = field(factory=set)
    """The producer ids that the program has been given."""
    _numbers: Iterator[int] = field(factory=itertools.count)

    def begin(self) -> None:
        """Make a topic with one partition, under a name that was never used."""
        self._connect()
        self._topic, self._sent, self._ids, self._given = f"{self.prefix}-{next(self._numbers)}", 0, {}, set()
        self._began = int(time.time() * 1000) - 100_000
        self._create()
        try:
            self._leader_epoch = self._wait_for_leader()
        except CannotAskError as error:
            raise BrokenError(f"Metadata cannot be asked for: {error}") from None

    def ask(self, request: requests.Request) -> requests.Answer:
        """Ask over the wire."""
        match request:
            case requests.InitProducerId():
                return self._init(request)
            case requests.Produce():
                return self._produce(request)
            case requests.Fetch():
                return self._fetch(request)
            case requests.ListOffsets():
                return self._list_offsets(request)
            case requests.DeleteRecords():
                return self._delete(request)
            case requests.OffsetForLeaderEpoch():
                return self._epoch_end(request)

    # -- topics --

    def _connect(self) -> None:
        try:
            self.connection.open()
        except BrokenError:
            if self.revive is None:
                raise
            self.connection = self.revive()

    def _create(self) -> None:
        version = self.connection.version(CREATE_TOPICS, *VERSIONS[CREATE_TOPICS])
        if version is None:
            return  # asking for it makes it
        topic = {"name": self._topic, "num_partitions": 1, "replication_factor": 1, "assignments": (), "configs": ()}
        answer = self.connection.call(CREATE_TOPICS, version, {"topics": (topic,), "timeout": 10_000, "validate_only": False})
        error = _error(_first(answer.topics).error_code)
        if error is not Errors.NONE:
            raise BrokenError(f"a topic cannot be made: {error}")

    def _wait_for_leader(self) -> int:
        """Return the leader epoch of the partition once it has a leader, and remember to ask no other broker."""
        last = time.monotonic() + self.connection.timeout
        while time.monotonic() < last:
            version = self._version(METADATA)
            topics = {"topics": ({"name": self._topic},), "allow_auto_topic_creation": True}
            operations = {"include_cluster_authorized_operations": False, "include_topic_authorized_operations": False}
            answer = self.connection.call(METADATA, version, {**topics, **operations})
            led = next((one for one in _first(answer.topics).partitions or () if one.partition_index == 0 and one.leader_id >= 0), None)
            if led is not None and self._serves():
                return max(int(led.leader_epoch), 0)
            time.sleep(0.02)
        raise BrokenError(f"the partition of a new topic has no leader for {self.connection.timeout:g} s")

    def _serves(self) -> bool:
        """Whether the broker knows by now that it leads; what knows no ListOffsets is taken at its word."""
        version = self.connection.version(LIST_OFFSETS, *VERSIONS[LIST_OFFSETS])
        if version is None:
            return True
        asked = {"partition_index": 0, "timestamp": TIMES[At.LATEST]}
        values = {"replica_id": -1, "isolation_level": 0, "topics": ({"name": self._topic, "partitions": (asked,)},)}
        told = _first(_first(self.connection.call(LIST_OFFSETS, version, values).topics).partitions)
        return _error(told.error_code) is Errors.NONE

    def _version(self, api: int) -> int:
        version = self.connection.version(api, *VERSIONS[api])
        if version is None:
            known = self.connection.versions.get(api)
            raise CannotAskError("it does not know this API" if known is None else f"it knows versions {known[0]} to {known[1]}")
        return version

    def _where(self, where: Where) -> tuple[str, int]:
        topic = "no-such-topic" if where is Where.OTHER_TOPIC else self._topic
        return topic, 77 if where is Where.OTHER_PARTITION else 0

    def _current(self, epoch: CurrentEpoch) -> int:
        relative = CURRENT[epoch]
        return NOTHING if relative is None else self._epoch(relative)

    def _epoch(self, relative: int) -> int:
        if self._leader_epoch + relative < 0:
            raise CannotAskError("the partition has had one leader epoch only")
        return self._leader_epoch + relative

    # -- requests --

    def _init(self, request: requests.InitProducerId) -> requests.ProducerIdGiven:
        values = {"transactional_id": None, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
        last = time.monotonic() + self.connection.timeout
        while True:
            answer = self.connection.call(INIT_PRODUCER_ID, self._version(INIT_PRODUCER_ID), values)
            error: Any = _error(answer.error_code)
            if str(error) != NOT_YET or time.monotonic() > last:
                break
            time.sleep(0.05)
        if error is not Errors.NONE:
            return requests.ProducerIdGiven(error)
        is_new = answer.producer_id >= 0 and answer.producer_id not in self._given
        self._given.add(int(answer.producer_id))
        self._ids[request.producer] = (answer.producer_id, answer.producer_epoch)
        return requests.ProducerIdGiven(error, 0 if is_new else NOTHING, int(answer.producer_epoch))

    def _produce(self, request: requests.Produce) -> requests.Answer:
        topic, partition = self._where(request.where)
        data = {"name": topic, "partition_data": ({"index": partition, "records": self._batches(request)},)}
        self._sent += request.count
        values = {"transactional_id": None, "acks": request.acks, "timeout": 5000, "topic_data": (data,)}
        version = self._version(PRODUCE)
        answer = self.connection.call(PRODUCE, version, values, is_answered=request.acks != 0)
        if answer is None:
            self._settle()
            return requests.NotAnswered()
        told = _first(_first(answer.responses).partition_responses)
        error = _error(told.error_code)
        if error is not Errors.NONE:
            return requests.Produced(error)
        return requests.Produced(error, int(told.base_offset), int(getattr(told, "log_start_offset", NOTHING)))

    def _settle(self) -> None:
        """Wait until a request that is not answered has been dealt with: a broker takes those of a connection in turn.

        One that refuses such a request closes the connection.
        """
        try:
            self._wait_for_leader()
        except BrokenError:
            self.connection.open()

    def _batches(self, request: requests.Produce) -> bytes:
        producer_id, epoch = (NOTHING, NOTHING) if request.producer is None else self._ids[request.producer]
        sequence = NOTHING if request.producer is None else request.sequence
        records = tuple(self._record(number) for number in range(request.count))
        attributes = 0x10 if request.flaw is Flaw.TRANSACTIONAL else 0
        batch = NewRecordBatch(
            producer_id=i64(producer_id),
            producer_epoch=i16(epoch if request.producer is None else epoch + request.epoch),
            base_sequence=i32(sequence),
            records=records,
            attributes=i16(attributes),
        )
        content = io.BytesIO()
        write_new_batch(content, batch)
        written = bytearray(content.getvalue())
        match request.flaw:
            case Flaw.CRC:
                written[17] ^= 0xFF
            case Flaw.BASE_OFFSET:
                written[7] = 1
            case Flaw.OLD_MAGIC:
                written[16] = 1
            case Flaw.TWO_BATCHES:
                written = written * 2
            case Flaw.NO_BATCH:
                written = bytearray()
        return bytes(written)

    def _record(self, number: int) -> Record:
        at = self._began + self._sent + number
        return Record(
            attributes=i8(0),
            timestamp=TZAwareMicros.parse(datetime.fromtimestamp(at / 1000, tz=UTC)),
            offset=i64(number),
            key=None,
            value=str(self._sent + number).encode(),
            headers=(),
        )

    def _fetch(self, request: requests.Fetch) -> requests.Fetched:
        topic, partition = self._where(request.where)
        asked = {
            "partition": partition,
            "current_leader_epoch": self._current(request.epoch),
            "fetch_offset": request.offset,
            "partition_max_bytes": MOST_BYTES,
        }
        values = {
            "replica_id": -1,
            "max_wait": 0,
            "min_bytes": 0,
            "max_bytes": MOST_BYTES,
            "isolation_level": int(request.read_committed),
            "topics": ({"topic": topic, "partitions": (asked,)},),
            "forgotten_topics_data": (),
        }
        answer = self.connection.call(FETCH, self._version(FETCH), values)
        error = _error(answer.error_code)
        if error is not Errors.NONE:
            return requests.Fetched(error)
        told = _first(_first(answer.responses).partitions)
        error = _error(told.error_code)
        if error is not Errors.NONE:
            return requests.Fetched(error)
        limits = (int(told.high_watermark), int(told.last_stable_offset), int(told.log_start_offset))
        records = tuple((offset, value) for offset, value in _records(told.records or b"") if offset >= request.offset)
        return requests.Fetched(error, *limits, records)

    def _list_offsets(self, request: requests.ListOffsets) -> requests.OffsetFound:
        topic, partition = self._where(request.where)
        at = self._began + request.time if request.at is At.TIME else TIMES[request.at]
        asked = {"partition_index": partition, "current_leader_epoch": self._current(request.epoch), "timestamp": at}
        topics = ({"name": topic, "partitions": (asked,) * (2 if request.twice else 1)},)
        values = {"replica_id": -1, "isolation_level": int(request.read_committed), "topics": topics}
        lowest = 7 if request.at is At.MAX_TIMESTAMP else VERSIONS[LIST_OFFSETS][0]
        version = self.connection.version(LIST_OFFSETS, lowest, VERSIONS[LIST_OFFSETS][1])
        if version is None:
            raise CannotAskError(f"it does not know version {lowest}")
        told = _first(_first(self.connection.call(LIST_OFFSETS, version, values).topics).partitions)
        error = _error(told.error_code)
        if error is not Errors.NONE:
            return requests.OffsetFound(error)
        timestamp = NOTHING if told.timestamp == NOTHING else int(told.timestamp) - self._began
        epoch = None if told.leader_epoch == NOTHING else int(told.leader_epoch) - self._leader_epoch
        return requests.OffsetFound(error, int(told.offset), timestamp, epoch)

    def _delete(self, request: requests.DeleteRecords) -> requests.Deleted:
        topic, partition = self._where(request.where)
        asked = {"name": topic, "partitions": ({"partition_index": partition, "offset": request.offset},)}
        answer = self.connection.call(DELETE_RECORDS, self._version(DELETE_RECORDS), {"topics": (asked,), "timeout": 5000})
        told = _first(_first(answer.topics).partitions)
        error = _error(told.error_code)
        return requests.Deleted(error, int(told.low_watermark) if error is Errors.NONE else NOTHING)

    def _epoch_end(self, request: requests.OffsetForLeaderEpoch) -> requests.EpochEnd:
        topic, partition = self._where(request.where)
        wanted = NOTHING if request.leader_epoch is None else self._epoch(request.leader_epoch)
        asked = {"partition": partition, "current_leader_epoch": self._current(request.epoch), "leader_epoch": wanted}
        values = {"replica_id": -1, "topics": ({"topic": topic, "partitions": (asked,)},)}
        told = _first(_first(self.connection.call(EPOCH_END, self._version(EPOCH_END), values).topics).partitions)
        error = _error(told.error_code)
        if error is not Errors.NONE:
            return requests.EpochEnd(error)
        epoch = None if told.leader_epoch == NOTHING else int(told.leader_epoch) - self._leader_epoch
        return requests.EpochEnd(error, epoch, int(told.end_offset))


def _first(told: Any) -> Any:
    """Return what an answer says of the topic or partition that was asked about."""
    if not told:
        raise BrokenError("an answer leaves out what was asked about")
    return told[0]


def _error(code: Any) -> Any:
    """Return an error as the model knows it, or its name."""
    name = str(getattr(code, "name", code)).upper()
    return Errors[name] if name in Errors.__members__ else OtherError(name)


def _records(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the offsets and values of records; a value that no program sent is -1."""
    at = 0
    while at < len(content):
        try:
            batch, size = read_batch(content, at)
        except Exception as error:  # noqa: BLE001 - whatever a reader says of bytes that are no batch
            raise BrokenError(f"records cannot be read: {type(error).__name__}") from None
        at += size
        for record in batch.records:
            text = (record.value or b"").decode(errors="replace")
            yield int(record.offset), int(text) if NUMBER.fullmatch(text) else NOTHING
