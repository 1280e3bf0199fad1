# SPDX-License-Identifier: Apache-2.0
"""The decisions of the ``partition`` machine: one enum each, whose first member is what Kafka 4.3 does.

The other members are what Kafka did before, or a mistake that one of its checks excludes; each is there to be switched
on, so that the check shows what it is for. The exceptions: the first members of ``MetadataAgain``, ``FollowerMemory``, ``Refusal``,
``GivenUp`` and ``ElrMembers`` keep promises that Kafka 4.3.1 does not keep, and that of ``CaughtUp`` leaves out a wait on which a
single promise rests.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

# -- registration --


class RegistrationMatch(Enum):
    """Which answer to its registration a starting broker believes."""

    SAME_LIFE = "same_life"
    """The one to the request of this very process (``BrokerLifecycleManager``: the connection dies with the process)."""
    ANY = "any"
    """Any, also one to a request of the process before."""


class ShutdownDetection(Enum):
    """When the controller takes a broker's former shutdown for clean."""

    BROKER_EPOCH = "broker_epoch"
    """When it shows the broker epoch that it wrote down as it stopped (``ClusterControlManager.registerBroker``)."""
    TRUSTED = "trusted"
    """Always: a log that lost its tail counts as complete."""


# -- the ISR --


class Eligibility(Enum):
    """Whom the controller refuses in a proposed ISR (``ReplicationControlManager.ineligibleReplicasForIsr``)."""

    ACTIVE_INCARNATION = "active_incarnation"
    """Brokers that are fenced, in controlled shutdown, or of another broker epoch than the one that fetched (KIP-841, KIP-903)."""
    ACTIVE = "active"
    """Brokers that are fenced or in controlled shutdown, whichever of their lives fetched (KIP-841)."""
    INCARNATION = "incarnation"
    """Brokers of another broker epoch than the one that fetched, dead or alive."""


class VersionCheck(Enum):
    """Which proposals of an ISR the controller compares with its own knowledge."""

    PARTITION_EPOCH = "partition_epoch"
    """All: one made under another partition epoch is refused (``validateAlterPartitionData``)."""
    LEADER_EPOCH = "leader_epoch"
    """Those of another leader epoch are refused, not those of another partition epoch."""


class ExpandGuard(Enum):
    """What a follower must have fetched before the leader proposes it (``Partition.isFollowerInSync``)."""

    EPOCH_START = "epoch_start"
    """Up to the leader's high watermark, and up to the start of the leader's epoch (KAFKA-7128)."""
    HIGH_WATERMARK = "high_watermark"
    """Up to the leader's high watermark, which on a fresh leader is late."""
    EPOCH_START_ONLY = "epoch_start_only"
    """Up to the start of the leader's epoch, above which more may be committed by now."""
    NONE = "none"
    """Nothing: that it fetches is enough."""


class ExpandOn(Enum):
    """From what the leader knows that a follower has caught up."""

    FETCH = "fetch"
    """From a fetch that it is just handling (``Partition.updateFollowerFetchState``)."""
    MEMORY = "memory"
    """Also from a fetch that it handled before, perhaps in an earlier epoch of its own."""


class HighWatermarkOver(Enum):
    """Whose end offsets hold the high watermark back, also while an ISR change is in flight."""

    MAXIMAL_ISR = "maximal_isr"
    """Of all who may be in the ISR by now: the known members and the proposed ones (KIP-497)."""
    COMMITTED_ISR = "committed_isr"
    """Of the known members."""
    PROPOSED_ISR = "proposed_isr"
    """Of the proposed members."""
    ALL_REPLICAS = "all_replicas"
    """Of all replicas, in sync or not: replication that waits for everybody."""
    LEADER = "leader"
    """Of the leader alone: replication that waits for nobody."""


class HighWatermarkMinimum(Enum):
    """Whether the high watermark advances while the ISR is smaller than ``min.insync.replicas``."""

    MIN_ISR = "min_isr"
    """No (KIP-966, since 3.7)."""
    ANY_ISR = "any_isr"
    """Yes."""


class MetadataAgain(Enum):
    """What a leader does with metadata of the partition epoch that it already learned from an AlterPartition answer."""

    SKIPPED = "skipped"
    """Nothing, as it is no news."""
    APPLIED = "applied"
    """It takes them over, and forgets with that what it proposed since (``Partition.makeLeader`` with KRaft, 3.3 to 4.3.1)."""


