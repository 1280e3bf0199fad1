# SPDX-License-Identifier: Apache-2.0
"""The uniform assignment of members whose subscriptions differ.

What members had and still subscribe to stays at first. What is left goes topic by topic to the subscribers with the fewest
partitions. Then, topic by topic and again, partitions go from the subscribers with the most to those with the fewest, until
no topic needs that any more, or sixteen rounds are over.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from .groups import Member, Topic, TopicPartition

ROUNDS = 16
"""After so many rounds it has to do. ``UniformHeterogeneousAssignmentBuilder.MAX_ITERATION_COUNT``."""
SIGN = 1 << 63


def heterogeneous_shares(members: tuple[Member, ...], topics: tuple[Topic, ...]) -> dict[str, list[TopicPartition]]:
    """Share out the partitions. ``UniformHeterogeneousAssignmentBuilder``."""
    shares = Shares(members)
    assigned = {one for member in members for one in shares.of[member.id]}
    for topic in shares.most_loaded_first(topics):
        shares.give(topic, [one for one in topic.all_partitions() if one not in assigned])
    shares.balance([topic for topic in topics if len(shares.subscribers(topic)) > 1])
    return shares.of


def in_java_order(uuid: UUID) -> tuple[int, int]:
    """Return by what ``Uuid.compareTo`` compares: two halves, each with a sign."""
    return uuid.int >> 64 ^ SIGN, uuid.int & 0xFFFFFFFFFFFFFFFF ^ SIGN


class Shares:
    """The shares while they are made."""

    def __init__(self, members: tuple[Member, ...]) -> None:
        """Begin with what members had and still subscribe to."""
        self.of = {member.id: [one for one in member.owned if one.topic in member.topics] for member in members}
        self._members = members

    def subscribers(self, topic: Topic) -> list[str]:
        """Return who subscribes to a topic, in the order of the members."""
        return [member.id for member in self._members if topic.name in member.topics]

    def most_loaded_first(self, topics: Iterable[Topic]) -> list[Topic]:
        """Return topics with many partitions for each subscriber first."""

        def load(topic: Topic) -> tuple[float, int, tuple[int, int]]:
            subscribers = len(self.subscribers(topic))
            return -topic.partitions / subscribers, subscribers, in_java_order(topic.id)

        return sorted(topics, key=load)

    def _size(self, member: str) -> int:
        return len(self.of[member])

    def give(self, topic: Topic, left: Iterable[TopicPartition]) -> None:
        """Give each partition to the subscriber with the fewest, of several to the first of those that had the fewest."""
        ranked = sorted(self.subscribers(topic), key=self._size)
        for partition in left:
            self.of[min(ranked, key=self._size)].append(partition)

    def balance(self, topics: Iterable[Topic]) -> None:
        """Balance one topic after the other, until a whole round changed nothing."""
        ranked, last_changed = self.most_loaded_first(topics), None
        for _ in range(ROUNDS):
            for topic in ranked:
                if topic is last_changed:
                    return
                if self._balance_one(topic) or last_changed is None:
                    last_changed = topic

    def _balance_one(self, topic: Topic) -> bool:
        """Let subscribers with the most give their last partitions of a topic to those with the fewest."""
        ranked = sorted(self.subscribers(topic), key=self._size)
        givers, has_changed = list(ranked), False
        had = {member: sorted(one for one in self.of[member] if one.topic == topic.name) for member in ranked}
        while (giver := self._giver(givers, had)) is not None:
            receiver = min(ranked, key=self._size)
            if self._size(giver) - self._size(receiver) <= 1:
                break
            partition = had[giver].pop()
            self.of[giver].remove(partition)
            self.of[receiver].append(partition)
            has_changed = True
        return has_changed

    def _giver(self, givers: list[str], had: dict[str, list[TopicPartition]]) -> str | None:
        """Return who has the most and something to give; whoever has nothing is left out, and the last one takes its place."""
        while givers:
            place = max(range(len(givers)), key=lambda index: (self._size(givers[index]), index))
            if had[givers[place]]:
                return givers[place]
            givers[place] = givers[-1]
            givers.pop()
        return None
