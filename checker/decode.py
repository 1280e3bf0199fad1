# SPDX-License-Identifier: Apache-2.0
"""From plain data and command-line text to typed values: rules, configurations, bounds, and the choices of a step.

Only declared fields, of exactly the declared types, are let in: a bool is no number, a number is no text, a choice is
one of its domain. Whatever is wrong raises ``InputError``.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from attrs import NOTHING, Attribute, evolve, fields, has

from hwmark.model.machine import Action

from .errors import InputError, listed, unknown
from .plain import to_plain
from .text import shown

T = TypeVar("T")

DIGITS = 18
"""Numbers with more digits are refused before they are read: whatever has such a size cannot be explored."""

_NUMBER = re.compile(rf"-?[0-9]{{1,{DIGITS}}}")


# -- data --


def decode(cls: type[T], data: object, where: str) -> T:
    """Return a value of an attrs class from an object of plain data; omitted fields have their defaults."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object with {_names(cls)}, got {shown(data)}")
    kinds = _kinds(cls)
    values = {name: _decode(_kind(kinds, name, where), value, f"{where}.{name}") for name, value in data.items()}
    for attribute in _fields(cls):
        if attribute.default is NOTHING and attribute.name not in values:
            raise InputError(f"{where}: {attribute.name} is missing")
    return _validated(where, lambda: cls(**values))


def _decode(kind: Any, data: object, where: str) -> Any:
    """Return the data as a value of this type; the types are those that rules, configurations and bounds are made of."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType) and len(arguments) == 2 and types.NoneType in arguments:
        return None if data is None else _decode(next(one for one in arguments if one is not types.NoneType), data, where)
    if origin is tuple and arguments[1:] == (Ellipsis,):
        if not isinstance(data, list):
            raise InputError(f"{where}: expected a list, got {shown(data)}")
        return tuple(_decode(arguments[0], one, f"{where}[{index}]") for index, one in enumerate(data))
    if origin is tuple:
        if not isinstance(data, list) or len(data) != len(arguments):
            raise InputError(f"{where}: expected a list of {len(arguments)}, got {shown(data)}")
        return tuple(_decode(kind, one, f"{where}[{index}]") for index, (kind, one) in enumerate(zip(arguments, data, strict=True)))
    if kind in (bool, int, str):
        if type(data) is not kind:
            raise InputError(f"{where}: expected {_NOUNS[kind]}, got {shown(data)}")
        return data
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(kind, data, where)
    if isinstance(kind, type) and has(kind):
        return decode(kind, data, where)
    raise TypeError(f"{where}: a {kind} cannot be decoded")


def decode_choices(act: Action, bounds: object, data: object, where: str) -> dict[str, Any]:
    """Return the choices of a step as values of their domains, in the order that the action declares them."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object with the choices {listed(act.domains)}, got {shown(data)}")
    for name in data:
        if name not in act.domains:
            raise InputError(f"{where}: {unknown('choice', name, act.domains)}")
    choices = {}
    for name, domain in act.domains.items():
        if name not in data:
            raise InputError(f"{where}: the choice {name} is missing")
        wanted = _written(data[name])
        values = tuple(domain(bounds))
        found = [value for value in values if _written(to_plain(value)) == wanted]
        if not found:
            raise InputError(f"{where}: {name}={shown(data[name])} is out of its domain: {listed(to_plain(value) for value in values)}")
        choices[name] = found[0]
    return choices


# -- text --


def parse_assignments(cls: type[T], base: T, text: str) -> T:
    """Return ``base`` with fields replaced as in ``replicas=3,log_size=2``; an empty text replaces nothing."""
    where = cls.__name__
    kinds, changes = _kinds(cls), dict[str, Any]()
    for part in text.split(",") if text.strip() else ():
        name, equals, value = (one.strip() for one in part.partition("="))
        if not equals:
            raise InputError(f"{where}: expected name=value, got {shown(part)}")
        kind = _kind(kinds, name, where)
        if name in changes:
            raise InputError(f"{where}: {name} is given twice")
        changes[name] = _parse(kind, value, f"{where}.{name}")
    changed: Any = base
    result: T = _validated(where, lambda: evolve(changed, **changes))
    return result


def parse_rule(rules: T, text: str) -> T:
    """Return the rules with one decision replaced, as in ``fetch_fence=none``."""
    if "," in text or "=" not in text:
        raise InputError(f"expected one RULE=VALUE, got {shown(text)}; the rules are {_names(type(rules))}")
    return parse_assignments(type(rules), rules, text)


def parse_number(text: str, where: str) -> int:
    """Return a whole number; a huge one is refused without reading it."""
    if _NUMBER.fullmatch(text):
        return int(text)
    if re.fullmatch(r"-?[0-9]+", text):
        raise InputError(f"{where}: a number of {len(text.lstrip('-'))} digits is too large")
    raise InputError(f"{where}: expected a whole number, got {shown(text)}")


def _parse(kind: Any, text: str, where: str) -> Any:
    if kind is int:
        return parse_number(text, where)
    if kind is bool:
        if text not in ("true", "false"):
            raise InputError(f"{where}: expected true or false, got {shown(text)}")
        return text == "true"
    if kind is str:
        return text
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(kind, next((one.value for one in kind if str(one.value) == text), text), where)
    raise InputError(f"{where} cannot be set in this form")


# -- helpers --

_NOUNS: Mapping[Any, str] = {bool: "true or false", int: "a whole number", str: "text"}


def _fields(cls: Any) -> tuple[Attribute[Any], ...]:
    return tuple(fields(cls))


def _kinds(cls: type[Any]) -> Mapping[str, Any]:
    """Return the type of each field."""
    hints = typing.get_type_hints(cls)
    return {attribute.name: hints[attribute.name] for attribute in _fields(cls)}


def _kind(kinds: Mapping[str, Any], name: object, where: str) -> Any:
    if name not in kinds:
        raise InputError(f"{where}: {unknown('field', name, kinds)}")
    return kinds[str(name)]


def _member(kind: type[Enum], data: object, where: str) -> Enum:
    for member in kind:
        if _written(member.value) == _written(data):
            return member
    raise InputError(f"{where}: {unknown('value', data, [str(member.value) for member in kind])}")


def _names(cls: type[Any]) -> str:
    return listed(attribute.name for attribute in _fields(cls))


def _validated(where: str, make: Callable[[], T]) -> T:
    """Make a value; what its validators say becomes the message (attrs puts it first among the error's arguments)."""
    try:
        return make()
    except (ValueError, TypeError) as error:
        raise InputError(f"{where}: {error.args[0] if error.args else error}") from None


def _written(data: object) -> str:
    """Return data as text that tells 1, true and 1.0 apart."""
    return json.dumps(data, sort_keys=True)
