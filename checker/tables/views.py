# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for states that note what a function reads of them, and what it changes.

An action or a promise that is handed a view does what it always does, and the view notes each read as (component, map,
code of the answer): of a whole component, or of a part of its value, such as ``replicas[1].leader`` or
``logs[0].end_offset``. What is not read is not noted, so that states that agree on the reads agree on the outcome.
Reads are allowed one by one: whatever a view does not know how to record raises. All names of views themselves begin and
end with two underscores, so that none hides a name of the model's.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any

from attrs import fields

from hwmark.checker.system import Observed

from .components import Components, Kind, Part, ResizedError, Shape
from .recorder import Recorder, Write
from .values import LeakedError, NotLearnableError, class_of, is_simple, typed

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
    "__bool__": bool,
}


class View:
    """What all views have in common."""

    __slots__ = ("__recorder__", "__run__")
    __is_view__ = True
    __recorder__: Recorder
    __run__: int


def recorder_of(view: View) -> Recorder:
    """Return the recorder of a view; one of an earlier run stands for nothing any more."""
    recorder = view.__recorder__
    if view.__run__ != recorder.run:
        recorder.refuse("a state is kept from one run to another")
    return recorder


_UNHANDLED = ("__copy__", "__deepcopy__", "__dir__", "__getstate__", "__reduce__", "__reduce_ex__", "__sizeof__")
"""What every object can do, and no view."""
_ELSEWHERE = ("__getattr__", "__getattribute__", "__match_args__", "__del__", "__init_subclass__", "__class_getitem__", "__set_name__")
"""What is no operation on an instance, or is noted where it is used."""


def _refuses(name: str) -> Callable[..., Any]:
    def refuse(self: View, *_args: Any, **_keywords: Any) -> Any:
        recorder_of(self).refuse(f"{name} of a {self.__class__.__name__}")

    return refuse


for _name in _UNHANDLED:
    setattr(View, _name, _refuses(_name))


def _refused(cls: type, handled: Collection[str]) -> dict[str, Callable[..., Any]]:
    """Return for each special method that a class has beyond those of every object, and that is not handled, one that refuses."""
    defined = {name: method for one in reversed(cls.__mro__[:-1]) for name, method in vars(one).items()}
    special = {name for name, method in defined.items() if isinstance(method, FunctionType) and name[:2] == name[-2:] == "__"}
    return {name: _refuses(name) for name in sorted(special.difference(handled, dir(View), _ELSEWHERE))}


def entry(recorder: Recorder, position: int) -> Any:
    """Return what a function gets for a component: the value, read as a whole, or a view of an attrs instance."""
    kind = recorder.kinds[position]
    if not recorder.fine or kind.shape is Shape.PLAIN:
        return recorder.whole(position)
    if kind.shape is Shape.MIXED:
        cls = recorder.part(position, type, class_of)
        if cls is type(None):
            return None
        if not is_simple_record(cls):
            return recorder.whole(position)
    return value_view(recorder, position, type(recorder.peek(position)), {})


@cache
def is_simple_record(cls: Any) -> bool:
    """Whether instances of a class may be read part by part."""
    return hasattr(cls, "__attrs_attrs__") and is_simple(cls)


# -- a value inside a state --


class ValueView(View):
    """Stands for an attrs instance in a component, with some fields changed; a subclass for each class has its operations."""

    __slots__ = ("__changes__", "__position__")
    __cls__: type
    __changes__: dict[str, Any]
    __position__: int

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # noqa: D105  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.__cls__

    def __getattr__(self, name: str) -> Any:
        """Read a field, a property, or a method's answer."""
        recorder, changes, cls = recorder_of(self), self.__changes__, self.__cls__
        if name in changes:
            return changes[name]
        if name in _field_set(cls):
            return recorder.part(self.__position__, name, operator.attrgetter(name))
        member = _member(recorder, cls, name)
        if isinstance(member, property):
            if changes:
                return member.fget(self)  # type: ignore[misc]
            return recorder.part(self.__position__, name, operator.attrgetter(name))
        return MethodType(member, self) if changes else partial(_answer, self, name)

    def __put__(self, changes: dict[str, Any]) -> ValueView:
        """Return the view with more fields changed (see ``put``)."""
        recorder = recorder_of(self)
        if changes.keys() - _field_set(self.__cls__) or any(type(change) is dict for change in changes.values()):
            recorder.refuse(f"a change of {', '.join(sorted(changes))} in a {self.__cls__.__name__}")
        return value_view(recorder, self.__position__, self.__cls__, {**self.__changes__, **changes})


