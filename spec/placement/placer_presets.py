# SPDX-License-Identifier: Apache-2.0
"""The placer's rules with a name: the right ones, each that breaks something, and what Kafka takes together."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.placement.elections import KAFKAS_PLACER
from hwmark.model.placement.rules import Leading, PlacerRules, Rewinding

RIGHT = PlacerRules()

PRESETS: dict[str, PlacerRules] = {
    "leaders_in_turn": RIGHT,
    "kafka_4_3": KAFKAS_PLACER,
    "next_leads": evolve(RIGHT, leading=Leading.NEXT),
    "lists_not_rewound": evolve(RIGHT, rewinding=Rewinding.EACH_NUMBER),
}
"""Every preset, the right one first."""
