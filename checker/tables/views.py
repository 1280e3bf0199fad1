# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for states that note what a function reads of them, and what it changes.

An action or a promise that is handed a view does what it always does, and the view notes each read as (component, map,
code of the answer): of a whole component, or of a part of its value, such as ``replicas[1].leader`` or
``logs[0].end_offset``. What is not read is not noted, so that states that agree on the reads agree on the outcome.
Reads are allowed one by one: whatever a view does not know how to record raises, and nothing passes unseen.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any, NoReturn

from attrs import define, field, fields, has

from hwmark.checker.system import Observed

from .components import Components, Kind, Part, ResizedError, Shape
from .values import LeakedError, Map, NotLearnableError, Values, typed

Read = tuple[int, int, int]
"""A component, the map that was applied to its code (-1: none), and the code of the answer."""
Write = tuple[int, int, int, int]
"""A component; the component to copy from (-1: none), through a map (-1: as it is); the code to set where there is none."""

_UNREAD = object()


class UnsupportedError(Exception):
    """A function did something with a view that cannot be recorded."""


@define(eq=False)
class Recorder:
    """The reads of one run of a function, on the state with these codes; positions count components.

    Twice the components and one more: those of the state before a step, of the state after it, and the step itself.
    """

    components: Components
    new_map: Callable[[Values, Values, Callable[[Any], Any]], Map]
    kinds: list[Kind] = field(init=False)
    parts_seen: dict[tuple[int, Hashable], Any] = field(factory=dict, init=False)
    reads: list[Read] = field(factory=list, init=False)
    codes: Sequence[int] = field(default=(), init=False)
    maps: dict[tuple[int, Hashable], Map] = field(factory=dict, init=False)
    fine: bool = field(default=True, init=False)
    """Whether parts of values are noted, or whole values only."""

    def __attrs_post_init__(self) -> None:
        """Prepare the kinds of all positions."""
        steps = Kind("step", Any, Shape.MIXED, Values("step"))
        for step in self.components.system.steps:
            steps.values.code(step)
        self.kinds = [*self.components.kinds, *self.components.kinds, steps]

    def begin(self, codes: Sequence[int]) -> None:
        """Forget what was read, and stand for the state with these codes."""
        self.codes = codes
        self.reads = []
        self.parts_seen.clear()

    def whole(self, position: int) -> Any:
        """Return the value of a component, and note that it was read."""
        seen = self.parts_seen.get((position, None), _UNREAD)
        if seen is _UNREAD:
            code = self.codes[position]
            self.reads.append((position, -1, code))
            seen = self.parts_seen[position, None] = self.kinds[position].values.values[code]
        return seen

    def part(self, position: int, key: Hashable, function: Callable[[Any], Any]) -> Any:
        """Return what a function answers about the value of a component, and note that; equal keys mean equal functions."""
        seen = self.parts_seen.get((position, key), _UNREAD)
        if seen is not _UNREAD:
            return seen
        known = self.map_of(self.kinds[position], key, function)
        answer = known.apply(self.codes[position])
        self.reads.append((position, known.number, answer))
        seen = self.parts_seen[position, key] = known.target.values[answer]
        return seen

    def map_of(self, kind: Kind, key: Hashable, function: Callable[[Any], Any], target: Values | None = None) -> Map:
        """Return the map of this key on values of this kind, a new one if it was never asked for."""
        known = self.maps.get((id(kind), key))
        if known is None:
            known = self.new_map(kind.values, target or Values(f"{kind.name}: {key}"), function)
            self.maps[id(kind), key] = known
        return known

    def peek(self, position: int) -> Any:
        """Return the value of a component without noting it: only its type may be used, and only where that is known."""
        return self.kinds[position].values.values[self.codes[position]]

    def entry(self, position: int) -> Any:
        """Return what a function gets for a component: the value, read as a whole, or a view of an attrs instance."""
        kind = self.kinds[position]
        if not self.fine or kind.shape is Shape.PLAIN:
            return self.whole(position)
        if kind.shape is Shape.MIXED:
            cls = self.part(position, type, _class_name)
            if not has(type(self.peek(position))):
                return None if cls == "builtins.NoneType" else self.whole(position)
        return ValueView(self, position, type(self.peek(position)), {})


def _class_name(value: Any) -> str:
    """Return the class of a value, as text that tells classes apart."""
    cls = type(value)
    return f"{cls.__module__}.{cls.__qualname__}"


def _refuse(what: str) -> Callable[..., NoReturn]:
    def refuse(_self: Any, *_args: Any) -> NoReturn:
        raise UnsupportedError(f"{what} of a whole state cannot be recorded")

    return refuse


# -- a value inside a state --


