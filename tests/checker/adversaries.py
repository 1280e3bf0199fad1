# SPDX-License-Identifier: Apache-2.0
"""Machines on which an engine that learns from what it sees could be silently wrong, by the ways in which it could be.

Each is refused, or explored with the very answers of the reference engine. Most are wrong models, which no reviewer would
let pass; what matters is that nobody is told something false about them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import field, frozen
from toys import toy

from hwmark.checker.explore import Options
from hwmark.model.machine import Action, Machine, Step, action, impossible, put
from hwmark.spec.property import Property, Witness, converges, invariant, leads_to, step_property, witness


@frozen
class Adversary:
    """A machine, what is asked about it, and whether the tables engine says that it cannot explore it exactly."""

    name: str
    machine: Machine[Any]
    properties: tuple[Property, ...] = ()
    refused: bool = False
    options: Options = Options(keep_going=True)


@frozen
class Scope:
    """There is nothing to bound."""


def machine(initial: Any, *actions: Action) -> Machine[Any]:
    """Return a machine of these actions, from one initial state or several."""
    return Machine("adversary", None, None, Scope(), initial if isinstance(initial, tuple) else (initial,), actions)


def step(function: Callable[..., Any]) -> Action:
    """Return a function as an action without choices."""
    return action()(toy(function))


@frozen
class Count:
    """A number."""

    n: int = 0


@action(k=lambda _: range(3))
@toy
def fan(state: Count, *, k: int) -> Count | None:
    """Goes from 0 to 1, 2 and 3."""
    return put(state, n=k + 1) if state.n == 0 else None


# -- equal sets that are iterated in different orders --

HERE, THERE = frozenset((0, 8, 16)), frozenset((8, 0, 16))
"""Equal sets, which are iterated in the order of their making: their members fall into one place of a small hash table."""
ONE, OTHER = frozenset((1, 9, 17, 25)), frozenset((25, 17, 9, 1))
"""As above, with four members."""


@frozen
class Group:
    """A set, and a number."""

    members: frozenset[int]
    n: int = 0


@frozen
class Team:
    """A record with a set."""

    members: frozenset[int]

    @property
    def first(self) -> int:
        """Whoever is iterated first."""
        return next(iter(self.members))

    def second(self, least: int = 0) -> int:
        """Whoever is iterated second."""
        return max(least, list(self.members)[1])


@frozen(kw_only=True)
class NamedTeam:
    """A record with a set, whose fields must be named where it is made."""

    members: frozenset[int]


@frozen
class Teams:
    """A record with a set, or one that must be named, and a number."""

    team: Any
    n: int = 0


def countdown(name: str, pick: Callable[[Any], int]) -> Action:
    """Return an action that counts by what somebody picks."""

    def count(state: Any) -> Any:
        return put(state, n=state.n + 1 + pick(state)) if state.n < 20 else None

    count.__name__ = name
    return step(count)


def two_groups(here: frozenset[int] = HERE, there: frozenset[int] = THERE) -> tuple[Group, ...]:
    """Return states with equal sets, of which only the second is met in its own order later."""
    return Group(here), Group(there, 1)


@invariant(sources=())
def names_the_first(state: Group) -> Witness | None:
    """The second state is wrong, and the witness names whoever comes first."""
    return witness(first=next(iter(state.members))) if state.n == 1 else None


@step_property(sources=())
def step_names_the_first(before: Group, _step: Step, _after: Group) -> Witness | None:
    """As above, of a step."""
    return witness(first=next(iter(before.members))) if before.n == 1 else None


def wait(_state: Any) -> None:
    """Does nothing."""


def hold_the_first_to_be_impossible(state: Group) -> None:
    """Says that whoever comes first is impossible."""
    if state.n == 1:
        impossible(f"{next(iter(state.members))} comes first")


def put_in_order(state: Any) -> Any:
    """Writes the members down in their order."""
    return put(state, n=1, seen=tuple(state.members)) if state.n == 0 else None


@frozen
class Listing:
    """A set, a number, and what was seen."""

    members: frozenset[int]
    n: int = 0
    seen: tuple[int, ...] = (0, 0, 0)


def names_in_order(state: Group) -> Group | None:
    """Takes the order of the second state to be something special."""
    return Group(state.members, 7) if tuple(state.members) == (8, 0, 16) else None


PICKS: dict[str, Callable[[Any], int]] = {
    "first": lambda state: next(iter(state.members)),
    "middle": lambda state: int(list(state.members)[1] == 0),
    "last": lambda state: list(state.members)[-1] % 16,
    "place": lambda state: list(state.members).index(0),
    "unpacked": lambda state: (*state.members, 0)[1] % 3,
    "loop": lambda state: next(member for member in state.members if member != 16),
    "ties": lambda state: max(state.members, key=lambda member: member % 8),
    "difference": lambda state: next(iter(state.members - {16})),
    "union": lambda state: next(iter(state.members | {16})),
    "reflected": lambda state: next(iter(frozenset((0, 8, 16, 1)) & state.members)),
    "method of a set": lambda state: next(iter(state.members.difference((16,)))),
    "made anew": lambda state: next(iter(frozenset(member for member in state.members if member != 16))),
    "text": lambda state: int(str(state.members)[11]),
}
"""Ways to depend on the order of a set."""

ORDERS = (
    *(Adversary(f"set order: {name}", machine(two_groups(), countdown(name, pick)), refused=True) for name, pick in PICKS.items()),
    Adversary(
        "set order: third of four",
        machine(two_groups(ONE, OTHER), countdown("third", lambda state: list(state.members)[2])),
        refused=True,
    ),
    Adversary("set order: one order is special", machine(two_groups(), step(names_in_order)), refused=True),
    Adversary("set order: written down", machine((Listing(HERE), Listing(THERE, 0, (1, 1, 1))), step(put_in_order)), refused=True),
    Adversary("set order: in a witness", machine(two_groups(), step(wait)), (names_the_first,), refused=True),
    Adversary("set order: in a step's witness", machine(two_groups(), countdown("on", lambda _: 0)), (step_names_the_first,), refused=True),
    Adversary("set order: in what is impossible", machine(two_groups(), step(hold_the_first_to_be_impossible)), refused=True),
    Adversary(
        "set order: inside a property of a record",
        machine(
            (Teams(Team(frozenset((8,)))), Teams(Team(HERE), 100), Teams(Team(THERE), 1)),
            countdown("first", lambda state: state.team.first),
        ),
        refused=True,
    ),
    Adversary(
        "set order: inside a method of a record",
        machine((Teams(Team(HERE)), Teams(Team(THERE), 1)), countdown("second", lambda state: state.team.second(least=1))),
        refused=True,
    ),
    Adversary(
        "set order: in a record that must be named",
        machine(
            (Teams(NamedTeam(members=HERE)), Teams(NamedTeam(members=THERE), 1)),
            countdown("first", lambda state: next(iter(state.team.members))),
        ),
        refused=True,
    ),
    Adversary(
        "set order: that does not matter",
        machine(two_groups(), countdown("sum", lambda state: sorted(state.members)[1] + len(state.members) + max(state.members))),
    ),
)


# -- values that are equal and not the same --


@frozen(eq=False)
class Uncompared(Count):
    """A state of which one field does not count in comparisons, since the method that compares knows nothing of it."""

    m: int = 0


@frozen
class Holder:
    """A state with such a value."""

    value: Uncompared = field(factory=Uncompared)


VALUES = (
    Adversary(
        "values: states that compare less than their fields",
        machine(Uncompared(), step(lambda state: put(state, m=(state.m + 1) % 5))),
        refused=True,
    ),
    Adversary(
        "values: records that compare less than their fields",
        machine(Holder(), step(lambda state: put(state, value=Uncompared(0, (state.value.m + 1) % 5)))),
        refused=True,
    ),
)


# -- what functions raise --


@frozen
class Shelf:
    """A record whose methods raise for some of its values."""

    k: int = 0

    def get(self) -> int:
        """Return the number; raises for 0."""
        if self.k == 0:
            raise KeyError(self.k)
        return self.k

    @property
    def thing(self) -> int:
        """The number; raises for 0."""
        return self.get()

    def late(self) -> Any:
        """Return the number, but for 0 a mapping."""
        return self.k or self.parts()

    def parts(self) -> dict[str, int]:
        """Return a mapping, which no table can hold."""
        return {"k": self.k}


@frozen
class Shop:
    """A shelf, among others that are alike up to who they are."""

    shelf: Shelf
    who: int
    n: int = 0


GETS_LATE = (Shop(Shelf(5), 0), Shop(Shelf(5), 1), Shop(Shelf(0), 2))
"""Of the last one is asked what its predecessors answer on a path that is known."""


def shops(count: int = 300, odd: int = 222) -> tuple[Shop, ...]:
    """Return as many states, all alike up to one."""
    return tuple(Shop(Shelf(5 if who == odd else 0), who) for who in range(count))


@invariant(sources=())
def finds_nothing(state: Any) -> Witness | None:
    """Nothing was found anywhere, which is wrong of the one that is odd."""
    return witness(n=state.n) if state.n > 1 else None


def swallowing(name: str, get: Callable[[Any], int]) -> Action:
    """Return an action that takes no notice of what somebody raises."""

    def swallow(state: Shop) -> Shop | None:
        if state.n:
            return None
        try:
            found = get(state)
        except Exception:  # noqa: BLE001 - that is what is tried
            found = 0
        return put(state, n=1 + found)

    swallow.__name__ = name
    return step(swallow)


@converges(sources=())
def raises_at_two(state: Count) -> bool:
    """Raises somewhere, of a promise that is judged later."""
    if state.n == 2:
        raise ValueError("two")
    return True


def is_no_two(state: Count) -> bool:
    """Raises at 2."""
    return bool(1 // (2 - state.n))


@leads_to(sources=(), when=is_no_two)
def presupposes_no_two(_: Count) -> bool:
    """Presupposes what raises somewhere."""
    return True


RAISING = (
    Adversary("raising: a method, unnoticed", machine(shops(), swallowing("get", lambda state: state.shelf.get())), (finds_nothing,)),
    Adversary("raising: a property, unnoticed", machine(shops(), swallowing("thing", lambda state: state.shelf.thing)), (finds_nothing,)),
    Adversary(
        "raising: what a table cannot hold", machine(shops(), swallowing("parts", lambda state: state.shelf.parts()["k"])), (finds_nothing,)
    ),
    Adversary("raising: a method of later values only", machine(GETS_LATE, swallowing("get", lambda state: state.shelf.get()))),
    Adversary(
        "raising: of later values what a table cannot hold", machine(GETS_LATE, swallowing("late", lambda state: state.shelf.late()))
    ),
    Adversary("raising: a promise that is judged later", machine(Count(), fan), (raises_at_two,)),
    Adversary("raising: what such a promise presupposes", machine(Count(), fan), (presupposes_no_two,)),
)


# -- the order in which it is asked, and where that ends --


def is_on(state: Count, number: int) -> bool:  # noqa: ARG001 - asked apart for each number
    """Whether the count has begun."""
    return state.n >= 1


@invariant(sources=(), when=is_on, number=lambda _: (1, 0))
def is_not_one(state: Count, *, number: int) -> Witness | None:
    """Decided first, which changes the order of what is asked together with it."""
    return witness(number=number) if state.n == 1 else None


@invariant(sources=(), when=is_on, number=lambda _: (0, 1))
def is_not_two(state: Count, *, number: int) -> Witness | None:
    """Decided in the next state, by the number that is asked first there."""
    return witness(number=number) if state.n == 2 else None


@step_property(sources=())
def never_third(_before: Count, step: Step, _after: Count) -> Witness | None:
    """Wrong at the last of three steps."""
    return witness() if step.choices["k"] == 2 else None


@action(k=lambda _: range(3))
@toy
def fan_to_impossible(state: Count, *, k: int) -> Count | None:
    """Goes from 0 to 1 and 2, and holds it to be impossible to go to 3."""
    if k == 2:
        impossible("three")
    return put(state, n=k + 1) if state.n == 0 else None


ASKING = (
    Adversary("asking: in an order that changes as something is decided", machine(Count(), fan), (is_not_one, is_not_two)),
    *(
        Adversary(f"asking: only up to the limit of {most} states", machine(Count(), act), (never_third,), options=Options(max_states=most))
        for most in range(1, 5)
        for act in (fan, fan_to_impossible)
    ),
    Adversary("asking: nothing can be done", machine(Count()), (is_not_one, raises_at_two)),
)

ADVERSARIES: tuple[Adversary, ...] = (*ORDERS, *VALUES, *RAISING, *ASKING)
