# SPDX-License-Identifier: Apache-2.0
"""Values as small ints: a typed encoding, the numbering of a component's values, and learned maps between values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from enum import Enum, Flag
from functools import cache
from types import MappingProxyType
from typing import Any, Self

from attrs import evolve, field, fields, has, mutable

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
    """A set that is iterated in an order of its own: what depends on the order of a set answers otherwise about it."""

    __slots__ = ("order",)
    order: tuple[Any, ...]

    def __new__(cls, members: Iterable[Any]) -> Self:
        """Return a set of these members, which are all different, that is iterated in their order."""
        order = tuple(members)
        made = super().__new__(cls, order)
        made.order = order
        return made

    def __iter__(self) -> Iterator[Any]:
        """Iterate in this order."""
        return iter(self.order)


def class_of(value: Any) -> type:
    """Return the class of a value, in whatever order its sets are iterated."""
    cls = type(value)
    return frozenset if cls is TurnedSet else cls


def _derives(name: str) -> Callable[..., Any]:
    operation = getattr(frozenset, name)

    def derive(self: TurnedSet, *others: Any) -> Any:
        found = operation(self, *others)
        if not isinstance(found, frozenset):
            return found
        return TurnedSet([*[member for member in self.order if member in found], *[member for member in found if member not in self]])

    return derive


for _name in ("and", "or", "sub", "xor", "rand", "ror", "rsub", "rxor"):
    setattr(TurnedSet, f"__{_name}__", _derives(f"__{_name}__"))
for _name in ("copy", "difference", "intersection", "symmetric_difference", "union"):
    setattr(TurnedSet, _name, _derives(_name))


def turns(value: Any) -> int:
    """Return in how many other orders the sets of a value are iterated in turn; 0: it has none with several members.

    A set of three has all its orders among them; in those of a larger one each member is once at each place, and each
    before each other.
    """
    cls: Any = type(value)
    if cls is frozenset:
        members = len(value)
        return max(2 * members - 1 if members > 2 else members - 1, *map(turns, value), 0)
    if cls is tuple:
        return max(map(turns, value), default=0)
    return max([turns(getattr(value, name)) for name in compared_fields(cls) or ()], default=0)


def turned(value: Any, turn: int) -> Any:
    """Return an equal value in which every set is iterated in another order; ``turn``: in which, counted from 1."""
    cls = type(value)
    if cls is frozenset:
        members = [turned(member, turn) for member in value]
        backwards, place = divmod(turn % (2 * len(members)), len(members)) if members else (0, 0)
        order = members[place:] + members[:place]
        return TurnedSet(reversed(order) if backwards else order)
    if cls is tuple:
        return tuple([turned(one, turn) for one in value])
    return _turned_record(cls, value, turn) if has(cls) else value


def _turned_record(cls: Any, value: Any, turn: int) -> Any:
    if is_simple(cls):
        return cls(*[turned(getattr(value, attribute.name), turn) for attribute in fields(cls)])
    made = evolve(value, **{one.alias: turned(getattr(value, one.name), turn) for one in fields(cls) if one.init})
    if typed(made) != typed(value):
        raise NotLearnableError(f"{cls.__name__} makes other values of those that it is made of")
    return made


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
    if not _is_generated(cls, "__eq__"):
        raise NotLearnableError(f"{cls.__name__} does not compare field by field")
    if cls.__setattr__.__name__ != "_frozen_setattrs":
        raise NotLearnableError(f"{cls.__name__} is not frozen")
    return tuple(attribute.name for attribute in fields(cls))


def _is_generated(cls: Any, name: str) -> bool:
    """Whether attrs wrote a method of a class, for all the fields that the class has."""
    owner = next(one for one in cls.__mro__ if name in vars(one))
    source = getattr(getattr(vars(owner)[name], "__code__", None), "co_filename", "")
    return source.startswith("<attrs generated") and [one.name for one in fields(owner)] == [one.name for one in fields(cls)]


@cache
def is_simple(cls: Any) -> bool:
    """Whether an instance of an attrs class is its arguments in their order, and nothing else happens when it is made."""
    does_more = hasattr(cls, "__attrs_pre_init__") or hasattr(cls, "__attrs_post_init__") or not _is_generated(cls, "__init__")
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

    def known(self, code: int) -> int:
        """Return the code of the function's answer, or ``UNKNOWN``."""
        return self.table[code] if code < len(self.table) else UNKNOWN

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
