# SPDX-License-Identifier: Apache-2.0
"""What the programs that are played over one connection share, and what they begin with: a new topic."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, field

from hwmark.model.broker_api.common import NOTHING, Errors, Where
from hwmark.model.broker_api.partition.requests import CurrentEpoch

from .asking import BrokenError, CannotAskError, error_named
from .wire import Connection

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
CURRENT = {CurrentEpoch.UNSAID: None, CurrentEpoch.RIGHT: 0, CurrentEpoch.OLDER: -1, CurrentEpoch.NEWER: 5}
LATEST = -1
"""What ListOffsets calls the end of a partition."""


@define
class Session:
    """A connection, and what one program after the other does over it; ``began`` in milliseconds since 1970.

    Topics are made by ``CreateTopics``, or, where that is not known, by asking for them.
    """

    connection: Connection
    prefix: str = "hwmark"
    revive: Callable[[], Connection] | None = None
    """Starts the broker anew where it has died."""
    topic: str = ""
    leader_epoch: int = 0
    began: int = 0
    sent: int = 0
    ids: dict[str, tuple[int, int]] = field(factory=dict)
    given: set[int] = field(factory=set)
    """The producer ids that the program has been given."""
    _numbers: Iterator[int] = field(factory=itertools.count)

    def begin(self) -> None:
        """Make a topic with one partition, under a name that was never used."""
        self._connect()
        self.topic, self.sent, self.ids, self.given = f"{self.prefix}-{next(self._numbers)}", 0, {}, set()
        self.began = int(time.time() * 1000) - 100_000
        self._create()
        try:
            self.leader_epoch = self.wait_for_leader()
        except CannotAskError as error:
            raise BrokenError(f"Metadata cannot be asked for: {error}") from None

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
        topic = {"name": self.topic, "num_partitions": 1, "replication_factor": 1, "assignments": (), "configs": ()}
        answer = self.connection.call(CREATE_TOPICS, version, {"topics": (topic,), "timeout": 10_000, "validate_only": False})
        error = error_of(first_of(answer.topics).error_code)
        if error is not Errors.NONE:
            raise BrokenError(f"a topic cannot be made: {error}")

    def wait_for_leader(self) -> int:
        """Return the leader epoch of the partition once it has a leader, and remember to ask no other broker."""
        last = time.monotonic() + self.connection.timeout
        while time.monotonic() < last:
            topics = {"topics": ({"name": self.topic},), "allow_auto_topic_creation": True}
            operations = {"include_cluster_authorized_operations": False, "include_topic_authorized_operations": False}
            answer = self.call(METADATA, {**topics, **operations})
            led = next((one for one in first_of(answer.topics).partitions or () if one.partition_index == 0 and one.leader_id >= 0), None)
            if led is not None and self._serves():
                return max(int(led.leader_epoch), 0)
            time.sleep(0.02)
        raise BrokenError(f"the partition of a new topic has no leader for {self.connection.timeout:g} s")

    def _serves(self) -> bool:
        """Whether the broker knows by now that it leads; what knows no ListOffsets is taken at its word."""
        version = self.connection.version(LIST_OFFSETS, *VERSIONS[LIST_OFFSETS])
        if version is None:
            return True
        asked = {"partition_index": 0, "timestamp": LATEST}
        values = {"replica_id": -1, "isolation_level": 0, "topics": ({"name": self.topic, "partitions": (asked,)},)}
        told = first_of(first_of(self.connection.call(LIST_OFFSETS, version, values).topics).partitions)
        return error_of(told.error_code) is Errors.NONE

    def call(self, api: int, values: dict[str, Any]) -> Any:
        """Ask in the highest version that both know."""
        return self.connection.call(api, self.version(api), values)

    def version(self, api: int) -> int:
        """Return that version; raises ``CannotAskError`` where there is none."""
        version = self.connection.version(api, *VERSIONS[api])
        if version is None:
            known = self.connection.versions.get(api)
            raise CannotAskError("it does not know this API" if known is None else f"it knows versions {known[0]} to {known[1]}")
        return version

    def place(self, where: Where) -> tuple[str, int]:
        """Return the topic and the partition that are meant."""
        topic = "no-such-topic" if where is Where.OTHER_TOPIC else self.topic
        return topic, 77 if where is Where.OTHER_PARTITION else 0

    def current(self, epoch: CurrentEpoch) -> int:
        """Return what a request says of the leader epoch."""
        relative = CURRENT[epoch]
        return NOTHING if relative is None else self.epoch(relative)

    def epoch(self, relative: int) -> int:
        """Return a leader epoch, given how far it is from the present one."""
        if self.leader_epoch + relative < 0:
            raise CannotAskError("the partition has had one leader epoch only")
        return self.leader_epoch + relative

    def settle(self) -> None:
        """Wait until a request that is not answered has been dealt with: a broker takes those of a connection in turn.

        One that refuses such a request closes the connection.
        """
        try:
            self.wait_for_leader()
        except BrokenError:
            self.connection.open()


def first_of(told: Any) -> Any:
    """Return what an answer says of the topic or partition that was asked about."""
    if not told:
        raise BrokenError("an answer leaves out what was asked about")
    return told[0]


def error_of(code: Any) -> Any:
    """Return an error as the model knows it, or its name."""
    return error_named(str(getattr(code, "name", code)).upper())
