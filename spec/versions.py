# SPDX-License-Identifier: Apache-2.0
"""Named rule presets: the published variants of the replication protocol, each as a delta from the one before.

The first group is the history of the protocol; the second takes single rules of KIP-320 away again, each of which must
break something, or is declared to break nothing. Last comes the table of releases: which preset says what Kafka did from
which release on, the class and method in which that was read, and what the preset does not say.
"""

from __future__ import annotations

from attrs import evolve, frozen

from hwmark.model.rules import (
    AsyncIsrRules,
    EpochAssignment,
    EpochBegin,
    EpochCacheEnd,
    EpochCacheRecovery,
    EpochCacheStart,
    EpochEndLookup,
    EpochStart,
    ExpandGuard,
    Fence,
    HighWatermarkOver,
    LogRules,
    ReadCheck,
    ReplicationRules,
    Truncation,
    TruncationFence,
    VersionCheck,
)

TRUNCATE_TO_HIGH_WATERMARK = ReplicationRules(
    truncation=Truncation.HIGH_WATERMARK,
    truncation_fence=TruncationFence.NONE,
    fetch_fence=Fence.NONE,
    high_watermark_fence=Fence.NONE,
    shrink_fence=Fence.NONE,
    expand_fence=Fence.NONE,
    expand_epoch_start=EpochStart.NONE,
)
KIP_101 = evolve(TRUNCATE_TO_HIGH_WATERMARK, truncation=Truncation.EPOCH_END)
KIP_101_CLAMPED = evolve(KIP_101, truncation=Truncation.EPOCH_END_CLAMPED)
KIP_279 = evolve(KIP_101, truncation=Truncation.LAST_COMMON_RECORD)
KIP_279_FOLLOWER_RULE = evolve(KIP_279, expand_epoch_start=EpochStart.FOLLOWER)
KIP_320_FIRST_TRY = evolve(
    KIP_279,
    truncation=Truncation.ON_FETCH,
    fetch_fence=Fence.RECORD_EPOCH,
    high_watermark_fence=Fence.RECORD_EPOCH,
    shrink_fence=Fence.RECORD_EPOCH,
    expand_fence=Fence.RECORD_EPOCH,
    expand_epoch_start=EpochStart.HIGH_WATERMARK,
)
KIP_320 = evolve(
    KIP_279,
    truncation_fence=TruncationFence.LEADER_EPOCH,
    fetch_fence=Fence.LEADER_EPOCH,
    high_watermark_fence=Fence.LEADER_EPOCH,
    shrink_fence=Fence.LEADER_EPOCH,
    expand_fence=Fence.LEADER_EPOCH,
    expand_epoch_start=EpochStart.HIGH_WATERMARK,
)
_UNFENCED_FOLLOWER = evolve(KIP_320, truncation_fence=TruncationFence.NONE)

REPLICATION = {
    "truncate_to_high_watermark": TRUNCATE_TO_HIGH_WATERMARK,
    "kip_101": KIP_101,
    "kip_101_clamped": KIP_101_CLAMPED,
    "kip_279": KIP_279,
    "kip_279_follower_rule": KIP_279_FOLLOWER_RULE,
    "kip_320_first_try": KIP_320_FIRST_TRY,
    "kip_320": KIP_320,
    "kip_320_follower_rule": evolve(KIP_320, expand_epoch_start=EpochStart.FOLLOWER),
    "kip_320_fetch_unfenced": evolve(KIP_320, fetch_fence=Fence.NONE),
    "kip_320_high_watermark_unfenced": evolve(KIP_320, high_watermark_fence=Fence.NONE),
    "kip_320_shrink_unfenced": evolve(KIP_320, shrink_fence=Fence.NONE),
    "kip_320_expand_without_epoch_start": evolve(KIP_320, expand_epoch_start=EpochStart.NONE),
    "kip_320_expand_unfenced": evolve(KIP_320, expand_fence=Fence.NONE, expand_epoch_start=EpochStart.NONE),
    "kip_320_truncation_unfenced": _UNFENCED_FOLLOWER,
    "kip_320_truncate_to_high_watermark": evolve(_UNFENCED_FOLLOWER, truncation=Truncation.HIGH_WATERMARK),
    "kip_320_kip_101_lookup": evolve(_UNFENCED_FOLLOWER, truncation=Truncation.EPOCH_END_CLAMPED),
    "kip_320_blocking_lookup": evolve(KIP_320, truncation=Truncation.EPOCH_END),
}
"""The presets of the ``replication`` machine by name; ``kip_320`` is its right rules."""

