# SPDX-License-Identifier: Apache-2.0
"""The round robin partitioner: each record goes to the next partition, whatever its key."""

from __future__ import annotations

from typing import assert_never

from attrs import frozen

from hwmark.model.machine import kafka

from .keys import to_positive
from .rules import Availability, RoundRobinRules, Turn
from .topic import Topic, choosable


@frozen
class Turns:
    """Records in turn: ``begins[i]`` says that a batch has to be begun for record i where it goes first."""

    topic: Topic
    begins: tuple[bool, ...]


@kafka(
    "RoundRobinPartitioner.partition",
    versions="2.4–4.3.1",
    simplified="the counter is a value of its own; which partitions are available may change from record to record",
)
def partition_in_turn(topic: Topic, count: int, availability: Availability = Availability.AVAILABLE_FIRST) -> int:
    """Return the partition whose turn it is when so many answers were given before; the counter may have become negative."""
    partitions = choosable(topic, availability)
    return partitions[to_positive(count) % len(partitions)]


def answers_before(begins: tuple[bool, ...], turn: Turn) -> int:
    """Return how many answers were given before the last one of these records went somewhere."""
    match turn:
        case Turn.ONCE:
            return len(begins) - 1
        case Turn.AGAIN_FOR_NEW_BATCH:
            return len(begins) - 1 + sum(begins)
        case _:
            assert_never(turn)


def round_robin_partitioner(turns: Turns, rules: RoundRobinRules | None = None) -> tuple[int, ...]:
    """Return the partition of each record."""
    rules = RoundRobinRules() if rules is None else rules
    given = (answers_before(turns.begins[: index + 1], rules.turn) for index in range(len(turns.begins)))
    return tuple(partition_in_turn(turns.topic, count, rules.availability) for count in given)
