# SPDX-License-Identifier: Apache-2.0
"""A counter whose exploration calls every kernel once: that compiles them, or loads what was compiled before."""

from __future__ import annotations

from attrs import frozen

from hwmark.model.machine import Machine, action, kafka, put
from hwmark.spec.property import Witness, invariant, step_property, witness

LAST = 600
"""Enough codes for wide nodes and their larger tables, and for rows to be packed anew."""


@frozen
class Count:
    """A number."""

    value: int = 0


@action()
@kafka("nothing of Kafka", versions="none", simplified="a counter")
def count(state: Count) -> Count | None:
    """Counts."""
    return put(state, value=state.value + 1) if state.value < LAST else None


@invariant(sources=())
def in_range(state: Count) -> Witness | None:
    """The count is in its range."""
    return None if 0 <= state.value <= LAST else witness(value=state.value)


@step_property(sources=())
def grows(before: Count, _step: object, after: Count) -> Witness | None:
    """The count grows."""
    return None if before.value < after.value else witness(value=before.value)


MACHINE: Machine[Count] = Machine("counter", None, None, None, (Count(),), (count,))
PROPERTIES = (in_range, grows)
