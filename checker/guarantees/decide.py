# SPDX-License-Identifier: Apache-2.0
"""Which promises hold in which cases, and how that was found: explored, replayed, or following from another case.

Cases are decided in rounds, so that the answers do not depend on which process is quicker: first whatever follows from what
is known, then all looks of the cases that no undecided case covers, each once, at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial

from attrs import field, frozen

from hwmark.checker.verdict import Exploration, Result, Run, Verdict
from hwmark.checker.workers import Stop, Task, run_all

from .look import Key, Look, Plan, explored, key_of, lost, replays


@frozen
class Case:
    """Settings by a name, in the looks that decide about them."""

    name: str
    looks: tuple[Look, ...]

    @property
    def promises(self) -> tuple[str, ...]:
        """What is asked about the case, each once."""
        return tuple(dict.fromkeys(name for look in self.looks for name in look.promises))


class How(Enum):
    """How an answer was found."""

    EXPLORED = "explored"
    REPLAYED = "replayed"
    """A counterexample of another case is one here too."""
    FOLLOWS = "follows"
    """It holds in a case that covers this one."""


@frozen
class Answer:
    """What is known of one promise in one case; ``look`` and ``run`` show a violation, ``of`` names the case it comes from."""

    promise: str
    verdict: Verdict
    how: How
    of: str | None = None
    states: int | None = None
    """Of all looks together, where they were explored."""
    look: Look | None = field(default=None, repr=False)
    result: Result | None = field(default=None, repr=False)
    why: str | None = None


@frozen
class Seen:
    """What exploring one look gave."""

    look: Look
    case: str
    found: Exploration


@frozen
class Decided:
    """The answers of all cases, in their order and that of their promises, and what was explored for them."""

    answers: tuple[tuple[Answer, ...], ...]
    seen: tuple[Seen, ...]
    seconds: float


Wanted = tuple[Look, tuple[str, ...]]
"""A look to explore, and what to ask there."""

Covers = Callable[[Case, Case, str], bool]
"""Whether a promise that holds in one case holds in another."""


def nothing_covers(_stronger: Case, _weaker: Case, _promise: str) -> bool:
    """Explore every case."""
    return False


def decide(
    cases: Sequence[Case],
    plan: Plan,
    *,
    covers: Covers = nothing_covers,
    stop: Stop = lambda: None,
    done: Callable[[int, int], None] = lambda _finished, _total: None,
) -> Decided:
    """Decide every promise of every case; what is not decided once ``stop`` answers, or at the limit of states, stays so."""
    started, grid = time.monotonic(), _Grid(cases, plan, covers)
    while grid.left():
        grid.deduce()
        wanted = grid.wanted()
        if wanted:
            grid.learn(wanted, _explore_all(wanted, plan, stop, partial(_count, done, len(grid.seen), len(wanted))))
    answers = tuple(tuple(grid.answers[case.name, promise] for promise in case.promises) for case in cases)
    return Decided(answers, tuple(grid.seen), time.monotonic() - started)


def _count(done: Callable[[int, int], None], before: int, more: int, finished: int) -> None:
    done(before + finished, before + more)


def _explore_all(wanted: Sequence[Wanted], plan: Plan, stop: Stop, done: Callable[[int], None]) -> list[Exploration]:
    threads = max(1, plan.workers // len(wanted))
    tasks = [Task(partial(explored, look, names, plan, threads), partial(lost, look, names)) for look, names in wanted]
    return run_all(tasks, plan.workers, stop, done)


# -- a grid --


class _Grid:
    """What is known of each case and look so far."""

    def __init__(self, cases: Sequence[Case], plan: Plan, covers: Covers) -> None:
        self.cases, self.plan, self.covers = tuple(cases), plan, covers
        self.answers: dict[tuple[str, str], Answer] = {}
        self.known: dict[tuple[Key, str], tuple[Result, Seen]] = {}
        self.traces: dict[str, dict[tuple[str, ...], tuple[Run, str]]] = {}
        self.tried: dict[tuple[Key, str, tuple[str, ...]], Result | None] = {}
        self.seen: list[Seen] = []

    def left(self) -> list[tuple[Case, str]]:
        """Return what is not decided yet."""
        return [(case, promise) for case in self.cases for promise in case.promises if (case.name, promise) not in self.answers]

    def deduce(self) -> None:
        """Decide whatever follows from what is known."""
        is_news = True
        while is_news:
            found = [answer for case, promise in self.left() if (answer := self._deduced(case, promise)) is not None]
            is_news = bool(found)

    def _deduced(self, case: Case, promise: str) -> Answer | None:
        answer = self._from_looks(case, promise) or self._follows(case, promise) or self._replayed(case, promise)
        if answer is not None:
            self.answers[case.name, promise] = answer
        return answer

    def _from_looks(self, case: Case, promise: str) -> Answer | None:
        """Return what the looks say: broken as soon as one says so, else once all were explored."""
        looks = [look for look in case.looks if promise in look.promises]
        known = [(look, *self.known[key_of(look), promise]) for look in looks if (key_of(look), promise) in self.known]
        broken = [(look, result) for look, result, _ in known if result.verdict is Verdict.VIOLATED]
        if broken:
            look, result = min(broken, key=lambda one: one[1].depth or 0)
            return Answer(promise, Verdict.VIOLATED, How.EXPLORED, look=look, result=result)
        if len(known) < len(looks):
            return None
        unknown = next((result for _, result, _ in known if result.verdict is not Verdict.HOLDS), None)
        if unknown is not None:
            return Answer(promise, Verdict.UNDETERMINED, How.EXPLORED, why=unknown.why)
        return Answer(promise, Verdict.HOLDS, How.EXPLORED, states=sum(seen.found.states for _, _, seen in known))

    def _follows(self, case: Case, promise: str) -> Answer | None:
        for other in self.cases:
            known = self.answers.get((other.name, promise))
            if known is not None and known.verdict is Verdict.HOLDS and other is not case and self.covers(other, case, promise):
                return Answer(promise, Verdict.HOLDS, How.FOLLOWS, of=known.of if known.how is How.FOLLOWS else other.name)
        return None

    def _replayed(self, case: Case, promise: str) -> Answer | None:
        for written, (run, origin) in self.traces.get(promise, {}).items():
            for look in case.looks:
                if promise not in look.promises:
                    continue
                attempt = key_of(look), promise, written
                if attempt not in self.tried:
                    self.tried[attempt] = replays(look, promise, run, self.plan)
                result = self.tried[attempt]
                if result is not None:
                    return Answer(promise, Verdict.VIOLATED, How.REPLAYED, of=origin, look=look, result=result)
        return None

    def wanted(self) -> list[Wanted]:
        """Return the looks to explore next, each once, with what to ask there."""
        left = self.left()
        now = [(case, promise) for case, promise in left if not any(self._comes_first(other, case, promise) for other, _ in left)]
        wanted: dict[Key, tuple[Look, dict[str, None]]] = {}
        for case, promise in now:
            for look in case.looks:
                if promise in look.promises and (key_of(look), promise) not in self.known:
                    wanted.setdefault(key_of(look), (look, {}))[1][promise] = None
        return [(look, tuple(names)) for look, names in wanted.values()]

    def _comes_first(self, other: Case, case: Case, promise: str) -> bool:
        """Whether another case that is not decided yet covers this one; of two that cover each other the first comes first."""
        if other is case or (other.name, promise) in self.answers or not self.covers(other, case, promise):
            return False
        return not self.covers(case, other, promise) or self.cases.index(other) < self.cases.index(case)

    def learn(self, wanted: Sequence[Wanted], found: Sequence[Exploration]) -> None:
        """Keep what looks gave, and their counterexamples for other cases."""
        for (look, names), one in zip(wanted, found, strict=True):
            case = next(case.name for case in self.cases if key_of(look) in map(key_of, case.looks))
            seen = Seen(look, case, one)
            self.seen.append(seen)
            for result in _results(one, names):
                self.known[key_of(look), result.name] = result, seen
                if result.verdict is Verdict.VIOLATED and result.run is not None:
                    self.traces.setdefault(result.name, {}).setdefault(tuple(map(str, result.run.steps)), (result.run, case))


def _results(found: Exploration, names: Sequence[str]) -> Iterator[Result]:
    """Yield what an exploration says of what was asked; if an action went wrong, nothing is sure but what is broken."""
    impossible = [one for one in found.results if one.name not in names]
    for one in found.results:
        if one.name in names and impossible and one.verdict is Verdict.HOLDS:
            yield Result(one.name, one.kind, Verdict.UNDETERMINED, why="an action reached what its author holds to be impossible")
        elif one.name in names:
            yield one
