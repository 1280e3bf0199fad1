# SPDX-License-Identifier: Apache-2.0
"""Explores a machine with learned tables, and concludes what the reference engine would."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from attrs import evolve, frozen

from hwmark.checker.conclusions import Conclusions, taken_by_action
from hwmark.checker.errors import DiskError, InputError
from hwmark.checker.explore import Options, Progress, limit_of_states, uncollected
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.system import System, system
from hwmark.checker.verdict import Exploration
from hwmark.model.machine import Machine
from hwmark.spec.property import Property

from . import warm
from .components import ResizedError, components
from .deciding import IMPOSSIBLE_STEP, Deciding
from .kernels import DECIDES, PRESUPPOSED
from .learner import Learner, functions
from .memory import Budget, Growth
from .rows import Rows, grown
from .search import MOST_SLOTS, Chunks, Held, Window
from .states import States

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .stored import Stored

NO_QUESTIONS = np.zeros(0, np.int32)
SAMPLED = 32
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
    whole, is_anew = _stored_whole(options), False
    while True:
        try:
            with _Search(explored, properties, options, whole=whole, is_anew=is_anew, threads=threads, limits=limits) as search:
                return search.run()
        except ResizedError as error:
            whole.add(error.name)
            is_anew = True  # also where states are stored already: they were split otherwise


def _stored_whole(options: Options) -> set[str]:
    """Return the fields that are one component each in what is stored."""
    if not options.resume or options.checkpoint is None:
        return set()
    from hwmark.checker.storage.manifest import stored_fields  # noqa: PLC0415 - pyarrow

    return {name for name, entries in stored_fields(options.checkpoint).items() if entries is None}


class _Search:
    """One search: its states, and what it asks about them."""

    def __init__(  # noqa: PLR0913 - what is asked, and how to search
        self,
        explored: System,
        properties: Sequence[Property],
        options: Options,
        *,
        whole: Collection[str],
        is_anew: bool,
        threads: int,
        limits: Limits,
    ) -> None:
        self.system, self.properties, self.options, self.limits = explored, tuple(properties), options, limits
        self.started = time.monotonic()
        self.conclusions = Conclusions(explored, properties, symmetry=options.symmetry)
        self.components = components(explored, whole, limits.values)
        stored = self._open_store(replace=is_anew) if options.checkpoint is not None else None
        about = self.conclusions
        self.functions = functions(explored, about.about_states, about.about_steps, about.about_graph)
        self.learner = Learner(explored, self.components, self.functions, symmetry=options.symmetry, most_nodes=limits.nodes)
        self.initial = [self.components.encode(state) for state in explored.initial]
        self.learner.rename_new()
        self.rows = Rows(self.components, symmetry=options.symmetry)
        self.states = States(explored, self.components, self.rows, stored)
        self.chunks = Chunks(self.learner, self.rows, threads, keep_edges=bool(about.about_graph))
        self.deciding = Deciding(self.functions, about, self.states)
        self.answers = np.zeros((1024, len(about.about_graph)), np.uint8)
        self.later = np.array(self.functions.later, np.int32)
        self.levels = [0]
        self.most = limits.states if options.max_states is None else min(options.max_states, limits.states)
        self.budget, self.growth = Budget(options.memory), Growth(self.components)
        self.unsettled_edges = 0
        """Edges before this one lead to states that have their number for good."""

    def _open_store(self, *, replace: bool = False) -> Stored:
        from .stored import Stored  # noqa: PLC0415 - pyarrow, only where something is stored

        return Stored(self.system, self.components, self.properties, self.options, replace=replace)

    def __enter__(self) -> Self:
        """Search."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of threads and files."""
        self.chunks.close()
        if self.states.stored is not None:
            self.states.stored.close()

    def run(self) -> Exploration:
        """Search until everything is explored or decided, or a limit is reached."""
        with uncollected():
            try:
                stopped = self._search()
            except (_StoppedError, DiskError) as error:
                stopped = str(error)
            self._check_sample()
            if stopped is None and self.conclusions.about_graph and self.conclusions.graph_stopped is None:
                self.conclusions.judge_graph(self._graph(), self._graph_answers(), self._limit)
        taken = self.chunks.taken[: len(self.system.takes)].tolist()
        return Exploration(
            states=min(self.rows.total, self.most) if self.is_spilled else self.rows.total,
            transitions=sum(taken),
            depth=sum(size > 0 for size in self.levels) - 1,
            complete=stopped is None,
            stopped=stopped,
            seconds=time.monotonic() - self.started,
            taken=taken_by_action(self.system, taken),
            results=self.conclusions.results(stopped, any_step=any(taken)),
            engine="tables",
            workers=self.chunks.threads,
        )

    # -- the search --

    def _search(self) -> str | None:
        """Visit all states; return why that stopped early, or ``None``."""
        self.states.first_initial = self.chunks.begin(self.initial)
        self.levels, place = [self.rows.total], 0
        if self.rows.total > self.most:
            return self._limit_of_states()
        if self.options.resume:
            place = self._resume()
        else:
            self._ask_states(0, self.rows.total)
        self.chunks.poll = self._raise_if_stopped
        return self._visit(place)

    def _visit(self, place: int) -> str | None:
        """Expand all states from a place on, level by level, chunk by chunk; return why that stopped early, or ``None``."""
        end = place
        if place < sum(self.levels[:-1]):  # in the middle of a level, of whose successors some are known
            end = sum(self.levels[:-1])
        while True:
            if place == end:
                self._settle()
                end = self.rows.total
                if place == end:
                    break
                self.levels.append(0)
            stopped = self._poll(place)
            if stopped is not None:
                self._commit(place)
                return stopped
            window = self._window(place)
            last = min(end, window.end, place + self.chunks.states)
            if self._expand(window, place, last):
                return self._limit_of_states()
            place = last
            self._keep_within(place)
        self._commit(place, complete=True)
        return None

    def _expand(self, window: Held | Window, first: int, last: int) -> bool:
        """Take every step of some states of a window, and ask about what is new; return whether the limit of states was reached."""
        known, asked = self.rows.total, self.deciding.about_steps
        try:
            found, impossible, stopped = self.chunks.expand(window, first, last, asked, self._most_here)
        finally:
            self.levels[-1] += self.rows.total - known
        if impossible >= 0:
            self.deciding.decide((IMPOSSIBLE_STEP, impossible))
        self.deciding.note(asked, found)
        if not self.is_spilled:
            self._ask_states(known, self.rows.total)
        return stopped

    def _ask_states(self, first: int, last: int) -> None:
        """Ask all open questions about new states."""
        if len(self.answers) < last:
            self.answers = grown(self.answers, max(last, len(self.answers) + len(self.answers) // 2))
        for start in range(first, last, self.chunks.states):
            asked = self.deciding.about_states
            found = self.chunks.ask(start, min(last, start + self.chunks.states), asked, self.later, self.answers)
            self.deciding.note(asked, found)

    # -- limits --

    def _poll(self, expanded: int) -> str | None:
        self.options.progress(
            Progress(
                levels=tuple(self.levels[:-1]),
                expanded=expanded,
                frontier=self.rows.total - expanded,
                transitions=int(self.chunks.taken.sum()),
                seconds=time.monotonic() - self.started,
                python_calls=self.learner.calls,
                growing=self.growth.fastest(),
            )
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

    def _limit_of_states(self) -> str:
        return limit_of_states(self.most) if self.most == self.options.max_states else f"numbers no more than {self.most:,} states"

    # -- memory and disk --

    @property
    def is_spilled(self) -> bool:
        """Whether all states that have their number for good are on disk, and only candidates in memory."""
        return self.rows.first > 0

    @property
    def _most_here(self) -> int:
        """How many states there may be, candidates included, of which some are known already."""
        return self.limits.states if self.is_spilled else self.most

    def _window(self, number: int) -> Held | Window:
        if self.states.stored is not None and number < self.rows.first:
            return self.states.stored.window(number)
        return Held(self.rows)

    def _keep_within(self, place: int) -> None:
        """Keep within the memory that is allowed, and commit what is stored now and then."""
        if self.budget.is_exceeded(self.rows, self.chunks, self.answers):
            if self.chunks.keep_edges and self.budget.is_exceeded(None, self.chunks, self.answers):
                self._drop_edges()
            if self.is_spilled:
                self._settle()
            else:
                self._spill()
        stored = self.states.stored
        if stored is not None and stored.is_checkpoint and stored.space.is_due:
            self._settle()
            self._commit(place)

    def _drop_edges(self) -> None:
        self.chunks.drop_edges()
        self.conclusions.graph_stopped = "the steps between all states do not fit into the memory that is allowed"

    def _spill(self) -> None:
        """Go on with candidates only, since states take too much memory."""
        if self.states.stored is None:
            self.states.stored = self._open_store()
        if self.chunks.keep_edges and self.system.observers:
            self._drop_edges()  # which of them change the machine's own state could not be told
        self.states.stored.store(self.rows, self.levels)
        self.rows.clear()
        self.unsettled_edges = self.chunks.edges

    def _settle(self) -> None:
        """Number the candidates for good, ask about them, and store them."""
        stored = self.states.stored
        if stored is None or not self.is_spilled or not self.rows.known:
            return
        candidates = self.rows.known
        numbers = stored.settle(self.rows, self.learner)
        self.chunks.renumber_edges(self.unsettled_edges, self.rows.first, numbers)
        self.levels[-1] -= candidates - self.rows.known
        self._ask_states(self.rows.first, self.rows.total)
        self._spill()
        if self.rows.total > self.most:
            raise _StoppedError(self._limit_of_states())

    def _commit(self, place: int, *, complete: bool = False) -> None:
        """Let the search go on from here, if it is stored to be gone on with."""
        stored = self.states.stored
        if stored is None or not stored.is_checkpoint or (self.is_spilled and self.rows.known):
            return
        stored.store(self.rows, self.levels)
        conclusions = {"presupposed": sorted(self.conclusions.presupposed), "decisions": self.deciding.decisions}
        taken = self.chunks.taken[: len(self.system.takes)].tolist()
        stored.space.commit(expanded=place, taken=taken, conclusions=conclusions, complete=complete)

    def _resume(self) -> int:
        """Go on from what is stored; return the place of the first state that is not expanded."""
        stored = self.states.stored
        if stored is None:
            raise InputError("there is nothing to go on from: --resume needs --checkpoint")
        space = stored.space
        if not space.known:
            self._ask_states(0, self.rows.total)
            return 0
        self.levels = list(space.levels)
        place = space.contents.expanded
        if self.budget.allows(self.rows.bytes_with(space.known)):
            stored.load(self.rows, self.learner)
        else:
            self.rows.skip(space.known)
            self._drop_edges()
        if self.chunks.keep_edges:
            self._expand_again(place)
        self.chunks.taken[: len(self.system.takes)] = space.contents.taken
        try:
            self.conclusions.presupposed.update(map(str, space.conclusions["presupposed"]))
            for number, where in space.conclusions["decisions"]:
                self.deciding.decide((int(number), int(where)))
        except (TypeError, KeyError, ValueError, IndexError):
            raise InputError("what was concluded so far does not belong to the stored states") from None
        return place

    def _expand_again(self, place: int) -> None:
        """Find the steps between stored states again, and what they answer for later; nothing may be new."""
        known = self.rows.total
        self.answers = grown(self.answers, known)
        for first in range(0, known, self.chunks.states):
            self.chunks.ask(first, min(known, first + self.chunks.states), NO_QUESTIONS, self.later, self.answers)
        for first in range(0, place, self.chunks.states):
            self.chunks.expand(Held(self.rows), first, min(place, first + self.chunks.states), NO_QUESTIONS, self.limits.states)
        if self.rows.total != known:
            raise InputError("the stored states are not those that this machine reaches")

    # -- once everything is explored --

    def _check_sample(self) -> None:
        """Run every function on some real states, evenly chosen among all, and compare with what its tree says."""
        settled = self.rows.first if self.is_spilled else self.rows.total
        for number in range(0, settled, max(1, settled // SAMPLED)):
            codes = self.states.codes(number)
            for root in (*range(len(self.system.takes)), *self.functions.states, *self.functions.later):
                self.learner.check_again(root, codes)

    def _graph(self) -> Any:
        from hwmark.checker.eventually import Graph  # noqa: PLC0415 - scipy, which only this needs

        chunks, known = self.chunks, self.rows.total
        degrees = chunks.degrees[:known]
        first_edge = np.zeros(known + 1, np.int64)
        np.cumsum(degrees, out=first_edge[1 : len(degrees) + 1])
        targets, labels = chunks.targets[: chunks.edges], chunks.labels[: chunks.edges]
        changes = None
        if self.system.observers and not self.options.symmetry:
            own = self.rows.own_rows()
            changes = (np.repeat(own, degrees, axis=0) != own[targets]).any(axis=1)
        return Graph(first_edge, targets, labels, changes, levels=self.levels, steps=self.system.steps, run_to=self.states.run_to)

    def _graph_answers(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        for answers in self.answers[: self.rows.total].T:
            yield (answers & PRESUPPOSED) > 0, (answers & DECIDES) > 0
