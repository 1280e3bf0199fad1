# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for groups: topics and their racks, members, their subscriptions, and what they say they own."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from attrs import evolve, frozen
from hypothesis import strategies as st

from hwmark.model.assignors.groups import Group, Member, Topic, TopicPartition, UserData

TOPICS = ("t", "u", "v", "w")
UNKNOWN_TOPIC = "x"
"""Members may subscribe to it, but it does not exist."""
RACKS = ("a", "b", "c")
GENERATION = 5
"""The newest generation that anybody claims to be of."""


@frozen
class Shape:
    """How large groups get, and what may happen in them."""

    members: int = 5
    topics: int = 3
    partitions: int = 6
    """Of each topic."""
    racks: bool = True
    conflicts: bool = True
    """Whether members may claim the same partitions, in different generations, and subscribe to what does not exist."""
    shrunk_topics: bool = False
    """Whether members may claim partitions that their topics no longer have."""


@st.composite
def groups(draw: st.DrawFn, shape: Shape = Shape()) -> Group:  # noqa: B008 - frozen
    """Draw a group with at least one member and one topic."""
    topics = draw(all_topics(shape))
    ids = draw(st.lists(member_ids(), min_size=1, max_size=shape.members, unique=True))
    members = [Member(member_id) for member_id in ids]
    members = _with_subscriptions(draw, shape, members, [topic.name for topic in topics])
    members = _with_instances(draw, members)
    if shape.racks and draw(st.booleans()):
        members = [evolve(member, rack=draw(st.sampled_from((None, *RACKS)))) for member in members]
    return Group(topics, tuple(_with_claims(draw, shape, members, topics)))


def member_ids() -> st.SearchStrategy[str]:
    """Return the strategy for member ids: short ones, and ones like Kafka's."""
    return st.sampled_from([f"m{number}" for number in range(40)]) | st.builds(
        "consumer-{}-{}".format, st.integers(1, 9), st.uuids(version=4)
    )


@st.composite
def all_topics(draw: st.DrawFn, shape: Shape) -> tuple[Topic, ...]:
    """Draw topics, with racks for all or for none."""
    names = TOPICS[: draw(st.integers(1, shape.topics))]
    counts = draw(st.lists(st.integers(0, shape.partitions), min_size=len(names), max_size=len(names)))
    if draw(st.booleans()):
        counts = [counts[0]] * len(counts)
    has_racks = shape.racks and draw(st.booleans())
    ids = draw(
        st.lists(
            st.uuids() | st.integers(1, 20).map(lambda number: UUID(int=number)), min_size=len(names), max_size=len(names), unique=True
        )
    )
    racks = st.frozensets(st.sampled_from(RACKS), min_size=1, max_size=2)
    return tuple(
        Topic(name, count, tuple(draw(racks) for _ in range(count)) if has_racks else (), topic_id)
        for name, count, topic_id in zip(names, counts, ids, strict=True)
    )


def _with_subscriptions(draw: st.DrawFn, shape: Shape, members: Sequence[Member], names: Sequence[str]) -> list[Member]:
    """Subscribe all members to the same topics, or each to its own."""
    if draw(st.booleans()):
        topics = draw(st.sampled_from([frozenset(names), frozenset(names[:1])]))
        return [evolve(member, topics=topics) for member in members]
    subscriptions = st.frozensets(st.sampled_from([*names, UNKNOWN_TOPIC] if shape.conflicts else names))
    return [evolve(member, topics=draw(subscriptions)) for member in members]


def _with_instances(draw: st.DrawFn, members: Sequence[Member]) -> list[Member]:
    """Make some members static, in another order than that of their ids."""
    if not draw(st.booleans()):
        return list(members)
    instances = draw(st.permutations([f"i{number}" for number in range(len(members))]))
    static = draw(st.lists(st.booleans(), min_size=len(members), max_size=len(members)))
    return [
        evolve(member, instance_id=instance if is_static else None)
        for member, instance, is_static in zip(members, instances, static, strict=True)
    ]


def _with_claims(draw: st.DrawFn, shape: Shape, members: Sequence[Member], topics: Sequence[Topic]) -> list[Member]:
    """Let members own what an earlier assignment gave them or, where they may contradict each other, claim anything."""
    extra = 2 if shape.shrunk_topics else 0
    partitions = [TopicPartition(topic.name, number) for topic in topics for number in range(topic.partitions + extra)]
    if not partitions or not draw(st.booleans()):
        return list(members)
    if shape.conflicts and draw(st.booleans()):
        return [_claiming(draw, member, partitions) for member in members]
    owners = draw(st.lists(st.integers(-1, len(members) - 1), min_size=len(partitions), max_size=len(partitions)))
    claims = [tuple(one for one, owner in zip(partitions, owners, strict=True) if owner == index) for index in range(len(members))]
    return [told(member, owned, GENERATION) for member, owned in zip(members, claims, strict=True)]


def told(member: Member, owned: tuple[TopicPartition, ...], generation: int) -> Member:
    """Return a member that says in every place what it owns and since when, as a current client does."""
    return evolve(member, owned=owned, generation=generation, user_data=UserData(owned, generation))


def _claiming(draw: st.DrawFn, member: Member, partitions: Sequence[TopicPartition]) -> Member:
    """Let a member claim something, of some generation, which an older client does not tell everywhere."""
    owned = tuple(draw(st.lists(st.sampled_from(partitions), max_size=len(partitions), unique=True)))
    generation = draw(st.integers(GENERATION - 2, GENERATION))
    full = told(member, owned, generation)
    without = evolve(full, user_data=UserData(owned, None))
    return draw(st.sampled_from((full, full, full, evolve(full, generation=None), evolve(without, generation=None), member)))
