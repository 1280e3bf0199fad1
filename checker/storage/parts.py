# SPDX-License-Identifier: Apache-2.0
"""The two Parquet files of a part, which is some states with consecutive numbers.

One holds the packed rows as they are, in as many columns as they have words, and how each state was found; it is made to be
read fast, and the column of words alone. The other holds the same states decoded, to be queried. Parquet, because DuckDB,
Polars and pandas read it without more; in columns, repetitive as they are, it takes a quarter of the packed rows' bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hwmark.checker.errors import InputError
from hwmark.checker.jsonfile import parse_json
from hwmark.checker.tables.components import Components
from hwmark.checker.text import shown

from .arrow import pa, pq
from .columns import RESERVED, decoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

PART_STATES = 1 << 20
"""The most states of one part."""
GROUP_STATES = 1 << 17
"""So many states are decoded at a time, and make a row group: what one thread of a query reads."""
COMPRESSION = "lz4"
ROWS_SCHEMA = "hwmark.rows/1"
WORD_BITS = 64
MOST_BITS = 31
"""A code is a small int."""


class Layout(NamedTuple):
    """In which word of a packed row each component is, and at which bits: the same as the search has in memory."""

    word: NDArray[np.int64]
    shift: Words
    mask: Words


class Found(NamedTuple):
    """Some states with consecutive numbers, the first of which is ``first``; initial states have the parent and step 0."""

    first: int
    rows: Words
    layout: Layout
    parents: Words
    via: NDArray[np.uint32]


def unpacked(rows: Words, layout: Layout, component: int) -> NDArray[np.int64]:
    """Return the codes of one component."""
    codes: Words = (rows[:, layout.word[component]] >> layout.shift[component]) & layout.mask[component]
    return codes.view(np.int64)


def width(layout: Layout) -> int:
    """Return how many words a row has."""
    return int(layout.word.max(initial=0)) + 1


def repacked(found: Found, layout: Layout) -> Words:
    """Return the rows of some states in another layout."""
    rows = np.zeros((len(found.rows), width(layout)), np.uint64)
    for component, word in enumerate(layout.word):
        rows[:, word] |= unpacked(found.rows, found.layout, component).view(np.uint64) << layout.shift[component]
    return rows


# -- packed rows --


def dump_rows(found: Found) -> Any:
    """Return the content of a file with packed rows."""
    columns = {"parent": found.parents, "via": found.via}
    columns |= {_word(word): np.ascontiguousarray(found.rows[:, word]) for word in range(found.rows.shape[1])}
    about = {
        "schema": ROWS_SCHEMA,
        "first": found.first,
        "word": found.layout.word.tolist(),
        "shift": found.layout.shift.tolist(),
        "bits": [mask.bit_length() for mask in found.layout.mask.tolist()],
    }
    table = pa.table({name: pa.array(one) for name, one in columns.items()}, metadata={"hwmark": json.dumps(about)})
    encodings = {name: "PLAIN" for name in columns if name != "via"} | {"parent": "DELTA_BINARY_PACKED"}
    return _parquet(table.schema, lambda writer: writer.write_table(table, row_group_size=GROUP_STATES), ["via"], encodings)


def _word(number: int) -> str:
    return f"word_{number}"


def _parquet(schema: Any, write: Callable[[Any], None], dictionaries: Sequence[str], encodings: dict[str, str]) -> Any:
    """Return what a file holds in which ``write`` writes tables; only metadata make it keep the Arrow schema."""
    settings: dict[str, Any] = {
        "use_dictionary": list(dictionaries),
        "column_encoding": encodings,
        "store_schema": schema.metadata is not None,
    }
    content = pa.BufferOutputStream()
    with pq.ParquetWriter(content, schema, compression=COMPRESSION, **settings) as writer:
        write(writer)
    return content.getvalue()


class RowsFile:
    """A file with packed rows, to be read: wherever it is wrong ``InputError`` is raised."""

    def __init__(self, path: Path, content: bytes, first: int, count: int, components: int) -> None:
        """Read what the file says of itself; it must have these states, of so many components."""
        self.path, self.first = path, first
        self.file = self._wrong_if_it_fails(lambda: pq.ParquetFile(pa.BufferReader(content)))
        metadata = self.file.metadata
        about = self._about((metadata.metadata or {}).get(b"hwmark", b"null"))
        self.layout = self._layout(about, components)
        self.words = width(self.layout)
        wanted = pa.schema([("parent", pa.uint64()), ("via", pa.uint32()), *((_word(word), pa.uint64()) for word in range(self.words))])
        if metadata.num_rows != count or about.get("first") != first or not self.file.schema_arrow.equals(wanted):
            raise self._wrong("it does not hold the states that it should")
        groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        if groups != [GROUP_STATES] * (count // GROUP_STATES) + [count % GROUP_STATES] * (count % GROUP_STATES > 0):
            raise self._wrong("its row groups are not those that it should have")

    def _wrong(self, why: object) -> InputError:
        return InputError(f"{shown(str(self.path), 300)} is damaged: {str(why)[:200]}")

    def _wrong_if_it_fails(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            raise self._wrong(error) from None

    def _about(self, text: bytes) -> dict[str, Any]:
        try:
            about = parse_json(text.decode())
        except ValueError as error:  # InputError is one, as is text that is not UTF-8
            raise self._wrong(error) from None
        if not isinstance(about, dict) or about.get("schema") != ROWS_SCHEMA:
            raise self._wrong(f"it is no {ROWS_SCHEMA}")
        return about

    def _layout(self, about: dict[str, Any], components: int) -> Layout:
        each = [about.get(name) for name in ("word", "shift", "bits")]
        if not all(isinstance(one, list) and len(one) == components and all(type(number) is int for number in one) for one in each):
            raise self._wrong("its layout is not that of these states")
        word, shift, bits = (np.array(one, np.int64) for one in each)
        fits = (word >= 0) & (word < components) & (shift >= 0) & (bits > 0) & (bits <= MOST_BITS) & (shift + bits <= WORD_BITS)
        if not fits.all():
            raise self._wrong("its layout is impossible")
        return Layout(word, shift.astype(np.uint64), (np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1))

    def rows(self) -> Words:
        """Return the packed rows, without how they were found."""
        return self._words(self._read([_word(word) for word in range(self.words)]))

    def found(self) -> Found:
        """Return everything."""
        return self._found(self._read(None), self.first)

    def group_of(self, number: int) -> Found:
        """Return the row group with the state of this number."""
        group = (number - self.first) // GROUP_STATES
        table = self._wrong_if_it_fails(lambda: self.file.read_row_group(group, use_threads=False))
        return self._found(table, self.first + group * GROUP_STATES)

    def _found(self, table: Any, first: int) -> Found:
        return Found(first, self._words(table), self.layout, self._numbers(table, "parent"), self._numbers(table, "via"))

    def _read(self, columns: list[str] | None) -> Any:
        return self._wrong_if_it_fails(lambda: self.file.read(columns, use_threads=False))

    def _numbers(self, table: Any, name: str) -> Any:
        if table[name].null_count:
            raise self._wrong(f"there is nothing in some places of {name}")
        return table[name].to_numpy()

    def _words(self, table: Any) -> Words:
        rows = np.empty((table.num_rows, self.words), np.uint64)
        for word in range(self.words):
            rows[:, word] = self._numbers(table, _word(word))
        return rows


# -- decoded states --


class StatesWriter:
    """Writes decoded states, of the same columns in each file: no Arrow schema in it says that text is a category."""

    def __init__(self, components: Components, steps: Sequence[str]) -> None:
        """Know the components and the steps, by which all states are found."""
        self.columns = decoded(components)
        self.steps = pa.array(steps, pa.string())
        kinds = (pa.uint64(), pa.uint32(), pa.uint64(), pa.dictionary(pa.int32(), pa.string()))
        each = [(name, _column_type(one.column.type)) for name, one in self.columns]
        self.schema = pa.schema([*zip(RESERVED, kinds, strict=True), *each])
        self.dictionaries = [path for path in _leaves(self.schema) if path not in ("number", "parent")]

    def dump(self, found: Found, levels: NDArray[np.uint32]) -> Any:
        """Return the content of a file with these states, each of which is in a level."""

        def write(writer: Any) -> None:
            for start in range(0, len(found.rows), GROUP_STATES):
                part = slice(start, start + GROUP_STATES)
                group = Found(found.first + start, found.rows[part], found.layout, found.parents[part], found.via[part])
                writer.write_table(self._table(group, levels[part]), row_group_size=GROUP_STATES)

        return _parquet(self.schema, write, self.dictionaries, {"number": "DELTA_BINARY_PACKED", "parent": "DELTA_BINARY_PACKED"})

    def _table(self, found: Found, levels: NDArray[np.uint32]) -> Any:
        numbers = np.arange(found.first, found.first + len(found.rows), dtype=np.uint64)
        is_initial = levels == 0
        steps = pa.DictionaryArray.from_arrays(pa.array(found.via.astype(np.int32), mask=is_initial), self.steps)
        components = [one.look_up(unpacked(found.rows, found.layout, place)) for place, (_, one) in enumerate(self.columns)]
        parents = pa.array(found.parents, mask=is_initial)
        return pa.Table.from_arrays([pa.array(numbers), pa.array(levels), parents, steps, *components], schema=self.schema)


def _column_type(kind: Any) -> Any:
    return pa.dictionary(pa.int32(), kind) if pa.types.is_string(kind) else kind


def _leaves(schema: Any) -> list[str]:
    """Return the paths of the columns that Parquet makes of nested ones."""
    content = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), content)
    made = pq.ParquetFile(pa.BufferReader(content.getvalue())).schema
    return [made.column(number).path for number in range(len(made))]
