# SPDX-License-Identifier: Apache-2.0
"""All groups of a scope, the smallest first: what a proof about an assignor asks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import TypeVar

from attrs import evolve, frozen

from hwmark.model.assignors.groups import Group, Member, Topic, TopicPartition, UserData

T = TypeVar("T")

TOPICS = ("t", "u", "v")


@frozen
class Scope:
    """How large groups get: the most of each. Every topic has as many partitions, and every member something to say."""

    members: int = 2
    topics: int = 1
    partitions: int = 2
    claims: int = 3
    """Of one member."""
    generations: int = 2
    vanished: int = 0
    """How many partitions beyond its end are claimed of a topic."""
    differ: bool = False
    """Whether members subscribe to different topics."""
    silent: bool = False
    """Whether the subscription of a member need not tell the generation that its user data tells."""


def questions(scope: Scope) -> Iterator[Group]:
    """Yield every group of a scope; of two the smaller one first."""
    counts = product(range(1, scope.members + 1), range(1, scope.topics + 1), range(1, scope.partitions + 1))
    yield from sorted((group for members, topics, partitions in counts for group in _groups(scope, members, topics, partitions)), key=size)


def size(group: Group) -> int:
    """Return how much there is in a group: members, partitions, subscriptions and claims."""
    said = sum(len(member.topics) + len(member.owned) for member in group.members)
    return len(group.members) + sum(topic.partitions for topic in group.topics) + said


def _groups(scope: Scope, members: int, topics: int, partitions: int) -> Iterator[Group]:
    names = TOPICS[:topics]
    claimable = [TopicPartition(name, number) for name in names for number in range(partitions + scope.vanished)]
    subscriptions = list(subsets(names, topics)) if scope.differ else [names]
    said = [
        (subscription, tuple(owned), generation)
        for subscription in subscriptions
        for owned in subsets(claimable, scope.claims)
        for generation in range(1, scope.generations + 1)
    ]
    for chosen in product(said, repeat=members):
        group = tuple(
            Member(f"m{number}", topics=subscription, owned=owned, generation=generation, user_data=UserData(owned, generation))
            for number, (subscription, owned, generation) in enumerate(chosen, start=1)
        )
        for silent in subsets(range(members), members) if scope.silent else ((),):
            heard = tuple(evolve(one, generation=None) if index in silent else one for index, one in enumerate(group))
            yield Group(tuple(Topic(name, partitions) for name in names), heard)


def subsets(values: tuple[T, ...] | list[T] | range, most: int) -> Iterator[tuple[T, ...]]:
    """Yield all selections of at most so many values, the smallest first."""
    return chain.from_iterable(combinations(values, count) for count in range(min(most, len(values)) + 1))  # type: ignore[arg-type]
