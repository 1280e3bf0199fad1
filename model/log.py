# SPDX-License-Identifier: Apache-2.0
"""One replica's log of records, and the questions that leader epochs answer about it.

Offsets start at 0 and ends are exclusive. A record carries the epoch of the leader that wrote it; an id stands for
its content. Records below ``log_start_offset`` are gone. Batches, timestamps, keys and bytes are left out.
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
