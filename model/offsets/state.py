# SPDX-License-Identifier: Apache-2.0
"""What the coordinator of one group keeps in memory and in its log, what its members believe, and what is under way."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen, validators

from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId, PerMember

INVALID_OFFSET = -1
"""What OffsetFetch answers where nothing is committed; also the position of a member that does not have one yet."""


class Protocol(Enum):
    """How members find together: ``group.protocol`` of the consumer."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class Phase(Enum):
    """What the group is doing; a consumer group is only ever absent, empty, or (for what is shown here) stable."""

    ABSENT = "absent"
    """The coordinator knows no such group: it is dead, was never made, or is not loaded yet."""
    EMPTY = "empty"
    PREPARING_REBALANCE = "preparing_rebalance"
    COMPLETING_REBALANCE = "completing_rebalance"
    STABLE = "stable"


# -- the log --


@frozen(cache_hash=True)
class OffsetCommit:
    """A record that commits an offset; one with a producer counts once the transaction is committed."""

    record_offset: int
    offset: int
    timestamp: int
    producer: MemberId


@frozen(cache_hash=True)
class Tombstone:
    """A record that deletes the committed offset."""

    record_offset: int


@frozen(cache_hash=True)
class Marker:
    """A control record that ends a producer's transaction."""

    record_offset: int
    producer: MemberId
    is_commit: bool


Entry = OffsetCommit | Tombstone | Marker
OffsetLog = tuple[Entry, ...]
"""The records about one group and partition in ``__consumer_offsets``; each knows its offset, also once others are gone."""


@frozen(cache_hash=True)
class Group:
    """What the latest record about the group itself says."""

    phase: Phase
    generation: int
    epochs: PerMember[int]
    owner: MemberId
    assignment_epoch: int
    empty_since: int


# -- members --


@frozen(cache_hash=True)
class CommitRequest:
    """An OffsetCommit or TxnOffsetCommit that a member sent, under the generation (or epoch) that it knew then."""

    generation: int
    offset: int
    is_transactional: bool


@frozen(cache_hash=True)
class State:
    """One group and one partition of the topic that it reads.

    ``epochs[m]`` is the generation (or epoch) of member m as the coordinator knows it, and ``UNKNOWN_GENERATION`` if m is no
    member. ``owner`` has the partition since ``assignment_epoch``. ``stored`` is the group as its latest record tells it, to
    which a failover goes back. ``believed[m]`` is the generation under which member m believes to own the partition.
    ``time`` counts retention periods. What follows counts what
    ``Bounds`` allow a number of.
    """

    phase: Phase
    generation: int
    epochs: PerMember[int]
    owner: MemberId
    assignment_epoch: int
    empty_since: int
    stored: Group
    is_loading: bool
    committed: OffsetCommit | None
    pending: PerMember[OffsetCommit | None]
    log: OffsetLog
    next_record_offset: int
    believed: PerMember[int]
    positions: PerMember[int]
    requests: PerMember[CommitRequest | None]
    time: int
    commits: int
    outside_commits: int
    transactional_commits: int
    failovers: int
    deletions: int


@frozen
class Config:
    """What an operator sets: which protocol the group speaks. How long offsets are retained is the unit of time."""

    group_protocol: Protocol = field(default=Protocol.CLASSIC, validator=validators.instance_of(Protocol))


def counted(default: int, least: int = 0) -> int:
    """Return a field of bounds that counts something."""
    count: int = field(default=default, validator=[validators.ge(least), validators.le(64)])
    return count


@frozen
class Bounds:
    """How far we look: so many members, records to consume, and generations; and so many of each perturbation."""

    members: int = field(default=2, validator=[validators.ge(1), validators.le(9)])
    max_offset: int = counted(1, least=1)
    max_generation: int = counted(2, least=1)
    commits: int = counted(1)
    outside_commits: int = counted(0)
    transactional_commits: int = counted(0)
    failovers: int = counted(0)
    retentions: int = counted(0)
    deletions: int = counted(0)


def initial(bounds: Bounds) -> State:
    """There is no group, nothing is committed, and nobody reads."""
    nothing: PerMember[int] = (UNKNOWN_GENERATION,) * bounds.members
    absent = Group(Phase.ABSENT, generation=0, epochs=nothing, owner=NOBODY, assignment_epoch=0, empty_since=0)
    return State(
        phase=absent.phase,
        generation=absent.generation,
        epochs=absent.epochs,
        owner=absent.owner,
        assignment_epoch=absent.assignment_epoch,
        empty_since=absent.empty_since,
        stored=absent,
        is_loading=False,
        committed=None,
        pending=(None,) * bounds.members,
        log=(),
        next_record_offset=0,
        believed=nothing,
        positions=(INVALID_OFFSET,) * bounds.members,
        requests=(None,) * bounds.members,
        time=0,
        commits=0,
        outside_commits=0,
        transactional_commits=0,
        failovers=0,
        deletions=0,
    )


# -- domains --


def members(bounds: Bounds) -> range:
    """Return the ids of the members."""
    return range(bounds.members)


def offsets(bounds: Bounds) -> range:
    """Return the offsets that can be committed: those of the records, and the end of the log."""
    return range(bounds.max_offset + 1)


def outcomes(_: Bounds) -> tuple[bool, bool]:
    """Return how a transaction may end: committed or not."""
    return (True, False)
