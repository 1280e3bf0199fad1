# SPDX-License-Identifier: Apache-2.0
"""What is promised of a group, where no check refuses a request; and what each API rests on."""

from __future__ import annotations

DONE: dict[tuple[str, str], tuple[str, str]] = {
    ("join_group", "member_id_required"): (
        "A member without an id is given one, with which it comes again (KIP-394).",
        "GroupMetadataManager.classicGroupJoinNewDynamicMember",
    ),
    ("join_group", "member_joins"): (
        "A new member begins a rebalance, which ends once all have joined: all are told the new generation, and the leader of all.",
        "GroupMetadataManager.addMemberThenRebalanceOrCompleteJoin",
    ),
    ("join_group", "member_rejoins"): (
        "A leader that comes again, or a member that has changed, begins a rebalance.",
        "GroupMetadataManager.classicGroupJoinExistingMember",
    ),
    ("join_group", "unchanged_member_stays"): (
        "A member that comes again as it was is told the present generation.",
        "GroupMetadataManager.classicGroupJoinExistingMember",
    ),
    ("join_group", "static_takeover"): (
        "A static member that comes again takes its place with a new id, in whatever state the group is.",
        "GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin",
    ),
    ("join_group", "static_member_keeps_its_place"): (
        "A static member that comes again to a stable group causes no rebalance.",
        "GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin",
    ),
    ("sync_group", "sync_waits"): (
        "A member waits for the assignments of the leader.",
        "GroupMetadataManager.classicGroupSyncToClassicGroup",
    ),
    ("sync_group", "leader_assigns"): (
        "The leader's assignments are given to all.",
        "GroupMetadataManager.classicGroupSyncToClassicGroup",
    ),
    ("sync_group", "assignment"): (
        "In a stable group a member is told the assignment that it has.",
        "GroupMetadataManager.classicGroupSyncToClassicGroup",
    ),
    ("await", "rebalance_ends"): (
        "Who waits for a generation or an assignment is told it, or that it will not come.",
        "GroupMetadataManager.completeClassicGroupJoin, propagateAssignment; ClassicGroup.replaceStaticMember",
    ),
    ("heartbeat", "heartbeat"): (
        "A member of the present generation is told that all is well, unless there is a rebalance.",
        "GroupMetadataManager.classicGroupHeartbeatToClassicGroup",
    ),
    ("leave_group", "leave"): (
        "A member that leaves is gone, and the others rebalance.",
        "GroupMetadataManager.classicGroupLeaveToClassicGroup",
    ),
    ("consumer_group_heartbeat", "member_joins"): (
        "A new member begins an epoch, and is told the partitions that are free for it.",
        "GroupMetadataManager.consumerGroupHeartbeat",
    ),
    ("consumer_group_heartbeat", "member_stays"): (
        "A member is brought nearer to its target: it gives up partitions first, and is given those that nobody has any more.",
        "CurrentAssignmentBuilder.build",
    ),
    ("consumer_group_heartbeat", "static_member_returns"): (
        "A static member that comes back has its partitions at once, and begins no epoch.",
        "GroupMetadataManager.getOrMaybeSubscribeStaticConsumerGroupMember",
    ),
    ("consumer_group_heartbeat", "static_member_leaves"): (
        "A static member that leaves to come back keeps its partitions.",
        "GroupMetadataManager.consumerGroupStaticMemberGroupLeave",
    ),
    ("consumer_group_heartbeat", "leave"): (
        "A member that leaves is gone, and its partitions are free.",
        "GroupMetadataManager.consumerGroupFenceMember",
    ),
    ("offset_commit", "commit"): (
        "A committed offset is kept; a commit by hand makes a group if there is none.",
        "OffsetMetadataManager.commitOffset",
    ),
    ("txn_offset_commit", "commit_in_transaction"): (
        "An offset that is committed in a transaction is told once that has committed, unless another was committed since (KAFKA-5247).",
        "OffsetMetadataManager.commitTransactionalOffset, replayEndTransactionMarker",
    ),
    ("offset_fetch", "never_committed"): (
        "Where no offset was committed there is none, and that is no error.",
        "OffsetMetadataManager.fetchOffsets",
    ),
    ("offset_fetch", "committed_offset"): (
        "The offset that was committed last is told, with its metadata.",
        "OffsetMetadataManager.fetchOffsets",
    ),
    ("offset_delete", "delete_offset"): (
        "Offsets of a topic to which nobody subscribes are deleted.",
        "OffsetMetadataManager.deleteOffsets",
    ),
    ("describe_groups", "describe"): (
        "The state of a group is told, its members are counted, and its protocol is told where it is stable.",
        "GroupMetadataManager.describeGroups",
    ),
    ("delete_groups", "delete_group"): (
        "A group without members is deleted with its offsets.",
        "GroupCoordinatorShard.deleteGroups",
    ),
    ("find_coordinator", "coordinator"): ("A group has a coordinator.", "KafkaApis.getCoordinator"),
}
"""What each rule says, and the class and method of Kafka 4.3.1 that has it, by API and name."""

REQUIREMENTS = {
    "join_group": ("S8", "S15", "K-345", "G01"),
    "sync_group": ("S8", "S15", "K-345"),
    "await": ("S8", "S15", "K-345"),
    "heartbeat": ("S8", "S15", "K-345"),
    "leave_group": ("S15", "K-345"),
    "consumer_group_heartbeat": ("S8", "S15", "K-848", "G07"),
    "offset_commit": ("S9", "K-848", "O06"),
    "txn_offset_commit": ("S9", "K-848", "K-890", "O04"),
    "offset_fetch": ("S9", "K-848"),
    "offset_delete": ("S9",),
    "describe_groups": ("S8",),
    "delete_groups": ("S9",),
    "find_coordinator": ("S8",),
}
"""By API."""
