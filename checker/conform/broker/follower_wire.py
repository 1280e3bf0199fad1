# SPDX-License-Identifier: Apache-2.0
"""Who is asked: the leader of a partition, or another replica, once that has all that is committed and knows it."""

from __future__ import annotations

from typing import Any

from hwmark.model.broker_api.common import NOTHING

from .asking import BrokenError, CannotAskError
from .leading import until
from .session import CLIENT, FETCH, Session, error_of, first_of
from .wire import Connection

MOST_BYTES = 1 << 20
SINCE_RACKS = (11, 11)
"""The first version of Fetch that followers answer (KIP-392)."""


def asked(session: Session, request: Any) -> Connection:
    """Return a connection to whom a request goes; raises ``CannotAskError`` where it goes to a follower and there is none."""
    if not request.of_follower:
        return session.connection
    follower = next((one for one in session.led.replicas if one != session.led.leader), None)
    if follower is None:
        raise CannotAskError("the partition has one replica, which leads it")
    if follower not in session.led.brokers:
        raise BrokenError(f"Metadata does not say where broker {follower} listens")
    connection = session.to(session.led.brokers[follower])
    if session.followers_serve:
        _wait_for(session, connection)
    return connection


def _wait_for(session: Session, follower: Connection) -> None:
    """Wait until a follower answers a fetch as the leader does; one that never does is not waited for again."""
    _, end = session.end(CLIENT)
    limits = limits_of(session, session.connection, end)
    try:
        until(session.connection.timeout, lambda: limits_of(session, follower, end) == limits, "a follower lags behind")
    except BrokenError:
        session.followers_serve = False


def limits_of(session: Session, connection: Connection, offset: int) -> tuple[Any, int, int, int]:
    """Return what a replica says in the present leader epoch: error, high watermark, last stable offset, start of the log."""
    values = fetching(session.topic, 0, offset, session.epoch(0))
    answer = connection.call(FETCH, session.version(FETCH, *SINCE_RACKS), values)
    told = first_of(first_of(answer.responses).partitions)
    return error_of(told.error_code), int(told.high_watermark), int(told.last_stable_offset), int(told.log_start_offset)


def fetching(topic: str, partition: int, offset: int, leader_epoch: int = NOTHING, *, read_committed: bool = False) -> dict[str, Any]:
    """Return the fields of a fetch of all records of a partition from an offset on."""
    wanted = {"partition": partition, "current_leader_epoch": leader_epoch, "fetch_offset": offset, "partition_max_bytes": MOST_BYTES}
    return {
        "replica_id": CLIENT,
        "max_wait": 0,
        "min_bytes": 0,
        "max_bytes": MOST_BYTES,
        "isolation_level": int(read_committed),
        "topics": ({"topic": topic, "partitions": (wanted,)},),
        "forgotten_topics_data": (),
    }
