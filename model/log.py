# SPDX-License-Identifier: Apache-2.0
"""One replica's log of records, the questions that leader epochs answer about it, and how it is stored.

Offsets start at 0 and ends are exclusive. A record carries the epoch of the leader that wrote it; an id stands for
its content. Records below ``log_start_offset`` are gone. Batches, timestamps, keys and bytes are left out.

Kafka stores a log in segments, and remembers where each leader epoch starts in a cache (``LeaderEpochFileCache``), so
that it need not scan the records. Here the cache is a tuple of entries, ordered by epoch.
"""

from __future__ import annotations

from attrs import evolve, frozen

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


@frozen(cache_hash=True)
class Record:
    """What a producer wrote (its id stands for the content), and the epoch of the leader that appended it."""

    id: int
    leader_epoch: int


@frozen(cache_hash=True)
class Log:
    """The records of one replica from ``log_start_offset`` on, one per offset and without gaps."""

    records: tuple[Record, ...] = ()
    log_start_offset: int = 0

    @property
    def end_offset(self) -> int:
        """The offset that the next record will get: the log end offset (LEO)."""
        return self.log_start_offset + len(self.records)

    @property
    def latest_epoch(self) -> int:
        """The epoch of the last record, or ``UNDEFINED_EPOCH`` if the log holds none."""
        return self.records[-1].leader_epoch if self.records else UNDEFINED_EPOCH

    def at(self, offset: int) -> Record | None:
        """Return the record at this offset, or ``None`` outside ``[log_start_offset, end_offset)``."""
        index = offset - self.log_start_offset
        return self.records[index] if 0 <= index < len(self.records) else None


def append(log: Log, record: Record) -> Log:
    """Add one record at the log's end."""
    return evolve(log, records=(*log.records, record))


def truncate_to(log: Log, offset: int) -> Log:
    """Drop the records at ``offset`` and above; an offset at or beyond the end drops nothing."""
    return evolve(log, records=log.records[: max(0, offset - log.log_start_offset)])


def first_offset_after_epoch(log: Log, leader_epoch: int) -> int | None:
    """Return the offset of the first record written in a later epoch, if there is one."""
    for index, record in enumerate(log.records):
        if record.leader_epoch > leader_epoch:
            return log.log_start_offset + index
    return None


def epoch_start_offset(log: Log, leader_epoch: int) -> int:
    """Return the offset of the first record of this epoch, or the log's end if it has none yet."""
    for index, record in enumerate(log.records):
        if record.leader_epoch == leader_epoch:
            return log.log_start_offset + index
    return log.end_offset


def last_common_end(ours: Log, theirs: Log) -> int:
    """Return 1 + the largest offset at which both logs hold the same record, else 0.

    This is where asking OffsetsForLeaderEpoch until the epochs agree ends (KIP-279); it is not the longest common
    prefix, which differs once two logs agree above a disagreement.
    """
    for offset in range(min(ours.end_offset, theirs.end_offset) - 1, -1, -1):
        record = ours.at(offset)
        if record is not None and record == theirs.at(offset):
            return offset + 1
    return 0


# -- segments --


@frozen(cache_hash=True)
class Segment:
    """Consecutive records in one file, which is named by the offset that its first record has or will have."""

    base_offset: int
    records: tuple[Record, ...] = ()

    @property
    def end_offset(self) -> int:
        """The offset after its last record."""
        return self.base_offset + len(self.records)


Segments = tuple[Segment, ...]
"""The segments of a log, oldest first; the last one is active: records are appended to it alone."""


def stored(segments: Segments) -> Log:
    """Return all records on disk as one log, those below the log start offset included."""
    return Log(tuple(record for segment in segments for record in segment.records), segments[0].base_offset)


def readable(segments: Segments, log_start_offset: int) -> Log:
    """Return the log that readers see: what is on disk from the log start offset on."""
    on_disk = stored(segments)
    return Log(on_disk.records[log_start_offset - on_disk.log_start_offset :], log_start_offset)


