# SPDX-License-Identifier: Apache-2.0
"""Machines that are just larger than some array, table or number of bits holds at first, and steps that are easily missed.

What is wrong in them is wrong at the far end: in the last state, by the last step, of the last question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import attrs
from adversaries import Adversary, Count, Scope, machine, step, wait
from attrs import evolve, frozen
from toys import toy

from hwmark.checker.explore import Options
from hwmark.model.machine import Identity, IndexedBy, Machine, Step, action, put
from hwmark.spec.property import Observer, Property, Witness, converges, invariant, leads_to, reachable, step_property, witness

# -- many codes --


@frozen
class Pair:
    """Two numbers."""

    a: int = 0
    b: int = 0


@frozen
class Word:
    """A number in a record, so that kernels ask for it through a map."""

    k: int = 0

    def tail(self, size: int) -> int:
        """Return the number, cut."""
        return self.k % size


@frozen
class Words:
    """A record, and a number that is seldom asked for."""

    word: Word = Word()
    b: int = 0


def counting(last: int) -> Machine[Any]:
    """Return a machine that counts in two fields, and goes elsewhere by the first of them in the end."""

    def count(state: Pair) -> Pair | None:
        return Pair(state.a + 1, state.a % 7) if state.a < last else None

    def leave(state: Pair) -> Pair | None:
        return put(state, b=9) if state.a == last and state.b != 9 else None

    return machine(Pair(), step(count), step(leave))


def counting_words(last: int) -> Machine[Any]:
    """Return a machine that counts in a record, through whose methods it is asked."""

    def count(state: Words) -> Words | None:
        return put(state, word=put(state.word, k=state.word.k + 1)) if state.word.k < last else None

    def leave(state: Words) -> Words | None:
        return put(state, b=9) if state.word.tail(last + 1) == last and state.b == 0 else None

    return machine(Words(), step(count), step(leave))


@invariant(sources=())
def never_nine(state: Any) -> Witness | None:
    """Nobody goes elsewhere."""
    return witness(b=state.b) if state.b == 9 else None


@step_property(sources=())
def never_to_nine(before: Any, _step: Step, after: Any) -> Witness | None:
    """No step goes elsewhere."""
    return witness(before=before.b) if after.b == 9 and before.b != 9 else None


@converges(sources=())
def can_be_nine(state: Any) -> bool:
    """All go elsewhere in the end, if they like."""
    return bool(state.b == 9)


EDGES = (127, 128, 129, 255, 256, 257, 600)
"""Codes in and beyond a dense block of a node, in and beyond a row of a screen, and as many as need ten bits."""

CODES = tuple(
    Adversary(f"codes: {last + 1} {kind}", make(last), (never_nine, never_to_nine, can_be_nine))
    for last in EDGES
    for kind, make in (("numbers", counting), ("records", counting_words))
)


# -- many steps and questions --


def numbered(count: int) -> Any:
    """Return a domain of so many numbers."""
    return lambda _bounds: range(count)


def jumping(count: int) -> Machine[Any]:
    """Return a machine with so many steps out of 0, half of which lead back there from where they lead."""

    def jump(state: Count, *, k: int) -> Count | None:
        return put(state, n=k) if state.n == 0 and k else None

    def back(state: Count, *, k: int) -> Count | None:
        return put(state, n=0) if state.n == k and k % 2 else None

    return machine(Count(), action(k=numbered(count))(toy(jump)), action(k=numbered(count))(toy(back)))


def about_each(count: int) -> tuple[Property, ...]:
    """Return promises of all kinds with so many choices, which are broken by the last of them, or there alone."""

    def is_there(state: Count, k: int) -> bool:
        return state.n == k

    def is_last(state: Count, *, k: int) -> Witness | None:
        return witness() if state.n == k == count - 1 else None

    def steps_to_last(before: Count, step: Step, after: Count, *, k: int) -> Witness | None:
        return witness(before=before.n) if after.n == k == count - 1 and step.action == "jump" else None

    def only_last(state: Count, *, k: int) -> Witness | None:
        return witness() if k == count - 1 and state.n == k else None

    def reaches_last(state: Count, *, k: int) -> bool:
        return state.n == k == count - 1

    def comes_back(state: Count, *, k: int) -> bool:
        return state.n in {0, k} and k < count

    def leads_back(state: Count, *, k: int) -> bool:
        return state.n == 0 or k == 2

    each = {"k": numbered(count)}
    return (
        invariant(sources=(), **each)(is_last),
        step_property(sources=(), **each)(steps_to_last),
        invariant(sources=(), when=is_there, **each)(only_last),
        reachable(sources=(), scope={}, **each)(reaches_last),
        converges(sources=(), **each)(comes_back),
        leads_to(sources=(), when=is_there, strong=("back",), **each)(leads_back),
    )


MANY = (
    *(Adversary(f"many: {count} choices of each step and each promise", jumping(count), about_each(count)) for count in (32, 64, 65)),
    Adversary("many: 130 choices of each step and of two promises", jumping(130), about_each(130)[:2]),
)


# -- many components --


def wide(components: int) -> Machine[Any]:
    """Return a machine whose states have so many components, of which each is set in turn, to larger and larger numbers."""
    names = [f"part_{number}" for number in range(components)]
    state_type: Any = attrs.make_class("Wide", {name: attrs.field(type=int, default=0) for name in names}, frozen=True)

    def shift(state: Any) -> Any:
        place = next((place for place, name in enumerate(names) if getattr(state, name) == 0), None)
        return None if place is None else put(state, **{names[place]: place**2 + 1})

    def last(state: Any) -> Any:
        return put(state, **{names[0]: 0}) if getattr(state, names[-1]) and getattr(state, names[0]) == 1 else None

    return machine(state_type(), step(shift), step(last))


def row_of(components: int) -> Machine[Any]:
    """Return a machine whose states are one field with so many entries."""

    @frozen
    class Row:
        """Many entries."""

        parts: tuple[int, ...]

    def carry(state: Row, *, k: int) -> Row | None:
        is_next = state.parts[k] == 0 and (k == 0 or state.parts[k - 1] == 1)
        return put(state, parts={k: 1, k - 1: 2} if k else {0: 1}) if is_next else None

    return machine(Row((0,) * components), action(k=numbered(components))(toy(carry)))


COMPONENTS = tuple(
    Adversary(f"components: {count} {kind}", make(count))
    for count in (33, 64, 70, 130)
    for kind, make in (("fields", wide), ("entries", row_of))
)


# -- rows that grow while others are looked up --


def doubling(count: int, last: int) -> Machine[Any]:
    """Return a machine with many initial states, each of which leads to values that nobody has seen."""

    def double(state: Pair) -> Pair | None:
        return Pair(2 * state.a + 1, state.a % 3) if state.a < last else None

    def halve(state: Pair) -> Pair | None:
        return Pair(state.a // 2, state.b) if state.a else None

    return machine(tuple(Pair(number % 5, -number) for number in range(count)), step(double), step(halve))


@step_property(sources=())
def never_from_large(before: Pair, step: Step, after: Pair) -> Witness | None:
    """No large number is halved."""
    return witness(before=before.a, after=after.a) if step.action == "halve" and before.a > 3000 else None


GROWING = (
    Adversary("growing: rows are packed anew in the middle of a chunk", doubling(700, 4000), (never_from_large,)),
    Adversary("growing: as above, with a graph", doubling(300, 4000), (never_from_large, can_be_nine)),
)


# -- steps that lead nowhere new --


@action(k=numbered(3))
@toy
def ring(state: Count, *, k: int) -> Count | None:
    """Goes round a ring, on and back; or stays."""
    return put(state, n=(state.n + (1, -1, 0)[k]) % 5)


@step_property(sources=())
def never_stays_at_three(before: Count, _step: Step, after: Count) -> Witness | None:
    """Broken only by a step that stays."""
    return witness(at=after.n) if before.n == after.n == 3 else None


@step_property(sources=())
def never_closes(before: Count, step: Step, after: Count) -> Witness | None:
    """Broken only where the ring closes, between states that are known."""
    return witness(after=after.n) if (before.n, after.n) == (2, 3) and step.choices["k"] == 0 else None


@step_property(sources=())
def never_by_the_second(before: Count, step: Step, _after: Count) -> Witness | None:
    """Broken only by the second of two steps that do the same."""
    return witness() if step.choices["k"] == 1 and before.n == 1 else None


@action(k=numbered(2))
@toy
def either(state: Count, *, k: int) -> Count | None:  # noqa: ARG001 - both do the same
    """Goes on, in one way or the other."""
    return put(state, n=state.n + 1) if state.n < 3 else None


@action(k=lambda _: (0, 0, 1))
@toy
def twice(state: Count, *, k: int) -> Count | None:
    """Goes on by a choice that is offered twice."""
    return put(state, n=state.n + 1) if state.n < 3 and k == 0 else None


COUNTED = Observer(
    "counted", memory=int, initial=lambda _: 0, observe=lambda memory, _before, step, _after: (memory + (step.choices["k"] == 2)) % 3
)
"""How often somebody stayed, which only the observer remembers."""


@invariant(sources=(), observers=(COUNTED,))
def stays_once(_state: Count, counted: int) -> Witness | None:
    """Nobody stays twice."""
    return witness(counted=counted) if counted == 2 else None


@step_property(sources=(), observers=(COUNTED,))
def stays_alone(before: Count, _step: Step, _after: Count, counted: tuple[int, int]) -> Witness | None:
    """Whoever stays has not stayed before."""
    return witness(counted=counted, at=before.n) if counted == (1, 2) and before.n == 4 else None


@leads_to(sources=(), when=lambda state: state.n == 0, weak=("ring", "wait"))
def goes_to_three(state: Count) -> bool:
    """Comes to 3 at last."""
    return state.n == 3


@converges(sources=())
def can_go_to_three(state: Count) -> bool:
    """Can come to 3."""
    return state.n == 3


def rests(_state: Count, *, k: int) -> None:
    """Does nothing, under the name of another."""


rests.__name__ = "ring"

STEPS = (
    Adversary("steps: one that stays", machine(Count(), ring), (never_stays_at_three,)),
    Adversary("steps: one between known states", machine(Count(), ring), (never_closes,)),
    Adversary("steps: the second to one state", machine(Count(), either), (never_by_the_second,)),
    Adversary("steps: a choice that is offered twice", machine(Count(), twice), (never_by_the_second,)),
    Adversary("steps: between initial states", machine((Count(2), Count(3), Count(2)), ring), (never_closes, can_go_to_three)),
    Adversary(
        "steps: none, from the goal and beside it",
        machine((Count(3), Count(0)), evolve(ring, function=rests), step(wait)),
        (goes_to_three, can_go_to_three),
    ),
    Adversary("steps: that only an observer sees", machine(Count(), ring), (stays_once, stays_alone, never_closes)),
    Adversary(
        "steps: what is progress if somebody watches", machine(Count(), ring, step(wait)), (stays_once, goes_to_three, can_go_to_three)
    ),
)


# -- identities that are not treated alike --

Seat = Annotated[int, Identity("seat")]


@frozen
class Table:
    """Who sits where, and who speaks."""

    taken: Annotated[tuple[bool, ...], IndexedBy("seat")] = (False,) * 3
    speaks: Seat = -1
    heard: frozenset[Seat] = frozenset()


def seats(_bounds: object) -> range:
    """Return the seats."""
    return range(3)


@action(seat=seats)
@toy
def sit(state: Table, *, seat: Seat) -> Table | None:
    """Takes a seat."""
    return put(state, taken={seat: True}) if not state.taken[seat] else None


@action(seat=seats)
@toy
def speak(state: Table, *, seat: Seat) -> Table | None:
    """Speaks from a seat."""
    return put(state, speaks=seat, heard=state.heard | {seat}) if state.taken[seat] and state.speaks != seat else None


@action()
@toy
def first_speaks(state: Table) -> Table | None:
    """Lets the first speak who sits."""
    return put(state, speaks=state.taken.index(True)) if any(state.taken) else None


@action()
@toy
def last_heard_speaks(state: Table) -> Table | None:
    """Lets the last of those speak who were heard, by their number."""
    return put(state, speaks=max(state.heard)) if len(state.heard) > 1 else None


@action(seat=lambda _: range(2))
@toy
def sit_apart(state: Table, *, seat: Seat) -> Table | None:
    """Takes a seat, but never the last one."""
    return put(state, taken={seat: True}) if not state.taken[seat] else None


@invariant(sources=())
def first_is_silent(state: Table) -> Witness | None:
    """Whoever sits first does not speak."""
    return witness() if state.speaks == 0 else None


@step_property(sources=())
def speaks_in_order(before: Table, _step: Step, after: Table) -> Witness | None:
    """They speak in the order of seats."""
    return witness() if before.speaks > after.speaks >= 0 else None


FIRST = Observer("first", memory=Seat, initial=lambda _: -1, observe=lambda memory, _before, _step, after: max(memory, after.speaks))
"""The last seat that ever spoke, by its number."""


@invariant(sources=(), observers=(FIRST,))
def watched(_state: Table, first: int) -> Witness | None:
    """Somebody watches."""
    return witness() if first > 2 else None


@invariant(sources=())
def two_are_heard(state: Table) -> Witness | None:
    """No more than two are heard."""
    return witness(heard=len(state.heard)) if len(state.heard) > 2 else None


def table(*actions: Any) -> Machine[Table]:
    """Return three seats that are alike."""
    return Machine("table", None, None, Scope(), (Table(),), actions, {"seat": (0, 1, 2)})


UNLIKE: dict[str, tuple[Machine[Any], Sequence[Property]]] = {
    "a step of the first": (table(sit, speak, first_speaks), ()),
    "a step by number": (table(sit, speak, last_heard_speaks), ()),
    "a step that not all can take": (table(sit_apart, speak), ()),
    "a promise about the first": (table(sit, speak), (first_is_silent,)),
    "a promise about order": (table(sit, speak), (speaks_in_order,)),
    "an observer that goes by number": (table(sit, speak), (watched,)),
}
"""Machines and promises that tell identities apart: under symmetry no engine explores them."""

SYMMETRIC = Options(keep_going=True, symmetry=True)

ALIKE = (
    Adversary("symmetry: seats that are alike", table(sit, speak), (two_are_heard,), options=SYMMETRIC),
    Adversary(
        "symmetry: several initial states of one orbit",
        evolve(table(sit, speak), initial=(Table(speaks=1), Table(speaks=0), Table())),
        (two_are_heard,),
        options=SYMMETRIC,
    ),
)

SIZES: tuple[Adversary, ...] = (*CODES, *MANY, *COMPONENTS, *GROWING, *STEPS, *ALIKE)
