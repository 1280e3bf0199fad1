# SPDX-License-Identifier: Apache-2.0
"""The rules by which producers write exactly once, as Kafka has or had them, and each taken wrongly."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.rules import (
    AbortedIndex,
    Duplicates,
    Ends,
    ProducerEpochs,
    Rules,
    Sequences,
    Stability,
    Takeover,
    Transactions,
    Verification,
)

RIGHT = Rules()
VERIFIED = evolve(RIGHT, transactions=Transactions.ADD_PARTITIONS)
KIP_98 = evolve(VERIFIED, verification=Verification.NOT_ASKED)

PRESETS = {
    "kip_890": RIGHT,
    "kip_890_verification": VERIFIED,
    "kip_98": KIP_98,
    "unverified": evolve(RIGHT, verification=Verification.NOT_ASKED),
    "not_idempotent": evolve(RIGHT, duplicates=Duplicates.NONE, sequences=Sequences.ANY),
    "duplicates_unknown": evolve(RIGHT, duplicates=Duplicates.NONE),
    "one_duplicate_known": evolve(RIGHT, duplicates=Duplicates.LAST_ONE),
    "any_sequence": evolve(RIGHT, sequences=Sequences.ANY),
    "any_producer_epoch": evolve(RIGHT, producer_epochs=ProducerEpochs.ANY),
    "any_end": evolve(RIGHT, ends=Ends.ANY_EPOCH),
    "takeover_unfenced": evolve(RIGHT, takeover=Takeover.ABORTS_UNFENCED),
    "takeover_goes_on": evolve(RIGHT, takeover=Takeover.GOES_ON),
    "first_open_read": evolve(RIGHT, stability=Stability.FIRST_OPEN_INCLUDED),
    "unstable_reads": evolve(RIGHT, stability=Stability.HIGH_WATERMARK),
    "aborted_not_told": evolve(RIGHT, aborted_index=AbortedIndex.NOT_TOLD),
}
"""Each preset by name, the right one first."""
