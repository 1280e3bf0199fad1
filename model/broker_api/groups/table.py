# SPDX-License-Identifier: Apache-2.0
"""All that a broker does for one group, by type of request."""

from __future__ import annotations

from hwmark.model.broker_api.part import Part

from . import requests as asked
from .adopting import adopt
from .checks import CHECKS
from .classic import attempted as tried
from .classic import awaited, beating, joining, leaving, syncing
from .consumer import attempted, beaten
from .exempting import (
    no_awaiting,
    no_beating,
    no_committing,
    no_joining,
    no_leaving,
    no_syncing,
    of_beating,
    of_fetching,
    of_joining,
    of_leaving,
    of_members,
)
from .offsets import committed, coordinator, deleted, described, fetched, removed
from .transactional import CHECKS as TRANSACTIONAL
from .transactional import attempted as asked_for
from .transactional import committed as committed_in_transaction
from .transactional import of_committing

GROUPS = Part(
    apis={
        asked.JoinGroup: "join_group",
        asked.SyncGroup: "sync_group",
        asked.Await: "await",
        asked.Heartbeat: "heartbeat",
        asked.LeaveGroup: "leave_group",
        asked.ConsumerGroupHeartbeat: "consumer_group_heartbeat",
        asked.OffsetCommit: "offset_commit",
        asked.TxnOffsetCommit: "txn_offset_commit",
        asked.OffsetFetch: "offset_fetch",
        asked.OffsetDelete: "offset_delete",
        asked.DescribeGroup: "describe_groups",
        asked.DeleteGroup: "delete_groups",
        asked.FindCoordinator: "find_coordinator",
    },
    checks={**CHECKS, asked.TxnOffsetCommit: TRANSACTIONAL},
    answers={
        asked.JoinGroup: joining,
        asked.SyncGroup: syncing,
        asked.Await: awaited,
        asked.Heartbeat: beating,
        asked.LeaveGroup: leaving,
        asked.ConsumerGroupHeartbeat: beaten,
        asked.OffsetCommit: committed,
        asked.TxnOffsetCommit: committed_in_transaction,
        asked.OffsetFetch: fetched,
        asked.OffsetDelete: deleted,
        asked.DescribeGroup: described,
        asked.DeleteGroup: removed,
        asked.FindCoordinator: coordinator,
    },
    types={
        asked.JoinGroup: asked.Joined,
        asked.SyncGroup: asked.Synced,
        asked.Await: asked.Heard,
        asked.Heartbeat: asked.Answered,
        asked.LeaveGroup: asked.Answered,
        asked.ConsumerGroupHeartbeat: asked.HeartbeatAnswered,
        asked.OffsetCommit: asked.Answered,
        asked.TxnOffsetCommit: asked.Answered,
        asked.OffsetFetch: asked.OffsetFetched,
        asked.OffsetDelete: asked.Answered,
        asked.DescribeGroup: asked.Described,
        asked.DeleteGroup: asked.Answered,
        asked.FindCoordinator: asked.Answered,
    },
    effects=(
        "member_id_required",
        "unchanged_member_stays",
        "static_takeover",
        "static_member_keeps_its_place",
        "all_join",
        "waiting_syncs_are_told",
        "leader_assigns",
        "leaving_rebalances",
        "begins_anew_at_any_epoch",
        "told_only_when_changed",
        "revoked_before_assigned",
        "one_owner",
        "own_partition_comes_back",
        "commit_makes_a_group",
        "metadata_is_kept",
        "offset_is_kept",
        "offset_is_deleted",
        "protocol_of_stable_groups",
        "offsets_go_with_the_group",
        "commit_adds_offsets",
        "offset_is_pending",
        "commit_shows_offsets",
        "abort_drops_offsets",
        "newer_offset_stays",
        "deletion_is_of_pending_too",
    ),
    adopt=adopt,
    exempt={
        asked.JoinGroup: of_joining,
        asked.LeaveGroup: of_leaving,
        asked.ConsumerGroupHeartbeat: of_beating,
        asked.OffsetCommit: of_members,
        asked.TxnOffsetCommit: of_committing,
        asked.OffsetFetch: of_fetching,
    },
    attempted={asked.JoinGroup: tried, asked.ConsumerGroupHeartbeat: attempted, asked.TxnOffsetCommit: asked_for},
    unasked={
        asked.JoinGroup: no_joining,
        asked.SyncGroup: no_syncing,
        asked.Await: no_awaiting,
        asked.LeaveGroup: no_leaving,
        asked.OffsetCommit: no_committing,
        asked.TxnOffsetCommit: no_committing,
        asked.ConsumerGroupHeartbeat: no_beating,
    },
)
"""A group, as part of a broker."""
