# SPDX-License-Identifier: Apache-2.0
"""Offsets that are committed in transactions: pending until the transaction ends, and of no use if another one was committed since.

What was committed last is what is last in the coordinator's log, where a transactional commit is at its own place, and not where its
transaction ends (KAFKA-5247; ``OffsetMetadataManager.replay``, ``replayEndTransactionMarker``).
"""

from __future__ import annotations

from attrs import evolve

from .state import CommittedOffset, Groups, PendingOffset


def kept(groups: Groups, committed: CommittedOffset, lacks: frozenset[str]) -> Groups:
    """Return what is known once an offset is committed: what was pending before it is older."""
    outdated = tuple(evolve(one, is_outdated="newer_offset_stays" not in lacks) for one in groups.pending)
    return evolve(groups, committed=committed, pending=outdated)


def added(groups: Groups, producer: str, committed: CommittedOffset) -> Groups:
    """Return what is known once a producer has committed an offset in its transaction, in place of one before."""
    others = (one for one in groups.pending if one.producer != producer)
    return evolve(groups, pending=(*others, PendingOffset(producer, committed)))


def settled(groups: Groups, producer: str, lacks: frozenset[str], *, commit: bool) -> Groups:
    """Return what is known once a producer's transaction has ended."""
    place = next((place for place, one in enumerate(groups.pending) if one.producer == producer), None)
    if place is None:
        return groups
    before, own, after = groups.pending[:place], groups.pending[place], groups.pending[place + 1 :]
    shows = "commit_shows_offsets" not in lacks if commit else "abort_drops_offsets" in lacks
    if own.is_outdated or not shows:
        return evolve(groups, pending=(*before, *after))
    shown = kept(evolve(groups, pending=before), own.committed, lacks)
    return evolve(shown, pending=(*shown.pending, *after))
