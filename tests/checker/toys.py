# SPDX-License-Identifier: Apache-2.0
"""Toy machines, and what is known about each by hand: the answers that any engine must give.

``KNOWN`` is one list of questions with their complete answers: states, transitions, depth, and for every property its
verdict, depth and exact run. The tests of the explorer ask them; the mutation checks ask them of broken explorers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from attrs import field, frozen

from hwmark.model.machine import Identity, IndexedBy, Machine, Step, action, impossible, kafka, put
from hwmark.spec.property import Observer, Property, Witness, converges, invariant, leads_to, reachable, step_property, witness

toy = kafka("nothing of Kafka", versions="none", simplified="a toy")


# -- a counter --


@frozen
class Count:
    """A number."""

    value: int = 0


@frozen
class Limit:
    """How far the counter counts; the ring goes back to 0 there."""

    limit: int = 5


@action()
@toy
def one(state: Count, bounds: Limit) -> Count | None:
    """Counts by one."""
    return Count(state.value + 1) if state.value < bounds.limit else None


@action()
@toy
def two(state: Count, bounds: Limit) -> Count | None:
    """Counts by two."""
    return Count(state.value + 2) if state.value + 1 < bounds.limit else None


@action()
@toy
def turn(state: Count, bounds: Limit) -> Count:
    """Counts by one round a ring of ``limit`` numbers."""
    return Count((state.value + 1) % bounds.limit)


@action()
@toy
def stumble(state: Count, bounds: Limit) -> Count | None:
    """Counts by one, and holds it to be impossible to pass 2."""
    if state.value == 2:
        impossible("nobody passes two")
    return one.function(state, bounds)


def counter(*actions: Any, limit: int = 5, initial: tuple[int, ...] = (0,)) -> Machine[Count]:
    """Return a counter that does these actions, from each of these numbers."""
    return Machine("counter", None, None, Limit(limit), tuple(Count(value) for value in initial), actions or (one,))


def below(end: int, **given: Any) -> Property:
    """Return the invariant that the count stays below a number."""

    def stays_below(state: Count) -> Witness | None:
        return None if state.value < end else witness(value=state.value)

    stays_below.__name__ = f"below_{end}"
    return invariant(sources=(), **given)(stays_below)


@reachable(sources=(), scope={})
def reaches_nine(state: Count) -> bool:
    """The count is 9."""
    return state.value == 9


@reachable(sources=(), scope={"limit": 9})
def reaches_nine_in_time(state: Count) -> bool:
    """The count is 9, where the limit allows it."""
    return state.value == 9


@reachable(sources=(), scope={})
def reaches_three(state: Count) -> bool:
    """The count is 3."""
    return state.value == 3


@reachable(sources=(), scope={})
def goes_from_three(before: Count, step: Step, after: Count) -> bool:
    """The count leaves 3 by one."""
    return step.action == "one" and before.value == 3 and after.value == 4


@step_property(sources=())
def never_back(before: Count, _step: Step, after: Count) -> Witness | None:
    """No step makes the count smaller."""
    return None if before.value <= after.value else witness(before=before.value, after=after.value)


def is_huge(state: Count) -> bool:
    """Whether the count is beyond all limits of the toys."""
    return state.value > 99


def was_huge(before: Count, _step: Step, _after: Count) -> bool:
    """Whether the count was beyond all limits of the toys."""
    return before.value > 99


@step_property(sources=(), when=was_huge)
def never_back_when_huge(before: Count, _step: Step, after: Count) -> Witness | None:
    """No step makes a huge count smaller."""
    return None if before.value <= after.value else witness()


@converges(sources=(), when=is_huge)
def recovers(state: Count) -> bool:
    """From a huge count 0 stays reachable."""
    return state.value == 0


@leads_to(sources=(), when=is_huge, weak=("one",))
def shrinks_at_last(state: Count) -> bool:
    """A huge count becomes 0."""
    return state.value == 0


def nobody(_: Limit) -> tuple[int, ...]:
    """Return no values."""
    return ()


@invariant(sources=(), who=nobody)
def nobody_counts(state: Count, *, who: int) -> Witness | None:
    """Nobody is the count."""
    return witness() if state.value == who else None


def up_to_limit(bounds: Limit) -> range:
    """Return the numbers that the counter can reach."""
    return range(bounds.limit + 1)


def is_number(state: Count, number: int) -> bool:
    """Whether the count is this number."""
    return state.value == number


@invariant(sources=(), when=is_number, number=up_to_limit)
def is_not_three(state: Count, *, number: int) -> Witness | None:  # noqa: ARG001 - the presupposition has asked the state
    """Whatever number the count is, it is not 3."""
    return witness() if number == 3 else None


# -- what somebody remembers of a ring --

LAPS = Observer(
    "laps",
    memory=int,
    initial=lambda _: 0,
    observe=lambda laps, _before, _step, after: (laps + (after.value == 0)) % 2,
)
"""The number of times that 0 was reached again, modulo 2."""

LARGEST = Observer("largest", memory=int, initial=lambda s: s.value, observe=lambda old, _before, _step, after: max(old, after.value))
"""The largest count so far."""


@invariant(sources=(), observers=(LAPS,))
def first_lap(state: Count, laps: int) -> Witness | None:
    """The ring is walked only once."""
    return None if laps == 0 else witness(value=state.value, laps=laps)


@step_property(sources=(), observers=(LARGEST,))
def largest_grows(_before: Count, _step: Step, after: Count, largest: tuple[int, int]) -> Witness | None:
    """Every step makes the largest count larger."""
    old, new = largest
    return None if old < new else witness(old=old, new=new, value=after.value)


# -- lamps that are alike, one of which may be held --

Lamp = Annotated[int, Identity("lamp")]


@frozen
class Lamps:
    """Which lamps are lit, which one is held (-1: none), and which have ever been held."""

    lit: Annotated[tuple[bool, ...], IndexedBy("lamp")]
    held: Lamp = -1
    known: frozenset[Lamp] = frozenset()


@frozen
class Room:
    """How many lamps there are."""

    lamps: int = 3


def lamps(bounds: Room) -> range:
    """Return the lamps."""
    return range(bounds.lamps)


@action(lamp=lamps)
@toy
def toggle(state: Lamps, *, lamp: Lamp) -> Lamps:
    """Switches a lamp on or off."""
    return put(state, lit={lamp: not state.lit[lamp]})


@action(lamp=lamps)
@toy
def hold(state: Lamps, *, lamp: Lamp) -> Lamps | None:
    """Takes a lamp into the hand, if it is not there."""
    return put(state, held=lamp) if state.held != lamp else None


@action(lamp=lamps)
@toy
def hold_first_unlit(state: Lamps, *, lamp: Lamp) -> Lamps | None:
    """Takes the first lamp that is not lit into the hand: "the first" is not symmetric."""
    return put(state, held=lamp) if not state.lit[lamp] and all(state.lit[:lamp]) and state.held != lamp else None


@action()
@toy
def drop(state: Lamps) -> Lamps | None:
    """Puts the lamp down."""
    return put(state, held=-1) if state.held >= 0 else None


def room(*actions: Any, count: int = 3) -> Machine[Lamps]:
    """Return a room of lamps that are alike, all of them out."""
    bounds = Room(count)
    return Machine("lamps", None, None, bounds, (Lamps((False,) * count),), actions, {"lamp": tuple(lamps(bounds))})


@invariant(sources=())
def two_lit_at_most(state: Lamps) -> Witness | None:
    """No more than two lamps are lit."""
    return None if sum(state.lit) <= 2 else witness(lit=sum(state.lit))


@invariant(sources=(), lamp=lamps)
def never_held_lit(state: Lamps, *, lamp: Lamp) -> Witness | None:
    """A lamp in the hand is not lit."""
    return witness() if state.held == lamp and state.lit[lamp] else None


@invariant(sources=(), lamp=lamps)
def is_lit(state: Lamps, *, lamp: Lamp) -> Witness | None:
    """Every lamp is lit."""
    return None if state.lit[lamp] else witness()


@invariant(sources=())
def first_is_out(state: Lamps) -> Witness | None:
    """The first lamp is never lit, which is not a symmetric thing to say."""
    return witness() if state.lit[0] else None


@converges(sources=())
def all_out(state: Lamps) -> bool:
    """All lamps can be out again."""
    return not any(state.lit)


@converges(sources=(), lamp=lamps)
def each_is_lit(state: Lamps, *, lamp: Lamp) -> bool:
    """Each lamp can be lit."""
    return state.lit[lamp]


# -- graphs drawn by hand --


@frozen
class Place:
    """A place in a graph."""

    at: int


@frozen
class Moves:
    """The moves of a graph: where each action leads in each lane from each place."""

    moves: Mapping[tuple[str, int, int], int] = field(factory=dict)

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return 1 + max((lane for _, lane, _ in self.moves), default=0)


def lanes(bounds: Moves) -> range:
    """Return the lanes: each lane of an action is an instance of its own."""
    return range(bounds.lanes)


@action(lane=lanes)
@toy
def steady(state: Place, bounds: Moves, *, lane: int) -> Place | None:
    """Moves, under weak fairness."""
    return _move(state, bounds, "steady", lane)


@action(lane=lanes)
@toy
def eager(state: Place, bounds: Moves, *, lane: int) -> Place | None:
    """Moves, under strong fairness."""
    return _move(state, bounds, "eager", lane)


@action(lane=lanes)
@toy
def free(state: Place, bounds: Moves, *, lane: int) -> Place | None:
    """Moves or does not, just as it likes."""
    return _move(state, bounds, "free", lane)


def graph(moves: Mapping[tuple[str, int, int], int], initial: tuple[int, ...] = (0,)) -> Machine[Place]:
    """Return the machine that walks a graph: ``{("free", 0, 1): 2}`` leads freely from 1 to 2 in lane 0."""
    return Machine("graph", None, None, Moves(dict(moves)), tuple(Place(at) for at in initial), (steady, eager, free))


def _move(state: Place, bounds: Moves, name: str, lane: int) -> Place | None:
    target = bounds.moves.get((name, lane, state.at))
    return None if target is None else Place(target)


def arrives(*goals: int, start: tuple[int, ...] = (0,)) -> Property:
    """Return the promise that somebody who is at the start comes to a goal at last."""

    def arrives_at_last(state: Place) -> bool:
        return state.at in goals

    return leads_to(sources=(), when=lambda state: state.at in start, weak=("steady",), strong=("eager",))(arrives_at_last)


def returns(*goals: int, when: Callable[[Place], bool] | None = None) -> Property:
    """Return the promise that a goal stays reachable."""

    def can_return(state: Place) -> bool:
        return state.at in goals

    return converges(sources=(), when=when)(can_return)


PARITY = Observer("parity", memory=int, initial=lambda _: 0, observe=lambda parity, _before, _step, _after: 1 - parity)
"""Whether the number of steps so far is odd, which somebody counts who watches."""


@invariant(sources=(), observers=(PARITY,))
def is_watched(_: Place, parity: int) -> Witness | None:
    """Somebody counts the steps."""
    return None if parity in (0, 1) else witness(parity=parity)


def several_goals(bounds: Moves) -> range:
    """Return the places that ``comes_by`` is asked about."""
    return range(1, 1 + bounds.lanes)


@converges(sources=(), place=several_goals)
def comes_by(state: Place, *, place: int) -> bool:
    """Each of the places stays reachable."""
    return state.at == place


# -- what is known --


@frozen
class Answer:
    """The whole answer about one property; ``steps`` are the steps of its run as they are written."""

    verdict: str
    steps: tuple[str, ...] | None = None
    initial: int = 0
    loop: int | None = None
    facts: Mapping[str, Any] | None = None
    why: str | None = None


@frozen
class Known:
    """A question about a toy, and everything that is known about the answer."""

    name: str
    machine: Machine[Any]
    properties: tuple[Property, ...]
    states: int
    transitions: int
    depth: int
    answers: Mapping[str, Answer]
    stopped: str | None = None
    options: Mapping[str, Any] = field(factory=dict)


def answers_of(exploration: Any) -> dict[str, Answer]:
    """Return what an exploration says about each property, in the form of ``Known.answers``."""
    return {one.name: _answer(one) for one in exploration.results}


def _answer(result: Any) -> Answer:
    if result.run is None:
        return Answer(result.verdict.value, why=result.why)
    if result.depth != len(result.run.steps):
        raise ValueError(f"{result.name}: depth {result.depth}, but a run of {len(result.run.steps)} steps")
    steps = tuple(map(str, result.run.steps))
    return Answer(result.verdict.value, steps, result.run.initial, result.run.loop, dict(result.witness))


def agrees(known: Known, explore: Callable[..., Any], options: Callable[..., Any]) -> bool:
    """Whether an explorer answers a question exactly as it is known."""
    found = explore(known.machine, known.properties, options(**known.options))
    figures = (found.states, found.transitions, found.depth, found.complete, found.stopped)
    return figures == (known.states, known.transitions, known.depth, known.stopped is None, known.stopped) and (
        answers_of(found) == known.answers and sum(found.taken.values()) == known.transitions
    )


HOLDS = Answer("holds")
ALL = {"keep_going": True}
SYMMETRIC = {"keep_going": True, "symmetry": True}


def undetermined(why: str) -> Answer:
    """Return the answer that says why nothing is known."""
    return Answer("undetermined", why=why)


def violated(*steps: str, **given: Any) -> Answer:
    """Return the answer that shows this run."""
    return Answer("violated", steps, **{"facts": {}, **given})


NEVER_MET = Answer("violated", why="the whole scope was explored and never met it")
VACUOUS = undetermined("vacuous: nothing in this scope meets what the property presupposes")

STAYING = {("eager", 0, 0): 0, ("eager", 0, 1): 2, ("steady", 0, 0): 1, ("free", 0, 1): 0}
"""The eager move stays at 0 and leads on at 1, where it is enabled again and again."""

KNOWN: tuple[Known, ...] = (
    Known(
        "a goal that nobody can reach, and one that is not expected in so small a scope",
        counter(),
        (reaches_nine, reaches_nine_in_time, reaches_three, goes_from_three),
        states=6,
        transitions=5,
        depth=5,
        answers={
            "reaches_nine": NEVER_MET,
            "reaches_nine_in_time": undetermined("not met, and not expected below limit=9"),
            "reaches_three": Answer("holds", ("one()",) * 3, facts={}),
            "goes_from_three": Answer("holds", ("one()",) * 4, facts={}),
        },
    ),
    Known(
        "a goal whose least scope is just reached",
        counter(limit=9),
        (reaches_nine, reaches_nine_in_time),
        states=10,
        transitions=9,
        depth=9,
        options=ALL,
        answers={
            "reaches_nine": Answer("holds", ("one()",) * 9, facts={}),
            "reaches_nine_in_time": Answer("holds", ("one()",) * 9, facts={}),
        },
    ),
    Known(
        "violations at exactly 3 and 5 steps, and one beyond the scope",
        counter(),
        (below(3), below(5), below(6)),
        states=6,
        transitions=5,
        depth=5,
        options=ALL,
        answers={
            "below_3": violated(*("one()",) * 3, facts={"value": 3}),
            "below_5": violated(*("one()",) * 5, facts={"value": 5}),
            "below_6": HOLDS,
        },
    ),
    Known(
        "the search ends once every property is decided, each with its own depth",
        counter(limit=50),
        (below(2), below(4)),
        states=5,
        transitions=4,
        depth=4,
        stopped="every property is decided",
        answers={"below_2": violated("one()", "one()", facts={"value": 2}), "below_4": violated(*("one()",) * 4, facts={"value": 4})},
    ),
    Known(
        "the same, going on to the end",
        counter(limit=50),
        (below(2), below(4)),
        states=51,
        transitions=50,
        depth=50,
        options=ALL,
        answers={"below_2": violated("one()", "one()", facts={"value": 2}), "below_4": violated(*("one()",) * 4, facts={"value": 4})},
    ),
    Known(
        "the shortest of several ways, with every transition counted",
        counter(one, two),
        (below(4), below(5)),
        states=6,
        transitions=9,
        depth=3,
        options=ALL,
        answers={
            "below_4": violated("two()", "two()", facts={"value": 4}),
            "below_5": violated("one()", "two()", "two()", facts={"value": 5}),
        },
    ),
    Known(
        "a step that is wrong only where it leads to a state seen before",
        counter(turn, limit=3),
        (never_back, below(3)),
        states=3,
        transitions=3,
        depth=2,
        answers={"never_back": violated("turn()", "turn()", "turn()", facts={"before": 2, "after": 0}), "below_3": HOLDS},
    ),
    Known(
        "several initial states, two of them equal, one of them wrong",
        counter(initial=(4, 2, 4)),
        (invariant(sources=())(lambda state: witness() if state.value == 2 else None), below(5), reaches_three),
        states=4,
        transitions=3,
        depth=1,
        options=ALL,
        answers={
            "<lambda>": violated(initial=1),
            "below_5": violated("one()", facts={"value": 5}),
            "reaches_three": Answer("holds", ("one()",), initial=1, facts={}),
        },
    ),
    Known(
        "what presupposes the number it asks about",
        counter(),
        (is_not_three,),
        states=6,
        transitions=5,
        depth=5,
        options=ALL,
        answers={"is_not_three": violated(*("one()",) * 3, facts={"number": 3})},
    ),
    Known(
        "of several choices that are wrong in one state the first is shown",
        room(toggle),
        (is_lit,),
        states=8,
        transitions=24,
        depth=3,
        options=ALL,
        answers={"is_lit": violated(facts={"lamp": 0})},
    ),
    Known(
        "an action that reaches what it holds to be impossible",
        counter(stumble),
        (below(9),),
        states=3,
        transitions=2,
        depth=2,
        answers={"below_9": HOLDS, "impossible": violated(*("stumble()",) * 3, facts={"why": "nobody passes two"})},
    ),
    Known(
        "what presupposes what never happens, or has nothing to range over, is vacuous",
        counter(),
        (below(9, when=is_huge), never_back_when_huge, recovers, shrinks_at_last, nobody_counts),
        states=6,
        transitions=5,
        depth=5,
        answers={
            "below_9": VACUOUS,
            "never_back_when_huge": VACUOUS,
            "recovers": VACUOUS,
            "shrinks_at_last": VACUOUS,
            "nobody_counts": undetermined("vacuous: its choices have no values in this scope"),
        },
    ),
    Known(
        "a promise about steps is vacuous where no step can be taken",
        counter(initial=(5,)),
        (never_back, below(9)),
        states=1,
        transitions=0,
        depth=0,
        answers={"never_back": undetermined("vacuous: no step can be taken in this scope"), "below_9": HOLDS},
    ),
    Known(
        "an observer that nobody asks for is not composed",
        counter(turn, limit=3),
        (below(3),),
        states=3,
        transitions=3,
        depth=2,
        answers={"below_3": HOLDS},
    ),
    Known(
        "an observer multiplies the states",
        counter(turn, limit=3),
        (first_lap, below(3)),
        states=6,
        transitions=6,
        depth=5,
        options=ALL,
        answers={"first_lap": violated("turn()", "turn()", "turn()", facts={"value": 0, "laps": 1}), "below_3": HOLDS},
    ),
    Known(
        "two observers, one asked about steps",
        counter(turn, limit=3),
        (first_lap, largest_grows),
        states=8,
        transitions=8,
        depth=7,
        options=ALL,
        answers={
            "first_lap": violated("turn()", "turn()", "turn()", facts={"value": 0, "laps": 1}),
            "largest_grows": violated("turn()", "turn()", "turn()", facts={"old": 2, "new": 2, "value": 0}),
        },
    ),
    Known(
        "as many states as the limit allows",
        counter(),
        (below(9),),
        states=6,
        transitions=5,
        depth=5,
        options={"max_states": 6},
        answers={"below_9": HOLDS},
    ),
    Known(
        "one state more than the limit allows",
        counter(),
        (below(9), reaches_three, reaches_nine, recovers),
        states=5,
        transitions=5,
        depth=4,
        options={"max_states": 5},
        stopped="reached the limit of 5 states",
        answers={
            "below_9": undetermined("reached the limit of 5 states"),
            "reaches_three": Answer("holds", ("one()",) * 3, facts={}),
            "reaches_nine": undetermined("reached the limit of 5 states"),
            "recovers": undetermined("reached the limit of 5 states"),
        },
    ),
    Known(
        "more initial states than the limit allows",
        counter(initial=(0, 2)),
        (below(9),),
        states=2,
        transitions=0,
        depth=0,
        options={"max_states": 1},
        stopped="reached the limit of 1 states",
        answers={"below_9": undetermined("reached the limit of 1 states")},
    ),
    Known(
        "a limit of time that is over at once",
        counter(),
        (below(9),),
        states=1,
        transitions=0,
        depth=0,
        options={"timeout": 0},
        stopped="reached the limit of 0 s",
        answers={"below_9": undetermined("reached the limit of 0 s")},
    ),
    Known(
        "somebody who stops the search at once",
        counter(),
        (below(9), below(0)),
        states=1,
        transitions=0,
        depth=0,
        options={"stop": lambda: "interrupted"},
        stopped="interrupted",
        answers={"below_9": undetermined("interrupted"), "below_0": violated(facts={"value": 0})},
    ),
    Known(
        "three lamps: each way to light them is a state",
        room(toggle),
        (two_lit_at_most, all_out, each_is_lit),
        states=8,
        transitions=24,
        depth=3,
        options=ALL,
        answers={
            "two_lit_at_most": violated("toggle(lamp=0)", "toggle(lamp=1)", "toggle(lamp=2)", facts={"lit": 3}),
            "all_out": HOLDS,
            "each_is_lit": HOLDS,
        },
    ),
    Known(
        "three lamps that are alike: only how many are lit matters",
        room(toggle),
        (two_lit_at_most, all_out, each_is_lit),
        states=4,
        transitions=12,
        depth=3,
        options=SYMMETRIC,
        answers={
            "two_lit_at_most": violated("toggle(lamp=0)", "toggle(lamp=1)", "toggle(lamp=2)", facts={"lit": 3}),
            "all_out": HOLDS,
            "each_is_lit": undetermined("what holds along a run is not decided under symmetry: explore without it"),
        },
    ),
    Known(
        "two lamps, one of them or none in the hand: 4 × 3 states",
        room(toggle, hold, drop, count=2),
        (never_held_lit,),
        states=12,
        transitions=48,
        depth=3,
        options=ALL,
        answers={"never_held_lit": violated("toggle(lamp=0)", "hold(lamp=0)", facts={"lamp": 0})},
    ),
    Known(
        "the same two lamps alike: (12 + 2) / 2 orbits, two states being their own mirror image",
        room(toggle, hold, drop, count=2),
        (never_held_lit,),
        states=7,
        transitions=28,
        depth=3,
        options=SYMMETRIC,
        answers={"never_held_lit": violated("toggle(lamp=0)", "hold(lamp=0)", facts={"lamp": 0})},
    ),
    Known(
        "somebody stops for ever where nobody is bound to move",
        graph({("free", 0, 0): 1}),
        (arrives(1), returns(1)),
        states=2,
        transitions=1,
        depth=1,
        answers={"arrives_at_last": violated(loop=0), "can_return": HOLDS},
    ),
    Known(
        "weak fairness moves on at last whoever stays",
        graph({("steady", 0, 0): 1}),
        (arrives(1),),
        states=2,
        transitions=1,
        depth=1,
        answers={"arrives_at_last": HOLDS},
    ),
    Known(
        "a step that changes nothing is no progress",
        graph({("steady", 0, 0): 0, ("free", 0, 0): 1}),
        (arrives(1),),
        states=2,
        transitions=2,
        depth=1,
        answers={"arrives_at_last": violated(loop=0)},
    ),
    Known(
        "a loop can be weakly fair to what is enabled only now and then",
        graph({("free", 0, 0): 1, ("steady", 0, 1): 0, ("steady", 1, 0): 2}),
        (arrives(2),),
        states=3,
        transitions=3,
        depth=1,
        answers={"arrives_at_last": violated("free(lane=0)", "steady(lane=0)", loop=0)},
    ),
    Known(
        "strong fairness takes at last what is enabled again and again",
        graph({("free", 0, 0): 1, ("steady", 0, 1): 0, ("eager", 0, 0): 2}),
        (arrives(2),),
        states=3,
        transitions=3,
        depth=1,
        answers={"arrives_at_last": HOLDS},
    ),
    Known(
        "strong fairness leaves what it never enables: the loop starts beyond",
        graph({("free", 0, 0): 1, ("free", 0, 1): 2, ("free", 1, 2): 1, ("free", 1, 1): 0, ("eager", 0, 0): 3}),
        (arrives(3),),
        states=4,
        transitions=5,
        depth=2,
        answers={"arrives_at_last": violated("free(lane=0)", loop=1)},
    ),
    Known(
        "each instance is fair of its own: taking one lane for ever is unfair to the other",
        graph({("steady", 0, 0): 1, ("steady", 0, 1): 0, ("steady", 1, 0): 2, ("steady", 1, 1): 2}),
        (arrives(2),),
        states=3,
        transitions=4,
        depth=1,
        answers={"arrives_at_last": HOLDS},
    ),
    Known(
        "what comes true again does not count once it was true: only runs that avoid the goal",
        graph({("steady", 0, 0): 1, ("free", 0, 1): 2}),
        (arrives(1),),
        states=3,
        transitions=2,
        depth=2,
        answers={"arrives_at_last": HOLDS},
    ),
    Known(
        "what is true at once need not come true later",
        graph({("free", 0, 0): 1}),
        (arrives(0),),
        states=2,
        transitions=1,
        depth=1,
        answers={"arrives_at_last": HOLDS},
    ),
    Known(
        "staying where one is is not what strong fairness demands",
        graph(STAYING),
        (arrives(2),),
        states=3,
        transitions=4,
        depth=2,
        answers={"arrives_at_last": HOLDS},
    ),
    Known(
        "nor is it if somebody watches and counts the steps",
        graph(STAYING),
        (arrives(2), is_watched),
        states=6,
        transitions=8,
        depth=3,
        answers={"arrives_at_last": HOLDS, "is_watched": HOLDS},
    ),
    Known(
        "a trap two steps away, from which the goal is out of reach",
        graph({("free", 0, 0): 1, ("free", 0, 1): 0, ("free", 1, 1): 2, ("free", 0, 2): 2}),
        (returns(0),),
        states=3,
        transitions=4,
        depth=2,
        answers={"can_return": violated("free(lane=0)", "free(lane=1)")},
    ),
    Known(
        "a trap that matters only where the promise presupposes it",
        graph({("free", 0, 0): 1, ("free", 1, 0): 2, ("free", 0, 1): 3, ("free", 0, 2): 0}),
        (returns(0, when=lambda state: state.at == 3), arrives(3, start=(2,))),
        states=4,
        transitions=4,
        depth=2,
        answers={"can_return": violated("free(lane=0)", "free(lane=0)"), "arrives_at_last": violated("free(lane=1)", loop=1)},
    ),
    Known(
        "of several choices the one with the shortest run is shown",
        graph({("free", 0, 0): 2, ("free", 0, 2): 1, ("free", 0, 1): 3, ("free", 1, 3): 3}),
        (comes_by,),
        states=4,
        transitions=4,
        depth=3,
        answers={"comes_by": violated("free(lane=0)", "free(lane=0)", facts={"place": 2})},
    ),
)
"""Every toy question with its answer."""
