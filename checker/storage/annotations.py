# SPDX-License-Identifier: Apache-2.0
"""What the annotations of a state tell about its values: which classes they are made of, and whether a value fits."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal

from attrs import fields, has

from hwmark.checker.errors import InputError

Fits = Callable[[Any], bool]
SCALARS = (bool, int, float, str, bytes, types.NoneType)


def bare(annotation: Any) -> Any:
    """Return the type inside marks and names of types."""
    while True:
        if typing.get_origin(annotation) is Annotated:
            annotation = typing.get_args(annotation)[0]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return types.NoneType if annotation is None else annotation


def record_class(annotation: Any) -> type | None:
    """Return the attrs class that a bare annotation names, also a generic one with arguments, or ``None``."""
    cls = typing.get_origin(annotation) or annotation
    return cls if isinstance(cls, type) and has(cls) else None


@cache
def field_types(cls: Any) -> dict[str, Any]:
    """Return the annotated type of each field of an attrs class."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError) as error:
        raise InputError(f"states with a {cls.__name__} cannot be stored: its annotations cannot be resolved: {error}") from None
    return {attribute.name: hints[attribute.name] for attribute in fields(cls)}


def optional(annotation: Any) -> Any | None:
    """Return what else a bare annotation allows if it is a union of one thing with ``None``, else ``None``."""
    others = [one for one in typing.get_args(annotation) if one is not types.NoneType]
    return others[0] if is_union(annotation) and len(others) == 1 else None


def is_union(annotation: Any) -> bool:
    """Whether a bare annotation is a union."""
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


# -- classes --


def qualified(cls: type) -> str:
    """Return the name of a class with its module's."""
    return f"{cls.__module__}.{cls.__qualname__}"


def reachable_classes(annotations: Iterable[Any]) -> dict[str, type]:
    """Return all attrs classes and enums that these annotated types lead to, by their qualified names."""
    known: dict[str, type] = {}
    todo = list(annotations)
    while todo:
        annotation = bare(todo.pop())
        if typing.get_origin(annotation) is Literal:
            todo.extend(map(type, typing.get_args(annotation)))
            continue
        todo.extend(typing.get_args(annotation))
        cls = record_class(annotation) or (annotation if _is_enum(annotation) else None)
        if cls is None or known.get(qualified(cls)) is cls:
            continue
        if known.setdefault(qualified(cls), cls) is not cls:
            raise InputError(f"states cannot be stored: two classes of theirs are named {qualified(cls)}")
        todo.extend(field_types(cls).values() if has(cls) else ())
    return known


def _is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Enum)


# -- fitting --


@cache
def fits(annotation: Any) -> Fits:
    """Return the function that says whether a value is of this annotated type; what cannot be checked fits."""
    annotation = bare(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if is_union(annotation):
        return lambda value: any(fits(one)(value) for one in arguments)
    if origin is Literal:
        return lambda value: any(type(value) is type(one) and value == one for one in arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is frozenset:
        return lambda value: type(value) is frozenset and all(map(fits(arguments[0]), value))
    cls: Any = record_class(annotation)
    if cls is not None:
        return lambda value: type(value) is cls and _fields_fit(cls, value)
    return _class(annotation)


def _tuple(arguments: tuple[Any, ...]) -> Fits:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return lambda value: type(value) is tuple and all(map(fits(arguments[0]), value))
    return lambda value: (
        type(value) is tuple and len(value) == len(arguments) and all(fits(kind)(one) for kind, one in zip(arguments, value, strict=True))
    )


def _fields_fit(cls: Any, value: Any) -> bool:
    return all(fits(kind)(getattr(value, name)) for name, kind in field_types(cls).items())


def _class(annotation: Any) -> Fits:
    allowed = {int: (int, bool), float: (float, int, bool)}.get(annotation, (annotation,))
    if annotation in SCALARS or _is_enum(annotation):
        return lambda value: type(value) in allowed
    return lambda _value: True
