# SPDX-License-Identifier: Apache-2.0
"""A toy machine in a module of its own, described like a real one: a lift, with a property of each kind that breaks.

Its rules, configuration, bounds, choices and states have a value of every type that is written to files.
"""

from __future__ import annotations

import sys
from enum import Enum

from attrs import evolve, field, frozen, validators

from hwmark.model.machine import Machine, Step, action, impossible, kafka
from hwmark.spec.described import Described
from hwmark.spec.property import Observer, Witness, converges, invariant, leads_to, reachable, step_property, witness

toy = kafka("nothing of Kafka", versions="none", simplified="a toy")


class Door(Enum):
    """When the lift moves."""

    CLOSED = "closed"
    """Only with its door closed."""
    ANY = "any"
    """Always."""


class Direction(Enum):
    """Where the lift moves."""

    UP = "up"
    DOWN = "down"


@frozen
class Rules:
    """The decisions of the lift."""

    door: Door = Door.CLOSED
    serves: bool = True


@frozen
class Config:
    """What its operator sets."""

    label: str = "lift"
    closed_floors: tuple[int, ...] = ()
    spare: int | None = None


@frozen
class Bounds:
    """How high the house is."""

    floors: int = field(default=3, validator=[validators.ge(1), validators.le(9)])


@frozen
class Lift:
    """Where the lift stands, and who has called it."""

    floor: int = 0
    is_open: bool = False
    called: int | None = None
    visited: frozenset[int] = frozenset({0})
    broken: bool = False


def floors(bounds: Bounds) -> range:
    """Return the floors."""
    return range(bounds.floors)


def directions(_: Bounds) -> tuple[Direction, ...]:
    """Return where a lift can move."""
    return tuple(Direction)


@action(floor=floors)
@toy
def call(state: Lift, config: Config, *, floor: int) -> Lift | None:
    """Somebody calls the lift from another floor."""
    if state.called is not None or floor == state.floor or floor in config.closed_floors:
        return None
    return evolve(state, called=floor)


@action(direction=directions)
@toy
def move(state: Lift, rules: Rules, bounds: Bounds, *, direction: Direction) -> Lift | None:
    """The lift moves by one floor."""
    if state.broken or (state.is_open and rules.door is Door.CLOSED):
        return None
    return arrive(state, bounds, state.floor + (1 if direction is Direction.UP else -1))


@action()
@toy
def use_door(state: Lift) -> Lift:
    """The door opens or closes."""
    return evolve(state, is_open=not state.is_open)


@action()
@toy
def serve(state: Lift, rules: Rules) -> Lift | None:
    """Whoever called gets in."""
    if not rules.serves or state.called != state.floor:
        return None
    return evolve(state, called=None)


@action()
@toy
def break_down(state: Lift, bounds: Bounds) -> Lift | None:
    """The lift breaks, on the top floor only, for ever."""
    if state.floor != bounds.floors - 1:
        return None
    if state.broken:
        impossible("it breaks twice")
    return evolve(state, broken=True)


def arrive(state: Lift, bounds: Bounds, floor: int) -> Lift | None:
    """Stop at a floor, if there is one."""
    if not 0 <= floor < bounds.floors:
        return None
    return evolve(state, floor=floor, visited=state.visited | {floor})


def is_open(state: Lift) -> bool:
    """Whether the door is open."""
    return state.is_open


@invariant(sources=(), when=is_open, floor=floors)
def open_below(state: Lift, bounds: Bounds, *, floor: int) -> Witness | None:
    """The door opens below the top floor only."""
    return witness(visited=state.visited) if floor == state.floor == bounds.floors - 1 else None


@step_property(sources=())
def moves_closed(before: Lift, step: Step, after: Lift) -> Witness | None:
    """The lift moves with its door closed."""
    return witness(step=str(step)) if before.floor != after.floor and before.is_open else None


CLIMBS = Observer(
    "climbs",
    memory=int,
    initial=lambda _: 0,
    observe=lambda climbs, before, _step, after: min(3, climbs + (after.floor > before.floor)),
)
"""How many times the lift moved up, as far as three."""


@invariant(sources=(), observers=(CLIMBS,))
def climbs_twice(state: Lift, climbs: int) -> Witness | None:
    """The lift moves up no more than twice."""
    return None if climbs <= 2 else witness(floor=state.floor, climbs=climbs)


@step_property(sources=(), observers=(CLIMBS,))
def climbs_in_sight(before: Lift, step: Step, after: Lift, climbs: tuple[int, int]) -> Witness | None:  # noqa: ARG001 - asked by name
    """The lift never moves up a second time."""
    old, new = climbs
    return witness(old=old, new=new) if (old, new) == (1, 2) else None


@reachable(sources=(), scope={}, floor=floors)
def top_is_called(state: Lift, bounds: Bounds, *, floor: int) -> bool:
    """Somebody calls from the top."""
    return state.called == floor == bounds.floors - 1


@reachable(sources=(), scope={})
def call_is_served(before: Lift, step: Step, after: Lift) -> bool:  # noqa: ARG001 - asked about the whole step
    """Somebody who called is served."""
    return step.action == "serve"


@converges(sources=())
def comes_back(state: Lift) -> bool:
    """The lift can come back to the ground floor."""
    return state.floor == 0


def is_called(state: Lift) -> bool:
    """Whether somebody waits."""
    return state.called is not None


@leads_to(sources=(), when=is_called, weak=("serve",))
def is_served_at_last(state: Lift) -> bool:
    """Whoever calls is served at last."""
    return state.called is None


@invariant(sources=())
def stays_whole(state: Lift) -> Witness | None:
    """The lift never breaks."""
    return witness() if state.broken else None


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[Lift]:
    """Return the lift, which starts on the ground floor, or above it."""
    initial = (Lift(), Lift(floor=bounds.floors - 1, visited=frozenset({bounds.floors - 1})))
    return Machine("lift", rules, config, bounds, initial, (call, move, use_door, serve, break_down))


LIFT = Described(
    name="lift",
    module=sys.modules[__name__],
    rules=Rules,
    presets={"safe": Rules(), "unsafe": Rules(door=Door.ANY)},
    right="safe",
    properties=(
        open_below,
        moves_closed,
        climbs_twice,
        climbs_in_sight,
        top_is_called,
        call_is_served,
        comes_back,
        is_served_at_last,
        stays_whole,
    ),
    small=Bounds(),
)
MACHINES = {"lift": LIFT}


def lift(preset: str = "unsafe", floors: int = 3) -> Machine[Lift]:
    """Return the lift under these rules in a house of so many floors."""
    return machine(LIFT.presets[preset], Config(closed_floors=(5,)), Bounds(floors))
