# SPDX-License-Identifier: Apache-2.0
"""The offsets that a coordinator holds, as the records of ``__consumer_offsets`` make them, one after the other.

A coordinator changes its memory by replaying the record that it has just written, so that memory and log can only differ
where the log lost records since: by compaction.
"""

from __future__ import annotations

from typing import assert_never

from attrs import frozen

from hwmark.model.ownership import NOBODY, MemberId, PerMember

from .rules import Rules, TransactionalOrder
from .state import Entry, Marker, OffsetCommit, OffsetLog, Tombstone


@frozen(cache_hash=True)
class Offsets:
    """The committed offset, and what each member's producer commits once its transaction is."""

    committed: OffsetCommit | None
    pending: PerMember[OffsetCommit | None]


# -- rules --


def decided(rules: Rules, committed: OffsetCommit | None, transactional: OffsetCommit) -> OffsetCommit:
    """Return which of two commits holds once the transaction of the second is committed."""
    match rules.transactional_order:
        case TransactionalOrder.COMMIT_RECORD:
            is_later = committed is None or transactional.record_offset > committed.record_offset
            return transactional if is_later or committed is None else committed
        case TransactionalOrder.MARKER:
            return transactional
        case _:
            assert_never(rules.transactional_order)


# -- replay --


def applied(rules: Rules, offsets: Offsets, entry: Entry) -> Offsets:
    """Return the offsets after one more record (``OffsetMetadataManager.replay``, ``replayEndTransactionMarker``)."""
    if isinstance(entry, OffsetCommit):
        if entry.producer == NOBODY:
            return Offsets(entry, offsets.pending)
        return Offsets(offsets.committed, with_entry(offsets.pending, entry.producer, entry))
    if isinstance(entry, Tombstone):
        return Offsets(None, (None,) * len(offsets.pending))
    transactional = offsets.pending[entry.producer]
    if transactional is None:
        return offsets
    committed = decided(rules, offsets.committed, transactional) if entry.is_commit else offsets.committed
    return Offsets(committed, with_entry(offsets.pending, entry.producer, None))


def replayed(rules: Rules, log: OffsetLog, members: int) -> Offsets:
    """Return the offsets that a coordinator holds once it has read the log."""
    offsets = Offsets(None, (None,) * members)
    for entry in log:
        offsets = applied(rules, offsets, entry)
    return offsets


# -- compaction --


def compacted(log: OffsetLog) -> OffsetLog:
    """Return the log once it was cleaned as far as the first undecided transaction, and tombstones were kept long enough.

    Of what is decided the latest record stays, if it is no tombstone; aborted commits go; markers go with what they decide.
    """
    clean = [entry for entry in log if entry.record_offset < last_stable_offset(log)]
    aborted = [entry for entry in clean if isinstance(entry, OffsetCommit) and outcome(log, entry) is False]
    values = [entry for entry in clean if not isinstance(entry, Marker) and entry not in aborted]
    gone = {entry.record_offset for entry in (*aborted, *values[:-1])}
    gone |= {entry.record_offset for entry in values[-1:] if isinstance(entry, Tombstone)}
    left = tuple(entry for entry in log if entry.record_offset not in gone)
    return tuple(entry for entry in left if not isinstance(entry, Marker) or decides(left, entry))


def last_stable_offset(log: OffsetLog) -> int:
    """Return the offset of the first record whose transaction is undecided, or the end of the log."""
    undecided = [entry.record_offset for entry in log if isinstance(entry, OffsetCommit) and outcome(log, entry) is None]
    return min(undecided, default=log[-1].record_offset + 1 if log else 0)


def outcome(log: OffsetLog, commit: OffsetCommit) -> bool | None:
    """Return whether a commit counts, or ``None`` as long as its transaction is undecided."""
    if commit.producer == NOBODY:
        return True
    ends = [entry for entry in log if isinstance(entry, Marker) and entry.producer == commit.producer]
    return next((entry.is_commit for entry in ends if entry.record_offset > commit.record_offset), None)


def decides(log: OffsetLog, marker: Marker) -> bool:
    """Whether a record of the transaction that a marker ends is left."""
    before = [entry for entry in log if entry.record_offset < marker.record_offset]
    earlier = [entry.record_offset for entry in before if isinstance(entry, Marker) and entry.producer == marker.producer]
    begins = max(earlier, default=-1)
    return any(isinstance(entry, OffsetCommit) and entry.producer == marker.producer and entry.record_offset > begins for entry in before)


# -- helpers --


def with_entry(pending: PerMember[OffsetCommit | None], producer: MemberId, commit: OffsetCommit | None) -> PerMember[OffsetCommit | None]:
    """Return what is pending once that of one producer is replaced."""
    return tuple(commit if member == producer else one for member, one in enumerate(pending))
