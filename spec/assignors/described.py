# SPDX-License-Identifier: Apache-2.0
"""The assignors that have rules, with what is said about them."""

from __future__ import annotations

from hwmark.model.assignors.rules import StickyRules
from hwmark.model.assignors.sticky import cooperative_sticky_assignor, sticky_assignor
from hwmark.spec.function import DescribedFunction

from .presets import PRESETS
from .promises import PROMISES
from .questions import Scope, questions, size

STICKY = DescribedFunction(
    name="sticky_assignor",
    function=sticky_assignor,
    rules=StickyRules,
    presets=PRESETS,
    right="sticky",
    contracts=PROMISES["sticky"],
    questions=questions,
    size=size,
    small=Scope(),
)
COOPERATIVE_STICKY = DescribedFunction(
    name="cooperative_sticky_assignor",
    function=cooperative_sticky_assignor,
    rules=StickyRules,
    presets=PRESETS,
    right="sticky",
    contracts=PROMISES["cooperative-sticky"],
    questions=questions,
    size=size,
    small=Scope(),
)
DESCRIBED = (STICKY, COOPERATIVE_STICKY)
