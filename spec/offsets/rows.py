# SPDX-License-Identifier: Apache-2.0
"""Rules of committed offsets, and what breaks without each."""

from __future__ import annotations

from hwmark.model.offsets.state import Bounds, Config, Protocol
from hwmark.spec.row import Row

CONSUMER = Config(group_protocol=Protocol.CONSUMER)
SMALL = Bounds(members=2, commits=1, failovers=1)

ALONE = Bounds(members=1, max_generation=1, commits=1, retentions=1)
ALONE_TWICE = Bounds(members=1, max_generation=2, commits=1, retentions=1)
LATE = Bounds(members=1, max_generation=2, commits=1)
MIXED = Bounds(members=1, max_generation=1, commits=1, transactional_commits=1)
ZOMBIE = Bounds(members=2, max_generation=2, commits=2)
ZOMBIE_TRANSACTION = Bounds(members=2, max_generation=2, commits=0, transactional_commits=1)
FAILOVER = Bounds(members=1, max_generation=2, commits=1, failovers=1)

ROWS = (
    Row(
        id="no_expiry_in_an_active_group",
        rule="expiry",
        statement="Committed offsets do not expire while the group has members that subscribe to the topic; else an idle partition is read "
        "from anew.",
        sources=("O01", "S9", "KIP-211", "KAFKA-4682"),
        machine="offsets",
        rules_off="expiry_in_active_group",
        rules_on="offsets",
        bounds=ALONE,
        breaks={"committed_offset_lives": 8},
        trace="expiry_in_active_group",
    ),
    Row(
        id="retention_counts_from_empty",
        rule="expiry",
        statement="The retention period of an offset begins when its group becomes empty; else a group that had nothing to commit for long "
        "loses its place as soon as its last member leaves. Groups of the consumer protocol still count from the last commit.",
        sources=("O01", "S9", "KIP-211", "KIP-848"),
        machine="offsets",
        rules_off="expiry_from_last_commit",
        rules_on="offsets",
        bounds=ALONE_TWICE,
        config=CONSUMER,
        breaks={"retention_counts_from_empty": 8},
        trace="expiry_from_last_commit",
    ),
    Row(
        id="commit_order_is_log_order",
        rule="transactional_order",
        statement="Of two commits the one later in the log holds, whenever its transaction ends; else memory and the compacted log "
        "disagree after a failover.",
        sources=("O04", "S9", "KAFKA-5247"),
        machine="offsets",
        rules_off="marker_order",
        rules_on="offsets",
        bounds=MIXED,
        breaks={"coordinator_state_is_replay": 10, "committed_never_goes_back": 10},
        trace="marker_order",
    ),
    Row(
        id="unknown_group_refuses_generations",
        rule="unknown_group",
        statement="A commit with a generation needs a member of that generation; else a member of a former life of the group sets the "
        "offsets with which the next one begins.",
        sources=("O06", "S9", "KAFKA-2596"),
        machine="offsets",
        rules_off="unknown_group_stored",
        rules_on="offsets",
        bounds=LATE,
        breaks={"commits_are_fenced": 9},
        trace="unknown_group_stored",
    ),
    Row(
        id="commit_generation_check",
        rule="commit_check",
        statement="A member of a classic group commits only under the current generation; else one that does not know yet that it lost the "
        "partition overwrites the offset of the new owner.",
        sources=("S9", "O06"),
        machine="offsets",
        rules_off="generation_unchecked",
        rules_on="offsets",
        bounds=ZOMBIE,
        breaks={"commits_are_fenced": 9, "owner_is_not_behind": 11, "committed_never_goes_back": 13},
        trace="generation_unchecked",
        quick=False,
    ),
    Row(
        id="commit_epoch_check",
        rule="commit_check",
        statement="A member of a consumer group commits only under an epoch since the partition was assigned to it; else a commit that it "
        "sent before it gave the partition up arrives when another reads there.",
        sources=("S9", "KIP-848", "KIP-1251"),
        machine="offsets",
        rules_off="generation_unchecked",
        rules_on="offsets",
        bounds=ZOMBIE,
        config=CONSUMER,
        breaks={"commits_are_fenced": 7, "owner_is_not_behind": 10, "committed_never_goes_back": 12},
        trace="epoch_unchecked",
    ),
    Row(
        id="commit_under_an_earlier_epoch",
        rule="commit_check",
        statement="Whether a member of a consumer group may still commit under an earlier epoch of the same assignment does not matter for "
        "safety: it spares a healthy member whose heartbeat was answered late from being refused.",
        sources=("S9", "KIP-1251"),
        machine="offsets",
        rules_off="epoch_exact",
        rules_on="offsets",
        bounds=ZOMBIE,
        config=CONSUMER,
        control=True,
    ),
    Row(
        id="transactional_commit_names_its_member",
        rule="transactional_identity",
        statement="A transactional commit names its member and generation; else a member that lost the partition commits behind the back "
        "of the new owner, unless its producer is fenced.",
        sources=("S9", "KIP-447"),
        machine="offsets",
        rules_off="transactional_commit_unfenced",
        rules_on="offsets",
        bounds=ZOMBIE_TRANSACTION,
        breaks={"commits_are_fenced": 8, "owner_is_not_behind": 12},
        trace="transactional_commit_unfenced",
        quick=False,
    ),
    Row(
        id="first_position_waits_for_transactions",
        rule="offset_fetch",
        statement="Whoever takes a partition over waits until transactional commits there are decided; else it begins before the offset "
        "that the former owner's transaction commits, and processes those records twice.",
        sources=("S9", "KIP-447"),
        machine="offsets",
        rules_off="unstable_offset_fetch",
        rules_on="offsets",
        bounds=ZOMBIE_TRANSACTION,
        breaks={"owner_is_not_behind": 12},
        trace="unstable_offset_fetch",
        quick=False,
    ),
    Row(
        id="no_answers_while_loading",
        rule="loading",
        statement="A new coordinator answers nobody before it has read its log; else a member hears that nothing is committed, and begins "
        "at the start.",
        sources=("S9",),
        machine="offsets",
        rules_off="served_while_loading",
        rules_on="offsets",
        bounds=FAILOVER,
        breaks={"first_position_is_committed": 13, "owner_is_not_behind": 14},
        trace="served_while_loading",
    ),
)
"""Each rule of the machine, taken away."""
