# SPDX-License-Identifier: Apache-2.0
"""The sticky assignment of members whose subscriptions differ.

Owned partitions stay where they are still subscribed to and, where racks count, near. What is left goes one by one to the
subscriber with the fewest. Then partitions are moved from members with more to subscribers with fewer, as long as that
makes the assignment more balanced, first only those that were just given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import assert_never

from hwmark.model.machine import impossible

from .claims import Claim
from .constrained import left_over
from .groups import Member, Topic, TopicPartition
from .movements import Movements
from .ordering import code_units
from .racks import Racks
from .rules import FormerOwner, StickyRules


def former_owners(claims: Iterable[Claim]) -> dict[TopicPartition, Claim]:
    """Return who claimed each partition last before the newest generation.

    ``AbstractStickyAssignor.GeneralAssignmentBuilder.prepopulateCurrentAssignments``.
    """
    claims = tuple(claims)
    newest = max(claim.age for claim in claims)
    former: dict[TopicPartition, Claim] = {}
    for claim in claims:
        if claim.age < newest:
            for partition in claim.partitions:
                if partition not in former or claim.age > former[partition].age:
                    former[partition] = claim
    return former


class General:
    """The shares while they are made. ``AbstractStickyAssignor.GeneralAssignmentBuilder``."""

    def __init__(  # noqa: PLR0913, PLR0917 - everything that a share depends on
        self,
        rules: StickyRules,
        topics: tuple[Topic, ...],
        members: tuple[Member, ...],
        claims: tuple[Claim, ...],
        owned: Mapping[str, tuple[TopicPartition, ...]],
        racks: Racks,
    ) -> None:
        """Begin with what members may keep."""
        self._rules, self._racks, self._former = rules, racks, former_owners(claims)
        self._topics = {topic.name: topic for topic in topics}
        self._subscribed = {member.id: [name for name in member.topics if name in self._topics] for member in members}
        self._candidates = {topic.name: [member.id for member in members if topic.name in member.topics] for topic in topics}
        self._rank = {member.id: code_units(member.id) for member in members}
        self._of = {member: [one for one in partitions if self._stays(member, one)] for member, partitions in owned.items()}
        self._owner = {one: member for member, partitions in self._of.items() for one in partitions}
        self._takes_away = any(len(kept) < len(owned[member]) for member, kept in self._of.items())
        self._movements = Movements()

    def _stays(self, member: str, partition: TopicPartition) -> bool:
        return partition.topic in self._subscribed[member] and not self._racks.apart(member, partition)

    def shares(self) -> dict[str, list[TopicPartition]]:
        """Share everything out."""
        every = [one for topic in sorted(self._topics.values(), key=self._few_candidates) for one in topic.all_partitions()]
        taken = sorted({one for kept in self._of.values() for one in kept}, key=self._in_order)
        left = list(left_over(iter(every), iter(taken)))
        begins = not any(self._of.values())
        self._give(left)
        self._balance([one for one in left if self._may_move(one)], [one for one in every if self._may_move(one)], begins=begins)
        return self._of

    def _few_candidates(self, topic: Topic) -> tuple[int, str]:
        return len(self._candidates[topic.name]), topic.name

    def _in_order(self, partition: TopicPartition) -> tuple[int, TopicPartition]:
        return len(self._candidates[partition.topic]), partition

    def _size(self, member: str) -> int:
        return len(self._of[member])

    def _fewest(self, member: str) -> tuple[int, bytes]:
        return self._size(member), self._rank[member]

    # -- give --

    def _give(self, left: Iterable[TopicPartition]) -> None:
        """Give partitions to the subscriber with the fewest, where racks count first among those that are not apart."""
        rest = [one for one in left if not (self._racks.count and self._give_one(one, near=True))]
        for partition in rest:
            self._give_one(partition, near=False)

    def _give_one(self, partition: TopicPartition, *, near: bool) -> bool:
        candidates = [member for member in self._candidates[partition.topic] if not (near and self._racks.apart(member, partition))]
        if not candidates:
            return False
        receiver = min(candidates, key=self._fewest)
        self._of[receiver].append(partition)
        self._owner[partition] = receiver
        return True

    # -- balance --

    def _may_move(self, partition: TopicPartition) -> bool:
        return len(self._candidates[partition.topic]) > 1

    def _capacity(self, member: str) -> int:
        return sum(self._topics[topic].partitions for topic in self._subscribed[member])

    def _takes_part(self, member: str) -> bool:
        """Whether a member lacks something that it may have, or has something that another one may have."""
        return self._size(member) < self._capacity(member) or any(self._may_move(one) for one in self._of[member])

    def _balance(self, given: list[TopicPartition], every: list[TopicPartition], *, begins: bool) -> None:
        """Move partitions, first only those just given, unless something was taken away anyway; undo what does not help."""
        self._movers = [member for member in self._of if self._takes_part(member)]
        before = {member: list(self._of[member]) for member in self._movers}
        if not self._takes_away:
            self._move_all(given)
        has_moved = self._move_all(every)
        if has_moved and not begins and imbalance(self._of[member] for member in self._movers) >= imbalance(before.values()):
            self._of |= before

    def _move_all(self, partitions: list[TopicPartition]) -> bool:
        """Move partitions until all is balanced, or none can be moved; return whether one was."""
        has_moved, seen = False, set[tuple[str, ...]]()
        while self._move_each(partitions):
            has_moved = True
            now = tuple(self._owner.values())
            if now in seen:
                impossible("partitions are moved in circles")
            seen.add(now)
        return has_moved

    def _move_each(self, partitions: list[TopicPartition]) -> bool:
        """Look at each partition once, and move it if that is better; return whether one was."""
        has_moved = False
        for partition in partitions:
            if self._is_balanced():
                break
            receiver = self._receiver(partition)
            if receiver is not None:
                self._move(partition, receiver)
                has_moved = True
        return has_moved

    def _receiver(self, partition: TopicPartition) -> str | None:
        """Return who should get a partition: its former owner, or the subscriber with the fewest, if that has two less."""
        size = self._size(self._owner[partition])
        former = self._former_owner(partition)
        if former is not None and size > self._size(former) + 1:
            return former
        fewest = min(self._candidates[partition.topic], key=self._fewest)
        return fewest if size > self._size(fewest) + 1 else None

    def _former_owner(self, partition: TopicPartition) -> str | None:
        """Return to whom a partition may go back."""
        if partition not in self._former:
            return None
        former = self._former[partition].member
        match self._rules.former_owner:
            case FormerOwner.SUBSCRIBED:
                return former.id if partition.topic in former.topics else None
            case FormerOwner.ANY:
                if former.id not in self._movers:
                    impossible("the former owner takes no part in the balancing")
                return former.id
            case never:
                assert_never(never)

    def _move(self, wanted: TopicPartition, receiver: str) -> None:
        """Move a partition to a receiver, or one that came from there."""
        partition = self._movements.instead(wanted, self._owner[wanted], receiver)
        owner = self._owner[partition]
        self._movements.move(partition, owner, receiver)
        self._of[owner].remove(partition)
        self._of[receiver].append(partition)
        self._owner[partition] = receiver

    def _is_balanced(self) -> bool:
        """Whether nobody could get another one's partition and still have less than that one."""
        sizes = [self._size(member) for member in self._movers]
        if min(sizes) >= max(sizes) - 1:
            return True
        owner_size = {one: size for member, size in zip(self._movers, sizes, strict=True) for one in self._of[member]}
        largest: dict[str, int] = {}
        for one, size in owner_size.items():
            if one.partition < self._topics[one.topic].partitions:
                largest[one.topic] = max(size, largest.get(one.topic, 0))
        return not any(
            largest.get(topic, 0) > size + 1
            for member, size in zip(self._movers, sizes, strict=True)
            if size != self._capacity(member)
            for topic in self._subscribed[member]
        )


def imbalance(shares: Iterable[list[TopicPartition]]) -> int:
    """Return by how much the sizes of shares differ, summed over all pairs."""
    return sum(abs(len(one) - len(other)) for one, other in combinations(shares, 2))
