# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about committed offsets teaches."""

from __future__ import annotations

from hwmark.spec.lesson import Lesson

from .rows import ALONE, ALONE_TWICE, CONSUMER, FAILOVER, LATE, MIXED, ZOMBIE, ZOMBIE_TRANSACTION

LESSONS = {
    "expiry_in_active_group": Lesson(
        preset="expiry_in_active_group",
        machine="offsets",
        bounds=ALONE,
        property="committed_offset_lives",
        note="A member commits its place in a partition into which nobody writes any more, and stays; after the retention period the "
        "offset is deleted, and the next time it starts it reads everything again or skips to the end. Offsets expired by the age of their "
        "commit alone, although the group was in use. KIP-211 ended it: while the group has members that subscribe to the topic, its "
        "offsets stay.",
        source="KIP-211; KAFKA-4682; apache/kafka#4896",
    ),
    "expiry_from_last_commit": Lesson(
        preset="expiry_from_last_commit",
        machine="offsets",
        bounds=ALONE_TWICE,
        config=CONSUMER,
        property="retention_counts_from_empty",
        note="A member has nothing new to commit for longer than the retention period, leaves to be restarted, and its offset is gone "
        "before it is back. The retention period counts from the last commit, not from when the group became empty. Classic groups count "
        "from then on since KIP-211; groups of the consumer protocol do not as of 4.3, and live by committing again now and then.",
        source="ConsumerGroup.offsetExpirationCondition; KIP-211; KIP-848",
    ),
    "marker_order": Lesson(
        preset="marker_order",
        machine="offsets",
        bounds=MIXED,
        property="coordinator_state_is_replay",
        note="An offset is committed in a transaction, a later one without, and then the transaction ends: the earlier offset comes back. "
        "The coordinator took the marker for the time of the commit, while compaction goes by the record and leaves the other one, so that "
        "after a failover the group has another offset than before. Since KAFKA-5247 the later record holds, in memory as in the log.",
        source="KAFKA-5247",
    ),
    "unknown_group_stored": Lesson(
        preset="unknown_group_stored",
        machine="offsets",
        bounds=LATE,
        property="commits_are_fenced",
        note="A member is taken out of its group without knowing it, the empty group is deleted, and then the member's commit arrives and "
        "is stored. As there was no such group, nobody could say that its generation was over, and the commit was taken for one from "
        "outside. Since KAFKA-2596 only who names no generation may commit without a group; everybody else is told that the group is gone.",
        source="KAFKA-2596",
    ),
    "generation_unchecked": Lesson(
        preset="generation_unchecked",
        machine="offsets",
        bounds=ZOMBIE,
        property="committed_never_goes_back",
        note="After a rebalance the former owner of a partition, still a member, goes on for a while, and its commit and that of the new "
        "owner overwrite each other. That somebody is a member does not say that the partition is still its own. A commit is refused "
        "unless it names the current generation: ILLEGAL_GENERATION tells the zombie to stop.",
        source="ClassicGroup.validateOffsetCommit",
    ),
    "epoch_unchecked": Lesson(
        preset="generation_unchecked",
        machine="offsets",
        bounds=ZOMBIE,
        config=CONSUMER,
        property="committed_never_goes_back",
        note="A member commits, gives the partition up before the request arrives, gets it again, and its own old commit arrives then, "
        "only to be undone by the next one. A member of the group it was all the time, but under another epoch. The coordinator refuses an "
        "epoch from before the assignment, and since KIP-1251 only such epochs: one that a late heartbeat has not raised yet still counts.",
        source="ConsumerGroup.validateOffsetCommit; KIP-1251",
    ),
    "transactional_commit_unfenced": Lesson(
        preset="transactional_commit_unfenced",
        machine="offsets",
        bounds=ZOMBIE_TRANSACTION,
        property="owner_is_not_behind",
        note="A former owner commits offsets with its producer's transaction after the new owner has begun to read: both process the same "
        "records, and both count. The commit names a producer and no member, so that a rebalance does not stop it; a producer for each "
        "partition had to be fenced instead. Since KIP-447 it names the member and its generation, and is refused.",
        source="KIP-447",
    ),
    "unstable_offset_fetch": Lesson(
        preset="unstable_offset_fetch",
        machine="offsets",
        bounds=ZOMBIE_TRANSACTION,
        property="owner_is_not_behind",
        note="Whoever gets a partition asks for its committed offset while the former owner's transaction is undecided, begins at the old "
        "one, and then the transaction commits what it is about to process again. The answer was right, but not for long. Since KIP-447 "
        "the coordinator answers UNSTABLE_OFFSET_COMMIT until the transaction is over.",
        source="KIP-447",
    ),
    "served_while_loading": Lesson(
        preset="served_while_loading",
        machine="offsets",
        bounds=FAILOVER,
        property="first_position_is_committed",
        note="The coordinator fails over just when a member asks for its offset, hears that there is none, and begins at the start of the "
        "log. The new coordinator had not read its log yet, and took what it did not know for what is not there. Kafka answers "
        "COORDINATOR_LOAD_IN_PROGRESS until everything is read, and the member asks again.",
        source="CoordinatorRuntime; COORDINATOR_LOAD_IN_PROGRESS",
    ),
}
"""Each lesson by the name of its trace."""
