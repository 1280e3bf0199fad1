# SPDX-License-Identifier: Apache-2.0
"""Which protocol: every decision that Kafka took differently over time, or that somebody may take wrongly.

One enum per decision, one frozen class per machine. A version of Kafka is a value of such a class; presets with
names stand in ``hwmark.spec.versions``. What an operator sets is ``Config``, how far we look is ``Bounds``.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

# -- replication --


class Fence(Enum):
    """What a leader compares before it counts a follower as caught up to an offset."""

    NONE = "none"
    """The follower names this leader and its log is long enough (before KIP-320)."""
    RECORD_EPOCH = "record_epoch"
    """Also the epochs of the two records just below the offset agree (the first try at KIP-320)."""
    LEADER_EPOCH = "leader_epoch"
    """Also both are in the same leader epoch (KIP-320)."""


class Truncation(Enum):
    """Down to which offset a replica cuts its log when it starts to follow a leader."""

    HIGH_WATERMARK = "high_watermark"
    """Its own high watermark (before KIP-101)."""
    EPOCH_END = "epoch_end"
    """The leader's end of the follower's last epoch, as first modelled: an end above the own one blocks it (KIP-101)."""
    EPOCH_END_CLAMPED = "epoch_end_clamped"
    """The same, but an end above the own one truncates nothing (KIP-101 as shipped)."""
    LAST_COMMON_RECORD = "last_common_record"
    """Just above the last record that both logs hold at the same offset (KIP-279)."""
    ON_FETCH = "on_fetch"
    """Not at all when it starts to follow; later, whenever a fetch finds a disagreement (first try at KIP-320)."""


class TruncationFence(Enum):
    """Whom a replica asks where to truncate when it starts to follow a leader."""

    NONE = "none"
    """The broker named in the request, whatever that broker believes."""
    LEADER_EPOCH = "leader_epoch"
    """The broker named, once it leads in exactly the epoch of the request (KIP-320)."""


class EpochStart(Enum):
    """Who must have reached the leader's epoch before a follower may join the ISR (KAFKA-7128)."""

    NONE = "none"
    """Nobody."""
    HIGH_WATERMARK = "high_watermark"
    """The leader's high watermark: it stands at the log end or at a record of the leader's own epoch."""
    FOLLOWER = "follower"
    """The follower: its end has reached the first offset of the leader's epoch (``Partition.isFollowerInSync``)."""


@frozen
class ReplicationRules:
    """The decisions of the ``replication`` machine; the defaults are KIP-320 as published."""

    truncation: Truncation = Truncation.LAST_COMMON_RECORD
    truncation_fence: TruncationFence = TruncationFence.LEADER_EPOCH
    fetch_fence: Fence = Fence.LEADER_EPOCH
    high_watermark_fence: Fence = Fence.LEADER_EPOCH
    shrink_fence: Fence = Fence.LEADER_EPOCH
    expand_fence: Fence = Fence.LEADER_EPOCH
    expand_epoch_start: EpochStart = EpochStart.HIGH_WATERMARK


# -- async_isr --


class HighWatermarkOver(Enum):
    """Whose end offsets hold the high watermark back while ISR changes are in flight."""

    COMMITTED = "committed"
    """The members of the ISR that the leader knows to be decided."""
    PROPOSED = "proposed"
    """The members of the ISR that the leader proposed, if it did."""
    MAXIMAL = "maximal"
    """Both: whoever may be in the ISR by now (KIP-497, the maximal ISR)."""


class VersionCheck(Enum):
    """Which proposals the controller accepts."""

    COMPARE_AND_SET = "compare_and_set"
    """Those made under the version that is still the current one (KIP-497)."""
    NONE = "none"
    """All, however old the ISR that they started from."""


class ExpandGuard(Enum):
    """What a follower must have reached before the leader proposes to add it to the ISR."""

    HIGH_WATERMARK = "high_watermark"
    """The leader's high watermark."""
    NONE = "none"
    """Nothing."""


