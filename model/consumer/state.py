# SPDX-License-Identifier: Apache-2.0
"""The two replicas of a partition, what is committed, and what the consumer knows of its place."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen, validators

from hwmark.model.log import UNDEFINED_EPOCH, Log

INVALID_OFFSET = -1
"""What OffsetFetch answers where nothing is committed; also the position of a consumer that has none."""


class Reset(Enum):
    """Where a consumer begins that has no other place: ``auto.offset.reset``."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


class CommitMode(Enum):
    """Who commits: ``enable.auto.commit``."""

    MANUAL = "manual"
    """The application, whenever it likes."""
    AUTOMATIC = "automatic"
    """The consumer itself, when it is polled: what earlier polls returned."""


class FetchState(Enum):
    """What the consumer has to do for the partition next (``SubscriptionState.FetchStates``)."""

    UNASSIGNED = "unassigned"
    INITIALIZING = "initializing"
    AWAIT_RESET = "await_reset"
    AWAIT_VALIDATION = "await_validation"
    FETCHING = "fetching"
    FAILED = "failed"
    """The application was told that it has to decide: no offset and no reset policy, or a truncated log."""


class Lookup(Enum):
    """How far one run of ``updateFetchPositions`` is."""

    IDLE = "idle"
    WITH_PARTITION = "with_partition"
    """The committed offset of the partition is being looked up."""
    WITHOUT_PARTITION = "without_partition"
    """The run is about other partitions only, as this one was not assigned or not eligible when it began."""


@frozen(cache_hash=True)
class Committed:
    """A committed offset, and the leader epoch of the record before it, if it was told."""

    offset: int
    leader_epoch: int = UNDEFINED_EPOCH


@frozen(cache_hash=True)
class State:
    """One partition with a leader and another replica, and one consumer in its present session.

    ``position`` is the offset that the consumer reads next, and ``offset_epoch`` the leader epoch of the record that it
    read last, as far as it knows. ``known_leader_epoch`` is the one that its metadata names. ``under_way`` are commits that
    it has built and that have not arrived. What follows ``committed`` counts what ``Bounds`` allow a number of.
    """

    log: Log
    other_log: Log
    leader_epoch: int
    next_record_id: int
    fetch_state: FetchState
    is_callback_pending: bool
    lookup: Lookup
    position: int
    offset_epoch: int
    known_leader_epoch: int
    under_way: tuple[Committed, ...]
    committed: Committed | None
    seeks: int
    commits: int
    restarts: int
    failed_commits: int
    undefined_answers: int
    deletions: int


@frozen
class Config:
    """What is set at the consumer."""

    auto_offset_reset: Reset = field(default=Reset.EARLIEST, validator=validators.instance_of(Reset))
    commit_mode: CommitMode = field(default=CommitMode.MANUAL, validator=validators.instance_of(CommitMode))


def counted(default: int) -> int:
    """Return a field of bounds that counts something."""
    count: int = field(default=default, validator=[validators.ge(0), validators.le(64)])
    return count


@frozen
class Bounds:
    """How far we look: so many records and leader epochs (0 is one), commits and commits under way; and so much trouble.

    With ``other_partitions`` the consumer has others, too, for which it may be looking up positions at any time.
    """

    records: int = counted(2)
    max_leader_epoch: int = counted(0)
    commits: int = counted(1)
    commits_under_way: int = counted(1)
    seeks: int = counted(0)
    restarts: int = counted(0)
    failed_commits: int = counted(0)
    undefined_answers: int = counted(0)
    deletions: int = counted(0)
    other_partitions: int = field(default=0, validator=[validators.ge(0), validators.le(1)])


def initial() -> State:
    """The partition is empty, nothing is committed, and the consumer has no partition."""
    return State(
        log=Log(),
        other_log=Log(),
        leader_epoch=0,
        next_record_id=0,
        fetch_state=FetchState.UNASSIGNED,
        is_callback_pending=False,
        lookup=Lookup.IDLE,
        position=INVALID_OFFSET,
        offset_epoch=UNDEFINED_EPOCH,
        known_leader_epoch=0,
        under_way=(),
        committed=None,
        seeks=0,
        commits=0,
        restarts=0,
        failed_commits=0,
        undefined_answers=0,
        deletions=0,
    )


# -- domains --


def offsets(bounds: Bounds) -> range:
    """Return the offsets of all records that may be written, and the end of the log behind them."""
    return range(bounds.records + 1)


def commits_under_way(bounds: Bounds) -> range:
    """Return the places of commits that are under way, the oldest first."""
    return range(bounds.commits_under_way)
