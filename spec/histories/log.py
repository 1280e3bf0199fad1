# SPDX-License-Identifier: Apache-2.0
"""The least that clients may rely on, as a state that calls change: logs that only grow, positions, commits, transactions.

A call takes effect at one moment between its beginning and its end, or not at all where nobody knows. What is lost before it
was acknowledged was read by nobody, so here it never was. A transaction is decided when its end is asked for, and its markers,
which take an offset in each of its partitions, follow at any time. Left out: retention, compaction, leaders, who owns what,
and producers or deletions that are not in the history: with these a state says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from attrs import evolve, frozen

K = TypeVar("K")
V = TypeVar("V")
Partition = tuple[str, int]
"""A topic, and the number of a partition in it."""


@frozen(cache_hash=True)
class Entry:
    """What stands at an offset: a value, or a transaction's marker; and which transaction it is of, if any."""

    value: str | None
    transaction: int | None = None
    is_marker: bool = False


@frozen(cache_hash=True)
class State:
    """``markers`` are those that are still to come; offsets that nobody knows are in none of the maps."""

    logs: tuple[tuple[Partition, tuple[Entry, ...]], ...] = ()
    decided: tuple[tuple[int, bool], ...] = ()
    """Transactions that are over, and whether they were committed."""
    markers: frozenset[tuple[int, Partition]] = frozenset()
    positions: tuple[tuple[tuple[str, Partition], int], ...] = ()
    committed: tuple[tuple[tuple[str, Partition], int | None], ...] = ()

    def log(self, partition: Partition) -> tuple[Entry, ...]:
        """Return the log of a partition."""
        return dict(self.logs).get(partition, ())


@frozen
class Contradiction:
    """Why an answer cannot be: what was expected, and what was told."""

    says: str
    expected: object
    got: object


# -- what calls do --


def append(state: State, partition: Partition, entry: Entry) -> State:
    """Append one entry."""
    return evolve(state, logs=_with(state.logs, partition, (*state.log(partition), entry)))


def decide(state: State, transaction: int, *, is_committed: bool) -> State:
    """End a transaction; the markers of its partitions are to come."""
    touched = {partition for partition, log in state.logs if any(entry.transaction == transaction for entry in log)}
    markers = state.markers | {(transaction, partition) for partition in touched}
    return evolve(state, decided=_with(state.decided, transaction, is_committed), markers=markers)


def hidden(state: State) -> Iterator[State]:
    """Yield what may happen unseen: a marker is written."""
    for transaction, partition in sorted(state.markers):
        written = append(state, partition, Entry(None, transaction, is_marker=True))
        yield evolve(written, markers=state.markers - {(transaction, partition)})


def commit(state: State, group: str, offsets: Mapping[Partition, int | None]) -> State:
    """Commit offsets of a group."""
    for partition, offset in offsets.items():
        state = evolve(state, committed=_with(state.committed, (group, partition), offset))
    return state


def move(state: State, process: str, positions: Mapping[Partition, int | None]) -> State:
    """Put a process at offsets, or nobody knows where (``None``)."""
    kept = {key: offset for key, offset in state.positions if key[0] != process or key[1] not in positions}
    known = {(process, partition): offset for partition, offset in positions.items() if offset is not None}
    return evolve(state, positions=tuple(sorted({**kept, **known}.items())))


def forget(state: State, process: str) -> State:
    """Nobody knows any more where a process is."""
    return evolve(state, positions=tuple(one for one in state.positions if one[0][0] != process))


# -- what answers may say --


def read(
    state: State, process: str, partition: Partition, records: Sequence[tuple[int, str]], *, committed_only: bool
) -> State | Contradiction:
    """Return the state after a process was given records of a partition, or why it cannot have been."""
    known = dict(state.positions).get((process, partition))
    for offset, value in records:
        against = _missing(state, partition, offset, value) or _hidden_from_readers(state, partition, offset, committed_only=committed_only)
        if against is None and known is not None:
            against = _out_of_turn(state, process, partition, known, offset, committed_only=committed_only)
        if against is not None:
            return against
        known = offset + 1
    return move(state, process, {partition: known}) if records else state


def look_up(state: State, group: str, partition: Partition, offset: int | None) -> Contradiction | None:
    """Return why a group cannot have been told this committed offset, or ``None``; what was never committed here is not known."""
    known = dict(state.committed)
    if (group, partition) not in known or known[group, partition] == offset:
        return None
    return Contradiction(f"{group} has committed another offset in {_name(partition)}", known[group, partition], offset)


def last_stable_offset(state: State, partition: Partition) -> int:
    """Return the offset of the first record of a transaction whose marker is not written, else the end of the log."""
    log = state.log(partition)
    ended = {entry.transaction for entry in log if entry.is_marker}
    return next((at for at, entry in enumerate(log) if entry.transaction is not None and entry.transaction not in ended), len(log))


def is_aborted(state: State, entry: Entry) -> bool:
    """Whether an entry is of a transaction that was aborted."""
    return entry.transaction is not None and dict(state.decided).get(entry.transaction) is False


def _missing(state: State, partition: Partition, offset: int, value: str) -> Contradiction | None:
    log = state.log(partition)
    if offset >= len(log):
        return Contradiction(f"the log of {_name(partition)} ends before offset {offset}", len(log), offset)
    if log[offset].is_marker or log[offset].value != value:
        return Contradiction(f"another record is at offset {offset} of {_name(partition)}", log[offset].value, value)
    return None


def _hidden_from_readers(state: State, partition: Partition, offset: int, *, committed_only: bool) -> Contradiction | None:
    if not committed_only:
        return None
    stable = last_stable_offset(state, partition)
    if offset >= stable:
        return Contradiction(f"a transaction is open at or before offset {offset} of {_name(partition)}", stable, offset)
    if is_aborted(state, state.log(partition)[offset]):
        return Contradiction(f"the transaction of offset {offset} of {_name(partition)} was aborted", None, offset)
    return None


def _out_of_turn(
    state: State, process: str, partition: Partition, known: int, offset: int, *, committed_only: bool
) -> Contradiction | None:
    if offset < known:
        return Contradiction(f"{process} is further in {_name(partition)}", known, offset)
    log = state.log(partition)
    shown = (at for at in range(known, offset) if not log[at].is_marker and not (committed_only and is_aborted(state, log[at])))
    missed = next(shown, None)
    return None if missed is None else Contradiction(f"{process} was not given offset {missed} of {_name(partition)}", missed, offset)


def _with(pairs: tuple[tuple[K, V], ...], key: K, value: V) -> tuple[tuple[K, V], ...]:
    return tuple(sorted({**dict(pairs), key: value}.items(), key=lambda pair: repr(pair[0])))


def _name(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"
