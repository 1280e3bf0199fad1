# SPDX-License-Identifier: Apache-2.0
"""All that a broker does as the coordinator of transactions, by type of request."""

from __future__ import annotations

from hwmark.model.broker_api.part import Part
from hwmark.model.broker_api.partition.requests import ProducerIdGiven

from .adopting import adopt
from .checks import CHECKS
from .coordinator import added, finished, initialized, offsets_added
from .requests import Added, AddOffsetsToTxn, AddPartitionsToTxn, Ended, EndTxn, InitTransactions

TRANSACTIONS = Part(
    apis={
        InitTransactions: "init_producer_id",
        AddPartitionsToTxn: "add_partitions_to_txn",
        AddOffsetsToTxn: "add_offsets_to_txn",
        EndTxn: "end_txn",
    },
    checks=CHECKS,
    answers={InitTransactions: initialized, AddPartitionsToTxn: added, AddOffsetsToTxn: offsets_added, EndTxn: finished},
    types={InitTransactions: ProducerIdGiven, AddPartitionsToTxn: Added, AddOffsetsToTxn: Added, EndTxn: Ended},
    effects=("ongoing_is_aborted", "abort_fences", "retry_keeps_epoch", "epoch_is_bumped", "end_bumps_epoch"),
    adopt=adopt,
)
"""Transactions, as part of a broker."""