class ValueView:
    """Stands for an attrs instance in a component, with some fields changed."""

    __slots__ = ("_changes", "_cls", "_position", "_recorder")
    is_recording_view = True

    def __init__(self, recorder: Recorder, position: int, cls: type, changes: dict[str, Any]) -> None:
        """Stand for the value at a position."""
        self._recorder, self._position, self._cls, self._changes = recorder, position, cls, changes

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # noqa: D105
        return self._cls

    def __getattr__(self, name: str) -> Any:
        """Read a field, a property, or a method's answer."""
        changes, cls = self._changes, self._cls
        if name in changes:
            return changes[name]
        if name in _field_set(cls):
            return self._recorder.part(self._position, name, operator.attrgetter(name))
        member = _member(cls, name)
        if isinstance(member, property):
            if changes:
                return member.fget(self)  # type: ignore[misc]
            return self._recorder.part(self._position, name, operator.attrgetter(name))
        return MethodType(member, self) if changes else partial(_answer, self, name)

    def __put__(self, changes: dict[str, Any]) -> ValueView:
        """Return the view with more fields changed (see ``put``)."""
        unknown = changes.keys() - _field_set(self._cls)
        if unknown or any(type(change) is dict for change in changes.values()):
            raise UnsupportedError(f"a change of {sorted(changes)} in a {self._cls.__name__}")
        return ValueView(self._recorder, self._position, self._cls, {**self._changes, **changes})

    def write(self, position: int, kind: Kind) -> Write:
        """Return the write that puts this value into a component."""
        source = self._recorder.kinds[self._position]
        if source.values is not kind.values:
            return (position, -1, -1, kind.code(real(self)))
        if not self._changes:
            return (position, self._position, -1, -1)
        changes = {name: real(change) for name, change in self._changes.items()}
        key = ("put", *[(name, typed(change)) for name, change in sorted(changes.items())])
        changed = self._recorder.map_of(kind, key, partial(_changed, self._cls, changes), kind.values)
        return (position, self._position, changed.number, -1)

    def real(self) -> Any:
        """Return the value itself, read as a whole."""
        value = self._recorder.whole(self._position)
        return _changed(self._cls, {name: real(change) for name, change in self._changes.items()}, value) if self._changes else value


@cache
def _member(cls: type, name: str) -> Any:
    """Return a property or a method of a class: what is neither cannot be recorded."""
    member = inspect.getattr_static(cls, name)
    if not isinstance(member, property | FunctionType):
        raise UnsupportedError(f"{cls.__name__}.{name} is neither a field, a property nor a method")
    return member


def _answer(view: ValueView, name: str, *args: Any, **keywords: Any) -> Any:
    """Ask a method of the value behind a view, and note the answer."""
    args, keywords = tuple(map(real, args)), {key: real(value) for key, value in keywords.items()}
    key = (name, typed(args), *[(key, typed(value)) for key, value in sorted(keywords.items())])
    return view._recorder.part(view._position, key, operator.methodcaller(name, *args, **keywords))  # noqa: SLF001


def _changed(cls: Any, changes: dict[str, Any], value: Any) -> Any:
    return cls(*[changes[name] if name in changes else getattr(value, name) for name in _field_names(cls)])


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in fields(cls))


@cache
def _field_set(cls: Any) -> frozenset[str]:
    return frozenset(_field_names(cls))


def real(value: Any) -> Any:
    """Return the value behind a view, and any other value as it is."""
    if isinstance(value, ValueView) and type(value) is ValueView:
        return value.real()
    if type(value) is EntriesView:
        return tuple(map(real, value))
    if getattr(type(value), "is_recording_view", False):
        raise LeakedError
    return value


def _on_real(operation: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: Any, *args: Any) -> Any:
        return operation(real(self), *map(real, args))

    return operate


_COMPARED: dict[str, Callable[..., Any]] = {
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__hash__": hash,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__repr__": repr,
    "__str__": str,
    "__format__": format,
}
_CONTAINED: dict[str, Callable[..., Any]] = {
    "__len__": len,
    "__iter__": iter,
    "__contains__": operator.contains,
    "__getitem__": operator.getitem,
}
for _name, _operation in {**_COMPARED, **_CONTAINED}.items():
    setattr(ValueView, _name, _on_real(_operation))


def _truth(self: ValueView) -> bool:
    """An attrs instance is true unless its class says otherwise."""
    cls = self.__class__
    return bool(real(self)) if hasattr(cls, "__bool__") or hasattr(cls, "__len__") else True


ValueView.__bool__ = _truth  # type: ignore[attr-defined]


# -- an indexed field --


class EntriesView(Sequence[Any]):
    """Stands for an indexed field: a tuple whose length is fixed."""

    __slots__ = ("_part", "_state")
    is_recording_view = True

    def __init__(self, state: StateView, part: Part) -> None:
        """Stand for a field of a state."""
        self._state, self._part = state, part

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # noqa: D105
        return tuple

    def __len__(self) -> int:
        """Return the fixed length: nothing that a state could change."""
        return self._part.entries or 0

    def __getitem__(self, index: Any) -> Any:
        """Read an entry, or several."""
        if isinstance(index, slice):
            return tuple([self._state.entry(self._part.first + place) for place in range(len(self))[index]])
        return self._state.entry(self._part.first + range(len(self))[operator.index(index)])

    def __iter__(self) -> Iterator[Any]:
        """Read the entries one after another."""
        first = self._part.first
        return (self._state.entry(place) for place in range(first, first + len(self)))

    def __add__(self, other: Any) -> Any:
        """Return a longer tuple."""
        return (*self, *other)

    def __radd__(self, other: Any) -> Any:
        """Return a longer tuple."""
        return (*other, *self)


