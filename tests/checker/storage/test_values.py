# SPDX-License-Identifier: Apache-2.0
"""Values are read as they were written, types included, and files can only hold what the annotations allow."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st
from toy_space import Gear, Mood, Point, Tree

from hwmark.checker.errors import InputError
from hwmark.checker.jsonfile import parse_json
from hwmark.checker.storage.annotations import qualified
from hwmark.checker.storage.values import Codec, dump_values, load_values
from hwmark.checker.tables.components import Kind, Part
from hwmark.checker.tables.values import typed
from hwmark.model.machine import Step


@frozen
class Other:
    """A record that no annotation leads to."""


def is_small(_record: Any, _attribute: Any, value: int) -> None:
    """Refuse large numbers."""
    if value > 9:
        raise LookupError("too large")


@frozen
class Small:
    """A record that checks itself."""

    number: int = field(validator=is_small)


@frozen
class Named:
    """A record whose fields are named where it is made, one of them otherwise than it is called."""

    _hidden: int = field(kw_only=True)
    plain: str


@frozen
class Tripled:
    """A record whose field is not what it was made of."""

    number: int = field(converter=lambda value: value * 3)


def part(annotation: Any, *values: Any, name: str = "it") -> Part:
    """Return a part of a state that took these values."""
    made = Part(name, Kind.of(name, annotation, 1000), 0, None)
    for value in values:
        made.kind.code(value)
    return made


EVERYTHING = Any | Point | Mood | Gear | Tree | Small | Named | Step
CODEC = Codec([part(EVERYTHING)])

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from([*Mood, *Gear])
scalars |= (
    st.builds(Point, st.integers(), st.booleans())
    | st.builds(Named, hidden=st.integers(), plain=st.text())
    | st.integers(10**17, 10**19)
    | st.builds(range, st.integers(0, 9))
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner).map(tuple)
        | st.frozensets(inner)
        | st.lists(inner, max_size=2).map(lambda some: Tree(tuple(some)))
        | st.dictionaries(st.text(), inner).map(lambda choices: Step("act", choices))
    ),
    max_leaves=12,
)


@given(values)
def test_values_come_back_the_same(value: Any) -> None:
    """What is decoded from the text is of the same types and contents."""
    assert typed(CODEC.decode(parse_json(json.dumps(CODEC.encode(value))))) == typed(value)


def test_what_is_written_does_not_depend_on_the_order_of_sets() -> None:
    """Members stand in one order, also where they cannot be compared."""
    assert json.dumps(CODEC.encode(frozenset((3, "x", None)))) == '{"set": ["x", 3, null]}'


@pytest.mark.parametrize("value", [Other(), object(), [1], {1}], ids=lambda value: type(value).__name__)
def test_what_could_not_be_read_is_not_written(value: Any) -> None:
    """A class that no annotation leads to, and what is not frozen, is refused at once."""
    with pytest.raises(InputError, match="cannot be stored"):
        CODEC.encode(value)


@pytest.mark.parametrize(
    "data",
    [
        1.5,
        {},
        {"int": "0x1", "float": "0x1"},
        {"int": 1},
        {"int": "zero"},
        {"float": "x"},
        {"float": None},
        {"bytes": "0"},
        {"set": 1},
        {"set": [1, 1]},
        {"set": [{"mapping": []}]},
        {"mapping": [[1]]},
        {"mapping": {"a": 1}},
        {"range": [1, "2", 3]},
        {"range": [0, 1, 0]},
        {"os.system": ["true"]},
        {"builtins.eval": ["1"]},
        {"toy_space.Point": []},
        {"toy_space.Point": [1, 2, 3]},
        {"toy_space.Point": {"x": 1}},
        {"toy_space.Mood": "ANGRY"},
        {"toy_space.Mood": ["CALM"]},
        {qualified(Small): [10]},
        [[{"toy_space.Mood": None}]],
    ],
    ids=json.dumps,
)
def test_what_is_no_value_is_refused(data: Any) -> None:
    """Wrong data give one line, whatever is wrong with them."""
    with pytest.raises(InputError) as caught:
        CODEC.decode(data)
    assert "\n" not in str(caught.value)


# -- tables --


def test_tables_come_back_with_the_same_codes() -> None:
    """Values of several parts are written in the order of their codes, the new ones only, and read into tables like those."""
    numbers, moods = part(int, *range(600)), part(Mood | None, None, Mood.WILD, Mood.CALM)
    codec = Codec([numbers, moods])
    first = b"".join(dump_values(codec, [numbers, moods], [0, 0]))
    numbers.kind.code(-5)
    second = b"".join(dump_values(codec, [numbers, moods], [600, 3]))
    assert second == b'{"part":0,"values":[-5]}\n'
    read = [part(int, 0, 1), part(Mood | None)]
    assert load_values(codec, read, (first + second).splitlines()) == [601, 3]
    assert [one.kind.values.values for one in read] == [numbers.kind.values.values, moods.kind.values.values]


@pytest.mark.parametrize(("annotation", "value"), [(int, "x"), (Tripled, Tripled(1)), (Any, Other())], ids=["annotation", "field", "class"])
def test_a_table_that_could_not_be_read_is_not_written(annotation: Any, value: Any) -> None:
    """Each value is read again as it is written: what does not fit the annotation, or comes back otherwise, is refused."""
    wrong = part(annotation)
    wrong.kind.values.code(value)
    with pytest.raises(InputError, match="cannot be stored"):
        list(dump_values(Codec([wrong]), [wrong], [0]))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"x",
        b"\xff",
        b"[]",
        b'{"part": 0}',
        b'{"part": 1, "values": []}',
        b'{"part": -1, "values": []}',
        b'{"part": true, "values": []}',
        b'{"part": 0, "values": 0}',
        b'{"part": 0, "values": ["x"]}',
        b'{"part": 0, "values": [1]}',
        b'{"part": 0, "values": [0, 0]}',
        b'{"part": 0, "values": [0, false]}',
        b'{"part": 0, "values": [' + b"[" * 99 + b"]" * 99 + b"]}",
    ],
    ids=lambda line: str(line[:40]),
)
def test_a_wrong_table_is_refused(line: bytes) -> None:
    """What is no table, or not the one that belongs to these codes, gives one line with its number."""
    known = part(int, 0)
    with pytest.raises(InputError, match=r"^line 1 of the values: "):
        load_values(Codec([known]), [known], [line])