@frozen
class AsyncIsrRules:
    """The decisions of the ``async_isr`` machine; the defaults are the published ones."""

    high_watermark_over: HighWatermarkOver = HighWatermarkOver.MAXIMAL
    version_check: VersionCheck = VersionCheck.COMPARE_AND_SET
    expand_guard: ExpandGuard = ExpandGuard.HIGH_WATERMARK


# -- log --


class EpochCacheEnd(Enum):
    """When the epoch cache is cut at its end."""

    ALWAYS = "always"
    """Whenever the log is truncated, also if that takes no record away (``UnifiedLog.truncateTo``)."""
    IF_RECORDS_GO = "if_records_go"
    """Only if that takes records away: an epoch that has no record yet stays (until KAFKA-10706)."""
    NEVER = "never"
    """Not with the log."""


class EpochCacheStart(Enum):
    """What becomes of the epoch in whose middle the log starts now."""

    CLAMP = "clamp"
    """It starts at the log start offset (``LeaderEpochFileCache.truncateFromStart``)."""
    DROP = "drop"
    """It goes with those before it, as its first record is gone."""
    KEEP = "keep"
    """Nothing: the cache is not cut at its start."""


class EpochAssignment(Enum):
    """What becomes of cached epochs that contradict a new one."""

    DROP_CONFLICTING = "drop_conflicting"
    """They go (``LeaderEpochFileCache.maybeTruncateNonMonotonicEntries``)."""
    APPEND_ONLY = "append_only"
    """They stay; a new epoch that is not later than the latest, or starts before it, is ignored (until 2.0.0, KAFKA-7415)."""


class EpochBegin(Enum):
    """When a leader caches the start of its epoch."""

    AT_ELECTION = "at_election"
    """Once it leads, before it has a record of that epoch (``Partition.makeLeader``)."""
    AT_FIRST_RECORD = "at_first_record"
    """With its first record (until 2.0.0, KAFKA-7415)."""


class EpochCacheRecovery(Enum):
    """Which epoch cache a broker starts with after a crash that may have cost it records."""

    REBUILT = "rebuilt"
    """One that agrees with the records that are left (``LogLoader.load``)."""
    CHECKPOINT = "checkpoint"
    """The one on disk, as it was written before the crash."""


class EpochEndLookup(Enum):
    """What OffsetsForLeaderEpoch answers about an epoch that the cache does not know."""

    FLOOR_EPOCH = "floor_epoch"
    """The largest known epoch up to it, and where that one ends (KIP-279); before all of them, itself and where the first starts."""
    FLOOR_EPOCH_OR_NOTHING = "floor_epoch_or_nothing"
    """The same, but nothing about an epoch before all that are known (2.0.0, KAFKA-7415)."""
    REQUESTED_EPOCH = "requested_epoch"
    """Itself, as if it were known, and where the first later one starts: what an answer without an epoch means (KIP-101)."""
    CURRENT_EPOCH = "current_epoch"
    """The latest epoch, whatever was asked, and the log's start if that is later than all (redpanda#11864)."""


class ReadCheck(Enum):
    """From which offset on records are served."""

    LOG_START = "log_start"
    """From the log start offset (``UnifiedLog.checkLogStartOffset``)."""
    FIRST_SEGMENT = "first_segment"
    """From the first record that is still on disk."""


@frozen
class LogRules:
    """The decisions of the ``log`` machine; the defaults are Kafka's since 2.7."""

    epoch_cache_truncation: EpochCacheEnd = EpochCacheEnd.ALWAYS
    epoch_cache_start: EpochCacheStart = EpochCacheStart.CLAMP
    epoch_assignment: EpochAssignment = EpochAssignment.DROP_CONFLICTING
    epoch_begin: EpochBegin = EpochBegin.AT_ELECTION
    epoch_cache_recovery: EpochCacheRecovery = EpochCacheRecovery.REBUILT
    epoch_end_lookup: EpochEndLookup = EpochEndLookup.FLOOR_EPOCH
    read_check: ReadCheck = ReadCheck.LOG_START
