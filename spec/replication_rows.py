# SPDX-License-Identifier: Apache-2.0
"""Rules of the replication of one partition, with an atomic quorum: KIP-101, KIP-279, KIP-320, and what each part of them is for."""

from __future__ import annotations

from hwmark.model.replication import Bounds

from .row import Row

TWO = Bounds(replicas=2, log_size=2, records=2, max_leader_epoch=2)
TWO_LONG = Bounds(replicas=2, log_size=3, records=3, max_leader_epoch=2)
TWO_LATE = Bounds(replicas=2, log_size=2, records=2, max_leader_epoch=3)
THREE_EARLY = Bounds(replicas=3, log_size=2, records=2, max_leader_epoch=1)
THREE = Bounds(replicas=3, log_size=2, records=2, max_leader_epoch=2)

ROWS = (
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
        statement="KIP-101 as Kafka 0.11 has it, where an answer above the follower's own end truncates nothing, lets logs part as its "
        "first model does; only an answer that names the epoch it is about ends that.",
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
        statement="The fences of KIP-320 do not replace the epoch start: a follower in the same epoch as its leader may still lack what "
        "was committed before that epoch.",
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
        statement="A follower that joins the ISR before it has reached the start of the leader's epoch may be elected next, and then a "
        "committed record is lost.",
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
        statement="The leader readmits a follower only in its own leader epoch, and only from the start of that epoch on; a log that is "
        "merely long enough may lack what was committed before.",
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
        trace="kip_279_unfenced",
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
        statement="A leader answers only fetches of its own epoch; else a broker takes over the high watermark of a later leader, then "
        "leads in an earlier epoch, and counts as committed what the ISR of that epoch never got.",
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
        statement="For joining the ISR it does not matter whether the leader's high watermark must have reached the leader's epoch, as "
        "first modelled, or only the follower that joins, as in Kafka.",
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
        statement="Fenced fetches do not make up for KIP-101's lookup: a leader that knows no larger epoch makes its follower fall back to "
        "the high watermark.",
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
        statement="A follower truncates nothing, and follows, if the answer lies above its own end. Taken literally, such an answer blocks "
        "it for good, and the replicas never get in sync again.",
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
        statement="A follower that is blocked by an answer above its own end brings the run to a stop: all that fairness demands was done, "
        "and the leader's records are never committed.",
        sources=("S7", "S13", "K-101"),
        machine="replication",
        rules_off="kip_320_blocking_lookup",
        rules_on="kip_320",
        bounds=TWO_LATE,
        breaks={"commits_at_last": 10},
        trace="blocking_lookup",
    ),
)
