# SPDX-License-Identifier: Apache-2.0
"""Named rules of the ``partition`` machine: the right ones, what Kafka 4.3 does, and each single rule switched off."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.partition.rules import (
    AnswerMatch,
    CaughtUp,
    Eligibility,
    ElrMembers,
    EpochBegin,
    ExpandGuard,
    ExpandOn,
    FetcherRestart,
    FetchFence,
    FollowerMemory,
    GivenUp,
    HighWatermarkMinimum,
    HighWatermarkOfDivergence,
    HighWatermarkOver,
    LateCopy,
    LatestOffset,
    MetadataAgain,
    PartitionRules,
    Refusal,
    RegistrationMatch,
    Retention,
    ShutdownDetection,
    Truncation,
    UncleanChoice,
    UndefinedEpochEnd,
    VersionCheck,
)

RIGHT = PartitionRules()
WAITING = evolve(RIGHT, caught_up=CaughtUp.KEEPING_UP)
KAFKA = evolve(
    RIGHT,
    metadata_again=MetadataAgain.APPLIED,
    follower_memory=FollowerMemory.KEPT,
    refusal=Refusal.ENDS_THERE,
    elr_members=ElrMembers.FORMER_REPLICAS,
)

PRESETS = {
    "partition": RIGHT,
    "kafka_4_3": KAFKA,
    "kafka_4_3_waiting": evolve(KAFKA, caught_up=CaughtUp.KEEPING_UP, given_up=GivenUp.ENDS_THERE),
    "waiting": WAITING,
    # who is who
    "registration_unmatched": evolve(RIGHT, registration_match=RegistrationMatch.ANY),
    "shutdown_trusted": evolve(RIGHT, shutdown_detection=ShutdownDetection.TRUSTED),
    "incarnation_unchecked": evolve(RIGHT, eligibility=Eligibility.ACTIVE),
    "fenced_admitted": evolve(RIGHT, eligibility=Eligibility.INCARNATION),
    # the ISR
    "partition_epoch_unchecked": evolve(RIGHT, version_check=VersionCheck.LEADER_EPOCH),
    "metadata_applied_again": evolve(RIGHT, metadata_again=MetadataAgain.APPLIED),
    "followers_remembered": evolve(RIGHT, follower_memory=FollowerMemory.KEPT),
    "refusal_ends_there": evolve(RIGHT, refusal=Refusal.ENDS_THERE),
    "late_copies_handled": evolve(RIGHT, late_copy=LateCopy.HANDLED),
    "expand_unguarded": evolve(RIGHT, expand_guard=ExpandGuard.NONE),
    "expand_below_epoch_start": evolve(RIGHT, expand_guard=ExpandGuard.HIGH_WATERMARK),
    "expand_below_high_watermark": evolve(RIGHT, expand_guard=ExpandGuard.EPOCH_START_ONLY),
    "expand_from_memory": evolve(RIGHT, expand_on=ExpandOn.MEMORY),
    "high_watermark_over_committed_isr": evolve(RIGHT, high_watermark_over=HighWatermarkOver.COMMITTED_ISR),
    "high_watermark_over_proposed_isr": evolve(RIGHT, high_watermark_over=HighWatermarkOver.PROPOSED_ISR),
    "commit_on_all_replicas": evolve(RIGHT, high_watermark_over=HighWatermarkOver.ALL_REPLICAS),
    "commit_on_leader": evolve(RIGHT, high_watermark_over=HighWatermarkOver.LEADER),
    "high_watermark_below_min_isr": evolve(RIGHT, high_watermark_minimum=HighWatermarkMinimum.ANY_ISR),
    # who has caught up
    "waiting_at_the_end": evolve(RIGHT, caught_up=CaughtUp.AT_THE_END),
    "waiting_applied_again": evolve(WAITING, metadata_again=MetadataAgain.APPLIED),
    "waiting_ends_there": evolve(WAITING, given_up=GivenUp.ENDS_THERE),
    # the ELR, and elections
    "former_replicas_eligible": evolve(RIGHT, elr_members=ElrMembers.FORMER_REPLICAS),
    "unclean_election_of_longest_log": evolve(RIGHT, unclean_choice=UncleanChoice.LONGEST_LOG),
    # fetching
    "fetch_unfenced": evolve(RIGHT, fetch_fence=FetchFence.NONE),
    "truncate_to_high_watermark": evolve(RIGHT, truncation=Truncation.HIGH_WATERMARK),
    "truncate_to_end": evolve(RIGHT, truncation=Truncation.END),
    "high_watermark_before_truncation": evolve(RIGHT, high_watermark_of_divergence=HighWatermarkOfDivergence.BEFORE_TRUNCATION),
    "fetcher_not_restarted": evolve(RIGHT, fetcher_restart=FetcherRestart.LEADER),
    "answer_of_any_epoch": evolve(RIGHT, answer_match=AnswerMatch.OFFSET),
    "answer_to_any_offset": evolve(RIGHT, answer_match=AnswerMatch.EPOCH),
    # the start of the log, and clients
    "retention_beyond_high_watermark": evolve(RIGHT, retention=Retention.LOG_END),
    "latest_offset_at_once": evolve(RIGHT, latest_offset=LatestOffset.ALWAYS),
    "epoch_known_from_first_record": evolve(RIGHT, epoch_begin=EpochBegin.AT_FIRST_RECORD),
    "undefined_epoch_end_is_an_offset": evolve(RIGHT, epoch_begin=EpochBegin.AT_FIRST_RECORD, undefined_epoch_end=UndefinedEpochEnd.OFFSET),
}
"""Every preset by name, the right one first."""
