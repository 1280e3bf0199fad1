# SPDX-License-Identifier: Apache-2.0
"""A shard's store tells states apart by their rows alone, and knows them again in another layout; so does who owns them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hwmark.checker.cluster.arrays import joined, repacked, repacked_parcel, writable
from hwmark.checker.cluster.kernels import find_owners
from hwmark.checker.cluster.messages import Parcel
from hwmark.checker.cluster.roots import factors
from hwmark.checker.cluster.store import Store
from hwmark.checker.tables.kernels import Layout

NARROW = Layout(np.zeros(3, np.int64), np.array([0, 5, 10], np.uint64), np.full(3, 31, np.uint64))
"""Three components of five bits each in one word."""
WIDE = Layout(np.array([0, 1, 0]), np.array([0, 7, 20], np.uint64), np.full(3, (1 << 20) - 1, np.uint64))
"""The same in two words."""


def rows_of(codes: list[tuple[int, ...]]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Return rows in the narrow layout."""
    return np.array([[sum(code << 5 * place for place, code in enumerate(one))] for one in codes], np.uint64)


def parcel(codes: list[tuple[int, ...]], first_origin: int = 0) -> Parcel:
    """Return a parcel of states with these codes."""
    return Parcel(rows_of(codes), None, np.arange(first_origin, first_origin + len(codes), dtype=np.uint64))


ALL = list(itertools.product(range(32), range(32), range(8)))


def test_states_are_numbered_as_they_come_and_known_again() -> None:
    """Each state has one number, the first place it came from, and keeps both as the store grows and is packed anew."""
    store = Store(NARROW, symmetry=False)
    assert store.take_in(parcel([ALL[5], ALL[7], ALL[5]])).tolist() == [0, 1, 0]
    assert store.take_in(parcel(ALL, 100)).tolist() == [2, 3, 4, 5, 6, 0, 7, 1, *range(8, len(ALL))]
    assert (store.known, store.origins[:4].tolist()) == (len(ALL), [0, 1, 100, 101])
    store.repack(WIDE)
    again = repacked_parcel(NARROW, parcel(ALL[::-1]), WIDE)
    assert sorted(store.take_in(again).tolist()) == list(range(len(ALL)))
    assert store.known == len(ALL)


def test_under_symmetry_keys_tell_states_apart() -> None:
    """Of several states with one key the first is kept."""
    store = Store(NARROW, symmetry=True)
    some = Parcel(rows_of(ALL[:4]), rows_of([ALL[0], ALL[1], ALL[0], ALL[1]]), np.zeros(4, np.uint64))
    assert store.take_in(some).tolist() == [0, 1, 0, 1]
    assert store.rows[:2].tolist() == rows_of(ALL[:2]).tolist()


@pytest.mark.parametrize("shards", [2, 3, 7, 128])
def test_owners_follow_from_codes_alone_and_are_even(shards: int) -> None:
    """Packed in another way a state has the same owner; each owns about as many as each other."""
    rows = rows_of(ALL)
    owners, again = np.zeros(len(ALL), np.uint16), np.zeros(len(ALL), np.uint16)
    find_owners(NARROW, factors(3), rows, shards, owners)
    find_owners(WIDE, factors(3), repacked(NARROW, rows, WIDE), shards, again)
    assert owners.tolist() == again.tolist()
    counts = np.bincount(owners, minlength=shards)
    assert len(counts) == shards
    mean = len(ALL) / shards
    assert float(np.square(counts - mean).sum() / mean) < 2 * shards + 10, "no worse than chance"


def test_parcels_are_joined_in_their_order() -> None:
    """Rows and origins stay together."""
    whole = joined([parcel(ALL[:3]), parcel(ALL[3:5], 3)])
    assert (whole.rows.tolist(), whole.origins.tolist(), whole.keys) == (rows_of(ALL[:5]).tolist(), list(range(5)), None)


def test_what_arrives_read_only_becomes_writable() -> None:
    """Compiled code is for one kind of arrays; what is writable already stays the same."""
    read_only = np.arange(3)
    read_only.flags.writeable = False
    own = np.arange(3)
    made = writable(NARROW._replace(word=read_only, mask=own.astype(np.uint64)))
    assert isinstance(made, Layout)
    assert made.word.flags.writeable
    assert writable(own) is own
    assert writable(None) is None
