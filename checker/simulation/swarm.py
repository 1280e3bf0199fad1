# SPDX-License-Identifier: Apache-2.0
"""Alternatives: in which scopes and under which rules walks are taken besides the ones asked for.

``replicas=3,5`` are two alternatives for one bound; the same can be said of a rule, of what an operator sets, and with
``rules=…`` of the preset. ``2=fences,crashes,losses`` are three alternatives: any two of these bounds are one, the others
zero. Batches of walks take all combinations in turn, in an order that the seed decides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from attrs import evolve, fields, frozen

from hwmark.checker.asked import Asked, named, preset_name
from hwmark.checker.decode import parse_assignments, parse_rule
from hwmark.checker.errors import InputError, unknown
from hwmark.checker.text import shown

from .request import Request

PRESET = "rules"
"""The name under which presets are alternatives."""
MOST_VARIANTS = 1000


class Place(Enum):
    """Where something is that has alternatives."""

    PRESET = "preset"
    RULES = "rules"
    CONFIG = "config"
    BOUNDS = "bounds"
    SOME = "some"
    """Any so many of several bounds."""


@frozen
class Alternatives:
    """What one thing is in turn: the preset, a rule, a setting of the operator, or a bound; or which of ``some`` bounds are one."""

    name: str
    place: Place
    values: tuple[str, ...]
    some: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What is changed."""
        return self.some or (self.name,)


def variants(request: Request) -> tuple[tuple[Alternatives, ...], tuple[Asked, ...]]:
    """Return the alternatives, and what is asked in each of their combinations; without any there is one.

    Raises ``InputError`` where a text names something that does not exist.
    """
    asked = request.asked()
    swarm = tuple(alternatives(request, asked))
    count = math.prod(len(one.values) for one in swarm)
    if count > MOST_VARIANTS:
        raise InputError(f"--swarm: {count:,} combinations are too many: at most {MOST_VARIANTS:,} can be walked")
    combinations = itertools.product(*(one.values for one in swarm))
    return swarm, tuple(_variant(request, asked, swarm, values) for values in combinations)


def alternatives(request: Request, asked: Asked) -> Iterable[Alternatives]:
    """Yield the alternatives that a request lists, presets first, since single rules change them."""
    given: dict[str, Alternatives] = {}
    for text in request.swarm:
        name, equals, listed = (one.strip() for one in text.partition("="))
        values = tuple(value.strip() for value in listed.split(","))
        if not equals or "" in values:
            raise InputError(f"--swarm: expected NAME=VALUE,VALUE,…, got {shown(text)}")
        if name in given or len(set(values)) < len(values):
            raise InputError(f"--swarm: {shown(text)} gives something twice")
        given[name] = _any(asked, name, values) if name.isdecimal() else Alternatives(name, _place(asked, name), values)
        for one in given[name].names:
            if one in _settled(request, given[name].place):
                raise InputError(f"--swarm: {one} is set to one value already")
    changed = [name for one in given.values() for name in one.names]
    if len(set(changed)) < len(changed):
        raise InputError(f"--swarm: {max(changed, key=changed.count)} is given twice")
    return sorted(given.values(), key=lambda one: one.place is not Place.PRESET)


def _any(asked: Asked, number: str, names: tuple[str, ...]) -> Alternatives:
    """Return which of these bounds are one together, any so many of them."""
    for name in names:
        if name not in _fields(asked, Place.BOUNDS):
            raise InputError(f"--swarm: {unknown('bound', name, _fields(asked, Place.BOUNDS))}")
    if not 1 <= int(number) <= len(names):
        raise InputError(f"--swarm: there are not {number} among {len(names)} bounds")
    if math.comb(len(names), int(number)) > MOST_VARIANTS:
        raise InputError(
            f"--swarm: {math.comb(len(names), int(number)):,} combinations are too many: at most {MOST_VARIANTS:,} can be walked"
        )
    return Alternatives(number, Place.SOME, tuple("+".join(some) for some in itertools.combinations(names, int(number))), names)


def _place(asked: Asked, name: str) -> Place:
    if name == PRESET:
        return Place.PRESET
    known = {place: _fields(asked, place) for place in (Place.RULES, Place.CONFIG, Place.BOUNDS)}
    found = [place for place, names in known.items() if name in names]
    if not found:
        raise InputError(f"--swarm: {unknown('rule, setting or bound', name, [PRESET, *itertools.chain(*known.values())])}")
    return found[0]


def _fields(asked: Asked, place: Place) -> list[str]:
    return [attribute.name for attribute in fields(type(getattr(asked, place.value)))]


def _settled(request: Request, place: Place) -> Sequence[str]:
    """Return what is given once for all of what could have alternatives in a place."""
    texts: Mapping[Place, Sequence[str]] = {
        Place.PRESET: [] if request.preset is None else [PRESET],
        Place.RULES: request.changed_rules,
        Place.CONFIG: request.config.split(","),
        Place.BOUNDS: request.bounds.split(","),
        Place.SOME: request.bounds.split(","),
    }
    return [text.partition("=")[0].strip() for text in texts[place]]


def _variant(request: Request, asked: Asked, swarm: Sequence[Alternatives], values: Sequence[str]) -> Asked:
    """Return what is asked in one combination."""
    for one, value in zip(swarm, values, strict=True):
        asked = _with(request, asked, one, value)
    preferred = asked.preset or asked.described.right
    return request.placed(evolve(asked, preset=preset_name(asked.described, asked.rules, preferred)))


def _with(request: Request, asked: Asked, one: Alternatives, value: str) -> Asked:
    assignment = f"{one.name}={value}"
    match one.place:
        case Place.PRESET:
            rules = asked.described.presets[named("preset", value, asked.described.presets)]
            for text in request.changed_rules:
                rules = parse_rule(rules, text)
            return evolve(asked, rules=rules, preset=value)
        case Place.RULES:
            return evolve(asked, rules=parse_rule(asked.rules, assignment))
        case Place.CONFIG:
            return evolve(asked, config=parse_assignments(type(asked.config), asked.config, assignment))
        case Place.BOUNDS:
            return evolve(asked, bounds=parse_assignments(type(asked.bounds), asked.bounds, assignment))
        case Place.SOME:
            chosen = value.split("+")
            assignments = ",".join(f"{name}={int(name in chosen)}" for name in one.some)
            return evolve(asked, bounds=parse_assignments(type(asked.bounds), asked.bounds, assignments))
