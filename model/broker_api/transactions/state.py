# SPDX-License-Identifier: Apache-2.0
"""What a coordinator knows of a transactional id; the states in which it waits for markers are passed through at once."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from hwmark.model.broker_api.common import NOTHING


class Status(Enum):
    """How far a transaction is (``TransactionState``)."""

    EMPTY = "empty"
    ONGOING = "ongoing"
    COMMITTED = "committed"
    ABORTED = "aborted"


@frozen(cache_hash=True)
class Transaction:
    """The producer's epoch, and the one before if that may still be named; whether the partition, and offsets, are part of it."""

    epoch: int = 0
    last_epoch: int = NOTHING
    status: Status = Status.EMPTY
    has_partition: bool = False
    has_offsets: bool = False
