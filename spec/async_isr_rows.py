# SPDX-License-Identifier: Apache-2.0
"""Rules of ISR changes by message: the precursor of AlterPartition (KIP-497)."""

from __future__ import annotations

from hwmark.model.async_isr import Bounds

from .row import Row

VERSIONS = Bounds(replicas=3, max_version=2, max_offset=1)

ROWS = (
    Row(
        id="maximal_isr_counts_proposed",
        rule="high_watermark_over",
        statement="While a proposal is in flight, whom it would add counts towards the high watermark too: the controller may have "
        "accepted it long before the leader knows.",
        sources=("S6", "K-497", "KIP-497"),
        machine="async_isr",
        rules_off="high_watermark_over_committed_isr",
        rules_on="async_isr",
        bounds=VERSIONS,
        breaks={"valid_high_watermark": 6},
        trace="high_watermark_over_committed_isr",
    ),
    Row(
        id="maximal_isr_counts_committed",
        rule="high_watermark_over",
        statement="While a proposal is in flight, whom it would drop still counts towards the high watermark: until the controller accepts "
        "it, a leader may be drawn from the old ISR.",
        sources=("S6", "K-497", "KIP-497"),
        machine="async_isr",
        rules_off="high_watermark_over_proposed_isr",
        rules_on="async_isr",
        bounds=VERSIONS,
        breaks={"valid_high_watermark": 3},
        trace="high_watermark_over_proposed_isr",
    ),
    Row(
        id="isr_compare_and_set",
        rule="version_check",
        statement="The controller refuses a proposal that started from another ISR than the current one; else it undoes a decision that "
        "the leader has not heard of.",
        sources=("S5", "K-497", "KIP-497"),
        machine="async_isr",
        rules_off="version_unchecked",
        rules_on="async_isr",
        bounds=VERSIONS,
        breaks={"valid_high_watermark": 6},
        trace="version_unchecked",
    ),
    Row(
        id="expand_guard",
        rule="expand_guard",
        statement="Whether a follower has reached the high watermark before it is proposed does not matter here: the high watermark is "
        "taken over the maximal ISR, and the follower that joins too early only holds it back.",
        sources=("S6", "K-497"),
        machine="async_isr",
        rules_off="expand_unguarded",
        rules_on="async_isr",
        bounds=VERSIONS,
        control=True,
    ),
)
