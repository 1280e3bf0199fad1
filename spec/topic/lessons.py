# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about a topic teaches."""

from __future__ import annotations

from hwmark.spec.lesson import Lesson

from .rows import ROWS

TOLD = {row.trace: row for row in ROWS if row.trace is not None}


def lesson(trace: str, broken: str, note: str, source: str) -> Lesson:
    """Return the lesson of a row: in the scope, and under what is set, where the row breaks."""
    row = TOLD[trace]
    return Lesson(
        preset=str(row.rules_off),
        machine="topic",
        bounds=row.bounds if row.bounds_off is None else row.bounds_off,
        property=broken,
        note=note,
        source=source,
        config=row.config if row.config_off is None else row.config_off,
    )


LESSONS = {
    "topic_stored_twice": lesson(
        "topic_stored_twice",
        "stored_once",
        "A batch is appended, the connection is lost before its answer comes, and the producer sends it again: it is stored twice. To the "
        "leader the two requests are alike whatever a producer means by them. An idempotent producer numbers its batches, and the leader "
        "answers the second one as it did the first.",
        "KIP-98",
    ),
    "topic_reordered_by_a_refusal": lesson(
        "topic_reordered_by_a_refusal",
        "first_copies_are_in_order",
        "Two batches are in flight, the leader cannot append the first at the moment and appends the second, and then the first is sent "
        "again and stored behind it. Each request stands for itself, and its failure stops none behind it. Sequence numbers end it, or a "
        "single request in flight.",
        "ProducerConfig: max.in.flight.requests.per.connection; KIP-98",
    ),
    "topic_reordered_by_a_disconnect": lesson(
        "topic_reordered_by_a_disconnect",
        "first_copies_are_in_order",
        "A connection is lost with two batches in flight of which the broker has handled none, and the later one is sent again, and "
        "stored, first. The oldest is put back at first, to the head of all that wait, and the next one before it. An idempotent producer "
        "puts each back by its sequence number.",
        "NetworkClient.cancelInFlightRequests; RecordAccumulator.reenqueue",
    ),
    "topic_sequences_unchecked": lesson(
        "topic_sequences_unchecked",
        "idempotent_records_are_in_order",
        "The first of two batches in flight is refused for a moment, and the second is appended although the leader has not seen the one "
        "before it. Knowing duplicates is not enough: what is missing must be noticed, too. A leader accepts only the sequence number "
        "behind its last one.",
        "KIP-98; ProducerAppendInfo.checkSequence",
    ),
    "topic_any_first_sequence": lesson(
        "topic_any_first_sequence",
        "idempotent_records_are_in_order",
        "A new producer has two batches in flight, the leader refuses the first for a moment and appends the second: now the first is too "
        "old for it, and is refused until the producer gives it up. Where nothing is known of a producer any number is taken for a first "
        "one, since retention may have deleted what was before. For transactions KIP-890 asks for 0 there; an idempotent producer alone "
        "still has the hole in 4.3.1.",
        "ProducerAppendInfo.checkSequence; KIP-890",
    ),
    "topic_last_batch_remembered": lesson(
        "topic_last_batch_remembered",
        "everything_can_be_stored",
        "Two batches are appended, their answers are lost, and the first one is sent again: the leader remembers the second alone, takes "
        "the first for out of order, and refuses it whenever it comes. With several requests in flight a retry need not be of the last "
        "batch. Since KAFKA-5494 five are remembered, and no more may be in flight.",
        "KAFKA-5494",
    ),
    "topic_retries_first": lesson(
        "topic_retries_first",
        "everything_can_be_stored",
        "A connection is lost with two batches in flight, each goes before all that wait, and so the second is first. It may not be sent "
        "before the one with the earlier number, which waits behind it, and both wait for ever. Since KAFKA-5494 a batch that is sent "
        "again is put back by its sequence number.",
        "KAFKA-5494; RecordAccumulator.insertInSequenceOrder",
    ),
    "topic_retries_elsewhere": lesson(
        "topic_retries_elsewhere",
        "stored_once",
        "A batch is appended, its answer is lost, and it is sent again to another partition, which stores it, too. Each leader knows the "
        "sequence numbers of its own partition alone, so that no numbering sees this. The partition is chosen once, before the first "
        "attempt, and belongs to the batch.",
        "RecordAccumulator.reenqueue",
    ),
    "topic_missing_partition_wrapped": lesson(
        "topic_missing_partition_wrapped",
        "named_partition_is_kept",
        "A record names a partition that the topic does not have, and is put into another one. Who names a partition has a reason, and "
        "whoever looks for the record will look there. Kafka's producer waits for newer metadata and then tells the application.",
        "KafkaProducer.waitOnMetadata",
    ),
    "topic_keys_ignored": lesson(
        "topic_keys_ignored",
        "key_is_read_in_order",
        "Two records of one key go to two partitions, and a consumer reads the later one first. Where partitioner.ignore.keys is set, or a "
        "partitioner takes turns, the key is only something that the record carries. Order by key needs the key to decide.",
        "KIP-794; KafkaProducer.partition",
    ),
    "topic_keys_move": lesson(
        "topic_keys_move",
        "key_is_read_in_order",
        "A partition is added, the next record of a key goes there, and a consumer reads it before the key's old record, which waits in "
        "the old partition. A key's partition is the remainder of its hash by their number, and what is stored does not move. Order by "
        "key ends with the old number of partitions, so it is chosen large enough at first, or the topic is written anew.",
        "KafkaProducer.partition; ReplicationControlManager.createPartitions",
    ),
    "topic_without_order": lesson(
        "topic_without_order",
        "topic_is_read_in_order",
        "A producer's first record goes to one partition, its second to another, and a consumer reads the second first. Each partition is "
        "a log of its own, and nothing relates their offsets. What has to be read in order needs one partition, or one key.",
        "Kafka documentation: design",
    ),
    "topic_offsets_of_32_bits": lesson(
        "topic_offsets_of_32_bits",
        "offsets_increase",
        "The offset behind 2147483647 is negative, and so before all others. A partition outlives that many records, as its first ones are "
        "deleted while offsets go on. Kafka's offsets have 64 bits, which last for good.",
        "ProduceResponse, FetchRequest: INT64 offsets",
    ),
}
"""Each lesson by the name of its trace."""
