# SPDX-License-Identifier: Apache-2.0
"""Which id, and which generation or epoch, a request says: by what its member has been told, by the model or by a broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hwmark.model.broker_api.state import State

from .requests import Epoch, Identity
from .state import NO_ID, STRANGER, ConsumerMember

FIXED = {Epoch.NONE: -1, Epoch.JOIN: 0, Epoch.LEAVE: -1, Epoch.LEAVE_STATIC: -2, Epoch.UNHEARD_OF: -3}
BACK = {Epoch.RIGHT: 1, Epoch.PREVIOUS: 2, Epoch.OLDER: 3}
"""Which of the epochs that were told, from the last."""


def said_id(identity: Identity, ids: Sequence[str], stranger: str = STRANGER) -> str:
    """Return the id that is meant, given all that the member had."""
    match identity:
        case Identity.RIGHT | Identity.NEW:
            return ids[-1] if ids else NO_ID
        case Identity.NONE:
            return NO_ID
        case Identity.FORMER:
            return ids[-2] if len(ids) > 1 else stranger
        case Identity.STRANGER:
            return stranger


def said_epoch(epoch: Epoch, told: Sequence[int]) -> int:
    """Return the generation or member epoch that is meant, given all that the member was told."""
    if epoch in FIXED:
        return FIXED[epoch]
    if epoch is Epoch.NEWER:
        return told[-1] + 1 if told else 1
    return told[-BACK[epoch]] if len(told) >= BACK[epoch] else 0


def id_of(state: State, request: Any) -> str:
    """Return the id that a request says."""
    return said_id(request.identity, state.groups.of(request.member).ids)


def epoch_of(state: State, request: Any) -> int:
    """Return the generation or member epoch that a request says; of who has no id a fetch says none."""
    return said_epoch(request.epoch, state.groups.of(request.member).epochs)


def makes_id(state: State, request: Any) -> bool:
    """Whether a member of the consumer protocol makes up an id for this request."""
    return request.identity is Identity.NEW or (request.identity is Identity.RIGHT and not state.groups.of(request.member).ids)


def consumer_of(state: State, request: Any) -> ConsumerMember | None:
    """Return the member of the consumer protocol that a request names."""
    group = state.groups.consumer
    return None if group is None else group.member(id_of(state, request))
