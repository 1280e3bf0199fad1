# SPDX-License-Identifier: Apache-2.0
"""The brokers, of which some are fenced, and the partitions of one topic with their replicas, ISR and leader."""

from __future__ import annotations

from typing import Annotated, TypeVar

from attrs import field, frozen, validators

from hwmark.model.machine import BrokerId, IndexedBy, PerBroker

from .placer import Replicas

T = TypeVar("T")
PartitionId = int
PerPartition = Annotated[tuple[T, ...], IndexedBy("partition")]

NOBODY: BrokerId = -1
"""The leader of a partition that has none."""


@frozen(cache_hash=True)
class Partition:
    """What the controller knows of a partition (``PartitionRegistration``); the first of the replicas is the preferred leader."""

    replicas: Replicas = ()
    isr: frozenset[BrokerId] = frozenset()
    leader: BrokerId = NOBODY

    @property
    def preferred_leader(self) -> BrokerId:
        """The first of the replicas."""
        return self.replicas[0]


@frozen(cache_hash=True)
class State:
    """``fenced[b]`` says that broker b is gone; before the topic is created its ``partitions`` have no replicas."""

    fenced: PerBroker[bool]
    partitions: PerPartition[Partition]
    failures: int


@frozen
class Config:
    """What an operator sets, and whether there is one who runs ``kafka-leader-election.sh``."""

    replication_factor: int = field(default=3, validator=[validators.ge(1), validators.le(9)])
    auto_leader_rebalance: bool = field(default=True, validator=validators.instance_of(bool))
    """``auto.leader.rebalance.enable``: whether the controller itself looks for partitions that their preferred leader does not lead."""
    operator: bool = field(default=False, validator=validators.instance_of(bool))


@frozen
class Bounds:
    """How far we look: so many brokers and partitions, and so many failures of brokers, and returns of brokers that failed.

    ``late_brokers`` is how many may be away when the topic is created.
    """

    brokers: int = field(default=3, validator=[validators.ge(1), validators.le(9)])
    partitions: int = field(default=3, validator=[validators.ge(1), validators.le(99)])
    failures: int = field(default=2, validator=[validators.ge(0), validators.le(9)])
    returns: int = field(default=9, validator=[validators.ge(0), validators.le(9)])
    late_brokers: int = field(default=0, validator=[validators.ge(0), validators.le(9)])


def initial(bounds: Bounds) -> State:
    """All brokers are there, and the topic is not."""
    return State(fenced=(False,) * bounds.brokers, partitions=(Partition(),) * bounds.partitions, failures=0)


# -- domains --


def brokers(bounds: Bounds) -> range:
    """Return the ids of the brokers."""
    return range(bounds.brokers)


def partitions(bounds: Bounds) -> range:
    """Return the partitions of the topic."""
    return range(bounds.partitions)


# -- queries --


def exists(state: State) -> bool:
    """Whether the topic was created."""
    return state.partitions[0].replicas != ()


def leaderships(partitions: tuple[Partition, ...], broker: BrokerId) -> int:
    """Return how many partitions a broker leads."""
    return sum(partition.leader == broker for partition in partitions)


def alive(state: State) -> tuple[BrokerId, ...]:
    """Return the brokers that are not fenced."""
    return tuple(broker for broker, is_fenced in enumerate(state.fenced) if not is_fenced)


def returns(state: State) -> int:
    """Return how many brokers that failed came back."""
    return state.failures - sum(state.fenced)
