# SPDX-License-Identifier: Apache-2.0
"""JSON files that come from anywhere, read with limits."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any, NoReturn

from .decode import parse_number
from .errors import InputError
from .text import shown

MAX_BYTES = 16 * 1024 * 1024
"""A trace of a hundred thousand steps is smaller; parsed JSON takes some twenty times its size in memory."""

MAX_DEPTH = 32
"""Nothing that we read is nested deeper than a few levels."""


def read_json(path: Path) -> Any:
    """Return the data in a JSON file, strictly read; anything wrong with it raises ``InputError`` with the file's name."""
    try:
        return parse_json(_read(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # InputError is one, as are null bytes in a path
        raise InputError(f"{path}: {error}") from None


def parse_json(text: str) -> Any:
    """Return the data of a JSON text: no duplicate keys, no NaN, no huge numbers, no deep nesting."""
    try:
        data = json.loads(text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)
        _check_depth(data)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError(f"nested too deeply: more than {MAX_DEPTH} levels") from None
    return data


def _read(path: Path) -> str:
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device might never end
        raise InputError("not a file" if not path.is_dir() else "a folder, not a file")
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES // 1024 // 1024} MiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text at byte {error.start}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise InputError(f"the key {shown(key)} is given twice")
        data[key] = value
    return data


def _integer(text: str) -> int:
    return parse_number(text, "number")


def _constant(text: str) -> NoReturn:
    raise InputError(f"{text} is not JSON")


def _check_depth(data: Any) -> None:
    """Refuse deep nesting that the parser lets through, so that nobody after us needs to recurse far."""
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [one for item in level if isinstance(item, dict | list) for one in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return
    raise RecursionError
