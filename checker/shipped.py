# SPDX-License-Identifier: Apache-2.0
"""The traces that come with the program, by name."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from .errors import unknown
from .trace import Trace, load

PACKAGE = "hwmark.traces"
ENDING = ".json"


def shipped_names() -> list[str]:
    """Return the names of all shipped traces, in order."""
    return sorted(one.name.removesuffix(ENDING) for one in resources.files(PACKAGE).iterdir() if one.name.endswith(ENDING))


def load_shipped(name: str) -> Trace:
    """Return the shipped trace of this name; raises ``InputError`` with the one that was probably meant."""
    names = shipped_names()
    if name not in names:
        raise unknown("shipped trace", name, names)
    with resources.as_file(resources.files(PACKAGE) / f"{name}{ENDING}") as path:
        return load(path)


def find_trace(given: str) -> Trace:
    """Return the trace in a file, or the shipped one of this name: what looks like a path is a path."""
    is_path = given.endswith(ENDING) or "/" in given or "\\" in given or Path(given).is_file()
    return load(Path(given)) if is_path else load_shipped(given)