class FollowerMemory(Enum):
    """What becomes of how far the followers were, in a leader that is elected again and has missed a leader epoch in between."""

    FORGOTTEN = "forgotten"
    """It is forgotten, as somebody else may have led meanwhile, with whom a follower has truncated: each has to fetch again."""
    KEPT = "kept"
    """It is kept, as with every election of a broker that believes that it leads (``Partition.makeLeader``, to 4.3.1)."""


class Refusal(Enum):
    """What a leader does once it has taken back a proposal that was refused (``Partition.handleAlterPartitionError``)."""

    ADVANCES = "advances"
    """It looks again how far its high watermark may advance, which no longer waits for who was proposed."""
    ENDS_THERE = "ends_there"
    """Nothing more: the high watermark waits for the next append, or for a fetch that is further than the last (2.7 to 4.3.1)."""


class LateCopy(Enum):
    """What becomes of a second copy of a proposal once the controller has answered the first."""

    DROPPED = "dropped"
    """It is never handled: Kafka relies on its connections for that (``Partition.handleAlterPartitionError`` says so)."""
    HANDLED = "handled"
    """It is handled like the first, whenever it comes: after its sender gave the proposal up, it may be accepted all the same."""


class CaughtUp(Enum):
    """For which followers outside of the ISR the high watermark waits too (``Partition.maybeIncrementLeaderHW``)."""

    NOBODY = "nobody"
    """For none: as if ``replica.lag.time.max.ms`` were over at once."""
    KEEPING_UP = "keeping_up"
    """For those that lately had all that the leader had, or all that it had at their fetch before (KAFKA-4485, as in 4.3.1)."""
    AT_THE_END = "at_the_end"
    """For those that lately had all that the leader had as they fetched."""


class GivenUp(Enum):
    """What a leader does once ``replica.lag.time.max.ms`` is over for a follower that its high watermark waited for."""

    ADVANCES = "advances"
    """It looks again how far its high watermark may advance."""
    ENDS_THERE = "ends_there"
    """Nothing: the high watermark waits for the next append, or for a fetch that is further than the last (to 4.3.1)."""


# -- the ELR, and elections --


class ElrMembers(Enum):
    """Who stays eligible when a reassignment is over (``PartitionChangeBuilder.maybePopulateTargetElr``)."""

    REPLICAS = "replicas"
    """Replicas."""
    FORMER_REPLICAS = "former_replicas"
    """Also a broker that is no replica any more, and deletes its log (4.0 to 4.3.1)."""


class UncleanChoice(Enum):
    """Whom an operator's unclean election picks."""

    FIRST_ASSIGNED = "first_assigned"
    """The first replica in assignment order that is alive (``PartitionChangeBuilder.electAnyLeader``)."""
    LONGEST_LOG = "longest_log"
    """Of those alive the one with the longest log of the latest epoch, as if that were the most complete one."""


# -- fetching --


class FetchFence(Enum):
    """In which leader epoch a follower is served."""

    LEADER_EPOCH = "leader_epoch"
    """In the leader's own; others get FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH (KIP-320)."""
    NONE = "none"
    """In any."""


class Truncation(Enum):
    """How a follower's log comes to agree with its leader's."""

    EPOCH_AND_END = "epoch_and_end"
    """The leader says on a fetch which epoch ends where, the follower cuts to what both have (KIP-279, KIP-595)."""
    END = "end"
    """The leader says only where the follower's last epoch ends, also if it never had that epoch (KIP-101)."""
    HIGH_WATERMARK = "high_watermark"
    """The follower cuts to its own high watermark as it starts to follow, and compares nothing."""


class HighWatermarkOfDivergence(Enum):
    """What a follower does with the high watermark of an answer that tells it to truncate."""

    IGNORED = "ignored"
    """Nothing: the next answer brings it (KAFKA-14704)."""
    BEFORE_TRUNCATION = "before_truncation"
    """It takes it over, and truncates then."""


