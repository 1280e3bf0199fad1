# SPDX-License-Identifier: Apache-2.0
"""The rules of Kafka 4.3 for committed offsets, and each of them taken differently: by an older version, or by mistake."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.offsets.rules import (
    CommitCheck,
    Expiry,
    Loading,
    OffsetFetchStability,
    Rules,
    TransactionalIdentity,
    TransactionalOrder,
    UnknownGroup,
)

RIGHT = Rules()

PRESETS = {
    "offsets": RIGHT,
    "unknown_group_stored": evolve(RIGHT, unknown_group=UnknownGroup.STORE),
    "generation_unchecked": evolve(RIGHT, commit_check=CommitCheck.MEMBER_ONLY),
    "epoch_exact": evolve(RIGHT, commit_check=CommitCheck.EXACT),
    "transactional_commit_unfenced": evolve(RIGHT, transactional_identity=TransactionalIdentity.NOBODY),
    "marker_order": evolve(RIGHT, transactional_order=TransactionalOrder.MARKER),
    "unstable_offset_fetch": evolve(RIGHT, offset_fetch=OffsetFetchStability.ANY),
    "expiry_in_active_group": evolve(RIGHT, expiry=Expiry.LAST_COMMIT_ALWAYS),
    "expiry_from_last_commit": evolve(RIGHT, expiry=Expiry.LAST_COMMIT),
    "served_while_loading": evolve(RIGHT, loading=Loading.SERVE),
}
"""Each preset by name, the right one first."""
