# SPDX-License-Identifier: Apache-2.0
"""Values of states as JSON and back, such that the types are the same too; nothing is pickled.

``None``, booleans, text and numbers of up to 18 digits are written as they are, tuples as lists; all else is an object with
one key: a tag, or the qualified name of a class. An enum's member stands there by its name, a record by the list of its
fields. Only classes that the annotations of the state lead to are ever made: a file cannot name another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

from attrs import fields, has

from hwmark.checker.decode import DIGITS
from hwmark.checker.errors import InputError, unknown
from hwmark.checker.jsonfile import parse_json
from hwmark.checker.tables.components import Part
from hwmark.checker.tables.values import NotLearnableError, typed
from hwmark.checker.text import shown
from hwmark.model.machine import frozen_mapping

from .annotations import fits, qualified, reachable_classes

VALUES_PER_LINE = 256


class Codec:
    """Writes and reads the values of states that are made of certain classes."""

    def __init__(self, parts: Sequence[Part]) -> None:
        """Know the classes that the annotations of these parts of a state lead to."""
        self.classes = reachable_classes([part.kind.annotation for part in parts])

    def encode(self, value: Any) -> Any:
        """Return a value as JSON data; raises ``InputError`` for what cannot be read again."""
        cls = type(value)
        if value is None or cls is bool or cls is str:
            return value
        if cls is int:
            return value if abs(value) < 10**DIGITS else {"int": hex(value)}
        if cls is tuple:
            return [self.encode(one) for one in value]
        if cls is frozenset:
            return {"set": sorted((self.encode(one) for one in value), key=_text)}
        if has(cls) or isinstance(value, Enum):
            return {
                self._name(cls): value.name if isinstance(value, Enum) else [self.encode(getattr(value, one.name)) for one in fields(cls)]
            }
        return self._encode_rarely(cls, value)

    def _encode_rarely(self, cls: type, value: Any) -> Any:
        if cls is float:
            return {"float": value.hex()}
        if cls is bytes:
            return {"bytes": value.hex()}
        if cls is range:
            return {"range": [self.encode(one) for one in (value.start, value.stop, value.step)]}
        if isinstance(value, Mapping):
            return {"mapping": [[self.encode(key), self.encode(one)] for key, one in value.items()]}
        raise InputError(f"a {cls.__name__} in a state cannot be stored")

    def _name(self, cls: type) -> str:
        name = qualified(cls)
        if self.classes.get(name) is not cls:
            raise InputError(f"states cannot be stored: no annotation of theirs leads to the class {name}")
        return name

    def decode(self, data: Any) -> Any:
        """Return the value that was encoded so; raises ``InputError`` if none was."""
        cls = type(data)
        if data is None or cls in (bool, str, int):
            return data
        if cls is list:
            return tuple([self.decode(one) for one in data])
        if cls is not dict or len(data) != 1:
            raise InputError(f"{shown(data)} is no value")
        ((tag, inner),) = data.items()
        try:
            return _TAGS[tag](self, inner) if tag in _TAGS else self._decode_object(tag, inner)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 - the checks of a machine's own classes may raise anything
            raise InputError(f"{shown(data)} is no value: {error}") from None

    def _decode_object(self, name: str, inner: Any) -> Any:
        cls: Any = self.classes.get(name)
        if cls is None:
            raise unknown("class", name, self.classes)
        if issubclass(cls, Enum):
            return cls[inner]
        names, by_name = _parameters(cls)
        if len(_list(inner)) != len(names):
            raise InputError(f"a {name} has {len(names)} fields, not {len(inner)}")
        values = [self.decode(one) for one in inner]
        return cls(**dict(zip(names, values, strict=True))) if by_name else cls(*values)

    def _decode_set(self, inner: Any) -> frozenset[Any]:
        values = [self.decode(one) for one in _list(inner)]
        if len(frozenset(values)) != len(values):
            raise InputError("a set has equal members")
        return frozenset(values)

    def _decode_mapping(self, inner: Any) -> Mapping[Any, Any]:
        return frozen_mapping({self.decode(key): self.decode(one) for key, one in map(_list, _list(inner))})


_TAGS: dict[str, Callable[[Codec, Any], Any]] = {
    "int": lambda _, inner: int(inner, 16),
    "float": lambda _, inner: float.fromhex(inner),
    "bytes": lambda _, inner: bytes.fromhex(inner),
    "set": Codec._decode_set,  # noqa: SLF001 - the table belongs to the class
    "range": lambda codec, inner: range(*map(codec.decode, _list(inner))),
    "mapping": Codec._decode_mapping,  # noqa: SLF001 - as above
}


@cache
def _parameters(cls: Any) -> tuple[list[str], bool]:
    """Return how the fields of a class are called where it is made, and whether some must be named."""
    return [attribute.alias for attribute in fields(cls)], any(attribute.kw_only for attribute in fields(cls))


def _list(data: Any) -> list[Any]:
    if type(data) is not list:
        raise InputError(f"expected a list, got {shown(data)}")
    return data


def _text(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


# -- tables of values --


def dump_values(codec: Codec, parts: Sequence[Part], stored: Sequence[int]) -> Iterator[bytes]:
    """Yield lines with the values that each part has beyond the first ones, which are stored already.

    Each value is read again as it is written: one that would not come back the same raises ``InputError`` now.
    """
    for number, (part, first) in enumerate(zip(parts, stored, strict=True)):
        values = part.kind.values.values
        for start in range(first, len(values), VALUES_PER_LINE):
            chunk = values[start : start + VALUES_PER_LINE]
            line = _text({"part": number, "values": [codec.encode(value) for value in chunk]})
            for value, data in zip(chunk, parse_json(line)["values"], strict=True):
                if not fits(part.kind.annotation)(value) or typed(codec.decode(data)) != typed(value):
                    raise InputError(
                        f"{part.name} = {shown(value)} cannot be stored: it is not of the annotated type, or not all of it is in its fields"
                    )
            yield line.encode() + b"\n"


def load_values(codec: Codec, parts: Sequence[Part], lines: Iterable[bytes]) -> list[int]:
    """Enter the values on these lines into the tables of the parts, with the codes that they had; return how many each has.

    A table may know the first of its values already. Raises ``InputError`` if a line is wrong.
    """
    expected = [0] * len(parts)
    for number, line in enumerate(lines, start=1):
        try:
            data = parse_json(line.decode())
            if (
                not isinstance(data, dict)
                or set(data) != {"part", "values"}
                or type(data["part"]) is not int
                or not 0 <= data["part"] < len(parts)
            ):
                raise InputError(f"expected a part and its values, got {shown(data)}")
            part = parts[data["part"]]
            for one in _list(data["values"]):
                _enter(part, codec.decode(one), expected[data["part"]])
                expected[data["part"]] += 1
        except (ValueError, NotLearnableError) as error:  # InputError is one, as is text that is not UTF-8
            raise InputError(f"line {number} of the values: {error}") from None
    return expected


def _enter(part: Part, value: Any, expected: int) -> None:
    if not fits(part.kind.annotation)(value):
        raise InputError(f"{part.name} = {shown(value)} is not of the annotated type")
    if part.kind.code(value) != expected:
        raise InputError(f"{part.name} = {shown(value)} is there twice, or not where it should be")
