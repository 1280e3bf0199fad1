# SPDX-License-Identifier: Apache-2.0
"""Values of states, witnesses and rules as short text for people, in the words of a view where it has some.

What comes out may hold foreign text: whoever shows it makes it safe there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from attrs import fields, has

from hwmark.spec.view import PLAIN, View

from .diff import ABSENT


def written(value: Any, view: View = PLAIN, path: str = "") -> str:
    """Return a value as text: in the view's words, else records as ``field=value``, sets in braces, in order."""
    said = None if value is ABSENT else view.say(path, value)
    if said is not None:
        return said
    match value:
        case Enum():
            return str(value.value)
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case _:
            return _written_whole(value, view, path)


def _written_whole(value: Any, view: View, path: str) -> str:
    """Return a value that may consist of others as text."""
    if has(type(value)):
        return f"({written_facts(value, view)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{written(key, view)}: {written(one, view, path)}' for key, one in value.items())}}}"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted((written(one, view, path) for one in value), key=_natural))}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(written(one, view, f'{path}[{index}]') for index, one in enumerate(value))}]"
    return str(value)


def entries(values: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a record or a mapping; anything else has none."""
    if isinstance(values, Mapping):
        yield from ((str(name), value) for name, value in values.items())
    elif has(type(values)):
        yield from ((attribute.name, getattr(values, attribute.name)) for attribute in fields(type(values)))


def written_facts(values: Any, view: View = PLAIN) -> str:
    """Return a record's fields, or a mapping's entries, as ``name=value, …``."""
    return ", ".join(f"{name}={written(value, view, name)}" for name, value in entries(values))


def written_rules(rules: Any) -> str:
    """Return the rules that are not the defaults of their class, or say that all are."""
    usual = {attribute.name: attribute.default for attribute in (fields(type(rules)) if has(type(rules)) else ())}
    changed = {name: value for name, value in entries(rules) if value != usual[name]}
    return written_facts(changed) or ("the defaults" if usual else "")


def in_steps(count: int) -> str:
    """Return a number of steps as words: ``1 step``, ``2 steps``."""
    return f"{count} step{'' if count == 1 else 's'}"


def _natural(text: str) -> tuple[bool, int, str]:
    """Order numbers by value and before other text."""
    return (False, int(text), "") if text.lstrip("-").isdigit() else (True, 0, text)
