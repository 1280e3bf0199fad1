# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for groups: topics and their racks, members, their subscriptions, and what they say they own.

Choices among few are drawn as bits of one number, which takes a fraction of the time of drawing each by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from attrs import evolve, frozen
from hypothesis import strategies as st

from hwmark.model.assignors.groups import Group, Member, Topic, TopicPartition, UserData

T = TypeVar("T")

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
    static: bool = True
    racks: bool = True
    claims: bool = True
    conflicts: bool = True
    """Whether members may claim the same partitions, in different generations, and subscribe to what does not exist."""
    shrunk_topics: bool = False
    """Whether members may claim partitions that their topics no longer have."""


MEMBER_IDS = st.integers(0, 39).map("m{}".format) | st.builds("consumer-{}-{}".format, st.integers(1, 9), st.uuids(version=4))
"""Short ones, and ones like Kafka's."""
TOPIC_IDS = st.integers(1, 20).map(lambda number: UUID(int=number)) | st.uuids()
BOOLEANS = st.booleans()


@st.composite
def groups(draw: st.DrawFn, shape: Shape = Shape()) -> Group:
    """Draw a group with at least one member and one topic."""
    topics = _topics(draw, shape)
    members = [Member(one) for one in draw(st.lists(MEMBER_IDS, min_size=1, max_size=shape.members, unique=True))]
    members = _with_subscriptions(draw, shape, members, [topic.name for topic in topics])
    if shape.static and draw(BOOLEANS):
        members = _with_instances(draw, members)
    if shape.racks and draw(BOOLEANS):
        members = [evolve(member, rack=draw(st.sampled_from((None, *RACKS)))) for member in members]
    if shape.claims and draw(BOOLEANS):
        members = _with_claims(draw, shape, members, topics)
    return Group(topics, tuple(members))


def some(draw: st.DrawFn, values: Sequence[T], least: int = 0) -> tuple[T, ...]:
    """Draw some of these values, or, with 1 for ``least``, not none."""
    bits = draw(st.integers(least, 2 ** len(values) - 1))
    return tuple(value for index, value in enumerate(values) if bits >> index & 1)


def _topics(draw: st.DrawFn, shape: Shape) -> tuple[Topic, ...]:
    """Draw topics, with racks for all or for none."""
    names = TOPICS[: draw(st.integers(1, shape.topics))]
    counts = [draw(st.integers(0, shape.partitions)) for _ in names]
    if draw(BOOLEANS):
        counts = [counts[0]] * len(counts)
    has_racks = shape.racks and draw(BOOLEANS)
    ids = draw(st.lists(TOPIC_IDS, min_size=len(names), max_size=len(names), unique=True))
    return tuple(
        Topic(name, count, tuple(frozenset(some(draw, RACKS, 1)) for _ in range(count)) if has_racks else (), topic_id)
        for name, count, topic_id in zip(names, counts, ids, strict=True)
    )


def _with_subscriptions(draw: st.DrawFn, shape: Shape, members: Sequence[Member], names: Sequence[str]) -> list[Member]:
    """Subscribe all members to the same topics, or each to its own."""
    if draw(BOOLEANS):
        topics = names if draw(BOOLEANS) else names[:1]
        return [evolve(member, topics=topics) for member in members]
    possible = [*names, UNKNOWN_TOPIC] if shape.conflicts else names
    return [evolve(member, topics=some(draw, possible)) for member in members]


def _with_instances(draw: st.DrawFn, members: Sequence[Member]) -> list[Member]:
    """Make all members static, or some, in another order than that of their ids."""
    instances = draw(st.permutations([f"i{number}" for number in range(len(members))]))
    static = tuple(range(len(members))) if draw(BOOLEANS) else some(draw, range(len(members)))
    return [
        evolve(member, instance_id=instance if index in static else None)
        for index, (member, instance) in enumerate(zip(members, instances, strict=True))
    ]


def _with_claims(draw: st.DrawFn, shape: Shape, members: Sequence[Member], topics: Sequence[Topic]) -> list[Member]:
    """Let members own what an earlier assignment gave them or, where they may contradict each other, claim anything."""
    extra = 2 if shape.shrunk_topics else 0
    partitions = [TopicPartition(topic.name, number) for topic in topics for number in range(topic.partitions + extra)]
    if shape.conflicts and draw(BOOLEANS):
        return [_claiming(draw, member, partitions) for member in members]
    owners = [draw(st.integers(-1, len(members) - 1)) for _ in partitions]
    claims = [tuple(one for one, owner in zip(partitions, owners, strict=True) if owner == index) for index in range(len(members))]
    return [told(member, owned, GENERATION) for member, owned in zip(members, claims, strict=True)]


def told(member: Member, owned: tuple[TopicPartition, ...], generation: int) -> Member:
    """Return a member that says in every place what it owns and since when, as a current client does."""
    return evolve(member, owned=owned, generation=generation, user_data=UserData(owned, generation))


def _claiming(draw: st.DrawFn, member: Member, partitions: Sequence[TopicPartition]) -> Member:
    """Let a member claim something, of some generation, which an older client does not tell everywhere."""
    owned = some(draw, partitions)
    full = told(member, owned, draw(st.integers(GENERATION - 2, GENERATION)))
    without = evolve(full, user_data=UserData(owned, None))
    return draw(st.sampled_from((full, full, full, evolve(full, generation=None), evolve(without, generation=None), member)))
