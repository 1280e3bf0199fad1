# SPDX-License-Identifier: Apache-2.0
"""The range assignor: each topic for itself is cut into ranges, one for each subscriber, as equal as possible.

Subscribers are sorted, and the first ones get one partition more where the count does not go up. So with equal
subscriptions and partition counts the same member gets the same numbers of every topic. Where racks count, subscribers
first get partitions that are near them, topics with equal subscribers and counts together; ranges share out the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from hwmark.model.machine import kafka

from .groups import Assignment, Group, Topic, TopicPartition, assignment, subscribed_topics, subscribers
from .ordering import by_rank
from .racks import racks, racks_of_members, racks_of_partitions


class Share:
    """How one topic is being shared out: what is left, and how much each subscriber has."""

    def __init__(self, group: Group, topic: Topic) -> None:
        """Begin with nothing shared out."""
        members = sorted(subscribers(group, topic.name), key=by_rank)
        self.topic = topic
        self.subscribers = tuple(member.id for member in members)
        self.left = list(topic.all_partitions())
        self.given: dict[str, list[TopicPartition]] = {member: [] for member in self.subscribers}
        self.least, self.extras = divmod(topic.partitions, len(members))
        self.counts_racks = racks(members, [topic]).count
        self._rack_of = racks_of_members(members)
        self._racks_of = racks_of_partitions([topic]) if self._rack_of else {}

    def room(self, member: str) -> int:
        """Return how many partitions a member may still get; the first that need one more than the least get it."""
        return max(0, self.least + (self.extras > 0) - len(self.given[member]))

    def is_near(self, member: str, partition: TopicPartition) -> bool:
        """Whether a partition has a replica in the rack of a member; a member without a rack is near everything."""
        rack = self._rack_of.get(member)
        return rack is None or rack in self._racks_of.get(partition, ())

    def give(self, member: str, partitions: Iterable[TopicPartition]) -> None:
        """Give partitions to a member."""
        for partition in partitions:
            self.left.remove(partition)
            self.given[member].append(partition)
        self.extras -= len(self.given[member]) > self.least

    def give_ranges(self, may_get: Callable[[str, TopicPartition], bool]) -> None:
        """Give each member in turn as much as it has room for, of what it may get."""
        for member in self.subscribers:
            fitting = [one for one in self.left if may_get(member, one)][: self.room(member)]
            if fitting:
                self.give(member, fitting)


@kafka(
    "RangeAssignor.assignPartitions",
    versions="4.3.1",
    simplified="partitions are numbered without gaps; the partitions of a member are a sorted set",
)
def range_assignor(group: Group) -> Assignment:
    """Share out the topics by ranges."""
    shares = [Share(group, topic) for topic in subscribed_topics(group)]
    if any(share.counts_racks for share in shares):
        give_near(shares)
    for share in shares:
        share.give_ranges(lambda _member, _partition: True)
    return assignment({member.id: [one for share in shares for one in share.given.get(member.id, ())] for member in group.members})


def give_near(shares: Iterable[Share]) -> None:
    """Give partitions to members that are near them, those of the same number in like topics to the same member."""

    def like(share: Share) -> tuple[tuple[str, ...], int]:
        return share.subscribers, share.topic.partitions

    for _, found in groupby(sorted(shares, key=like), like):
        alike = list(found)
        if len(alike) > 1:
            give_near_together(alike)
        elif alike[0].counts_racks:
            alike[0].give_ranges(alike[0].is_near)


def give_near_together(alike: list[Share]) -> None:
    """Give each partition number to the first member with room that is near it in every topic."""
    for number in range(alike[0].topic.partitions):
        row = [(share, TopicPartition(share.topic.name, number)) for share in alike]
        near = (member for member in alike[0].subscribers if all(share.is_near(member, one) and share.room(member) for share, one in row))
        chosen = next(near, None)
        if chosen is not None:
            for share, one in row:
                share.give(chosen, [one])
