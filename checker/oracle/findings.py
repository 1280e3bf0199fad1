# SPDX-License-Identifier: Apache-2.0
"""Asks each anomaly of the facts of a history: what was found, each finding with the calls that show it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from hwmark.spec.histories.anomaly import Anomaly
from hwmark.spec.histories.cycles import Cycle

LISTS = frozenset({"value", "values", "places", "members"})
"""The facts that are JSON text."""


@frozen
class Finding:
    """One anomaly that a history shows: in which partition, by which calls, the facts, and why Kafka may do it (else ``None``)."""

    place: str | None
    ops: tuple[int, ...]
    facts: dict[str, Any]
    allowed: str | None


@frozen
class Asked:
    """One anomaly, of how many facts it was asked, how often it was found, and the first findings."""

    anomaly: Anomaly | Cycle
    asked: int
    found: int
    allowed: int
    findings: tuple[Finding, ...]


def ask(facts: sqlite3.Connection, anomaly: Anomaly, shown: int) -> Asked:
    """Ask one anomaly, and keep its first findings, those that are not allowed before all others."""
    kept: dict[bool, list[Finding]] = {False: [], True: []}
    counts = {False: 0, True: 0}
    for one in _findings(facts, anomaly):
        is_allowed = one.allowed is not None
        counts[is_allowed] += 1
        if len(kept[is_allowed]) < shown:
            kept[is_allowed].append(one)
    (asked,) = facts.execute(f"SELECT count(*) FROM {anomaly.about}").fetchone()  # noqa: S608 - our own text
    return Asked(anomaly, asked, sum(counts.values()), counts[True], tuple((kept[False] + kept[True])[:shown]))


def _findings(facts: sqlite3.Connection, anomaly: Anomaly) -> Iterator[Finding]:
    cursor = facts.execute(anomaly.query)
    names = [one[0] for one in cursor.description]
    place = _places(facts)
    for row in cursor:
        told = dict(zip(names, row, strict=True))
        k, ops, allowed = told.pop("k"), json.loads(told.pop("ops")), told.pop("allowed")
        yield Finding(
            place(k),
            tuple(dict.fromkeys(one for one in ops if one is not None)),
            {name: _plain(name, value) for name, value in told.items()},
            allowed,
        )


def _places(facts: sqlite3.Connection) -> Callable[[int | None], str | None]:
    names = {k: f"{topic}-{partition}" for k, topic, partition in facts.execute("SELECT k, topic, partition FROM partitions")}
    return names.get


def _plain(name: str, value: Any) -> Any:
    """Return a fact as data: values of records and lists are JSON text in the database."""
    return json.loads(value) if name in LISTS and value is not None else value
