# SPDX-License-Identifier: Apache-2.0
"""What a simulation is asked: where to walk, which properties to ask there, and how far."""

from __future__ import annotations

from typing import Any

from attrs import evolve, fields, frozen

from hwmark.checker.asked import Asked, ask
from hwmark.checker.decode import parse_assignments
from hwmark.checker.engine import Engine
from hwmark.checker.questions import LATER
from hwmark.spec.described import Described
from hwmark.spec.property import Reachable


@frozen
class Request:
    """Where to walk, as it was given on a command line."""

    machine: str
    preset: str | None = None
    changed_rules: tuple[str, ...] = ()
    config: str = ""
    bounds: str = ""
    properties: tuple[str, ...] = ()
    swarm: tuple[str, ...] = ()

    def asked(self) -> Asked:
        """Return what is asked, apart from alternatives; raises ``InputError`` where something does not exist."""
        asked = ask(self.machine, preset=self.preset, changed_rules=self.changed_rules, config=self.config, properties=self.properties)
        base = larger(asked.described.small)
        bounds = parse_assignments(type(base), base, self.bounds) if self.bounds else base
        return self.placed(evolve(asked, bounds=bounds))

    def placed(self, asked: Asked) -> Asked:
        """Return what is asked with the properties that are asked in its scope."""
        return asked if self.properties else evolve(asked, properties=walked_properties(asked.described, asked.bounds))


@frozen
class Plan:
    """How far to walk: from which seed, so many walks (``None``: until the time is over), each of at most so many steps.

    ``engine`` and ``workers`` say how: by which engine, and by how many processes at most.
    """

    seed: int = 0
    walks: int | None = 1000
    steps: int = 100
    timeout: float | None = None
    engine: Engine = Engine.AUTO
    workers: int = 1


def larger(small: Any) -> Any:
    """Return bounds in which each number is twice that of a small scope, wherever the bounds allow it."""
    bounds = small
    for attribute in fields(type(small)):
        value = getattr(small, attribute.name)
        if type(value) is int:
            try:
                bounds = evolve(bounds, **{attribute.name: 2 * value})
            except ValueError:  # more than there may be: it stays as it is
                continue
    return bounds


def walked_properties(described: Described, bounds: Any) -> tuple[str, ...]:
    """Return what walks are asked unless somebody chooses: all that they can judge and, of the goals, those due in the scope.

    Observers make no more walks, as they make more states: what needs one is asked too.
    """
    return tuple(
        prop.name
        for prop in described.properties
        if not isinstance(prop, LATER) and not (isinstance(prop, Reachable) and not prop.expected_in(bounds))
    )
