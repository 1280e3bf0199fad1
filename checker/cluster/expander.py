# SPDX-License-Identifier: Apache-2.0
"""Takes every step from a shard's states, chunk by chunk, and makes parcels for the owners of what they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hwmark.checker.tables import kernels
from hwmark.checker.tables.kernels import FILLED, MISSING, Layout, Slots

from .arrays import findings, misses, missing, repacked_parcel, width_of
from .kernels import assign, pack_parcels
from .messages import Expanded, Knowledge, Missing, Parcel, Settings
from .store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]

MOST_SLOTS = 1 << 18
"""Slots of one chunk of states."""
MOST_STATES = 1 << 12
"""States of one chunk."""
MOST_NOTED = 1 << 15
"""Missing answers that are noted before somebody is asked."""
NO_SLOTS = np.zeros(0, np.int64)


class Expander:
    """Expands the states of a store in their order; what is found waits in ``outgoing``, for each shard."""

    def __init__(self, number: int, shards: int, settings: Settings, store: Store) -> None:
        """Expand nothing yet."""
        self.number, self.shards, self.settings, self.store = number, shards, settings, store
        self.outgoing: list[list[Parcel]] = [[] for _ in range(shards)]
        self.states = max(1, min(MOST_STATES, MOST_SLOTS // max(1, settings.instances)))
        room = self.states * settings.instances
        self.slots = Slots(
            status=np.zeros(room, np.uint8),
            source=np.zeros(room, np.int64),
            instance=np.zeros(room, np.int32),
            hashes=np.zeros(room, np.uint64),
            rows=np.zeros((0, 0), np.uint64),
            keys=np.zeros((0, 0), np.uint64),
            target=np.zeros(0, np.int64),
            place=np.zeros(0, np.int64),
            unasked=np.zeros(room, np.uint8),
        )
        self.owners = np.zeros(room, np.uint16)
        self.misses, self.unanswered = misses(room), misses(MOST_NOTED)
        self.next, self.chunk_end, self.filled = 0, 0, 0
        """The chunk from ``next`` to ``chunk_end`` is in so many slots."""
        self.found: Expanded | None = None
        self._fit_layout()

    def _fit_layout(self) -> None:
        """Make the slots as wide as rows are now, and note which bits are the machine's own."""
        layout, shape = self.store.layout, (len(self.slots.status), self.store.rows.shape[1])
        packed = np.zeros(shape, np.uint64)
        self.slots = self.slots._replace(rows=packed, keys=np.zeros(shape, np.uint64) if self.settings.symmetry else packed)
        self.own = np.zeros(width_of(layout), np.uint64)
        for component in range(self.settings.components - self.settings.memories):
            self.own[layout.word[component]] |= layout.mask[component] << layout.shift[component]

    def repack(self, old: Layout) -> None:
        """Pack what was found in the new layout of the store; a chunk that waits is expanded anew."""
        self.outgoing = [[repacked_parcel(old, parcel, self.store.layout) for parcel in parcels] for parcels in self.outgoing]
        self._fit_layout()
        self.slots.unasked[: self.filled] = 1

    def expand(self, last: int, known: Knowledge) -> Missing | Expanded:
        """Take every step from the states up to number ``last`` (exclusive), or say what is missing, and go on when told."""
        if self.found is None:
            taken, sent = np.zeros(self.settings.instances, np.int64), np.zeros(self.shards, np.int64)
            self.found = Expanded(taken, sent, findings(len(known.of_steps.roots)), np.full(1, -1, np.int64))
        while self.next < last:
            absent = self._fill(min(last, self.next + self.states), known, self.found)
            if absent is not None:
                return absent
            self._pack_up(self.found)
        found, self.found = self.found, None
        return found

    def _fill(self, last: int, known: Knowledge, found: Expanded) -> Missing | None:
        """Fill the slots with the steps from the next states; return what is missing, if anything is."""
        slots, again = self.slots, NO_SLOTS
        if self.chunk_end == self.next:
            self.chunk_end = last
        else:
            again = self._open_slots()
        end, missed, unknown = kernels.expand(
            known.trees,
            self.store.layout,
            known.renamings,
            known.actions,
            known.of_steps,
            self.settings.instances,
            self.store.rows,
            self.next,
            self.next if len(again) else self.chunk_end,
            again,
            slots,
            0,
            found.findings,
            found.impossible,
            self.misses,
            self.unanswered,
        )
        if not len(again):
            self.filled = end
        if missed + unknown == 0:
            return None
        where = np.concatenate((self.misses.where[:missed], self.unanswered.where[:unknown]))
        roots = np.concatenate((self.misses.root[:missed], self.unanswered.root[:unknown]))
        keys = np.concatenate((self.misses.key[:missed], self.unanswered.key[:unknown]))
        return missing(self.store.layout, self.store.rows[slots.source[where]], roots, keys, slots.instance[where])

    def _open_slots(self) -> Longs:
        """Return the slots for which something was missing."""
        status = self.slots.status[: self.filled]
        return np.flatnonzero((status == MISSING) | ((status == FILLED) & (self.slots.unasked[: self.filled] > 0)))

    def _pack_up(self, found: Expanded) -> None:
        """Make parcels of what is in the slots, and go on to the next states."""
        symmetry, counts = self.settings.symmetry, np.zeros(self.shards, np.int64)
        layout, factors, shards = self.store.layout, self.settings.factors, self.shards
        assign(layout, factors, self.slots, self.filled, shards, self.owners, counts, found.taken)
        ends = np.cumsum(counts)
        starts, shape = ends - counts, (int(ends[-1]), self.store.rows.shape[1])
        rows, origins = np.empty(shape, np.uint64), np.empty(shape[0], np.uint64)
        keys, places = np.empty(shape, np.uint64) if symmetry else rows, starts.copy()
        number, states = self.number, self.store.rows
        pack_parcels(self.slots, self.filled, number, self.own, states, self.owners, places, rows, keys, symmetry, origins)
        for owner in np.flatnonzero(counts).tolist():
            part = slice(starts[owner], ends[owner])
            self.outgoing[owner].append(Parcel(rows[part], keys[part] if symmetry else None, origins[part]))
        found.sent[:] += counts
        self.next, self.filled = self.chunk_end, 0
