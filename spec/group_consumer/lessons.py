# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about consumer groups teaches."""

from __future__ import annotations

from functools import partial

from hwmark.spec.lesson import Lesson

from .rows import ALONE, COMMITTED, LOST, LOST_ONCE, LOST_TWICE, RETURNS, ZOMBIE
from .scopes import UNDISTURBED

lesson = partial(Lesson, machine="group_consumer")

LESSONS = {
    "assign_without_wait_for_release": lesson(
        preset="assign_without_wait_for_release",
        bounds=UNDISTURBED,
        property="one_owner",
        note="A second member joins, the target gives it one of the two partitions of the first, and it gets that partition with its "
        "first heartbeat; the first member goes on consuming it, as it does not even know yet that it is no longer alone. The target says "
        "who is meant to have a partition, and not whether it is free. KIP-848 ended it: the coordinator keeps the epoch under which a "
        "partition is held, and gives it to nobody else before the holder has said that it gave it up.",
        source="KIP-848; CurrentAssignmentBuilder.computeNextAssignment; ConsumerGroup.currentPartitionEpoch",
    ),
    "bump_epoch_before_revoke": lesson(
        preset="bump_epoch_before_revoke",
        bounds=UNDISTURBED,
        property="valid_member_epoch",
        note="A second member joins, and with its next heartbeat the first one is both asked to give up a partition and moved on to the "
        "new epoch. Its epoch says that it has what the new target gives it, while it still consumes what is meant for another. KIP-848 "
        "ended it: a member stays in its epoch until it has given up everything that the next one takes from it.",
        source="KIP-848; CurrentAssignmentBuilder.computeNextAssignment",
    ),
    "partition_epoch_lost_on_regrant": lesson(
        preset="partition_epoch_lost_on_regrant",
        bounds=RETURNS,
        property="one_owner",
        note="A member is asked to give up a partition for another that joined; the other leaves, the partition is given back, and when "
        "somebody joins again, it goes there at once although nobody gave it up. As the member's record was replaced, first the epochs of "
        "its assigned partitions were noted, and then those of the partitions that it had been giving up were removed, the same one among "
        "them, so that it looked free. KAFKA-16147 ended it: all old epochs go before any new one is noted.",
        source="KAFKA-16147; apache/kafka#15212; ConsumerGroup.maybeUpdatePartitionEpoch (3.6.1)",
    ),
    "no_previous_epoch_tolerance": lesson(
        preset="no_previous_epoch_tolerance",
        bounds=LOST_ONCE,
        property="no_needless_fencing",
        note="A member is moved on to the next epoch, the answer that says so is lost, and with its retry, which still names the epoch "
        "before, it is fenced and has to drop everything. Seen from the coordinator the member came with a wrong epoch; but the member "
        "could not know any other. KIP-848 ended it: the previous epoch is accepted from a member that says what it owns, and owns "
        "nothing else than it is assigned.",
        source="KIP-848; GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid",
    ),
    "commit_epoch_unchecked": lesson(
        preset="commit_epoch_unchecked",
        bounds=ZOMBIE,
        property="commit_of_holder_stays",
        note="A member stands still until its session expires, another gets its partition, consumes and commits; then the first one goes "
        "on where it stood, and its commit replaces the later one. It has yet to hear that it is no member any more, and nobody looked "
        "who it was. KIP-848 ended it: a commit names the member and its epoch, and is refused from whoever is no member.",
        source="KIP-848; ConsumerGroup.validateOffsetCommit",
    ),
    "commit_of_current_epoch_alone": lesson(
        preset="commit_of_current_epoch_alone",
        bounds=COMMITTED,
        property="commits_of_owners_count",
        note="A second member joins, the first keeps its partition and is moved on to the next epoch, and before it hears of that its "
        "commit is refused, although nobody else ever had the partition. The coordinator compared the epoch of the commit with that of "
        "the member, which may be one ahead of what the member knows. KIP-1251 ended it in 4.3: an older epoch will do from that on in "
        "which the partition was assigned, while the member still has it.",
        source="KIP-1251; KAFKA-20066; ConsumerGroup.createAssignmentEpochValidator",
    ),
    "owned_alone_reported": lesson(
        preset="owned_alone_reported",
        bounds=LOST,
        property="one_owner",
        note="A member is given two partitions, and before it has taken them over a heartbeat is lost, so that the next one says "
        "everything: that it owns nothing. A second member has joined meanwhile; the coordinator takes one partition back without asking, "
        "as it is reported not to be owned, and gives it away, while the first member takes over both. The report was true when it was "
        "sent, and says nothing about what was given before and is yet to be taken over; Kafka 4.3.1 does this, and it ends if a member "
        "reports that as owned too.",
        source="ConsumerHeartbeatRequestManager.HeartbeatState.buildRequestData; CurrentAssignmentBuilder.computeNextAssignment (4.3.1)",
    ),
    "instance_taken_by_itself": lesson(
        preset="instance_taken_by_itself",
        bounds=ALONE,
        property="no_needless_fencing",
        note="A static member joins, the answer is lost, and when it asks again it is told that its instance id is in use, and fails for "
        "good. The coordinator looks whether the member of that instance id has left, and not whether it is the one that asks. Kafka "
        "4.3.1 does this; it ends if a member that is asked for by its own id is let in, as a dynamic one is.",
        source="GroupMetadataManager.throwIfInstanceIdIsUnreleased (4.3.1)",
    ),
    "retry_fenced": lesson(
        preset="kip_848",
        bounds=LOST_TWICE,
        property="no_fencing_of_retries",
        note="A member that waits for a partition is moved on to the next epoch, misses the answer and then the answer to its retry, and "
        "is fenced the third time. Its record was written anew at the retry, in the same epoch, which thereby became its previous epoch "
        "too. Kafka promises to tolerate one lost answer, and keeps that promise; it would tolerate any number if the previous epoch were "
        "the last one that differs, and a member in it might own what it has yet to give up.",
        source="ConsumerGroupMember.Builder.updateMemberEpoch; GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid (4.3.1)",
    ),
}
"""Every lesson of the machine."""
