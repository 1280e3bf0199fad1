# SPDX-License-Identifier: Apache-2.0
"""How the partition of a program gets a new leader: another replica is made the preferred one, and elected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.partition.requests import Led, NewLeader

from .asking import BrokenError, CannotAskError
from .leading import until
from .session import ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, Session, error_of, first_of

PREFERRED = 0
"""The election that makes the first replica the leader."""
DONE = (Errors.NONE, "ELECTION_NOT_NEEDED")
TIMEOUT = 10_000


def new_leader(session: Session, _request: NewLeader) -> Led:
    """Let the replica after the leader lead, which then is the one that is asked."""
    leader, replicas, before = session.led.leader, session.led.replicas, session.epochs[-1]
    if len(replicas) < 2 or leader not in replicas:
        raise CannotAskError("the partition has one replica, so that nobody else can lead it")
    at = replicas.index(leader) + 1
    order = (*replicas[at:], *replicas[:at])
    if session.move is not None:
        session.move(session.topic, order[0])
    else:
        reorder(session, order)
        elect(session)
    session.find_leader(but=leader)
    return Led(Errors.NONE, session.epochs[-1] > before)


def reorder(session: Session, replicas: tuple[int, ...]) -> None:
    """Put the replicas in another order (KIP-455): no data has to be moved, so it is done at once."""
    partition = {"partition_index": 0, "replicas": replicas}
    topic = {"name": session.topic, "partitions": (partition,)}
    answer = session.call(ALTER_PARTITION_REASSIGNMENTS, {"timeout": TIMEOUT, "topics": (topic,)})
    error = error_of(answer.error_code)
    if error is Errors.NONE:
        error = error_of(first_of(first_of(answer.responses).partitions).error_code)
    if error is not Errors.NONE:
        raise CannotAskError(f"the replicas cannot be put in another order: {error}")


def elect(session: Session) -> None:
    """Elect the first replica (KIP-460), as soon as it is in sync."""
    try:
        until(session.connection.timeout, lambda: _elected(session), "the first replica cannot be elected")
    except BrokenError as error:
        raise CannotAskError(str(error)) from None


def _elected(session: Session) -> bool:
    topic = {"topic": session.topic, "partitions": (0,)}
    answer = session.call(ELECT_LEADERS, {"election_type": PREFERRED, "topic_partitions": (topic,), "timeout": TIMEOUT})
    error = error_of(answer.error_code)
    if error is Errors.NONE:
        error = error_of(first_of(first_of(answer.replica_election_results).partition_result).error_code)
    return error in DONE


ASKS: Mapping[type[Any], Callable[[Session, Any], Any]] = {NewLeader: new_leader}
"""How each request is asked."""
