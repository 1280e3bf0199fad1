# SPDX-License-Identifier: Apache-2.0
"""Small things that shards do with arrays: make them writable, pack them anew, join them, note what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hwmark.checker.tables.kernels import Findings, Layout, Misses, repack_rows, unpack_rows

from .messages import Missing, Parcel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]

T = TypeVar("T")


def writable(value: T) -> T:
    """Return arrays, and tuples of them, of the kind that kernels are compiled for: what Ray hands out is read-only."""
    made: Any = value
    if isinstance(value, np.ndarray):
        made = value if value.flags.writeable else value.copy()
    elif isinstance(value, tuple):
        made = type(value)(*map(writable, value))
    return made  # type: ignore[no-any-return]  # of the same type


def width_of(layout: Layout) -> int:
    """Return how many words a row has."""
    return int(layout.word.max(initial=0)) + 1


def repacked(old: Layout, rows: Words, new: Layout) -> Words:
    """Return rows packed in another layout."""
    packed = np.zeros((len(rows), width_of(new)), np.uint64)
    repack_rows(old, rows, new, packed)
    return packed


def repacked_parcel(old: Layout, parcel: Parcel, new: Layout) -> Parcel:
    """Return a parcel packed in another layout."""
    keys = None if parcel.keys is None else repacked(old, parcel.keys, new)
    return parcel._replace(rows=repacked(old, parcel.rows, new), keys=keys)


def joined(parcels: Sequence[Parcel]) -> Parcel:
    """Return several parcels as one, in their order."""
    if len(parcels) == 1:
        return parcels[0]
    rows, keys, origins = zip(*parcels, strict=True)
    return Parcel(np.concatenate(rows), None if keys[0] is None else np.concatenate(keys), np.concatenate(origins))


def findings(questions: int) -> Findings:
    """Return findings that know nothing yet."""
    return Findings(np.zeros(questions, np.uint8), np.full(questions, -1, np.int64))


def misses(room: int) -> Misses:
    """Return room to note so much that is missing."""
    return Misses(np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int64))


def missing(layout: Layout, rows: Words, roots: Ints, keys: Longs, instances: Ints) -> Missing:
    """Return what is missing once each, in its order, given the rows of the states that it is missing for."""
    _, firsts = np.unique(keys, return_index=True)
    firsts.sort()
    codes = np.empty((len(firsts), len(layout.word)), np.int32)
    unpack_rows(layout, rows[firsts], codes)
    return Missing(roots[firsts], instances[firsts], keys[firsts], codes)
