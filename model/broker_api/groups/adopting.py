# SPDX-License-Identifier: Apache-2.0
"""What somebody else's answer about a group says of its state, where it is another one than ours."""

from __future__ import annotations

from typing import Any

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.partition.requests import Support
from hwmark.model.broker_api.state import State

from .classic import attempted as tried
from .consumer import attempted
from .offsets import committed, deleted
from .requests import (
    Await,
    ConsumerGroupHeartbeat,
    DescribeGroup,
    FindCoordinator,
    Heartbeat,
    JoinGroup,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    TxnOffsetCommit,
)
from .transactional import committed as committed_in_transaction


def adopt(state: State, request: Any, other: Any) -> State | None:
    """Return the state that another answer leaves, ``None`` if it cannot be told: a refusal changes nothing."""
    is_done = getattr(other, "error", None) is Errors.NONE
    match request:
        case Heartbeat() | OffsetFetch() | DescribeGroup() | FindCoordinator():
            return state
        case OffsetCommit() | OffsetDelete():
            return done(state, request) if is_done else state
        case TxnOffsetCommit():
            return in_transaction(state, request) if is_done else refused(state, request)
        case JoinGroup() if not is_done and other.error is not Errors.MEMBER_ID_REQUIRED:
            return tried(state, request)
        case ConsumerGroupHeartbeat() if not is_done:
            return attempted(state, request)
    return None if is_done or isinstance(request, Await | JoinGroup) else state


def done(state: State, request: OffsetCommit | OffsetDelete) -> State:
    """Return the state in which an offset was committed or deleted, whatever spoke against it."""
    if isinstance(request, OffsetCommit):
        return committed(state, request).state
    return deleted(state, request).state


def in_transaction(state: State, request: TxnOffsetCommit) -> State | None:
    """Return the state in which an offset was committed in a transaction; when it would end that has no offsets cannot be told."""
    known = state.transaction(request.producer)
    is_part = known is not None and (known.has_offsets or request.support is Support.ADDS)
    return committed_in_transaction(state, request).state if is_part else None


def refused(state: State, request: TxnOffsetCommit) -> State | None:
    """Return the state in which an offset was not committed; whether offsets are part of the transaction then cannot be told."""
    return None if request.support is Support.ADDS else state
