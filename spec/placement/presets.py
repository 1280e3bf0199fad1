# SPDX-License-Identifier: Apache-2.0
"""The controller's rules with a name: Kafka's, each that breaks something, and other ways to choose a leader."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.placement.rules import Assignment, Choice, Preferred, Returning, Rules

KAFKA = Rules()

PRESETS: dict[str, Rules] = {
    "first_eligible": KAFKA,
    "last_eligible": evolve(KAFKA, choice=Choice.LAST),
    "least_loaded": evolve(KAFKA, choice=Choice.LEAST_LOADED),
    "least_loaded_before": evolve(KAFKA, choice=Choice.LEAST_LOADED_BEFORE),
    "in_rounds": evolve(KAFKA, assignment=Assignment.IN_ROUNDS),
    "same_order": evolve(KAFKA, assignment=Assignment.SAME_ORDER),
    "preferred_at_once": evolve(KAFKA, preferred=Preferred.ALIVE),
    "no_election_on_return": evolve(KAFKA, returning=Returning.NOTHING),
}
"""Each preset by name, the right one first."""
