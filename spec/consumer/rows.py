# SPDX-License-Identifier: Apache-2.0
"""Rules of a consumer's position and of its commits, and what breaks without each."""

from __future__ import annotations

from hwmark.model.consumer.state import Bounds
from hwmark.spec.row import Row

SMALL = Bounds(records=2, max_leader_epoch=1, commits=1, restarts=1)

RESTART = Bounds(records=1, commits=1, restarts=1)
RESTART_AMONG_OTHERS = Bounds(records=1, commits=1, restarts=1, other_partitions=1)
RESTART_AND_SEEK = Bounds(records=1, commits=1, restarts=1, seeks=1)
ELECTION = Bounds(records=3, max_leader_epoch=1, commits=0, commits_under_way=0)
TWO_ELECTIONS = Bounds(records=3, max_leader_epoch=2, commits=0, commits_under_way=0)
NO_EPOCHS = Bounds(records=1, max_leader_epoch=1, commits=0, commits_under_way=0, undefined_answers=1)
ELECTION_AND_RESTART = Bounds(records=3, max_leader_epoch=1, commits=1, restarts=1)
TWO_COMMITS = Bounds(records=2, commits=2, commits_under_way=2)
FAILED_COMMIT = Bounds(records=2, commits=2, commits_under_way=2, failed_commits=1)

ROWS = (
    Row(
        id="one_reset_for_all_pending",
        rule="reset_scope",
        statement="Partitions whose assignment callback still runs are left out when committed offsets are loaded and when positions are "
        "reset; else the reset overtakes the commit.",
        sources=("F02", "S9", "KAFKA-16556", "KAFKA-16107"),
        machine="consumer",
        rules_off="reset_in_callback",
        rules_on="positions_after_callback",
        bounds=RESTART,
        breaks={"first_position_is_committed": 13},
        trace="reset_in_callback",
    ),
    Row(
        id="reset_of_what_was_looked_up",
        rule="reset_scope",
        statement="Only partitions whose committed offset was looked up are reset in that run, and not all whose callback is over by then; "
        "else a callback that ends between the two steps leads to a reset all the same.",
        sources=("F02", "S9", "KAFKA-17674"),
        machine="consumer",
        rules_off="reset_after_callback",
        rules_on="positions_after_callback",
        bounds=RESTART,
        breaks={"first_position_is_committed": 14},
        trace="reset_after_callback",
    ),
    Row(
        id="reset_of_the_partitions_of_a_run",
        rule="reset_scope",
        statement="A partition that is assigned while offsets of others are being looked up is left for the next run; else it is reset "
        "before anybody has asked for its committed offset.",
        sources=("F02", "S9", "KAFKA-17674"),
        machine="consumer",
        rules_off="reset_of_all",
        rules_on="consumer",
        bounds=RESTART_AMONG_OTHERS,
        breaks={"first_position_is_committed": 13},
        trace="reset_of_all",
    ),
    Row(
        id="late_answer_sets_no_position",
        rule="loaded_offset",
        statement="A committed offset that was asked for applies only if the partition still has no position when it arrives; else it "
        "undoes what the application chose meanwhile.",
        sources=("S9", "librdkafka#5345"),
        machine="consumer",
        rules_off="loaded_offset_always",
        rules_on="consumer",
        bounds=RESTART_AND_SEEK,
        breaks={"position_moves_by_reading": 14},
        trace="loaded_offset_always",
    ),
    Row(
        id="fetch_names_the_leader_epoch",
        rule="fetch_epoch",
        statement="A consumer's fetch names the leader epoch that it knows, and a leader of another one refuses; else the consumer reads "
        "on in another log without noticing that the leader changed.",
        sources=("K-320-clients", "S9", "KIP-320"),
        machine="consumer",
        rules_off="fetch_without_epoch",
        rules_on="consumer",
        bounds=ELECTION,
        breaks={"reads_one_history": 11},
        trace="fetch_without_epoch",
    ),
    Row(
        id="position_validation",
        rule="validation",
        statement="A consumer asks the new leader where the epoch of its last record ends before it reads on; else it silently skips or "
        "repeats after records were truncated.",
        sources=("K-320-clients", "S9", "KIP-320", "KAFKA-7747"),
        machine="consumer",
        rules_off="position_unvalidated",
        rules_on="consumer",
        bounds=ELECTION,
        breaks={"reads_one_history": 12},
        trace="position_unvalidated",
    ),
    Row(
        id="validation_compares_epochs",
        rule="validation",
        statement="The end of another epoch than the one asked for does not say where the logs part: after two unclean elections it may "
        "lie beyond the position although the record before it is another. Kafka's consumer looks at the end offset alone.",
        sources=("K-320-clients", "S9", "KAFKA-10498"),
        machine="consumer",
        rules_off="end_offset_validation",
        rules_on="consumer",
        bounds=TWO_ELECTIONS,
        breaks={"reads_one_history": 15},
        trace="end_offset_validation",
        quick=False,
    ),
    Row(
        id="commit_carries_the_leader_epoch",
        rule="committed_epoch",
        statement="A commit says of which leader epoch the last consumed record was; else whoever resumes there cannot find out that the "
        "records before it were truncated meanwhile.",
        sources=("K-320-clients", "S9", "KIP-320"),
        machine="consumer",
        rules_off="commit_without_epoch",
        rules_on="consumer",
        bounds=ELECTION_AND_RESTART,
        breaks={"reads_one_history": 18},
        trace="commit_without_epoch",
        quick=False,
    ),
    Row(
        id="undefined_end_is_no_offset",
        rule="undefined_end",
        statement="A client takes an undefined epoch and end for unknown, not for the number -1; else it reports a loss that did not "
        "happen, and goes on at an offset that does not exist.",
        sources=("F01", "S9", "KAFKA-9840"),
        machine="consumer",
        rules_off="undefined_end_as_offset",
        rules_on="consumer",
        bounds=NO_EPOCHS,
        breaks={"position_is_an_offset": 10},
        trace="undefined_end_as_offset",
    ),
    Row(
        id="commits_in_order",
        rule="commit_order",
        statement="A client sends its commits in the order in which it built them; else an older one arrives last, and sets the offset "
        "back.",
        sources=("O07", "S9", "sarama#2940"),
        machine="consumer",
        rules_off="commits_in_any_order",
        rules_on="consumer",
        bounds=TWO_COMMITS,
        breaks={"commits_do_not_go_back": 13},
        trace="commits_in_any_order",
    ),
    Row(
        id="async_commit_is_not_retried",
        rule="commit_retry",
        statement="An asynchronous commit that failed is not sent again: a later one may be under way, which the older one would undo.",
        sources=("O07", "S9"),
        machine="consumer",
        rules_off="async_commit_retried",
        rules_on="consumer",
        bounds=FAILED_COMMIT,
        breaks={"commits_do_not_go_back": 14},
        trace="async_commit_retried",
    ),
)
"""Each rule of the machine, taken away."""