def value_view(recorder: Recorder, position: int, cls: type, changes: dict[str, Any]) -> ValueView:
    """Return a view of the value at a position, which is an instance of this class, with some fields changed."""
    made = _view_class(cls)()
    made.__recorder__, made.__run__, made.__position__, made.__changes__ = recorder, recorder.run, position, changes
    return made


@cache
def _view_class(cls: type) -> type[ValueView]:
    """Return the views of instances of a class: what it cannot do they cannot do either."""
    operations = {**_COMPARED, **{name: one for name, one in _CONTAINED.items() if hasattr(cls, name)}}
    members = {**_refused(cls, operations), **{name: _on_real(operation) for name, operation in operations.items()}}
    return type("ValueView", (ValueView,), {"__slots__": (), "__cls__": cls, **members})


def is_value_view(value: Any) -> bool:
    """Whether this is a view of a value."""
    return issubclass(type(value), ValueView)


def _value_write(view: ValueView, position: int, kind: Kind) -> Write:
    """Return the write that puts what a view stands for into a component."""
    recorder, cls = recorder_of(view), view.__cls__
    if recorder.kinds[view.__position__].values is not kind.values:
        return (position, -1, -1, kind.code(real(view)))
    if not view.__changes__:
        return (position, view.__position__, -1, -1)
    changes = {name: real(change) for name, change in view.__changes__.items()}
    key = ("put", cls, *[(name, typed(change)) for name, change in sorted(changes.items())])
    changed = recorder.map_of(kind, key, partial(_changed, cls, changes), kind.values)
    return (position, view.__position__, changed.number, -1)


def _answer(view: ValueView, name: str, *args: Any, **keywords: Any) -> Any:
    """Ask a method of the value behind a view, and note the answer."""
    recorder = recorder_of(view)
    args, keywords = tuple(map(real, args)), {key: real(value) for key, value in keywords.items()}
    try:
        key = (name, typed(args), *[(key, typed(value)) for key, value in sorted(keywords.items())])
    except (LeakedError, NotLearnableError) as error:
        recorder.refuse(f"{name}() of a {view.__cls__.__name__}: {error}")
    return recorder.part(view.__position__, key, operator.methodcaller(name, *args, **keywords))


def _changed(cls: Any, changes: dict[str, Any], value: Any) -> Any:
    return cls(*[changes[name] if name in changes else getattr(value, name) for name in _field_names(cls)])


def _member(recorder: Recorder, cls: type, name: str) -> Any:
    """Return a property or a method of a class: what is neither cannot be recorded."""
    member = _static(cls, name)
    if member is None:
        recorder.refuse(f"{cls.__name__}.{name}, which is neither a field, a property nor a method")
    return member


@cache
def _static(cls: type, name: str) -> Any:
    member = inspect.getattr_static(cls, name, None)
    return member if isinstance(member, property | FunctionType) else None


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in fields(cls))


@cache
def _field_set(cls: Any) -> frozenset[str]:
    return frozenset(_field_names(cls))


def real(value: Any) -> Any:
    """Return the value behind a view, read as a whole, and any other value as it is."""
    if is_value_view(value):
        whole = recorder_of(value).whole(value.__position__)
        changes = {name: real(change) for name, change in value.__changes__.items()}
        return _changed(value.__cls__, changes, whole) if changes else whole
    if type(value) is EntriesView:
        return tuple(map(real, value))
    if issubclass(type(value), View):
        recorder_of(value).refuse("a whole state inside a value")
    return value


def _on_real(operation: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: Any, *args: Any) -> Any:
        return operation(real(self), *map(real, args))

    def compare(self: Any, other: Any) -> Any:
        if self.__run__ != self.__recorder__.run:  # somebody's cache has it, and is asked for something else
            return (self is other) is (operation is operator.eq)
        return operate(self, other)

    return compare if operation in {operator.eq, operator.ne} else operate


# -- an indexed field --


