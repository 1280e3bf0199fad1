# SPDX-License-Identifier: Apache-2.0
"""The decisions of the ``majority`` machine: one enum each, whose first member is what Raft and KRaft do."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class QuorumSize(Enum):
    """How many replicas elect a leader and commit a record."""

    MAJORITY = "majority"
    """More than half of all, whether they run or not (``VoterSet``, ``LeaderState.maybeUpdateHighWatermark``)."""
    HALF = "half"
    """Half of all, rounded up: two quorums need not share a replica."""


class VoteCheck(Enum):
    """For whose log a replica votes."""

    UP_TO_DATE = "up_to_date"
    """One whose last record is of a later epoch, or of the same epoch and the log is at least as long (Raft, section 5.4.1)."""
    LONGEST = "longest"
    """One that is at least as long, of whatever epochs its records are."""
    NONE = "none"
    """Any."""


class VoteMemory(Enum):
    """What of a vote outlives the process that gave it."""

    STORED = "stored"
    """All: it is written before it is given (``FileQuorumStateStore.writeElectionState``)."""
    FORGOTTEN = "forgotten"
    """The epoch, and not for whom."""


class CommitEpoch(Enum):
    """Which records a leader commits by counting replicas."""

    OWN = "own"
    """Those of its own epoch, and with them all before (Raft, section 5.4.2; ``LeaderState.maybeUpdateHighWatermark``)."""
    ANY = "any"
    """All, whoever wrote them."""


class Truncation(Enum):
    """What a follower does whose log and the leader's part."""

    BY_EPOCH = "by_epoch"
    """It cuts its log where they part (``RaftLog.validateOffsetAndEpoch``, ``RaftLog.truncateToEndOffset``)."""
    NONE = "none"
    """Nothing: it goes on from where its log ends."""


class Flush(Enum):
    """When a replica's records are on disk."""

    BEFORE_COUNTED = "before_counted"
    """Before anybody counts on them: a follower flushes before it fetches on (``KafkaRaftClient.appendAsFollower``)."""
    LATER = "later"
    """Some time later, as logs of partitions are: a machine that fails may lose any part of the end of its log."""


@frozen
class Rules:
    """The decisions of the ``majority`` machine; the defaults are those that keep every promise."""

    quorum_size: QuorumSize = QuorumSize.MAJORITY
    vote_check: VoteCheck = VoteCheck.UP_TO_DATE
    vote_memory: VoteMemory = VoteMemory.STORED
    commit_epoch: CommitEpoch = CommitEpoch.OWN
    truncation: Truncation = Truncation.BY_EPOCH
    flush: Flush = Flush.BEFORE_COUNTED
