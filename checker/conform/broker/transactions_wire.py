# SPDX-License-Identifier: Apache-2.0
"""What is asked of a transaction coordinator, over the wire, and the answers in the model's words.

A coordinator answers before all partitions have been told, and refuses what comes meanwhile. Here the end of a transaction is waited
for, by DescribeTransactions where that is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.partition.requests import ProducerIdGiven
from hwmark.model.broker_api.transactions.requests import (
    Added,
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    Ended,
    EndTxn,
    Identity,
    InitTransactions,
    Oddity,
)

from .asking import BrokenError
from .producer_ids import NOBODYS
from .session import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    DESCRIBE_TRANSACTIONS,
    END_TXN,
    INIT_PRODUCER_ID,
    VERSIONS,
    WAIT,
    Session,
    error_of,
    first_of,
    once_ready,
)

TIMEOUT = 60_000
"""Milliseconds that a transaction may last."""
TOO_LONG = 2**31 - 1
BUMPING = (5, 5)
"""The version of EndTxn that gives a new epoch."""
FENCING = (4, 4)
"""The version of InitProducerId that says that a producer is fenced."""
FENCED_SINCE = 2
"""The first version of AddPartitionsToTxn, AddOffsetsToTxn and EndTxn that says so."""
APART = 0.002
"""Seconds between the ends of two transactions, so that their times differ."""


def init(session: Session, request: InitTransactions) -> ProducerIdGiven:
    """Ask for the producer id of a transactional id; where a transaction is aborted for it, wait until it is."""
    number, epoch = said(session, request.producer, request.identity, request.epoch or 0)
    if request.oddity is Oddity.HALF_AN_IDENTITY:
        epoch = NOTHING
    elif request.epoch is None:
        number, epoch = NOTHING, NOTHING
    values = {
        "transactional_id": named(session, request.producer, request.identity),
        "transaction_timeout": TOO_LONG if request.oddity is Oddity.TIMEOUT else TIMEOUT,
        "producer_id": number,
        "producer_epoch": epoch,
    }
    version, coordinator = session.version(INIT_PRODUCER_ID, *FENCING), session.coordinator(request.producer)
    answer = once_ready(session, lambda: coordinator.call(INIT_PRODUCER_ID, version, values))
    error = error_of(answer.error_code)
    if error is Errors.CONCURRENT_TRANSACTIONS:
        wait_for_end(session, request.producer)
    if error is not Errors.NONE:
        return ProducerIdGiven(error)
    given = int(answer.producer_epoch)
    return ProducerIdGiven(error, session.ids.kept(request.producer, int(answer.producer_id), given), given)


def add_partition(session: Session, request: AddPartitionsToTxn) -> Added:
    """Make the partition part of a transaction."""
    number, epoch = said(session, request.producer, request.identity, request.epoch)
    topic, partition = session.place(request.where)
    values = {
        "v3_and_below_transactional_id": named(session, request.producer, request.identity),
        "v3_and_below_producer_id": number,
        "v3_and_below_producer_epoch": epoch,
        "v3_and_below_topics": ({"name": topic, "partitions": (partition,)},),
    }
    version = session.version(ADD_PARTITIONS_TO_TXN)
    answer = session.coordinator(request.producer).call(ADD_PARTITIONS_TO_TXN, version, values)
    told = first_of(first_of(answer.results_by_topic_v3_and_below).results_by_partition)
    return Added(meant(told.partition_error_code, version))


def add_offsets(session: Session, request: AddOffsetsToTxn) -> Added:
    """Make the offsets of the group part of a transaction, once the group has a coordinator."""
    number, epoch = said(session, request.producer, request.identity, request.epoch)
    session.groups.at(session.home)
    values = {
        "transactional_id": named(session, request.producer, request.identity),
        "producer_id": number,
        "producer_epoch": epoch,
        "group_id": session.groups.name,
    }
    version = session.version(ADD_OFFSETS_TO_TXN)
    return Added(meant(session.coordinator(request.producer).call(ADD_OFFSETS_TO_TXN, version, values).error_code, version))


def end(session: Session, request: EndTxn) -> Ended:
    """End a transaction, and wait until it has ended."""
    number, epoch = said(session, request.producer, request.identity, request.epoch)
    values = {
        "transactional_id": named(session, request.producer, request.identity),
        "producer_id": number,
        "producer_epoch": epoch,
        "committed": request.commit,
    }
    version = session.version(END_TXN, *(BUMPING if request.bumps else VERSIONS[END_TXN]))
    answer = session.coordinator(request.producer).call(END_TXN, version, values)
    error = meant(answer.error_code, version)
    if error is not Errors.NONE:
        return Ended(error)
    wait_for_end(session, request.producer)
    if not request.bumps:
        return Ended(error)
    given = int(answer.producer_epoch)
    return Ended(error, session.ids.kept(request.producer, int(answer.producer_id), given), given)


def said(session: Session, producer: str, identity: Identity, epoch: int) -> tuple[int, int]:
    """Return the producer id and the epoch that a producer says it has."""
    number, given = session.ids.of(producer)
    return (number + NOBODYS if identity is Identity.OTHER_PRODUCER_ID else number), given + epoch


def named(session: Session, producer: str, identity: Identity) -> str:
    """Return the transactional id that a producer says it has."""
    return "" if identity is Identity.NO_NAME else session.transactional_id(producer)


def meant(code: Any, version: int) -> Any:
    """Return an error of a coordinator: before version 2 it has another word for a producer that is fenced."""
    error = error_of(code)
    return Errors.PRODUCER_FENCED if error is Errors.INVALID_PRODUCER_EPOCH and version < FENCED_SINCE else error


def wait_for_end(session: Session, producer: str) -> None:
    """Wait until a transaction that is to end has ended everywhere."""
    time.sleep(APART)
    version = session.connection.version(DESCRIBE_TRANSACTIONS, *VERSIONS[DESCRIBE_TRANSACTIONS])
    if version is None:
        return
    coordinator, last = session.coordinator(producer), time.monotonic() + session.connection.timeout
    while time.monotonic() < last:
        answer = coordinator.call(DESCRIBE_TRANSACTIONS, version, {"transactional_ids": (session.transactional_id(producer),)})
        if not first_of(answer.transaction_states).transaction_state.startswith("Prepare"):
            return
        time.sleep(WAIT)
    raise BrokenError(f"a transaction does not end for {session.connection.timeout:g} s")


ASKS: Mapping[type[Any], Callable[[Session, Any], Any]] = {
    InitTransactions: init,
    AddPartitionsToTxn: add_partition,
    AddOffsetsToTxn: add_offsets,
    EndTxn: end,
}
"""How each request is asked."""
