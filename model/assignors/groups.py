# SPDX-License-Identifier: Apache-2.0
"""What an assignor is given and what it answers.

A group has topics and members. A member of the classic protocol says what it owns and since which generation in up to
two places: in the fields of its subscription, and in user data that its assignor wrote by itself. For the assignors of
the coordinator ``owned`` is the member's part of the target assignment so far. An answer has an entry for each member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from attrs import field, frozen

from hwmark.model.machine import frozen_mapping


@frozen(order=True, cache_hash=True)
class TopicPartition:
    """One partition of a topic; ordered by topic, then by number."""

    topic: str
    partition: int

    def __str__(self) -> str:
        """Write it as Kafka does."""
        return f"{self.topic}-{self.partition}"


NO_ID = UUID(int=0)


@frozen
class Topic:
    """A topic, and the racks that hold replicas of each of its partitions, where they are known."""

    name: str
    partitions: int
    racks: tuple[frozenset[str], ...] = ()
    id: UUID = NO_ID
    """By which the coordinator's assignors know the topic."""

    def all_partitions(self) -> tuple[TopicPartition, ...]:
        """Return the partitions in order."""
        return tuple(TopicPartition(self.name, number) for number in range(self.partitions))

    def racks_of(self, partition: int) -> frozenset[str]:
        """Return the racks that hold a replica of a partition."""
        return self.racks[partition] if partition < len(self.racks) else frozenset()


@frozen
class UserData:
    """What a sticky assignor writes for the next leader: what was assigned to the member, and in which generation."""

    partitions: tuple[TopicPartition, ...] = ()
    generation: int | None = None


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in order, each once: it does not matter in which order a member tells its topics."""
    return tuple(sorted(set(names)))


@frozen
class Member:
    """A member of a group, and its subscription; ``None`` where something is not said."""

    id: str
    topics: tuple[str, ...] = field(default=(), converter=in_order)
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    user_data: UserData | None = None
    instance_id: str | None = None
    rack: str | None = None


@frozen
class Group:
    """The topics that exist, and the members in the order in which the coordinator lists them."""

    topics: tuple[Topic, ...]
    members: tuple[Member, ...]


Assignment = Mapping[str, tuple[TopicPartition, ...]]
"""The partitions of each member, in order."""

Assignor = Callable[[Group], Assignment]


def assignment(shares: Mapping[str, Iterable[TopicPartition]]) -> Assignment:
    """Return these shares as an answer: frozen, each in order."""
    return frozen_mapping({member: tuple(sorted(partitions)) for member, partitions in shares.items()})


def subscribed_topics(group: Group) -> tuple[Topic, ...]:
    """Return the topics that have partitions and subscribers, by name: those that are shared out.

    ``AbstractPartitionAssignor.assign`` leaves out topics without metadata.
    """
    subscribed = {name for member in group.members for name in member.topics}
    return tuple(sorted((one for one in group.topics if one.partitions and one.name in subscribed), key=lambda topic: topic.name))


def subscribers(group: Group, topic: str) -> tuple[Member, ...]:
    """Return the members that subscribe to a topic, in the order of the group."""
    return tuple(member for member in group.members if topic in member.topics)
