# SPDX-License-Identifier: Apache-2.0
"""The reference engine: breadth-first over exact states, obviously right, and what the other engines are tested against.

Every reachable state of a finite scope is visited once, level by level, so the first violation of a property is a
shortest one, and state numbers grow with depth. Under symmetry one state of each orbit is visited, the first that was
met: runs are real runs then too. Properties of states are asked once for each state, properties of steps at every
transition. Convergence and leads-to are decided afterwards on the stored graph (``eventually``).
"""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from hwmark.model.machine import ImpossibleError, Machine, Step
from hwmark.spec.property import Property

from .conclusions import Conclusions, taken_by_action
from .symmetry import NotSymmetricError, OrbitKey
from .system import System, own_state, system
from .verdict import Exploration, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .eventually import Graph

POLL_EVERY = 64
"""States between two looks at the limits and two reports of progress."""


@frozen
class Progress:
    """How far a search has come: states of each finished level and of the next, transitions, seconds so far."""

    levels: tuple[int, ...]
    expanded: int
    frontier: int
    transitions: int
    seconds: float
    python_calls: int | None = None
    """How often an action or promise was run in Python, where that is not once for each step and state."""
    growing: str | None = None
    """The component that grows most, and how many values it has taken."""


@frozen
class Options:
    """How to search. ``stop`` is asked now and then, and answers why to stop; the search then ends undetermined."""

    symmetry: bool = False
    keep_going: bool = False
    max_states: int | None = None
    timeout: float | None = None
    stop: Callable[[], str | None] = lambda: None
    progress: Callable[[Progress], None] = lambda _: None
    memory: int | None = None
    """Bytes of memory, beyond which states are kept on disk; this, and what follows, is for the tables engine."""
    checkpoint: Path | None = None
    """The directory in which the search is stored, to go on from there."""
    resume: bool = False
    """Whether to go on from what is stored there."""


def explore(machine: Machine[Any], properties: Sequence[Property], options: Options = Options()) -> Exploration:
    """Explore all reachable states of a machine, and judge the properties there.

    Without ``keep_going`` the search ends once every property is decided; it always ends at a limit. Raises
    ``NotSymmetricError`` if symmetry is asked for and the machine declares none, or hides identities.
    """
    return _Search(system(machine, properties), properties, options).run()


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile: nothing in a search is cyclic, and looking through millions of states costs more than it."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def limit_of_states(most: int) -> str:
    """Return why a search stopped that found as many states as it was allowed to."""
    return f"reached the limit of {most} states"


