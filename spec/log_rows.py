# SPDX-License-Identifier: Apache-2.0
"""Rules of one replica's log: its epoch cache says what its records say."""

from __future__ import annotations

from hwmark.model.log_machine import Bounds

from .row import Row

LOG = Bounds(log_size=2, records=2, max_leader_epoch=2)

ROWS = (
    Row(
        id="epoch_cache_follows_truncation",
        rule="epoch_cache_truncation",
        statement="The epoch cache is truncated with the log; else it goes on to answer for epochs of which no record is left.",
        sources=("S2", "K-101"),
        machine="log",
        rules_off="epoch_cache_not_truncated",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_cache_matches": 2, "epoch_order": 2, "epoch_end_offset": 2, "truncation_settles": 2},
        trace="epoch_cache_not_truncated",
    ),
    Row(
        id="epoch_cache_follows_empty_truncation",
        rule="epoch_cache_truncation",
        statement="A truncation cuts the epoch cache also when no record goes: else a deposed leader's own epoch, under which it wrote "
        "nothing, stays and outranks the epochs of what it copies then.",
        sources=("K-279", "KAFKA-10706"),
        machine="log",
        rules_off="epoch_cache_truncated_with_records",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_cache_matches": 4, "epoch_end_offset": 4, "truncation_settles": 2},
        trace="epoch_cache_truncated_with_records",
    ),
    Row(
        id="epoch_cache_starts_with_the_log",
        rule="epoch_cache_start",
        statement="When the log's start moves into an epoch, that epoch starts there from now on; else a follower that asks for it is "
        "sent back to its high watermark.",
        sources=("S10", "K-101"),
        machine="log",
        rules_off="epoch_cache_start_dropped",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_cache_matches": 3, "leader_knows_its_epoch": 3, "epoch_end_offset": 3, "latest_epoch_survives": 2},
        trace="epoch_cache_start_dropped",
    ),
    Row(
        id="epoch_cache_forgets_with_the_log",
        rule="epoch_cache_start",
        statement="Epochs whose records were all deleted leave the cache, all but the latest; else it answers with offsets that are gone.",
        sources=("S10", "K-101"),
        machine="log",
        rules_off="epoch_cache_start_kept",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_cache_matches": 2, "epoch_order": 2, "epoch_end_offset": 2},
    ),
    Row(
        id="epoch_assignment_drops_conflicts",
        rule="epoch_assignment",
        statement="A new epoch drops the entries that it contradicts; else an epoch that never got a record keeps the place of the one "
        "that did.",
        sources=("K-279", "KAFKA-7415"),
        machine="log",
        rules_off="epoch_cache_append_only",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_cache_matches": 2, "epoch_order": 2, "epoch_end_offset": 2},
    ),
    Row(
        id="epoch_begins_at_election",
        rule="epoch_begin",
        statement="A leader knows its own epoch before it has a record of it; else a follower whose last record is of a later epoch than "
        "the leader's gets no answer, and falls back to its high watermark.",
        sources=("K-279", "KAFKA-7415"),
        machine="log",
        rules_off="epoch_cached_at_first_record",
        rules_on="log",
        bounds=LOG,
        breaks={"leader_knows_its_epoch": 1},
        trace="epoch_cached_at_first_record",
    ),
    Row(
        id="epoch_cache_after_a_crash",
        rule="epoch_cache_recovery",
        statement="After a crash the cache is made to agree with the records that are left; else it tells of an epoch whose records were "
        "lost.",
        sources=("S2", "K-101"),
        machine="log",
        rules_off="epoch_cache_from_checkpoint",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_cache_matches": 3, "epoch_order": 3, "epoch_end_offset": 3},
        trace="epoch_cache_from_checkpoint",
    ),
    Row(
        id="epoch_end_before_the_first",
        rule="epoch_end_lookup",
        statement="An epoch before all known ones ends where the first of these starts; without an answer the follower would keep what "
        "the leader has deleted or never had.",
        sources=("K-279", "KAFKA-7415"),
        machine="log",
        rules_off="epoch_end_undefined_before_first",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_end_offset": 1},
    ),
    Row(
        id="epoch_end_names_its_epoch",
        rule="epoch_end_lookup",
        statement="The answer names the largest known epoch up to the requested one, which the follower then compares with its own.",
        sources=("K-279", "R03", "KIP-279"),
        machine="log",
        rules_off="epoch_end_of_requested_epoch",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_end_offset": 2},
        trace="epoch_end_of_requested_epoch",
    ),
    Row(
        id="epoch_end_is_not_the_current_one",
        rule="epoch_end_lookup",
        statement="The answer about an earlier epoch is not given under the current one, and there is none about a later epoch.",
        sources=("R16", "redpanda#11864"),
        machine="log",
        rules_off="epoch_end_under_current_epoch",
        rules_on="log",
        bounds=LOG,
        breaks={"epoch_end_offset": 1},
        trace="epoch_end_under_current_epoch",
    ),
    Row(
        id="reads_from_log_start",
        rule="read_check",
        statement="What is below the log start offset cannot be read, although it stays on disk until its segment is deleted.",
        sources=("S2", "S10"),
        machine="log",
        rules_off="read_from_first_segment",
        rules_on="log",
        bounds=LOG,
        breaks={"readable_range": 2},
        trace="read_from_first_segment",
    ),
)
