# SPDX-License-Identifier: Apache-2.0
"""What a part of a broker consists of: the requests that it answers, the checks before it does, and the effects of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from .common import Errors, Where
from .state import State


@frozen
class Check:
    """What is refused, where in Kafka, when, and with which error."""

    name: str
    says: str
    kafka: str
    fails: Callable[[State, Any], bool]
    error: Errors


@frozen
class Outcome:
    """What a request leads to: the answer, the state after it, and the rule that decided.

    ``also``: other answers that are as right, and leave the same state.
    """

    rule: str
    answer: Any
    state: State
    also: tuple[Any, ...] = ()


@frozen
class Part:
    """A part of what a broker answers: tables by type of request.

    ``effects`` name what is done right once nothing speaks against a request: a broker may lack any, as it may lack any check
    (``State.lacks``).
    """

    apis: Mapping[type[Any], str]
    """The name of each API."""
    checks: Mapping[type[Any], tuple[Check, ...]]
    """In the order in which they are made: the first that fails answers."""
    answers: Mapping[type[Any], Callable[[State, Any], Outcome]]
    """Return what a request leads to that nothing speaks against."""
    types: Mapping[type[Any], type[Any]]
    """The type of the answer; a refusal has nothing but its error."""
    effects: tuple[str, ...]
    adopt: Callable[[State, Any, Any], State | None]
    """Return the state that another answer to a request leaves, ``None`` if it cannot be told."""
    exempt: Mapping[type[Any], Callable[[State, Any], frozenset[str]]] = field(factory=dict)
    """Return the checks that are not made this time."""
    attempted: Mapping[type[Any], Callable[[State, Any, str], State]] = field(factory=dict)
    """Return the state that even a request leaves that is refused, by a check with this name."""
    refused: Mapping[type[Any], Callable[[Any, Any], Any]] = field(factory=dict)
    """Return what is answered in place of a refusal."""
    unasked: Mapping[type[Any], Callable[[State, Any], bool]] = field(factory=dict)
    """Whether a request is not asked, as there is no telling what it leads to."""


def is_elsewhere(_state: State, request: Any) -> bool:
    """Whether a request is about a partition that there is not."""
    return request.where is not Where.PARTITION


UNKNOWN = Check(
    "unknown_partition",
    "A partition that there is not is said to be unknown.",
    "KafkaApis; ReplicaManager.getPartitionOrException",
    is_elsewhere,
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
)
"""Of all requests that name a partition."""
