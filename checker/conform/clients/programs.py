# SPDX-License-Identifier: Apache-2.0
"""Programs for one group: who joins, leaves, pauses and goes on, and how long the group is left alone after each step."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from attrs import evolve, frozen
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from hwmark.checker.decode import decode
from hwmark.checker.errors import InputError
from hwmark.checker.plain import to_plain
from hwmark.checker.text import shown
from hwmark.spec.clients.run import ASSIGNORS, PAUSES, Do

T = TypeVar("T")

NAMES = ("a", "b", "c", "d", "e")
TOPICS: tuple[str, ...] = ("t", "u")
MOST_PARTITIONS = 9
MOST_RUNNING = 3
UNCHECKED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example)


class Then(Enum):
    """How long a group is left alone after a step."""

    REST = "rest"
    """Until it is at rest, and has processed everything."""
    SOON = "soon"
    """For a second: too short for most rebalances."""
    AT_ONCE = "at_once"


@frozen
class Step:
    """Something that is done to a member; ``topics`` are for those that join or subscribe anew."""

    do: Do
    member: str
    topics: tuple[str, ...] = ()
    static: bool = False
    """Whether the member joins with a ``group.instance.id`` (KIP-345)."""
    then: Then = Then.REST


@frozen
class Program:
    """What is done to one group: its assignor, how many partitions each topic has, and the steps."""

    assignor: str
    partitions: tuple[int, ...]
    """Of each topic, in the order of ``TOPICS``."""
    steps: tuple[Step, ...]


SUBSCRIBING = (Do.JOIN, Do.SUBSCRIBE)


def valid(program: Program) -> Program:
    """Return a program without the steps that cannot be done, which ends with a rest."""
    steps, now = list[Step](), dict[str, Do]()
    for step in program.steps:
        if is_possible(now, step) and (step.do not in SUBSCRIBING or set(step.topics) <= set(TOPICS[: len(program.partitions)])):
            steps.append(step)
            now[step.member] = step.do
    if steps:
        steps[-1] = evolve(steps[-1], then=Then.REST)
    return evolve(program, steps=tuple(steps))


def is_possible(now: Mapping[str, Do], step: Step) -> bool:
    """Whether a step can be done, given the last thing that was done to each member."""
    if step.do is Do.JOIN:
        return step.member not in now and bool(step.topics)
    last = now.get(step.member)
    if step.do is Do.RESUME:
        return last in PAUSES
    return last is not None and last not in (*PAUSES, Do.LEAVE, Do.CRASH) and (step.do is not Do.SUBSCRIBE or bool(step.topics))


# -- drawing --

THEN = st.sampled_from((Then.REST,) * 4 + (Then.SOON, Then.AT_ONCE))
BOOLEANS = st.booleans()
STATIC = st.sampled_from((False,) * 5 + (True,))
WEIGHTS = {Do.JOIN: 2, Do.LEAVE: 2, Do.CRASH: 1, Do.FREEZE: 3, Do.STALL: 2, Do.SUBSCRIBE: 2}
"""How often each is done, where it can be; whoever is paused goes on half of the time."""


@st.composite
def at_random(draw: st.DrawFn, assignor: str) -> Program:
    """Draw a program: some join, and something becomes of them."""
    partitions, steps, now = _partitions(draw), list[Step](), dict[str, Do]()
    topics = TOPICS[: len(partitions)]
    for _ in range(draw(st.sampled_from((1, 2, 2, MOST_RUNNING)))):
        steps.append(_joining(draw, topics, now))
        now[steps[-1].member] = Do.JOIN
    for _ in range(draw(st.integers(1, 4))):
        step = _next(draw, topics, now)
        steps.append(step)
        now[step.member] = step.do
    return valid(Program(assignor, partitions, tuple(steps)))


@st.composite
def out_and_back(draw: st.DrawFn, assignor: str) -> Program:
    """Draw a program in which a member of two is out for long, perhaps while another one comes, and then goes on."""
    partitions = _partitions(draw)
    topics = TOPICS[: len(partitions)]
    joins = tuple(Step(Do.JOIN, name, topics, draw(STATIC)) for name in NAMES[:2])
    member = draw(st.sampled_from(NAMES[:2]))
    third = (Step(Do.JOIN, NAMES[2], topics),) if draw(st.sampled_from((False, True, True))) else ()
    pause = Step(draw(st.sampled_from(PAUSES)), member, then=draw(st.sampled_from(Then)) if third else Then.REST)
    steps = (*joins, pause, *third)
    return valid(Program(assignor, partitions, (*steps, Step(Do.RESUME, member))))


def drawn(assignor: str) -> st.SearchStrategy[Program]:
    """Draw programs for groups with an assignor."""
    return st.one_of(at_random(assignor), out_and_back(assignor))


def _partitions(draw: st.DrawFn) -> tuple[int, ...]:
    first, others = draw(st.integers(1, 5)), draw(st.sampled_from((0, 0, 1, 2)))
    return (first,) if not others else (first, first if others == 1 else draw(st.integers(1, 3)))


def _joining(draw: st.DrawFn, topics: Sequence[str], now: Mapping[str, Do]) -> Step:
    return Step(Do.JOIN, NAMES[len(now)], _some(draw, topics), draw(STATIC), draw(THEN))


def _next(draw: st.DrawFn, topics: Sequence[str], now: Mapping[str, Do]) -> Step:
    paused = [name for name, last in now.items() if last in PAUSES]
    if bool(paused) and draw(BOOLEANS):
        return Step(Do.RESUME, draw(st.sampled_from(paused)), then=draw(THEN))
    running = [name for name, last in now.items() if last not in (*PAUSES, Do.LEAVE, Do.CRASH)]
    may_join = len(running) < MOST_RUNNING and len(now) < len(NAMES)
    kinds = [do for do, weight in WEIGHTS.items() for _ in range(weight) if (may_join if do is Do.JOIN else bool(running))]
    if not kinds:
        return Step(Do.RESUME, draw(st.sampled_from(paused or list(now))), then=draw(THEN))
    do = draw(st.sampled_from(kinds))
    if do is Do.JOIN:
        return _joining(draw, topics, now)
    chosen = _some(draw, topics) if do is Do.SUBSCRIBE else ()
    return Step(do, draw(st.sampled_from(running)), chosen, then=draw(THEN))


def _some(draw: st.DrawFn, topics: Sequence[str]) -> tuple[str, ...]:
    bits = draw(st.integers(1, 2 ** len(topics) - 1))
    return tuple(one for index, one in enumerate(topics) if bits >> index & 1)


def draw_programs(assignors: Sequence[str], count: int, number: int) -> tuple[Program, ...]:
    """Return so many programs, the same ones for the same number: for each assignor in turn, each other ones."""
    most = -(-count // len(assignors))
    of_each = {one: _drawn(one, most, number * len(ASSIGNORS) + [*ASSIGNORS].index(one)) for one in assignors}
    return tuple(of_each[assignors[index % len(assignors)]][index // len(assignors)] for index in range(count))


def _drawn(assignor: str, count: int, number: int) -> list[Program]:
    kept: dict[Program, None] = {}

    @seed(number)
    @settings(max_examples=2 * count + 10, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=UNCHECKED)
    @given(drawn(assignor))
    def keep(program: Program) -> None:
        kept[program] = None

    state = random.getstate()
    try:
        keep()
    finally:
        random.setstate(state)
    return list(itertools.islice(itertools.cycle(kept), 1, count + 1))  # the first one drawn is the simplest, and says little


# -- making smaller --


def size(program: Program) -> tuple[int, ...]:
    """Return how large a program is: its steps, its partitions, and what its steps say beside the least."""
    steps = program.steps
    said = sum(len(one.topics) + one.static + (one.then is not Then.REST) for one in steps)
    return len(steps), sum(program.partitions), said


def smaller(program: Program) -> Iterator[Program]:
    """Yield programs that are one step smaller, those that take least first."""
    for index in reversed(range(len(program.steps))):
        yield from _if_new(program, evolve(program, steps=program.steps[:index] + program.steps[index + 1 :]))
    if len(program.partitions) > 1:
        yield from _if_new(program, _without_last_topic(program))
    for index, count in enumerate(program.partitions):
        if count > 1:
            fewer = (*program.partitions[:index], count - 1, *program.partitions[index + 1 :])
            yield evolve(program, partitions=fewer)
    for index, step in enumerate(program.steps):
        for simpler in _simpler(step):
            yield from _if_new(program, evolve(program, steps=(*program.steps[:index], simpler, *program.steps[index + 1 :])))


def _if_new(program: Program, other: Program) -> Iterator[Program]:
    made = valid(other)
    if made.steps and made != program:
        yield made


def _without_last_topic(program: Program) -> Program:
    gone = TOPICS[len(program.partitions) - 1]
    steps = tuple(evolve(step, topics=tuple(one for one in step.topics if one != gone)) for step in program.steps)
    return evolve(program, partitions=program.partitions[:-1], steps=steps)


def _simpler(step: Step) -> Iterator[Step]:
    if step.then is not Then.REST:
        yield evolve(step, then=Then.REST)
    if step.static:
        yield evolve(step, static=False)
    for topic in step.topics if len(step.topics) > 1 else ():
        yield evolve(step, topics=(topic,))


# -- as data --


def to_data(program: Program) -> dict[str, Any]:
    """Return a program as JSON data: steps say what is not the default."""
    steps = [{name: value for name, value in _plain(step).items() if value not in ([], False, "rest")} for step in program.steps]
    return {"assignor": program.assignor, "partitions": dict(zip(TOPICS, program.partitions, strict=False)), "steps": steps}


def _plain(step: Step) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(step)
    return plain


def from_data(data: Any) -> Program:
    """Return the program that some data describe; raises ``InputError`` where they describe none."""
    if not isinstance(data, dict) or set(data) != {"assignor", "partitions", "steps"}:
        raise InputError(f"a program is an object with assignor, partitions and steps, got {shown(data)}")
    if data["assignor"] not in list(ASSIGNORS):
        raise InputError(f"assignor: expected one of {', '.join(ASSIGNORS)}, got {shown(data['assignor'])}")
    partitions, steps = data["partitions"], data["steps"]
    if not isinstance(partitions, dict) or tuple(partitions) not in (TOPICS[:1], TOPICS):
        raise InputError(f'partitions: expected {{"t": …}} or {{"t": …, "u": …}}, got {shown(partitions)}')
    for topic, count in partitions.items():
        if type(count) is not int or not 1 <= count <= MOST_PARTITIONS:
            raise InputError(f"partitions.{topic}: expected a number from 1 to {MOST_PARTITIONS}, got {shown(count)}")
    if not isinstance(steps, list) or not steps:
        raise InputError("steps: expected a list with one step at least")
    made = tuple(decode(Step, one, f"step {number}") for number, one in enumerate(steps, start=1))
    program = Program(data["assignor"], tuple(partitions.values()), made)
    for number, step in enumerate(made, start=1):
        if step.member not in NAMES:
            raise InputError(f"step {number}.member: expected one of {', '.join(NAMES)}, got {shown(step.member)}")
        if len(valid(evolve(program, steps=made[:number])).steps) != number:
            raise InputError(f"step {number}: {step.member} cannot {step.do.value} here")
    return evolve(program, steps=(*made[:-1], evolve(made[-1], then=Then.REST)))
