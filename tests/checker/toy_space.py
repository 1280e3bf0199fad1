# SPDX-License-Identifier: Apache-2.0
"""A small state space to store, found by the plainest search there is, and a toy machine with values of many types."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, NewType

import numpy as np
from attrs import evolve, frozen

from hwmark.checker.storage import checkpoint, manifest, parts
from hwmark.checker.storage.checkpoint import StateSpace
from hwmark.checker.storage.manifest import Plain, describe
from hwmark.checker.storage.parts import Layout, unpacked
from hwmark.checker.system import System, system
from hwmark.checker.tables.components import Components, components
from hwmark.model.machine import Machine, PerBroker, action, kafka, put
from hwmark.spec.property import Observer, Property, Witness, invariant, witness

toy = kafka("nothing of Kafka", versions="none", simplified="a toy")


# -- a machine with values of many types --


class Mood(Enum):
    """An enum whose members are text."""

    CALM = "calm"
    WILD = "wild"


class Gear(Enum):
    """An enum whose members are of several types."""

    PARK = 0
    DRIVE = "d"


Weight = NewType("Weight", float)


@frozen
class Point:
    """A record."""

    x: int
    y: bool = False


@frozen
class Tree:
    """A record that is made of its own kind."""

    branches: tuple[Tree, ...] = ()


@frozen
class Nothing:
    """A record without fields."""


@frozen
class State:
    """A component of each type."""

    level: int = 0
    dials: PerBroker[int] = (0, 0, 0)
    mood: Mood = Mood.CALM
    gear: Gear = Gear.PARK
    where: Point | None = None
    path: tuple[Point, ...] = ()
    seen: frozenset[Point] = frozenset()
    pair: tuple[int, str] = (0, "zero")
    weight: Weight = Weight(0.5)
    name: str = ""
    raw: bytes = b""
    either: int | str = 0
    tree: Tree = Tree()
    nothing: Nothing = Nothing()
    no: None = None


@frozen
class Bounds:
    """How far the dials turn."""

    most: int = 3


def dials(_bounds: Bounds) -> range:
    """Return the three dials."""
    return range(3)


@action(dial=dials)
@toy
def turn(state: State, bounds: Bounds, *, dial: int) -> State | None:
    """Turns one dial, and with it much else."""
    if state.dials[dial] == bounds.most:
        return None
    number = state.dials[dial] + 1
    point = Point(number, y=dial == 1)
    return evolve(
        put(state, dials={dial: number}),
        level=sum(state.dials) + 1,
        mood=Mood.WILD if number == 2 else Mood.CALM,
        gear=Gear.DRIVE if dial == 2 else Gear.PARK,
        where=point if number > 1 else None,
        path=(point,) * (number - 1),
        seen=frozenset(Point(one) for one in range(9, 9 + 3 * number, 3)),
        pair=(number, f"number {number}"),
        weight=Weight(number / 2),
        name="é\n" * dial,
        raw=bytes([number]),
        either=number if dial else str(number),
        tree=Tree((Tree(),) * dial),
    )


def largest(memory: int, _before: State, _step: Any, after: State) -> int:
    """Remember the largest number on a dial."""
    return max(memory, *after.dials)


LARGEST = Observer("largest", int, lambda state: max(state.dials), largest)


@invariant(sources=(), observers=(LARGEST,))
def is_bounded(state: State, bounds: Bounds, largest: int) -> Witness | None:
    """No dial is turned too far."""
    return None if max(*state.dials, largest) <= bounds.most else witness()


def knobs(most: int = 3, *, rules: Any = None) -> Machine[State]:
    """Return the machine with values of many types."""
    return Machine("knobs", rules, None, Bounds(most), (State(),), (turn,))


# -- its space --


@frozen(eq=False)
class Space:
    """All states of a system in breadth-first order, as codes, and how each was found."""

    explored: System
    components: Components
    properties: tuple[Property, ...]
    states: tuple[Any, ...]
    codes: Any
    parents: Any
    via: Any
    levels: tuple[int, ...]
    taken: tuple[int, ...]

    @property
    def description(self) -> Plain:
        """What the space is of."""
        return describe(self.explored, self.components, self.properties, symmetry=False)

    def level_of(self, number: int) -> int:
        """Return the level of a state."""
        return int(np.searchsorted(np.cumsum(self.levels), number, side="right"))

    def packed(self, first: int, last: int, spare: int = 0) -> tuple[Any, Layout]:
        """Return the packed rows of some states, with some spare bits for each code."""
        bits = [max(1, int(column.max(initial=0)).bit_length()) + spare for column in self.codes[:last].T]
        layout = layout_for(bits)
        return pack(self.codes[first:last], layout), layout


def layout_for(bits: Sequence[int]) -> Layout:
    """Return a layout with so many bits for each component, one after the other."""
    word, shift = [0], [0]
    for before, needed in itertools.pairwise(bits):
        free = shift[-1] + before
        fits = free + needed <= 64
        word.append(word[-1] if fits else word[-1] + 1)
        shift.append(free if fits else 0)
    return Layout(np.array(word, np.int64), np.array(shift, np.uint64), np.array([(1 << needed) - 1 for needed in bits], np.uint64))


def pack(codes: Any, layout: Layout) -> Any:
    """Return packed rows with these codes."""
    rows = np.zeros((len(codes), int(layout.word.max()) + 1), np.uint64)
    for component in range(codes.shape[1]):
        rows[:, layout.word[component]] |= codes[:, component].astype(np.uint64) << layout.shift[component]
    return rows


def space_of(machine: Machine[Any], *properties: Property) -> Space:
    """Return all states of a machine with what the properties observe."""
    explored = system(machine, properties)
    made = components(explored)
    found: dict[Any, int] = {state: number for number, state in enumerate(dict.fromkeys(explored.initial))}
    states = list(found)
    codes, parents, via = [made.encode(state) for state in states], [0] * len(states), [0] * len(states)
    levels, taken = [len(states)], [0] * len(explored.takes)
    first = 0
    while first < len(states):
        end = len(states)
        for number in range(first, end):
            for instance, take in enumerate(explored.takes):
                after = take(states[number])
                taken[instance] += after is not None
                if after is not None and found.setdefault(after, len(states)) == len(states):
                    states.append(after)
                    codes.append(made.encode(after))
                    parents.append(number)
                    via.append(instance)
        first = end
        levels.append(len(states) - end)
    matrix = np.array(codes, np.int32)
    return Space(explored, made, properties, tuple(states), matrix, np.array(parents), np.array(via), tuple(levels[:-1]), tuple(taken))


# -- storing it --


@frozen(eq=False)
class Writing:
    """A space that is being stored; its components know only the values of the states that were appended."""

    space: Space
    components: Components
    stored: StateSpace

    @classmethod
    def create(cls, directory: Path, space: Space, **given: bool) -> Writing:
        """Begin a stored space."""
        made = fresh(space)
        return cls(space, made, StateSpace.create(directory, space.explored, made, space.description, **given))

    @classmethod
    def open(cls, directory: Path, space: Space) -> Writing:
        """Open a stored space."""
        made = fresh(space)
        return cls(space, made, StateSpace.open(directory, space.explored, made, space.description))

    def __enter__(self) -> StateSpace:
        """Use it for a while."""
        return self.stored

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.stored.close()

    def append(self, last: int, spare: int = 0) -> None:
        """Append the states up to a number, level by level, in a layout of their own."""
        ends = np.cumsum(self.space.levels).tolist()
        while self.stored.known < last:
            first = self.stored.known
            level = self.space.level_of(first)
            end = min(last, ends[level])
            for state in self.space.states[first:end]:
                self.components.encode(state)
            rows, layout = self.space.packed(first, end, spare)
            self.stored.append(level, rows, layout, self.space.parents[first:end], self.space.via[first:end])

    def commit(self) -> None:
        """Commit what was appended."""
        known = self.stored.known
        complete = known == len(self.space.states)
        self.stored.commit(expanded=known, taken=self.space.taken, conclusions={"known": known}, complete=complete)


def fresh(space: Space) -> Components:
    """Return components that know no more than the initial states."""
    made = components(space.explored)
    for state in space.explored.initial:
        made.encode(state)
    return made


def store(directory: Path, space: Space, every: int = 1 << 30, **given: bool) -> None:
    """Store a whole space, with a commit after every so many states."""
    writing = Writing.create(directory, space, **given)
    with writing:
        for last in [*range(every, len(space.states), every), len(space.states)]:
            writing.append(last, spare=last % 3)
            writing.commit()


def contents(stored: StateSpace) -> tuple[Any, Any, Any]:
    """Return the codes of all stored states, their parents, and the instances that found them."""
    blocks = list(stored.found())
    codes = [np.stack([unpacked(one.rows, one.layout, place) for place in range(len(one.layout.word))], axis=1) for one in blocks]
    return np.concatenate(codes), np.concatenate([one.parents for one in blocks]), np.concatenate([one.via for one in blocks])


def assert_holds(stored: StateSpace, space: Space, known: int) -> None:
    """Assert that exactly the first states are stored."""
    assert stored.known == known
    if known:
        codes, parents, via = contents(stored)
        assert (codes == space.codes[:known]).all()
        assert (parents == space.parents[:known]).all()
        assert (via == space.via[:known]).all()
    assert sum(stored.levels) == known
    assert all(one == whole for one, whole in zip(stored.levels[:-1], space.levels, strict=False))


def go_on(directory: Path, most: int) -> None:
    """Store the space of the knobs in a directory, going on from wherever that is; a process to be killed."""
    parts.GROUP_STATES = 8
    for module in (parts, checkpoint, manifest):
        module.__dict__["PART_STATES"] = 20
    space = space_of(knobs(most), is_bounded)
    writing = (Writing.open if (directory / "manifest.json").exists() else Writing.create)(directory, space)
    print(writing.stored.known, flush=True)  # noqa: T201 - tells that it writes from now on
    with writing as stored:
        while stored.known < len(space.states):
            writing.append(min(len(space.states), stored.known + 7), spare=1)
            if stored.known % 3:
                writing.commit()
        writing.commit()
