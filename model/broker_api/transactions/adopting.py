# SPDX-License-Identifier: Apache-2.0
"""What somebody else's answer says of the state, where it is another one than ours: so that one can go on from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.partition.requests import ProducerIdGiven
from hwmark.model.broker_api.partition.state import Producer
from hwmark.model.broker_api.state import State

from .coordinator import added, offsets_added
from .requests import AddOffsetsToTxn, AddPartitionsToTxn, EndTxn, InitTransactions
from .state import Status, Transaction

ADDING: Mapping[type[Any], Callable[[State, Any], Outcome]] = {AddPartitionsToTxn: added, AddOffsetsToTxn: offsets_added}


def adopt(state: State, request: Any, other: Any) -> State | None:
    """Return the state that another answer to a request leaves, ``None`` if it cannot be told."""
    match request, other:
        case InitTransactions(producer=name), ProducerIdGiven(error=Errors.NONE, producer_epoch=epoch):
            known = state.transaction(name)
            if epoch < 0 or (known is not None and known.status is Status.ONGOING):
                return None  # what became of the transaction cannot be told
            entry = dict(state.producers).get(name, Producer())
            return state.with_transaction(name, Transaction(epoch)).with_producer(name, evolve(entry, given=epoch))
        case (AddPartitionsToTxn(producer=name) | AddOffsetsToTxn(producer=name), _):
            if other.error is not Errors.NONE:
                return state
            return None if state.transaction(name) is None else ADDING[type(request)](state, request).state
        case (EndTxn(producer=name), _) if other.error is not Errors.NONE:
            known = state.transaction(name)
            return state if known is None or known.status is not Status.ONGOING else None
    return None
