# SPDX-License-Identifier: Apache-2.0
"""The ``broker_api`` machine with what is said about it."""

from __future__ import annotations

from hwmark.model.broker_api import machine
from hwmark.model.broker_api.rules import Rules
from hwmark.spec.described import Described

from .presets import PRESETS
from .properties import PROPERTIES
from .rows import SMALL
from .view import VIEW

DESCRIBED = Described(
    name="broker_api",
    module=machine,
    rules=Rules,
    presets=PRESETS,
    right="kip_890",
    properties=PROPERTIES,
    small=SMALL,
    view=VIEW,
)
"""Everything that the checker needs to know about the machine."""
