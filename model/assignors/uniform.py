# SPDX-License-Identifier: Apache-2.0
"""The uniform assignor of the coordinator (KIP-848): sticky, and as balanced as subscriptions allow.

Members that all subscribe to the same topics get the same number of partitions, give or take one. Which of them has the
one more, and which partitions go, is decided by the order of members in the coordinator's tables. Racks are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from hwmark.model.machine import impossible, kafka

from .groups import Assignment, Group, Member, Topic, TopicPartition, assignment, subscribed_topics
from .ordering import hash_of_uuid, hashed, table_of_copy, visited
from .uniform_heterogeneous import heterogeneous_shares


@kafka(
    "UniformAssignor.assign",
    versions="4.3.1",
    simplified="topics that do not exist are left out of the group before; what members had exists, and no partition twice",
)
def uniform_assignor(group: Group) -> Assignment:
    """Share out all partitions, and let as many stay as is balanced."""
    members, topics = visited(group.members), subscribed_topics(group)
    if len({member.topics for member in members}) <= 1:
        return assignment(homogeneous_shares(members, topics, sorted(group.topics, key=lambda topic: topic.name)))
    return assignment(heterogeneous_shares(members, topics))


def homogeneous_shares(
    members: tuple[Member, ...], topics: tuple[Topic, ...], all_topics: Iterable[Topic]
) -> dict[str, list[TopicPartition]]:
    """Share out the partitions of topics that all members subscribe to. ``UniformHomogeneousAssignmentBuilder``."""
    by_id = hashed(topics, lambda topic: hash_of_uuid(topic.id), table_of_copy)
    assigned = {one for member in members for one in member.owned}
    left = [one for topic in by_id for one in topic.all_partitions() if one not in assigned]
    least, extras = divmod(sum(topic.partitions for topic in topics), max(1, len(members)))
    shares, room = dict[str, list[TopicPartition]](), dict[str, int]()
    for index, member in enumerate(members):
        quota = least + (extras > 0)
        had = [one for one in as_stored(member, all_topics) if one.topic in member.topics]
        kept, given_up = had[:quota], had[quota:]
        if extras and len(kept) < quota and len(members) - index > extras:
            quota -= 1  # enough members follow that can take the one more
        elif extras:
            extras -= 1
        shares[member.id], room[member.id] = kept, quota - len(kept)
        left += given_up
    following = iter(left)
    for member_id, count in room.items():
        shares[member_id] += islice(following, count)
    if next(following, None) is not None:
        impossible("partitions were left unassigned")
    return shares


def as_stored(member: Member, topics: Iterable[Topic]) -> Iterator[TopicPartition]:
    """Yield what a member had, in the order of the coordinator's tables. ``modern.Assignment.fromRecord``."""
    numbers: dict[str, list[int]] = {}
    for one in sorted(member.owned):
        numbers.setdefault(one.topic, []).append(one.partition)
    for topic in hashed([topic for topic in topics if topic.name in numbers], lambda topic: hash_of_uuid(topic.id)):
        for number in hashed(numbers[topic.name], lambda number: number, table_of_copy):
            yield TopicPartition(topic.name, number)
