# SPDX-License-Identifier: Apache-2.0
"""What has moved from whom to whom while an assignment is being balanced.

Of two moves of the same topic, one there and one back, the second is saved: instead of another partition, one that came
from there goes back.
"""

from __future__ import annotations

from .groups import TopicPartition
from .ordering import HashedSet, hash_of_partition

Way = tuple[str, str]
"""From which member to which."""


class Movements:
    """``AbstractStickyAssignor.PartitionMovements``."""

    def __init__(self) -> None:
        """Begin with no movement."""
        self._way: dict[TopicPartition, Way] = {}
        self._moved: dict[tuple[str, Way], HashedSet[TopicPartition]] = {}

    def instead(self, partition: TopicPartition, member: str, receiver: str) -> TopicPartition:
        """Return which partition to move where this one was meant to go from a member to a receiver."""
        first_owner = self._way.get(partition, (member, receiver))[0]
        back = self._moved.get((partition.topic, (receiver, first_owner)))
        return partition if back is None else back.first()

    def move(self, partition: TopicPartition, member: str, receiver: str) -> None:
        """Note that a partition goes from a member to a receiver, as one way from where it was at first."""
        first_owner = member
        if partition in self._way:
            way = self._way.pop(partition)
            moved = self._moved[partition.topic, way]
            moved.remove(partition)
            if not moved:
                del self._moved[partition.topic, way]
            first_owner = way[0]
        if first_owner != receiver:
            way = first_owner, receiver
            self._way[partition] = way
            self._moved.setdefault((partition.topic, way), HashedSet(hash_of_partition)).add(partition)
