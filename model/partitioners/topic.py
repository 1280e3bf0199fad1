# SPDX-License-Identifier: Apache-2.0
"""A topic as the metadata of a producer shows it: how many partitions, and which have a leader."""

from __future__ import annotations

from typing import assert_never

from attrs import frozen

from .rules import Availability


@frozen
class Topic:
    """So many partitions; ``available`` are those with a known leader, in order."""

    partitions: int
    available: tuple[int, ...]


def choosable(topic: Topic, availability: Availability) -> tuple[int, ...]:
    """Return the partitions among which to choose."""
    everything = tuple(range(topic.partitions))
    match availability:
        case Availability.AVAILABLE_FIRST:
            return topic.available or everything
        case Availability.IGNORED:
            return everything
        case _:
            assert_never(availability)
