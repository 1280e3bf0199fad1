# SPDX-License-Identifier: Apache-2.0
"""Named rules of the classic group protocol: the right ones, those of Kafka, and one rule taken away at a time."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.group_classic.rules import (
    Claims,
    CommitFence,
    InstanceFence,
    LateSync,
    MemberIdRequired,
    MissedGeneration,
    ProtocolChoice,
    Rules,
    StaticRejoin,
    StaticReplacement,
    StaticReturn,
    Transfer,
)

RIGHT = Rules()

PRESETS = {
    "group_classic": RIGHT,
    "kafka_3_5": evolve(RIGHT, static_return=StaticReturn.QUIET, late_sync=LateSync.ACCEPTED, missed_generation=MissedGeneration.REVOKES),
    "static_return_quiet": evolve(RIGHT, static_return=StaticReturn.QUIET),
    "late_sync_accepted": evolve(RIGHT, late_sync=LateSync.ACCEPTED),
    "missed_generation_revokes": evolve(RIGHT, missed_generation=MissedGeneration.REVOKES),
    "cooperative_one_phase": evolve(RIGHT, transfer=Transfer.AT_ONCE),
    "stale_owned_claims": evolve(RIGHT, claims=Claims.ALL),
    "newest_generation_claims_only": evolve(RIGHT, claims=Claims.NEWEST_GENERATION_ONLY),
    "eager_without_revoke": evolve(RIGHT, protocol_choice=ProtocolChoice.MOST_ADVANCED),
    "replace_only_in_stable": evolve(RIGHT, static_replacement=StaticReplacement.STABLE_ONLY),
    "static_rejoin_in_memory": evolve(RIGHT, static_rejoin=StaticRejoin.IN_MEMORY),
    "no_instance_fence": evolve(RIGHT, instance_fence=InstanceFence.INSTANCE_ID),
    "commits_of_any_generation": evolve(RIGHT, commit_fence=CommitFence.MEMBER),
    "commits_unfenced": evolve(RIGHT, commit_fence=CommitFence.NONE),
    "member_id_not_required": evolve(RIGHT, member_id_required=MemberIdRequired.NEVER),
}
"""The presets of the ``group_classic`` machine by name; ``group_classic`` is its right rules.

``kafka_3_5`` is what Kafka does from 3.5 on, 4.3 included. It differs from the right rules in two decisions, each of which
leaves partitions without an owner in a stable group of cooperative static members; ``member_id_not_required`` is a control.
"""
