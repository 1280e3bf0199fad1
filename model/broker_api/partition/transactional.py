# SPDX-License-Identifier: Apache-2.0
"""What the log of a partition says of transactions: which are open, and which were aborted."""

from __future__ import annotations

from attrs import frozen

from hwmark.model.broker_api.state import State

from .state import Marker


@frozen
class Aborted:
    """An aborted transaction: its first offset, and that of its end (``AbortedTxn``)."""

    producer: str
    first: int
    last: int


def open_since(state: State) -> dict[str, int]:
    """Return the first offset of the transaction that each producer has open in the partition, if it has."""
    return _read(state)[0]


def is_open(state: State, producer: str) -> bool:
    """Whether a producer has a transaction open in the partition."""
    return producer in open_since(state)


def aborted(state: State) -> tuple[Aborted, ...]:
    """Return the aborted transactions, in the order of their ends."""
    return _read(state)[1]


def last_stable_offset(state: State) -> int:
    """Return up to where all is decided (``UnifiedLog.fetchLastStableOffsetMetadata``)."""
    first = min(open_since(state).values(), default=state.end_offset)
    return state.end_offset if "open_holds_back" in state.lacks else max(first, state.log_start_offset)


def _read(state: State) -> tuple[dict[str, int], tuple[Aborted, ...]]:
    begun, ended = dict[str, int](), list[Aborted]()
    for offset, entry in enumerate(state.log):
        if not isinstance(entry, Marker):
            if entry.transactional and entry.producer is not None:
                begun.setdefault(entry.producer, offset)
            continue
        first = begun.pop(entry.producer, None)
        if first is not None and not entry.commit:
            ended.append(Aborted(entry.producer, first, offset))
    return begun, tuple(ended)
