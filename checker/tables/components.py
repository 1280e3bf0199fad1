# SPDX-License-Identifier: Apache-2.0
"""Of what components a system's state is made: one for each field, or for each entry of an indexed field, or memory.

A tuple field is taken to be indexed if it is as long in all initial states. Should a step change that length after all,
``ResizedError`` names the field, and it is one component as a whole from then on.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from functools import cached_property
from typing import Annotated, Any

from attrs import field, fields, frozen, has

from hwmark.checker.system import Observed, System, own_state
from hwmark.model.machine import IndexedBy

from .values import NotLearnableError, Values, compared_fields, is_simple, turned, turns


class ResizedError(Exception):
    """A step changes the length of a field that was taken to be indexed."""

    def __init__(self, name: str) -> None:
        """Name the field."""
        super().__init__(name)
        self.name = name


class Shape(Enum):
    """What is known of a kind's values from its annotation."""

    RECORDS = "instances of one attrs class"
    PLAIN = "read as a whole"
    MIXED = "anything"


@frozen(eq=False)
class Kind:
    """What components of one field have in common: the values, and what they look like."""

    name: str
    annotation: Any
    shape: Shape
    values: Values
    _turns: list[int] = field(factory=list)
    _turned: dict[int, list[Any]] = field(factory=dict)

    def turns(self, code: int) -> int:
        """Return in how many other orders the sets of a value are iterated in turn."""
        if code >= len(self._turns):
            self._turns.extend(map(turns, self.values.values[len(self._turns) :]))
        return self._turns[code]

    def turned_values(self, turn: int) -> list[Any]:
        """Return all values by code, with every set iterated in another order; turn 0: as they are."""
        values = self.values.values
        if not turn:
            return values
        known = self._turned.setdefault(turn, [])
        if len(known) < len(values):
            new = range(len(known), len(values))
            known.extend([turned(values[code], turn) if self.turns(code) else values[code] for code in new])
        return known

    @classmethod
    def of(cls, name: str, annotation: Any, most_values: int) -> Kind:
        """Return the kind of a field or an entry with this annotated type."""
        return cls(name, annotation, _shape(annotation), Values(name, strict=True, most=most_values))

    def code(self, value: Any) -> int:
        """Return the code of a value; raises ``NotLearnableError`` if it is not of the annotated class."""
        if self.shape is Shape.RECORDS and type(value) is not _bare(self.annotation):
            raise NotLearnableError(f"{self.name} is annotated as {_bare(self.annotation).__name__}, and takes {value!r}")
        return self.values.code(value)


def _bare(annotation: Any) -> Any:
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is Annotated else annotation


def _shape(annotation: Any) -> Shape:
    bare = _bare(annotation)
    if isinstance(bare, type) and has(bare):
        return Shape.RECORDS if is_simple(bare) else Shape.PLAIN
    if typing.get_origin(bare) in (tuple, frozenset) or bare is types.NoneType:
        return Shape.PLAIN
    if isinstance(bare, type) and issubclass(bare, (int, str, bytes, float, Enum)):
        return Shape.PLAIN
    return Shape.MIXED


@frozen(eq=False)
class Part:
    """One field of the state: its first component, and how many entries it has; ``None``: it is not indexed."""

    name: str
    kind: Kind
    first: int
    entries: int | None
    indexed_by: str | None = None

    @property
    def width(self) -> int:
        """How many components the field has."""
        return 1 if self.entries is None else self.entries


