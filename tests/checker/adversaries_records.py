# SPDX-License-Identifier: Apache-2.0
"""Machines whose values are what an engine could take for something simpler: records, tuples, numbers that are nearly equal.

As with all adversaries, each is refused, or explored as the reference engine does.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from adversaries import HERE, THERE, Adversary, Count, fan, machine, step
from attrs import define, evolve, field, frozen

from hwmark.model.machine import Machine, Step, put
from hwmark.spec.property import Observer, Witness, invariant, step_property, witness

# -- values that are nearly the same --


@frozen
class Anything:
    """A value of any type, and a number."""

    value: Any = 0
    n: int = 0


class Day(Enum):
    """A day."""

    FIRST = 1
    LAST = 2


class Month(Enum):
    """A month, whose members have the names of days."""

    FIRST = 1
    LAST = 2


@frozen
class Noted:
    """A record with a note that does not count in comparisons."""

    k: int = 0
    note: int = field(default=0, eq=False)


@frozen
class Named:
    """A record whose name is compared in its own way."""

    name: str = field(default="a", eq=str.lower)


@define(hash=True)
class Loose:
    """A record that can be changed in place."""

    k: int = 0


def turning(*values: Any) -> Machine[Any]:
    """Return a machine whose value is each of these in turn."""

    def turn(state: Anything) -> Anything | None:
        return put(state, value=values[state.n], n=state.n + 1) if state.n < len(values) else None

    def name(state: Anything) -> Anything | None:
        return put(state, n=100) if type(state.value).__name__ in {"bool", "Month"} and state.n < 100 else None

    return machine(Anything(values[0]), step(turn), step(name))


VALUES = (
    Adversary("values: False beside 0", turning(0, 1, False), refused=True),  # noqa: FBT003 - one value of several
    Adversary("values: 0.0 on both sides", turning(0.0, 1.0, -0.0), refused=True),
    Adversary("values: no number", turning(0.0, float("nan")), refused=True),
    Adversary("values: members of two enums", turning(Day.FIRST, Day.LAST, Month.FIRST)),
    Adversary("values: a field that does not count", turning(Noted(), Noted(note=1)), refused=True),
    Adversary("values: a field that is compared in its own way", turning(Named(), Named("A")), refused=True),
    Adversary("values: a record that is not frozen", turning(Loose(), Loose(1)), refused=True),
)


# -- records that do more than to hold their fields --


@frozen
class Clipped:
    """A record that is never more than three, whatever it is made of."""

    k: int = 0

    def __attrs_post_init__(self) -> None:
        """Clip the number."""
        object.__setattr__(self, "k", min(self.k, 3))


@frozen
class Rounded:
    """A record whose number is even, whatever it is made of."""

    k: int = field(default=0, converter=lambda k: k - k % 2)


@frozen
class Marked:
    """A record with a field that nobody sets."""

    members: frozenset[int] = frozenset((1, 2))
    k: int = 0
    mark: int = field(default=7, init=False)


@frozen
class Holder:
    """A record of some kind, and how far it was looked at."""

    value: Any = None
    n: int = 0


@frozen
class Clips:
    """As above, with an annotation that tells the kind."""

    value: Clipped = Clipped()
    n: int = 0


@frozen
class Roundings:
    """As above."""

    value: Rounded = Rounded()
    n: int = 0


@frozen
class Marks:
    """As above."""

    value: Marked = Marked()
    n: int = 0


def growing(initial: Any, by: int, change: Any = put) -> Machine[Any]:
    """Return a machine that makes a record larger, and looks at it before it is written."""

    def grow(state: Any) -> Any:
        if state.n > 5:
            return None
        larger = change(state.value, k=state.value.k + by)
        return put(state, value=larger, n=state.n + 1 + larger.k % 3)

    return machine(initial, step(grow))


@frozen
class Both:
    """Two numbers."""

    a: int = 0
    b: int = 0

    @property
    def sum(self) -> int:
        """Both together."""
        return self.a + self.b

    def less(self, other: Both) -> int:
        """Return how much less the other is."""
        return self.sum - other.sum

    def above(self, least: int = 0, *, by: int = 0) -> bool:
        """Whether both together are more than a number."""
        return self.sum > least + by


@frozen
class Third(Both):
    """Two numbers, and that it is something else."""

    @property
    def sum(self) -> int:
        """Both together, from the other side."""
        return -self.a - self.b


@frozen
class Deck:
    """Records in several fields: in one, in two that are indexed, and in one of any kind."""

    one: Both = Both()
    left: tuple[Both, ...] = (Both(1), Both(2), Both(3))
    right: tuple[Both, ...] = (Both(4), Both(5))
    any: Both | Third | None = None
    pair: tuple[int, bool] = (0, False)
    n: int = 0


def change_twice(state: Deck) -> Deck | None:
    """Changes a record, and then what it has become."""
    if state.n > 3:
        return None
    once = put(state.one, a=state.one.b + 1)
    twice = put(once, b=once.a + once.sum)
    return put(put(state, one=twice), n=state.n + twice.less(Both(1)) % 2 + twice.above(twice.a) + 1)


def change_before(state: Deck) -> Deck | None:
    """Changes entries, reads them, and changes them again, from the end."""
    if state.n > 3:
        return None
    changed = put(state, left={-1: put(state.left[1], b=state.n)}, right={0: state.left[0]}, n=state.n + 1)
    return put(changed, left={0: changed.left[2]}, one=changed.right[0])


def go_round(state: Deck) -> Deck | None:
    """Moves records to the next place, and from one field to another."""
    if state.n > 4:
        return None
    first, *others = state.left
    return put(state, left=(*others, first), one=state.right[1], right={1: state.one}, n=state.n + 1)


def change_kind(state: Deck) -> Deck | None:
    """Puts another kind of record, and asks what it is."""
    match state.any:
        case None:
            return put(state, any=Both(1, 2))
        case Third():
            return put(state, n=9) if state.n < 9 else None
        case one:
            return put(state, any=Third(one.a, one.b), n=one.sum)


def ask_alike(state: Deck) -> Deck | None:
    """Asks one method of one record with several arguments."""
    one = state.left[state.n % 3]
    found = 1 + one.above() + one.above(1) + one.above(0, by=2) + one.above(by=5)
    return put(state, n=state.n + found, pair=(found % 2, state.pair[0] == 1)) if state.n < 12 else None


def make_anew(state: Deck) -> Deck | None:
    """Makes a whole state."""
    return Deck(state.left[0], state.left, state.right, state.any, (1, True), state.n + 1) if state.n < 3 else None


def compare_changed(state: Deck) -> Deck | None:
    """Compares a record once it is changed."""
    changed = put(state.one, a=state.one.a + 1)
    return put(state, one=changed, n=state.n + 1 + (changed == Both(2))) if changed not in (Both(4), Both(5)) else None


@invariant(sources=(), place=lambda _: range(3))
def never_much_more(state: Deck, *, place: int) -> Witness | None:
    """No place has much more than the one beside them."""
    return witness(place=place) if state.left[place].sum > 3 + state.one.sum else None


@step_property(sources=())
def never_less(before: Deck, _step: Step, after: Deck) -> Witness | None:
    """The number never shrinks, and the record only with it."""
    return witness(before=before.n, after=after.n) if after.n < before.n or after.one.less(before.one) < 0 else None


DECKS = tuple(
    Adversary(f"records: {act.__name__.replace('_', ' ')}", machine(Deck(), step(act)), (never_much_more, never_less))
    for act in (change_twice, change_before, go_round, change_kind, ask_alike, make_anew, compare_changed)
)


@frozen
class Typed:
    """A record whose class is annotated."""

    value: Both = Both()
    n: int = 0


def put_other(state: Typed) -> Typed | None:
    """Puts a record of another class than the annotated one."""
    return put(state, value=Third(state.n, 1), n=state.n + 1) if state.n < 3 else None


RECORDS = (
    Adversary("records: that are clipped", growing(Clips(), 2)),
    Adversary("records: that are rounded", growing(Roundings(), 3)),
    Adversary("records: with a field that nobody sets", growing(Marks(), 1, evolve)),
    Adversary("records: of any kind that are clipped", growing(Holder(Clipped()), 2)),
    Adversary("records: of any kind that are rounded", growing(Holder(Rounded()), 3)),
    Adversary("records: of any kind with a field that nobody sets", growing(Holder(Marked()), 1, evolve)),
    Adversary("records: of another class than is annotated", machine(Typed(), step(put_other)), refused=True),
    *DECKS,
)


# -- sets whose order nobody should ask for --

FAR = frozenset((1, 2, 3))
"""A set that is always iterated in one order, as its members never get into each other's way."""