# -- async_isr --

ASYNC_ISR = {
    "async_isr": AsyncIsrRules(),
    "high_watermark_over_committed_isr": AsyncIsrRules(high_watermark_over=HighWatermarkOver.COMMITTED),
    "high_watermark_over_proposed_isr": AsyncIsrRules(high_watermark_over=HighWatermarkOver.PROPOSED),
    "version_unchecked": AsyncIsrRules(version_check=VersionCheck.NONE),
    "expand_unguarded": AsyncIsrRules(expand_guard=ExpandGuard.NONE),
}
"""The presets of the ``async_isr`` machine by name; ``async_isr`` is its right rules.

``expand_unguarded`` is a control: as long as the high watermark follows from the ISR, the follower that joins too early
just holds it back. With a stored high watermark, as Kafka's is, it breaks ``committed_stays_replicated``.
"""

# -- log --

LOG = {
    "log": LogRules(),
    "epoch_cache_not_truncated": LogRules(epoch_cache_truncation=EpochCacheEnd.NEVER),
    "epoch_cache_truncated_with_records": LogRules(epoch_cache_truncation=EpochCacheEnd.IF_RECORDS_GO),
    "epoch_cache_start_dropped": LogRules(epoch_cache_start=EpochCacheStart.DROP),
    "epoch_cache_start_kept": LogRules(epoch_cache_start=EpochCacheStart.KEEP),
    "epoch_cache_append_only": LogRules(epoch_assignment=EpochAssignment.APPEND_ONLY),
    "epoch_cached_at_first_record": LogRules(epoch_begin=EpochBegin.AT_FIRST_RECORD),
    "epoch_cache_from_checkpoint": LogRules(epoch_cache_recovery=EpochCacheRecovery.CHECKPOINT),
    "epoch_end_undefined_before_first": LogRules(epoch_end_lookup=EpochEndLookup.FLOOR_EPOCH_OR_NOTHING),
    "epoch_end_of_requested_epoch": LogRules(epoch_end_lookup=EpochEndLookup.REQUESTED_EPOCH),
    "epoch_end_under_current_epoch": LogRules(epoch_end_lookup=EpochEndLookup.CURRENT_EPOCH),
    "read_from_first_segment": LogRules(read_check=ReadCheck.FIRST_SEGMENT),
}
"""The presets of the ``log`` machine by name; ``log`` is its right rules, each of the others takes one of them away."""

# -- releases --


@frozen
class Release:
    """What Kafka did from a release on, until the next one in the table, in terms of the ``replication`` machine."""

    version: str
    preset: str
    evidence: tuple[str, ...]
    """KIPs, issues, and the classes and methods in whose sources it was read."""
    beyond: str
    """What the release does and the preset does not say; what an earlier entry names stays true unless a later one ends it."""

    @property
    def rules(self) -> ReplicationRules:
        """The rules that the preset names."""
        return REPLICATION[self.preset]


