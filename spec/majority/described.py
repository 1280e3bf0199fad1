# SPDX-License-Identifier: Apache-2.0
"""The ``majority`` machine with what is said about it."""

from __future__ import annotations

from hwmark.model.majority import machine
from hwmark.model.majority.rules import Rules
from hwmark.spec.described import Described

from .presets import PRESETS
from .properties import PROPERTIES
from .scopes import SMALL
from .view import VIEW

DESCRIBED = Described(
    name="majority",
    module=machine,
    rules=Rules,
    presets=PRESETS,
    right="majority",
    properties=PROPERTIES,
    small=SMALL,
    view=VIEW,
)
"""Everything that the checker needs to know about the machine."""
