# SPDX-License-Identifier: Apache-2.0
"""The connections over which a program asks about its group: one to the coordinator, and one of each member that joins.

A member that waits for an answer can ask nothing else over its connection, and neither can Kafka's clients.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

from attrs import define, field

from .asking import BrokenError, CannotAskError
from .identities import Identities
from .wire import Connection

FIND_COORDINATOR, OFFSET_FETCH, METADATA = 10, 9, 3
NOT_YET = ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR")
"""What a broker says that has to make the topic of committed offsets first."""
MOMENT = 0.1
"""Seconds after which a request that must wait is taken to wait: what can be answered is, in much less."""


@define
class GroupSession:
    """The group of a program; ``outstanding`` has the API and version of what members wait for, and what their JoinGroup said."""

    topic: str = ""
    name: str = ""
    ids: Identities = field(factory=Identities)
    topic_id: uuid.UUID | None = None
    knows_topic: bool = False
    """Whether the coordinator is known to know of the topic."""
    assigns: bool = True
    """Whether members of the consumer protocol are given partitions, as far as is known."""
    coordinator: Connection | None = None
    members: dict[str, Connection] = field(factory=dict)
    outstanding: dict[str, tuple[int, int, Any]] = field(factory=dict)

    def begin(self, topic: str) -> None:
        """Begin with a group that there is not, for a new topic."""
        self.close()
        self.topic, self.name = topic, f"{topic}-group"
        self.ids, self.topic_id, self.knows_topic = Identities(), None, False

    def close(self) -> None:
        """Close all connections."""
        for connection in (*self.members.values(), *((self.coordinator,) if self.coordinator is not None else ())):
            connection.close()
        self.members.clear()
        self.outstanding.clear()
        self.coordinator = None

    def at(self, bootstrap: Connection) -> Connection:
        """Return a connection to the coordinator, once it is one."""
        if self.coordinator is None:
            host, port = self._found(bootstrap)
            self.coordinator = _opened(host, port, bootstrap)
            self._wait(self.coordinator)
            self._wait_for_topic(self.coordinator)
        return self.coordinator

    def of(self, member: str, bootstrap: Connection) -> Connection:
        """Return a member's own connection to the coordinator."""
        coordinator = self.at(bootstrap)
        if member not in self.members:
            self.members[member] = _opened(coordinator.host, coordinator.port, coordinator)
        return self.members[member]

    def _found(self, bootstrap: Connection) -> tuple[str, int]:
        """Return where the coordinator listens; a broker that finds none is taken for it."""
        version = bootstrap.version(FIND_COORDINATOR, 1, 3)
        last = time.monotonic() + bootstrap.timeout
        while version is not None:
            answer = bootstrap.call(FIND_COORDINATOR, version, {"key": self.name, "key_type": 0})
            error = answer.error_code.name.upper()
            if error == "NONE":
                return str(answer.host), int(answer.port)
            if error not in NOT_YET or time.monotonic() > last:
                raise BrokenError(f"the group has no coordinator: {error}")
            time.sleep(0.05)
        return bootstrap.host, bootstrap.port

    def _wait(self, coordinator: Connection) -> None:
        """Wait until the coordinator has loaded what was committed."""
        version = coordinator.version(OFFSET_FETCH, 2, 7)
        last = time.monotonic() + coordinator.timeout
        while version is not None and time.monotonic() < last:
            answer = coordinator.call(OFFSET_FETCH, version, {"group_id": self.name, "topics": (), "require_stable": False})
            if answer.error_code.name.upper() not in NOT_YET:
                return
            time.sleep(0.05)

    def _wait_for_topic(self, coordinator: Connection) -> None:
        """Wait until the coordinator, which may be another broker than the topic's leader, has heard of the topic."""
        version = coordinator.version(METADATA, 4, 9)
        last = time.monotonic() + coordinator.timeout
        values = {"topics": ({"name": self.topic},), "allow_auto_topic_creation": False}
        said = {"include_cluster_authorized_operations": False, "include_topic_authorized_operations": False}
        while version is not None and time.monotonic() < last:
            told = coordinator.call(METADATA, version, {**values, **said}).topics
            if told and told[0].error_code.name.upper() == "NONE" and told[0].partitions:
                return
            time.sleep(0.02)

    def id_of_topic(self, bootstrap: Connection) -> uuid.UUID:
        """Return the id of the program's topic."""
        if self.topic_id is not None:
            return self.topic_id
        version = bootstrap.version(METADATA, 10, 12)
        if version is None:
            raise CannotAskError("it does not tell ids of topics")
        values = {"topics": ({"topic_id": None, "name": self.topic},), "allow_auto_topic_creation": False}
        said = {"include_cluster_authorized_operations": False, "include_topic_authorized_operations": False}
        told = bootstrap.call(METADATA, version, {**values, **said}).topics
        known: uuid.UUID | None = told[0].topic_id if told else None
        if known is None:
            raise CannotAskError("it does not tell ids of topics")
        self.topic_id = known
        return known


def version_of(connection: Connection, api: int, lowest: int, highest: int) -> int:
    """Return the highest version that both know; raises ``CannotAskError`` where there is none."""
    if api in connection.unasked:
        raise CannotAskError(connection.unasked[api])
    version = connection.version(api, lowest, highest)
    if version is None:
        known = connection.versions.get(api)
        raise CannotAskError("it does not know this API" if known is None else f"it knows versions {known[0]} to {known[1]}")
    return version


def _opened(host: str, port: int, like: Connection) -> Connection:
    connection = Connection(host, port, like.timeout, most=like.most, unasked=like.unasked)
    connection.open()
    return connection