RELEASES = (
    Release(
        version="0.8",
        preset="truncate_to_high_watermark",
        evidence=("Partition.makeFollower (0.8.0)", "ReplicaManager.makeFollowers (0.8.2–0.10.2)"),
        beyond="From 0.8.2 on a broker that is told of the leader it already follows keeps its log, however many epochs it missed. From "
        "0.10.2 on the high watermark also waits for replicas outside the ISR that were caught up lately.",
    ),
    Release(
        version="0.11.0",
        preset="kip_101_clamped",
        evidence=("KIP-101", "KAFKA-1211", "ReplicaFetcherThread.maybeTruncate", "LeaderEpochFileCache.endOffsetFor"),
        beyond="A leader asked about an epoch before its first one answers that it does not know, and the follower falls back to its high "
        "watermark; here it gets the start of that first epoch.",
    ),
    Release(
        version="2.0.0",
        preset="kip_279",
        evidence=("KIP-279", "KAFKA-6361", "AbstractFetcherThread.getOffsetTruncationState"),
        beyond="A leader that has not written in its epoch yet does not know it, so that a follower whose last record is of a later epoch "
        "than the leader's falls back to its high watermark; here both logs are simply compared.",
    ),
    Release(
        version="2.0.1",
        preset="kip_279_follower_rule",
        evidence=("KAFKA-7128", "Partition.maybeExpandIsr", "KAFKA-7164", "Partition.makeFollower", "KAFKA-7415", "Partition.makeLeader"),
        beyond="A broker that is told of the leader it already follows truncates only if it missed an epoch in between.",
    ),
    Release(
        version="2.1",
        preset="kip_320_follower_rule",
        evidence=(
            "KIP-320",
            "KAFKA-7395",
            "Partition.getLocalReplica",
            "AbstractFetcherThread.truncateToEpochEndOffsets",
            "Partition.makeFollower",
        ),
        beyond="A follower that is fenced waits and asks again. What a leader noted of its followers survives its own re-election, where "
        "here it is compared with the follower itself under the new epoch.",
    ),
    Release(
        version="2.7",
        preset="kip_320_follower_rule",
        evidence=("KIP-497", "Partition.expandIsrWithAlterIsr", "Partition.shrinkIsrWithAlterIsr"),
        beyond="From inter.broker.protocol.version 2.7 on the controller decides ISR changes, and the leader waits for its answer; here "
        "the quorum changes at once. The machine async_isr says what happens in between.",
    ),
    Release(
        version="2.8",
        preset="kip_320_follower_rule",
        evidence=("KIP-595", "KAFKA-10554", "AbstractFetcherThread.truncateOnFetchResponse"),
        beyond="A follower enters the new epoch with its old log and truncates when a fetch in that epoch answers with a diverging epoch "
        "(leaders answer so from 2.7 on); here it enters the epoch and truncates in one step.",
    ),
    Release(
        version="3.3",
        preset="kip_320_follower_rule",
        evidence=("KIP-841", "Partition.isReplicaIsrEligible", "PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded"),
        beyond="Under KRaft each ISR shrink begins a new leader epoch (until 3.6, KAFKA-15021). A follower that is fenced or shuts down "
        "may not join the ISR.",
    ),
    Release(
        version="3.5",
        preset="kip_320_follower_rule",
        evidence=("KIP-903", "Partition.isBrokerEpochIsrEligible"),
        beyond="A follower may join the ISR only in the life of its broker in which it fetched.",
    ),
    Release(
        version="3.7",
        preset="kip_320_follower_rule",
        evidence=("KAFKA-15583", "Partition.maybeIncrementLeaderHW"),
        beyond="The high watermark stands still while the ISR is smaller than min.insync.replicas.",
    ),
    Release(
        version="4.0",
        preset="kip_320_follower_rule",
        evidence=("KIP-966", "PartitionChangeBuilder.electAnyLeader", "PartitionChangeBuilder.maybePopulateTargetElr"),
        beyond="ZooKeeper is gone. With eligible.leader.replicas.version=1 (the default of new clusters from 4.1 on) the ISR may become "
        "empty, and the next leader then comes from the eligible leader replicas. Read up to 4.3.",
    ),
)
"""What Kafka did, release by release, oldest first; nothing of this family is known to have changed between two entries."""


def release_of(version: str) -> Release:
    """Return the entry that covers a version of Kafka, such as ``2.4.1``; raises ``ValueError`` before the first one."""
    numbers = _numbers(version)
    covering = [release for release in RELEASES if _numbers(release.version) <= numbers]
    if not covering:
        raise ValueError(f"no rules are known for Kafka {version}: the table of releases begins with {RELEASES[0].version}")
    return covering[-1]


def _numbers(version: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version.split("."))
    except ValueError:
        raise ValueError(f"not a version of Kafka: {version!r}; write numbers with dots between them, such as 2.4.1") from None
