# SPDX-License-Identifier: Apache-2.0
"""What a check is asked: which machine, under which rules, in which scope, which of its properties, and how to search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from hwmark.model.machine import Machine
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Property, Reachable
from hwmark.spec.view import View

from .decode import parse_assignments, parse_rule
from .engine import Engine
from .errors import InputError, unknown


@frozen
class Asked:
    """One check, as values that can be sent to another process; ``preset`` is ``None`` for rules that have no name."""

    machine: str
    preset: str | None
    rules: Any
    config: Any
    bounds: Any
    properties: tuple[str, ...]
    symmetry: bool = False
    keep_going: bool = False
    max_states: int | None = None
    timeout: float | None = None
    engine: Engine = Engine.AUTO
    workers: int = 1
    memory: float | None = None
    """GiB beyond which states are kept on disk."""
    checkpoint: Path | None = None
    resume: bool = False

    @property
    def described(self) -> Described:
        """The machine with all that is said about it."""
        return described(self.machine)

    def build(self) -> Machine[Any]:
        """Return the machine in the scope that is asked for."""
        try:
            return self.described.build(self.rules, self.config, self.bounds)
        except ValueError as error:  # config and bounds that do not go together
            raise InputError(str(error)) from error

    def asked_properties(self) -> tuple[Property, ...]:
        """Return the properties that are asked for, in the order of the machine's list."""
        return tuple(prop for prop in self.described.all_properties if prop.name in self.properties)

    def unasked(self) -> tuple[str, ...]:
        """Return the names of the machine's properties that this check does not look at."""
        return tuple(prop.name for prop in self.described.properties if prop.name not in self.properties)


def ask(  # noqa: PLR0913 - one parameter for each option
    machine: str,
    *,
    preset: str | None = None,
    changed_rules: Iterable[str] = (),
    config: str = "",
    bounds: str = "",
    properties: Sequence[str] = (),
    symmetry: bool = False,
    keep_going: bool = False,
    max_states: int | None = None,
    timeout: float | None = None,
    engine: Engine = Engine.AUTO,
    workers: int = 1,
    memory: float | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
) -> Asked:
    """Return the check that these texts describe; raises ``InputError`` where one names something that does not exist."""
    chosen = described(machine)
    preset = chosen.right if preset is None else named("preset", preset, chosen.presets)
    rules, changed = chosen.presets[preset], set[str]()
    for text in changed_rules:
        rules = parse_rule(rules, text)
        name = text.partition("=")[0].strip()
        if name in changed:
            raise InputError(f"the rule {name} is set twice")
        changed.add(name)
    scope = parse_assignments(type(chosen.small), chosen.small, bounds) if bounds else chosen.small
    settings = chosen.module.Config()
    return Asked(
        machine=machine,
        preset=preset_name(chosen, rules, preset),
        rules=rules,
        config=parse_assignments(type(settings), settings, config) if config else settings,
        bounds=scope,
        properties=_chosen(chosen, properties) if properties else default_properties(chosen, scope),
        symmetry=symmetry,
        keep_going=keep_going,
        max_states=max_states,
        timeout=timeout,
        engine=engine,
        workers=workers,
        memory=memory,
        checkpoint=checkpoint,
        resume=resume,
    )


def described(name: str) -> Described:
    """Return the machine of this name."""
    return MACHINES[named("machine", name, MACHINES)]


def view_of(machine: str) -> View:
    """Return how the machine of this name is drawn, and in which words its values are written."""
    return described(machine).view


def default_properties(chosen: Described, bounds: Any) -> tuple[str, ...]:
    """Return what is asked unless somebody chooses: all that is about the scope, needs no observer and, of the goals, is due in it."""
    return tuple(prop.name for prop in _about(chosen, bounds) if not prop.observers)


def observed_properties(chosen: Described, bounds: Any) -> tuple[str, ...]:
    """Return what of a scope is asked only by name, since it needs an observer, whose memory makes more states."""
    return tuple(prop.name for prop in _about(chosen, bounds) if prop.observers)


def _about(chosen: Described, bounds: Any) -> Iterator[Property]:
    """Yield the properties that say something about a scope: each of their choices can be made, and goals are due in it."""
    for prop in chosen.properties:
        has_choices = all(domain(bounds) for domain in prop.domains.values())
        if has_choices and not (isinstance(prop, Reachable) and not prop.expected_in(bounds)):
            yield prop


def preset_name(chosen: Described, rules: Any, preferred: str) -> str | None:
    """Return the name of the preset with these rules, the preferred one if it is among them."""
    names = [name for name, preset in chosen.presets.items() if preset == rules]
    return preferred if preferred in names else next(iter(names), None)


def named(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the name if it is known, otherwise raise an ``InputError`` with what was probably meant."""
    names = list(known)
    if name not in names:
        raise unknown(kind, name, names)
    return name


def _chosen(chosen: Described, names: Sequence[str]) -> tuple[str, ...]:
    known = [prop.name for prop in chosen.all_properties]
    for name in names:
        named("property", name, known)
    return tuple(name for name in known if name in names)
