# SPDX-License-Identifier: Apache-2.0
"""How the components of a state look in a table: as Arrow types that a query can look into, derived from annotations.

Records are structs, tuples and sets are lists (sets sorted), members of enums stand by their value. What has no one type
that a column could have (a union, a mapping, anything) is text: the same as JSON. The types follow from the annotations
alone, never from the values met so far, so that all files of a state space have the same.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from hwmark.checker.errors import InputError
from hwmark.checker.plain import to_plain
from hwmark.checker.tables.components import Components, Part
from hwmark.checker.text import shown

from .annotations import bare, field_types, optional, record_class
from .arrow import pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESERVED = ("number", "level", "parent", "step")
"""The columns that every state has."""


def column_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names as columns have them, each different from those taken and from the others also without regard to case."""
    known, chosen = {name.casefold() for name in taken}, []
    for name in names:
        column = name.replace("[", "_").replace("]", "")
        while column.casefold() in known:
            column += "_"
        known.add(column.casefold())
        chosen.append(column)
    return chosen


# -- types --


@frozen(eq=False)
class Column:
    """An Arrow type, and the function that returns a value as pyarrow takes it."""

    type: Any
    convert: Callable[[Any], Any]


def column(annotation: Any, inside: tuple[type, ...] = ()) -> Column:
    """Return how values of this annotated type are kept; ``inside`` are the records around it."""
    annotation = bare(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    other, cls = optional(annotation), record_class(annotation)
    if other is not None:
        return _optional(column(other, inside))
    if cls is not None and cls not in inside and field_types(cls):
        return _struct(list(field_types(cls)), list(field_types(cls).values()), (*inside, cls))
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _list(column(arguments[0], inside), list)
    if origin is frozenset:
        return _list(column(arguments[0], inside), _sorted)
    if origin is tuple and arguments:
        return _struct_of_tuple(arguments, inside)
    return _scalar(annotation)


def _optional(inner: Column) -> Column:
    return Column(inner.type, lambda value: None if value is None else inner.convert(value))


def _struct(names: Sequence[str], kinds: Sequence[Any], inside: tuple[type, ...]) -> Column:
    columns = [column(kind, inside) for kind in kinds]
    fields = list(zip(names, column_names(names), columns, strict=True))
    made = pa.struct([(unique, one.type) for _, unique, one in fields])
    return Column(made, lambda value: {unique: one.convert(getattr(value, name)) for name, unique, one in fields})


def _struct_of_tuple(kinds: Sequence[Any], inside: tuple[type, ...]) -> Column:
    columns = [column(kind, inside) for kind in kinds]
    made = pa.struct([(f"_{index}", one.type) for index, one in enumerate(columns)])
    return Column(
        made, lambda value: {f"_{index}": one.convert(inner) for index, (one, inner) in enumerate(zip(columns, value, strict=True))}
    )


def _list(inner: Column, ordered: Callable[[Any], list[Any]]) -> Column:
    return Column(pa.list_(inner.type), lambda value: [inner.convert(one) for one in ordered(value)])


def _sorted(values: frozenset[Any]) -> list[Any]:
    """Return the members in the order in which the project writes sets."""
    places = {_text(plain): place for place, plain in enumerate(to_plain(values))}
    return sorted(values, key=lambda value: places[_text(to_plain(value))])


def _scalar(annotation: Any) -> Column:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        values = {type(member.value) for member in annotation}
        if values in ({str}, {int}):
            return Column(pa.string() if values == {str} else pa.int64(), lambda value: value.value)
        return Column(pa.string(), lambda value: value.name)
    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
    if annotation in kinds:
        return Column(kinds[annotation], annotation)
    return Column(pa.string(), lambda value: None if value is None and annotation is not types.NoneType else _text(to_plain(value)))


def _text(plain: Any) -> str:
    return json.dumps(plain, ensure_ascii=False)


# -- values --


@frozen(eq=False)
class Decoded:
    """The values of a part of the state by code, as an Arrow array that grows with them."""

    part: Part
    column: Column
    chunks: list[Any] = field(factory=list)

    @classmethod
    def of(cls, part: Part) -> Decoded:
        """Return the decoded values of a part: none yet."""
        return cls(part, column(part.kind.annotation))

    def values(self) -> Any:
        """Return all values that there are now."""
        known = sum(map(len, self.chunks))
        new = self.part.kind.values.values[known:]
        if new or not self.chunks:
            self.chunks[:] = [pa.concat_arrays([*self.chunks, self._array(new)])]
        return self.chunks[0]

    def _array(self, values: Sequence[Any]) -> Any:
        try:
            return pa.array([self.column.convert(value) for value in values], self.column.type)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise InputError(f"the values of {self.part.name} do not fit a table: {shown(error)}") from None

    def look_up(self, codes: NDArray[np.int64]) -> Any:
        """Return the column of the values with these codes; text stands there once, and is referred to."""
        values = self.values()
        if not pa.types.is_string(values.type):
            return values.take(pa.array(codes))
        nothing = values.is_null().to_numpy(zero_copy_only=False)  # Parquet wants it to be referred to by no number
        used = np.zeros(len(values), np.bool_)
        used[codes] = True
        used &= ~nothing
        places = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return pa.DictionaryArray.from_arrays(pa.array(places[codes], mask=nothing[codes]), values.filter(pa.array(used)))


def decoded(components: Components) -> list[tuple[str, Decoded]]:
    """Return for each component the name of its column, and its values; entries of one field share them."""
    each = [one for one in map(Decoded.of, components.parts) for _ in range(one.part.width)]
    return list(zip(column_names(components.names, RESERVED), each, strict=True))
