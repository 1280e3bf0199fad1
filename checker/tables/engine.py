# SPDX-License-Identifier: Apache-2.0
"""Explores a machine with learned tables, and concludes what the reference engine would."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen

from hwmark.checker.conclusions import Conclusions, taken_by_action
from hwmark.checker.explore import Options, Progress, limit_of_states, uncollected
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.system import System, system
from hwmark.checker.verdict import Exploration, Run
from hwmark.model.machine import ImpossibleError, Machine, Step
from hwmark.spec.property import Property

from . import warm
from .components import ResizedError, components
from .kernels import DECIDES, PRESUPPOSED, Findings
from .learner import Learner, Question, functions
from .rows import Rows, grown
from .search import MOST_SLOTS, Chunks
from .values import NotLearnableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Roots = NDArray[np.int32]


SAMPLED = 64
"""States on which every function is run once more at the end."""


@frozen
class Limits:
    """The most that codes, nodes and states may number; smaller ones are for tests."""

    values: int = 2**31 - 1
    nodes: int = 2**31 - 1
    states: int = 2**32 - 2 - MOST_SLOTS


class _StoppedError(Exception):
    """A limit was reached while functions were learned."""


def explore(
    machine: Machine[Any], properties: Sequence[Property], options: Options = Options(), *, threads: int = 1, limits: Limits = Limits()
) -> Exploration:
    """Explore all reachable states of a machine, and judge the properties there; see ``checker.explore.explore``.

    Raises ``NotLearnableError`` for what this engine cannot do exactly.
    """
    prepared = prepare()
    return evolve(_explore(machine, properties, options, threads, limits), preparation=prepared)


@cache
def prepare() -> float:
    """Compile the kernels, or load what was compiled before; return how many seconds that took."""
    started = time.monotonic()
    _explore(warm.MACHINE, warm.PROPERTIES, Options(), 1, Limits())
    return time.monotonic() - started


def _explore(machine: Machine[Any], properties: Sequence[Property], options: Options, threads: int, limits: Limits) -> Exploration:
    explored = system(machine, properties)
    if options.symmetry and not machine.interchangeable:
        raise NotSymmetricError(f"machine {machine.name} declares no interchangeable identities")
    whole: set[str] = set()
    while True:
        try:
            return _Search(explored, properties, options, whole=whole, threads=threads, limits=limits).run()
        except ResizedError as error:
            whole.add(error.name)


class _Search:
    """One search: what it asks by root, and what it found."""

    def __init__(  # noqa: PLR0913 - what is asked, and how to search
        self, explored: System, properties: Sequence[Property], options: Options, *, whole: Collection[str], threads: int, limits: Limits
    ) -> None:
        self.system, self.options, self.limits = explored, options, limits
        self.started = time.monotonic()
        self.conclusions = Conclusions(explored, properties, symmetry=options.symmetry)
        made = components(explored, whole, limits.values)
        self.about = functions(explored, self.conclusions.about_states, self.conclusions.about_steps, self.conclusions.about_graph)
        self.learner = Learner(explored, made, self.about, symmetry=options.symmetry, most_nodes=limits.nodes)
        self.initial = [made.encode(state) for state in explored.initial]
        self.learner.rename_new()
        self.rows = Rows(made, symmetry=options.symmetry)
        self.chunks = Chunks(self.learner, self.rows, threads, keep_edges=bool(self.conclusions.about_graph))
        self.first_initial: list[int] = []
        self.answers = np.zeros((1024, len(self.conclusions.about_graph)), np.uint8)
        self.levels = [0]
        self.later = self._roots(self.about.later)
        self.stopped: str | None = None

    def run(self) -> Exploration:
        """Search until everything is explored or decided, or a limit is reached."""
        with uncollected():
            try:
                stopped = self._levels()
            except _StoppedError as error:
                stopped = str(error)
            finally:
                self.chunks.close()
            self._check_sample()
            if stopped is None and self.conclusions.about_graph:
                self.conclusions.judge_graph(self._graph(), self._graph_answers(), self._limit)
        return Exploration(
            states=self.rows.known,
            transitions=int(self.chunks.taken.sum()),
            depth=sum(size > 0 for size in self.levels) - 1,
            complete=stopped is None,
            stopped=stopped,
            seconds=time.monotonic() - self.started,
            taken=taken_by_action(self.system, self.chunks.taken[: len(self.system.takes)].tolist()),
            results=self.conclusions.results(stopped, any_step=bool(self.chunks.taken.any())),
            engine="tables",
            workers=self.chunks.threads,
        )

    # -- the search --

    def _levels(self) -> str | None:
        """Visit level after level, chunk after chunk; return why the search stopped early, or ``None``."""
        most = self.limits.states if self.options.max_states is None else min(self.options.max_states, self.limits.states)
        self.first_initial = self.chunks.begin(self.initial)
        self.levels = [self.rows.known]
        if self.rows.known > most:
            return self._limit_of_states(most)
        self._ask_states(0, self.rows.known)
        self.chunks.poll = self._raise_if_stopped
        first, end = 0, self.rows.known
        while first < end:
            self.levels.append(0)
            for chunk in range(first, end, self.chunks.states):
                stopped = self._poll(chunk)
                if stopped is None and self._expand(chunk, min(end, chunk + self.chunks.states), most):
                    stopped = self._limit_of_states(most)
                self.levels[-1] = self.rows.known - end
                if stopped is not None:
                    return stopped
            first, end = end, self.rows.known
        return None

    def _poll(self, expanded: int) -> str | None:
        seconds = time.monotonic() - self.started
        self.options.progress(
            Progress(tuple(self.levels[:-1]), expanded, self.rows.known - expanded, int(self.chunks.taken.sum()), seconds)
        )
        if not self.options.keep_going and self.conclusions.is_all_decided:
            return "every property is decided"
        return self._limit()

    def _limit(self) -> str | None:
        if self.options.timeout is not None and time.monotonic() - self.started > self.options.timeout:
            return f"reached the limit of {self.options.timeout:g} s"
        return self.options.stop()

    def _raise_if_stopped(self) -> None:
        stopped = self._limit()
        if stopped is not None:
            raise _StoppedError(stopped)

    def _limit_of_states(self, most: int) -> str:
        return limit_of_states(most) if most == self.options.max_states else f"numbers no more than {most:,} states"

    def _expand(self, first: int, last: int, most: int) -> bool:
        """Take every step of some states; return whether the limit of states was reached."""
        known = self.rows.known
        asked = self.about.open_among(self.about.steps, self.conclusions.decided)
        found, impossible, stopped = self.chunks.expand(first, last, self._roots(asked), most)
        if impossible >= 0:
            self._reach_impossible(*divmod(impossible, len(self.system.takes)))
        for state_and_step, question in self._noted(asked, found):
            state, step = divmod(state_and_step, len(self.system.takes))
            before = self._state(state)
            after = self.system.takes[step](before)
            answer = _decisive(question, question.bound.holds(before, self.system.steps[step], after))
            self.conclusions.decide(question.bound, answer, partial(self._run_to, state, (self.system.steps[step],)))
        self._ask_states(known, self.rows.known)
        return stopped

    def _ask_states(self, first: int, last: int) -> None:
        if len(self.answers) < last:
            self.answers = grown(self.answers, len(self.rows.rows))
        asked = self.about.open_among(self.about.states, self.conclusions.decided)
        for start in range(first, last, self.chunks.states):
            found = self.chunks.ask(start, min(last, start + self.chunks.states), self._roots(asked), self.later, self.answers)
            for state, question in self._noted(asked, found):
                answer = _decisive(question, question.bound.holds(self._state(state)))
                self.conclusions.decide(question.bound, answer, partial(self._run_to, state))

    def _roots(self, asked: Sequence[int]) -> Roots:
        return np.array(asked, np.int32)

    def _noted(self, asked: Sequence[int], found: Findings) -> Iterator[tuple[int, Question]]:
        """Note what was presupposed, and yield where and by which question something was decided, the first place first."""
        for index in np.flatnonzero(found.presupposed).tolist():
            self.conclusions.presupposed.add(self.about.learned[asked[index]].name)
        decided = [(int(found.first[index]), index) for index in np.flatnonzero(found.first >= 0).tolist()]
        for where, index in sorted(decided):
            yield where, self.about.question(asked[index])

    def _check_sample(self) -> None:
        """Run every function on some real states, evenly chosen among all, and compare with what its tree says."""
        for number in range(0, self.rows.known, max(1, self.rows.known // SAMPLED)):
            codes = self.chunks.codes_of(number)
            for root in (*range(len(self.system.takes)), *self.about.states, *self.about.later):
                leaf = self.learner.forest.find(root, codes)
                if leaf is not None:
                    self.learner.check(root, codes, leaf)

    # -- states and runs --

    def _state(self, number: int) -> Any:
        return self.learner.components.decode(self.chunks.codes_of(number))

    def _run_to(self, number: int, last: tuple[Step, ...] = ()) -> Run:
        """Return the run to a state, and these steps after it."""
        steps: list[Step] = []
        parents, via = self.rows.parents, self.rows.via
        while number >= len(self.first_initial):
            steps.append(self.system.steps[int(via[number])])
            number = int(parents[number])
        return Run((*reversed(steps), *last), initial=self.first_initial[number])

    def _reach_impossible(self, state: int, step: int) -> None:
        try:
            self.system.takes[step](self._state(state))
        except ImpossibleError as error:
            self.conclusions.reach_impossible(str(error), partial(self._run_to, state, (self.system.steps[step],)))

    # -- the graph --

    def _graph(self) -> Any:
        from hwmark.checker.eventually import Graph  # noqa: PLC0415 - scipy, which only this needs

        chunks, known = self.chunks, self.rows.known
        first_edge = np.zeros(known + 1, np.int64)
        np.cumsum(chunks.degrees[:known], out=first_edge[1:])
        targets, labels = chunks.targets[: chunks.edges], chunks.labels[: chunks.edges]
        changes = None
        if self.system.observers and not self.options.symmetry:
            own = self.rows.own_rows()
            changes = (np.repeat(own, chunks.degrees[:known], axis=0) != own[targets]).any(axis=1)
        return Graph(first_edge, targets, labels, changes, levels=self.levels, steps=self.system.steps, run_to=self._run_to)

    def _graph_answers(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        known = self.rows.known
        for index in range(len(self.conclusions.about_graph)):
            answers = self.answers[:known, index]
            yield (answers & PRESUPPOSED) > 0, (answers & DECIDES) > 0


def _decisive(question: Question, answer: Any) -> Any:
    """Return the answer of a property about a real state or step, which decides it as its tree says."""
    if answer is question.undecided:
        raise NotLearnableError(f"{question.name} answers otherwise about a whole state: it depends on more than the state")
    return answer
