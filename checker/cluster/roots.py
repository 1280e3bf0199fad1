# SPDX-License-Identifier: Apache-2.0
"""The initial states, which the driver knows before there are shards: the different ones, and whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hwmark.checker.tables.kernels import Slots, pack
from hwmark.checker.tables.learner import Learner
from hwmark.checker.tables.rows import Rows

from .kernels import NUMBER_BITS, ROOT, find_owners
from .messages import Parcel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Roots:
    """The different initial states, by the numbers that they get in their shards."""

    def __init__(self, learner: Learner, packing: Rows, shards: int) -> None:
        """Find out which are the same, and deal them out."""
        self.learner, self.packing, self.shards = learner, packing, shards
        self.factors = factors(len(learner.components.kinds))
        """By what codes are multiplied to find the owner of a state."""
        initial = [learner.components.encode(state) for state in learner.system.initial]
        learner.rename_new()
        packing.fit()
        slots = self._packed(initial)
        _, places = np.unique(slots.keys, axis=0, return_index=True)
        places.sort()
        owners = np.zeros(len(places), np.uint16)
        find_owners(packing.layout, self.factors, slots.keys[places], shards, owners)
        self.codes: dict[int, list[int]] = {}
        """The codes of each, by number."""
        self.places: dict[int, int] = {}
        """The place of each among the machine's initial states, by number."""
        known = [0] * shards
        for place, owner in zip(places.tolist(), owners.tolist(), strict=True):
            number = owner << NUMBER_BITS | known[owner]
            known[owner] += 1
            self.codes[number], self.places[number] = initial[place], place

    def parcels(self) -> dict[int, Parcel]:
        """Return the parcel for each shard that owns any, packed as rows are now."""
        dealt = {}
        for shard in range(self.shards):
            slots = self._packed([codes for number, codes in self.codes.items() if number >> NUMBER_BITS == shard])
            if len(slots.rows):
                keys = slots.keys if self.packing.symmetry else None
                dealt[shard] = Parcel(slots.rows, keys, np.full(len(slots.rows), ROOT, np.uint64))
        return dealt

    def _packed(self, states: list[list[int]]) -> Slots:
        layout = self.packing.layout
        shape = (len(states), int(layout.word.max(initial=0)) + 1)
        rows = np.zeros(shape, np.uint64)
        slots = Slots(
            status=np.zeros(0, np.uint8),
            source=np.zeros(0, np.int64),
            instance=np.zeros(0, np.int32),
            hashes=np.zeros(len(states), np.uint64),
            rows=rows,
            keys=np.zeros(shape, np.uint64) if self.packing.symmetry else rows,
            target=np.zeros(0, np.int64),
            place=np.zeros(0, np.int64),
            unasked=np.zeros(0, np.uint8),
        )
        for place, codes in enumerate(states):
            pack(self.learner.forest.arrays(), layout, self.learner.renamings, np.array(codes, np.int32), slots, place)
        return slots


def factors(components: int) -> NDArray[np.uint64]:
    """Return by what the codes of a state are multiplied to find its owner: odd numbers without a pattern."""
    golden, mask, found = 0x9E3779B97F4A7C15, (1 << 64) - 1, []
    for place in range(1, components + 1):
        value = place * golden & mask
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & mask
        value = (value ^ value >> 27) * 0x94D049BB133111EB & mask
        found.append((value ^ value >> 31) | 1)
    return np.array(found, np.uint64)
