# SPDX-License-Identifier: Apache-2.0
"""The driver's search: level by level, and in each level round by round.

All shards expand some of their states, then successors go to their owners, and questions are asked about what is new. A
round begins when the one before is over everywhere, so nothing depends on which shard is quicker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hwmark.checker.conclusions import Conclusions, taken_by_action
from hwmark.checker.explore import Options, Progress, limit_of_states, uncollected
from hwmark.checker.system import IMPOSSIBLE, System
from hwmark.checker.tables.components import components
from hwmark.checker.tables.deciding import IMPOSSIBLE_STEP, Deciding
from hwmark.checker.tables.kernels import DECIDES, PRESUPPOSED, Findings
from hwmark.checker.tables.learner import Learner, functions
from hwmark.checker.tables.rows import Rows
from hwmark.checker.verdict import Exploration, Run
from hwmark.spec.property import Property

from .crew import Crew, LostError, Poll, StoppedError
from .graph import Numbering, gathered_answers, gathered_edges
from .kernels import NUMBER_BITS
from .limits import Clock, Limits
from .messages import Expanded, Settings
from .roots import Roots
from .states import Scattered
from .teacher import Teacher

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Asked = NDArray[np.int32]

FEW = 16
"""Shards whose parcels are large enough if each shard expands one round's worth of states."""
SAMPLED = 64
"""States on which every function is run once more at the end."""


