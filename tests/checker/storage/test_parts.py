# SPDX-License-Identifier: Apache-2.0
"""Files of a part: packed rows come back bit by bit, decoded states are what the states are, and damage is noticed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_space import Space, is_bounded, knobs, layout_for, pack, space_of

from hwmark.checker.errors import InputError
from hwmark.checker.plain import to_plain
from hwmark.checker.storage import parts
from hwmark.checker.storage.arrow import pa, pq
from hwmark.checker.storage.parts import Found, RowsFile, StatesWriter, dump_rows, repacked, unpacked

SPACE = space_of(knobs(2), is_bounded)
PATH = Path("rows-000000.parquet")


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few states fill several row groups."""
    monkeypatch.setattr(parts, "GROUP_STATES", 8)


def found(space: Space, first: int, last: int) -> Found:
    """Return some states of a space as they are stored."""
    rows, layout = space.packed(first, last)
    return Found(first, rows, layout, space.parents[first:last].astype(np.uint64), space.via[first:last].astype(np.uint32))


@st.composite
def any_found(draw: st.DrawFn) -> Found:
    """Draw rows of some components with codes of some widths, and how they were found."""
    bits = draw(st.lists(st.integers(1, 31), min_size=1, max_size=9))
    count = draw(st.integers(1, 40))
    codes = np.array([[draw(st.integers(0, (1 << width) - 1)) for width in bits] for _ in range(count)], np.int32)
    layout = layout_for(bits)
    parents = np.array(draw(st.lists(st.integers(0, 2**64 - 1), min_size=count, max_size=count)), np.uint64)
    via = np.array(draw(st.lists(st.integers(0, 2**32 - 1), min_size=count, max_size=count)), np.uint32)
    return Found(draw(st.integers(0, 10**12)), pack(codes, layout), layout, parents, via)


def same(one: Found, other: Found) -> bool:
    """Whether both are the same in all."""
    flat = [[one.first, one.rows, *one.layout, one.parents, one.via] for one in (one, other)]
    return all(np.array_equal(left, right) for left, right in zip(*flat, strict=True))


@given(any_found(), st.integers(0, 3))
def test_rows_come_back_as_they_were(some: Found, spare: int) -> None:
    """A file has the packed rows, their layout, and how they were found; in another layout they are the same states."""
    content = dump_rows(some)
    components = len(some.layout.word)
    file = RowsFile(PATH, content, some.first, len(some.rows), components)
    assert same(file.found(), some)
    assert np.array_equal(file.rows(), some.rows)
    last = some.first + len(some.rows) - 1
    group = file.group_of(last)
    assert np.array_equal(group.rows[last - group.first], some.rows[-1])
    wider = layout_for([min(31, int(mask).bit_length() + spare) for mask in some.layout.mask])
    again = Found(some.first, repacked(some, wider), wider, some.parents, some.via)
    for component in range(components):
        assert np.array_equal(unpacked(again.rows, wider, component), unpacked(some.rows, some.layout, component))


def test_decoded_states_are_the_states() -> None:
    """Each state stands there with its number, level, parent and step, and each of its components as plain data."""
    last = len(SPACE.states)
    steps = [str(step) for step in SPACE.explored.steps]
    writer = StatesWriter(SPACE.components, steps)
    levels = np.array([SPACE.level_of(number) for number in range(last)], np.uint32)
    table = pq.read_table(io.BytesIO(writer.dump(found(SPACE, 0, last), levels)))
    assert table.column_names[:9] == ["number", "level", "parent", "step", "level_", "dials_0", "dials_1", "dials_2", "mood"]
    for number, row in enumerate(table.to_pylist()):
        own, memories = SPACE.states[number].state, SPACE.states[number].memories
        assert row["number"] == number
        assert row["level"] == sum(own.dials) == row["level_"]
        assert row["parent"] == (int(SPACE.parents[number]) if number else None)
        assert row["step"] == (steps[SPACE.via[number]] if number else None)
        assert (row["dials_0"], row["dials_1"], row["dials_2"], row["largest"]) == (*own.dials, *memories)
        assert row["mood"] == own.mood.value
        assert row["gear"] == own.gear.name
        assert (row["weight"], row["name"], row["raw"]) == (own.weight, own.name, own.raw)
        assert (row["where"], row["path"], row["seen"]) == tuple(map(to_plain, (own.where, own.path, own.seen)))
        assert tuple(row["pair"].values()) == own.pair
        assert json.loads(row["either"]) == own.either


