# SPDX-License-Identifier: Apache-2.0
"""Renaming interchangeable identities, derived from the annotations on a machine's state type.

A state is renamed by a permutation of each kind of identity: an ``Identity`` int becomes its image, the i-th entry of
an ``IndexedBy`` tuple moves to the image of i. The orbit of a state under all renamings is known by one key: the least
of the renamed states, compared by codes that number the values of each component in the order they were first seen.
"""

from __future__ import annotations

import itertools
import math
import types
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar

from attrs import evolve, fields, has

from hwmark.model.machine import Identity, IndexedBy, Machine

S = TypeVar("S")
Renaming = Mapping[str, Mapping[int, int]]
Rename = Callable[[Any, Renaming], Any]
MOST_RENAMINGS = 720
"""As many as there are of six identities."""


class NotSymmetricError(Exception):
    """A type whose identities cannot be found: symmetry is refused rather than guessed."""


def renamings(machine: Machine[S]) -> list[Renaming]:
    """Return every renaming of the machine's interchangeable identities, the identical one first.

    Raises ``NotSymmetricError`` where they are too many: each new value of a state is renamed by all of them.
    """
    count = math.prod(math.factorial(len(members)) for members in machine.interchangeable.values())
    if count > MOST_RENAMINGS:
        raise NotSymmetricError(f"{count:,} renamings are more than the {MOST_RENAMINGS:,} that can be tried: explore without symmetry")
    kinds = [
        [(kind, dict(zip(members, image, strict=True))) for image in itertools.permutations(members)]
        for kind, members in machine.interchangeable.items()
    ]
    return [dict(chosen) for chosen in itertools.product(*kinds)]


def _unchanged(value: Any, _renaming: Renaming) -> Any:
    return value


@cache
def renamer(annotation: Any) -> Rename:
    """Return the function that renames the identities inside a value of this annotated type.

    Raises ``NotSymmetricError`` for a type that may hide identities (``Any``, ``object``, an unknown container).
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is frozenset:
        member = renamer(arguments[0])
        return _unchanged if member is _unchanged else lambda value, renaming: frozenset(member(one, renaming) for one in value)
    if isinstance(annotation, type):
        if has(annotation):
            return _record(annotation)
        if issubclass(annotation, (int, str, bytes, float, types.NoneType)) or hasattr(annotation, "__members__"):
            return _unchanged
    raise NotSymmetricError(f"no identities can be found in a {annotation}")


def _annotated(inner: Any, marks: tuple[Any, ...]) -> Rename:
    for mark in marks:
        if isinstance(mark, Identity):
            kind = mark.kind
            return lambda value, renaming: renaming[kind].get(value, value) if kind in renaming else value
        if isinstance(mark, IndexedBy):
            return _indexed(renamer(typing.get_args(inner)[0]), mark.kind)
    return renamer(inner)


def _indexed(entry: Rename, kind: str) -> Rename:
    def rename(value: Any, renaming: Renaming) -> Any:
        names = renaming.get(kind, {})
        moved = list(value)
        for index, one in enumerate(value):
            moved[names.get(index, index)] = entry(one, renaming)
        return tuple(moved)

    return rename


def _tuple(arguments: tuple[Any, ...]) -> Rename:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        each = renamer(arguments[0])
        return _unchanged if each is _unchanged else lambda value, renaming: tuple(each(one, renaming) for one in value)
    entries = tuple(renamer(argument) for argument in arguments)
    if all(entry is _unchanged for entry in entries):
        return _unchanged
    return lambda value, renaming: tuple(entry(one, renaming) for entry, one in zip(entries, value, strict=True))


def _union(arguments: tuple[Any, ...]) -> Rename:
    renamers = {argument: renamer(argument) for argument in arguments if argument is not types.NoneType}
    changing = {argument: rename for argument, rename in renamers.items() if rename is not _unchanged}
    if not changing:
        return _unchanged
    if all(isinstance(argument, type) for argument in renamers):
        return lambda value, renaming: renamers[type(value)](value, renaming) if value is not None else None
    if len(renamers) == 1:
        (rename,) = renamers.values()
        return lambda value, renaming: rename(value, renaming) if value is not None else None
    raise NotSymmetricError(f"no identities can be found in a union of {', '.join(map(str, arguments))}")


def _record(cls: type) -> Rename:
    hints = typing.get_type_hints(cls, include_extras=True)
    parts = {attribute.name: renamer(hints[attribute.name]) for attribute in fields(cls)}
    changing = {name: rename for name, rename in parts.items() if rename is not _unchanged}
    if not changing:
        return _unchanged
    return lambda value, renaming: evolve(value, **{name: rename(getattr(value, name), renaming) for name, rename in changing.items()})


class OrbitKey(Generic[S]):
    """Gives each state a key that is equal for exactly the states of its orbit, in this object's lifetime."""

    def __init__(self, machine: Machine[S], components: Sequence[tuple[Callable[[S], Any], Any]]) -> None:
        """Prepare the renamings of the machine's identities, for states made of these (getter, annotated type) pairs."""
        all_renamings = renamings(machine)
        self._components = tuple((get, _Component(annotation, all_renamings).codes) for get, annotation in components)

    def __call__(self, state: S) -> Hashable:
        """Return the key of the state's orbit."""
        return min(zip(*[codes(get(state)) for get, codes in self._components], strict=True))


def state_components(state_type: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    """Return a getter and the annotated type for each field of an attrs class."""
    hints = typing.get_type_hints(state_type, include_extras=True)
    return [(attrgetter(attribute.name), hints[attribute.name]) for attribute in fields(state_type)]


class _Component:
    """One component of the state: its values as codes, and the codes of their renamed images."""

    def __init__(self, annotation: Any, all_renamings: list[Renaming]) -> None:
        marks = typing.get_args(annotation)[1:] if typing.get_origin(annotation) is Annotated else ()
        self._kind = next((mark.kind for mark in marks if isinstance(mark, IndexedBy)), None)
        self._renamings = all_renamings
        self._rename = renamer(typing.get_args(typing.get_args(annotation)[0])[0] if self._kind else annotation)
        self._orders: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        self._codes: dict[Any, int] = {}
        self._images: dict[Any, tuple[int, ...]] = {}

    def codes(self, value: Any) -> tuple[Any, ...]:
        """Return the code of the value's image under each renaming, entry by entry if it is indexed by identities."""
        known = self._images
        if self._kind is None:
            return known.get(value) or self._image(value)
        images = [known.get(one) or self._image(one) for one in value]
        orders = self._orders.get(len(images)) or self._order(len(images))
        return tuple([tuple([images[source][number] for source in sources]) for number, sources in orders])

    def _image(self, value: Any) -> tuple[int, ...]:
        codes = self._codes
        found = tuple([codes.setdefault(self._rename(value, renaming), len(codes)) for renaming in self._renamings])
        self._images[value] = found
        return found

    def _order(self, length: int) -> list[tuple[int, tuple[int, ...]]]:
        """For each renaming: where the entry at each place of the renamed tuple comes from."""
        names = [{new: old for old, new in renaming.get(str(self._kind), {}).items()} for renaming in self._renamings]
        orders = [(number, tuple(name.get(index, index) for index in range(length))) for number, name in enumerate(names)]
        self._orders[length] = orders
        return orders
