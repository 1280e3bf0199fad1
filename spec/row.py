# SPDX-License-Identifier: Apache-2.0
"""The shape of a row of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen, validators

from hwmark.model.machine import frozen_mapping

from .requirements import CARRIED, PLANNED


@frozen
class Row:
    """One rule: switched off it breaks these properties at these depths, switched on it breaks nothing, in these bounds.

    ``rules_off`` and ``rules_on`` are names of presets of the machine, and ``rule`` names the decisions in which they
    differ. A ``control`` breaks nothing either way. A row whose status is ``planned`` has no machine yet, and claims nothing.
    """

    id: str
    rule: str
    statement: str
    sources: tuple[str, ...]
    status: str = field(default=CARRIED, validator=validators.in_((CARRIED, PLANNED)))
    machine: str | None = None
    rules_off: str | None = None
    rules_on: str | None = None
    bounds: Any = None
    breaks: Mapping[str, int] = field(factory=dict, converter=frozen_mapping, hash=False)
    trace: str | None = None
    control: bool = False
    symmetry: bool = False
    quick: bool = True
    """Whether the default suite proves it; ``catalogue --run`` proves all."""
