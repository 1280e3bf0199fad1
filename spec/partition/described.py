# SPDX-License-Identifier: Apache-2.0
"""What the checker needs to know about the ``partition`` machine."""

from __future__ import annotations

from hwmark.model.partition import machine
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.state import Bounds
from hwmark.spec.described import Described
from hwmark.spec.guarantees.promises import PROMISES

from . import failures
from .presets import PRESETS
from .properties import PROPERTIES
from .view import VIEW

DESCRIBED = Described(
    name="partition",
    module=machine,
    rules=PartitionRules,
    presets=PRESETS,
    right="partition",
    properties=(*PROPERTIES, *failures.PROPERTIES),
    small=Bounds(brokers=2, records=1, crashes=1),
    view=VIEW,
    by_name=PROMISES,
)