@frozen
class Sets:
    """Sets in a tuple, in a record, and alone; and a number."""

    pair: tuple[frozenset[int], int] = (FAR, 0)
    alone: frozenset[int] = FAR
    n: int = 0


@frozen
class Club:
    """A record with a set."""

    members: frozenset[int]

    @property
    def is_special(self) -> bool:
        """Whether the members come in the order of another, equal set."""
        return tuple(self.members) == tuple(THERE)


@frozen
class Clubs:
    """A record with a set, and a number."""

    club: Club
    n: int = 0


def counted_by(name: str, pick: Any) -> Any:
    """Return an action that counts by what somebody picks."""

    def count(state: Any) -> Any:
        return put(state, n=state.n + 1 + pick(state)) if state.n < 9 else None

    count.__name__ = name
    return step(count)


SEEN = Observer("seen", memory=frozenset[int], initial=lambda _: FAR, observe=lambda memory, _before, _step, after: memory | {after.n + 3})
"""Numbers that were met."""


@invariant(sources=(), observers=(SEEN,))
def names_whoever_was_seen_first(state: Count, seen: frozenset[int]) -> Witness | None:
    """Two is wrong, and the witness names whoever comes first in what is remembered."""
    return witness(first=next(iter(seen))) if state.n == 2 else None


