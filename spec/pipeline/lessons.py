# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about a pipeline teaches."""

from __future__ import annotations

from hwmark.spec.lesson import Lesson

from .rows import ALONE, SLOW, TWO

LESSONS = {
    "commit_before": Lesson(
        preset="commit_before",
        machine="pipeline",
        bounds=ALONE,
        property="committed_was_processed",
        note="A consumer commits a record, and crashes before it has processed it; whoever takes over begins behind it. What is committed "
        "is never delivered again, and nobody knows that this record was only taken. Committing after processing ends it, at the price of "
        "processing some records twice.",
        source="KafkaConsumer: offsets and consumer position",
    ),
    "commit_after": Lesson(
        preset="commit_after",
        machine="pipeline",
        bounds=ALONE,
        property="processed_at_most_once",
        note="A consumer processes a record, crashes before it has committed it, and processes it again once it is back. For the group the "
        "record was never dealt with. Committing before processing ends it, at the price of losing records; only a commit that is one step "
        "with what processing does is neither.",
        source="KafkaConsumer: offsets and consumer position",
    ),
    "queue_crash": Lesson(
        preset="commit_after",
        machine="pipeline",
        bounds=TWO,
        property="processed_by_one_consumer",
        note="In a queue one consumer processes a record and crashes before it commits, and the consumer that takes its partition over "
        "processes the record, too. A partition has one owner at a time, but its owner's work counts only once it is committed. Processing "
        "has to bear that, or be one step with the commit.",
        source="KIP-447",
    ),
    "queue_rebalance": Lesson(
        preset="commit_after",
        machine="pipeline",
        bounds=SLOW,
        property="processed_by_one_consumer",
        note="A slow consumer is taken for dead, its partition goes to another, and both process the same record: the one does not know "
        "yet, the other begins at what was committed. That each generation has one owner does not keep an earlier owner from going on. Its "
        "commit is refused, so that only what is one step with the commit is undone.",
        source="KIP-447",
    ),
}
"""Each lesson by the name of its trace."""
