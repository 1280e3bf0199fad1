# SPDX-License-Identifier: Apache-2.0
"""What is promised of a partition, where no check refuses a request; and what each API rests on."""

from __future__ import annotations

DONE: dict[tuple[str, str], tuple[str, str]] = {
    ("init_producer_id", "new_producer_id"): (
        "A producer without transactions gets an id that nobody had, and epoch 0.",
        "TransactionCoordinator.handleInitProducerId",
    ),
    ("produce", "append"): ("A batch is appended at the end of the log, and the answer says where.", "UnifiedLog.append"),
    ("produce", "append_in_order"): (
        "A producer's batch that goes on where its last one ended is appended; so is any batch of a producer of whom nothing is known.",
        "ProducerAppendInfo.checkSequence",
    ),
    ("produce", "duplicate"): (
        "One of a producer's last five batches that comes again is not appended again: the answer says where it is.",
        "ProducerStateEntry.findDuplicateBatch",
    ),
    ("fetch", "fetch"): ("A fetch is given the records from its offset on, and the limits of the log.", "UnifiedLog.read"),
    ("fetch", "fetch_of_follower"): (
        "A follower serves the fetches of version 11 and newer as the leader does, as far as it knows what is committed (KIP-392).",
        "FetchParams.fetchOnlyLeader; Partition.fetchRecords",
    ),
    ("list_offsets", "latest_offset"): (
        "The latest offset is the high watermark, in the present leader epoch.",
        "Partition.fetchOffsetForTimestamp",
    ),
    ("list_offsets", "earliest_offset"): (
        "The earliest offset is where the log starts, with the oldest leader epoch that is known.",
        "UnifiedLog.fetchOffsetByTimestamp",
    ),
    ("list_offsets", "max_timestamp_offset"): (
        "The offset of the largest time is that of the first record with it (KIP-734), maybe a deleted one whose segment is there.",
        "UnifiedLog.fetchOffsetByTimestamp",
    ),
    ("list_offsets", "time_offset"): (
        "The offset of a time is that of the first record at or after it, told with its leader epoch.",
        "UnifiedLog.fetchOffsetByTimestamp",
    ),
    ("delete_records", "delete"): (
        "Records below an offset are deleted; the log's start never goes back.",
        "Partition.deleteRecordsOnLeader",
    ),
    ("offset_for_leader_epoch", "epoch_end"): (
        "The present leader epoch ends where the log does; a later one is undefined.",
        "LeaderEpochFileCache.endOffsetFor",
    ),
    ("offset_for_leader_epoch", "older_epoch_end"): (
        "An older leader epoch ends where the next one begins that has records or is the present one, told with the last one up to it.",
        "LeaderEpochFileCache.endOffsetFor",
    ),
    ("new_leader", "new_leader_epoch"): (
        "A new leader has a larger leader epoch than all before.",
        "PartitionChangeBuilder; PartitionRegistration.merge",
    ),
}
"""What each rule says, and the class and method of Kafka 4.3.1 that has it, by API and name."""

REQUIREMENTS = {
    "init_producer_id": ("S2", "K-360"),
    "produce": ("S2", "T09"),
    "fetch": ("S2", "S6", "K-320", "K-392"),
    "list_offsets": ("S6", "K-320"),
    "delete_records": ("S10",),
    "offset_for_leader_epoch": ("K-101", "K-279", "K-320", "R16"),
    "new_leader": ("S5", "K-320"),
}
"""By API."""
