# SPDX-License-Identifier: Apache-2.0
"""The sticky assignment of members that all subscribe to the same topics.

Each member gets the total divided by the members, rounded down, and as many members as there is a rest get one more. Owned
partitions stay up to that, first those of members that own enough for one more; what is left goes round to whoever has
too few, and then to whoever may have one more. Where racks count, owned partitions stay only where they are near, and
what is left goes first to members that are near it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from attrs import frozen

from hwmark.model.machine import impossible

from .claims import Believed
from .groups import Topic, TopicPartition
from .ordering import code_units
from .racks import Racks

T = TypeVar("T")


@frozen
class Shares:
    """The partitions of each member, and those that a member got although another one may still own them."""

    of: Mapping[str, list[TopicPartition]]
    moved: frozenset[TopicPartition]


def constrained_shares(topics: tuple[Topic, ...], believed: Believed, racks: Racks) -> Shares:
    """Share out the partitions of topics that every member subscribes to.

    ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``.
    """
    return Constrained(topics, believed, racks).shares()


def left_over(partitions: Iterator[T], taken: Iterator[T]) -> Iterator[T]:
    """Yield partitions without those that are taken, both in the same order.

    As in ``getUnassignedPartitions``, the walk stops to look for what is taken at something that is not among the partitions.
    """
    following = next(taken, None)
    for partition in partitions:
        if partition == following:
            following = next(taken, None)
        else:
            yield partition


class Constrained:
    """The shares while they are made."""

    def __init__(self, topics: tuple[Topic, ...], believed: Believed, racks: Racks) -> None:
        """Begin with empty shares."""
        self._topics, self._believed, self._racks = topics, believed, racks
        self._least, self._rest = divmod(sum(topic.partitions for topic in topics), len(believed.owned))
        self._most = self._least + (self._rest > 0)
        self._of: dict[str, list[TopicPartition]] = {member: [] for member in believed.owned}
        self._given_up: dict[TopicPartition, str] = {}
        self._moved = set[TopicPartition]()
        self._short: list[str] = []
        """Members with too few."""
        self._enough: list[str] = []
        """Members with enough that may get one more."""

    def shares(self) -> Shares:
        """Share everything out."""
        for member, owned in self._believed.owned.items():
            self._keep(member, [one for one in owned if one not in self._believed.disputed])
        self._short.sort(key=code_units)
        self._enough.sort(key=code_units)
        taken = sorted({one for partitions in self._of.values() for one in partitions})
        left = list(left_over((one for topic in self._topics for one in topic.all_partitions()), iter(taken)))
        if self._racks.count:
            left.sort(key=self._racks.members_near)
            left = self._give_near(left)
        self._give_round(left)
        if any(len(self._of[member]) != self._least for member in self._short):
            impossible("a member got fewer partitions than its share")
        return Shares(self._of, frozenset(self._moved))

    def _keep(self, member: str, owned: list[TopicPartition]) -> None:
        """Let a member keep what it owns, up to its share."""
        near = sorted((one for one in owned if not self._racks.apart(member, one)), key=lambda one: (one.partition, one.topic))
        if len(near) >= self._most and self._rest:
            self._of[member] = near[: self._most]
            self._one_more()
        else:
            self._of[member] = near[: self._least]
            if len(near) < self._least:
                self._short.append(member)
            elif self._rest:
                self._enough.append(member)
        self._given_up |= dict.fromkeys(set(owned).difference(self._of[member]), member)

    def _one_more(self) -> None:
        """Count a member that got one more than the least; once all have who may, nobody else does."""
        self._rest -= 1
        if not self._rest:
            self._enough.clear()

    def _give_near(self, left: list[TopicPartition]) -> list[TopicPartition]:
        """Give partitions round to members that are near them and have too few or may have one more; return what is left."""
        remaining, turn = [], 0
        for partition in left:
            index = self._near(partition, self._short, turn)
            if index is not None:
                member = self._short[index]
                if len(self._of[member]) + 1 >= self._least:
                    del self._short[index]
                    if self._rest:
                        self._enough.append(member)
                else:
                    index += 1
                turn = index % len(self._short) if self._short else 0
                self._give(member, partition)
                continue
            index = self._near(partition, self._enough, 0)
            if index is None:
                remaining.append(partition)
                continue
            self._give(self._enough.pop(index), partition)
            self._one_more()
        return remaining

    def _near(self, partition: TopicPartition, members: list[str], start: int) -> int | None:
        """Return the index of the first member from ``start`` on, and round, that is near a partition."""
        indexes = (*range(start, len(members)), *range(start))
        return next((index for index in indexes if self._racks.together(members[index], partition)), None)

    def _give_round(self, left: list[TopicPartition]) -> None:
        """Give partitions round to members that have too few, then one each to those that may have one more."""
        index = 0
        for partition in left:
            if not self._short:
                if not self._enough:
                    impossible("no member has room for a partition")
                self._give(self._enough.pop(0), partition)
                continue
            index %= len(self._short)
            member = self._short[index]
            self._give(member, partition)
            if len(self._of[member]) == self._least:
                del self._short[index]
                self._enough.append(member)
            else:
                index += 1

    def _give(self, member: str, partition: TopicPartition) -> None:
        """Give a partition to a member, and note whether another one may still own it."""
        self._of[member].append(partition)
        if self._given_up.get(partition, member) != member or partition in self._believed.disputed:
            self._moved.add(partition)
