# SPDX-License-Identifier: Apache-2.0
"""What a stored state space is of, and which files it is made of: the file ``manifest.json``."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import field, frozen, validators

from hwmark.checker.decode import decode
from hwmark.checker.errors import InputError, listed
from hwmark.checker.fingerprint import fingerprint
from hwmark.checker.jsonfile import MAX_BYTES, parse_json, read_json
from hwmark.checker.plain import to_plain
from hwmark.checker.system import System
from hwmark.checker.tables.components import Components
from hwmark.checker.text import shown
from hwmark.spec.property import Property

from .files import MANIFEST, File, next_number, rows_name, states_name
from .parts import PART_STATES
from .values import Codec

SCHEMA = "hwmark.statespace/1"
OURS = re.compile(r"hwmark\.(model|spec)\.")
LISTED = 3
"""So many differences are named."""
LONGEST = 60
"""Characters of a value that is named."""

Plain = dict[str, Any]


# -- what it is of --


def describe(explored: System, components: Components, properties: Sequence[Property], *, symmetry: bool) -> Plain:
    """Return as plain data all that decides which states there are, how they are numbered, and what is asked about them."""
    machine = explored.machine
    codec = Codec(components.parts)
    return {
        "machine": machine.name,
        "rules": to_plain(machine.rules),
        "config": to_plain(machine.config),
        "bounds": to_plain(machine.bounds),
        "properties": [prop.name for prop in properties],
        "observers": [observer.name for observer in explored.observers],
        "symmetry": to_plain(machine.interchangeable) if symmetry else None,
        "fields": {part.name: part.entries for part in components.fields},
        "steps": _digest([str(step) for step in explored.steps]),
        "initial": _digest([codec.encode(value) for value in _values(components, explored.initial)]),
        "sources": _sources(explored, properties),
    }


def _values(components: Components, initial: Sequence[Any]) -> list[Any]:
    """Return the values of all components of all initial states."""
    tables = [kind.values.values for kind in components.kinds]
    return [values[code] for state in initial for values, code in zip(tables, components.encode(state), strict=True)]


def _digest(data: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(data).encode()).hexdigest()}"


def _sources(explored: System, properties: Sequence[Property]) -> dict[str, str]:
    """Return the fingerprint of each module that says what the machine does, what is promised, or what is observed."""
    functions = [act.function for act in explored.machine.actions]
    functions += [one for prop in properties for one in (prop.function, prop.when) if one is not None]
    functions += [one for observer in explored.observers for one in (observer.initial, observer.observe)]
    todo = [sys.modules[function.__module__] for function in functions]
    known: dict[str, str] = {}
    while todo:
        module = todo.pop()
        if module.__name__ not in known:
            try:
                known[module.__name__] = fingerprint(module)
            except ImportError as error:
                raise InputError(f"this search cannot be stored: {error}") from None
            todo.extend(_imported(module))
    return dict(sorted(known.items()))


def _imported(module: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules of ours of which this one uses something."""
    for value in vars(module).values():
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and OURS.match(name) and name in sys.modules:
            yield sys.modules[name]


def differences(found: Any, wanted: Any, where: str = "") -> Iterator[str]:
    """Yield in words each thing in which what was found is not what is wanted."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for name in {**wanted, **found}:
            yield from differences(found.get(name), wanted.get(name), f"{where}.{str(name)[:60]}" if where else str(name)[:60])
    elif found != wanted or type(found) is not type(wanted):
        is_hash = any(isinstance(one, str) and one.startswith("sha256:") for one in (found, wanted))
        yield f"{where} changed since" if is_hash else f"{where} is {_word(found)}, not {_word(wanted)}"


def _word(data: Any) -> str:
    text = json.dumps(data)
    return shown(data) if isinstance(data, str) else text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def check_same(found: Any, wanted: Plain, where: str) -> None:
    """Raise ``InputError`` if a description is not the one that is wanted."""
    told = list(differences(found, wanted))
    if told:
        more = f", and {len(told) - LISTED} things more" if len(told) > LISTED else ""
        raise InputError(f"{where} is about another search: {listed(told[:LISTED])}{more}")


# -- what it is made of --


@frozen
class PartFiles:
    """Some states with consecutive numbers, packed and decoded."""

    count: int = field(validator=[validators.ge(1), validators.le(PART_STATES)])
    rows: File
    states: File | None

    @property
    def files(self) -> list[File]:
        """Return both files, or the one that there is."""
        return [self.rows] if self.states is None else [self.rows, self.states]


@frozen
class Contents:
    """How far a search has come: states of each level so far, states expanded, how often each instance was taken."""

    queryable: bool
    levels: tuple[int, ...] = field(validator=validators.deep_iterable(validators.ge(1)))
    expanded: int = field(validator=validators.ge(0))
    taken: tuple[int, ...] = field(validator=validators.deep_iterable(validators.ge(0)))
    complete: bool
    parts: tuple[PartFiles, ...]
    values: tuple[File, ...]

    @property
    def known(self) -> int:
        """How many states there are."""
        return sum(self.levels)

    @property
    def files(self) -> list[File]:
        """Return all files."""
        return [file for part in self.parts for file in part.files] + list(self.values)


EMPTY = Contents(queryable=True, levels=(), expanded=0, taken=(), complete=False, parts=(), values=())


@frozen
class Manifest:
    """The whole manifest; ``conclusions`` are what the caller concluded so far, as JSON data of the caller's own."""

    description: Plain
    contents: Contents
    conclusions: Any

    def dump(self) -> bytes:
        """Return the content of the file; raises ``InputError`` if it could not be read again."""
        contents = to_plain(self.contents)
        text = json.dumps(
            {"schema": SCHEMA, "description": self.description, "contents": contents, "conclusions": self.conclusions}, indent=1
        )
        if len(text) > MAX_BYTES:
            raise InputError(f"the manifest of this state space is larger than {MAX_BYTES // 1024 // 1024} MiB")
        parse_json(text)
        return text.encode()


def load(folder: Path) -> Manifest:
    """Return the manifest in a folder; raises ``InputError`` where it is missing or wrong."""
    path = folder / MANIFEST
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise InputError(f"{shown(str(path), 300)} is no {SCHEMA}")
    if set(data) != {"schema", "description", "contents", "conclusions"} or not isinstance(data["description"], dict):
        raise InputError(f"{shown(str(path), 300)}: expected schema, description, contents and conclusions")
    try:
        contents = decode(Contents, data["contents"], "contents")
    except InputError as error:
        raise InputError(f"{shown(str(path), 300)}: {error}") from None
    _check(contents, path)
    return Manifest(data["description"], contents, data["conclusions"])


def _check(contents: Contents, path: Path) -> None:
    named = [(rows_name(number), states_name(number) if contents.queryable else None) for number in range(len(contents.parts))]
    is_named = [(part.rows.name, part.states and part.states.name) for part in contents.parts] == named
    numbers = [next_number([file]) for file in contents.values if file.name.startswith("values")]
    is_numbered = len(numbers) == len(contents.values) and numbers == sorted(set(numbers))
    agrees = contents.known == sum(part.count for part in contents.parts) and contents.expanded <= contents.known
    if not (is_named and is_numbered and agrees):
        raise InputError(f"{shown(str(path), 300)} contradicts itself")


def stored_fields(folder: Path) -> Mapping[str, Any]:
    """Return into how many entries each field of the stored states is split, ``None`` where it is one component."""
    fields: Any = load(folder).description.get("fields")
    if not isinstance(fields, Mapping):
        raise InputError(f"{shown(str(folder), 300)} does not tell the fields of its states")
    return fields
