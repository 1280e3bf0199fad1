# SPDX-License-Identifier: Apache-2.0
"""How far an assignor brings partitions to members in their racks (KIP-881): as far as it promises, not as far as is possible."""

from __future__ import annotations

from hwmark.model.assignors.groups import Assignment, Group, Member, TopicPartition, subscribed_topics, subscribers
from hwmark.spec.function import contract
from hwmark.spec.property import Witness, witness

from .contracts import all_equal, written

Row = tuple[TopicPartition, ...]
"""Partitions that a member gets together."""


def rows_of_like_topics(group: Group) -> tuple[Row, ...]:
    """Return the partitions of the same number of topics with the same subscribers and as many partitions."""
    like: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for topic in subscribed_topics(group):
        like.setdefault((topic.partitions, tuple(member.id for member in subscribers(group, topic.name))), []).append(topic.name)
    return tuple(tuple(TopicPartition(name, number) for name in names) for (count, _), names in like.items() for number in range(count))


def single_rows(group: Group) -> tuple[Row, ...]:
    """Return each partition by itself."""
    return tuple((one,) for topic in subscribed_topics(group) for one in topic.all_partitions())


def better_exchange(group: Group, answer: Assignment, rows: tuple[Row, ...]) -> Witness | None:
    """Return two rows that two members could exchange such that one gets what is in its rack for something that is not."""
    racks = {one: topic.racks_of(one.partition) for topic in group.topics for one in topic.all_partitions()}
    apart = [
        (row, member)
        for member in group.members
        for row in rows
        if set(row) <= set(answer.get(member.id, ())) and member.rack and not is_in_rack(racks, member, row)
    ]
    for row, member in apart:
        for other_row, other in apart:
            exchangeable = {one.topic for one in row} <= set(other.topics) and {one.topic for one in other_row} <= set(member.topics)
            if other is not member and exchangeable and is_in_rack(racks, other, row):
                return witness(member=member.id, has=written(row), other=other.id, rack=other.rack, other_has=written(other_row))
    return None


def is_in_rack(racks: dict[TopicPartition, frozenset[str]], member: Member, row: Row) -> bool:
    """Whether every partition of a row has a replica in the rack of a member."""
    return all(member.rack in racks[one] for one in row)


@contract(sources=("S8-assignors", "KIP-881"))
def no_better_racks_in_like_topics(group: Group, answer: Assignment) -> Witness | None:
    """No two members could exchange partitions so that one gets what is in its rack for what is not; like topics go together."""
    like: dict[frozenset[str], list[Row]] = {}
    for row in rows_of_like_topics(group):
        like.setdefault(frozenset(one.topic for one in row), []).append(row)
    return next(filter(None, (better_exchange(group, answer, tuple(rows)) for rows in like.values())), None)


@contract(sources=("S8-assignors", "KIP-881"), when=all_equal)
def no_better_racks(group: Group, answer: Assignment) -> Witness | None:
    """Where all subscribe to the same, no two members could exchange partitions so that one gets what is in its rack for what is not."""
    return better_exchange(group, answer, single_rows(group))
