# SPDX-License-Identifier: Apache-2.0
"""States on disk: kept there to go on from after an interruption, or since they do not fit into memory any more.

Beyond its memory a search holds only candidates: states that it found and did not meet since it last looked through what
is stored. ``settle`` looks through it, and drops those that were known. Numbers stay those of a search in memory, since
candidates are in the order in which they were found.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hwmark.checker.explore import Options
from hwmark.checker.storage.checkpoint import StateSpace
from hwmark.checker.storage.manifest import describe
from hwmark.checker.system import System
from hwmark.spec.property import Property

from . import kernels
from .components import Components
from .kernels import Layout
from .learner import Learner
from .rows import Rows
from .search import Window

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Stored:
    """The states of a search on disk, in the directory of a checkpoint or in a temporary one."""

    def __init__(
        self, explored: System, components: Components, properties: Sequence[Property], options: Options, *, replace: bool
    ) -> None:
        """Open the directory of the options to go on from it, or make a new one; ``replace``: instead of one that is ours."""
        self.is_checkpoint = options.checkpoint is not None
        self._closing = ExitStack()
        description = describe(explored, components, properties, symmetry=options.symmetry)
        if options.resume and options.checkpoint is not None and not replace:
            self.space = StateSpace.open(options.checkpoint, explored, components, description)
        else:
            folder = options.checkpoint or Path(self._closing.enter_context(tempfile.TemporaryDirectory(prefix="hwmark-")))
            self.space = StateSpace.create(folder, explored, components, description, queryable=self.is_checkpoint, replace=replace)
        self._closing.callback(self.space.close)
        self._window: Window | None = None

    def close(self) -> None:
        """Let go of the directory, and delete a temporary one."""
        self._closing.close()

    def store(self, rows: Rows, levels: Sequence[int]) -> None:
        """Store all states in memory that are not stored yet; ``levels``: how many there are of each."""
        start = 0
        for level, size in enumerate(levels):
            first, last = max(start, self.space.known), start + size
            if first < last:
                here = slice(first - rows.first, last - rows.first)
                self.space.append(level, rows.rows[here], rows.layout, rows.parents[here], rows.via[here])
            start += size

    def window(self, number: int) -> Window:
        """Return some states to expand, the one with this number among them."""
        if self._window is None or not self._window.first <= number < self._window.end:
            self._window = next(one for one in self._windows() if one.first <= number < one.end)
        return self._window

    def _windows(self) -> Iterator[Window]:
        return (Window(first, packed, Layout(*layout)) for first, packed, layout in self.space.rows())

    def load(self, rows: Rows, learner: Learner) -> None:
        """Take all stored states into memory, but the first ones, which are there already."""
        rows.fit()
        for part in self.space.found():
            known = max(0, rows.total - part.first)
            packed = Window(part.first, part.rows, Layout(*part.layout)).packed_as(rows.layout)[known:]
            rows.take_in(packed, _keys(packed, rows, learner), part.parents[known:], part.via[known:])

    def settle(self, rows: Rows, learner: Learner) -> NDArray[np.int64]:
        """Drop the candidates that are stored already; return for each the number that it has now, or had all along."""
        originals = np.full(rows.known, -1, np.int64)
        for window in self._windows():
            stored = window.packed_as(rows.layout)
            kernels.find_again(_keys(stored, rows, learner), window.first, rows.keys, rows.table, originals)
        is_new = originals < 0
        numbers = np.where(is_new, rows.first + np.cumsum(is_new) - 1, originals)
        rows.keep(is_new)
        return numbers


def _keys(packed: NDArray[np.uint64], rows: Rows, learner: Learner) -> NDArray[np.uint64]:
    if not rows.symmetry:
        return packed
    keys = np.zeros_like(packed)
    kernels.key_rows(learner.forest.arrays(), rows.layout, learner.renamings, packed, keys)
    return keys
