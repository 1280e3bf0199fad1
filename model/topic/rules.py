# SPDX-License-Identifier: Apache-2.0
"""The decisions of the ``topic`` machine: how retries find their place, and what a broker makes of them."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class SequenceCheck(Enum):
    """Which sequence number a leader appends next from an idempotent producer, unless it has the batch already."""

    NEXT = "next"
    """The one behind the last, and 0 at the start (for transactions since KIP-890)."""
    NEXT_OR_ANY_FIRST = "next_or_any_first"
    """The one behind the last, and any where it knows nothing of the producer yet (Kafka without transactions)."""
    ANY = "any"
    """Any."""


class Remembered(Enum):
    """Which batches of a producer a leader remembers, to tell a retry from news."""

    LAST_FIVE = "last_five"
    """The last five, as many as an idempotent producer may have in flight (KAFKA-5494)."""
    LAST = "last"
    """The last one."""


class Requeue(Enum):
    """Where an idempotent producer puts a batch that is to be sent again."""

    IN_SEQUENCE = "in_sequence"
    """Before those with a later sequence number (KAFKA-5494)."""
    FIRST = "first"
    """First of all, as without idempotence."""


class RetryPartition(Enum):
    """To which partition a batch is sent again."""

    SAME = "same"
    """To the one that was chosen at first."""
    CHOSEN_AGAIN = "chosen_again"
    """To another one that the producer knows, as if it were sent for the first time."""


class MissingPartition(Enum):
    """What becomes of a record for a partition that the topic does not have."""

    REFUSED = "refused"
    """The application hears that there is none, after the producer has waited for newer metadata."""
    WRAPPED = "wrapped"
    """It goes to another one: the remainder of the number."""


class OffsetSize(Enum):
    """How many bits an offset has."""

    BITS_64 = "bits_64"
    """64, with a sign."""
    BITS_32 = "bits_32"
    """32, with a sign."""


@frozen
class Rules:
    """One value of each decision; under the defaults every promise holds."""

    sequence_check: SequenceCheck = SequenceCheck.NEXT
    remembered: Remembered = Remembered.LAST_FIVE
    requeue: Requeue = Requeue.IN_SEQUENCE
    retry_partition: RetryPartition = RetryPartition.SAME
    missing_partition: MissingPartition = MissingPartition.REFUSED
    offset_size: OffsetSize = OffsetSize.BITS_64
