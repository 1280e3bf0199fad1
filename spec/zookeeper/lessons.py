# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about a partition with ZooKeeper teaches."""

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
        machine="zookeeper",
        config=row.config if row.config_off is None else row.config_off,
        bounds=row.bounds if row.bounds_off is None else row.bounds_off,
        property=property_,
        note=note,
        source=source,
    )


LESSONS = {
    "zookeeper_isr_written_unconditionally": lesson(
        "zookeeper_isr_written_unconditionally",
        "leader_completeness",
        "The session of a leader expires, another broker is elected, and the old leader, which does not know that, drops its successor "
        "from the ISR by writing over its election. Nothing tells ZooKeeper that this writer has missed a decision. With the version of "
        "the znode as a condition the zombie's write is refused, and whoever was elected stays elected.",
        "ReplicationUtils.updateLeaderAndIsr",
    ),
    "zookeeper_decision_written_unconditionally": lesson(
        "zookeeper_decision_written_unconditionally",
        "leader_completeness",
        "A leader drops a follower, commits a record alone, and crashes; the controller, which still has the old ISR in mind, elects the "
        "follower that was dropped. Leaders change the ISR behind the controller's back, and are faster than the notification. The "
        "controller reads the znode before it decides, writes under the version that it has read, and decides anew if that is refused.",
        "PartitionStateMachine.doElectLeaderForPartitions",
    ),
    "zookeeper_controller_writes_unfenced": lesson(
        "zookeeper_controller_writes_unfenced",
        "all_in_sync",
        "A controller that was deposed has not heard of that, and writes another leader epoch to ZooKeeper; brokers have heard of its "
        "successor and refuse its request, and the successor never looks. The znode alone cannot tell who may decide, since its version "
        "was read just before. Since KAFKA-6082 each decision is written only under the current controller epoch.",
        "KAFKA-6082; apache/kafka#5101",
    ),
    "zookeeper_zombie_controller_reconnects": lesson(
        "zookeeper_zombie_controller_reconnects",
        "only_the_controller_elects",
        "The session of a controller expires, another is elected, and the old one, in a new session, goes on to handle what it sees as if "
        "it were still the controller. A new session works as well as the old one did. Since 1.1 a controller resigns before its client "
        "opens a new session, and since KAFKA-6082 ZooKeeper would refuse its decisions.",
        "KAFKA-5642; KafkaController.processExpire",
    ),
    "zookeeper_refused_isr_applied": lesson(
        "zookeeper_refused_isr_applied",
        "leader_completeness",
        "A zombie leader wants to drop its successor from the ISR, is refused, drops it for itself all the same, and commits a record "
        "alone. What ZooKeeper refuses has not happened, but the zombie acts on it. A leader goes on counting on everybody it knew, so "
        "that a zombie commits nothing.",
        "Partition.maybeUpdateIsrAndVersion",
    ),
    "zookeeper_refused_isr_skipped": lesson(
        "zookeeper_refused_isr_skipped",
        "leader_completeness",
        "A leader alone in its ISR admits a follower, ZooKeeper accepts, and the answer is lost; the leader's session expires, the "
        "follower is elected out of that ISR, and the old leader's second try is refused. Taking the refusal for the whole truth, it "
        "goes on alone, and commits records that the new leader does not have. Since KIP-497 a leader counts on whoever may be in the "
        "ISR until it is told what is.",
        "Partition.maybeUpdateIsrAndVersion 2.6.3; KIP-497",
    ),
    "zookeeper_version_adopted": lesson(
        "zookeeper_version_adopted",
        "epochs_grow",
        "A zombie leader is refused because the version of the znode has moved on, takes over that version, and overwrites the election of "
        "its successor with its next try. The version stands for a decision that the zombie has not seen. A leader gets a version only "
        "with the decision that belongs to it.",
        "KAFKA-2729; Partition.maybeUpdateIsrAndVersion",
    ),
    "zookeeper_lost_answer_is_a_refusal": lesson(
        "zookeeper_lost_answer_is_a_refusal",
        "all_in_sync",
        "A leader changes the ISR, the connection to ZooKeeper breaks before the answer comes, and the second try is refused because of "
        "the first. The leader does not know its own write again, and from then on every write of its is refused, until the next "
        "election. Since KAFKA-1382 a leader whose write is refused looks whether the znode is what it wanted.",
        "KAFKA-1382; KAFKA-2729",
    ),
    "zookeeper_leader_goes_on_with_known_isr": lesson(
        "zookeeper_leader_goes_on_with_known_isr",
        "leader_completeness",
        "A leader asks for an ISR with one more member, does not hear that it has it, commits a record without that member, and crashes; "
        "the member is elected. In ZooKeeper it was in the ISR already. In 2.6 a leader commits nothing while it waits; since KIP-497 it "
        "waits for the members of both ISRs.",
        "KIP-497",
    ),
    "zookeeper_leader_stands_still": lesson(
        "zookeeper_leader_stands_still",
        "commits_at_last",
        "ZooKeeper goes down, a leader wants to drop a follower that lags, and from then on serves nobody, although all members of the "
        "ISR are there and follow it. It writes to ZooKeeper with the lock of the partition in its hand, and tries until there is an "
        "answer. Since KIP-497 a leader goes on meanwhile, and counts on both ISRs.",
        "Partition.maybeShrinkIsr 2.6.3; KIP-497",
    ),
    "zookeeper_leader_epoch_obeyed_again": lesson(
        "zookeeper_leader_epoch_obeyed_again",
        "isr_holds_committed",
        "A new controller repeats to everybody what it read, a leader changes the ISR before that arrives, obeys the old decision again, "
        "and commits without a member that it has just admitted. Within a leader epoch the leader knows the ISR best. A broker obeys a "
        "decision only if its leader epoch is newer than the last one.",
        "ReplicaManager.becomeLeaderOrFollower",
    ),
    "zookeeper_broker_epoch_exact": lesson(
        "zookeeper_broker_epoch_exact",
        "all_in_sync",
        "A broker registers anew, the controller sees that and sends it what to do, and the broker, which has not yet heard of its own new "
        "epoch, takes the request for an error. A later epoch than its own can only be one of its own future. Since KAFKA-9839 only "
        "requests for an older epoch are refused.",
        "KAFKA-9839; apache/kafka#8509",
    ),
    "zookeeper_broker_epoch_unchecked": lesson(
        "zookeeper_broker_epoch_unchecked",
        "former_leadership_is_over",
        "A leader crashes, a new controller that does not know that yet tells it that it leads, and has another broker elected after "
        "that; the first one starts again, gets the request, which was sent again and again, and leads in an epoch that is over. It has "
        "forgotten which epochs it had heard of, and nothing in the request says to which of its lives it was sent. Since KIP-380 "
        "requests carry the broker epoch, and those to a former life are refused.",
        "KIP-380; KAFKA-7235; apache/kafka#5821",
    ),
    "zookeeper_former_life_commits": lesson(
        "zookeeper_former_life_commits",
        "isr_holds_committed",
        "A leader alone in its ISR is told so by a new controller, admits a follower before that request arrives, crashes, and starts "
        "again at once; the request, sent again, reaches the new process, which leads with an ISR of its own, and commits what the "
        "follower does not have. A decision says who was in sync when it was made, and the broker has forgotten what came after. Since "
        "KIP-380 a request to a former life is refused.",
        "KIP-380; KAFKA-7235; apache/kafka#5821",
    ),
    "zookeeper_bounces_unnoticed": lesson(
        "zookeeper_bounces_unnoticed",
        "all_in_sync",
        "The session of a broker expires, and the broker registers again before the controller looks, which sees the same brokers as "
        "before. It does not tell apart a broker that was gone and one that was there all the time, and sends nothing. Since KIP-380 it "
        "compares broker epochs.",
        "KAFKA-1120; KIP-380",
    ),
    "zookeeper_elected_again_remembers": lesson(
        "zookeeper_elected_again_remembers",
        "isr_holds_committed",
        "A follower has fetched a record from its leader, another broker is elected, the follower truncates the record to agree with "
        "that one, which crashes, and the first leader, which heard of none of this, is elected again. Since it still leads it keeps "
        "what it knew of its followers, and counts the record as committed that one of them has dropped. A leader that forgets its "
        "followers with every leader epoch waits until they have fetched in it.",
        "Partition.makeLeader 2.6.3 to 4.3.1",
    ),
    "zookeeper_unclean_election": lesson(
        "zookeeper_unclean_election",
        "leader_completeness",
        "A leader drops a follower, commits a record alone, and crashes; the follower is elected, though it is not in the ISR. An operator "
        "has said that a leader without all records is better than none. Without unclean.leader.election.enable the partition waits for "
        "the last member of its ISR.",
        "PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection",
    ),
}
"""Each lesson by the name of its trace."""
