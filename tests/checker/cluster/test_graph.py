# SPDX-License-Identifier: Apache-2.0
"""States of several shards are numbered level by level, and in each level shard by shard, and are found again by number."""

from __future__ import annotations

import numpy as np

from hwmark.checker.cluster.graph import Numbering
from hwmark.checker.cluster.kernels import NUMBER_BITS

LEVELS = [[1, 0, 0], [0, 2, 1], [0, 0, 0], [3, 0, 2]]
"""How many states each of three shards has at each depth; one level is empty."""


def numbering() -> Numbering:
    """Return the numbering of these levels."""
    ends = np.cumsum(LEVELS, axis=0)
    return Numbering([np.zeros(3, np.int64), *ends[:-1]], ends[-1])


def test_numbers_grow_with_depth_and_then_with_the_shard() -> None:
    """The first state comes first, then the second level by shards, then the last one."""
    numbered = numbering()
    assert numbered.size == 9
    assert numbered.of(0, np.arange(4)).tolist() == [0, 4, 5, 6]
    assert numbered.of(1, np.arange(2)).tolist() == [1, 2]
    assert numbered.of(2, np.arange(3)).tolist() == [3, 7, 8]


def test_every_state_is_found_by_its_number() -> None:
    """Shard and number there are the inverse of the number."""
    numbered = numbering()
    for shard, size in enumerate(np.sum(LEVELS, axis=0).tolist()):
        for place in range(size):
            assert numbered.place(int(numbered.of(shard, np.array([place]))[0])) == shard << NUMBER_BITS | place
