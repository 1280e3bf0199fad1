# SPDX-License-Identifier: Apache-2.0
"""The ``group_classic`` machine with what is said about it."""

from __future__ import annotations

from hwmark.model.group_classic import machine
from hwmark.model.group_classic.rules import Rules
from hwmark.spec.described import Described

from .presets import PRESETS
from .properties import PROPERTIES
from .scopes import SMALL
from .view import VIEW

DESCRIBED = Described(
    name="group_classic",
    module=machine,
    rules=Rules,
    presets=PRESETS,
    right="group_classic",
    properties=PROPERTIES,
    small=SMALL,
    view=VIEW,
)
"""Everything that the checker needs to know about the machine."""
