# SPDX-License-Identifier: Apache-2.0
"""The range assignor of the coordinator (KIP-848): each topic is cut into ranges, one for each subscriber.

It looks neither at racks nor at what members have.
"""

from __future__ import annotations

from hwmark.model.machine import kafka

from .groups import Assignment, Group, TopicPartition, assignment, subscribed_topics, subscribers
from .ordering import by_rank


@kafka(
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor.assign",
    versions="4.3.1",
    simplified="topics that do not exist are left out of the group before",
)
def server_range_assignor(group: Group) -> Assignment:
    """Share out the topics by ranges."""
    shares: dict[str, list[TopicPartition]] = {member.id: [] for member in group.members}
    for topic in subscribed_topics(group):
        members = sorted(subscribers(group, topic.name), key=by_rank)
        least, extras = divmod(topic.partitions, len(members))
        partitions = iter(topic.all_partitions())
        for rank, member in enumerate(members):
            shares[member.id] += (next(partitions) for _ in range(least + (rank < extras)))
    return assignment(shares)
