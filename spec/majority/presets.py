# SPDX-License-Identifier: Apache-2.0
"""Named rules of the ``majority`` machine: the right ones, and each single rule switched off."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.majority.rules import CommitEpoch, Flush, QuorumSize, Rules, Truncation, VoteCheck, VoteMemory

RIGHT = Rules()

PRESETS = {
    "majority": RIGHT,
    "half_is_enough": evolve(RIGHT, quorum_size=QuorumSize.HALF),
    "vote_for_the_longest_log": evolve(RIGHT, vote_check=VoteCheck.LONGEST),
    "vote_for_any_log": evolve(RIGHT, vote_check=VoteCheck.NONE),
    "vote_forgotten": evolve(RIGHT, vote_memory=VoteMemory.FORGOTTEN),
    "commit_of_any_epoch": evolve(RIGHT, commit_epoch=CommitEpoch.ANY),
    "follower_not_truncated": evolve(RIGHT, truncation=Truncation.NONE),
    "flushed_later": evolve(RIGHT, flush=Flush.LATER),
}
"""Every preset by name, the right one first."""
