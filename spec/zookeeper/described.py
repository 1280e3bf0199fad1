# SPDX-License-Identifier: Apache-2.0
"""The ``zookeeper`` machine with what is said about it."""

from __future__ import annotations

from hwmark.model.zookeeper import machine
from hwmark.model.zookeeper.rules import Rules
from hwmark.spec.described import Described

from .presets import PRESETS
from .properties import PROPERTIES
from .rows import SMALL
from .view import VIEW

DESCRIBED = Described(
    name="zookeeper",
    module=machine,
    rules=Rules,
    presets=PRESETS,
    right="zookeeper",
    properties=PROPERTIES,
    small=SMALL,
    view=VIEW,
)
"""Everything that the checker needs to know about the machine."""
