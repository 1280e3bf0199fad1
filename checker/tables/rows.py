# SPDX-License-Identifier: Apache-2.0
"""States as packed rows of 64-bit words, and the table in which they are looked up.

Each component has as many bits as its codes need now, never across two words; once a code does not fit, all rows are
packed anew. States are numbered in the order in which they are found. All of them are held here, from number 0 on; or
those before ``first`` are stored elsewhere, and places here count from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .components import Components
from .kernels import SHARDS, Layout, enter_all, repack_rows
from .values import NotLearnableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD = 64
SPARE_BITS = 1
"""So many bits more than needed now, so that rows are seldom packed anew."""
FULLEST = 0.75
"""The share of a shard of the table that may be taken."""


class Rows:
    """All states that were found: packed rows, parents, and the steps that found them."""

    def __init__(self, components: Components, *, symmetry: bool) -> None:
        """Hold no states yet."""
        self.components, self.symmetry = components, symmetry
        self.first, self.known = 0, 0
        self.layout = layout_for([needed + SPARE_BITS for needed in self._bits()], components)
        self._allocate(1024)
        self.table = np.zeros(SHARDS * 256, np.uint64)
        self.counts = np.zeros(SHARDS, np.int64)

    def _bits(self) -> list[int]:
        return [max(1, (len(kind.values.values) - 1).bit_length()) for kind in self.components.kinds]

    def _allocate(self, room: int) -> None:
        words = int(self.layout.word.max(initial=0)) + 1
        self.rows = np.zeros((room, words), np.uint64)
        self.keys = np.zeros((room, words), np.uint64) if self.symmetry else self.rows
        self.parents, self.via = np.zeros(room, np.uint32), np.zeros(room, np.uint16)

    def fit(self) -> bool:
        """Pack all rows anew if a code does not fit any more; return whether that was done."""
        bits = self._bits()
        if all(needed <= int(mask).bit_length() for needed, mask in zip(bits, self.layout.mask, strict=True)):
            return False
        old, old_rows, old_keys = self.layout, self.rows, self.keys
        self.layout = layout_for([needed + SPARE_BITS for needed in bits], self.components)
        words = int(self.layout.word.max(initial=0)) + 1
        self.rows = _repacked(old, old_rows, self.layout, words, self.known)
        self.keys = _repacked(old, old_keys, self.layout, words, self.known) if self.symmetry else self.rows
        self._enter_again(len(self.table))
        return True

    def reserve(self, coming: NDArray[np.int64]) -> None:
        """Make room for so many more states in each shard of the table, and for all of them in the arrays."""
        wanted = self.known + int(coming.sum())
        if wanted > len(self.rows):
            self._grow(max(wanted, len(self.rows) + len(self.rows) // 2))
        size = len(self.table)
        while ((self.counts + coming) > FULLEST * (size // SHARDS)).any():
            size *= 2
        if size > len(self.table):
            self._enter_again(size)

    def _grow(self, room: int) -> None:
        alike = self.keys is self.rows
        self.rows = grown(self.rows, room)
        self.keys = self.rows if alike else grown(self.keys, room)
        self.parents, self.via = grown(self.parents, room), grown(self.via, room)

    def clear(self) -> None:
        """Hold no states any more, as all are stored elsewhere; what comes next has the next numbers."""
        self.skip(self.total)

    def skip(self, total: int) -> None:
        """Hold none of so many states."""
        self.first, self.known = total, 0
        self._allocate(1024)
        self._enter_again(SHARDS * 256)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Hold only these of the states, with the next numbers in their order."""
        places = np.flatnonzero(kept)
        for array in (self.rows, self.parents, self.via) + ((self.keys,) if self.symmetry else ()):
            array[: len(places)] = array[: self.known][places]
        self.known = len(places)
        self._enter_again(len(self.table))

    def take_in(self, rows: NDArray[np.uint64], keys: NDArray[np.uint64], parents: NDArray[Any], via: NDArray[Any]) -> None:
        """Hold more states, which are all new and packed as it is done here now."""
        known = self.known + len(rows)
        if known > len(self.rows):
            self._grow(max(known, len(self.rows) + len(self.rows) // 2))
        here = slice(self.known, known)
        self.rows[here], self.parents[here], self.via[here] = rows, parents, via
        if self.symmetry:
            self.keys[here] = keys
        size = len(self.table)
        while known > FULLEST / 2 * size:
            size *= 2
        if size > len(self.table):
            self.known = known
            self._enter_again(size)
        else:
            enter_all(self.keys, self.known, known, self.table, self.counts)
            self.known = known

    @property
    def total(self) -> int:
        """How many states there are, here and elsewhere."""
        return self.first + self.known

    def _enter_again(self, size: int) -> None:
        self.table = np.zeros(size, np.uint64)
        self.counts[:] = 0
        enter_all(self.keys, 0, self.known, self.table, self.counts)

    def own_rows(self) -> NDArray[np.uint64]:
        """Return the rows of all states without what observers remember."""
        kept = np.zeros(self.rows.shape[1], np.uint64)
        memories = sum(part.width for part in self.components.memories)
        for component in range(len(self.layout.word) - memories):
            kept[self.layout.word[component]] |= self.layout.mask[component] << self.layout.shift[component]
        return self.rows[: self.known] & kept

    @property
    def bytes_held(self) -> int:
        """How many bytes the arrays take."""
        held = self.rows.nbytes + self.parents.nbytes + self.via.nbytes + self.table.nbytes
        return held + (self.keys.nbytes if self.symmetry else 0)

    def bytes_with(self, more: int) -> int:
        """How many bytes the arrays take at most while they grow to hold so many more states."""
        states = self.known + more
        a_state = self.bytes_held - self.table.nbytes
        rows = a_state if states <= len(self.rows) else a_state // len(self.rows) * max(states, len(self.rows) * 3 // 2)
        size = len(self.table)
        while states > FULLEST * size:
            size *= 2
        return rows + self.table.nbytes + (8 * size if size > len(self.table) else 0)


def grown(array: NDArray[Any], room: int) -> NDArray[Any]:
    """Return a longer array with the same beginning; large ones are moved by the system, not copied."""
    array.resize((room, *array.shape[1:]), refcheck=False)
    return array


def _repacked(old: Layout, rows: NDArray[np.uint64], new: Layout, words: int, known: int) -> NDArray[np.uint64]:
    packed = np.zeros((len(rows), words), np.uint64)
    repack_rows(old, rows[:known], new, packed)
    return packed


def layout_for(bits: Sequence[int], components: Components) -> Layout:
    """Return a layout with so many bits for each component."""
    word, shift = [], []
    free: list[int] = []
    for component, needed in enumerate(bits):
        if needed > WORD // 2 - 1:
            raise NotLearnableError(f"{components.names[component]} needs {needed} bits")
        place = next((number for number, left in enumerate(free) if left >= needed), len(free))
        if place == len(free):
            free.append(WORD)
        word.append(place)
        shift.append(WORD - free[place])
        free[place] -= needed
    masks = [(1 << needed) - 1 for needed in bits]
    return Layout(np.array(word, np.int64), np.array(shift, np.uint64), np.array(masks, np.uint64))