for _name, _operation in _COMPARED.items():
    setattr(EntriesView, _name, _on_real(_operation))


# -- a state --


class StateView:
    """Stands for a state, with some components changed; a subclass for each class of states has its fields."""

    __slots__ = ("_changes", "_offset", "_recorder")
    is_recording_view = True
    _components: Components

    def __init__(self, recorder: Recorder, offset: int, changes: dict[int, Any]) -> None:
        """Stand for the state whose components start at a position."""
        self._recorder, self._offset, self._changes = recorder, offset, changes

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # noqa: D105
        return self._components.state_type

    def entry(self, place: int) -> Any:
        """Return what a function gets for a component."""
        if place in self._changes:
            return self._changes[place]
        return self._recorder.entry(self._offset + place)

    def field(self, part: Part) -> Any:
        """Return what a function gets for a field."""
        return self.entry(part.first) if part.entries is None else EntriesView(self, part)

    def __getattr__(self, name: str) -> Any:
        """Evaluate a property or bind a method of the state's class: its reads are noted one by one."""
        member = _member(self._components.state_type, name)
        if isinstance(member, property):
            return member.fget(self)  # type: ignore[misc]
        return MethodType(member, self)

    def __put__(self, changes: dict[str, Any]) -> StateView:
        """Return the view with more fields changed (see ``put``)."""
        by_name = {part.name: part for part in self._components.fields}
        changed = dict(self._changes)
        for name, change in changes.items():
            part = by_name.get(name)
            if part is None:
                raise TypeError(f"{self._components.state_type.__name__} has no field {name}")
            if type(change) is not dict:
                changed.update(field_changes(part, change))
            elif part.entries is None:
                raise UnsupportedError(f"single entries of {name}, which is one component")
            else:
                changed.update({part.first + range(part.entries)[index]: entry for index, entry in change.items()})
        return type(self)(self._recorder, self._offset, changed)

    def changed_components(self) -> dict[int, Any]:
        """Return the changed components by place."""
        return self._changes


for _name in (*_COMPARED, *_CONTAINED, "__bool__"):
    setattr(StateView, _name, _refuse(_name))


def field_changes(part: Part, value: Any) -> dict[int, Any]:
    """Return the components that change if a field gets this value."""
    if part.entries is None:
        return {part.first: value}
    if not isinstance(value, tuple):
        raise NotLearnableError(f"{part.name} is annotated as a tuple, and takes {value!r}")
    entries = tuple(value)
    if len(entries) != part.entries:
        raise ResizedError(part.name)
    return dict(enumerate(entries, part.first))


def view_class(components: Components) -> type[StateView]:
    """Return the class of views of a system's own states."""
    members: dict[str, Any] = {part.name: property(partial(_field, part)) for part in components.fields}
    return type("StateView", (StateView,), {"__slots__": (), "_components": components, **members})


def _field(part: Part, view: StateView) -> Any:
    return view.field(part)


# -- the root --


class _Memories(Sequence[Any]):
    """Stands for what the observers remember; each is read as a whole."""

    def __init__(self, recorder: Recorder, first: int, count: int) -> None:
        self._recorder, self._first, self._count = recorder, first, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._recorder.whole(self._first + range(self._count)[index])


def _not_compared(_self: Any, _other: Any) -> NoReturn:
    raise UnsupportedError("a comparison of observed states")


def root(recorder: Recorder, view: type[StateView], *, after: bool = False) -> Any:
    """Return the view of a system's whole state: before a step, or after it."""
    parts = recorder.components
    offset = len(parts.kinds) if after else 0
    state = view(recorder, offset, {})
    if not parts.memories:
        return state
    return Observed(state, _Memories(recorder, offset + parts.memories[0].first, len(parts.memories)))  # type: ignore[arg-type]


def writes(recorder: Recorder, after: Any) -> list[Write]:
    """Return what a step writes, given what its function returned: a view, or a state that may contain views."""
    parts = recorder.components
    if isinstance(after, Observed):
        own = _own_writes(recorder, after.state)
        memories = zip(parts.memories, after.memories, strict=True)
        return own + [(part.first, -1, -1, part.kind.code(real(memory))) for part, memory in memories]
    return _own_writes(recorder, after)


def _own_writes(recorder: Recorder, after: Any) -> list[Write]:
    parts = recorder.components
    if isinstance(after, StateView) or type(after).__mro__[1] is StateView:
        changed = after.changed_components()
    elif type(after) is parts.state_type:
        changed = {}
        for part in parts.fields:
            changed.update(field_changes(part, getattr(after, part.name)))
    else:
        raise TypeError(f"an action answers a {parts.state_type.__name__} or None, not {after!r}")
    kinds = recorder.kinds
    found = [_write(place, kinds[place], value) for place, value in sorted(changed.items())]
    return [write for write in found if write[1:3] != (write[0], -1)]


def _write(place: int, kind: Kind, value: Any) -> Write:
    return value.write(place, kind) if type(value) is ValueView else (place, -1, -1, kind.code(real(value)))
