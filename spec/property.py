# SPDX-License-Identifier: Apache-2.0
"""How a promise is written: properties quantified like actions, and observers that remember for them.

A property is a pure function whose keyword choices have declared domains, so that the answer of each combination
explains itself. Its docstring is the promise that reports print; ``sources`` quote the requirement rows, KIPs and
faults behind it. ``when`` is what the promise presupposes: a function of the same state that may ask for some of the
choices. A property whose ``when`` was never true in a whole scope is vacuous there, and never counts as holding.

======================  ==============================================  =========================================
kind                    function                                        promise
======================  ==============================================  =========================================
``Invariant``           ``(state) -> Witness | None``                   ``None`` in every reachable state
``StepProperty``        ``(before, step, after) -> Witness | None``     ``None`` at every step
``Reachable``           ``(state) -> bool``, or of a step               true somewhere, in ``scope`` and above
``Converges``           ``(state) -> bool``                             from ``when`` on, true stays reachable
``LeadsTo``             ``(state) -> bool``                             from ``when`` on, true at last, if fair
======================  ==============================================  =========================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from hwmark.model.machine import Domain, Quantified, check_choices, frozen_mapping


@frozen
class Witness:
    """Why a property is false: which offset, which records; the checker adds the choices."""

    facts: Mapping[str, Any] = field(converter=frozen_mapping)


def witness(**facts: object) -> Witness:
    """Return a witness made of these facts, in this order."""
    return Witness(facts)


@frozen
class Observer:
    """What somebody outside remembers of a run, and Kafka does not store.

    ``initial(state)`` is the memory at the start, ``observe(memory, before, step, after)`` the memory after a step.
    A property that lists the observer asks for its memory by name: the memory itself, or in step properties the pair
    of the memories before and after. ``memory`` is the annotated type, in which symmetry finds identities to rename.
    """

    name: str
    memory: Any
    initial: Callable[[Any], Any]
    observe: Callable[[Any, Any, Any, Any], Any]


@frozen
class Property(Quantified):
    """A promise: see the module's table for the kinds."""

    sources: tuple[str, ...]
    when: Callable[..., bool] | None = None
    observers: tuple[Observer, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of promise, as reports write it."""
        return KINDS[type(self)]


@frozen
class Invariant(Property):
    """Must be ``None`` in every reachable state."""


@frozen
class StepProperty(Property):
    """Must be ``None`` at every step, also one that leads to a state already seen."""


@frozen
class Reachable(Property):
    """Must be true in some reachable state or at some step of every scope at least as large as ``scope``."""

    scope: Mapping[str, int] = field(factory=dict)

    def expected_in(self, bounds: object) -> bool:
        """Whether each bound is at least that of the minimal scope."""
        return all(getattr(bounds, name) >= least for name, least in self.scope.items())


@frozen
class Converges(Property):
    """Wherever ``when`` holds, a state where it is true must stay reachable (AG EF)."""


@frozen
class LeadsTo(Property):
    """After ``when``, it must come true in every run that is fair to the named actions.

    Fairness is per action instance: an action with its choices. ``weak``: one that stays enabled is taken at last;
    ``strong``: also one that is enabled again and again. A run may stop for ever where fairness demands no step.
    """

    weak: tuple[str, ...] = ()
    strong: tuple[str, ...] = ()


KINDS: dict[type, str] = {
    Invariant: "invariant",
    StepProperty: "step",
    Reachable: "reachable",
    Converges: "converges",
    LeadsTo: "leads_to",
}

Declare = Callable[[Callable[..., Any]], Any]


def _declare(kind: type[Property], domains: Mapping[str, Domain], **given: Any) -> Declare:
    def declare(function: Callable[..., Any]) -> Property:
        check_choices(function, domains)
        return kind(function, MappingProxyType(dict(domains)), **given)

    return declare


def invariant(
    *, sources: tuple[str, ...], when: Callable[..., bool] | None = None, observers: tuple[Observer, ...] = (), **domains: Domain
) -> Callable[[Callable[..., Witness | None]], Invariant]:
    """Declare an invariant."""
    return _declare(Invariant, domains, sources=sources, when=when, observers=observers)


def step_property(
    *, sources: tuple[str, ...], when: Callable[..., bool] | None = None, observers: tuple[Observer, ...] = (), **domains: Domain
) -> Callable[[Callable[..., Witness | None]], StepProperty]:
    """Declare a property of single steps; its ``when`` is asked about the step too."""
    return _declare(StepProperty, domains, sources=sources, when=when, observers=observers)


def reachable(
    *, sources: tuple[str, ...], scope: Mapping[str, int], observers: tuple[Observer, ...] = (), **domains: Domain
) -> Callable[[Callable[..., bool]], Reachable]:
    """Declare a goal that must be met in ``scope`` (the least value of each bound) and in every larger one."""
    return _declare(Reachable, domains, sources=sources, scope=scope, observers=observers)


def converges(
    *, sources: tuple[str, ...], when: Callable[..., bool] | None = None, **domains: Domain
) -> Callable[[Callable[..., bool]], Converges]:
    """Declare a good state that stays reachable."""
    return _declare(Converges, domains, sources=sources, when=when)


def leads_to(
    *,
    sources: tuple[str, ...],
    when: Callable[..., bool],
    weak: tuple[str, ...] = (),
    strong: tuple[str, ...] = (),
    observers: tuple[Observer, ...] = (),
    **domains: Domain,
) -> Callable[[Callable[..., bool]], LeadsTo]:
    """Declare what must come true at last after ``when``, under weak and strong fairness of the named actions."""
    return _declare(LeadsTo, domains, sources=sources, when=when, weak=weak, strong=strong, observers=observers)
