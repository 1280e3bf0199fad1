# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the right rules of a consumer were exhausted; and one in which Kafka's own validation is enough."""

from __future__ import annotations

from hwmark.model.consumer.state import Bounds, CommitMode, Config, Reset
from hwmark.spec.row import Row

OBSERVED = ("delivery_is_in_order", "reads_one_history", "truncation_is_real", "commits_do_not_go_back", "committed_was_read")
EVERYTHING = Bounds(
    records=2,
    max_leader_epoch=1,
    commits=2,
    commits_under_way=2,
    seeks=1,
    restarts=1,
    failed_commits=1,
    undefined_answers=1,
    deletions=1,
    other_partitions=1,
)

TWO_ELECTIONS_AND_RESTART = Bounds(records=3, max_leader_epoch=2, commits=1, restarts=1)
TWO_COMMITS_AND_RESTART = Bounds(records=3, max_leader_epoch=1, commits=2, commits_under_way=2, restarts=1, deletions=1)

SCOPES = (
    Row(
        id="consumer_everything",
        rule="all",
        statement="With two records, two commits under way, an election and one each of whatever else disturbs, nothing breaks.",
        sources=("S9",),
        machine="consumer",
        rules_on="consumer",
        bounds=EVERYTHING,
        holds=("consumer_catches_up",),
        states=240_267,
        quick=False,
    ),
    Row(
        id="consumer_everything_latest",
        rule="all",
        statement="The same for a consumer that begins at the end of the log and commits automatically.",
        sources=("S9",),
        machine="consumer",
        rules_on="consumer",
        bounds=EVERYTHING,
        config=Config(auto_offset_reset=Reset.LATEST, commit_mode=CommitMode.AUTOMATIC),
        holds=("consumer_catches_up",),
        states=63_719,
        quick=False,
    ),
    Row(
        id="consumer_everything_none",
        rule="all",
        statement="The same for a consumer without a reset policy, whose application has to decide.",
        sources=("S9",),
        machine="consumer",
        rules_on="consumer",
        bounds=EVERYTHING,
        config=Config(auto_offset_reset=Reset.NONE),
        holds=("consumer_catches_up",),
        states=249_783,
        quick=False,
    ),
    Row(
        id="consumer_reads_one_history",
        rule="all",
        statement="With three records, two unclean elections, a commit and a restart every promise with a memory holds, too.",
        sources=("S9", "K-320-clients"),
        machine="consumer",
        rules_on="consumer",
        bounds=TWO_ELECTIONS_AND_RESTART,
        holds=OBSERVED,
        states=57_924,
        quick=False,
    ),
    Row(
        id="consumer_commits_in_order",
        rule="all",
        statement="The same with one election, two commits under way, and records that are deleted.",
        sources=("S9", "K-320-clients", "O07"),
        machine="consumer",
        rules_on="consumer",
        bounds=TWO_COMMITS_AND_RESTART,
        holds=OBSERVED,
        states=163_513,
        quick=False,
    ),
    Row(
        id="consumer_one_election_as_in_kafka",
        rule="all",
        statement="With a single unclean election Kafka's own validation, which compares the end offset alone, is enough.",
        sources=("S9", "K-320-clients", "KIP-320"),
        machine="consumer",
        rules_on="end_offset_validation",
        bounds=TWO_COMMITS_AND_RESTART,
        holds=OBSERVED,
        states=163_513,
        quick=False,
    ),
)
"""The scopes in which nothing breaks; where promises have a memory the states are told apart by it. From our own engines alone."""
