# SPDX-License-Identifier: Apache-2.0
"""The state of the ``zookeeper`` machine: what ZooKeeper holds, what controllers and brokers believe, logs, and requests.

Belief and truth are apart: ``znode``, ``controller`` and ``registrations`` are what ZooKeeper holds, ``controllers[b]`` is
what broker b goes by if it believes that it is the controller, and ``replicas[b]`` what it takes for true of the partition.
"""

from __future__ import annotations

from attrs import evolve, field, fields, frozen, validators

from hwmark.model.log import UNDEFINED_EPOCH, Log
from hwmark.model.machine import BrokerId, PerBroker

NOBODY: BrokerId = -1
UNKNOWN = -1
"""A broker epoch, an offset or a version that somebody does not know, or that there is none."""

Isr = frozenset[BrokerId]


@frozen(cache_hash=True)
class PartitionZNode:
    """What ``/brokers/topics/T/partitions/P/state`` holds, with its version (``LeaderIsrAndControllerEpoch``).

    ``controller_epoch`` is that of the controller that chose the leader.
    """

    leader: BrokerId
    leader_epoch: int
    isr: Isr
    controller_epoch: int
    version: int = 0


@frozen(cache_hash=True)
class Process:
    """A broker's process, the broker epoch that it goes by, and the latest controller epoch that it has heard of."""

    is_running: bool = True
    broker_epoch: int = 0
    controller_epoch: int = UNKNOWN


@frozen(cache_hash=True)
class Controller:
    """What a broker goes by that believes that it is the controller (``ControllerContext``).

    ``live[b]`` is the broker epoch of each broker that it takes for alive; ``known`` is the partition as it read or wrote it last.
    """

    controller_epoch: int
    live: PerBroker[int]
    known: PartitionZNode


@frozen(cache_hash=True)
class Replica:
    """What a broker believes about the partition; an ISR and a version of the znode are known to leaders only.

    ``epoch_start`` is where a leader's epoch starts in its log. ``writing`` is the ISR that it has asked ZooKeeper for
    without having an answer, else empty.
    """

    leader: BrokerId = NOBODY
    leader_epoch: int = UNDEFINED_EPOCH
    isr: Isr = frozenset()
    controller_epoch: int = UNKNOWN
    version: int = UNKNOWN
    high_watermark: int = 0
    epoch_start: int = UNKNOWN
    writing: Isr = frozenset()


@frozen(cache_hash=True)
class LeaderAndIsr:
    """A controller tells a broker of a decision: in which controller epoch, and for which broker epoch."""

    controller_epoch: int
    broker_epoch: int
    decision: PartitionZNode


@frozen(cache_hash=True)
class Budget:
    """How many perturbations of each kind may still happen; what heals has no budget."""

    crashes: int
    expiries: int
    moves: int
    outages: int
    lags: int
    losses: int
    elections: int


@frozen(cache_hash=True)
class State:
    """All that ZooKeeper and brokers hold, all that is under way, and what may still go wrong.

    ``requests[b]`` are under way to broker b: those of one controller epoch in the order in which they were sent.
    """

    zookeeper_is_up: bool
    znode: PartitionZNode
    isr_change_notified: bool
    controller: BrokerId
    controller_epoch: int
    registrations: PerBroker[int]
    processes: PerBroker[Process]
    controllers: PerBroker[Controller | None]
    replicas: PerBroker[Replica]
    logs: PerBroker[Log]
    followers: PerBroker[PerBroker[int]]
    requests: PerBroker[tuple[LeaderAndIsr, ...]]
    next_record_id: int
    budget: Budget


@frozen
class Config:
    """What an operator sets."""

    min_isr: int = field(default=1, validator=[validators.ge(1), validators.le(9)])
    unclean_elections: bool = False
    """``unclean.leader.election.enable``."""


def counted(default: int = 0, least: int = 0) -> int:
    """Return a field of bounds that counts something."""
    count: int = field(default=default, validator=[validators.ge(least), validators.le(9)])
    return count


@frozen
class Bounds:
    """How far we look: brokers, each with a replica, records, and how often each kind of perturbation happens."""

    brokers: int = counted(2, least=1)
    records: int = counted(1)
    outsiders: int = counted()
    """How many of the last replicas are not in the ISR at the start."""
    first_leader: int = counted()
    """Who leads at the start; the preferred leader is broker 0, which is also the controller."""
    crashes: int = counted()
    """A broker's process is killed; what it wrote is still there."""
    expiries: int = counted()
    """The session of a broker expires that runs."""
    moves: int = counted()
    """An operator deletes ``/controller``, so that another election takes place."""
    outages: int = counted()
    """ZooKeeper is down for a while."""
    lags: int = counted()
    """A leader drops a follower that follows it, and lacks records."""
    losses: int = counted()
    """ZooKeeper's answer to a leader is lost."""
    elections: int = counted()
    """An operator elects the preferred leader, or the controller does to balance."""


def perturbations(bounds: Bounds) -> tuple[int, ...]:
    """Return how many perturbations of each kind may happen, in the order of ``Budget``."""
    return tuple(getattr(bounds, kind.name) for kind in fields(Budget))


def initial(bounds: Bounds) -> State:
    """Everybody runs, the first broker is the controller, somebody leads, and all have heard of that."""
    ids, first = range(bounds.brokers), bounds.first_leader
    isr = frozenset(ids[: max(first + 1, bounds.brokers - bounds.outsiders)])
    znode = PartitionZNode(leader=first, leader_epoch=0, isr=isr, controller_epoch=0)
    follower = Replica(leader=first, leader_epoch=0)
    leader = evolve(follower, isr=isr, controller_epoch=0, version=0, epoch_start=0)
    live = (0,) * bounds.brokers
    return State(
        zookeeper_is_up=True,
        znode=znode,
        isr_change_notified=False,
        controller=0,
        controller_epoch=0,
        registrations=live,
        processes=(Process(controller_epoch=0),) * bounds.brokers,
        controllers=(Controller(0, live, znode), *(None,) * (bounds.brokers - 1)),
        replicas=tuple(leader if broker == first else follower for broker in ids),
        logs=(Log(),) * bounds.brokers,
        followers=((UNKNOWN,) * bounds.brokers,) * bounds.brokers,
        requests=((),) * bounds.brokers,
        next_record_id=0,
        budget=Budget(*perturbations(bounds)),
    )
