# SPDX-License-Identifier: Apache-2.0
"""The state of the ``majority`` machine: each replica's vote and log, what leaders know of their followers, and who waits."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen, validators

from hwmark.model.log import Log
from hwmark.model.machine import BrokerId, PerBroker

NOBODY: BrokerId = -1
CONTROL = -1
"""The id of the record with which a leader begins its epoch (Kafka: LeaderChangeMessage); no producer wrote it."""


class Role(Enum):
    """What a replica does in its epoch (``QuorumState``)."""

    UNATTACHED = "unattached"
    """It knows of no leader, and may vote."""
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"
    STOPPED = "stopped"


@frozen(cache_hash=True)
class Replica:
    """A replica: its epoch, the one whom it stands by in it, and how much of its log it knows to be committed.

    ``stands_by`` is whom it votes for, or else follows; a candidate and a leader stand by themselves. It votes for nobody else in
    this epoch. Epoch and ``stands_by`` are on disk. ``votes`` are those that a candidate has.
    """

    role: Role = Role.UNATTACHED
    leader_epoch: int = 0
    stands_by: BrokerId = NOBODY
    votes: frozenset[BrokerId] = frozenset()
    high_watermark: int = 0


@frozen(cache_hash=True)
class Waiting:
    """A produce request that a leader has appended and not answered."""

    leader: BrokerId
    offset: int


@frozen(cache_hash=True)
class Budget:
    """How many perturbations of each kind may still happen; what heals has none."""

    timeouts: int
    crashes: int
    lossy_crashes: int


@frozen(cache_hash=True)
class State:
    """``followers[l][f]`` is up to where leader l knows f to have its log, 0 if it does not know.

    ``consumers`` are the positions of consumers.
    """

    replicas: PerBroker[Replica]
    logs: PerBroker[Log]
    followers: PerBroker[PerBroker[int]]
    produced: tuple[Waiting | None, ...]
    next_record_id: int
    consumers: tuple[int, ...]
    budget: Budget


@frozen
class Config:
    """Nothing that an operator sets is part of this machine: how many replicas there are is in its bounds."""


def counted(default: int, least: int = 0, most: int = 9) -> int:
    """Return a field of bounds that counts something."""
    count: int = field(default=default, validator=[validators.ge(least), validators.le(most)])
    return count


@frozen
class Bounds:
    """How far we look: brokers with a replica each, records, leader epochs, and how often each kind of perturbation happens."""

    brokers: int = counted(3, least=1)
    records: int = counted(1, most=64)
    max_leader_epoch: int = counted(2, most=64)
    """The first leader leads in epoch 0; each election takes a further one, also one that nobody wins."""
    consumers: int = counted(0, most=2)
    timeouts: int = counted(0)
    """Somebody begins an election although a leader runs that is no further behind than itself."""
    crashes: int = counted(0)
    """A broker's process is killed; what it wrote is still there."""
    lossy_crashes: int = counted(0)
    """A broker's machine fails: what was not flushed is gone, and that may be any part of the end of its log."""
    stays_down: bool = False
    """Whether a broker that went down stays down."""


def initial(bounds: Bounds) -> State:
    """The first broker leads in epoch 0, the others follow, and all logs are empty."""
    leader, follower = Replica(role=Role.LEADER, stands_by=0), Replica(role=Role.FOLLOWER, stands_by=0)
    return State(
        replicas=(leader, *(follower,) * (bounds.brokers - 1)),
        logs=(Log(),) * bounds.brokers,
        followers=((0,) * bounds.brokers,) * bounds.brokers,
        produced=(None,) * bounds.records,
        next_record_id=0,
        consumers=(0,) * bounds.consumers,
        budget=Budget(bounds.timeouts, bounds.crashes, bounds.lossy_crashes),
    )


# -- domains --


def brokers(bounds: Bounds) -> range:
    """Return the ids of the brokers; each has a replica."""
    return range(bounds.brokers)


def records(bounds: Bounds) -> range:
    """Return the ids of the records that producers write."""
    return range(bounds.records)


def consumers(bounds: Bounds) -> range:
    """Return the numbers of the consumers."""
    return range(bounds.consumers)


def end_offsets(bounds: Bounds) -> range:
    """Return where a log may end: each record is in it once, and one more for each election."""
    return range(bounds.records + bounds.max_leader_epoch + 1)
