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
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from hwmark.model.machine import ImpossibleError, Machine, Step
from hwmark.spec.property import LeadsTo, Property, Reachable, StepProperty

from .questions import LATER, GraphQuestion, Questions, follows_names, meaning, questions
from .symmetry import NotSymmetricError, OrbitKey
from .system import IMPOSSIBLE, Bound, System, is_about_steps, own_state, system
from .verdict import Exploration, Result, Run, Verdict

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


@frozen
class Options:
    """How to search. ``stop`` is asked now and then, and answers why to stop; the search then ends undetermined."""

    symmetry: bool = False
    keep_going: bool = False
    max_states: int | None = None
    timeout: float | None = None
    stop: Callable[[], str | None] = lambda: None
    progress: Callable[[Progress], None] = lambda _: None


def explore(machine: Machine[Any], properties: Sequence[Property], options: Options = Options()) -> Exploration:
    """Explore all reachable states of a machine, and judge the properties there.

    Without ``keep_going`` the search ends once every property is decided; it always ends at a limit. Raises
    ``NotSymmetricError`` if symmetry is asked for and the machine declares none, or hides identities.
    """
    return _Search(system(machine, properties), properties, options).run()


class _Search:
    """One search: the states by number, and for each the number of its parent and of the step that found it."""

    def __init__(self, explored: System, properties: Sequence[Property], options: Options) -> None:
        self.system, self.properties, self.options = explored, tuple(properties), options
        if options.symmetry and not explored.machine.interchangeable:
            raise NotSymmetricError(f"machine {explored.machine.name} declares no interchangeable identities")
        self.key: Callable[[Any], Any] | None = OrbitKey(explored.machine, explored.components()) if options.symmetry else None
        self.state_type = type(explored.machine.initial[0])
        self.seen: dict[Any, int] = {}
        self.parents, self.via = array("q"), array("q")
        self.levels = [0]
        self.taken = [0] * len(explored.takes)
        self.sources, self.targets, self.labels = array("q"), array("q"), array("i")
        self.decided: dict[str, Result] = {}
        self.presupposed: set[str] = set()
        self.about_states: Questions = []
        self.about_steps: Questions = []
        later = [prop for prop in properties if isinstance(prop, LATER) and not (options.symmetry and follows_names(prop))]
        self.about_graph = [GraphQuestion(bound) for prop in later for bound in explored.bind(prop)]
        self.graph_stopped: str | None = None
        self._ask_only_undecided()
        self.started = time.monotonic()

    def _ask_only_undecided(self) -> None:
        """Group what is still to be asked of states and of steps by what it presupposes."""
        open_now = [prop for prop in self.properties if prop.name not in self.decided and not isinstance(prop, LATER)]
        self.about_states = questions(self.system, [prop for prop in open_now if not is_about_steps(prop)])
        self.about_steps = questions(self.system, [prop for prop in open_now if is_about_steps(prop)])

    def run(self) -> Exploration:
        """Search until everything is explored or decided, or a limit is reached."""
        collecting = gc.isenabled()
        gc.disable()  # nothing here is cyclic, and collecting over millions of states costs more than the search
        try:
            stopped = self._levels()
        finally:
            if collecting:
                gc.enable()
        if stopped is None:
            self.graph_stopped = self._judge_graph()
        return Exploration(
            states=len(self.seen),
            transitions=sum(self.taken),
            depth=sum(size > 0 for size in self.levels) - 1,
            complete=stopped is None,
            stopped=stopped,
            seconds=time.monotonic() - self.started,
            taken=self._taken_by_action(),
            results=tuple(self._result(prop, stopped) for prop in self.properties) + self._impossible(),
        )

    # -- the search --

    def _levels(self) -> str | None:
        """Visit level after level; return why the search stopped early, or ``None``."""
        level: list[Any] = []
        for number, state in enumerate(self.system.initial):
            self._reach(state, -1, number, level)
        self.levels = [len(level)]
        if self.options.max_states is not None and len(level) > self.options.max_states:
            return self._limit_of_states()
        first = 0
        while level:
            found: list[Any] = []
            self.levels.append(0)
            for offset, state in enumerate(level):
                stopped = self._poll(first + offset, len(level) - offset + len(found)) if offset % POLL_EVERY == 0 else None
                if stopped is None and not self._expand(first + offset, state, found):
                    stopped = self._limit_of_states()
                self.levels[-1] = len(found)
                if stopped is not None:
                    return stopped
            first += len(level)
            level = found
        return None

    def _poll(self, expanded: int, frontier: int) -> str | None:
        seconds = time.monotonic() - self.started
        self.options.progress(Progress(tuple(self.levels[:-1]), expanded, frontier, sum(self.taken), seconds))
        if not self.options.keep_going and self.properties and all(prop.name in self.decided for prop in self.properties):
            return "every property is decided"
        return self._limit()

    def _limit(self) -> str | None:
        if self.options.timeout is not None and time.monotonic() - self.started > self.options.timeout:
            return f"reached the limit of {self.options.timeout:g} s"
        return self.options.stop()

    def _limit_of_states(self) -> str:
        return f"reached the limit of {self.options.max_states} states"

    def _expand(self, number: int, state: Any, found: list[Any]) -> bool:
        """Take every enabled step of a state; return whether the limit of states still allows to go on."""
        key, seen, taken, about_steps = self.key, self.seen, self.taken, self.about_steps
        keep_edges = bool(self.about_graph)
        for index, take in enumerate(self.system.takes):
            try:
                after = take(state)
            except ImpossibleError as error:
                if IMPOSSIBLE not in self.decided:
                    self._keep(IMPOSSIBLE, "invariant", Verdict.VIOLATED, {"why": str(error)}, self.run_to(number, index))
                continue
            if after is None:
                continue
            taken[index] += 1
            if about_steps:
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
        for when, names, undecided, bounds in self.about_states:
            if when is not None:
                if not when(state):
                    continue
                self.presupposed |= names
            for holds, bound in bounds:
                answer = holds(state)
                if answer is not undecided:
                    self._decide(bound, answer, parent, via)
        for question in self.about_graph:
            question.ask(state)
        return number

    def _judge_step(self, number: int, index: int, before: Any, after: Any) -> None:
        step = self.system.steps[index]
        for when, names, undecided, bounds in self.about_steps:
            if when is not None:
                if not when(before, step, after):
                    continue
                self.presupposed |= names
            for holds, bound in bounds:
                answer = holds(before, step, after)
                if answer is not undecided:
                    self._decide(bound, answer, number, index)

    def _decide(self, bound: Bound, answer: Any, parent: int, via: int) -> None:
        """Keep the first answer that decides a property: the witness of a violation, or that a goal is met."""
        prop = bound.property
        if prop.name not in self.decided:
            self._keep(prop.name, prop.kind, *meaning(bound, answer), self.run_to(parent, via))
            self._ask_only_undecided()

    def _keep(self, name: str, kind: str, verdict: Verdict, facts: Mapping[str, Any], run: Run) -> None:
        self.decided[name] = Result(name, kind, verdict, len(run.steps), dict(facts), run)

    def run_to(self, parent: int, via: int) -> Run:
        """Return the run to a state given by its parent's number and the step from there; parent -1: an initial state."""
        steps: list[Step] = []
        while parent >= 0:
            steps.append(self.system.steps[via])
            parent, via = self.parents[parent], self.via[parent]
        return Run(tuple(reversed(steps)), initial=via)

    # -- the results --

    def _judge_graph(self) -> str | None:
        """Judge what is decided on the whole graph, each property by its shortest run; return why this stopped early."""
        if not self.about_graph:
            return None
        import numpy as np  # noqa: PLC0415 - only this needs it, and it takes a while

        from .eventually import Graph, fair_lasso, progress, trap  # noqa: PLC0415 - as numpy, and scipy

        sources, targets, labels = map(np.asarray, (self.sources, self.targets, self.labels))
        remembers = bool(self.system.observers) and self.key is None
        graph = Graph(
            first_edge=np.searchsorted(sources, np.arange(len(self.seen) + 1)),
            targets=targets,
            labels=labels,
            changes=progress(sources, targets, map(own_state, self.seen)) if remembers else None,
            levels=self.levels,
            steps=self.system.steps,
            run_to=lambda state: self.run_to(self.parents[state], self.via[state]),
        )
        for question in self.about_graph:
            stopped = self._limit()
            if stopped is not None:
                return stopped
            prop = question.bound.property
            when, goal = (np.frombuffer(answers, dtype=np.bool_) for answers in (question.when, question.goal))
            if when.any():
                self.presupposed.add(prop.name)
            run = fair_lasso(graph, when, goal, prop) if isinstance(prop, LeadsTo) else trap(graph, when, goal)
            known = self.decided.get(prop.name)
            if run is not None and (known is None or known.depth is None or len(run.steps) < known.depth):
                self._keep(prop.name, prop.kind, Verdict.VIOLATED, question.bound.choices, run)
        return None

    def _result(self, prop: Property, stopped: str | None) -> Result:
        decided = self.decided.get(prop.name)
        if decided is not None:
            return decided
        undetermined = self._undetermined(prop, stopped)
        if undetermined:
            return Result(prop.name, prop.kind, Verdict.UNDETERMINED, why=undetermined)
        if isinstance(prop, Reachable):
            return Result(prop.name, prop.kind, Verdict.VIOLATED, why="the whole scope was explored and never met it")
        return Result(prop.name, prop.kind, Verdict.HOLDS)

    def _undetermined(self, prop: Property, stopped: str | None) -> str | None:
        """Why a property that nothing decided may not be said to hold, or ``None``."""
        if stopped is not None:
            return stopped
        if self.options.symmetry and follows_names(prop):
            return "what holds along a run is not decided under symmetry: explore without it"
        if isinstance(prop, LATER) and self.graph_stopped is not None:
            return self.graph_stopped
        if isinstance(prop, Reachable) and not prop.expected_in(self.system.machine.bounds):
            return f"not met, and not expected below {', '.join(f'{name}={least}' for name, least in prop.scope.items())}"
        return self._vacuous(prop)

    def _vacuous(self, prop: Property) -> str | None:
        """Why a property was never really asked although everything was explored, or ``None``."""
        if prop.when is not None and prop.name not in self.presupposed:
            return "vacuous: nothing in this scope meets what the property presupposes"
        if not isinstance(prop, Reachable) and not self.system.bind(prop):
            return "vacuous: its choices have no values in this scope"
        if isinstance(prop, StepProperty) and not any(self.taken):
            return "vacuous: no step can be taken in this scope"
        return None

    def _impossible(self) -> tuple[Result, ...]:
        found = self.decided.get(IMPOSSIBLE)
        return () if found is None else (found,)

    def _taken_by_action(self) -> dict[str, int]:
        counts = {act.name: 0 for act in self.system.machine.actions}
        for step, count in zip(self.system.steps, self.taken, strict=True):
            counts[step.action] += count
        return counts