class FetcherRestart(Enum):
    """When a follower starts to fetch under a new leader epoch (``ReplicaManager.applyLocalFollowersDelta``)."""

    LEADER_EPOCH = "leader_epoch"
    """With every new leader epoch."""
    LEADER = "leader"
    """When another broker leads."""


class AnswerMatch(Enum):
    """Which answer to a fetch a follower believes (``AbstractFetcherThread.processFetchRequest``)."""

    OFFSET_AND_EPOCH = "offset_and_epoch"
    """One to a fetch from where its log ends, in the leader epoch in which it fetches now."""
    OFFSET = "offset"
    """One to a fetch from where its log ends."""
    EPOCH = "epoch"
    """One to a fetch in the leader epoch in which it fetches now: a record goes to the end of the log, wherever it is from."""


# -- the start of the log, and clients --


class Retention(Enum):
    """How far the start of a log may move (``UnifiedLog.deleteOldSegments``, ``maybeIncrementLogStartOffset``)."""

    HIGH_WATERMARK = "high_watermark"
    """Up to the high watermark."""
    LOG_END = "log_end"
    """Up to the end of the log (until KAFKA-5634)."""


class LatestOffset(Enum):
    """When a leader tells clients where the log ends for them (``Partition.fetchOffsetForTimestamp``)."""

    EPOCH_START = "epoch_start"
    """Once its high watermark has reached the start of its epoch; before that OFFSET_NOT_AVAILABLE (KIP-207)."""
    ALWAYS = "always"
    """Always."""


class EpochBegin(Enum):
    """From when on a leader knows where its epoch starts (``Partition.makeLeader``)."""

    AT_ELECTION = "at_election"
    """From its election on, before it has a record of that epoch."""
    AT_FIRST_RECORD = "at_first_record"
    """From its first record on: with an empty log it knows nothing about any epoch (until 2.0.0, KAFKA-7415)."""


class UndefinedEpochEnd(Enum):
    """How a consumer takes an answer that says nothing about the epoch of its last record."""

    OUT_OF_RANGE = "out_of_range"
    """As a position that the log does not know: the reset policy decides (KAFKA-9840)."""
    OFFSET = "offset"
    """As a number: the log is said to be truncated to offset -1."""


@frozen
class PartitionRules:
    """The decisions of the ``partition`` machine; the defaults are those that keep every promise."""

    registration_match: RegistrationMatch = RegistrationMatch.SAME_LIFE
    shutdown_detection: ShutdownDetection = ShutdownDetection.BROKER_EPOCH
    eligibility: Eligibility = Eligibility.ACTIVE_INCARNATION
    version_check: VersionCheck = VersionCheck.PARTITION_EPOCH
    expand_guard: ExpandGuard = ExpandGuard.EPOCH_START
    expand_on: ExpandOn = ExpandOn.FETCH
    high_watermark_over: HighWatermarkOver = HighWatermarkOver.MAXIMAL_ISR
    high_watermark_minimum: HighWatermarkMinimum = HighWatermarkMinimum.MIN_ISR
    metadata_again: MetadataAgain = MetadataAgain.SKIPPED
    follower_memory: FollowerMemory = FollowerMemory.FORGOTTEN
    refusal: Refusal = Refusal.ADVANCES
    late_copy: LateCopy = LateCopy.DROPPED
    caught_up: CaughtUp = CaughtUp.NOBODY
    given_up: GivenUp = GivenUp.ADVANCES
    elr_members: ElrMembers = ElrMembers.REPLICAS
    unclean_choice: UncleanChoice = UncleanChoice.FIRST_ASSIGNED
    fetch_fence: FetchFence = FetchFence.LEADER_EPOCH
    truncation: Truncation = Truncation.EPOCH_AND_END
    high_watermark_of_divergence: HighWatermarkOfDivergence = HighWatermarkOfDivergence.IGNORED
    fetcher_restart: FetcherRestart = FetcherRestart.LEADER_EPOCH
    answer_match: AnswerMatch = AnswerMatch.OFFSET_AND_EPOCH
    retention: Retention = Retention.HIGH_WATERMARK
    latest_offset: LatestOffset = LatestOffset.EPOCH_START
    epoch_begin: EpochBegin = EpochBegin.AT_ELECTION
    undefined_epoch_end: UndefinedEpochEnd = UndefinedEpochEnd.OUT_OF_RANGE
