# SPDX-License-Identifier: Apache-2.0
"""The shape of a lesson: a counterexample worth keeping, and what it teaches."""

from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen
class Lesson:
    """A shortest run of a machine that breaks a property under a preset in these bounds, and what to learn from it."""

    preset: str
    machine: str
    bounds: Any
    property: str
    note: str
    source: str
    config: Any = None
    """What an operator sets; ``None`` for the machine's defaults."""
