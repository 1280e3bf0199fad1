# SPDX-License-Identifier: Apache-2.0
"""Measures the ray engine: what a state costs in time, memory and traffic, from which ``docs/cluster.md`` estimates more.

``python bench/cluster.py SCOPE SHARDS [safety] [symmetry]`` explores the replication machine under its right rules in a scope
of replicas, log size, records and last leader epoch, such as ``3,2,2,2``, on a cluster of this machine, or on that of
``RAY_ADDRESS``. ``safety`` leaves out what is judged on the whole graph, whose edges the driver would have to hold. Prints one
JSON object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hwmark.checker.asked import default_properties
from hwmark.checker.cluster.actors import actors
from hwmark.checker.cluster.crew import Crew, Poll
from hwmark.checker.cluster.engine import explore
from hwmark.checker.cluster.messages import Figures
from hwmark.checker.explore import Options
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Converges, LeadsTo


def main() -> None:
    """Explore, and tell."""
    scope, shards, *asked = sys.argv[1:]
    described = MACHINES["replication"]
    bounds = described.module.Bounds(*map(int, scope.split(",")))
    machine = described.build(described.presets[described.right], described.module.Config(), bounds)
    named = default_properties(described, bounds)
    properties = [prop for prop in described.properties if prop.name in named]
    if "safety" in asked:
        properties = [prop for prop in properties if not isinstance(prop, Converges | LeadsTo)]
    figures: list[Figures] = []

    @contextmanager
    def measured(size: int, poll: Poll) -> Iterator[Crew]:
        with actors(size, poll) as crew:
            yield crew
            figures.extend(crew.call("figures", dict.fromkeys(range(size), ())).values())

    found = explore(machine, properties, Options(keep_going=True, symmetry="symmetry" in asked), shards=int(shards), muster=measured)
    states = [one.states for one in figures]
    told: dict[str, Any] = {
        "scope": scope,
        "asked": asked,
        "shards": found.workers,
        "states": found.states,
        "transitions": found.transitions,
        "verdict": found.verdict.value,
        "stopped": found.stopped,
        "preparation": round(found.preparation, 1),
        "seconds": round(found.seconds, 1),
        "states_a_second": round(found.states / found.seconds),
        "states_a_cpu_second_of_shards": round(found.states / sum(one.seconds for one in figures)),
        "largest_shard_over_mean": round(max(states) * len(states) / sum(states), 4),
        "words_of_a_row": figures[0].words,
        "bytes_a_state": round(sum(one.bytes_held for one in figures) / found.states, 1),
        "bytes_sent_a_transition": round(sum(one.bytes_sent for one in figures) / found.transitions, 1),
    }
    sys.stdout.write(f"{json.dumps(told, indent=2)}\n")


if __name__ == "__main__":
    main()
