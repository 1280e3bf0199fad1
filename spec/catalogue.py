# SPDX-License-Identifier: Apache-2.0
"""The catalogue: each rule that matters, where it comes from, and what breaks without it.

Depths are steps of a shortest counterexample, and each row stands in a smallest scope that shows it. The depths of the
published variants are published too (with the state counts of their scopes); all others are pinned by our own engines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen, validators

from hwmark.model import async_isr, replication
from hwmark.model.machine import frozen_mapping

from .planned import PLANNED
from .requirements import CARRIED
from .requirements import PLANNED as AS_PLANNED


@frozen
class Row:
    """One rule: switched off it breaks these properties at these depths, switched on it breaks nothing, in these bounds.

    ``rules_off`` and ``rules_on`` are names of presets of the machine, and ``rule`` names the decisions in which they
    differ. A ``control`` breaks nothing either way. A row whose status is ``planned`` has no machine yet, and claims nothing.
    """

    id: str
    rule: str
    statement: str
    sources: tuple[str, ...]
    status: str = field(default=CARRIED, validator=validators.in_((CARRIED, AS_PLANNED)))
    machine: str | None = None
    rules_off: str | None = None
    rules_on: str | None = None
    bounds: Any = None
    breaks: Mapping[str, int] = field(factory=dict, converter=frozen_mapping, hash=False)
    trace: str | None = None
    control: bool = False
    symmetry: bool = False
    quick: bool = True
    """Whether the default suite proves it; ``catalogue --run`` proves all."""


TWO = replication.Bounds(replicas=2, log_size=2, records=2, max_leader_epoch=2)
TWO_LONG = replication.Bounds(replicas=2, log_size=3, records=3, max_leader_epoch=2)
TWO_LATE = replication.Bounds(replicas=2, log_size=2, records=2, max_leader_epoch=3)
THREE_EARLY = replication.Bounds(replicas=3, log_size=2, records=2, max_leader_epoch=1)
THREE = replication.Bounds(replicas=3, log_size=2, records=2, max_leader_epoch=2)
VERSIONS = async_isr.Bounds(replicas=3, max_version=2, max_offset=1)

REPLICATION = (
    Row(
        id="truncate_by_epoch",
        rule="truncation",
        statement="A new follower asks its leader how far their epochs agree. Its own high watermark comes a fetch late: cut down to it, "
        "a member of the ISR drops a committed record that it holds, and may lead without it.",
        sources=("S7", "S14", "K-101", "R01", "KIP-101"),
        machine="replication",
        rules_off="truncate_to_high_watermark",
        rules_on="kip_279",
        bounds=TWO,
        breaks={"weak_isr": 8, "strong_isr": 9, "leader_completeness": 11, "high_watermark_prefix": 14},
        trace="truncate_to_high_watermark",
    ),
    Row(
        id="truncate_to_shared_epoch",
        rule="truncation",
        statement="A new follower truncates to the end of the last epoch that both logs share. Where the leader never had the follower's "
        "last epoch, the start of its next larger one may lie above where the logs part, and they part for good.",
        sources=("S2", "K-279", "R03", "KIP-279", "KAFKA-6361"),
        machine="replication",
        rules_off="kip_101",
        rules_on="kip_279",
        bounds=TWO_LONG,
        breaks={"weak_isr": 11, "strong_isr": 11, "leader_completeness": 12, "high_watermark_prefix": 12, "epoch_lineage": 11},
        trace="kip_101_divergence",
    ),
    Row(
        id="truncate_to_shared_epoch_as_shipped",
        rule="truncation",
        statement="The same for KIP-101 as Kafka 0.11 has it, where an answer above the follower's own end truncates nothing.",
        sources=("K-279", "R03", "KIP-101", "KIP-279"),
        machine="replication",
        rules_off="kip_101_clamped",
        rules_on="kip_279",
        bounds=TWO_LONG,
        breaks={"weak_isr": 11, "strong_isr": 11, "leader_completeness": 12, "high_watermark_prefix": 12, "epoch_lineage": 11},
    ),
    Row(
        id="expand_from_epoch_start",
        rule="expand_epoch_start",
        statement="A follower joins the ISR once it has reached the start of the leader's epoch. A fresh leader's high watermark may be "
        "behind what its predecessor committed, and a follower that reached only that lacks a committed record.",
        sources=("S5", "K-320", "R06", "KAFKA-7128"),
        machine="replication",
        rules_off="kip_279",
        rules_on="kip_279_follower_rule",
        bounds=THREE_EARLY,
        breaks={"strong_isr": 11},
        symmetry=True,
    ),
    Row(
        id="expand_from_epoch_start_fenced",
        rule="expand_epoch_start",
        statement="The fences of KIP-320 do not replace it: also in one epoch with its leader, a follower may lack what was committed "
        "before.",
        sources=("S5", "K-320", "R06", "KIP-320"),
        machine="replication",
        rules_off="kip_320_expand_without_epoch_start",
        rules_on="kip_320",
        bounds=THREE_EARLY,
        breaks={"strong_isr": 11},
        trace="kip_279_isr_expansion",
        symmetry=True,
    ),
    Row(
        id="expand_from_epoch_start_loss",
        rule="expand_epoch_start",
        statement="With one more election the follower that joined too early leads, and the committed record is lost.",
        sources=("S14", "K-320", "R06", "KAFKA-7128"),
        machine="replication",
        rules_off="kip_320_expand_without_epoch_start",
        rules_on="kip_320",
        bounds=THREE,
        breaks={"weak_isr": 13, "strong_isr": 11, "leader_completeness": 13, "high_watermark_prefix": 17},
        trace="isr_expansion_loss",
        symmetry=True,
        quick=False,
    ),
    Row(
        id="expand_fenced",
        rule="expand_fence, expand_epoch_start",
        statement="The leader readmits a follower of its own epoch whose log has reached that epoch; a log that is long enough is not "
        "enough.",
        sources=("S5", "K-320", "KIP-320"),
        machine="replication",
        rules_off="kip_320_expand_unfenced",
        rules_on="kip_320",
        bounds=THREE_EARLY,
        breaks={"strong_isr": 11},
        symmetry=True,
    ),
    Row(
        id="leader_epoch_in_requests",
        rule="truncation_fence, fetch_fence, high_watermark_fence, shrink_fence, expand_fence",
        statement="Requests between replicas name the leader epoch, and are refused in any other. Without it (Kafka 2.0) a follower that "
        "is epochs behind its leader counts towards the high watermark, and then truncates on its way to the leader's epoch.",
        sources=("S5", "S6", "K-320", "KIP-320", "KAFKA-7395"),
        machine="replication",
        rules_off="kip_279_follower_rule",
        rules_on="kip_320_follower_rule",
        bounds=THREE,
        breaks={"weak_isr": 10, "strong_isr": 10},
        symmetry=True,
        quick=False,
    ),
    Row(
        id="leader_epoch_not_record_epoch",
        rule="truncation, truncation_fence, fetch_fence, high_watermark_fence, shrink_fence, expand_fence",
        statement="The epoch that fences a fetch is the follower's current one. That of its last record (the rejected first try at "
        "KIP-320) does not tell the leader that the follower still has older requests to handle, which make it truncate.",
        sources=("S5", "S6", "K-320", "KIP-320"),
        machine="replication",
        rules_off="kip_320_first_try",
        rules_on="kip_320",
        bounds=THREE,
        breaks={"weak_isr": 11, "strong_isr": 12},
        trace="kip_320_first_try",
        symmetry=True,
        quick=False,
    ),
    Row(
        id="fetch_fenced",
        rule="fetch_fence",
        statement="A leader answers only fetches of its own epoch; else a broker that is to lead copies a record without the high "
        "watermark that its next leadership would need, and leads with an ISR that is out of date.",
        sources=("S6", "K-320", "KIP-320"),
        machine="replication",
        rules_off="kip_320_fetch_unfenced",
        rules_on="kip_320",
        bounds=THREE,
        breaks={"weak_isr": 12},
        trace="fetch_unfenced",
        symmetry=True,
        quick=False,
    ),
    Row(
        id="high_watermark_fenced",
        rule="high_watermark_fence",
        statement="A leader counts only what followers hold in its own epoch; else one of an earlier epoch counts, and truncates when it "
        "catches up with the epochs in between.",
        sources=("S5", "S6", "K-320", "KIP-320"),
        machine="replication",
        rules_off="kip_320_high_watermark_unfenced",
        rules_on="kip_320",
        bounds=THREE,
        breaks={"weak_isr": 12, "strong_isr": 12},
        trace="high_watermark_unfenced",
        symmetry=True,
        quick=False,
    ),
    Row(
        id="truncation_fenced",
        rule="truncation_fence",
        statement="A new follower truncates against a leader that is already in the same epoch; else the leader's log may still change, "
        "and both hold different records at the same offset.",
        sources=("S2", "S6", "K-320", "KIP-320"),
        machine="replication",
        rules_off="kip_320_truncation_unfenced",
        rules_on="kip_320",
        bounds=THREE,
        breaks={"weak_isr": 13, "strong_isr": 13},
        trace="truncation_unfenced",
        symmetry=True,
        quick=False,
    ),
    Row(
        id="shrink_fenced",
        rule="shrink_fence",
        statement="Whether the leader compares epochs before it drops a follower does not matter: fewer members never make a promise "
        "false.",
        sources=("S4", "K-320", "KIP-320"),
        machine="replication",
        rules_off="kip_320_shrink_unfenced",
        rules_on="kip_320",
        bounds=THREE,
        control=True,
        symmetry=True,
        quick=False,
    ),
    Row(
        id="epoch_start_of_whom",
        rule="expand_epoch_start",
        statement="It does not matter either whether the leader's high watermark must have reached its epoch, as first modelled, or just "
        "the follower that joins, as in Kafka.",
        sources=("S4", "K-320", "KAFKA-7128"),
        machine="replication",
        rules_off="kip_320_follower_rule",
        rules_on="kip_320",
        bounds=THREE_EARLY,
        control=True,
        symmetry=True,
    ),
    Row(
        id="truncate_by_epoch_fenced",
        rule="truncation",
        statement="Fenced fetches do not make up for truncating to the high watermark.",
        sources=("S6", "K-101", "R01"),
        machine="replication",
        rules_off="kip_320_truncate_to_high_watermark",
        rules_on="kip_320_truncation_unfenced",
        bounds=TWO,
        breaks={"weak_isr": 8, "strong_isr": 9},
    ),
    Row(
        id="truncate_to_shared_epoch_fenced",
        rule="truncation",
        statement="Nor for KIP-101's lookup: a leader that knows no larger epoch makes its follower fall back to the high watermark.",
        sources=("S6", "K-279", "R03"),
        machine="replication",
        rules_off="kip_320_kip_101_lookup",
        rules_on="kip_320_truncation_unfenced",
        bounds=TWO,
        breaks={"weak_isr": 11, "strong_isr": 11},
    ),
    Row(
        id="lookup_above_the_end",
        rule="truncation",
        statement="An end above its own truncates nothing and lets the follower follow. Taken literally it blocks the follower for good, "
        "and the replicas never get in sync again.",
        sources=("S4", "S13", "K-101"),
        machine="replication",
        rules_off="kip_320_blocking_lookup",
        rules_on="kip_320",
        bounds=TWO,
        breaks={"all_in_sync": 8},
    ),
    Row(
        id="lookup_above_the_end_stalls",
        rule="truncation",
        statement="The same as a run that stops for ever: all that fairness demands was done, and the leader's records are never "
        "committed.",
        sources=("S7", "S13", "K-101"),
        machine="replication",
        rules_off="kip_320_blocking_lookup",
        rules_on="kip_320",
        bounds=TWO_LATE,
        breaks={"commits_at_last": 10},
        trace="blocking_lookup",
    ),
)
"""One partition with an atomic quorum: KIP-101, KIP-279, KIP-320, and what each rule of them is for."""

ASYNC_ISR = (
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
        statement="Whom the proposal would drop still counts: until the controller accepts it, a leader may be drawn from the old ISR.",
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
        "the leader has not heard of, or acts on after it.",
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
"""ISR changes by message: the precursor of AlterPartition."""

ROWS: tuple[Row, ...] = (
    *REPLICATION,
    *ASYNC_ISR,
    *(Row(one.id, one.rule, one.statement, one.sources, AS_PLANNED) for one in PLANNED),
)
"""Every row, those with a machine first."""
