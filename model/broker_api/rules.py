# SPDX-License-Identifier: Apache-2.0
"""The decisions by which producers write exactly once: what Kafka 4.3 does, and what was done before, or may be done wrongly."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class Transactions(Enum):
    """Which requests make and end transactions."""

    ADD_PARTITIONS = "add_partitions"
    """Partitions are added by a request of their own, and the producer keeps its epoch (KIP-98, ``transaction.version`` 1)."""
    BATCHES_ADD = "batches_add"
    """The first batch adds its partition, and every end gives the producer a new epoch (KIP-890, ``transaction.version`` 2)."""


class Verification(Enum):
    """Whether a leader asks the coordinator before it appends the first batch of a transaction."""

    ASKED = "asked"
    """It does (KIP-890, part 1)."""
    NOT_ASKED = "not_asked"
    """It takes the producer's word (until 3.5)."""


class Duplicates(Enum):
    """Which batches are known again."""

    LAST_FIVE = "last_five"
    """The last five of a producer's epoch."""
    LAST_ONE = "last_one"
    NONE = "none"


class Sequences(Enum):
    """Which sequence a batch must have."""

    NEXT = "next"
    """That after the last one."""
    ANY = "any"


class ProducerEpochs(Enum):
    """Whose batches are taken."""

    LATEST = "latest"
    """Those of the latest epoch."""
    ANY = "any"


class Ends(Enum):
    """Who may end a transaction."""

    PRESENT_EPOCH = "present_epoch"
    """Who has the present epoch."""
    ANY_EPOCH = "any_epoch"


class Takeover(Enum):
    """What becomes of a transaction when another instance takes the transactional id."""

    ABORTS = "aborts"
    """It is aborted first, under a new epoch, which fences the instance before."""
    ABORTS_UNFENCED = "aborts_unfenced"
    """It is aborted under the epoch that it has (until 0.11.0, KAFKA-5231)."""
    GOES_ON = "goes_on"


class Stability(Enum):
    """Up to where who reads what is committed may read."""

    FIRST_OPEN = "first_open"
    """Up to the first record of a transaction that is under way, which is not read."""
    FIRST_OPEN_INCLUDED = "first_open_included"
    """Up to that record, which is read."""
    HIGH_WATERMARK = "high_watermark"


class AbortedIndex(Enum):
    """Whether who reads what is committed is told of aborted transactions."""

    TOLD = "told"
    NOT_TOLD = "not_told"


@frozen
class Rules:
    """How producers write exactly once."""

    transactions: Transactions = Transactions.BATCHES_ADD
    verification: Verification = Verification.ASKED
    duplicates: Duplicates = Duplicates.LAST_FIVE
    sequences: Sequences = Sequences.NEXT
    producer_epochs: ProducerEpochs = ProducerEpochs.LATEST
    ends: Ends = Ends.PRESENT_EPOCH
    takeover: Takeover = Takeover.ABORTS
    stability: Stability = Stability.FIRST_OPEN
    aborted_index: AbortedIndex = AbortedIndex.TOLD


LACKS: dict[Enum, frozenset[str]] = {
    Verification.NOT_ASKED: frozenset(
        {
            "older_epoch_at_once",
            "known_transactional_id",
            "epoch_of_transactional_id",
            "part_of_transaction",
            "abortable",
            "transaction_begins_at_zero",
            "least_sequence_first",
        }
    ),
    Duplicates.LAST_ONE: frozenset({"five_batches"}),
    Duplicates.NONE: frozenset({"duplicate"}),
    Sequences.ANY: frozenset({"transaction_begins_at_zero", "least_sequence_first", "new_epoch_begins_at_zero", "next_sequence"}),
    ProducerEpochs.ANY: frozenset({"older_epoch_at_once", "epoch_of_transactional_id", "older_producer_epoch"}),
    Ends.ANY_EPOCH: frozenset({"epoch_ends"}),
    Takeover.ABORTS_UNFENCED: frozenset({"abort_fences"}),
    Takeover.GOES_ON: frozenset({"ongoing_is_aborted"}),
    Stability.FIRST_OPEN_INCLUDED: frozenset({"first_open_is_not_read"}),
    Stability.HIGH_WATERMARK: frozenset({"open_holds_back"}),
    AbortedIndex.NOT_TOLD: frozenset({"aborted_are_told"}),
}
"""The checks and effects that a broker lacks under a decision."""


def lacking(rules: Rules) -> frozenset[str]:
    """Return all that a broker lacks under these rules."""
    decisions = (
        rules.verification,
        rules.duplicates,
        rules.sequences,
        rules.producer_epochs,
        rules.ends,
        rules.takeover,
        rules.stability,
        rules.aborted_index,
    )
    return frozenset(name for one in decisions for name in LACKS.get(one, ()))