def append_to_active(segments: Segments, record: Record) -> Segments:
    """Add one record at the end of the active segment."""
    *closed, active = segments
    return (*closed, evolve(active, records=(*active.records, record)))


def roll(segments: Segments) -> Segments:
    """Close the active segment, and begin an empty one at its end."""
    return (*segments, Segment(segments[-1].end_offset))


def truncate_segments(segments: Segments, offset: int) -> Segments:
    """Drop the records at ``offset`` and above, and the segments that begin above it; ``offset`` is at or above the first base."""
    *closed, active = (segment for segment in segments if segment.base_offset <= offset)
    return (*closed, evolve(active, records=active.records[: offset - active.base_offset]))


# -- the epoch cache --


@frozen(cache_hash=True)
class EpochEntry:
    """Where a leader epoch starts: the offset of its first record, or the log's end as long as it has none."""

    leader_epoch: int
    start_offset: int


EpochCache = tuple[EpochEntry, ...]


@frozen
class EpochEnd:
    """The answer of OffsetsForLeaderEpoch: a leader epoch, and the offset at which it ends; undefined if none is known."""

    leader_epoch: int = UNDEFINED_EPOCH
    end_offset: int = UNDEFINED_OFFSET


def epoch_entries(log: Log) -> EpochCache:
    """Return the cache that the records of a log imply: where each epoch is first seen."""
    entries: list[EpochEntry] = []
    for offset, record in enumerate(log.records, log.log_start_offset):
        if not entries or entries[-1].leader_epoch != record.leader_epoch:
            entries.append(EpochEntry(record.leader_epoch, offset))
    return tuple(entries)


def assign_epoch(cache: EpochCache, entry: EpochEntry) -> EpochCache:
    """Add an entry, and drop those at the end that contradict it: of this or a later epoch, or from this offset on.

    It says nothing new, and is ignored, if its epoch is the latest one and does not start earlier than known.
    """
    if cache and entry.leader_epoch == cache[-1].leader_epoch and entry.start_offset >= cache[-1].start_offset:
        return cache
    kept = len(cache)
    while kept and (cache[kept - 1].leader_epoch >= entry.leader_epoch or cache[kept - 1].start_offset >= entry.start_offset):
        kept -= 1
    return (*cache[:kept], entry)


def truncate_epochs_from_end(cache: EpochCache, end_offset: int) -> EpochCache:
    """Drop the epochs that start at the log's new end or above."""
    return tuple(entry for entry in cache if entry.start_offset < end_offset)


def truncate_epochs_from_start(cache: EpochCache, start_offset: int) -> EpochCache:
    """Drop the epochs that end at or below the new log start; the one that goes on there starts there now."""
    gone = [entry for entry in cache if entry.start_offset <= start_offset]
    if not gone:
        return cache
    return (EpochEntry(gone[-1].leader_epoch, start_offset), *cache[len(gone) :])


def end_offset_for(cache: EpochCache, leader_epoch: int, log_end_offset: int) -> EpochEnd:
    """Return the largest known epoch up to the requested one, and where it ends: at the start of the first later epoch.

    The latest epoch ends at the log's end. An epoch later than that one, or none, has no end. Of an epoch before the
    first known one all that is known is where the log has something later.
    """
    if leader_epoch == UNDEFINED_EPOCH or not cache or leader_epoch > cache[-1].leader_epoch:
        return EpochEnd()
    if leader_epoch == cache[-1].leader_epoch:
        return EpochEnd(leader_epoch, log_end_offset)
    later = next(entry for entry in cache if entry.leader_epoch > leader_epoch)
    known = [entry.leader_epoch for entry in cache if entry.leader_epoch <= leader_epoch]
    return EpochEnd(known[-1] if known else leader_epoch, later.start_offset)
