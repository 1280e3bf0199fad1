# SPDX-License-Identifier: Apache-2.0
"""What the programs that are played over one connection share, and what they begin with: a new topic."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from attrs import Factory, define, field

from hwmark.model.broker_api.common import NOTHING, Errors, Where
from hwmark.model.broker_api.partition.requests import CurrentEpoch

from .asking import BrokenError, CannotAskError, error_named
from .group_session import GroupSession
from .leading import Leadership, epoch_of, leadership, until
from .producer_ids import ProducerIds
from .wire import Connection

PRODUCE, FETCH, LIST_OFFSETS, METADATA, FIND_COORDINATOR, CREATE_TOPICS, DELETE_RECORDS = 0, 1, 2, 3, 10, 19, 21
INIT_PRODUCER_ID, EPOCH_END, ADD_PARTITIONS_TO_TXN, ADD_OFFSETS_TO_TXN, END_TXN, DESCRIBE_TRANSACTIONS = 22, 23, 24, 25, 26, 65
ELECT_LEADERS, ALTER_PARTITION_REASSIGNMENTS = 43, 45
VERSIONS = {
    PRODUCE: (3, 9),
    FETCH: (9, 11),
    LIST_OFFSETS: (4, 7),
    METADATA: (7, 9),
    FIND_COORDINATOR: (1, 3),
    CREATE_TOPICS: (2, 5),
    DELETE_RECORDS: (0, 2),
    INIT_PRODUCER_ID: (0, 4),
    EPOCH_END: (2, 4),
    ADD_PARTITIONS_TO_TXN: (0, 3),
    ADD_OFFSETS_TO_TXN: (0, 4),
    END_TXN: (0, 4),
    ELECT_LEADERS: (1, 2),
    ALTER_PARTITION_REASSIGNMENTS: (0, 1),
    DESCRIBE_TRANSACTIONS: (0, 0),
}
"""The versions that are spoken, lowest and highest, by API: those that know topics by name."""
CURRENT = {CurrentEpoch.UNSAID: None, CurrentEpoch.RIGHT: 0, CurrentEpoch.OLDER: -1, CurrentEpoch.NEWER: 5}
OF_TRANSACTIONS = 1
"""The kind of coordinator that FindCoordinator is asked for."""
NOT_YET = frozenset({"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"})
"""What a broker says that is not ready: it is asked again."""
WAIT = 0.02
"""Seconds until it is."""
LATEST = -1
"""What ListOffsets calls the end of a partition."""
CLIENT, DEBUGGER = -1, -2
"""The replicas who ask for that end and are told the high watermark, and the end of the log."""
MOST_REPLICAS = 3
MOST_PROGRAMS = 300
"""After so many a broker of ours is started anew: what hangs once there are a thousand topics no program of a few requests can show."""
NOBODY = Leadership(NOTHING, NOTHING, (), {})


@define
class Session:
    """Connections to brokers, and what one program after the other does over them; ``began`` in milliseconds since 1970.

    Topics are made by ``CreateTopics``, or, where that is not known, by asking for them; with a replica on each of up to three brokers.
    """

    home: Connection
    """To the broker whose address was given."""
    prefix: str = "hwmark"
    revive: Callable[[], Connection] | None = None
    """Starts the broker anew where it has died."""
    move: Callable[[str, int], None] | None = None
    """Makes a broker lead the partition of a topic, where Kafka's requests for it are not known."""
    connection: Connection = field(init=False, default=Factory(lambda self: self.home, takes_self=True))
    """To the leader."""
    topic: str = ""
    led: Leadership = NOBODY
    followers_serve: bool = True
    """Whether fetches of followers are answered, as far as is known."""
    epochs: list[int] = field(factory=list)
    """The leader epoch of each leader that the partition has had."""
    began: int = 0
    sent: int = 0
    ids: ProducerIds = field(factory=ProducerIds)
    groups: GroupSession = field(factory=GroupSession)
    _others: dict[tuple[str, int], Connection] = field(factory=dict)
    """Connections to other brokers."""
    _coordinators: dict[str, Connection] = field(factory=dict)
    """Connections to the coordinators of producers' transactions."""
    _numbers: Iterator[int] = field(factory=itertools.count)
    _programs: int = 0
    """How many have begun since the broker was started."""

    def begin(self) -> None:
        """Make a topic with one partition, under a name that was never used.

        A broker of ours that cannot do so any more is started anew, and so is one that has done so often.
        """
        self._programs += 1
        try:
            if self.revive is not None and self._programs > MOST_PROGRAMS:
                self._start(self.revive)
            self._begin()
        except BrokenError:
            if self.revive is None:
                raise
            self._start(self.revive)
            self._begin()

    def _start(self, broker: Callable[[], Connection]) -> None:
        """Start the broker anew."""
        self.close()
        self.home, self._programs = broker(), 1

    def _begin(self) -> None:
        self.close()
        self.home.open()
        self.connection = self.home
        self.topic, self.sent, self.ids = f"{self.prefix}-{next(self._numbers)}", 0, ProducerIds()
        self.began = int(time.time() * 1000) - 100_000
        self.led, self.epochs = NOBODY, []
        self._coordinators.clear()
        self.groups.begin(self.topic)
        try:
            self._create()
            self.find_leader()
        except CannotAskError as error:
            raise BrokenError(f"Metadata cannot be asked for: {error}") from None

    # -- topics --

    def close(self) -> None:
        """Close all connections."""
        self.groups.close()
        self.home.close()
        while self._others:
            self._others.popitem()[1].close()

    def _create(self) -> None:
        version = self.connection.version(CREATE_TOPICS, *VERSIONS[CREATE_TOPICS])
        if version is None:
            return  # asking for it makes it
        replicas = max(1, min(len(self._metadata(()).brokers), MOST_REPLICAS))
        topic = {"name": self.topic, "num_partitions": 1, "replication_factor": replicas, "assignments": (), "configs": ()}
        answer = self.connection.call(CREATE_TOPICS, version, {"topics": (topic,), "timeout": 10_000, "validate_only": False})
        error = error_of(first_of(answer.topics).error_code)
        if error is not Errors.NONE:
            raise BrokenError(f"a topic cannot be made: {error}")

    def _is_known_to(self, broker: Connection) -> bool:
        answer = self._metadata((self.topic,), broker)
        return leadership(first_of(answer.topics), answer.brokers) is not None

    def _metadata(self, topics: tuple[str, ...], broker: Connection | None = None) -> Any:
        """Ask for topics and brokers: the leader, or another broker."""
        named = {"topics": tuple({"name": topic} for topic in topics), "allow_auto_topic_creation": True}
        operations = {"include_cluster_authorized_operations": False, "include_topic_authorized_operations": False}
        return (broker or self.connection).call(METADATA, self.version(METADATA), {**named, **operations})

    # -- the leader --

    def find_leader(self, but: int = NOTHING) -> None:
        """Connect to the leader of the partition once there is one, other than that one, that has begun to lead."""
        failure = f"the partition of a new topic has no {'leader' if but == NOTHING else 'other leader'}"
        until(self.connection.timeout, lambda: self._leads(but), failure)
        if not self.epochs or self.led.leader_epoch > self.epochs[-1]:
            self.epochs.append(self.led.leader_epoch)

    def catch_up(self) -> None:
        """Wait until the high watermark is the end of the log: with several replicas it follows later."""
        if len(self.led.replicas) > 1:
            until(self.connection.timeout, self._has_caught_up, "the high watermark lags behind")

    def _leads(self, but: int) -> bool:
        """Whether somebody else leads the partition by now, who is asked from then on."""
        answer = self._metadata((self.topic,))
        told = leadership(first_of(answer.topics), answer.brokers)
        if told is None or told.leader == but:
            return False
        if len(told.brokers) > 1:  # a single one is asked where it was found
            if told.leader not in told.brokers:
                raise BrokenError(f"Metadata does not say where broker {told.leader} listens")
            self.connection = self.to(told.brokers[told.leader])
        self.led = told
        return self._has_caught_up()

    def to(self, at: tuple[str, int]) -> Connection:
        """Return a connection to the broker that listens at a host and a port."""
        if at == (self.connection.host, self.connection.port):
            return self.connection
        if at not in self._others:
            other = Connection(*at, self.connection.timeout)
            other.open()
            self._others[at] = other
        return self._others[at]

    def _has_caught_up(self) -> bool:
        """Whether the broker leads by now, and all that is in its log is committed; what it does not tell is taken for granted."""
        if self.connection.version(LIST_OFFSETS, *VERSIONS[LIST_OFFSETS]) is None:
            return True
        error, committed = self.end(CLIENT)
        if error is not Errors.NONE or len(self.led.replicas) == 1:
            return error is Errors.NONE
        error, end = self.end(DEBUGGER)
        return error is not Errors.NONE or committed == end

    def end(self, replica: int) -> tuple[Any, int]:
        """Return what the leader tells somebody of the end of the partition, and the error that it has instead."""
        asked = {"partition_index": 0, "timestamp": LATEST}
        values = {"replica_id": replica, "isolation_level": 0, "topics": ({"name": self.topic, "partitions": (asked,)},)}
        told = first_of(first_of(self.call(LIST_OFFSETS, values).topics).partitions)
        return error_of(told.error_code), int(told.offset)

    # -- requests --

    def call(self, api: int, values: dict[str, Any]) -> Any:
        """Ask in the highest version that both know."""
        return self.connection.call(api, self.version(api), values)

    def version(self, api: int, lowest: int | None = None, highest: int | None = None) -> int:
        """Return that version, from these; raises ``CannotAskError`` where there is none."""
        spoken = VERSIONS[api]
        version = self.connection.version(api, spoken[0] if lowest is None else lowest, spoken[1] if highest is None else highest)
        if version is None:
            known = self.connection.versions.get(api)
            raise CannotAskError("it does not know this API" if known is None else f"it knows versions {known[0]} to {known[1]}")
        return version

    def transactional_id(self, producer: str) -> str:
        """Return the transactional id of a producer, which no other program has used."""
        return f"{self.topic}-{producer}"

    def coordinator(self, producer: str) -> Connection:
        """Return a connection to the coordinator of a producer's transactions, once it is one, and has heard of the topic."""
        if producer not in self._coordinators:
            found = self._found(producer)
            until(self.connection.timeout, lambda: self._coordinates(found, producer), "a producer's coordinator does not become one")
            self._coordinators[producer] = found
        return self._coordinators[producer]

    def _coordinates(self, broker: Connection, producer: str) -> bool:
        """Whether a broker has loaded what there is of a producer's transactions; what it does not tell is taken for granted."""
        version = broker.version(DESCRIBE_TRANSACTIONS, *VERSIONS[DESCRIBE_TRANSACTIONS])
        if version is None:
            return True
        answer = broker.call(DESCRIBE_TRANSACTIONS, version, {"transactional_ids": (self.transactional_id(producer),)})
        return str(error_of(first_of(answer.transaction_states).error_code)) not in NOT_YET

    def _found(self, producer: str) -> Connection:
        version = self.connection.version(FIND_COORDINATOR, *VERSIONS[FIND_COORDINATOR])
        if version is None:
            return self.connection
        values = {"key": self.transactional_id(producer), "key_type": OF_TRANSACTIONS}
        answer = once_ready(self, lambda: self.connection.call(FIND_COORDINATOR, version, values))
        error = error_of(answer.error_code)
        if error is not Errors.NONE:
            raise BrokenError(f"a producer's coordinator cannot be found: {error}")
        coordinator = self.to((str(answer.host), int(answer.port)))
        if coordinator is not self.connection:
            until(self.connection.timeout, lambda: self._is_known_to(coordinator), "a producer's coordinator does not hear of the topic")
        return coordinator

    def place(self, where: Where) -> tuple[str, int]:
        """Return the topic and the partition that are meant."""
        topic = "no-such-topic" if where is Where.OTHER_TOPIC else self.topic
        return topic, 77 if where is Where.OTHER_PARTITION else 0

    def current(self, epoch: CurrentEpoch) -> int:
        """Return what a request says of the leader epoch."""
        relative = CURRENT[epoch]
        return NOTHING if relative is None else self.epoch(relative)

    def epoch(self, relative: int) -> int:
        """Return a leader epoch, given how many leaders it is from the present one."""
        return epoch_of(self.epochs, relative)

    def settle(self) -> None:
        """Wait until a request that is not answered has been dealt with: a broker takes those of a connection in turn.

        One that refuses such a request closes the connection.
        """
        try:
            self._metadata((self.topic,))
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


def once_ready(session: Session, ask: Callable[[], Any]) -> Any:
    """Ask, and ask again while the broker is not ready; return the last answer."""
    last = time.monotonic() + session.connection.timeout
    while True:
        answer = ask()
        if str(error_of(answer.error_code)) not in NOT_YET or time.monotonic() > last:
            return answer
        time.sleep(WAIT)
