# SPDX-License-Identifier: Apache-2.0
"""Random runs of the consumer group machine, which Kafka's coordinator and Kafka's consumers are taken through."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hwmark.checker.system import system
from hwmark.model.group_consumer.machine import machine
from hwmark.model.group_consumer.rules import Rules
from hwmark.model.group_consumer.state import Bounds, Config, State
from hwmark.model.machine import Step

WALKS, STEPS = 100, 90

Taken = tuple[State, Step, State]
"""One step of a run: the state before, the step, and the state after."""


def walks(rules: Rules, config: Config, bounds: Bounds, count: int = WALKS) -> Iterator[list[Taken]]:
    """Yield random runs, the same each time; the action is drawn first, so that rare ones are taken too."""
    explored = system(machine(rules, config, bounds), ())
    chance = random.Random(0)  # noqa: S311 - repeatable, not secret
    for _ in range(count):
        state, run = explored.initial[0], list[Taken]()
        for _ in range(STEPS):
            enabled: dict[str, list[tuple[Step, State]]] = {}
            for step, take in zip(explored.steps, explored.takes, strict=True):
                after = take(state)
                if after is not None:
                    enabled.setdefault(step.action, []).append((step, after))
            step, after = chance.choice(enabled[chance.choice(sorted(enabled))])
            run.append((state, step, after))
            state = after
        yield run
