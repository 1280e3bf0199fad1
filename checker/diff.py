# SPDX-License-Identifier: Apache-2.0
"""What changed between two values, as a list of paths with the old and the new value at each."""

from __future__ import annotations

from typing import Any

from attrs import fields, frozen, has

ABSENT = "absent"
"""Stands for the entry that one of two sequences of different length does not have."""


@frozen
class Change:
    """One difference: where (``replicas[1].high_watermark``), the value before, and the value after."""

    path: str
    before: Any
    after: Any


def changes(before: Any, after: Any, path: str = "") -> list[Change]:
    """Return the smallest parts that differ: records are compared by field, tuples by index, all else as a whole."""
    if type(before) is type(after) and has(type(before)):
        parts = [attribute.name for attribute in fields(type(before))]
        prefix = f"{path}." if path else ""
        return [one for name in parts for one in changes(getattr(before, name), getattr(after, name), f"{prefix}{name}")]
    if isinstance(before, tuple) and isinstance(after, tuple):
        longest = range(max(len(before), len(after)))
        return [one for index in longest for one in changes(_at(before, index), _at(after, index), f"{path}[{index}]")]
    same = before == after and type(before) is type(after)
    return [] if same else [Change(path, before, after)]


def _at(values: tuple[Any, ...], index: int) -> Any:
    return values[index] if index < len(values) else ABSENT
