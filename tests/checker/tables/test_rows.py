# SPDX-License-Identifier: Apache-2.0
"""Packed rows hold what was packed, however they are packed anew, and the table of states tells apart what differs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from attrs import define, field, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from hwmark.checker.tables import kernels
from hwmark.checker.tables.forest import Forest
from hwmark.checker.tables.kernels import FILLED, SHARDS, Renamings, Slots
from hwmark.checker.tables.rows import FULLEST, WORD, Rows, layout_for
from hwmark.checker.tables.values import NotLearnableError, Values

NO_RENAMINGS = Renamings(np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32))


@frozen
class Kind:
    """The values of a component."""

    values: Values


@frozen
class Width:
    """How many components observers have."""

    width: int


@define
class Parts:
    """As much of the components of a state as rows look at; values are the numbers from 0 on."""

    kinds: list[Kind]
    memories: tuple[Width, ...] = ()

    @classmethod
    def of(cls, counts: list[int], memories: int = 0) -> Parts:
        """Return components with so many values each, of which the last ones are those of observers."""
        kinds = [Kind(Values(f"component {place}", values=list(range(count)))) for place, count in enumerate(counts)]
        return cls(kinds, (Width(memories),) if memories else ())

    @property
    def names(self) -> list[str]:
        """Return how the components are called."""
        return [kind.values.name for kind in self.kinds]

    def grow(self, place: int, count: int) -> None:
        """Let a component have more values."""
        values = self.kinds[place].values.values
        values.extend(range(len(values), count))


@define
class Table:
    """Rows, filled by the kernels as a search does."""

    parts: Parts
    symmetry: bool = False
    rows: Rows = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Hold no states."""
        self.rows = Rows(self.parts, symmetry=self.symmetry)  # type: ignore[arg-type]

    def enter(self, states: list[list[int]], most: int = 2**40, segments: int = 1, workers: int = 1) -> tuple[list[int], int]:
        """Look up states in some segments of slots, shard by shard for several workers; return the number of each, and where it stopped."""
        rows, room, words = self.rows, max(1, len(states)), self.rows.rows.shape[1]
        packed = np.zeros((room, words), np.uint64)
        slots = Slots(
            status=np.zeros(room, np.uint8),
            source=np.arange(room),
            instance=np.arange(room, dtype=np.int32) % 7,
            hashes=np.zeros(room, np.uint64),
            rows=packed,
            keys=np.zeros((room, words), np.uint64) if self.symmetry else packed,
            target=np.full(room, -9),
            place=np.full(room, -9),
            unasked=np.zeros(room, np.uint8),
        )
        arrays = Forest(1).arrays()
        for place, codes in enumerate(states):
            slots.status[place] = FILLED
            kernels.pack(arrays, rows.layout, NO_RENAMINGS, np.array(codes, np.int32), slots, place)
            slots.keys[place] = slots.rows[place]
        if self.symmetry:
            for place in range(len(states)):
                slots.hashes[place] = _hash(slots.keys[place])
        ends = [len(states) * part // segments for part in range(segments + 1)]
        parts = np.array(list(itertools.pairwise(ends)), np.int64)
        coming = np.zeros(SHARDS, np.int64)
        kernels.count_shards(slots, parts, coming)
        rows.reserve(coming)
        assert ((rows.counts + coming) <= FULLEST * (len(rows.table) // SHARDS)).all()
        known = rows.known
        for worker in range(workers):
            first, last = SHARDS * worker // workers, SHARDS * (worker + 1) // workers
            kernels.look_up(slots, parts, rows.keys, known, rows.table, first, last, rows.counts)
        taken, none = np.zeros(7, np.int64), np.zeros(room, np.uint16)
        rows.known, _, stopped = kernels.number_new(
            slots, parts, rows.rows, rows.keys, self.symmetry, known, most, rows.table, rows.parents, rows.via, taken,
            False, np.zeros(room, np.uint32), none, none, 0,  # noqa: FBT003 - compiled code takes no names
        )  # fmt: skip
        assert int(taken.sum()) == (len(states) if stopped < 0 else stopped + 1)
        return slots.target[: len(states)].tolist(), stopped

    @property
    def states(self) -> list[list[int]]:
        """Return the codes of all states that are held."""
        codes = np.empty((self.rows.known, len(self.parts.kinds)), np.int32)
        kernels.unpack_rows(self.rows.layout, self.rows.rows[: self.rows.known], codes)
        return [[int(code) for code in row] for row in codes]

    def lookup(self, states: list[list[int]]) -> list[int]:
        """Return for each state its place in the table, -1 for one that is not there."""
        rows = self.rows
        packed = np.zeros((len(states), rows.rows.shape[1]), np.uint64)
        for row, codes in zip(packed, states, strict=True):
            for word, shift, code in zip(rows.layout.word, rows.layout.shift, codes, strict=True):
                row[word] |= np.uint64(code) << shift
        originals = np.full(rows.known, -1, np.int64)
        kernels.find_again(packed, 0, rows.keys, rows.table, originals)
        found = [-1] * len(states)
        for place, original in enumerate(originals.tolist()):
            if original >= 0:
                found[original] = place
        return found


def _hash(row: Any) -> Any:
    """Return the hash of a row, as kernels compute it."""
    with np.errstate(over="ignore"):
        return kernels.row_hash.py_func(row)


COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=12)


@st.composite
def filled(draw: Any, most: int = 60) -> tuple[list[int], list[list[int]]]:
    """Draw the numbers of values of some components, and states, of which some are equal."""
    counts = draw(COUNTS)
    state = st.tuples(*(st.integers(0, count - 1) for count in counts)).map(list)
    return counts, draw(st.lists(state, max_size=most))


# -- layouts --


@given(st.lists(st.integers(1, 31), min_size=1, max_size=90))
def test_layouts_give_each_component_bits_of_its_own(bits: list[int]) -> None:
    """As many as it needs, in one word."""
    layout = layout_for(bits, Parts.of([2] * len(bits)))  # type: ignore[arg-type]
    taken = set()
    for word, shift, mask, needed in zip(*(part.tolist() for part in layout), bits, strict=True):
        assert mask == 2**needed - 1
        assert shift + needed <= WORD
        own = {(word, shift + bit) for bit in range(needed)}
        assert not own & taken
        taken |= own
    assert len(set(layout.word.tolist())) == max(layout.word.tolist()) + 1


def test_components_that_need_too_many_bits_are_refused() -> None:
    """A code is a small int."""
    assert layout_for([31], Parts.of([2])) is not None  # type: ignore[arg-type]
    with pytest.raises(NotLearnableError, match="component 1 needs 32 bits"):
        layout_for([3, 32], Parts.of([2, 2]))  # type: ignore[arg-type]


# -- the table --


@given(filled(), st.integers(1, 4), st.sampled_from((1, 2, 3, 16)), st.booleans())
@settings(max_examples=80)
def test_states_are_numbered_as_they_are_met(drawn: tuple[list[int], list[list[int]]], segments: int, workers: int, symmetry: bool) -> None:  # noqa: FBT001
    """Equal ones once, in the order of slots, however slots and shards are shared."""
    counts, states = drawn
    table = Table(Parts.of(counts), symmetry)
    known: dict[tuple[int, ...], int] = {}
    for part in (states[: len(states) // 2], states[len(states) // 2 :], states):
        numbers, stopped = table.enter(part, segments=segments, workers=workers)
        assert stopped == -1
        assert numbers == [known.setdefault(tuple(state), len(known)) for state in part]
    assert table.states == [list(state) for state in known]
    assert table.lookup([list(state) for state in known]) == list(range(len(known)))
    assert int(table.rows.counts.sum()) == len(known)
    for number, state in enumerate(known):
        first = states.index(list(state))
        first -= 0 if first < len(states) // 2 else len(states) // 2
        assert (int(table.rows.parents[number]), int(table.rows.via[number])) == (first, first % 7)


@given(filled(), st.integers(0, 20))
@settings(max_examples=40)
def test_numbering_stops_at_the_first_state_too_many(drawn: tuple[list[int], list[list[int]]], most: int) -> None:
    """And tells the slot."""
    counts, states = drawn
    table = Table(Parts.of(counts))
    _, stopped = table.enter(states, most=most)
    distinct = [state for place, state in enumerate(states) if state not in states[:place]]
    assert stopped == (states.index(distinct[most]) if len(distinct) > most else -1)
    assert table.states == distinct[:most]


def test_thousands_of_states_are_told_apart() -> None:
    """In a table that grows again and again, with a few bits between them."""
    table = Table(Parts.of([200, 200]))
    states = [[one, other] for one in range(200) for other in range(200)]
    numbers, _ = table.enter(states, segments=3, workers=2)
    assert numbers == list(range(40_000))
    assert table.enter(states[::-7])[0] == numbers[::-7]


# -- what happens to rows --


@given(filled(), st.data())
@settings(max_examples=60)
def test_rows_are_packed_anew_once_a_code_does_not_fit(drawn: tuple[list[int], list[list[int]]], data: Any) -> None:
    """All states stay what they are, with the same numbers, and are found; before that nothing happens."""
    counts, states = drawn
    table = Table(Parts.of(counts), data.draw(st.booleans()))
    table.enter(states)
    before, parents, layout = table.states, table.rows.parents[: table.rows.known].tolist(), table.rows.layout
    assert not table.rows.fit()
    for place, count in enumerate(counts):
        table.parts.grow(place, data.draw(st.sampled_from((count, count + 1, 2 * count + 1, 5000))))
    needs_more = any(len(kind.values.values) - 1 > int(mask) for kind, mask in zip(table.parts.kinds, layout.mask, strict=True))
    assert table.rows.fit() is needs_more
    assert (table.states, table.rows.parents[: table.rows.known].tolist()) == (before, parents)
    assert table.lookup(before) == list(range(len(before)))
    largest = [len(kind.values.values) - 1 for kind in table.parts.kinds]
    numbers, _ = table.enter([largest, *states])
    assert table.states[numbers[0]] == largest
    assert numbers[1:] == [before.index(state) for state in states]


@given(filled(), st.data())
@settings(max_examples=60)
def test_states_that_are_kept_have_the_next_numbers(drawn: tuple[list[int], list[list[int]]], data: Any) -> None:
    """In their order, with how they were found; those that are not kept are not found any more."""
    counts, states = drawn
    table = Table(Parts.of(counts), data.draw(st.booleans()))
    table.enter(states)
    before, parents = table.states, table.rows.parents[: table.rows.known].tolist()
    kept = data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    table.rows.keep(np.array(kept, np.bool_))
    assert table.states == [state for state, is_kept in zip(before, kept, strict=True) if is_kept]
    assert table.rows.parents[: table.rows.known].tolist() == [one for one, is_kept in zip(parents, kept, strict=True) if is_kept]
    assert [place >= 0 for place in table.lookup(before)] == kept
    assert [number < sum(kept) for number in table.enter(before)[0]] == kept


@given(filled())
@settings(max_examples=30)
def test_states_that_are_stored_elsewhere_keep_their_numbers(drawn: tuple[list[int], list[list[int]]]) -> None:
    """What comes after them has the next ones, and the table does not know them any more."""
    counts, states = drawn
    table = Table(Parts.of(counts))
    table.enter(states)
    total = table.rows.total
    table.rows.clear()
    assert (table.rows.first, table.rows.known, table.rows.total, int(table.rows.counts.sum())) == (total, 0, total, 0)
    table.enter(states)
    assert (table.rows.first, table.rows.total) == (total, 2 * total)


@given(filled(), st.integers(1, 9), st.booleans())
@settings(max_examples=40)
def test_states_that_are_taken_in_are_those_that_were_held(drawn: tuple[list[int], list[list[int]]], pieces: int, symmetry: bool) -> None:  # noqa: FBT001
    """Piece by piece, and those that are met again are known."""
    counts, states = drawn
    first = Table(Parts.of(counts), symmetry)
    first.enter(states)
    second, rows = Table(Parts.of(counts), symmetry), first.rows
    for piece in np.array_split(np.arange(rows.known), pieces):
        second.rows.take_in(rows.rows[piece], rows.keys[piece], rows.parents[piece], rows.via[piece])
    assert second.states == first.states
    assert second.rows.parents[: rows.known].tolist() == rows.parents[: rows.known].tolist()
    assert second.lookup(first.states) == list(range(rows.known))
    assert second.enter(states) == first.enter(states)


def test_a_table_grows_as_states_are_taken_in() -> None:
    """Far beyond its first size, and is never too full."""
    states = np.arange(5000, dtype=np.uint64).reshape(-1, 1)
    table = Table(Parts.of([5000]))
    for piece in np.array_split(states, 7):
        table.rows.take_in(piece, piece, np.zeros(len(piece), np.uint32), np.zeros(len(piece), np.uint16))
        assert table.rows.known <= FULLEST * len(table.rows.table)
    assert table.lookup([[number] for number in range(0, 5000, 7)]) == list(range(0, 5000, 7))


@given(filled(), st.data())
@settings(max_examples=30)
def test_own_rows_are_rows_without_what_observers_remember(drawn: tuple[list[int], list[list[int]]], data: Any) -> None:
    """Two of them are equal where the machine's own components are."""
    counts, states = drawn
    memories = data.draw(st.integers(0, len(counts)))
    table = Table(Parts.of(counts, memories))
    table.enter(states)
    own, known = table.rows.own_rows(), table.states
    for one in range(len(known)):
        for other in range(len(known)):
            is_same = known[one][: len(counts) - memories] == known[other][: len(counts) - memories]
            assert bool((own[one] == own[other]).all()) is is_same


@given(st.integers(0, 5000), st.integers(0, 5000), st.booleans())
@settings(max_examples=30)
def test_room_for_more_states_is_no_more_than_was_said(known: int, more: int, symmetry: bool) -> None:  # noqa: FBT001
    """So that a search knows before it runs out of memory."""
    table = Table(Parts.of([10_001]), symmetry)
    table.enter([[number] for number in range(known)])
    said = table.rows.bytes_with(more)
    table.enter([[number] for number in range(known, known + more)])
    assert table.rows.bytes_held <= said