@frozen(eq=False)
class Components:
    """The components of a system's states, in the order of fields and observers."""

    system: System
    state_type: type
    fields: tuple[Part, ...]
    memories: tuple[Part, ...]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Return all fields and memories."""
        return self.fields + self.memories

    @cached_property
    def kinds(self) -> list[Kind]:
        """Return the kind of each component."""
        return [part.kind for part in self.parts for _ in range(part.width)]

    @property
    def names(self) -> list[str]:
        """Return the name of each component."""
        return [part.name if part.entries is None else f"{part.name}[{index}]" for part in self.parts for index in range(part.width)]

    def turns(self, codes: Sequence[int], places: Iterable[int] | None = None) -> int:
        """Return in how many other orders the sets of some components are iterated in turn, or those of all."""
        kinds = self.kinds
        return max([kinds[place].turns(codes[place]) for place in (range(len(kinds)) if places is None else places)], default=0)

    def encode(self, state: Any) -> list[int]:
        """Return the code of each component of a state."""
        codes: list[int] = []
        own = own_state(state)
        for part in self.fields:
            value = getattr(own, part.name)
            if part.entries is None:
                codes.append(part.kind.code(value))
            elif type(value) is tuple and len(value) == part.entries:
                codes.extend([part.kind.code(one) for one in value])
            else:
                raise ResizedError(part.name)
        if isinstance(state, Observed):
            codes.extend(part.kind.code(memory) for part, memory in zip(self.memories, state.memories, strict=True))
        return codes

    def decode(self, codes: Sequence[int], turn: int = 0) -> Any:
        """Return the state with these codes; ``turn``: in which order its sets are iterated."""
        own = self.state_type(*[_value(part, codes, turn) for part in self.fields])
        if not self.memories:
            return own
        return Observed(own, tuple(_value(part, codes, turn) for part in self.memories))


def _value(part: Part, codes: Sequence[int], turn: int) -> Any:
    values = part.kind.turned_values(turn) if turn else part.kind.values.values
    if part.entries is None:
        return values[codes[part.first]]
    return tuple([values[code] for code in codes[part.first : part.first + part.entries]])


def components(system: System, whole: Collection[str] = (), most_values: int = 2**31 - 1) -> Components:
    """Return the components of a system's states; the fields in ``whole`` are not split into their entries."""
    initial = [own_state(state) for state in system.initial]
    state_type = type(initial[0])
    if not has(state_type):
        raise NotLearnableError(f"states are no attrs class but {state_type.__name__}")
    if compared_fields(state_type) is None or not is_simple(state_type):
        raise NotLearnableError(f"{state_type.__name__} does more than to hold its fields")
    try:
        hints = typing.get_type_hints(state_type, include_extras=True)
    except NameError as error:
        raise NotLearnableError(f"{state_type.__name__} is annotated with names that cannot be found: {error}") from None
    parts, first = [], 0
    for attribute in fields(state_type):
        annotation = hints[attribute.name]
        entries = None if attribute.name in whole else _length(annotation, [getattr(state, attribute.name) for state in initial])
        part = _part(attribute.name, annotation, first, entries, most_values)
        parts.append(part)
        first += part.width
    memories = []
    for observer in system.observers:
        memories.append(Part(observer.name, Kind.of(observer.name, observer.memory, most_values), first, None))
        first += 1
    return Components(system, state_type, tuple(parts), tuple(memories))


def _length(annotation: Any, initial: list[Any]) -> int | None:
    """Return how many entries a field has if it is indexed: a tuple of entries of one type, as long in all initial states."""
    lengths = {len(value) if type(value) is tuple else 0 for value in initial}
    is_alike = typing.get_origin(_bare(annotation)) is tuple and typing.get_args(_bare(annotation))[1:] == (Ellipsis,)
    return lengths.pop() if is_alike and len(lengths) == 1 and 0 not in lengths else None


def _part(name: str, annotation: Any, first: int, entries: int | None, most_values: int) -> Part:
    if entries is None:
        return Part(name, Kind.of(name, annotation, most_values), first, None)
    marks = typing.get_args(annotation)[1:] if typing.get_origin(annotation) is Annotated else ()
    indexed_by = next((mark.kind for mark in marks if isinstance(mark, IndexedBy)), None)
    return Part(name, Kind.of(name, typing.get_args(_bare(annotation))[0], most_values), first, entries, indexed_by)
