# SPDX-License-Identifier: Apache-2.0
"""What somebody else's answer says of the state, where it is another one than ours: so that one can go on from there."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.state import State

from .producers import appended, attempted
from .requests import Deleted, DeleteRecords, Fetch, ListOffsets, NewLeader, OffsetForLeaderEpoch, Produce, Produced


def adopt(state: State, request: Any, other: Any) -> State | None:
    """Return the state that another answer to a request leaves, ``None`` if it cannot be told."""
    match request, other:
        case Produce(), Produced(error=Errors.NONE, base_offset=offset):
            return appended(attempted(state, request), request) if offset == state.end_offset else repeated(state, request, offset)
        case Produce(), Produced():
            return attempted(state, request)
        case DeleteRecords(), Deleted(error=Errors.NONE, low_watermark=start):
            return evolve(state, log_start_offset=start) if 0 <= start <= state.end_offset else None
        case ((DeleteRecords() | Fetch() | ListOffsets() | OffsetForLeaderEpoch() | NewLeader()), _):
            return state
    return None


def repeated(state: State, request: Produce, offset: int) -> State | None:
    """Return the state in which a batch was taken for one that is there already."""
    if not 0 <= offset < state.end_offset:
        return None
    return attempted(state, request)
