# SPDX-License-Identifier: Apache-2.0
"""Values of states, rules and witnesses as plain JSON data, always in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from attrs import fields, has


def to_plain(value: Any) -> Any:
    """Return a value as JSON data: records as objects, sets as sorted lists, enum members by their value."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if has(type(value)):
        return {attribute.name: to_plain(getattr(value, attribute.name)) for attribute in fields(type(value))}
    if isinstance(value, Mapping):
        return {str(to_plain(key)): to_plain(one) for key, one in value.items()}
    if isinstance(value, frozenset | set):
        return sorted((to_plain(one) for one in value), key=repr)
    if isinstance(value, tuple | list | range):
        return [to_plain(one) for one in value]
    raise TypeError(f"a {type(value).__name__} cannot be written as plain data")
