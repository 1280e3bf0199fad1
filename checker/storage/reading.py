# SPDX-License-Identifier: Apache-2.0
"""Reads the packed rows of a stored state space, and checks once all that a search will rely on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hwmark.checker.errors import InputError
from hwmark.checker.jsonfile import MAX_BYTES
from hwmark.checker.tables.components import Components

from .files import MANIFEST, Folder
from .manifest import Contents, PartFiles
from .parts import Found, Layout, RowsFile, unpacked
from .values import Codec, load_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BYTES = 1 << 20, 64
"""A file of rows is at most so large by itself, and by so much larger for each of its codes."""


class Reader:
    """Reads parts of a state space, in the order of numbers."""

    def __init__(self, folder: Folder, components: int) -> None:
        """Read from this folder states of so many components."""
        self.folder, self.components = folder, components

    def rows(self, parts: Sequence[PartFiles]) -> Iterator[tuple[int, NDArray[np.uint64], Layout]]:
        """Yield the first number, the packed rows and the layout of each part."""
        for file in self._files(parts):
            yield file.first, file.rows(), file.layout

    def found(self, parts: Sequence[PartFiles]) -> Iterator[Found]:
        """Yield the states of each part, and how they were found."""
        for file in self._files(parts):
            yield file.found()

    def around(self, parts: Sequence[PartFiles], number: int) -> Found:
        """Return some states with consecutive numbers, and this number among them."""
        starts = _starts(parts)
        place = bisect_right(starts, number) - 1
        return self._file(starts[place], parts[place]).group_of(number)

    def _files(self, parts: Sequence[PartFiles]) -> Iterator[RowsFile]:
        for first, part in zip(_starts(parts), list(parts), strict=False):
            yield self._file(first, part)

    def _file(self, first: int, part: PartFiles) -> RowsFile:
        least, each = MOST_BYTES
        if part.rows.bytes > least + each * part.count * (self.components + 2):
            self.folder.damaged(part.rows.name, f"it is too large for {part.count} states")
        return RowsFile(self.folder.path / part.rows.name, self.folder.read(part.rows), first, part.count, self.components)


def _starts(parts: Sequence[PartFiles]) -> list[int]:
    starts: list[int] = np.cumsum([0, *(part.count for part in parts)]).tolist()
    return starts


# -- opening --


def restore(reader: Reader, contents: Contents, codec: Codec, components: Components, instances: int) -> list[int]:
    """Check all files and all numbers in them, and enter the values into the tables; return how many each has.

    Raises ``InputError`` where something is not as it must be.
    """
    folder = reader.folder
    if len(contents.taken) != instances and contents.known:
        folder.damaged(MANIFEST, f"it counts {len(contents.taken)} instances of actions, and there are {instances}")
    for file in contents.files:
        folder.check(file)
    try:
        counts = load_values(codec, components.parts, _lines(folder, contents))
    except InputError as error:
        raise InputError(f"{folder.shown()} is damaged: {error}") from None
    each = [count for part, count in zip(components.parts, counts, strict=True) for _ in range(part.width)]
    starts = _starts_of_levels(contents)
    for part, found in zip(contents.parts, reader.found(contents.parts), strict=True):
        wrong = _wrong(found, each, instances, starts)
        if wrong is not None:
            folder.damaged(part.rows.name, wrong)
    return counts


def _lines(folder: Folder, contents: Contents) -> Iterator[bytes]:
    for file in contents.values:
        with folder.opened(file.name) as stream:
            while line := stream.readline(MAX_BYTES):
                yield line


def _starts_of_levels(contents: Contents) -> NDArray[np.int64]:
    return np.cumsum([0, *contents.levels])


def _wrong(found: Found, values: Sequence[int], instances: int, starts: NDArray[np.int64]) -> str | None:
    """Return what is wrong with some states, or ``None``: a code without a value, or an impossible parent or step."""
    for component, count in enumerate(values):
        if int(unpacked(found.rows, found.layout, component).max(initial=-1)) >= count:
            return f"component {component} has a code without a value"
    numbers = np.arange(found.first, found.first + len(found.rows))
    levels = np.searchsorted(starts, numbers, side="right") - 1
    later = levels > 0
    if found.parents[~later].any() or found.via[~later].any():
        return "an initial state has a parent"
    parents, before = found.parents[later], levels[later] - 1
    if not ((parents >= starts[before].astype(np.uint64)) & (parents < starts[before + 1].astype(np.uint64))).all():
        return "a state's parent is not in the level before"
    if int(found.via[later].max(initial=0)) >= max(instances, 1):
        return "a state was found by a step that does not exist"
    return None