class EntriesView(View, Sequence[Any]):
    """Stands for an indexed field: a tuple whose length is fixed."""

    __slots__ = ("__part__", "__state__")
    __part__: Part
    __state__: StateView

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # noqa: D105  # pyright: ignore[reportIncompatibleMethodOverride]
        return tuple

    def __len__(self) -> int:
        """Return the fixed length: nothing that a state could change."""
        return self.__part__.width

    def __getitem__(self, index: Any) -> Any:
        """Read an entry, or several."""
        first, places = self.__part__.first, range(self.__part__.width)
        if isinstance(index, slice):
            return tuple([state_entry(self.__state__, first + place) for place in places[index]])
        return state_entry(self.__state__, first + places[operator.index(index)])

    def __iter__(self) -> Iterator[Any]:
        """Read the entries one after another."""
        first = self.__part__.first
        return (state_entry(self.__state__, place) for place in range(first, first + self.__part__.width))

    def __add__(self, other: Any) -> Any:
        """Return a longer tuple."""
        return (*self, *other) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        """Return a longer tuple."""
        return (*other, *self) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        """Return the tuple so many times over."""
        return tuple(self) * times

    __rmul__ = __mul__


for _name, _operation in _COMPARED.items():
    setattr(EntriesView, _name, _on_real(_operation))


# -- a state --


class StateView(View):
    """Stands for a state, with some components changed; a subclass for each class of states has its fields."""

    __slots__ = ("__changes__", "__offset__")
    __components__: Components
    __changes__: dict[int, Any]
    __offset__: int

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # noqa: D105  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.__components__.state_type

    def __getattr__(self, name: str) -> Any:
        """Evaluate a property or bind a method of the state's class: its reads are noted one by one."""
        member = _member(recorder_of(self), self.__components__.state_type, name)
        if isinstance(member, property):
            return member.fget(self)  # type: ignore[misc]
        return MethodType(member, self)

    def __put__(self, changes: dict[str, Any]) -> StateView:
        """Return the view with more fields changed (see ``put``)."""
        recorder, changed = recorder_of(self), dict(self.__changes__)
        by_name = {part.name: part for part in self.__components__.fields}
        for name, change in changes.items():
            part = by_name.get(name)
            if part is None:
                raise TypeError(f"{self.__components__.state_type.__name__} has no field {name}")
            if type(change) is not dict:
                changed.update(field_changes(part, change))
            elif change and part.entries is None:
                recorder.refuse(f"a change of single entries of {name}, which is one component")
            elif part.entries is not None:
                changed.update({part.first + range(part.entries)[index]: one for index, one in change.items()})
        return state_view(recorder, type(self), self.__offset__, changed)


for _name in (*_COMPARED, *_CONTAINED):
    setattr(StateView, _name, _refuses(_name))


def state_view(recorder: Recorder, cls: type[StateView], offset: int, changes: dict[int, Any]) -> StateView:
    """Return a view of the state whose components start at a position, with some components changed."""
    made = cls()
    made.__recorder__, made.__run__, made.__offset__, made.__changes__ = recorder, recorder.run, offset, changes
    return made


def state_entry(state: StateView, place: int) -> Any:
    """Return what a function gets for a component of a state."""
    recorder = recorder_of(state)
    return state.__changes__[place] if place in state.__changes__ else entry(recorder, state.__offset__ + place)


def _field(part: Part, state: StateView) -> Any:
    if part.entries is None:
        return state_entry(state, part.first)
    made = EntriesView()
    made.__recorder__, made.__run__, made.__state__, made.__part__ = state.__recorder__, state.__run__, state, part
    return made


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
    refused = _refused(components.state_type, (*_COMPARED, *_CONTAINED))
    return type("StateView", (StateView,), {"__slots__": (), "__components__": components, **refused, **members})


# -- the root --


class _Memories(Sequence[Any]):
    """Stands for what the observers remember; each is read as a whole."""

    def __init__(self, recorder: Recorder, first: int, count: int) -> None:
        self._recorder, self._first, self._count = recorder, first, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._recorder.whole(self._first + range(self._count)[index])


def root(recorder: Recorder, view: type[StateView], *, after: bool = False) -> Any:
    """Return the view of a system's whole state in this run: before a step, or after it."""
    parts = recorder.components
    offset = len(parts.kinds) if after else 0
    state = state_view(recorder, view, offset, {})
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
    if issubclass(type(after), StateView):
        recorder_of(after)
        changed = after.__changes__
    elif type(after) is parts.state_type:
        changed = {}
        for part in parts.fields:
            changed.update(field_changes(part, getattr(after, part.name)))
    else:
        raise TypeError(f"an action answers a {parts.state_type.__name__} or None, not {after!r}")
    found = [_write(place, recorder.kinds[place], value) for place, value in sorted(changed.items())]
    return [write for write in found if write[1:3] != (write[0], -1)]


def _write(place: int, kind: Kind, value: Any) -> Write:
    return _value_write(value, place, kind) if is_value_view(value) else (place, -1, -1, kind.code(real(value)))