def test_a_space_has_the_same_columns_in_every_file() -> None:
    """Also where the first file has fewer values, and shorter rows: queries read all files as one."""
    writer = StatesWriter(SPACE.components, [str(step) for step in SPACE.explored.steps])
    dumped = [writer.dump(found(SPACE, *part), np.zeros(part[1] - part[0], np.uint32)) for part in ((0, 1), (1, 20))]
    schemas = [pq.read_schema(io.BytesIO(one)) for one in dumped]
    assert schemas[0].equals(schemas[1], check_metadata=True)


# -- damage --


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a file of rows in which what it says of itself was changed."""
    some = found(SPACE, 0, 20)
    table = pq.read_table(io.BytesIO(dump_rows(some)))
    about = json.loads(table.schema.metadata[b"hwmark"])
    change(about)
    content = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({"hwmark": json.dumps(about)}), content, row_group_size=8)
    return bytes(content.getvalue())


def rewritten(change: Callable[[Any], Any], group: int = 8) -> bytes:
    """Return a file of rows whose table was changed."""
    table = pq.read_table(io.BytesIO(dump_rows(found(SPACE, 0, 20))))
    content = pa.BufferOutputStream()
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), content, row_group_size=group)
    return bytes(content.getvalue())


WORD = pa.array([1] * 19 + [None], pa.uint64())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1",
        b"x" * 100,
        changed(lambda about: about.update(schema="hwmark.rows/2")),
        changed(lambda about: about.update(first=1)),
        changed(lambda about: about.update(word=about["word"][1:])),
        changed(lambda about: about.update(word=["0"] * len(about["word"]))),
        changed(lambda about: about.update(word=[-1] * len(about["word"]))),
        changed(lambda about: about.update(word=[9] * len(about["word"]))),
        changed(lambda about: about.update(shift=[64] * len(about["word"]))),
        changed(lambda about: about.update(shift=[10**17] * len(about["word"]))),
        changed(lambda about: about.update(bits=[0] * len(about["word"]))),
        changed(lambda about: about.update(bits=[32] * len(about["word"]))),
        changed(lambda about: about.pop("bits")),
        rewritten(lambda table: table.slice(0, 19)),
        rewritten(lambda table: table, group=9),
        rewritten(lambda table: table.drop_columns(["via"])),
        rewritten(lambda table: table.set_column(0, "parent", table["parent"].cast(pa.int64()))),
        rewritten(lambda table: table.set_column(0, "parent", pa.array([None] * 20, pa.uint64()))),
        rewritten(lambda table: table.set_column(2, "word_0", WORD)),
    ],
)
def test_what_is_no_such_file_is_refused(content: bytes) -> None:
    """Whatever is wrong with a file of rows gives one line with its name."""
    with pytest.raises(InputError, match=r"^'rows-000000.parquet' is damaged: ") as caught:
        RowsFile(PATH, content, 0, 20, len(SPACE.components.kinds)).found()
    assert "\n" not in str(caught.value)


@given(st.data())
def test_changed_bytes_are_never_more_than_one_line(data: st.DataObject) -> None:
    """Wherever bytes of a file were changed, it is read as something, or refused in one line: there is no other error."""
    content = bytearray(dump_rows(found(SPACE, 0, 20)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    told = ""
    try:
        RowsFile(PATH, bytes(content), 0, 20, len(SPACE.components.kinds)).found()
    except InputError as error:
        told = str(error)
    assert "\n" not in told
