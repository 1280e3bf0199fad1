# SPDX-License-Identifier: Apache-2.0
"""What it means to commit before, after, or with processing."""

from __future__ import annotations

from hwmark.model.pipeline.state import Bounds
from hwmark.spec.row import Row

SMALL = Bounds(consumers=2, partitions=1, messages=1, rebalances=1, crashes=1)

ALONE = Bounds(consumers=1, crashes=1)
TWO = Bounds(consumers=2, crashes=1)
SLOW = Bounds(consumers=2, rebalances=1, crashes=0)

ROWS = (
    Row(
        id="commit_after_processing",
        rule="commit",
        statement="Who commits a record after processing it processes each at least once; who commits first loses the one that it had in "
        "hand when it crashed.",
        sources=("S9",),
        machine="pipeline",
        rules_off="commit_before",
        rules_on="commit_after",
        bounds=ALONE,
        breaks={"committed_was_processed": 5},
        trace="commit_before",
    ),
    Row(
        id="commit_before_processing",
        rule="commit",
        statement="Who commits a record before processing it processes each at most once; who commits later processes again what it had "
        "processed and not committed when it crashed.",
        sources=("S9",),
        machine="pipeline",
        rules_off="commit_after",
        rules_on="commit_before",
        bounds=ALONE,
        breaks={"processed_at_most_once": 8},
        trace="commit_after",
    ),
    Row(
        id="queue_delivers_twice_after_a_crash",
        rule="commit",
        statement="In a queue a record goes to one consumer; if that crashes between processing and committing it, another gets it, too. "
        "Only processing that is one step with the commit is done once.",
        sources=("S8-groups", "KIP-447"),
        machine="pipeline",
        rules_off="commit_after",
        rules_on="commit_with",
        bounds=TWO,
        breaks={"processed_by_one_consumer": 8},
        trace="queue_crash",
    ),
    Row(
        id="queue_delivers_twice_after_a_rebalance",
        rule="commit",
        statement="Nobody has to crash: a consumer that is only slow loses its partition and processes a record that its successor has, "
        "too. Only processing that is one step with the commit, which is refused, is done once.",
        sources=("S8-groups", "KIP-447"),
        machine="pipeline",
        rules_off="commit_after",
        rules_on="commit_with",
        bounds=SLOW,
        breaks={"processed_by_one_consumer": 7},
        trace="queue_rebalance",
    ),
)
"""Each point at which to commit, taken away for another."""
