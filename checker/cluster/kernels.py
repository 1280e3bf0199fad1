# SPDX-License-Identifier: Apache-2.0
"""The compiled loops that only several shards need: whose a state is, parcels for its owner, and numbering what came in.

The origin of a state is one word: from which shard and by which number its parent is known, by which step it was found,
and whether that step changed the machine's own state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from hwmark.checker.tables.kernels import FILLED, Layout, Slots, mixed, row_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Owners = NDArray[np.uint16]

MOVED_BITS, INSTANCE_BITS, NUMBER_BITS = 1, 16, 32
"""How an origin is made, from the lowest bit on; the shard has the bits above."""
INSTANCE_AT, NUMBER_AT, SHARD_AT = MOVED_BITS, MOVED_BITS + INSTANCE_BITS, MOVED_BITS + INSTANCE_BITS + NUMBER_BITS
MOST_SHARDS, MOST_INSTANCES, MOST_NUMBER = 1 << 14, 1 << INSTANCE_BITS, (1 << NUMBER_BITS) - 2
ROOT = (1 << 64) - 1
"""The origin of initial states."""


@njit(inline="always")
def owner(word, shift, mask, factors, key, shards):  # type: ignore[no-untyped-def]
    """Return the shard of the state with this key: it follows from the codes alone, however they are packed."""
    total = np.uint64(0)
    for component in range(len(word)):
        total += ((key[word[component]] >> shift[component]) & mask[component]) * factors[component]
    return ((mixed(total) >> np.uint64(32)) * np.uint64(shards)) >> np.uint64(32)


@njit(nogil=True, cache=True)
def find_owners(layout: Layout, factors: Words, keys: Words, shards: int, owners: Owners) -> None:
    """Note whose each of these states is."""
    for index in range(len(keys)):
        owners[index] = owner(layout.word, layout.shift, layout.mask, factors, keys[index], shards)


@njit(nogil=True, cache=True)
def assign(layout: Layout, factors: Words, slots: Slots, last: int, shards: int, owners: Owners, counts: Longs, taken: Longs) -> None:
    """Note whose the successors in the slots below ``last`` are; count them by owner and by instance."""
    word, shift, mask = layout.word, layout.shift, layout.mask
    for slot in range(last):
        if slots.status[slot] != FILLED:
            continue
        taken[slots.instance[slot]] += 1
        whose = np.uint64(0)
        if shards > 1:
            whose = owner(word, shift, mask, factors, slots.keys[slot], shards)
        owners[slot] = whose
        counts[whose] += 1


@njit(nogil=True, cache=True)
def pack_parcels(
    slots: Slots,
    last: int,
    shard: int,
    own: Words,
    states: Words,
    owners: Owners,
    places: Longs,
    rows: Words,
    keys: Words,
    has_keys: bool,
    origins: Words,
) -> None:
    """Copy the successors in the slots below ``last`` to the next place of their owner, with their origin.

    ``own``: the bits of a row that are the machine's own. Without keys ``keys`` is not written.
    """
    width = rows.shape[1]
    for slot in range(last):
        if slots.status[slot] != FILLED:
            continue
        place = places[owners[slot]]
        places[owners[slot]] += 1
        source = slots.source[slot]
        differs = np.uint64(0)
        for part in range(width):
            value = slots.rows[slot, part]
            rows[place, part] = value
            differs |= (value ^ states[source, part]) & own[part]
        if has_keys:
            for part in range(width):
                keys[place, part] = slots.keys[slot, part]
        origins[place] = (
            (np.uint64(shard) << np.uint64(SHARD_AT))
            | (np.uint64(source) << np.uint64(NUMBER_AT))
            | (np.uint64(slots.instance[slot]) << np.uint64(INSTANCE_AT))
            | np.uint64(differs != 0)
        )


@njit(nogil=True, cache=True)
def hash_rows(rows: Words, hashes: Words) -> None:
    """Note the hash of each row."""
    for index in range(len(rows)):
        hashes[index] = row_hash(rows[index])


@njit(nogil=True, cache=True)
def number_new(slots: Slots, came_from: Words, known: int, table: Words, rows: Words, keys: Words, has_keys: bool, origins: Words) -> int:
    """Number the states that are new in the order of slots, and keep them; return how many states there are now.

    Targets of slots become what they stay.
    """
    start = known
    for slot in range(len(came_from)):
        target = slots.target[slot]
        if slots.place[slot] >= 0:
            entry = table[slots.place[slot]]
            table[slots.place[slot]] = (entry & np.uint64(0xFFFFFFFF00000000)) | np.uint64(known + 1)
            for part in range(rows.shape[1]):
                rows[known, part] = slots.rows[slot, part]
            if has_keys:
                for part in range(rows.shape[1]):
                    keys[known, part] = slots.keys[slot, part]
            origins[known] = came_from[slot]
            slots.target[slot] = known
            known += 1
        elif target >= start:
            slots.target[slot] = slots.target[target - start]
    return known
