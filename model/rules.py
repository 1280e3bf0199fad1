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
