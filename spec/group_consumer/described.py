# SPDX-License-Identifier: Apache-2.0
"""The ``group_consumer`` machine with what is said about it."""

from __future__ import annotations

from hwmark.model.group_consumer import machine
from hwmark.model.group_consumer.rules import Rules
from hwmark.spec.described import Described

from .presets import PRESETS
from .properties import PROPERTIES
from .scopes import SMALL
from .view import VIEW

DESCRIBED = Described(
    name="group_consumer",
    module=machine,
    rules=Rules,
    presets=PRESETS,
    right="kip_848",
    properties=PROPERTIES,
    small=SMALL,
    view=VIEW,
)
"""Everything that the checker needs to know about the machine."""
