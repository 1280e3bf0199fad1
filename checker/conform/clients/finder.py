# SPDX-License-Identifier: Apache-2.0
"""Plays programs, several at once, judges each run, and makes each program small that breaks a promise."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from queue import SimpleQueue

from attrs import define, field, frozen

from hwmark.checker.conform.broker.asking import BrokenError
from hwmark.checker.conform.found import Check, Deviation, Verdict
from hwmark.checker.plain import to_plain
from hwmark.checker.workers import Stop
from hwmark.spec.clients import promises_of
from hwmark.spec.clients.promises import Promise
from hwmark.spec.clients.run import Run
from hwmark.spec.property import Witness

from .play import EnoughError, Group, play
from .programs import Program, size, smaller, to_data
from .story import story, told

AGAIN = 8
"""How often a smallest program is played again, to see whether it breaks the promise each time."""
SHORTENING_SECONDS = 30.0
"""How long one program is made smaller at most."""
ALL_SHORTENING_SECONDS = 120.0
"""How long all of them together are; each is played again after that all the same."""
LOOK_EVERY = 0.1


@frozen
class Broken:
    """A program, its run, and what is wrong in it."""

    program: Program
    run: Run
    witness: Witness


@define
class Finder:
    """What was seen of groups: how often each promise was asked, and of each broken one the smallest program that breaks it."""

    groups: Sequence[Group]
    stop: Stop
    is_replay: bool = False
    """Whether a program is played as it is, and not made smaller."""
    asked: Counter[str] = field(factory=Counter)
    broken: dict[str, Broken] = field(factory=dict)
    played: int = 0
    unplayed: list[str] = field(factory=list)
    """Why programs could not be played to their end: what is under the clients broke."""
    _free: SimpleQueue[Group] = field(factory=SimpleQueue)
    _pool: ThreadPoolExecutor | None = None
    _ends: bool = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Have as many threads as there are groups; at the end none plays any more."""
        for group in self.groups:
            self._free.put(group)
        with ThreadPoolExecutor(len(self.groups)) as pool:
            self._pool = pool
            try:
                yield
            finally:
                self._ends = True

    def play_all(self, programs: Sequence[Program], done: Callable[[int, int], None]) -> list[Run | None]:
        """Play programs, as many at once as there are groups; ``None`` stands for what could not be played."""
        if self._pool is None:
            raise RuntimeError("nobody works")
        futures = [self._pool.submit(self._play, one) for one in programs]
        pending: set[Future[Run | None]] = set(futures)
        while pending:
            pending = wait(pending, LOOK_EVERY, FIRST_COMPLETED).not_done
            done(len(programs) - len(pending), len(programs))
        return [one.result() for one in futures]

    def _play(self, program: Program) -> Run | None:
        if self._why_to_end() is not None:
            return None
        group = self._free.get()
        try:
            return play(program, group, self._why_to_end)
        except EnoughError:
            return None
        except BrokenError as error:
            self.unplayed.append(str(error))
            return None
        finally:
            self._free.put(group)

    def _why_to_end(self) -> str | None:
        return "an error" if self._ends else self.stop()

    def take(self, program: Program, run: Run) -> None:
        """Judge a run, and note what it shows."""
        self.played += 1
        for promise in promises_of(program.assignor):
            name = id_of(program.assignor, promise)
            for found in promise.judge(run):
                self.asked[name] += 1
                if found is not None and (name not in self.broken or size(program) < size(self.broken[name].program)):
                    self.broken[name] = Broken(program, run, found)

    def make_small(self, name: str, last: float) -> None:
        """Look for smaller programs that break a promise too, until a time."""
        while time.monotonic() < last and self.stop() is None:
            if not self._made_smaller(name, self.broken[name].program, last):
                return

    def _made_smaller(self, name: str, program: Program, last: float) -> bool:
        """Play programs that are smaller than one, some at once, until one of them breaks the promise; what else they break is noted."""
        candidates = smaller(program)
        while several := tuple(islice(candidates, len(self.groups))):
            if time.monotonic() > last or self.stop() is not None:
                return False
            for one, run in zip(several, self.play_all(several, quietly), strict=True):
                if run is not None:
                    self.take(one, run)
            if size(self.broken[name].program) < size(program):
                return True
        return False

    def again(self) -> dict[Program, list[Run]]:
        """Play each program that breaks a promise some more times, and return the runs."""
        programs = tuple(dict.fromkeys(one.program for one in self.broken.values()))
        several = [one for one in programs for _ in range(0 if self.is_replay else AGAIN)]
        runs: dict[Program, list[Run]] = {one: [] for one in programs}
        for one, run in zip(several, self.play_all(several, quietly), strict=True):
            if run is not None:
                runs[one].append(run)
        return runs

    def check(self, assignor: str, promise: Promise, again: Mapping[Program, Sequence[Run]]) -> Check:
        """Return what is said of one promise, once programs are small and have been played again."""
        name = id_of(assignor, promise)
        sources = promise.sources if promise.kafka is None else (*promise.sources, f"{promise.kafka} (4.3.1)")
        common = (assignor, promise.field, promise.name, promise.promise, sources, self.asked[name])
        if name not in self.broken:
            if self.asked[name]:
                return Check(*common, Verdict.CLEAN)
            why = self.stop()
            return Check(*common, Verdict.NOT_ASKED if why is None else Verdict.UNDETERMINED, why or "no program came to it")
        found = self.broken[name]
        times = [first(promise, one) is not None for one in again.get(found.program, ())]
        if not times:
            note = "" if self.is_replay else f" It was not played again: {self.stop() or 'no group is left'}."
            return Check(*common, Verdict.DEVIATES, None, deviation(found, note))
        if not any(times):
            why = f"it was broken once, and in none of {len(times)} times that the program was played again"
            return Check(*common, Verdict.UNDETERMINED, why, deviation(found))
        flaky = "" if all(times) else f" It was broken in {sum(times)} of {len(times)} times that the program was played again."
        return Check(*common, Verdict.DEVIATES, None, deviation(found, flaky))


def id_of(assignor: str, promise: Promise) -> str:
    """Return the name under which a broken promise can be pinned."""
    return f"{assignor}/{promise.field}/{promise.name}"


def first(promise: Promise, run: Run) -> Witness | None:
    """Return the first thing in a run that breaks a promise."""
    return next((one for one in promise.judge(run) if one is not None), None)


def deviation(found: Broken, note: str = "") -> Deviation:
    """Return a program that breaks a promise, with the story of its run."""
    facts = to_plain(found.witness.facts)
    run = told(found.program, found.run)
    return Deviation(to_data(found.program), run, facts, story(found.program, found.run, found.witness.facts, note))


def quietly(_done: int, _of: int) -> None:
    """Say nothing of how far it is."""
