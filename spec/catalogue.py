# SPDX-License-Identifier: Apache-2.0
"""The catalogue: each rule that matters, where it comes from, and what breaks without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen
class Row:
    """One rule: switched off it breaks these properties at these depths, switched on it breaks nothing, in these bounds.

    A ``control`` breaks nothing either way. ``rules_off`` and ``rules_on`` are names of presets of the machine. A row
    whose status is ``planned`` has no machine yet, and claims nothing.
    """

    id: str
    rule: str
    statement: str
    sources: tuple[str, ...]
    status: str = "carried"
    machine: str | None = None
    rules_off: str | None = None
    rules_on: str | None = None
    bounds: Any = None
    breaks: Mapping[str, int] = field(factory=dict)
    trace: str | None = None
    control: bool = False
    symmetry: bool = False
    quick: bool = True
    """Whether the default suite proves it; ``catalogue --run`` proves all."""


ROWS: tuple[Row, ...] = ()
