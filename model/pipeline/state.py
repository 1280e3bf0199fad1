# SPDX-License-Identifier: Apache-2.0
"""A topic with its records, the groups that read it with what they committed, and the consumers with what they believe."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeVar

from attrs import field, frozen, validators

from hwmark.model.machine import IndexedBy
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId, PartitionId, PerMember, PerPartition

T = TypeVar("T")
ConsumerId = MemberId
PerConsumer = PerMember[T]
PerGroup = Annotated[tuple[T, ...], IndexedBy("group")]
PerMessage = Annotated[tuple[T, ...], IndexedBy("message")]

NOTHING: PartitionId = -1
"""The partition of a consumer that has no record in hand."""


class Delivery(Enum):
    """How consumers share the topic: by their ``group.id``."""

    PUBLISH_SUBSCRIBE = "publish_subscribe"
    """Each consumer is a group of its own, and gets every record."""
    QUEUE = "queue"
    """All are one group, which shares the records."""


@frozen(cache_hash=True)
class Grant:
    """Who has a partition in a group, and since which generation; ``NOBODY`` once the owner is gone."""

    generation: int
    owner: ConsumerId


@frozen(cache_hash=True)
class Consumer:
    """What a consumer believes to own, where it is in each partition, and the record that it has in hand.

    ``held[p]`` is the generation under which it believes to own partition p, and ``positions[p]`` the offset of the next record
    to process. ``in_hand`` is the partition whose record at that position was taken, and ``is_committed`` says that it is
    committed already.
    """

    held: PerPartition[int]
    positions: PerPartition[int]
    in_hand: PartitionId = NOTHING
    is_committed: bool = False


@frozen(cache_hash=True)
class State:
    """``logs[p]`` are the messages in partition p, by offset; ``acknowledged[m]`` says that the producer knows of message m.

    ``grants[g][p]`` and ``committed[g][p]`` are who has partition p in group g, and what g has committed there. The last three
    count what ``Bounds`` allow a number of.
    """

    logs: PerPartition[tuple[int, ...]]
    acknowledged: PerMessage[bool]
    grants: PerGroup[PerPartition[Grant]]
    committed: PerGroup[PerPartition[int]]
    consumers: PerConsumer[Consumer]
    resends: int
    rebalances: int
    crashes: int


@frozen
class Config:
    """What is set at the consumers."""

    delivery: Delivery = field(default=Delivery.QUEUE, validator=validators.instance_of(Delivery))


def counted(default: int, least: int = 0) -> int:
    """Return a field of bounds that counts something."""
    count: int = field(default=default, validator=[validators.ge(least), validators.le(9)])
    return count


@frozen
class Bounds:
    """How far we look: so many consumers, partitions, and messages to send; and so much trouble.

    A rebalance here takes a partition from an owner that lives; those of an owner that is gone are always given away.
    """

    consumers: int = counted(2, least=1)
    partitions: int = counted(1, least=1)
    messages: int = counted(1)
    resends: int = counted(0)
    rebalances: int = counted(0)
    crashes: int = counted(1)


def groups(config: Config, bounds: Bounds) -> int:
    """Return how many groups there are."""
    return 1 if config.delivery is Delivery.QUEUE else bounds.consumers


def group_of(config: Config, consumer: ConsumerId) -> int:
    """Return the group of a consumer."""
    return 0 if config.delivery is Delivery.QUEUE else consumer


def initial(config: Config, bounds: Bounds) -> State:
    """The topic is empty, nobody owns anything, and nothing is committed, which means to begin at the start."""
    nobody = (Grant(UNKNOWN_GENERATION, NOBODY),) * bounds.partitions
    idle = Consumer(held=(UNKNOWN_GENERATION,) * bounds.partitions, positions=(0,) * bounds.partitions)
    return State(
        logs=((),) * bounds.partitions,
        acknowledged=(False,) * bounds.messages,
        grants=(nobody,) * groups(config, bounds),
        committed=((0,) * bounds.partitions,) * groups(config, bounds),
        consumers=(idle,) * bounds.consumers,
        resends=0,
        rebalances=0,
        crashes=0,
    )


# -- domains --


def consumers(bounds: Bounds) -> range:
    """Return the ids of the consumers."""
    return range(bounds.consumers)


def partitions(bounds: Bounds) -> range:
    """Return the partitions of the topic."""
    return range(bounds.partitions)


def messages(bounds: Bounds) -> range:
    """Return the messages that the producer has to send."""
    return range(bounds.messages)
