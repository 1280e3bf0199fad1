# SPDX-License-Identifier: Apache-2.0
"""Finds the shortest counterexample of each lesson, and writes it as a shipped trace.

``python -m hwmark.checker.lessons traces [NAME…]`` writes all of them, or those named, into the folder ``traces``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from hwmark.spec.lesson import Lesson
from hwmark.spec.lessons import LESSONS
from hwmark.spec.machines import MACHINES

from .engines import search
from .explore import Options
from .questions import follows_names
from .shipped import ENDING
from .trace import Trace, to_trace, write


def find(lesson: Lesson) -> Trace:
    """Explore the lesson's machine until its property is violated, and return the shortest run with the lesson's note.

    Symmetry is used where it can be: the run is a real one all the same. Raises ``ValueError`` if nothing is violated.
    """
    described = MACHINES[lesson.machine]
    config = described.module.Config() if lesson.config is None else lesson.config
    machine = described.build(described.presets[lesson.preset], config, lesson.bounds)
    chosen = next(prop for prop in described.properties if prop.name == lesson.property)
    symmetry = bool(machine.interchangeable) and not follows_names(chosen)
    result, *_ = search(machine, [chosen], Options(symmetry=symmetry)).results
    return evolve(to_trace(described, lesson.preset, machine, result), note=lesson.note)


def main(arguments: Sequence[str]) -> int:
    """Write the traces into the folder that is named first; return the exit code."""
    if not arguments or not Path(arguments[0]).is_dir() or not set(arguments[1:]) <= set(LESSONS):
        sys.stderr.write(f"name a folder, and perhaps some of these lessons: {', '.join(LESSONS)}\n")
        return 2
    for name in arguments[1:] or LESSONS:
        write(find(LESSONS[name]), Path(arguments[0]) / f"{name}{ENDING}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
