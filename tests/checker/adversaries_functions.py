# SPDX-License-Identifier: Apache-2.0
"""Functions that remember, change their mind, raise, read nothing, or answer the same about many states; and steps beside known ones.

As with all adversaries, each is refused, or explored as the reference engine does.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from adversaries import Adversary, Count, fan, machine, step
from adversaries_sizes import SYMMETRIC, Seat, numbered, seats
from attrs import frozen
from toys import toy

from hwmark.model.machine import IndexedBy, Machine, Step, action, impossible, put
from hwmark.spec.property import Witness, converges, invariant, reachable, step_property, witness

# -- functions that remember --

_KEPT: dict[Any, Any] = {}
_ASKED: Counter[Any] = Counter()


def keep(state: Count) -> Count | None:
    """Keeps the first state that it ever sees, in each search, and looks at it ever after."""
    first = _KEPT.setdefault(type(state), state)
    return put(state, n=state.n + 1 + 0 * first.n) if state.n < 4 else None


@frozen
class Pair:
    """Two numbers."""

    a: int = 0
    b: int = 0


def change_its_mind(state: Pair) -> Pair | None:
    """Looks at one number first, and after some time at the other, in each search."""
    _ASKED[type(state)] += 1
    is_late = _ASKED[type(state)] > 3
    if (state.b if is_late else state.a) > 5 or (state.a if is_late else state.b) > 5:
        return None
    return put(state, a=state.a + 1, b=state.b + state.a % 2)


# -- functions that raise, hold something to be impossible, or read nothing --


@invariant(sources=())
def raises_at_three(state: Count) -> Witness | None:
    """Raises somewhere."""
    if state.n == 3:
        raise LookupError("three")
    return None


@step_property(sources=())
def raises_from_two(before: Count, _step: Step, after: Count) -> Witness | None:
    """Raises about a step."""
    if (before.n, after.n) == (2, 3):
        raise LookupError("from two to three")
    return None


def count_on(state: Count) -> Count | None:
    """Counts."""
    return put(state, n=state.n + 1) if state.n < 5 else None


def stop_at_once(_state: Count) -> None:
    """Holds it to be impossible that anything is."""
    impossible("something is")


@action(k=numbered(3))
@toy
def stop_twice(state: Count, *, k: int) -> None:
    """Holds two numbers to be impossible, which are found in one step."""
    if state.n == k + 1 and k != 1:
        impossible(f"it is {state.n}")


def begin_again(_state: Count) -> Count:
    """Begins again, whatever there was."""
    return Count(4)


@step_property(sources=())
def nothing_happens(_before: Count, _step: Step, _after: Count) -> Witness | None:
    """No step is taken, whatever it is."""
    return witness()


@reachable(sources=(), scope={})
def anything(_state: Count) -> bool:
    """There is a state."""
    return True


@converges(sources=())
def nothing(_state: Count) -> bool:
    """There can be what is not."""
    return False


FUNCTIONS = (
    Adversary("functions: that keep a state", machine(Count(), step(keep)), refused=True),
    Adversary("functions: that change their mind", machine((Pair(), Pair(0, 1), Pair(1, 1)), step(change_its_mind)), refused=True),
    Adversary("functions: a promise that raises", machine(Count(), step(count_on)), (raises_at_three,)),
    Adversary("functions: a promise about steps that raises", machine(Count(), step(count_on)), (raises_from_two,)),
    Adversary("functions: the first step is impossible", machine(Count(), step(stop_at_once), step(count_on))),
    Adversary("functions: two steps are impossible", machine((Count(), Count(3), Count(1)), stop_twice, fan)),
    Adversary("functions: that read nothing", machine(Count(), step(count_on), step(begin_again)), (nothing_happens, anything, nothing)),
)


# -- what is decided several times, or never --


@invariant(sources=())
def stays_nothing(state: Count) -> Witness | None:
    """Broken by several states that are found at once."""
    return witness(n=state.n) if state.n else None


@step_property(sources=())
def does_nothing(_before: Count, step: Step, after: Count) -> Witness | None:
    """Broken by several steps that are taken at once."""
    return witness(k=step.choices.get("k"), n=after.n) if after.n else None


def is_three(state: Count) -> bool:
    """Whether there is what is presupposed, in one of several states."""
    return state.n == 3


def leads_to_two(_before: Count, _step: Step, after: Count) -> bool:
    """Whether there is what is presupposed, in one of several steps."""
    return after.n == 2


@invariant(sources=(), when=is_three)
def three_is_three(state: Count) -> Witness | None:
    """Holds where it is asked."""
    return witness() if state.n != 3 else None


@step_property(sources=(), when=leads_to_two)
def two_is_two(_before: Count, _step: Step, after: Count) -> Witness | None:
    """Holds where it is asked."""
    return witness() if after.n != 2 else None


@converges(sources=(), when=is_three)
def three_stays(state: Count) -> bool:
    """Holds where it is asked."""
    return state.n == 3


ASKING = (
    Adversary("asking: what several states break", machine(Count(), fan), (stays_nothing,)),
    Adversary("asking: what several steps break", machine(Count(), fan), (two_is_two, does_nothing)),
    Adversary(
        "asking: what is presupposed in one state, or by one step",
        machine(Count(), fan),
        (three_is_three, two_is_two, three_stays),
    ),
    Adversary(
        "asking: what several initial states break", machine((Count(), Count(), Count(2), Count(1)), fan), (stays_nothing, does_nothing)
    ),
)


# -- steps, states and components beside others --

MOVES = {0: (1, 2, 3), 1: (4, 5), 2: (5,), 3: (6,), 5: (7,), 6: (3,), 7: (5, 2)}
"""Two lead to 5 in the same chunk, and only one of them has another way."""


@action(k=numbered(3))
@toy
def move(state: Count, *, k: int) -> Count | None:
    """Goes on, if there is such a way."""
    ways = MOVES.get(state.n, ())
    return Count(ways[k]) if k < len(ways) else None


@converges(sources=(), when=lambda state: state.n == 2)
def two_comes_to_five(state: Count) -> bool:
    """From 2 one can come to 5."""
    return state.n == 5


@converges(sources=(), when=lambda state: state.n in {3, 6})
def three_comes_to_seven(state: Count) -> bool:
    """From 3 one cannot come to 7."""
    return state.n == 7


@frozen
class Counters:
    """How often each seat was counted."""

    counts: Annotated[tuple[int, ...], IndexedBy("seat")] = (0, 0, 0)
    last: Seat = -1


@action(seat=seats)
@toy
def count_seat(state: Counters, *, seat: Seat) -> Counters | None:
    """Counts a seat, but not the same twice in a row."""
    return put(state, counts={seat: state.counts[seat] + 1}, last=seat) if state.counts[seat] < 5 and state.last != seat else None


@invariant(sources=())
def none_is_far_ahead(state: Counters) -> Witness | None:
    """No seat is counted much more often than the others together."""
    return witness(most=max(state.counts)) if 2 * max(state.counts) > sum(state.counts) + 3 else None


COUNTERS: Machine[Counters] = Machine("counters", None, None, None, (Counters(),), (count_seat,), {"seat": (0, 1, 2)})


@frozen
class Uneven:
    """One component that takes few values, and sixteen that take more: together they need more than a word, by two bits."""

    few: tuple[int, ...] = (0,)
    many: tuple[int, ...] = (0,) * 16


@action(k=numbered(16))
@toy
def count_in_turn(state: Uneven, *, k: int) -> Uneven | None:
    """Counts one component, once those before are done."""
    is_next = all(one == 5 for one in state.many[:k]) and state.many[k] < 5
    return put(state, few={0: k % 2}, many={k: state.many[k] + 1}) if is_next else None


BESIDE = (
    Adversary("beside: components of four bits where two are free", machine(Uneven(), count_in_turn)),
    Adversary("beside: two steps to one new state", machine(Count(), move), (two_comes_to_five, three_comes_to_seven)),
    Adversary("beside: many orbits of counters", COUNTERS, (none_is_far_ahead,), options=SYMMETRIC),
)

BEHAVING: tuple[Adversary, ...] = (*FUNCTIONS, *ASKING, *BESIDE)
