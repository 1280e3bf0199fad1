# SPDX-License-Identifier: Apache-2.0
"""All topics of a scope, the smallest first: what a proof about the placer asks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attrs import frozen

from hwmark.model.placement.placer import Topic, UsableBroker

RACKS = ("a", "b", "c")


@frozen
class Scope:
    """How large topics and clusters get: the most of each."""

    brokers: int = 4
    racks: int = 2
    """If it is one, brokers have no racks."""
    partitions: int = 4
    replication_factor: int = 3
    """It begins at zero, and is also asked for where there are fewer brokers."""
    draws: int = 1
    """How many of the first draws are also ones; all others are zeros."""
    fenced: bool = False
    """Whether brokers may be fenced."""


def questions(scope: Scope) -> Iterator[Topic]:
    """Yield every topic of a scope; of two the smaller one first."""
    yield from sorted((topic for brokers in clusters(scope) for topic in topics(scope, brokers)), key=size)


def clusters(scope: Scope) -> Iterator[tuple[UsableBroker, ...]]:
    """Yield every cluster, with every way to lay brokers in racks."""
    racks = RACKS[: scope.racks] if scope.racks > 1 else (None,)
    for count in range(1, scope.brokers + 1):
        for laid, fenced in product(product(racks, repeat=count), product((False, True) if scope.fenced else (False,), repeat=count)):
            yield tuple(UsableBroker(broker, laid[broker], fenced[broker]) for broker in range(count))


def topics(scope: Scope, brokers: tuple[UsableBroker, ...]) -> Iterator[Topic]:
    """Yield every topic on these brokers, with every draw."""
    for partitions, factor in product(range(1, scope.partitions + 1), range(scope.replication_factor + 1)):
        for draws in product((0, 1), repeat=scope.draws):
            yield Topic(brokers, partitions, factor, draws)


def size(topic: Topic) -> int:
    """Return how much there is in a question: brokers, those that are fenced, partitions, replicas, and draws."""
    fenced = sum(broker.fenced for broker in topic.brokers)
    return len(topic.brokers) + fenced + topic.partitions + topic.replication_factor + sum(topic.draws)
