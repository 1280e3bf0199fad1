# SPDX-License-Identifier: Apache-2.0
"""Which members are near which partitions (KIP-881): a member is near a partition with a replica in its rack.

Racks count only where they tell something: some member has a rack in which some partition has a replica, and not every
partition has replicas in all those racks. ``AbstractPartitionAssignor.useRackAwareAssignment``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from .groups import Member, Topic, TopicPartition


@frozen
class Racks:
    """The racks of members and of partitions; nothing of either where racks do not count."""

    of_member: Mapping[str, str]
    of_partition: Mapping[TopicPartition, frozenset[str]]

    @property
    def count(self) -> bool:
        """Whether racks count."""
        return bool(self.of_member)

    def apart(self, member: str, partition: TopicPartition) -> bool:
        """Whether a member has a rack, and the partition no replica there."""
        rack = self.of_member.get(member)
        return rack is not None and rack not in self.of_partition.get(partition, ())

    def together(self, member: str, partition: TopicPartition) -> bool:
        """Whether a member has a rack, and the partition a replica there."""
        rack = self.of_member.get(member)
        return rack is not None and rack in self.of_partition.get(partition, ())

    def members_near(self, partition: TopicPartition) -> int:
        """Return how many members have a rack in which the partition has a replica."""
        near = self.of_partition.get(partition, ())
        return sum(rack in near for rack in self.of_member.values())


def racks_of_members(members: Iterable[Member]) -> dict[str, str]:
    """Return the rack of each member that has one."""
    return {member.id: member.rack for member in members if member.rack}


def racks_of_partitions(topics: Iterable[Topic]) -> dict[TopicPartition, frozenset[str]]:
    """Return the racks with replicas of each partition."""
    return {one: topic.racks_of(one.partition) for topic in topics for one in topic.all_partitions()}


def racks(members: Iterable[Member], topics: Iterable[Topic]) -> Racks:
    """Return the racks of these members and of the partitions of these topics, if they count."""
    of_member = racks_of_members(members)
    of_partition = racks_of_partitions(topics) if of_member else {}
    all_racks = frozenset[str]().union(*of_partition.values())
    tell = not all_racks.isdisjoint(of_member.values()) and any(near != all_racks for near in of_partition.values())
    return Racks(of_member, of_partition) if tell else Racks({}, {})
