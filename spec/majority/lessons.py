# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about a majority, and about the failures that it or an ISR stands, teaches."""

from __future__ import annotations

from hwmark.spec.lesson import Lesson
from hwmark.spec.partition.scopes import TWO, TWO_MIN_TWO

from .rows import (
    BOTH_GONE,
    BROKER_GONE,
    CRASH,
    LOSSY,
    ONE_OF_TWO_GONE,
    THREE_ELECTIONS,
    TIMEOUT_AND_CRASH,
    TIMEOUT_OF_TWO_RECORDS,
    TWO_BROKERS,
    TWO_ELECTIONS,
)

LESSONS = {
    "majority_half_is_enough": Lesson(
        preset="half_is_enough",
        machine="majority",
        bounds=TWO_BROKERS,
        property="acknowledged_survives",
        note="One of two replicas commits a record by itself and crashes; the other elects itself and has never heard of the record. Half "
        "of the replicas was enough for each, and the two halves share nobody. More than half ends it: any two quorums then have a replica "
        "in common.",
        source="Raft, section 5.2; KIP-595",
    ),
    "majority_vote_for_any_log": Lesson(
        preset="vote_for_any_log",
        machine="majority",
        bounds=CRASH,
        property="committed_survives",
        note="Two of three replicas have a committed record, one of them crashes, and the other votes for the third, whose log is empty. "
        "It was the voter's to see that the candidate lacks something. A vote goes only to a log that is at least as complete as the "
        "voter's own.",
        source="Raft, section 5.4.1; KIP-595",
    ),
    "majority_vote_for_the_longest_log": Lesson(
        preset="vote_for_the_longest_log",
        machine="majority",
        bounds=TWO_ELECTIONS,
        property="committed_survives",
        note="A leader that has lost its place keeps a record that nobody else got, and is elected again over one that has committed "
        "another in a later epoch, because both logs are equally long. Length says nothing about whose records they are. The epoch of the "
        "last record decides first.",
        source="Raft, section 5.4.1; KIP-595",
    ),
    "majority_vote_forgotten": Lesson(
        preset="vote_forgotten",
        machine="majority",
        bounds=TIMEOUT_AND_CRASH,
        property="single_leader",
        note="A replica votes for one candidate, is restarted, and votes for another in the same epoch, so that both lead. Its vote was "
        "only in memory. The epoch and the vote are written to disk before the vote is given.",
        source="Raft, figure 2; FileQuorumStateStore",
    ),
    "majority_commit_of_any_epoch": Lesson(
        preset="commit_of_any_epoch",
        machine="majority",
        bounds=THREE_ELECTIONS,
        property="committed_survives",
        note="A leader that is elected again copies a record of its first epoch to a second replica, and counts it as committed; the third "
        "replica, with a record of the epoch in between, is elected all the same, and overwrites it. That a majority has a record is not "
        "enough where a voter's last record may still lose against a later epoch. A leader commits records of its own epoch only, and "
        "earlier ones with them.",
        source="Raft, section 5.4.2 and figure 8; LeaderState.maybeUpdateHighWatermark",
    ),
    "majority_follower_not_truncated": Lesson(
        preset="follower_not_truncated",
        machine="majority",
        bounds=TIMEOUT_OF_TWO_RECORDS,
        property="log_matching",
        note="A former leader with a record that nobody got follows its successor, and goes on from where its own log ends. What is below "
        "stays as it was, so that the logs disagree under a record that they share. A follower cuts its log where its leader says that "
        "they part.",
        source="KIP-595; RaftLog.truncateToEndOffset",
    ),
    "majority_flushed_later": Lesson(
        preset="flushed_later",
        machine="majority",
        bounds=LOSSY,
        property="acknowledged_survives",
        note="Two of three replicas have an acknowledged record, the machine of one fails and it comes back without it, and with its vote "
        "the third is elected. Who has a record in memory was counted like who has it on disk. A replica of a majority flushes before it "
        "is counted; an ISR instead knows who was in it, and asks for eligible replicas.",
        source="KIP-595; KIP-966",
    ),
    "majority_of_two": Lesson(
        preset="majority",
        machine="majority",
        bounds=ONE_OF_TWO_GONE,
        property="stays_writable",
        note="One of two replicas crashes and stays away, and the other can neither commit nor elect. Two are the smallest majority of "
        "two, so that a second replica adds nothing but a second way to fail. A majority needs 2f + 1 replicas where an ISR needs f + 1.",
        source="KIP-595; Apache Kafka documentation: Replicated Logs: Quorums, ISRs, and State Machines",
    ),
    "partition_min_isr_of_all": Lesson(
        preset="partition",
        machine="partition",
        bounds=BROKER_GONE,
        config=TWO_MIN_TWO,
        property="stays_writable",
        note="One of two replicas crashes and stays away, and nothing is committed any more. The ISR has one member left, and "
        "min.insync.replicas asks for two. With 1 the last replica goes on alone, which is f + 1 replicas for f failures.",
        source="Apache Kafka documentation: Replicated Logs: Quorums, ISRs, and State Machines",
    ),
    "partition_dead_member_without_controller": Lesson(
        preset="partition",
        machine="partition",
        bounds=BOTH_GONE,
        config=TWO,
        property="acknowledged_without_controller",
        note="While there is no controller a member of the ISR crashes, and the leader's record is never committed. Only the controller "
        "takes somebody out of the ISR, and acks=all waits for all who are in it. The partition goes on once the controller is back.",
        source="KIP-497; KIP-595",
    ),
}
"""Each lesson by the name of its trace."""
