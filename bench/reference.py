# SPDX-License-Identifier: Apache-2.0
"""Measures the reference engine on the replication machine, as ratios to a bare breadth-first loop in the same run.

``python bench/reference.py [RUNS]`` (default 3) prints the median of each: states a second, and the ratio to the baseline,
which visits the same states with the same actions, and does nothing else: no parents, statistics, limits or promises.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from hwmark.checker.explore import Options, explore
from hwmark.model.machine import Machine
from hwmark.model.replication import Bounds
from hwmark.spec.machines import MACHINES

DESCRIBED = MACHINES["replication"]
SCOPE = Bounds(replicas=3, log_size=2, records=2, max_leader_epoch=1)
SAFETY = tuple(prop for prop in DESCRIBED.properties if prop.kind in ("invariant", "step") and not prop.observers)
DEFAULT = tuple(prop for prop in DESCRIBED.properties if not prop.observers)


def bare(machine: Machine[Any]) -> int:
    """Visit every state, and count them."""
    takes = [take for _, take in machine.instances()]
    seen, frontier = set(machine.initial), list(machine.initial)
    while frontier:
        found = []
        for state in frontier:
            for take in takes:
                after = take(state)
                if after is not None and after not in seen:
                    seen.add(after)
                    found.append(after)
        frontier = found
    return len(seen)


CASES: dict[str, Callable[[Machine[Any]], int]] = {
    "bare loop (baseline)": bare,
    "no properties": lambda machine: explore(machine, ()).states,
    "safety": lambda machine: explore(machine, SAFETY, Options(keep_going=True)).states,
    "safety, goals, convergence, liveness": lambda machine: explore(machine, DEFAULT, Options(keep_going=True)).states,
    "safety, symmetric": lambda machine: explore(machine, SAFETY, Options(keep_going=True, symmetry=True)).states,
}


def rate(case: Callable[[Machine[Any]], int]) -> float:
    """Return how many states a second one case visits."""
    machine = DESCRIBED.build(DESCRIBED.presets[DESCRIBED.right], DESCRIBED.module.Config(), SCOPE)
    started = time.perf_counter()
    return case(machine) / (time.perf_counter() - started)


def main() -> None:
    """Measure all cases in turn, several times over, and print the medians."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    explore(DESCRIBED.build(DESCRIBED.presets[DESCRIBED.right], None, Bounds(1, 1, 1, 0)), DEFAULT)  # imports are not measured
    rates: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(runs):
        for name, case in CASES.items():
            rates[name].append(rate(case))
    baseline = median(next(iter(rates.values())))
    for name, measured in rates.items():
        sys.stdout.write(f"{name:38} {median(measured):9,.0f} states/s  {median(measured) / baseline:5.2f} of the baseline\n")


if __name__ == "__main__":
    main()
