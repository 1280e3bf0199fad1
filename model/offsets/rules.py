# SPDX-License-Identifier: Apache-2.0
"""The decisions of the ``offsets`` machine: what Kafka 4.3 does, and what somebody may do, or did, instead."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class UnknownGroup(Enum):
    """What becomes of a commit with a generation to a group that the coordinator does not know."""

    REFUSE = "refuse"
    """It is refused: only who names no generation may commit without a group (KAFKA-2596)."""
    STORE = "store"
    """It is stored, as if it came from outside of any group."""


class CommitCheck(Enum):
    """Which generation, or member epoch, a member must name to commit."""

    EXACT = "exact"
    """The current one (in consumer groups until 4.2)."""
    SINCE_ASSIGNMENT = "since_assignment"
    """In a consumer group one from the assignment of the partition on (4.3, KIP-1251); in a classic one the current one."""
    MEMBER_ONLY = "member_only"
    """Any, as long as it is a member."""


class TransactionalIdentity(Enum):
    """Whom a transactional commit names."""

    MEMBER = "member"
    """The member and its generation (KIP-447)."""
    NOBODY = "nobody"
    """Nobody, as clients older than KIP-447 do, which is accepted: the producer is to be fenced instead."""


class TransactionalOrder(Enum):
    """Which of two commits holds once the transaction of one is committed."""

    COMMIT_RECORD = "commit_record"
    """The one whose record is later in the log (KAFKA-5247)."""
    MARKER = "marker"
    """The transactional one, as its marker is later than either."""


class OffsetFetchStability(Enum):
    """What a member that asks for the committed offset gets while a transactional commit is undecided."""

    STABLE = "stable"
    """UNSTABLE_OFFSET_COMMIT, to ask again later (KIP-447, ``require_stable``)."""
    ANY = "any"
    """What was committed before."""


class Expiry(Enum):
    """From when on the retention period of a committed offset counts, and whether it may end while the group has members."""

    GROUP_EMPTY = "group_empty"
    """From when the group became empty; never while it has members that subscribe to the topic (KIP-211, classic groups)."""
    LAST_COMMIT = "last_commit"
    """From the last commit; not while members subscribe to the topic (``ConsumerGroup.offsetExpirationCondition``, KIP-848)."""
    LAST_COMMIT_ALWAYS = "last_commit_always"
    """From the last commit, also while the group has members (before 2.1, KAFKA-4682)."""


class Loading(Enum):
    """What a new coordinator does with requests before it has read the log."""

    REFUSE = "refuse"
    """It answers COORDINATOR_LOAD_IN_PROGRESS, and the client asks again."""
    SERVE = "serve"
    """It answers from what it has read, which is nothing."""


@frozen
class Rules:
    """The decisions of the ``offsets`` machine; the defaults are those of Kafka 4.3 for classic groups."""

    unknown_group: UnknownGroup = UnknownGroup.REFUSE
    commit_check: CommitCheck = CommitCheck.SINCE_ASSIGNMENT
    transactional_identity: TransactionalIdentity = TransactionalIdentity.MEMBER
    transactional_order: TransactionalOrder = TransactionalOrder.COMMIT_RECORD
    offset_fetch: OffsetFetchStability = OffsetFetchStability.STABLE
    expiry: Expiry = Expiry.GROUP_EMPTY
    loading: Loading = Loading.REFUSE
