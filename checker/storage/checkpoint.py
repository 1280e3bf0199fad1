# SPDX-License-Identifier: Apache-2.0
"""A state space on disk: states are appended as they are found, and committed together with how far the search is.

What was committed last survives whatever happens later: an interrupted or failed write, or the end of the process at any
moment. Opening it again checks every file, and every number in it that the search relies on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from attrs import evolve

from hwmark.checker.errors import InputError
from hwmark.checker.system import System
from hwmark.checker.tables.components import Components

from .files import Folder, next_number, rows_name, states_name, values_name
from .manifest import EMPTY, Contents, Manifest, PartFiles, Plain, check_same, load
from .parts import PART_STATES, Found, Layout, StatesWriter, dump_rows, repacked, unpacked, width
from .reading import Reader, restore
from .values import Codec, dump_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

COMMIT_EVERY = 20.0
"""Seconds of searching that may be lost."""


@contextmanager
def _closed_on_failure(folder: Folder) -> Iterator[None]:
    try:
        yield
    except BaseException:
        folder.close()
        raise


class StateSpace:
    """A state space in a directory that this process has to itself; made by ``create`` or ``open``, and closed at the end."""

    def __init__(self, folder: Folder, explored: System, components: Components, manifest: Manifest) -> None:
        """Hold what the manifest says."""
        self._folder, self._components, self._description = folder, components, manifest.description
        self._steps = [str(step) for step in explored.steps]
        self._codec = Codec(components.parts)
        self.contents = manifest.contents
        self._parts = list(manifest.contents.parts)
        self._stored = [0] * len(components.parts)
        self._next_values = next_number(manifest.contents.values)
        self._pending: list[Found] = []
        self._flushed = manifest.contents.known
        self._reader = Reader(folder, len(components.kinds))
        self._writer = StatesWriter(components, self._steps) if manifest.contents.queryable else None
        self._committed = time.monotonic()
        self.levels = list(manifest.contents.levels)
        self.conclusions = manifest.conclusions

    # -- making, opening and closing --

    @classmethod
    def create(  # noqa: PLR0913
        cls, directory: Path, explored: System, components: Components, description: Plain, *, queryable: bool = True, replace: bool = False
    ) -> StateSpace:
        """Begin a state space in a new or empty directory; ``replace``: or in one that holds a state space, which is deleted.

        Unless it is to be ``queryable``, states are only stored packed, which takes half the place and a tenth of the time.
        """
        folder = Folder(directory, create=True)
        with _closed_on_failure(folder):
            if folder.has_manifest and not replace:
                raise InputError(f"{folder.shown()} holds a state space already: go on with that one, or choose another directory")
            if folder.has_manifest:
                load(folder.path)  # what is somebody else's is not deleted
            made = cls(folder, explored, components, Manifest(description, evolve(EMPTY, queryable=queryable), None))
            folder.replace_manifest(Manifest(description, made.contents, None).dump())
            folder.remove_all_but(())
            return made

    @classmethod
    def open(cls, directory: Path, explored: System, components: Components, description: Plain) -> StateSpace:
        """Open a state space to go on with it, and enter its values into the tables of the components.

        Leftovers of an interrupted write are removed. Raises ``InputError`` if it is about something else, or damaged.
        """
        folder = Folder(directory, create=False)
        with _closed_on_failure(folder):
            manifest = load(folder.path)
            check_same(manifest.description, description, folder.shown())
            space = cls(folder, explored, components, manifest)
            space._stored = restore(space._reader, manifest.contents, space._codec, components, len(explored.steps))
            folder.remove_all_but({file.name for file in manifest.contents.files})
            return space

    def close(self) -> None:
        """Let others use the directory; what was not committed is lost."""
        self._folder.close()

    def __enter__(self) -> Self:
        """Use it for a while."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Close it."""
        self.close()

    # -- how far the search is --

    @property
    def known(self) -> int:
        """How many states there are."""
        return sum(self.levels)

    @property
    def is_due(self) -> bool:
        """Whether enough would be lost now for a commit to be worth its time."""
        return time.monotonic() - self._committed >= COMMIT_EVERY

    # -- writing --

    def append(
        self, level: int, rows: Words, layout: tuple[NDArray[np.int64], Words, Words], parents: NDArray[Any], via: NDArray[Any]
    ) -> None:
        """Add states with the next numbers, all of one level, and how each was found: from which state, by which instance.

        The arrays are copied. A part of the space is written whenever there are enough states for one.
        """
        if level not in (len(self.levels) - 1, len(self.levels)):
            raise ValueError(f"states of level {level} cannot follow those of level {len(self.levels) - 1}")
        if not len(rows):
            return
        word, shift, mask = layout
        own = Layout(word.copy(), shift.copy(), mask.copy())
        if rows.shape[1] != width(own):
            raise ValueError(f"rows of {rows.shape[1]} words are not in a layout of {width(own)}")
        first = self.known
        if level == len(self.levels):
            self.levels.append(0)
        self.levels[level] += len(rows)
        self._pending.append(Found(first, np.array(rows), own, parents.astype(np.uint64), via.astype(np.uint32)))
        while self.known - self._flushed >= PART_STATES:
            self._flush()

    def commit(self, *, expanded: int, taken: Sequence[int], conclusions: Any, complete: bool = False) -> None:
        """Make all that was appended durable, together with how far the search is; the last commit stays until this is done.

        ``expanded``: so many states were expanded, and ``taken`` counts their steps. The search goes on exactly there.
        """
        while self._pending:
            self._flush()
        counts = [len(part.kind.values.values) for part in self._components.parts]
        content = b"".join(dump_values(self._codec, self._components.parts, self._stored))
        files = list(self.contents.values)
        if content:
            files.append(self._folder.draft(values_name(self._next_values), content))
            self._next_values += 1  # also if this commit fails later: its manifest might be there already
        contents = Contents(
            queryable=self._writer is not None,
            levels=tuple(self.levels),
            expanded=expanded,
            taken=tuple(map(int, taken)),
            complete=complete,
            parts=tuple(self._parts),
            values=tuple(files),
        )
        manifest = Manifest(self._description, contents, conclusions).dump()
        self._folder.publish()
        self._folder.replace_manifest(manifest)
        self.contents, self._stored, self.conclusions = contents, counts, conclusions
        self._committed = time.monotonic()

    def _flush(self) -> None:
        """Write one part with the first of the pending states."""
        self._pending = [_joined(self._pending)]
        part, rest = _split(self._pending[0], PART_STATES)
        number = len(self._parts)
        rows = self._folder.draft(rows_name(number), dump_rows(part))
        states = None
        if self._writer is not None:
            states = self._folder.draft(states_name(number), self._writer.dump(part, self._levels_of(part)))
        self._parts.append(PartFiles(len(part.rows), rows, states))
        self._pending = [rest] if len(rest.rows) else []
        self._flushed += len(part.rows)

    def _levels_of(self, found: Found) -> NDArray[np.uint32]:
        starts = np.cumsum([0, *self.levels])
        numbers = np.arange(found.first, found.first + len(found.rows))
        return (np.searchsorted(starts, numbers, side="right") - 1).astype(np.uint32)

    # -- reading --

    def rows(self) -> Iterator[tuple[int, Words, Layout]]:
        """Yield all states in the order of their numbers, part by part: the first number, the packed rows, their layout."""
        yield from self._reader.rows(self._parts)
        yield from ((one.first, one.rows, one.layout) for one in self._pending)

    def found(self) -> Iterator[Found]:
        """Yield all states in the order of their numbers, part by part, and how they were found."""
        yield from self._reader.found(self._parts)
        yield from self._pending

    def at(self, number: int) -> tuple[list[int], int, int]:
        """Return the codes of one state, its parent, and the instance that found it."""
        if number < self._flushed:
            found = self._reader.around(self._parts, number)
        else:
            found = next(one for one in self._pending if number < one.first + len(one.rows))
        place = number - found.first
        row = found.rows[place : place + 1]
        codes = [int(unpacked(row, found.layout, component)[0]) for component in range(len(found.layout.word))]
        return codes, int(found.parents[place]), int(found.via[place])


# -- pending states --


def _joined(pending: Sequence[Found]) -> Found:
    """Return the pending states as one, in the layout of the last."""
    layout = pending[-1].layout
    rows = [one.rows if _is_same(one.layout, layout) else repacked(one, layout) for one in pending]
    if len(pending) == 1:
        return pending[0]
    parents, via = (np.concatenate([getattr(one, name) for one in pending]) for name in ("parents", "via"))
    return Found(pending[0].first, np.concatenate(rows), layout, parents, via)


def _is_same(one: Layout, other: Layout) -> bool:
    return all(np.array_equal(left, right) for left, right in zip(one, other, strict=True))


def _split(found: Found, most: int) -> tuple[Found, Found]:
    """Return the first states, at most so many, and the rest."""
    first, rest = (
        Found(start, found.rows[part], found.layout, found.parents[part], found.via[part])
        for start, part in ((found.first, slice(most)), (found.first + most, slice(most, None)))
    )
    return first, rest
