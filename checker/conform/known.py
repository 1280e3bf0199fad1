# SPDX-License-Identifier: Apache-2.0
"""Deviations that are known: pinned by their ids, each with a reason, so that only news fails. ``hwmark.known/1``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from hwmark.checker.errors import InputError
from hwmark.checker.jsonfile import read_json
from hwmark.checker.text import shown

from .found import Check, Verdict

SCHEMA = "hwmark.known/1"
ID = re.compile(r"[a-z][\w.-]*/[\w.-]+/[\w.-]+", re.ASCII)
"""``api/field/rule``."""


@frozen
class Compared:
    """Checks with those that are pinned told apart, and pinned ids that nothing was found of although it was looked for."""

    checks: tuple[Check, ...]
    unseen: tuple[str, ...]


def read_known(path: Path) -> Mapping[str, str]:
    """Return the reason of each pinned id; raises ``InputError`` with the name of the file."""
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or set(data) != {"schema", "known"}:
        raise InputError(f'{path}: expected {{"schema": "{SCHEMA}", "known": […]}}')
    known: dict[str, str] = {}
    listed: Any = data["known"]
    entries: list[Any] = listed if isinstance(listed, list) else [None]
    for number, entry in enumerate(entries, start=1):
        if not _is_entry(entry):
            raise InputError(f'{path}: entry {number} of "known": expected {{"id": "api/field/rule", "why": "…"}}')
        if ID.fullmatch(entry["id"]) is None:
            raise InputError(f'{path}: entry {number} of "known": {shown(entry["id"])} is no id of the form api/field/rule')
        if entry["id"] in known:
            raise InputError(f"{path}: {shown(entry['id'])} is pinned twice")
        known[entry["id"]] = entry["why"]
    return known


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.keys() == {"id", "why"} and all(isinstance(entry[key], str) for key in ("id", "why"))


def compare(checks: Iterable[Check], known: Mapping[str, str]) -> Compared:
    """Tell known deviations from new ones; what was pinned, looked for and not found is named."""
    compared = tuple(
        evolve(check, verdict=Verdict.KNOWN, why=known[check.id]) if check.verdict is Verdict.DEVIATES and check.id in known else check
        for check in checks
    )
    clean = {check.id for check in compared if check.verdict is Verdict.CLEAN}
    return Compared(compared, tuple(one for one in known if one in clean))
