# SPDX-License-Identifier: Apache-2.0
"""The states that one shard owns: packed rows, where they came from, and the table in which they are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hwmark.checker.tables.kernels import FILLED, SHARDS, Layout, Slots, count_shards, enter_all, look_up
from hwmark.checker.tables.rows import FULLEST, grown

from .arrays import repacked, width_of
from .kernels import hash_rows, number_new
from .messages import Parcel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]

ROOM = 1024
"""States for which there is room at first."""


class Store:
    """The states of a shard, numbered as they come in."""

    def __init__(self, layout: Layout, *, symmetry: bool) -> None:
        """Hold no states yet."""
        self.layout, self.symmetry = layout, symmetry
        self.known = 0
        self.rows = np.zeros((ROOM, width_of(layout)), np.uint64)
        self.keys = np.zeros_like(self.rows) if symmetry else self.rows
        self.origins = np.zeros(ROOM, np.uint64)
        self.table = np.zeros(SHARDS * 256, np.uint64)
        self.counts = np.zeros(SHARDS, np.int64)

    def take_in(self, parcel: Parcel) -> Longs:
        """Number what is new, in its order; return the number of each state of the parcel."""
        came = len(parcel.rows)
        keys = parcel.rows if parcel.keys is None else parcel.keys
        slots = Slots(
            status=np.full(came, FILLED, np.uint8),
            source=np.zeros(0, np.int64),
            instance=np.zeros(0, np.int32),
            hashes=np.empty(came, np.uint64),
            rows=parcel.rows,
            keys=keys,
            target=np.empty(came, np.int64),
            place=np.empty(came, np.int64),
            unasked=np.zeros(0, np.uint8),
        )
        hash_rows(keys, slots.hashes)
        segments = np.array([[0, came]], np.int64)
        coming = np.zeros(SHARDS, np.int64)
        count_shards(slots, segments, coming)
        self._reserve(coming)
        look_up(slots, segments, self.keys, self.known, self.table, 0, SHARDS, self.counts)
        self.known = number_new(slots, parcel.origins, self.known, self.table, self.rows, self.keys, self.symmetry, self.origins)
        return slots.target

    def repack(self, layout: Layout) -> None:
        """Pack all rows in another layout, and enter them anew."""
        room, old, self.layout = len(self.rows), self.layout, layout
        self.rows = grown(repacked(old, self.rows[: self.known], layout), room)
        self.keys = grown(repacked(old, self.keys[: self.known], layout), room) if self.symmetry else self.rows
        self._enter_again(len(self.table))

    def _reserve(self, coming: Longs) -> None:
        """Make room for so many more states in each part of the table."""
        wanted = self.known + int(coming.sum())
        if wanted > len(self.rows):
            room = max(wanted, len(self.rows) + len(self.rows) // 2)
            self.rows = grown(self.rows, room)
            self.keys = grown(self.keys, room) if self.symmetry else self.rows
            self.origins = grown(self.origins, room)
        size = len(self.table)
        while ((self.counts + coming) > FULLEST * (size // SHARDS)).any():
            size *= 2
        if size > len(self.table):
            self._enter_again(size)

    def _enter_again(self, size: int) -> None:
        self.table = np.zeros(size, np.uint64)
        self.counts[:] = 0
        enter_all(self.keys, 0, self.known, self.table, self.counts)

    @property
    def bytes_held(self) -> int:
        """How many bytes the arrays take."""
        held = self.rows.nbytes + self.origins.nbytes + self.table.nbytes
        return held + (self.keys.nbytes if self.symmetry else 0)
