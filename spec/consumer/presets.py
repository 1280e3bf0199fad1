# SPDX-License-Identifier: Apache-2.0
"""How a consumer keeps its place, and each decision taken differently: by an older version, by another client, or by mistake."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.consumer.rules import (
    CommitOrder,
    CommitRetry,
    CommittedEpoch,
    FetchEpoch,
    Initialization,
    LoadedOffset,
    ResetScope,
    Rules,
    UndefinedEnd,
    Validation,
)

RIGHT = Rules()
AFTER_CALLBACK = evolve(RIGHT, initialization=Initialization.AFTER_CALLBACK)

PRESETS = {
    "consumer": RIGHT,
    "end_offset_validation": evolve(RIGHT, validation=Validation.END_OFFSET),
    "positions_after_callback": AFTER_CALLBACK,
    "reset_after_callback": evolve(AFTER_CALLBACK, reset_scope=ResetScope.CALLBACK_DONE),
    "reset_in_callback": evolve(AFTER_CALLBACK, reset_scope=ResetScope.ALL_INITIALIZING),
    "reset_of_all": evolve(RIGHT, reset_scope=ResetScope.ALL_INITIALIZING),
    "loaded_offset_always": evolve(RIGHT, loaded_offset=LoadedOffset.ALWAYS),
    "fetch_without_epoch": evolve(RIGHT, fetch_epoch=FetchEpoch.NONE),
    "position_unvalidated": evolve(RIGHT, validation=Validation.NONE),
    "undefined_end_as_offset": evolve(RIGHT, undefined_end=UndefinedEnd.OFFSET),
    "commit_without_epoch": evolve(RIGHT, committed_epoch=CommittedEpoch.LEFT_OUT),
    "commits_in_any_order": evolve(RIGHT, commit_order=CommitOrder.ANY),
    "async_commit_retried": evolve(RIGHT, commit_retry=CommitRetry.LATER),
}
"""Each preset by name, the right one first; ``end_offset_validation`` is Kafka 4.3 as it is."""
