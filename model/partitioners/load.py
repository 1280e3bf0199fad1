# SPDX-License-Identifier: Apache-2.0
"""The adaptive part of the built-in partitioner: partitions with shorter queues of batches are chosen more often (KIP-794)."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import assert_never

from attrs import frozen

from hwmark.model.machine import kafka

from .rules import Load


@frozen
class Queues:
    """Of so many partitions, those among which to choose: their ids, and how many batches wait for each.

    Those that are left out have no leader, or their broker was too slow for ``partitioner.availability.timeout.ms``.
    """

    partitions: int
    ids: tuple[int, ...]
    sizes: tuple[int, ...]


@frozen
class LoadStats:
    """Ids, and the running sum of their weights (``PartitionLoadStats``)."""

    ids: tuple[int, ...]
    cumulative_frequencies: tuple[int, ...]


@kafka(
    "BuiltInPartitioner.updatePartitionLoadStats",
    versions="3.3–4.3.1",
    simplified="what is cut off by the logical length of the arrays is not there",
)
def load_stats(queues: Queues, load: Load = Load.SHORTER_QUEUES_MORE) -> LoadStats | None:
    """Return the table to choose from, or ``None`` where all are alike, and the choice is uniform."""
    everybody = len(queues.ids) == queues.partitions
    if not queues.ids or queues.partitions < 2 or (everybody and len(set(queues.sizes)) == 1):
        return None
    return LoadStats(queues.ids, tuple(accumulate(weights(queues.sizes, load))))


def weights(sizes: tuple[int, ...], load: Load) -> tuple[int, ...]:
    """Return the weight of each queue."""
    match load:
        case Load.SHORTER_QUEUES_MORE:
            return tuple(max(sizes) + 1 - size for size in sizes)
        case Load.UNIFORM:
            return (1,) * len(sizes)
        case Load.SHORTEST_QUEUE:
            return tuple(int(size == min(sizes)) for size in sizes)
        case _:
            assert_never(load)


@kafka("BuiltInPartitioner.nextPartition", versions="3.3–4.3.1", simplified="the random number is given")
def weighted_choice(stats: LoadStats, random: int) -> int:
    """Return the partition that a random number stands for: the first whose running sum is greater."""
    table = stats.cumulative_frequencies
    return stats.ids[bisect_right(table, random % table[-1])]


def adaptive_shares(queues: Queues, load: Load = Load.SHORTER_QUEUES_MORE) -> tuple[int, ...] | None:
    """Return how often each of the queues is chosen when every random number comes once; ``None`` where the choice is uniform."""
    stats = load_stats(queues, load)
    if stats is None:
        return None
    chosen = [weighted_choice(stats, random) for random in range(stats.cumulative_frequencies[-1])]
    return tuple(chosen.count(one) for one in queues.ids)
