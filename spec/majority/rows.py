# SPDX-License-Identifier: Apache-2.0
"""Rules of a log that a majority commits, and what breaks without each; and how many failures it stands, beside the ISR."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from hwmark.model.majority.state import Bounds
from hwmark.model.partition.state import Bounds as PartitionBounds
from hwmark.spec.partition.scopes import TWO, TWO_MIN_TWO
from hwmark.spec.row import Row

TWO_BROKERS = Bounds(brokers=2, records=1, max_leader_epoch=1, crashes=1)
CRASH = Bounds(brokers=3, records=1, max_leader_epoch=1, crashes=1)
TIMEOUT = Bounds(brokers=3, records=1, max_leader_epoch=1, timeouts=1)
TIMEOUT_OF_TWO_RECORDS = evolve(TIMEOUT, records=2)
TIMEOUT_AND_CRASH = evolve(TIMEOUT, crashes=1)
TWO_ELECTIONS = evolve(TIMEOUT, max_leader_epoch=2)
THREE_ELECTIONS = evolve(TIMEOUT, max_leader_epoch=3)
LOSSY = Bounds(brokers=3, records=1, max_leader_epoch=1, lossy_crashes=1)
ONE_GONE = evolve(CRASH, stays_down=True)
ONE_OF_TWO_GONE = evolve(ONE_GONE, brokers=2)

BROKER_GONE = PartitionBounds(brokers=2, records=1, crashes=1, stays_down=True)
CONTROLLER_GONE = PartitionBounds(brokers=2, records=1, outages=1, stays_down=True)
BOTH_GONE = evolve(CONTROLLER_GONE, crashes=1)

row = partial(Row, machine="majority", rules_on="majority")
"""A rule of this machine."""

ROWS = (
    row(
        id="more_than_half",
        rule="quorum_size",
        statement="A quorum is more than half of the replicas: two of them share one. Of two replicas one alone is not enough, or each "
        "goes on without what the other committed.",
        sources=("S13-failures", "KIP-595"),
        rules_off="half_is_enough",
        bounds=TWO_BROKERS,
        breaks={"append_only_log": 3, "acknowledged_survives": 4},
        trace="majority_half_is_enough",
    ),
    row(
        id="vote_for_complete_logs",
        rule="vote_check",
        statement="A replica votes only for a log at least as complete as its own: some voter of every majority has what is committed.",
        sources=("S5", "KIP-595"),
        rules_off="vote_for_any_log",
        bounds=CRASH,
        breaks={"committed_survives": 6, "acknowledged_survives": 7},
        trace="majority_vote_for_any_log",
    ),
    row(
        id="later_epoch_beats_longer_log",
        rule="vote_check",
        statement="The epoch of the last record decides before the length of the log: a longer log may be of records that were never "
        "committed, and lack one that was.",
        sources=("S5", "KIP-595"),
        rules_off="vote_for_the_longest_log",
        bounds=TWO_ELECTIONS,
        breaks={"committed_survives": 9},
        trace="majority_vote_for_the_longest_log",
        quick=False,
    ),
    row(
        id="vote_is_stored",
        rule="vote_memory",
        statement="A vote is on disk before it is given: a replica that forgets it over a restart votes twice in an epoch, which then has "
        "two leaders.",
        sources=("S1", "KIP-595"),
        rules_off="vote_forgotten",
        bounds=TIMEOUT_AND_CRASH,
        breaks={"single_leader": 7},
        trace="majority_vote_forgotten",
        quick=False,
    ),
    row(
        id="commit_own_epoch_only",
        rule="commit_epoch",
        statement="A leader counts replicas for records of its own epoch only, and commits earlier ones with them: one that a majority has "
        "may still be overwritten by a leader of an epoch in between.",
        sources=("S14", "KIP-595"),
        rules_off="commit_of_any_epoch",
        bounds=THREE_ELECTIONS,
        breaks={"committed_survives": 12},
        trace="majority_commit_of_any_epoch",
        quick=False,
    ),
    row(
        id="majority_truncates_by_epoch",
        rule="truncation",
        statement="A follower cuts its log where it parts from its leader's before it counts as having anything; else it shows, and stands "
        "for, records that nobody committed.",
        sources=("S6", "K-101", "KIP-595"),
        rules_off="follower_not_truncated",
        bounds=TIMEOUT_OF_TWO_RECORDS,
        breaks={"log_matching": 6, "high_watermark_prefix": 6},
        trace="majority_follower_not_truncated",
    ),
    row(
        id="flushed_before_counted",
        rule="flush",
        statement="A majority counts on disks: where records are flushed later, as those of partitions are, one machine that fails can "
        "cost what was acknowledged.",
        sources=("S14-crashes", "KIP-595"),
        rules_off="flushed_later",
        bounds=LOSSY,
        breaks={"acknowledged_survives": 8},
        trace="majority_flushed_later",
    ),
    # -- how many failures are survived --
    row(
        id="majority_needs_twice_as_many",
        rule="brokers",
        statement="To go on after f failures a majority needs 2f + 1 replicas: with two it stops at the first failure, with three it does "
        "not.",
        sources=("S13-failures", "KIP-595"),
        rules_off="majority",
        bounds=ONE_GONE,
        bounds_off=ONE_OF_TWO_GONE,
        breaks={"stays_writable": 1},
        trace="majority_of_two",
    ),
    Row(
        id="isr_needs_one_more",
        rule="min_isr",
        statement="To go on after f failures, one after another, an ISR needs f + 1 replicas, if min.insync.replicas is 1: two replicas "
        "survive one. With min.insync.replicas 2 they stop at the first.",
        sources=("S13-failures", "S13"),
        machine="partition",
        rules_off="partition",
        rules_on="partition",
        config=TWO,
        config_off=TWO_MIN_TWO,
        bounds=BROKER_GONE,
        breaks={"stays_writable": 1},
        trace="partition_min_isr_of_all",
    ),
    Row(
        id="isr_needs_its_controller",
        rule="crashes",
        statement="Without the controller a partition serves on as long as all that are in sync do; once a member of the ISR is dead, "
        "acks=all waits for ever, since nobody takes it out of the ISR, and a dead leader has no successor.",
        sources=("S13-failures", "S13"),
        machine="partition",
        rules_off="partition",
        rules_on="partition",
        config=TWO,
        bounds=CONTROLLER_GONE,
        bounds_off=BOTH_GONE,
        breaks={"acknowledged_without_controller": 3},
        trace="partition_dead_member_without_controller",
    ),
)
"""Every rule, and the failures that each side stands."""
