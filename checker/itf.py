# SPDX-License-Identifier: Apache-2.0
"""Runs in the Informal Trace Format (Apalache's ADR 015), which tools around TLA+ and Quint read.

Each field of a machine's state is a variable. Records are records, indexed fields are lists, sets are sets, enum members
are strings. What may be absent is a list of at most one entry, so that every value of a variable has one type.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any

from attrs import fields, has

from .plain import to_plain
from .replay import Replayed

WHOLE = "state"
"""The only variable of a machine whose states are no records."""


def to_itf(replayed: Replayed) -> dict[str, Any]:
    """Return a run as the object of an ITF file. ``loop``, if there is one, is the state that follows the last one.

    The step that led to a state stands in the state's ``#meta``.
    """
    machine = replayed.machine
    states = [{"#meta": {"index": index, **_led_by(replayed, index)}, **_variables(state)} for index, state in enumerate(replayed.states)]
    meta = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": f"hwmark {machine.name}",
        "description": replayed.note,
        "property": replayed.property,
        "witness": to_plain(replayed.witness),
        "rules": to_plain(machine.rules),
        "config": to_plain(machine.config),
        "bounds": to_plain(machine.bounds),
    }
    trace = {"#meta": meta, "vars": [name for name in states[0] if name != "#meta"], "states": states}
    return trace if replayed.loop is None else {**trace, "loop": replayed.loop}


def _led_by(replayed: Replayed, index: int) -> dict[str, Any]:
    if index == 0:
        return {}
    step = replayed.steps[index - 1]
    return {"action": step.action, "choices": to_plain(step.choices)}


def _variables(state: Any) -> dict[str, Any]:
    return _record(state) if has(type(state)) else {WHOLE: _value(state, type(state))}


def _record(value: Any) -> dict[str, Any]:
    kinds = typing.get_type_hints(type(value), include_extras=False)
    return {attribute.name: _value(getattr(value, attribute.name), kinds[attribute.name]) for attribute in fields(type(value))}


def _value(value: Any, kind: Any) -> Any:
    """Return a value of an annotated type as an ITF expression."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _value(value, arguments[0])
    if origin in (typing.Union, types.UnionType):
        return _union(value, arguments)
    if has(type(value)):
        return _record(value)
    if isinstance(value, tuple | frozenset | Mapping):
        return _container(value, arguments)
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    raise TypeError(f"a {type(value).__name__} cannot be written in ITF")


def _container(value: Any, kinds: tuple[Any, ...]) -> Any:
    """Return a tuple of any length as a list, one of fixed length as a tuple, sets and mappings as what they are."""
    if isinstance(value, frozenset):
        member = kinds[0] if kinds else Any
        return {"#set": sorted((_value(one, member) for one in value), key=repr)}
    if isinstance(value, Mapping):
        key, entry = kinds or (Any, Any)
        return {"#map": [[_value(one, key), _value(other, entry)] for one, other in value.items()]}
    if kinds[1:] == (Ellipsis,):
        return [_value(one, kinds[0]) for one in value]
    return {"#tup": [_value(one, kind) for one, kind in zip(value, kinds or [Any] * len(value), strict=True)]}


def _union(value: Any, kinds: tuple[Any, ...]) -> Any:
    """Return a value that may be absent as a list, one that may be of several types as a variant."""
    present = [kind for kind in kinds if kind is not types.NoneType]
    if len(present) == len(kinds):
        return {"tag": type(value).__name__, "value": _value(value, type(value))}
    if value is None:
        return []
    return [_union(value, tuple(present)) if len(present) > 1 else _value(value, present[0])]
