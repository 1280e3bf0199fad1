# SPDX-License-Identifier: Apache-2.0
"""What clients may rely on: one log of committed records that only grows at its end.

However many replicas, elections and truncations there are, to its clients a partition is this one append-only log. A
machine refines it if each of its steps leaves the log as it is or appends to it, and nobody holds as committed what
is not in it. Producers that learn nothing and consumers that see less than the whole log are within it.
"""

from __future__ import annotations

from collections.abc import Iterable

from hwmark.model.log import Record

AbstractLog = tuple[Record, ...]


def continued(log: AbstractLog, views: Iterable[AbstractLog]) -> AbstractLog:
    """Return the log after these prefixes are held as committed; a view that contradicts the log replaces it.

    The order in which the views are given does not matter, so that it makes no difference who holds which.
    """
    for view in sorted(views, key=lambda one: (len(one), [(record.id, record.leader_epoch) for record in one]), reverse=True):
        if log[: len(view)] != view:
            log = view
    return log


def is_append(before: AbstractLog, after: AbstractLog) -> bool:
    """Whether the log stayed as it was, or grew at its end."""
    return after[: len(before)] == before


def first_difference(log: AbstractLog, view: AbstractLog) -> int | None:
    """Return the first offset at which a view of what is committed is not in the log."""
    for offset, record in enumerate(view):
        if offset >= len(log) or log[offset] != record:
            return offset
    return None
