# SPDX-License-Identifier: Apache-2.0
"""The round robin assignor: the partitions of all topics in order, each to the next member that subscribes to its topic."""

from __future__ import annotations

from hwmark.model.machine import kafka

from .groups import Assignment, Group, TopicPartition, assignment, subscribed_topics
from .ordering import by_rank


@kafka(
    "RoundRobinAssignor.assign",
    versions="4.3.1",
    simplified="partitions are numbered without gaps; the partitions of a member are a sorted set",
)
def round_robin_assignor(group: Group) -> Assignment:
    """Share out all partitions in turn."""
    members = sorted(group.members, key=by_rank)
    shares: dict[str, list[TopicPartition]] = {member.id: [] for member in group.members}
    turn = 0
    for topic in subscribed_topics(group):
        for partition in topic.all_partitions():
            while topic.name not in members[turn % len(members)].topics:
                turn += 1
            shares[members[turn % len(members)].id].append(partition)
            turn += 1
    return assignment(shares)
