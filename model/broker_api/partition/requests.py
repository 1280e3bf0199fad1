# SPDX-License-Identifier: Apache-2.0
"""What is asked of a partition, as far as the answers depend on it, and the answers.

Producers have names; their ids are the broker's to choose. A leader epoch is relative to the present one, counted in
leaders (-1 is that of the leader before), so that programs mean the same wherever they run.
Times are in milliseconds since the program began.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from hwmark.model.broker_api.common import NOTHING, Errors, Where

LATER = 1_000_000
"""The time of the end of a transaction, which the broker writes: later than that of all records of a program."""


class CurrentEpoch(Enum):
    """What a request says of the partition's leader epoch."""

    UNSAID = "unsaid"
    RIGHT = "right"
    OLDER = "older"
    NEWER = "newer"


class Flaw(Enum):
    """What is wrong with the batch of a produce request."""

    NONE = "none"
    CRC = "crc"
    """Its checksum is that of something else."""
    BASE_OFFSET = "base_offset"
    """It says that it begins at offset 1; clients say 0."""
    TWO_BATCHES = "two_batches"
    NO_BATCH = "no_batch"
    OLD_MAGIC = "old_magic"
    """It says that it has the format of before 0.11."""
    TRANSACTIONAL = "transactional"
    """It says that it is part of a transaction, in a request without a transactional id."""


class Support(Enum):
    """What the sender of a transactional batch knows of KIP-890 (``TransactionSupportedOperation``)."""

    NOTHING = "nothing"
    """Version 10 or older: the partition is part of the transaction, or the state of the transaction is wrong."""
    ABORTABLE = "abortable"
    """Version 11: the partition is part of the transaction, or that should be aborted (KIP-1050)."""
    ADDS = "adds"
    """Version 12: the batch makes the partition part of the transaction."""


class At(Enum):
    """What a client asks for in a ListOffsets request."""

    TIME = "time"
    """The first record at or after a time."""
    LATEST = "latest"
    EARLIEST = "earliest"
    MAX_TIMESTAMP = "max_timestamp"
    UNHEARD_OF = "unheard_of"
    """A negative time that means nothing."""


# -- requests --


@frozen
class InitProducerId:
    """A producer without transactions asks for an id, to be known as ``producer`` from then on."""

    producer: str


@frozen
class Produce:
    """Send one batch of ``count`` records; ``sequence`` is that of the first, if a producer is named.

    ``epoch``: how far the producer's epoch is from the one that it was given.
    """

    count: int = 1
    producer: str | None = None
    epoch: int = 0
    sequence: int = 0
    acks: int = -1
    flaw: Flaw = Flaw.NONE
    where: Where = Where.PARTITION
    transactional: bool = False
    """Whether it is part of a transaction, and the request has the producer's transactional id."""
    support: Support = Support.NOTHING
    """Of a transactional batch."""
    of_follower: bool = False
    """Whether it goes to a replica that does not lead."""


@frozen
class Fetch:
    """Ask for records from an offset on."""

    offset: int = 0
    read_committed: bool = False
    epoch: CurrentEpoch = CurrentEpoch.UNSAID
    where: Where = Where.PARTITION
    of_follower: bool = False
    """Whether it goes to a replica that does not lead."""
    before_racks: bool = False
    """Whether the sender knows nothing of racks, nor of followers who serve fetches (KIP-392): version 10."""


@frozen
class ListOffsets:
    """Ask for an offset: an end of the partition, or the first record at or after a time."""

    at: At = At.LATEST
    time: int = 0
    read_committed: bool = False
    epoch: CurrentEpoch = CurrentEpoch.UNSAID
    where: Where = Where.PARTITION
    twice: bool = False
    """Whether the partition is named twice in the request."""
    of_follower: bool = False
    """Whether it goes to a replica that does not lead."""


@frozen
class DeleteRecords:
    """Delete all records below an offset; -1: below the high watermark."""

    offset: int = NOTHING
    where: Where = Where.PARTITION
    of_follower: bool = False
    """Whether it goes to a replica that does not lead."""


@frozen
class OffsetForLeaderEpoch:
    """Ask where a leader epoch ends; ``leader_epoch`` is relative to the partition's, ``None``: the undefined one."""

    leader_epoch: int | None = 0
    epoch: CurrentEpoch = CurrentEpoch.UNSAID
    where: Where = Where.PARTITION
    of_follower: bool = False
    """Whether it goes to a replica that does not lead."""


@frozen
class NewLeader:
    """No request, but what happens to a partition: it gets a new leader that has all that was acknowledged, in a new leader epoch."""


# -- answers --


@frozen
class ProducerIdGiven:
    """The id and the epoch that a producer has from now on."""

    error: Errors
    producer_id: int = NOTHING
    producer_epoch: int = NOTHING


@frozen
class Produced:
    """Where the batch is; and where the log starts."""

    error: Errors
    base_offset: int = NOTHING
    log_start_offset: int = NOTHING


@frozen
class NotAnswered:
    """A request with ``acks=0`` has no answer."""


@frozen
class Fetched:
    """The records, as offsets and values; the values of programs are the numbers of the records that they sent.

    ``aborted``: transactions to pass over, for who reads what is committed: the producer, and the first offset.
    """

    error: Errors
    high_watermark: int = NOTHING
    last_stable_offset: int = NOTHING
    log_start_offset: int = NOTHING
    records: tuple[tuple[int, int], ...] = ()
    aborted: tuple[tuple[str, int], ...] = ()


@frozen
class OffsetFound:
    """The offset; the time of its record, if a time was asked for; and its leader epoch, relative to the partition's."""

    error: Errors
    offset: int = NOTHING
    timestamp: int = NOTHING
    leader_epoch: int | None = None


@frozen
class Deleted:
    """Where the log starts now."""

    error: Errors
    low_watermark: int = NOTHING


@frozen
class Led:
    """Whether the new leader's epoch is larger than all before."""

    error: Errors
    is_newer: bool = False


@frozen
class EpochEnd:
    """The largest known leader epoch up to the one that was asked about (relative; ``None``: undefined), and where it ends."""

    error: Errors
    leader_epoch: int | None = None
    end_offset: int = NOTHING
