# SPDX-License-Identifier: Apache-2.0
"""Producers of a broker, what they have under way, and what they were told."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeVar

from attrs import field, frozen, validators

from hwmark.model.machine import Identity, IndexedBy

from .common import NOTHING
from .state import State as Broker

T = TypeVar("T")

InstanceId = Annotated[int, Identity("instance")]
PerInstance = Annotated[tuple[T, ...], IndexedBy("instance")]
PerBatch = Annotated[tuple[T, ...], IndexedBy("batch")]
PerTransaction = Annotated[tuple[T, ...], IndexedBy("transaction")]
NOBODY: InstanceId = -1


class Arrival(Enum):
    """How something that is under way arrives."""

    ANSWERED = "answered"
    """Its producer hears the answer."""
    ANSWER_LOST = "answer_lost"
    """Its producer hears nothing, and it comes again."""
    COPY_STAYS = "copy_stays"
    """Its producer hears the answer, and an earlier copy may come later."""


class End(Enum):
    """How a producer wants its transaction to end."""

    COMMIT = "commit"
    ABORT = "abort"


@frozen(cache_hash=True)
class Client:
    """One instance of a producer: by which epoch it goes (``NOTHING``: it was given none), and what its next batch is.

    ``transaction``: the number of the one that it is in. ``failed``: a batch was refused, or it was fenced; what comes now is an end.
    """

    epoch: int = NOTHING
    sequence: int = 0
    transaction: int = NOTHING
    failed: bool = False


@frozen(cache_hash=True)
class Batch:
    """A batch with one record, which is its number: whose it is (``NOBODY``: it was not sent yet), and what became of it.

    It may come, or come again, while it is under way.
    """

    instance: InstanceId = NOBODY
    epoch: int = NOTHING
    sequence: int = NOTHING
    transaction: int = NOTHING
    under_way: bool = False
    confirmed: bool = False


@frozen(cache_hash=True)
class Transaction:
    """A transaction as its producer knows it: whose it is (``NOBODY``: it has not begun), how it is to end, and what became of that."""

    instance: InstanceId = NOBODY
    end: End | None = None
    epoch: int = NOTHING
    under_way: bool = False
    confirmed: bool = False


@frozen(cache_hash=True)
class State:
    """The broker, the producers, and what these have sent; ``latest`` is the instance that took the transactional id last.

    ``copies`` counts how often something may still be left under way that has arrived; ``starts`` how often producers may still begin.
    """

    broker: Broker
    clients: PerInstance[Client]
    latest: InstanceId = NOBODY
    batches: PerBatch[Batch] = ()
    transactions: PerTransaction[Transaction] = ()
    copies: int = 0
    starts: int = 0


def count(begun: tuple[Batch, ...] | tuple[Transaction, ...]) -> int:
    """Return how many batches were sent, or how many transactions have begun: the number of the next one."""
    return sum(one.instance != NOBODY for one in begun)


@frozen
class Config:
    """What an operator sets: whether producers have a transactional id, one for all, or none."""

    transactional: bool = True


@frozen
class Bounds:
    """How far we look: how many instances, starts of them, transactions, batches, and copies of what they send."""

    instances: int = field(default=1, validator=[validators.ge(1), validators.le(3)])
    starts: int = field(default=1, validator=[validators.ge(1), validators.le(9)])
    transactions: int = field(default=1, validator=[validators.ge(0), validators.le(9)])
    batches: int = field(default=1, validator=[validators.ge(0), validators.le(9)])
    copies: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
