# SPDX-License-Identifier: Apache-2.0
"""The placer with what is said about it."""

from __future__ import annotations

from hwmark.model.placement.placer import place
from hwmark.model.placement.rules import PlacerRules
from hwmark.spec.function import DescribedFunction

from .contracts import CONTRACTS
from .placer_presets import PRESETS
from .questions import Scope, questions, size

PLACER = DescribedFunction(
    name="striped_replica_placer",
    function=place,
    rules=PlacerRules,
    presets=PRESETS,
    right="leaders_in_turn",
    contracts=CONTRACTS,
    questions=questions,
    size=size,
    small=Scope(),
)
"""Everything that the checker needs to know about the placer."""
