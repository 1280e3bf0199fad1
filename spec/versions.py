# SPDX-License-Identifier: Apache-2.0
"""Named rule presets: the published variants of the replication protocol, each as a delta from the one before.

The first group is the history of the protocol; the second takes single rules of KIP-320 away again, each of which must
break something, or is declared to break nothing.
"""

from __future__ import annotations

from attrs import evolve

from hwmark.model.rules import (
    AsyncIsrRules,
    EpochStart,
    ExpandGuard,
    Fence,
    HighWatermarkOver,
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
KIP_279 = evolve(KIP_101, truncation=Truncation.LAST_COMMON_RECORD)
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
    "kip_279": KIP_279,
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
