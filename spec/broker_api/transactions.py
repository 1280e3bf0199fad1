# SPDX-License-Identifier: Apache-2.0
"""What is promised of transactions, where no check refuses a request; and what each API rests on."""

from __future__ import annotations

DONE: dict[tuple[str, str], tuple[str, str]] = {
    ("produce", "append_in_transaction"): (
        "A batch of a transaction that is under way is appended, and holds back the last stable offset until the transaction ends.",
        "UnifiedLog.append; ReplicaManager.handleProduceAppend",
    ),
    ("init_producer_id", "new_transactional_id"): (
        "A transactional id that nobody had gets a producer id, and epoch 0.",
        "TransactionCoordinator.handleInitProducerId",
    ),
    ("init_producer_id", "ongoing_is_aborted"): (
        "A transaction that is under way is aborted under a new epoch, which fences its producer, and who asked is to ask again.",
        "TransactionCoordinator.handleInitProducerId; TransactionMetadata.prepareFenceProducerEpoch",
    ),
    ("init_producer_id", "epoch_is_bumped"): (
        "A transactional id keeps its producer id, and gets the next epoch.",
        "TransactionMetadata.prepareIncrementProducerEpoch",
    ),
    ("init_producer_id", "retry_keeps_epoch"): (
        "Who names the epoch before the present one asks again for what it was not told, and gets the present one (KIP-360).",
        "TransactionMetadata.prepareIncrementProducerEpoch",
    ),
    ("add_partitions_to_txn", "partition_is_added"): (
        "A partition becomes part of the transaction, which is under way from then on.",
        "TransactionMetadata.prepareAddPartitions",
    ),
    ("add_offsets_to_txn", "offsets_are_added"): (
        "The offsets of a group become part of the transaction, which is under way from then on.",
        "KafkaApis.handleAddOffsetsToTxnRequest; TransactionMetadata.prepareAddPartitions",
    ),
    ("end_txn", "transaction_ends"): (
        "A transaction ends in all that is part of it; with version 5 under a new epoch, which the producer is told (KIP-890).",
        "TransactionCoordinator.endTransaction; TransactionMetadata.prepareAbortOrCommit",
    ),
    ("end_txn", "end_can_be_repeated"): (
        "An end that has come already is confirmed again; with version 5 by the epoch from before it.",
        "TransactionCoordinator.endTransaction",
    ),
    ("end_txn", "abort_of_nothing"): (
        "With version 5 a transaction can be aborted to which nothing was added, and the producer gets a new epoch.",
        "TransactionCoordinator.endTransaction",
    ),
}
"""What each rule says, and the class and method of Kafka 4.3.1 that has it, by API and name."""

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "add_partitions_to_txn": ("K-890",),
    "add_offsets_to_txn": ("S9", "K-890"),
    "end_txn": ("K-890",),
}
"""By API."""