ORDERS = (
    Adversary("set order: inside a tuple", machine(Sets(), counted_by("inside", lambda s: next(iter(s.pair[0])))), refused=True),
    Adversary("set order: that is always the same", machine(Sets(), counted_by("first", lambda s: next(iter(s.alone)))), refused=True),
    Adversary(
        "set order: of the difference of two sets that is always the same",
        machine(Sets(), counted_by("difference", lambda s: next(iter(s.alone - {9})))),
        refused=True,
    ),
    Adversary(
        "set order: one order is special inside a property",
        machine((Clubs(Club(HERE)), Clubs(Club(THERE), 1)), counted_by("special", lambda s: s.club.is_special)),
        refused=True,
    ),
    Adversary("set order: of what an observer remembers", machine(Count(), fan), (names_whoever_was_seen_first,), refused=True),
)


# -- tuples that change their length --


@frozen
class Notes:
    """What two wrote down, and what comes after."""

    notes: tuple[int, ...] = (0, 0)
    others: tuple[int, ...] = (7, 7)
    n: int = 0


def note_down(state: Notes) -> Notes | None:
    """Makes a tuple longer."""
    return put(state, notes=(*state.notes, len(state.notes)), n=state.n + 1) if len(state.notes) < 5 else None


def note_anew(state: Notes) -> Notes | None:
    """Makes both tuples longer, first the one and then the other, as a new state."""
    return Notes((*state.notes, state.n), (*state.others, 1) if state.n else state.others, state.n + 1) if state.n < 4 else None


@invariant(sources=())
def others_are_left_alone(state: Notes) -> Witness | None:
    """What comes after stays what it is."""
    return witness(others=state.others) if state.others != (7, 7) else None


LENGTHS = (
    Adversary("length: a tuple grows", machine(Notes(), step(note_down)), (others_are_left_alone,)),
    Adversary("length: two tuples grow one after the other", machine(Notes(), step(note_anew)), (others_are_left_alone,)),
    Adversary("length: initial states of different lengths", machine((Notes((1,)), Notes()), step(note_down)), (others_are_left_alone,)),
)

NEARLY: tuple[Adversary, ...] = (*VALUES, *RECORDS, *ORDERS, *LENGTHS)
