# SPDX-License-Identifier: Apache-2.0
"""What each shipped counterexample of the partition as Kafka runs it teaches."""

from __future__ import annotations

from hwmark.spec.lesson import Lesson

from .rows import ROWS

SIDE = {row.trace: row for row in ROWS if row.trace is not None}
"""The row that each trace belongs to."""


def lesson(trace: str, property_: str, note: str, source: str) -> Lesson:
    """Return a counterexample of a row, on the side where its rule is switched off."""
    row = SIDE[trace]
    return Lesson(
        preset=str(row.rules_off),
        machine="partition",
        config=row.config if row.config_off is None else row.config_off,
        bounds=row.bounds if row.bounds_off is None else row.bounds_off,
        property=property_,
        note=note,
        source=source,
    )


LESSONS = {
    "partition_registration_unmatched": lesson(
        "partition_registration_unmatched",
        "candidates_hold_committed",
        "A broker stops cleanly, starts, registers, and loses its log in a crash before it hears that it is registered; its next life "
        "takes that late answer for its own and runs. The controller still holds the stop for a clean one, and the broker for eligible."
        " In Kafka an answer comes on the connection of the process that asked, and dies with it.",
        "KIP-966; BrokerLifecycleManager",
    ),
    "partition_shutdown_trusted": lesson(
        "partition_shutdown_trusted",
        "candidates_hold_committed",
        "A member of the ISR crashes, loses a committed record, registers again, and is eligible to lead all the same. Whoever "
        "registers without the broker epoch of a clean shutdown may have lost anything. KIP-966 ended it: such a broker leaves the ISR "
        "and the ELR as it registers.",
        "KIP-966; ReplicationControlManager.handleBrokerShutdown",
    ),
    "partition_incarnation_unchecked": lesson(
        "partition_incarnation_unchecked",
        "candidates_hold_committed",
        "A follower fetches up to the end, crashes, loses its log, and is back before the leader handles that fetch; the leader "
        "proposes it for the ISR, and the controller agrees. A replica id does not tell in which of its lives the broker had the "
        "records. KIP-903 ended it: fetch and proposal carry the broker epoch, and the controller refuses one that is not the "
        "registered one.",
        "KIP-903; KAFKA-14617; apache/kafka#13489",
    ),
    "partition_fenced_admitted": lesson(
        "partition_fenced_admitted",
        "isr_is_active",
        "A follower is fenced just after it fetched, the leader learns of the smaller ISR, handles that fetch, and proposes the "
        "follower again. The controller accepts a dead broker into the ISR, on which commits and elections then wait. KIP-841 ended it:"
        " the controller refuses whoever is fenced or shutting down.",
        "KIP-841; KAFKA-13916; apache/kafka#12181",
    ),
    "partition_epoch_unchecked": lesson(
        "partition_epoch_unchecked",
        "candidates_hold_committed",
        "A proposal is handled twice; in between the follower is fenced, the leader learns of that, and counts on itself alone, when "
        "the second copy takes the follower into the ISR again. The leader epoch is the same all the time, only the partition epoch has"
        " moved on. KIP-497 compares it: a proposal made under another one is refused.",
        "KIP-497; ReplicationControlManager.validateAlterPartitionData",
    ),
    "partition_metadata_applied_again": lesson(
        "partition_metadata_applied_again",
        "candidates_hold_committed",
        "A leader drops a lagging follower, hears from the controller that this is done, and proposes the follower again as it has "
        "caught up; then the metadata record of the drop arrives, and the leader forgets its proposal, which the controller has "
        "accepted. The record says what the leader knew already, under the partition epoch that it knew, but is applied as news, and "
        "whom it proposed no longer holds the high watermark back. Such metadata must be skipped; Kafka's source applies them up to "
        "4.3.1.",
        "KAFKA-13790; apache/kafka#12085; Partition.makeLeader of 4.3.1",
    ),
    "partition_elected_again_remembers": lesson(
        "partition_elected_again_remembers",
        "acknowledged_survives",
        "A follower has fetched a record from its leader, another broker is elected, the follower truncates the record to agree with "
        "that one, which crashes, and the first leader, which hears of both elections at once, counts the follower as far as it was, "
        "acknowledges the record, and crashes: the follower is elected without it. It has never stopped believing that it leads, so it "
        "keeps what it knew of its followers. A leader that forgets it with an epoch that it missed waits until they have fetched anew.",
        "Partition.makeLeader of 4.3.1",
    ),
    "partition_refusal_ends_there": lesson(
        "partition_refusal_ends_there",
        "commits_at_last",
        "A follower dies, the leader handles its last fetch and proposes it, and a producer's record waits for the follower that is now"
        " counted on; the controller refuses, and the leader takes the proposal back. Nothing holds the high watermark back any more, "
        "but nothing makes the leader look again before the next append or fetch either. It should look when it takes the proposal "
        "back.",
        "Partition.handleAlterPartitionError of 4.3.1",
    ),
    "partition_late_copies_handled": lesson(
        "partition_late_copies_handled",
        "candidates_hold_committed",
        "A proposal is refused as the follower is fenced, and the leader goes back to the last ISR that was decided; then the follower "
        "is unfenced, and a second copy of the proposal is accepted. The partition epoch has not changed, so nothing tells the copy "
        "from a new proposal. Kafka goes by its connections: what was sent before is not handled after the answer.",
        "Partition.handleAlterPartitionError",
    ),
    "partition_waiting_at_the_end": lesson(
        "partition_waiting_at_the_end",
        "kept_up_is_proposed",
        "A follower outside of the ISR has at each fetch what the leader had at the fetch before, but a record has come since; as the "
        "leader is alone in the ISR, that record is committed at once, and the follower is always one short of the high watermark. It "
        "would stay outside for as long as records come. KAFKA-4485 ended it: such a follower counts as caught up, and the high "
        "watermark waits for it.",
        "KAFKA-4485; apache/kafka#2208; Partition.maybeIncrementLeaderHW",
    ),
    "partition_given_up_ends_there": lesson(
        "partition_given_up_ends_there",
        "commits_at_last",
        "A follower outside of the ISR keeps up and dies, and the next record is not committed, as the high watermark waits for who has"
        " lately caught up. Then the time is over for which it counts as caught up; but nothing makes the leader look again before the "
        "next append or fetch. It should look when the time is over.",
        "Partition.maybeIncrementLeaderHW of 4.3.1",
    ),
    "partition_former_replica_eligible": lesson(
        "partition_former_replica_eligible",
        "acknowledged_is_never_lost",
        "The leader, alone in the ISR, is replaced by another broker, stays eligible although it is no replica any more, and deletes its"
        " log; then it replaces the other replica, the new leader crashes, and it is elected without a single record. Who left the ISR "
        "is taken for complete, whatever became of its replica. The ELR should be restricted to the replicas; Kafka's controller does "
        "not do that up to 4.3.1.",
        "KIP-966; PartitionChangeBuilder.maybePopulateTargetElr of 4.3.1",
    ),
    "partition_expand_unguarded": lesson(
        "partition_expand_unguarded",
        "candidates_hold_committed",
        "A follower that was dropped fetches from the start of the log, and is proposed for the ISR at once, although a record that it "
        "lacks is committed. That a follower fetches says nothing about what it has. It must have reached the high watermark and the "
        "start of the leader's epoch.",
        "Partition.isFollowerInSync",
    ),
    "partition_expand_below_high_watermark": lesson(
        "partition_expand_below_high_watermark",
        "candidates_hold_committed",
        "A follower that was dropped is at the start of the leader's epoch, and a record was committed in that epoch without it; it "
        "joins the ISR and lacks that record. The start of the epoch bounds what earlier leaders committed, not what this one did. The "
        "high watermark does.",
        "Partition.isFollowerInSync",
    ),
    "partition_expand_below_epoch_start": lesson(
        "partition_expand_below_epoch_start",
        "candidates_hold_committed",
        "The leader commits a record with a follower's help and is fenced; the follower leads, with a high watermark that is one fetch "
        "late, and a third broker with an empty log joins the ISR. It has reached the new leader's high watermark, but not the start of"
        " its epoch. KAFKA-7128 asks for both.",
        "KAFKA-7128; apache/kafka#5557",
    ),
    "partition_high_watermark_over_committed_isr": lesson(
        "partition_high_watermark_over_committed_isr",
        "candidates_hold_committed",
        "A leader proposes a follower, commits a record over the old ISR, and the controller, which has accepted, has a member of the "
        "ISR that lacks it. Whom a leader proposes may be a member before it hears so. KIP-497 counts the maximal ISR.",
        "KIP-497",
    ),
    "partition_high_watermark_over_proposed_isr": lesson(
        "partition_high_watermark_over_proposed_isr",
        "candidates_hold_committed",
        "A leader proposes to drop a follower and commits a record without it, before the controller has agreed. Until it has, the "
        "follower may be elected. KIP-497 counts the maximal ISR.",
        "KIP-497",
    ),
    "partition_high_watermark_below_min_isr": lesson(
        "partition_high_watermark_below_min_isr",
        "candidates_hold_committed",
        "The ISR is down to the leader, another replica is eligible since it holds all that was committed then, and the leader commits "
        "one more record by itself. Who left the ISR is complete only as long as nothing is committed without it. KIP-966 lets the high"
        " watermark stand still below min.insync.replicas.",
        "KIP-966; KAFKA-15583; apache/kafka#14594",
    ),
    "partition_fetch_unfenced": lesson(
        "partition_fetch_unfenced",
        "all_in_sync",
        "A follower that has left the leader epoch of its fetch is served all the same, and takes for current what is not; in the end "
        "the two wait for each other. A leader that does not compare epochs does not make a follower learn the newer one. KIP-320 "
        "fences fetches by the leader epoch.",
        "KIP-320",
    ),
    "partition_truncate_to_high_watermark": lesson(
        "partition_truncate_to_high_watermark",
        "leader_completeness",
        "A follower holds a committed record, has not heard that it is committed, learns of a new leader epoch, and truncates it. Its "
        "high watermark comes one fetch late. KIP-101 ended it: followers truncate by leader epochs.",
        "KIP-101; apache/kafka#2808",
    ),
    "partition_truncate_to_end": lesson(
        "partition_truncate_to_end",
        "high_watermark_prefix",
        "Leadership moves to and fro, each of two brokers appends a record of its own at the same offset, and the one that follows at "
        "last asks about an epoch that the leader never had; the answer, an end without an epoch, happens to be where its log ends. So "
        "it truncates nothing. KIP-279 names the epoch in the answer.",
        "KIP-279; KAFKA-6361; apache/kafka#4882",
    ),
    "partition_high_watermark_before_truncation": lesson(
        "partition_high_watermark_before_truncation",
        "high_watermark_prefix",
        "A deposed leader fetches, is told to truncate, and first takes over the high watermark that comes with the answer: for a "
        "moment its dead record counts as committed there. The high watermark is about the leader's log, which the follower does not "
        "have yet. KAFKA-14704 ended it: it is ignored until the logs agree.",
        "KAFKA-14704; apache/kafka#13230",
    ),
    "partition_reads_from_followers": lesson(
        "partition_reads_from_followers",
        "reads_are_committed",
        "A consumer that may read from any replica reads a record from a deposed leader, which is about to truncate it. The follower "
        "has taken over a high watermark that is not about the log that it holds. Truncating first ends it.",
        "KIP-392; KAFKA-14704; apache/kafka#13230",
    ),
    "partition_fetcher_not_restarted": lesson(
        "partition_fetcher_not_restarted",
        "all_in_sync",
        "The leader is elected again, its follower learns of the new leader epoch, and goes on fetching in the old one, in which it is "
        "refused for ever. The leader is the same broker, but not the same leadership. Fetchers start anew with every leader epoch.",
        "ReplicaManager.applyLocalFollowersDelta",
    ),
    "partition_answer_to_any_offset": lesson(
        "partition_answer_to_any_offset",
        "epoch_lineage",
        "A follower fetches its second record, crashes, loses the first, and takes the answer in when it is back: the second record "
        "stands at the first offset. The answer was right when it was sent. A follower takes in only what follows the end of its log.",
        "AbstractFetcherThread.processFetchRequest",
    ),
    "partition_retention_beyond_high_watermark": lesson(
        "partition_retention_beyond_high_watermark",
        "high_watermark_range",
        "Retention removes a record that is not committed yet, and the log starts above the high watermark. Consumers have no valid "
        "offset then. KAFKA-5634 ended it: only what lies below the high watermark may go.",
        "KAFKA-5634",
    ),
    "partition_latest_offset_at_once": lesson(
        "partition_latest_offset_at_once",
        "latest_offset_grows",
        "A leader tells a client that the log ends at 1 and is fenced; the next one, whose high watermark is late, says 0. It holds the"
        " record, but does not know yet that it is committed. KIP-207 lets a fresh leader answer OFFSET_NOT_AVAILABLE until it knows.",
        "KIP-207; KAFKA-2334; apache/kafka#5991",
    ),
    "partition_undefined_epoch_end": lesson(
        "partition_undefined_epoch_end",
        "position_is_an_offset",
        "The only replica loses its log, and a consumer that had read from it asks where the epoch of its last record ends; the leader "
        "knows nothing and says so with -1, which the consumer takes for an offset. Undefined is not a number. KAFKA-9840 ended it: the"
        " reset policy decides.",
        "KAFKA-9840; apache/kafka#8486",
    ),
    "partition_commit_on_leader": lesson(
        "partition_commit_on_leader",
        "acknowledged_survives",
        "The leader commits and acknowledges a record by itself, is fenced, and the follower that is elected does not have it. Nobody "
        "waited for the follower, although it might lead next. Committing over the ISR waits for whoever may lead.",
        "KIP-101; Partition.maybeIncrementLeaderHW",
    ),
    "partition_commit_on_all_replicas": lesson(
        "partition_commit_on_all_replicas",
        "commits_at_last",
        "A follower crashes and stays away, the controller takes it out of the ISR, and still no record is committed. Waiting for all "
        "replicas means to wait for the dead. The ISR is the set of those worth waiting for.",
        "Partition.maybeIncrementLeaderHW",
    ),
    "partition_acks_leader": lesson(
        "partition_acks_leader",
        "acknowledged_survives",
        "With acks=1 the leader acknowledges a record that only it holds, crashes, and a follower is elected cleanly without the record. "
        "The producer was told what the leader knew, not what the ISR holds. With acks=all it is told what the ISR holds.",
        "ProducerConfig.ACKS_CONFIG",
    ),
    "partition_last_replica_standing": lesson(
        "partition_last_replica_standing",
        "acknowledged_is_never_lost",
        "The ISR is down to one of three replicas, which crashes, loses an acknowledged record, comes back, and is the only one that "
        "may lead; the others, which hold the record, follow it. Without eligible leader replicas the last member of the ISR is trusted"
        " whatever happened to it. KIP-966 remembers who left a small ISR complete, and elects one of them.",
        "KIP-966",
    ),
    "partition_as_many_lossy_crashes": lesson(
        "partition_as_many_lossy_crashes",
        "acknowledged_is_never_lost",
        "Both replicas that hold an acknowledged record lose it in crashes, one after the other. With min.insync.replicas 2 a record "
        "may be on two replicas alone. Eligible leader replicas help against fewer lossy crashes than that.",
        "KIP-966",
    ),
    "partition_unclean_election": lesson(
        "partition_unclean_election",
        "acknowledged_is_never_lost",
        "A follower is fenced, a record is committed and acknowledged without it, the leader is fenced too, and the follower, back "
        "first, is elected as unclean elections are allowed. It was not in the ISR, and lacks the record. A clean election waits for "
        "the other.",
        "TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG",
    ),
    "partition_longest_log": lesson(
        "partition_longest_log",
        "acknowledged_is_never_lost",
        "The leader crashes, of the two replicas that are left one holds the committed record of epoch 0 and the other a record of "
        "epoch 1 that was never committed, and the second is picked as its epoch is later. A later epoch says that its leader was "
        "elected later, not that it has what was committed. Only the ISR and the ELR say that.",
        "ocadaruma/kafka-spec, UncleanLeaderElectionSafety",
    ),
    "partition_leaves_the_published_machine": lesson(
        "partition_leaves_the_published_machine",
        "refines_replication",
        "The leader is elected again, and serves a fetch that its follower sent in the epoch before: the leader notes it, as if the "
        "follower were in the new epoch. Who is behind may yet hear of a leader in between and truncate what it is now counted for, so "
        "that the published machine, of which each step of the partition is to be some steps, lets the leader count only on followers "
        "of its own epoch. KIP-320 ended it: the fetch carries the leader epoch, and another one is refused.",
        "KIP-320; Partition.checkCurrentLeaderEpoch",
    ),
}
"""Every lesson, by the name of its trace."""