class _Search:
    """One search: the states by number, and for each the number of its parent and of the step that found it."""

    def __init__(self, explored: System, properties: Sequence[Property], options: Options) -> None:
        self.system, self.options = explored, options
        if options.symmetry and not explored.machine.interchangeable:
            raise NotSymmetricError(f"machine {explored.machine.name} declares no interchangeable identities")
        self.key: Callable[[Any], Any] | None = OrbitKey(explored.machine, explored.components()) if options.symmetry else None
        self.state_type = type(explored.machine.initial[0])
        self.seen: dict[Any, int] = {}
        self.parents, self.via = array("q"), array("q")
        self.levels = [0]
        self.taken = [0] * len(explored.takes)
        self.sources, self.targets, self.labels = array("q"), array("q"), array("i")
        self.conclusions = Conclusions(explored, properties, symmetry=options.symmetry)
        self.started = time.monotonic()

    def run(self) -> Exploration:
        """Search until everything is explored or decided, or a limit is reached."""
        with uncollected():
            stopped = self._levels()
            if stopped is None and self.conclusions.about_graph:
                self.conclusions.judge_graph(self._graph(), self._graph_answers(), self._limit)
        return Exploration(
            states=len(self.seen),
            transitions=sum(self.taken),
            depth=sum(size > 0 for size in self.levels) - 1,
            complete=stopped is None,
            stopped=stopped,
            seconds=time.monotonic() - self.started,
            taken=taken_by_action(self.system, self.taken),
            results=self.conclusions.results(stopped, any_step=any(self.taken)),
        )

    # -- the search --

    def _levels(self) -> str | None:
        """Visit level after level; return why the search stopped early, or ``None``."""
        level: list[Any] = []
        for number, state in enumerate(self.system.initial):
            self._reach(state, -1, number, level)
        self.levels = [len(level)]
        if self.options.max_states is not None and len(level) > self.options.max_states:
            return limit_of_states(self.options.max_states)
        first = 0
        while level:
            found: list[Any] = []
            self.levels.append(0)
            for offset, state in enumerate(level):
                stopped = self._poll(first + offset, len(level) - offset + len(found)) if offset % POLL_EVERY == 0 else None
                if stopped is None and not self._expand(first + offset, state, found):
                    stopped = limit_of_states(len(self.seen))
                self.levels[-1] = len(found)
                if stopped is not None:
                    return stopped
            first += len(level)
            level = found
        return None

    def _poll(self, expanded: int, frontier: int) -> str | None:
        seconds = time.monotonic() - self.started
        self.options.progress(Progress(tuple(self.levels[:-1]), expanded, frontier, sum(self.taken), seconds))
        if not self.options.keep_going and self.conclusions.is_all_decided:
            return "every property is decided"
        return self._limit()

    def _limit(self) -> str | None:
        if self.options.timeout is not None and time.monotonic() - self.started > self.options.timeout:
            return f"reached the limit of {self.options.timeout:g} s"
        return self.options.stop()

    def _expand(self, number: int, state: Any, found: list[Any]) -> bool:
        """Take every enabled step of a state; return whether the limit of states still allows to go on."""
        key, seen, taken, conclusions = self.key, self.seen, self.taken, self.conclusions
        keep_edges = bool(conclusions.about_graph)
        for index, take in enumerate(self.system.takes):
            try:
                after = take(state)
            except ImpossibleError as error:
                conclusions.reach_impossible(str(error), lambda index=index: self.run_to(number, index))  # type: ignore[misc]
                continue
            if after is None:
                continue
            taken[index] += 1
            if conclusions.about_steps:
                self._judge_step(number, index, state, after)
            target = seen.get(after if key is None else key(after))
            if target is None:
                if len(seen) == self.options.max_states:
                    return False
                target = self._reach(after, number, index, found)
            if keep_edges:
                self.sources.append(number)
                self.targets.append(target)
                self.labels.append(index)
        return True

    def _reach(self, state: Any, parent: int, via: int, found: list[Any]) -> int:
        """Number a new state, and ask every property of states about it."""
        key = state if self.key is None else self.key(state)
        number = self.seen.get(key)
        if number is not None:  # two initial states may be equal
            return number
        if type(own_state(state)) is not self.state_type:
            raise TypeError(f"{self.system.steps[via]}: an action answers a {self.state_type.__name__} or None, not {own_state(state)!r}")
        number = self.seen[key] = len(self.seen)
        self.parents.append(parent)
        self.via.append(via)
        found.append(state)
        for when, names, undecided, bounds in self.conclusions.about_states:
            if when is not None:
                if not when(state):
                    continue
                self.conclusions.presupposed |= names
            for holds, bound in bounds:
                answer = holds(state)
                if answer is not undecided:
                    self.conclusions.decide(bound, answer, lambda: self.run_to(parent, via))
        for question in self.conclusions.about_graph:
            question.ask(state)
        return number

    def _judge_step(self, number: int, index: int, before: Any, after: Any) -> None:
        step = self.system.steps[index]
        for when, names, undecided, bounds in self.conclusions.about_steps:
            if when is not None:
                if not when(before, step, after):
                    continue
                self.conclusions.presupposed |= names
            for holds, bound in bounds:
                answer = holds(before, step, after)
                if answer is not undecided:
                    self.conclusions.decide(bound, answer, lambda: self.run_to(number, index))

    def run_to(self, parent: int, via: int) -> Run:
        """Return the run to a state given by its parent's number and the step from there; parent -1: an initial state."""
        steps: list[Step] = []
        while parent >= 0:
            steps.append(self.system.steps[via])
            parent, via = self.parents[parent], self.via[parent]
        return Run(tuple(reversed(steps)), initial=via)

    # -- the graph --

    def _graph(self) -> Graph:
        import numpy as np  # noqa: PLC0415 - only this needs it, and it takes a while

        from .eventually import Graph, progress  # noqa: PLC0415 - as numpy, and scipy

        sources, targets, labels = map(np.asarray, (self.sources, self.targets, self.labels))
        remembers = bool(self.system.observers) and self.key is None
        return Graph(
            first_edge=np.searchsorted(sources, np.arange(len(self.seen) + 1)),
            targets=targets,
            labels=labels,
            changes=progress(sources, targets, map(own_state, self.seen)) if remembers else None,
            levels=self.levels,
            steps=self.system.steps,
            run_to=lambda state: self.run_to(self.parents[state], self.via[state]),
        )

    def _graph_answers(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        import numpy as np  # noqa: PLC0415 - as above

        for question in self.conclusions.about_graph:
            yield np.frombuffer(question.when, np.bool_), np.frombuffer(question.goal, np.bool_)
