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
from collections.abc import Callable, Sequence
from typing import Any

from attrs import field, frozen

from hwmark.model.machine import ImpossibleError, Machine, Step
from hwmark.spec.property import Converges, LeadsTo, Property, Reachable, Witness

from .symmetry import NotSymmetricError, OrbitKey
from .system import Bound, System, is_about_steps, system
from .verdict import Exploration, Result, Run, Verdict

POLL_EVERY = 512
"""States between two looks at the limits and two reports of progress."""


LATER = (Converges, LeadsTo)
"""The kinds of properties that are decided on the stored graph, once it is complete."""

Questions = list[tuple[Callable[..., bool] | None, frozenset[str], list[tuple[Callable[..., Any], Bound]]]]
"""Bound properties with equal presuppositions together: the presupposition, the names, and each function to ask."""


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
        self.seen: dict[Any, int] = {}
        self.parents, self.via = array("q"), array("q")
        self.levels = [0]
        self.taken = [0] * len(explored.takes)
        self.keep_edges = any(isinstance(prop, LATER) for prop in properties)
        self.sources, self.targets, self.labels = array("q"), array("q"), array("i")
        self.decided: dict[str, Result] = {}
        self.presupposed: set[str] = set()
        self.about_states: Questions = []
        self.about_steps: Questions = []
        self.about_graph = [GraphQuestion(bound) for prop in properties if isinstance(prop, LATER) for bound in explored.bind(prop)]
        self._ask_only_undecided()
        self.started = time.monotonic()

    def _ask_only_undecided(self) -> None:
        """Group what is still to be asked of states and of steps by what it presupposes."""
        open_now = [prop for prop in self.properties if prop.name not in self.decided and not isinstance(prop, LATER)]
        self.about_states = _questions(self.system, [prop for prop in open_now if not is_about_steps(prop)])
        self.about_steps = _questions(self.system, [prop for prop in open_now if is_about_steps(prop)])

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
            self._judge_graph()
        return Exploration(
            states=len(self.seen),
            transitions=sum(self.taken),
            depth=len(self.levels) - 1,
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
        first = 0
        while level:
            found: list[Any] = []
            self.levels.append(0)
            for offset, state in enumerate(level):
                if offset % POLL_EVERY == 0:
                    stopped = self._poll(first + offset, len(level) - offset + len(found))
                    if stopped:
                        return stopped
                if not self._expand(first + offset, state, found):
                    return f"reached the limit of {self.options.max_states} states"
            first += len(level)
            level = found
            self.levels[-1] = len(found)
        self.levels.pop()
        return None

    def _poll(self, expanded: int, frontier: int) -> str | None:
        seconds = time.monotonic() - self.started
        self.options.progress(Progress(tuple(self.levels[:-1]), expanded, frontier, sum(self.taken), seconds))
        if self.options.timeout is not None and seconds > self.options.timeout:
            return f"reached the limit of {self.options.timeout:g} s"
        if not self.options.keep_going and self.properties and all(prop.name in self.decided for prop in self.properties):
            return "every property is decided"
        return self.options.stop()

    def _expand(self, number: int, state: Any, found: list[Any]) -> bool:
        """Take every enabled step of a state; return whether the limit of states still allows to go on."""
        key, seen, taken, about_steps = self.key, self.seen, self.taken, self.about_steps
        for index, take in enumerate(self.system.takes):
            try:
                after = take(state)
            except ImpossibleError as error:
                self._decide("impossible", Witness({"why": str(error)}), {}, number, index)
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
            if self.keep_edges:
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
        number = self.seen[key] = len(self.seen)
        self.parents.append(parent)
        self.via.append(via)
        found.append(state)
        for when, names, bounds in self.about_states:
            if when is not None:
                if not when(state):
                    continue
                self.presupposed |= names
            for holds, bound in bounds:
                answer = holds(state)
                if answer:
                    self._decide(bound.property.name, answer, bound.choices, parent, via)
        for question in self.about_graph:
            question.ask(state)
        return number

    def _judge_step(self, number: int, index: int, before: Any, after: Any) -> None:
        step = self.system.steps[index]
        for when, names, bounds in self.about_steps:
            if when is not None:
                if not when(before, step, after):
                    continue
                self.presupposed |= names
            for holds, bound in bounds:
                answer = holds(before, step, after)
                if answer:
                    self._decide(bound.property.name, answer, bound.choices, number, index)

    def _decide(self, name: str, answer: Any, choices: Any, parent: int, via: int) -> None:
        """Keep the first answer that decides a property: the witness of a violation, or that a goal is met."""
        if name in self.decided:
            return
        run = self.run_to(parent, via)
        verdict = Verdict.VIOLATED if isinstance(answer, Witness) else Verdict.HOLDS
        facts = {**choices, **answer.facts} if isinstance(answer, Witness) else dict(choices)
        kind = next((prop.kind for prop in self.properties if prop.name == name), "invariant")
        self.decided[name] = Result(name, kind, verdict, len(run.steps), facts, run)
        self._ask_only_undecided()

    def run_to(self, parent: int, via: int) -> Run:
        """Return the run to a state given by its parent's number and the step from there; parent -1: an initial state."""
        steps: list[Step] = []
        while parent >= 0:
            steps.append(self.system.steps[via])
            parent, via = self.parents[parent], self.via[parent]
        return Run(tuple(reversed(steps)), initial=via)

    # -- the results --

    def _judge_graph(self) -> None:
        if not self.about_graph or (self.options.symmetry and all(isinstance(one.bound.property, LeadsTo) for one in self.about_graph)):
            return
        from .eventually import Graph, fair_lasso, trap  # noqa: PLC0415 - numpy and scipy, which only this needs

        graph = Graph.of(self)
        for question in self.about_graph:
            prop, bound = question.bound.property, question.bound
            if any(question.when):
                self.presupposed.add(prop.name)
            if prop.name in self.decided:
                continue
            run: Run | None
            if isinstance(prop, LeadsTo):
                run = None if self.options.symmetry else fair_lasso(graph, question.when, question.goal, prop)
            else:
                run = trap(graph, question.when, question.goal)
            if run is not None:
                self.decided[prop.name] = Result(prop.name, prop.kind, Verdict.VIOLATED, len(run.steps), dict(bound.choices), run)

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
        if stopped:
            return stopped
        if isinstance(prop, LeadsTo) and self.options.symmetry:
            return "liveness is not decided under symmetry: explore without it"
        if isinstance(prop, Reachable) and not prop.expected_in(self.system.machine.bounds):
            return f"not met, and not expected below {', '.join(f'{name}={least}' for name, least in prop.scope.items())}"
        if prop.when is not None and prop.name not in self.presupposed:
            return "vacuous: nothing in this scope meets what the property presupposes"
        if not isinstance(prop, Reachable) and not self.system.bind(prop):
            return "vacuous: its choices have no values in this scope"
        return None

    def _impossible(self) -> tuple[Result, ...]:
        found = self.decided.get("impossible")
        return () if found is None else (found,)

    def _taken_by_action(self) -> dict[str, int]:
        counts = {act.name: 0 for act in self.system.machine.actions}
        for step, count in zip(self.system.steps, self.taken, strict=True):
            counts[step.action] += count
        return counts


@frozen
class GraphQuestion:
    """A convergence or leads-to property with its choices, and its answers by state number."""

    bound: Bound
    when: bytearray = field(factory=bytearray, eq=False)
    goal: bytearray = field(factory=bytearray, eq=False)

    def ask(self, state: Any) -> None:
        """Note what the next state answers."""
        self.when.append(self.bound.when is None or bool(self.bound.when(state)))
        self.goal.append(bool(self.bound.holds(state)))


def _questions(explored: System, properties: Sequence[Property]) -> Questions:
    groups: dict[tuple[Any, ...], list[Bound]] = {}
    for prop in properties:
        for bound in explored.bind(prop):
            groups.setdefault(bound.presupposes, []).append(bound)
    return [
        (bounds[0].when, frozenset(bound.property.name for bound in bounds), [(bound.holds, bound) for bound in bounds])
        for bounds in groups.values()
    ]
