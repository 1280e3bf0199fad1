# SPDX-License-Identifier: Apache-2.0
"""Values as small ints: a typed encoding, the numbering of a component's values, and learned maps between values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any

from attrs import field, fields, has, mutable

UNKNOWN = -1
"""What a map answers about a value that it was not asked about yet."""


class NotLearnableError(Exception):
    """What the tables engine cannot do exactly: the reference engine explores such a machine instead."""


class LeakedError(Exception):
    """A recording view got into a value, where its reads cannot be recorded."""


def typed(value: Any) -> Hashable:
    """Return a key that is equal for exactly the values of the same types and contents: 0, ``False`` and 0.0 differ.

    Raises ``NotLearnableError`` for values that are not frozen through and through.
    """
    cls: Any = type(value)
    if cls is int or cls is str or value is None:
        return value  # type: ignore[no-any-return]  # these three never equal one another
    if cls is tuple:
        return (tuple, *map(typed, value))
    if cls is frozenset:
        return (frozenset, frozenset(map(typed, value)))
    names = _field_names(cls)
    if names is not None:
        return (cls, *[typed(getattr(value, name)) for name in names])
    return _typed_rarely(cls, value)


def _typed_rarely(cls: type, value: Any) -> Hashable:
    if issubclass(cls, Enum):
        return (cls, value.name)
    if cls is bool or cls is bytes:
        return (cls, value)
    if cls is ReversedSet:
        return (frozenset, frozenset(map(typed, value)))
    if cls is float:
        return (cls, value.hex())
    if isinstance(value, Mapping):
        return (Mapping, *[(typed(key), typed(one)) for key, one in value.items()])
    if cls is range:
        return (range, value.start, value.stop, value.step)
    if getattr(cls, "is_recording_view", False):
        raise LeakedError
    raise NotLearnableError(f"a {cls.__name__} is no frozen value: states are made of attrs classes, tuples, frozensets, enums and scalars")


class ReversedSet(frozenset[Any]):
    """A set that is iterated the other way round: what depends on the order of a set answers otherwise about it."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        """Iterate backwards."""
        return iter(list(super().__iter__())[::-1])


def reversed_sets(value: Any) -> Any:
    """Return an equal value in which every set is iterated the other way round."""
    cls = type(value)
    if cls is frozenset:
        return ReversedSet(map(reversed_sets, value))
    if cls is tuple:
        return tuple(map(reversed_sets, value))
    if has(cls):
        return cls(*[reversed_sets(getattr(value, attribute.name)) for attribute in fields(cls)])
    return value


@cache
def _field_names(cls: Any) -> tuple[str, ...] | None:
    """Return the fields of an attrs class, or ``None`` of another; equality must mean that all of them are equal."""
    if not has(cls):
        return None
    for attribute in fields(cls):
        if not attribute.eq or attribute.eq_key is not None:
            raise NotLearnableError(f"{cls.__name__}.{attribute.name} does not count in comparisons as it is: equal values may differ")
    if cls.__eq__ is object.__eq__:
        raise NotLearnableError(f"{cls.__name__} compares by identity")
    return tuple(attribute.name for attribute in fields(cls))


@mutable(eq=False)
class Values:
    """The values of one kind by code, numbered as they are met.

    ``strict``: equal values of different types are refused, since the reference engine would take them for one.
    """

    name: str
    strict: bool = False
    most: int = 2**31 - 1
    values: list[Any] = field(factory=list)
    _codes: dict[Hashable, int] = field(factory=dict)
    _equal: dict[Any, int] = field(factory=dict)

    def code(self, value: Any) -> int:
        """Return the code of a value, a new one if it was never met."""
        key = typed(value)
        known = self._codes.get(key)
        if known is not None:
            return known
        number = len(self.values)
        if number > self.most:
            raise NotLearnableError(f"{self.name} takes more than {self.most + 1:,} values")
        if self.strict and self._equal.setdefault(value, number) != number:
            raise NotLearnableError(f"{self.name} takes equal values of different types, such as {value!r}")
        self._codes[key] = number
        self.values.append(value)
        return number


@mutable(eq=False)
class Map:
    """A learned function of one value: from codes of one kind to codes of another, filled in as it is asked.

    Parts of values (an attribute, a method's answer), changes to values, and renamings are maps.
    """

    number: int
    source: Values
    target: Values
    function: Callable[[Any], Any]
    table: list[int] = field(factory=list)

    def apply(self, code: int) -> int:
        """Return the code of the function's answer about the value with this code."""
        table = self.table
        if code >= len(table):
            table.extend([UNKNOWN] * (len(self.source.values) - len(table)))
        found = table[code]
        if found == UNKNOWN:
            found = table[code] = self.target.code(self.function(self.source.values[code]))
            self.changed(code, found)
        return found

    changed: Callable[[int, int], None] = field(default=lambda _code, _found: None)
    """Hears of each entry that becomes known."""
