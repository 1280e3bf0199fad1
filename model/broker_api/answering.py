# SPDX-License-Identifier: Apache-2.0
"""What a broker answers to any request: the first check that fails decides, and if none does, what the part of the broker does."""

from __future__ import annotations

from typing import Any

from .groups.table import GROUPS
from .part import Outcome, Part
from .partition.table import PARTITION
from .state import State
from .transactions.table import TRANSACTIONS

PARTS = (PARTITION, TRANSACTIONS, GROUPS)
"""All that a broker does."""
PART_OF: dict[type[Any], Part] = {kind: part for part in PARTS for kind in part.apis}
"""The part that answers each type of request."""
APIS: dict[type[Any], str] = {kind: api for part in PARTS for kind, api in part.apis.items()}
"""The name of the API of each type of request."""
TYPES: dict[type[Any], type[Any]] = {kind: answer for part in PARTS for kind, answer in part.types.items()}
"""The type of the answer to each type of request."""
EFFECTS: tuple[str, ...] = tuple(effect for part in PARTS for effect in part.effects)
"""What can be taken away beside the checks."""


def answer(state: State, request: Any) -> Outcome:
    """Return what a broker answers, and what it knows afterwards."""
    kind = type(request)
    part = PART_OF[kind]
    skipped = state.lacks | part.exempt[kind](state, request) if kind in part.exempt else state.lacks
    failed = next((check for check in part.checks.get(kind, ()) if check.name not in skipped and check.fails(state, request)), None)
    if failed is None:
        return part.answers[kind](state, request)
    refusal = part.types[kind](failed.error)
    told = part.refused[kind](request, refusal) if kind in part.refused else refusal
    after = part.attempted[kind](state, request, failed.name) if kind in part.attempted else state
    return Outcome(failed.name, told, after)


def is_asked(state: State, request: Any) -> bool:
    """Whether there is an answer to a request that can be told."""
    unasked = PART_OF[type(request)].unasked.get(type(request))
    return unasked is None or not unasked(state, request)


def adopt(state: State, request: Any, other: Any) -> State | None:
    """Return the state that another answer than ours leaves, so that one can go on from there; ``None`` if it cannot be told."""
    return PART_OF[type(request)].adopt(state, request, other)
