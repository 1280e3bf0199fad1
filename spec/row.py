# SPDX-License-Identifier: Apache-2.0
"""The shape of a row of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen, validators

from hwmark.model.machine import frozen_mapping

from .requirements import CARRIED, PLANNED


@frozen
class Example:
    """A smallest question to a pure function, and its answer where the rule is switched off; ``None`` where it fails."""

    question: Any
    answer: Any


@frozen
class Row:
    """One rule: switched off it breaks these properties at these depths, switched on it breaks nothing, in these bounds.

    ``rules_off`` and ``rules_on`` are names of presets of the machine, and ``rule`` names the decisions in which they
    differ. A ``control`` breaks nothing either way. A row without ``rules_off`` says of a whole scope that the right rules
    hold in it, and how many ``states`` it has. A row whose status is ``planned`` has no machine yet, and claims nothing.
    """

    id: str
    rule: str
    statement: str
    sources: tuple[str, ...]
    status: str = field(default=CARRIED, validator=validators.in_((CARRIED, PLANNED)))
    machine: str | None = None
    rules_off: str | None = None
    rules_on: str | None = None
    bounds: Any = None
    config: Any = None
    """What an operator sets, and how far we look; ``None`` for the machine's defaults and its small scope."""
    config_off: Any = None
    bounds_off: Any = None
    """What an operator sets, and how far we look, on the side that breaks, where that is the difference or a part of it."""
    breaks: Mapping[str, int] = field(factory=dict, converter=frozen_mapping, hash=False)
    holds: tuple[str, ...] = ()
    """What the right rules are also asked, beside every invariant and step property that needs no observer."""
    states: int | None = None
    """How many states (orbits under symmetry) the scope has under the right rules, where that is pinned."""
    trace: str | None = None
    control: bool = False
    symmetry: bool = False
    quick: bool = True
    """Whether the default suite proves it; ``catalogue --run`` proves all."""
    example: Example | None = None
    """Of a row about a pure function, which ``machine`` names then: what it keeps instead of a trace. Bounds are the scope of
    its questions, ``breaks`` says how large a smallest question is that breaks each contract, ``states`` how many there are."""
