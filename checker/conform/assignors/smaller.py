# SPDX-License-Identifier: Apache-2.0
"""Makes a group smaller as long as something stays true of it: without a member, a topic, a partition, a claim, a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import evolve

from hwmark.model.assignors.groups import Group, Member, Topic, TopicPartition, UserData


def smallest(group: Group, still: Callable[[Group], bool]) -> Group:
    """Return a group of which it is still true, and of nothing that is one step smaller."""
    while True:
        following = next((one for one in smaller(group) if still(one)), None)
        if following is None:
            return group
        group = following


def smaller(group: Group) -> Iterator[Group]:
    """Yield groups that are one step smaller."""
    for index in range(len(group.members)):
        if len(group.members) > 1:
            yield evolve(group, members=(*group.members[:index], *group.members[index + 1 :]))
    for topic in group.topics:
        others = tuple(one for one in group.topics if one is not topic)
        yield evolve(group, topics=others, members=tuple(_without(member, topic.name, 0) for member in group.members))
        if topic.partitions:
            less = evolve(topic, partitions=topic.partitions - 1, racks=topic.racks[:-1])
            yield evolve(
                group,
                topics=tuple(less if one is topic else one for one in group.topics),
                members=tuple(_without(member, topic.name, less.partitions) for member in group.members),
            )
    for index, member in enumerate(group.members):
        for simpler in _simpler(member):
            yield evolve(group, members=(*group.members[:index], simpler, *group.members[index + 1 :]))
    yield from _plainer_names(group)


def _without(member: Member, topic: str, partitions: int) -> Member:
    """Return a member that knows only so many partitions of a topic, or nothing of it."""

    def known(claimed: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
        return tuple(one for one in claimed if one.topic != topic or one.partition < partitions)

    data = member.user_data
    return evolve(
        member,
        topics=member.topics if partitions else [name for name in member.topics if name != topic],
        owned=known(member.owned),
        user_data=None if data is None else evolve(data, partitions=known(data.partitions)),
    )


def _simpler(member: Member) -> Iterator[Member]:
    """Yield a member that tells less."""
    for name in member.topics:
        yield evolve(member, topics=[topic for topic in member.topics if topic != name])
    if member.instance_id is not None:
        yield evolve(member, instance_id=None)
    if member.rack is not None:
        yield evolve(member, rack=None)
    if member.owned or member.generation is not None or member.user_data is not None:
        yield evolve(member, owned=(), generation=None, user_data=None)
    for one in sorted({*member.owned, *(member.user_data or UserData()).partitions}):
        data = member.user_data
        yield evolve(
            member,
            owned=tuple(owned for owned in member.owned if owned != one),
            user_data=None if data is None else evolve(data, partitions=tuple(claimed for claimed in data.partitions if claimed != one)),
        )


def _plainer_names(group: Group) -> Iterator[Group]:
    """Yield the group with short member ids, one by one and in the order of the members, and without racks of its topics."""
    for index, member in enumerate(group.members):
        plain = f"m{index}"
        if member.id != plain and plain not in {one.id for one in group.members}:
            yield evolve(group, members=(*group.members[:index], evolve(member, id=plain), *group.members[index + 1 :]))
    for topic in group.topics:
        if topic.racks:
            bare: Topic = evolve(topic, racks=())
            yield evolve(group, topics=tuple(bare if one is topic else one for one in group.topics))
