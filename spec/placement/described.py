# SPDX-License-Identifier: Apache-2.0
"""The ``placement`` machine with what is said about it."""

from __future__ import annotations

from hwmark.model.placement import machine
from hwmark.model.placement.rules import Rules
from hwmark.spec.described import Described

from .presets import PRESETS
from .properties import PROPERTIES
from .rows import SMALL
from .view import VIEW

DESCRIBED = Described(
    name="placement",
    module=machine,
    rules=Rules,
    presets=PRESETS,
    right="first_eligible",
    properties=PROPERTIES,
    small=SMALL,
    view=VIEW,
)
"""Everything that the checker needs to know about the machine."""