class Search:
    """One search: what is known here of the shards' states, and what was found."""

    crew: Crew
    teacher: Teacher

    def __init__(  # noqa: PLR0913 - what is asked, and how to search
        self,
        explored: System,
        properties: Sequence[Property],
        options: Options,
        *,
        shards: int,
        clock: Clock,
        mustered: Callable[[Poll], Crew],
        whole: Collection[str],
        limits: Limits,
    ) -> None:
        """Find out what is asked, and the initial states; ``mustered`` gives the shards once they are needed."""
        self.system, self.options, self.limits, self.shards = explored, options, limits, shards
        self.clock, self.mustered = clock, mustered
        about = self.conclusions = Conclusions(explored, properties, symmetry=options.symmetry)
        made = components(explored, whole, limits.values)
        self.functions = functions(explored, about.about_states, about.about_steps, about.about_graph)
        self.learner = Learner(explored, made, self.functions, symmetry=options.symmetry, most_nodes=limits.nodes)
        self.packing = Rows(made, symmetry=options.symmetry)
        """Holds no states: it tells how those of the shards are packed."""
        self.roots = Roots(self.learner, self.packing, shards)
        self.states = Scattered(explored, made, self.packing, roots=self.roots)
        self.deciding = Deciding(self.functions, about, self.states)
        self.instances = len(explored.takes)
        self.round = limits.round * max(1, shards // FEW)
        self.later = np.array(self.functions.later, np.int32)
        self.known, self.next = np.zeros(shards, np.int64), np.zeros(shards, np.int64)
        self.starts = [self.known]
        self.levels = [len(self.roots.codes)]
        self.taken = np.zeros(self.instances, np.int64)

    def run(self) -> Exploration:
        """Search until everything is explored or decided, a limit is reached, or a shard is lost."""
        with uncollected():
            try:
                stopped = self._search()
                if self.known.any():
                    self._check_sample()
            except StoppedError as error:
                stopped = str(error)
            if stopped is None and self.conclusions.about_graph and self.conclusions.graph_stopped is None:
                self._judge_graph()
        taken = self.taken.tolist()
        return Exploration(
            states=sum(self.levels),
            transitions=sum(taken),
            depth=sum(size > 0 for size in self.levels) - 1,
            complete=stopped is None,
            stopped=stopped,
            seconds=self.clock.seconds,
            taken=taken_by_action(self.system, taken),
            results=self.conclusions.results(stopped, any_step=any(taken)),
            engine="ray",
            workers=self.shards,
            preparation=self.clock.preparation,
        )

    # -- the beginning --

    def _search(self) -> str | None:
        """Visit level after level; return why the search stopped early, or ``None``."""
        if self.options.max_states is not None and self.levels[0] > self.options.max_states:
            return limit_of_states(self.options.max_states)
        self._ask_roots()
        stopped = self._poll()
        if stopped is None:
            self._begin()
        while stopped is None and (self.next < self.known).any():
            stopped = self._level()
        return stopped

    def _ask_roots(self) -> None:
        """Ask the questions about initial states here, where they are known before there are shards."""
        asked = self.deciding.about_states
        for number, codes in self.roots.codes.items():
            for question in asked.tolist():
                outcome = self.learner.resolve(question, codes)
                found = Findings(np.array([outcome & PRESUPPOSED], np.uint8), np.array([number if outcome & DECIDES else -1]))
                self.deciding.note(np.array([question], np.int32), found)

    def _begin(self) -> None:
        """Gather the shards, and give them their initial states."""
        started = time.monotonic()
        self.crew = self.states.crew = self.mustered(self.clock.poll)
        self.clock.preparation = time.monotonic() - started
        self.teacher = Teacher(self.learner, self.functions, self.packing, self.crew)
        made = self.states.components
        settings = Settings(
            instances=self.instances,
            components=len(made.kinds),
            memories=sum(part.width for part in made.memories),
            later=len(self.later),
            symmetry=self.options.symmetry,
            keep_edges=bool(self.conclusions.about_graph),
            factors=self.roots.factors,
        )
        self.teacher.tell("begin", settings, self.packing.layout)
        dealt = self.roots.parcels()
        self.crew.call("adopt", {shard: (parcel,) for shard, parcel in dealt.items()})
        self.known = np.array([len(dealt[shard].rows) if shard in dealt else 0 for shard in range(self.shards)])
        self._ask_new()

    # -- levels and rounds --

    def _level(self) -> str | None:
        """Expand all states that were not expanded yet, and not those found meanwhile; return why to stop, or ``None``."""
        end = self.known
        self.starts.append(end)
        self.levels.append(0)
        stopped = None
        while stopped is None and (self.next < end).any():
            stopped = self._poll() or self._round(np.minimum(end, self.next + self.round))
        return stopped

    def _poll(self) -> str | None:
        expanded = int(self.next.sum())
        frontier, transitions = sum(self.levels) - expanded, int(self.taken.sum())
        self.options.progress(Progress(tuple(self.levels[:-1]), expanded, frontier, transitions, self.clock.seconds))
        if not self.options.keep_going and self.conclusions.is_all_decided:
            return "every property is decided"
        return self.clock.limit()

    def _round(self, last: Longs) -> str | None:
        """Expand states up to these numbers, deal out what is found, and judge it; return why to stop, or ``None``."""
        asked = self.teacher.of_steps = self.deciding.about_steps
        found: list[Expanded] = self.teacher.ask("expand", {shard: (number,) for shard, number in enumerate(last.tolist())})
        coming = np.sum([one.sent for one in found], axis=0)
        if (self.known + coming > self.limits.states).any():
            return f"a shard numbers no more than {self.limits.states:,} states"
        absorbed = self.crew.exchange()
        if [one.came for one in absorbed] != coming.tolist():
            raise LostError("not all successors that were sent came to their shards")
        is_beyond = self._take_stock(np.array([one.known for one in absorbed]))
        self.next = last
        self.taken += np.sum([one.taken for one in found], axis=0)
        if self.conclusions.about_graph and self.conclusions.graph_stopped is None and self.taken.sum() > self.limits.edges:
            self.conclusions.graph_stopped = (
                f"there are more than {self.limits.edges:,} steps between states, too many to judge them as a whole"
            )
            self.teacher.tell("drop_edges")
        self._judge_steps(asked, found)
        self._ask_new()
        return limit_of_states(sum(self.levels)) if is_beyond else None

    def _take_stock(self, known: Longs) -> bool:
        """Note how many states each shard knows now; return whether more than the limit, which are forgotten, the last first."""
        most, new = self.options.max_states, known - self.known
        is_beyond = most is not None and sum(self.levels) + int(new.sum()) > most
        if most is not None and is_beyond:
            left = most - sum(self.levels) - np.cumsum(new) + new
            new = np.clip(left, 0, new)
            self.crew.call("forget", {shard: (number,) for shard, number in enumerate((self.known + new).tolist())})
        self.known = self.known + new
        self.levels[-1] += int(new.sum())
        return is_beyond

    # -- judging --

    def _judge_steps(self, asked: Asked, found: Sequence[Expanded]) -> None:
        """Decide what steps decide."""
        self._note(asked, [one.findings for one in found], self.instances)
        impossible = [int(one.impossible[0]) for one in found]
        steps = [_scattered(shard, step, self.instances) for shard, step in enumerate(impossible) if step >= 0]
        if steps and IMPOSSIBLE not in self.conclusions.decided:
            self.deciding.decide((IMPOSSIBLE_STEP, min(steps)))

    def _ask_new(self) -> None:
        """Ask about all states that are new, and decide what they decide."""
        asked = self.deciding.about_states
        self.teacher.of_states = np.concatenate((asked, self.later))
        self._note(asked, self.teacher.ask("ask", dict.fromkeys(range(self.shards), ())), 1)

    def _note(self, asked: Asked, found: Sequence[Findings], times: int) -> None:
        """Note what all shards found: presupposed if anywhere, decided where the first shard did first."""
        presupposed = np.bitwise_or.reduce([one.presupposed for one in found])
        first = np.full(len(presupposed), -1, np.int64)
        for shard, one in reversed(list(enumerate(found))):
            first = np.where(one.first < 0, first, _scattered(shard, one.first, times))
        self.learner.presupposed[asked] |= presupposed
        self.deciding.note(asked, Findings(presupposed, first))

    def _check_sample(self) -> None:
        """Run every function on some real states, evenly chosen among those of each shard, and compare with what its tree says."""
        some = {}
        for shard, known in enumerate(self.known.tolist()):
            if known:
                some[shard] = (np.arange(0, known, max(1, known * self.shards // SAMPLED)),)
        roots = (*range(self.instances), *self.functions.states, *self.functions.later)
        for states in self.crew.call("codes", some).values():
            for codes in states.tolist():
                for root in roots:
                    self.learner.check_again(root, codes)

    def _judge_graph(self) -> None:
        """Judge what is decided on the whole graph; where shards are lost meanwhile, that stays open."""
        from hwmark.checker.eventually import Graph  # noqa: PLC0415 - scipy, which only this needs

        numbering = Numbering(self.starts, self.known)
        try:
            first_edge, targets, labels, moved = gathered_edges(self.crew, numbering, self.instances)
            changes = moved if self.system.observers and not self.options.symmetry else None

            def run_to(number: int) -> Run:
                return self.states.run_to(numbering.place(number))

            graph = Graph(first_edge, targets, labels, changes, levels=self.levels, steps=self.system.steps, run_to=run_to)
            self.conclusions.judge_graph(graph, gathered_answers(self.crew, numbering, len(self.later)), self.clock.limit)
        except StoppedError as error:
            self.conclusions.graph_stopped = str(error)


def _scattered(shard: int, place: Any, times: int) -> Any:
    """Return where something was found among the states of all shards, or among those states times so many steps."""
    return (shard << NUMBER_BITS) * times + place
