# SPDX-License-Identifier: Apache-2.0
"""Values as small ints: a typed encoding, the numbering of a component's values, and learned maps between values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from enum import Enum, Flag
from functools import cache
from types import MappingProxyType
from typing import Any, Self

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
    if cls is frozenset or cls is TurnedSet:
        return (frozenset, frozenset(map(typed, value)))
    names = compared_fields(cls)
    if names is not None:
        return (cls, *[typed(getattr(value, name)) for name in names])
    return _typed_rarely(cls, value)


def _typed_rarely(cls: type, value: Any) -> Hashable:
    if issubclass(cls, Flag):
        return (cls, value.value)
    if issubclass(cls, Enum):
        return (cls, value.name)
    if cls is bool or cls is bytes or issubclass(cls, type):
        return (cls, value)
    if cls is float and value == value:  # noqa: PLR0124 - what is no number equals nothing, itself included
        return (cls, value.hex())
    if cls is MappingProxyType:
        return (cls, *[(typed(key), typed(one)) for key, one in value.items()])
    if cls is range:
        return (range, value.start, value.stop, value.step)
    if getattr(cls, "__is_view__", False):
        raise LeakedError("a view got into a value")
    raise NotLearnableError(f"{value!r} is no frozen value: states are made of attrs classes, tuples, frozensets, enums and scalars")


class TurnedSet(frozenset[Any]):
    """A set that is iterated from another member on: what depends on the order of a set answers otherwise about it."""

    __slots__ = ("order",)
    order: tuple[Any, ...]

    def __new__(cls, members: Iterable[Any]) -> Self:
        """Return a set of these members that is iterated from the second one on, the first one at last."""
        first, *rest = members
        made = super().__new__(cls, (first, *rest))
        made.order = (*rest, first)
        return made

    def __iter__(self) -> Iterator[Any]:
        """Iterate in this order."""
        return iter(self.order)


def turned(value: Any) -> Any:
    """Return an equal value in which every set is iterated in another order."""
    cls = type(value)
    if cls is frozenset:
        return TurnedSet(map(turned, value)) if len(value) > 1 else frozenset(map(turned, value))
    if cls is tuple:
        return tuple(map(turned, value))
    if has(cls) and is_simple(cls):
        return cls(*[turned(getattr(value, attribute.name)) for attribute in fields(cls)])
    return value


@cache
def compared_fields(cls: Any) -> tuple[str, ...] | None:
    """Return the fields of an attrs class, or ``None`` of another.

    Raises ``NotLearnableError`` unless equal values have equal fields, now and always.
    """
    if not has(cls):
        return None
    for attribute in fields(cls):
        if not attribute.eq or attribute.eq_key is not None:
            raise NotLearnableError(f"{cls.__name__}.{attribute.name} does not count in comparisons as it is: equal values may differ")
    if not _is_generated(cls.__eq__):
        raise NotLearnableError(f"{cls.__name__} does not compare field by field")
    if cls.__setattr__.__name__ != "_frozen_setattrs":
        raise NotLearnableError(f"{cls.__name__} is not frozen")
    return tuple(attribute.name for attribute in fields(cls))


def _is_generated(method: Any) -> bool:
    """Whether attrs wrote a method."""
    return getattr(getattr(method, "__code__", None), "co_filename", "").startswith("<attrs generated")


@cache
def is_simple(cls: Any) -> bool:
    """Whether an instance of an attrs class is its arguments in their order, and nothing else happens when it is made."""
    does_more = hasattr(cls, "__attrs_pre_init__") or hasattr(cls, "__attrs_post_init__") or not _is_generated(cls.__init__)
    return not does_more and all(one.init and not one.kw_only and one.converter is None and one.validator is None for one in fields(cls))


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
