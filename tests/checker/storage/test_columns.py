# SPDX-License-Identifier: Apache-2.0
"""Components as columns: their names, their types, and what stands in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from attrs import frozen
from toy_space import Gear, Mood, Nothing, Point, Tree, Weight

from hwmark.checker.errors import InputError
from hwmark.checker.storage.arrow import pa, pq
from hwmark.checker.storage.columns import RESERVED, Decoded, column, column_names
from hwmark.checker.tables.components import Kind, Part


@frozen
class Twins:
    """Two fields that some query languages take for one."""

    a: int
    A: int


def decoded(annotation: Any, *values: Any) -> Decoded:
    """Return the decoded values of a part of a state that took these."""
    made = Part("it", Kind.of("it", annotation, 1000), 0, None)
    for value in values:
        made.kind.values.code(value)
    return Decoded.of(made)


def test_names_are_unique_whatever_the_case() -> None:
    """Entries are numbered, and a name that is taken gets a stroke."""
    assert column_names(["logs[0]", "logs[1]", "logs_1", "Level", "level"], RESERVED) == [
        "logs_0",
        "logs_1",
        "logs_1_",
        "Level_",
        "level__",
    ]


@pytest.mark.parametrize(
    ("annotation", "values", "kind", "expected"),
    [
        (int, [3, -1], pa.int64(), [3, -1]),
        (bool, [True], pa.bool_(), [True]),
        (Weight, [0.5], pa.float64(), [0.5]),
        (str, ["é"], pa.string(), ["é"]),
        (bytes, [b"\0"], pa.binary(), [b"\0"]),
        (Mood, [Mood.WILD], pa.string(), ["wild"]),
        (Gear, [Gear.DRIVE, Gear.PARK], pa.string(), ["DRIVE", "PARK"]),
        (Annotated[int | None, "mark"], [None, 1], pa.int64(), [None, 1]),
        (Point, [Point(1)], pa.struct([("x", pa.int64()), ("y", pa.bool_())]), [{"x": 1, "y": False}]),
        (Twins, [Twins(1, 2)], pa.struct([("a", pa.int64()), ("A_", pa.int64())]), [{"a": 1, "A_": 2}]),
        (tuple[int, ...], [(), (2, 1)], pa.list_(pa.int64()), [[], [2, 1]]),
        (frozenset[int], [frozenset((10, 9))], pa.list_(pa.int64()), [[9, 10]]),
        (frozenset[Mood], [frozenset(Mood)], pa.list_(pa.string()), [["calm", "wild"]]),
        (tuple[int, str], [(1, "x")], pa.struct([("_0", pa.int64()), ("_1", pa.string())]), [{"_0": 1, "_1": "x"}]),
        (Tree, [Tree((Tree(),))], pa.struct([("branches", pa.list_(pa.string()))]), [{"branches": ['{"branches": []}']}]),
        (int | str, [1, "1"], pa.string(), ["1", '"1"']),
        (Point | int | None, [Point(1), None], pa.string(), ['{"x": 1, "y": false}', None]),
        (Nothing, [Nothing()], pa.string(), ["{}"]),
        (None, [None], pa.string(), ["null"]),
        (Any, [(1, Mood.CALM)], pa.string(), ['[1, "calm"]']),
    ],
)
def test_values_stand_in_a_column_of_their_type(annotation: Any, values: list[Any], kind: Any, expected: list[Any]) -> None:
    """The type follows from the annotation; what has no type of its own is JSON text."""
    made = decoded(annotation, *values)
    assert column(annotation).type == kind
    assert made.values().to_pylist() == expected


def test_values_that_come_later_are_added() -> None:
    """Codes of new values are looked up as well, and text stands in a dictionary of what is used."""
    made = decoded(str, "a", "b")
    assert made.values().to_pylist() == ["a", "b"]
    made.part.kind.values.code("c")
    found = made.look_up(pa.array([2, 0, 2]).to_numpy())
    assert found.to_pylist() == ["c", "a", "c"]
    assert found.dictionary.to_pylist() == ["a", "c"]


def test_nothing_is_no_entry_of_a_dictionary(tmp_path: Path) -> None:
    """Where a column of text may hold nothing, Parquet can write it, and a reader finds nothing there."""
    made = decoded(Point | int | None, None, 1, Point(2))
    found = made.look_up(pa.array([1, 0, 2, 0]).to_numpy())
    assert found.to_pylist() == ["1", None, '{"x": 2, "y": false}', None]
    pq.write_table(pa.table({"it": found}), tmp_path / "it.parquet", use_dictionary=["it"])
    assert pq.read_table(tmp_path / "it.parquet")["it"].to_pylist() == found.to_pylist()


@pytest.mark.parametrize(("annotation", "value"), [(int, 2**63), (str, "\ud800"), (int | str, object())], ids=["int", "text", "object"])
def test_what_fits_no_table_is_named(annotation: Any, value: Any) -> None:
    """Numbers beyond 64 bits, and what is no text, give one line."""
    made = decoded(annotation)
    made.part.kind.values.values.append(value)
    with pytest.raises(InputError, match=r"^the values of it do not fit a table: "):
        made.values()
