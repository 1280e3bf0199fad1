# SPDX-License-Identifier: Apache-2.0
"""How evenly an assignor spreads partitions: each its own exact bound."""

from __future__ import annotations

from itertools import groupby

from hwmark.model.assignors.groups import Assignment, Group, subscribed_topics, subscribers
from hwmark.model.assignors.ordering import by_rank
from hwmark.spec.function import contract
from hwmark.spec.property import Witness, witness

from .contracts import all_equal, without_racks


def numbers(answer: Assignment, member: str, topic: str) -> tuple[int, ...]:
    """Return the numbers of the partitions of a topic that a member gets, in order."""
    return tuple(sorted(one.partition for one in answer.get(member, ()) if one.topic == topic))


@contract(sources=("S8-assignors",))
def balanced_by_topic(group: Group, answer: Assignment) -> Witness | None:
    """Of each topic no subscriber gets two partitions more than another one."""
    for topic in subscribed_topics(group):
        counts = {member.id: len(numbers(answer, member.id, topic.name)) for member in subscribers(group, topic.name)}
        if max(counts.values()) - min(counts.values()) > 1:
            return witness(topic=topic.name, counts=counts)
    return None


@contract(sources=("S8-assignors",), when=without_racks)
def in_ranges(group: Group, answer: Assignment) -> Witness | None:
    """Each topic is cut into ranges in the order of its subscribers, static ones first, and the first ones get the longer ones."""
    for topic in subscribed_topics(group):
        members = sorted(subscribers(group, topic.name), key=by_rank)
        least, extras = divmod(topic.partitions, len(members))
        start = 0
        for rank, member in enumerate(members):
            end = start + least + (rank < extras)
            got = numbers(answer, member.id, topic.name)
            if got != tuple(range(start, end)):
                return witness(topic=topic.name, member=member.id, got=got, due=tuple(range(start, end)))
            start = end
    return None


@contract(sources=("S8-assignors",))
def same_numbers_of_like_topics(group: Group, answer: Assignment) -> Witness | None:
    """Of topics with the same subscribers and as many partitions a member gets the same numbers."""
    subscribed = [(topic, tuple(member.id for member in subscribers(group, topic.name))) for topic in subscribed_topics(group)]
    for (count, members), like in groupby(
        sorted(((topic.partitions, ids), topic.name) for topic, ids in subscribed), key=lambda pair: pair[0]
    ):
        names = [name for _, name in like]
        for member in members:
            got = {name: numbers(answer, member, name) for name in names}
            if len(set(got.values())) > 1:
                return witness(member=member, partitions=count, numbers=got)
    return None


@contract(sources=("S8-assignors",))
def in_turn(group: Group, answer: Assignment) -> Witness | None:
    """The partitions of all topics, one after the other, go to the next member in turn that subscribes to their topic."""
    members, turn = sorted(group.members, key=by_rank), 0
    for topic in subscribed_topics(group):
        for one in topic.all_partitions():
            while topic.name not in members[turn % len(members)].topics:
                turn += 1
            due = members[turn % len(members)].id
            if one not in answer.get(due, ()):
                return witness(partition=str(one), due=due)
            turn += 1
    return None


@contract(sources=("S8-assignors",), when=all_equal)
def balanced(group: Group, answer: Assignment) -> Witness | None:
    """Where all subscribe to the same topics, no member gets two partitions more than another one."""
    counts = {member.id: len(answer.get(member.id, ())) for member in group.members}
    return witness(counts=counts) if max(counts.values()) - min(counts.values()) > 1 else None


@contract(sources=("S8-assignors",))
def no_better_move(group: Group, answer: Assignment) -> Witness | None:
    """No member has a partition that a subscriber with at least two partitions less could get instead."""
    return better_move(group, answer)


def better_move(group: Group, answer: Assignment) -> Witness | None:
    """Return a partition that would be better with another member, with both and how many each has."""
    counts = {member.id: len(answer.get(member.id, ())) for member in group.members}
    for member, share in answer.items():
        for one in share:
            for other in subscribers(group, one.topic):
                if counts.get(member, 0) > counts[other.id] + 1:
                    return witness(partition=str(one), member=member, has=counts[member], other=other.id, other_has=counts[other.id])
    return None
