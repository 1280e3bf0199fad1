# SPDX-License-Identifier: Apache-2.0
"""Values of states, rules and witnesses as plain JSON data, or as short text, always in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any
from uuid import UUID

from attrs import fields, has


def to_plain(value: Any) -> Any:
    """Return a value as JSON data: records as objects, sets as sorted lists, enum members by their value."""
    if isinstance(value, Enum | UUID):
        return value.value if isinstance(value, Enum) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if has(type(value)):
        return {attribute.name: to_plain(getattr(value, attribute.name)) for attribute in fields(type(value))}
    if isinstance(value, Mapping):
        return {str(to_plain(key)): to_plain(one) for key, one in value.items()}
    if isinstance(value, frozenset | set):
        return sorted((to_plain(one) for one in value), key=_order)
    if isinstance(value, tuple | list | range):
        return [to_plain(one) for one in value]
    raise TypeError(f"a {type(value).__name__} cannot be written as plain data")


def to_text(value: Any) -> str | None:
    """Return a value as Python would nearly write it, sets sorted; ``None`` if there is a part that is no plain value."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if has(type(value)):
        names = [attribute.name for attribute in fields(type(value))]
        return _joined(f"{type(value).__name__}(", [getattr(value, name) for name in names], ")", [f"{name}=" for name in names])
    if isinstance(value, frozenset | set):
        return _joined("{", sorted(value, key=lambda one: _order(to_plain(one))), "}") if value else "{}"
    if isinstance(value, tuple | list | range):
        return _joined("(", list(value), ",)" if len(value) == 1 else ")")
    return None


def _joined(start: str, values: list[Any], end: str, labels: list[str] | None = None) -> str | None:
    texts = [to_text(value) for value in values]
    if None in texts:
        return None
    return start + ", ".join(f"{label}{text}" for label, text in zip(labels or [""] * len(texts), texts, strict=True)) + end


def _order(data: Any) -> tuple[Any, ...]:
    """Return what the members of sets are sorted by: numbers by size, all else by its parts; kinds apart."""
    if isinstance(data, list | dict):
        return 1, [_order(one) for one in (data.values() if isinstance(data, dict) else data)]
    if isinstance(data, int | float):
        return 0, data
    return 2, str(data)
