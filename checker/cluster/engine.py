# SPDX-License-Identifier: Apache-2.0
"""The driver: explores a machine with several shards, and concludes what the reference engine would.

Level by level, and in each level round by round: all shards expand some of their states, what is missing is learned here
and told to all, then successors go to their owners, and questions are asked about what is new. A round begins when the
one before is over everywhere, so nothing depends on which shard is quicker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from hwmark.checker.conclusions import Conclusions, taken_by_action
from hwmark.checker.explore import Options, Progress, limit_of_states, uncollected
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.system import IMPOSSIBLE, System, system
from hwmark.checker.tables.components import ResizedError, components
from hwmark.checker.tables.deciding import IMPOSSIBLE_STEP, Deciding
from hwmark.checker.tables.kernels import DECIDES, PRESUPPOSED, Findings
from hwmark.checker.tables.learner import Learner, functions
from hwmark.checker.tables.rows import Rows
from hwmark.checker.tables.values import NotLearnableError
from hwmark.checker.verdict import Exploration, Run
from hwmark.model.machine import Machine
from hwmark.spec.property import Property

from .crew import Crew, LostError, StoppedError
from .graph import Numbering, gathered_answers, gathered_edges
from .kernels import MOST_INSTANCES, MOST_NUMBER, MOST_SHARDS, NUMBER_BITS
from .messages import Expanded, Knowledge, Missing, Settings
from .roots import Roots
from .states import Scattered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Asked = NDArray[np.int32]

Poll = Callable[[], None]
Muster = Callable[[int, Poll], AbstractContextManager[Crew]]
"""Gathers so many shards, given what to call now and then while they start."""

SAMPLED = 64
"""States on which every function is run once more at the end."""


@frozen
class Limits:
    """The most that codes, nodes and a shard's states may number, and what a shard expands in a round; others are for tests."""

    values: int = 2**31 - 1
    nodes: int = 2**31 - 1
    states: int = MOST_NUMBER
    round: int = 1 << 15


def explore(  # noqa: PLR0913 - what is asked, and how to search
    machine: Machine[Any],
    properties: Sequence[Property],
    options: Options = Options(),
    *,
    shards: int = 1,
    muster: Muster | None = None,
    limits: Limits = Limits(),
) -> Exploration:
    """Explore all reachable states of a machine, and judge the properties there; see ``checker.explore.explore``.

    Shards are Ray actors unless somebody else musters them. Raises ``NotLearnableError`` for what this engine cannot do
    exactly, and ``InputError`` where Ray is not installed or cannot be reached.
    """
    explored = system(machine, properties)
    if options.symmetry and not machine.interchangeable:
        raise NotSymmetricError(f"machine {machine.name} declares no interchangeable identities")
    if len(explored.takes) > MOST_INSTANCES or not 0 < shards <= MOST_SHARDS:
        raise NotLearnableError(f"no more than {MOST_INSTANCES:,} steps are told apart, and {MOST_SHARDS:,} shards")
    gather = muster or _actors
    whole: set[str] = set()
    with ExitStack() as stack:
        mustered = cache(lambda poll: stack.enter_context(gather(shards, poll)))  # once, whatever fields turn out to be whole
        clock = _Clock(options)
        while True:
            try:
                return _Search(
                    explored, properties, options, shards=shards, clock=clock, mustered=mustered, whole=whole, limits=limits
                ).run()
            except ResizedError as error:
                whole.add(error.name)


def _actors(shards: int, poll: Poll) -> AbstractContextManager[Crew]:
    from .actors import actors  # noqa: PLC0415 - Ray, which is not installed everywhere

    return actors(shards, poll)


class _Clock:
    """Tells when to stop."""

    def __init__(self, options: Options) -> None:
        self.options, self.started, self.preparation = options, time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the beginning, without those for starting shards."""
        return time.monotonic() - self.started - self.preparation

    def limit(self) -> str | None:
        """Return why to stop, or ``None``."""
        if self.options.timeout is not None and time.monotonic() - self.started > self.options.timeout:
            return f"reached the limit of {self.options.timeout:g} s"
        return self.options.stop()

    def poll(self) -> None:
        """Raise ``StoppedError`` where it is time to stop."""
        stopped = self.limit()
        if stopped is not None:
            raise StoppedError(stopped)


class _Search:
    """One search: what is known here of the shards' states, and what was found."""

    crew: Crew

    def __init__(  # noqa: PLR0913 - what is asked, and how to search
        self,
        explored: System,
        properties: Sequence[Property],
        options: Options,
        *,
        shards: int,
        clock: _Clock,
        mustered: Callable[[Poll], Crew],
        whole: Collection[str],
        limits: Limits,
    ) -> None:
        self.system, self.options, self.limits, self.shards = explored, options, limits, shards
        self.clock, self.mustered = clock, mustered
        about = self.conclusions = Conclusions(explored, properties, symmetry=options.symmetry)
        made = components(explored, whole, limits.values)
        self.functions = functions(explored, about.about_states, about.about_steps, about.about_graph)
        self.learner = Learner(explored, made, self.functions, symmetry=options.symmetry, most_nodes=limits.nodes)
        self.factors = factors(len(made.kinds))
        self.packing = Rows(made, symmetry=options.symmetry)
        """Holds no states: it tells how those of the shards are packed."""
        self.roots = Roots(self.learner, self.packing, self.factors, shards)
        self.states = Scattered(explored, made, self.packing, roots=self.roots)
        self.deciding = Deciding(self.functions, about, self.states)
        self.actions = np.arange(len(explored.takes), dtype=np.int32)
        self.later = np.array(self.functions.later, np.int32)
        self.asked: tuple[Asked, Asked] = (self.deciding.about_steps, self.deciding.about_states)
        self.informed: tuple[Any, ...] = ()
        self.known, self.next = np.zeros(shards, np.int64), np.zeros(shards, np.int64)
        self.starts = [self.known]
        self.levels = [len(self.roots.codes)]
        self.taken = np.zeros(len(explored.takes), np.int64)

    def run(self) -> Exploration:
        """Search until everything is explored or decided, a limit is reached, or a shard is lost."""
        with uncollected():
            try:
                stopped = self._search()
                if self.known.any():
                    self._check_sample()
            except StoppedError as error:
                stopped = str(error)
            if stopped is None and self.conclusions.about_graph:
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

    # -- the search --

    def _search(self) -> str | None:
        """Visit level after level, round after round; return why the search stopped early, or ``None``."""
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
        for number, codes in self.roots.codes.items():
            for question in self.asked[1].tolist():
                outcome = self.learner.resolve(question, codes)
                found = Findings(np.array([outcome & PRESUPPOSED], np.uint8), np.array([number if outcome & DECIDES else -1]))
                self.deciding.note(np.array([question], np.int32), found)

    def _begin(self) -> None:
        """Gather the shards, and give them their initial states."""
        started = time.monotonic()
        self.crew = self.states.crew = self.mustered(self.clock.poll)
        self.clock.preparation = time.monotonic() - started
        settings = Settings(
            instances=len(self.actions),
            components=len(self.states.components.kinds),
            memories=sum(part.width for part in self.states.components.memories),
            later=len(self.later),
            symmetry=self.options.symmetry,
            keep_edges=bool(self.conclusions.about_graph),
            factors=self.factors,
        )
        self.crew.call("begin", dict.fromkeys(range(self.shards), (self.crew.share(settings), self.crew.share(self.packing.layout))))
        dealt = self.roots.parcels()
        self.crew.call("adopt", {shard: (parcel,) for shard, parcel in dealt.items()})
        self.known = np.array([len(dealt[shard].rows) if shard in dealt else 0 for shard in range(self.shards)])
        self._ask_new()

    def _level(self) -> str | None:
        """Expand all states that were not expanded yet, and not those found meanwhile."""
        end = self.known
        self.starts.append(end)
        self.levels.append(0)
        stopped = None
        while stopped is None and (self.next < end).any():
            stopped = self._poll() or self._round(np.minimum(end, self.next + self.limits.round))
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
        self.asked = (self.deciding.about_steps, self.deciding.about_states)
        found: list[Expanded] = self._all("expand", {shard: (int(number),) for shard, number in enumerate(last)})
        coming = np.sum([one.sent for one in found], axis=0)
        if (self.known + coming > self.limits.states).any():
            return f"a shard numbers no more than {self.limits.states:,} states"
        absorbed = self.crew.exchange()
        if [one.came for one in absorbed] != coming.tolist():
            raise LostError("not all successors that were sent came to their shards")
        is_beyond = self._take_stock(np.array([one.known for one in absorbed]))
        self.next = last
        self.taken += np.sum([one.taken for one in found], axis=0)
        self._judge_steps(found)
        self._ask_new()
        return limit_of_states(sum(self.levels)) if is_beyond else None

    def _take_stock(self, known: Longs) -> bool:
        """Note how many states each shard knows now; return whether more than the limit, which are forgotten, the last first."""
        most, new = self.options.max_states, known - self.known
        is_beyond = most is not None and sum(self.levels) + int(new.sum()) > most
        if most is not None and is_beyond:
            left = most - sum(self.levels) - np.cumsum(new) + new
            new = np.clip(left, 0, new)
            self.crew.call("forget", {shard: (int(number),) for shard, number in enumerate(self.known + new)})
        self.known = self.known + new
        self.levels[-1] += int(new.sum())
        return is_beyond

    # -- learning --

    def _all(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method of shards that may miss something, until nothing is missing; return the answers in their order."""
        answers: dict[int, Any] = dict.fromkeys(arguments)
        waiting = arguments
        while waiting:
            self._inform()
            heard = self.crew.call(method, waiting)
            missing = {shard: answer for shard, answer in heard.items() if isinstance(answer, Missing)}
            answers |= heard
            waiting = {shard: arguments[shard] for shard in missing}
            self._learn(missing.values())
        return list(answers.values())

    def _inform(self) -> None:
        """Tell all shards what is known and asked now, if that has changed."""
        of_steps, of_states = self.asked[0], np.concatenate((self.asked[1], self.later))
        about = (of_steps.tolist(), of_states.tolist())
        if self.informed == about:
            return
        learner = self.learner
        knowledge = Knowledge(
            trees=learner.forest.arrays(),
            layout=self.packing.layout,
            renamings=learner.renamings,
            actions=learner.screen(self.actions),
            of_steps=learner.screen(of_steps),
            of_states=learner.screen(of_states),
        )
        self.crew.call("learn", dict.fromkeys(range(self.shards), (self.crew.share(knowledge),)))
        self.informed = about

    def _learn(self, missing: Iterable[Missing]) -> None:
        """Learn each thing that is missing once, in the order of shards and states."""
        known: set[int] = set()
        for one in missing:
            for root, instance, key, codes in zip(*(part.tolist() for part in one), strict=True):
                if key not in known:
                    known.add(key)
                    self._resolve(root, instance, codes)
        if known:
            self.learner.rename_new()
            self.packing.fit()
            self.informed = ()
            self.clock.poll()

    def _resolve(self, root: int, instance: int, codes: list[int]) -> None:
        if root in self.functions.steps:
            after = self.learner.successor(self.learner.resolve(instance, codes), codes)
            self.learner.resolve(root, [*codes, *(after or ()), instance])
        else:
            self.learner.resolve(root, codes)

    # -- judging --

    def _judge_steps(self, found: Sequence[Expanded]) -> None:
        """Decide what steps decide."""
        self.deciding.note(self.asked[0], self._merged([one.findings for one in found], len(self.actions)))
        impossible = [int(one.impossible[0]) for one in found]
        steps = [self._scattered(shard, step, len(self.actions)) for shard, step in enumerate(impossible) if step >= 0]
        if steps and IMPOSSIBLE not in self.conclusions.decided:
            self.deciding.decide((IMPOSSIBLE_STEP, min(steps)))

    def _ask_new(self) -> None:
        """Ask about all states that are new, and decide what they decide."""
        self.asked = (self.asked[0], self.deciding.about_states)
        found = self._all("ask", dict.fromkeys(range(self.shards), ()))
        self.deciding.note(self.asked[1], self._merged(found, 1))

    def _merged(self, found: Sequence[Findings], times: int) -> Findings:
        """Return what all shards found: presupposed if anywhere, decided where the first shard did first."""
        presupposed = np.bitwise_or.reduce([one.presupposed for one in found])
        first = np.full(len(presupposed), -1, np.int64)
        for shard, one in reversed(list(enumerate(found))):
            first = np.where(one.first < 0, first, self._scattered(shard, one.first, times))
        return Findings(presupposed, first)

    def _scattered(self, shard: int, place: Any, times: int) -> Any:
        """Return where something was found among all states, or among all states times so many steps."""
        return (shard << NUMBER_BITS) * times + place

    def _check_sample(self) -> None:
        """Run every function on some real states, evenly chosen among those of each shard, and compare with what its tree says."""
        some = {}
        for shard, known in enumerate(self.known.tolist()):
            if known:
                some[shard] = (np.arange(0, known, max(1, known * self.shards // SAMPLED)),)
        roots = (*range(len(self.actions)), *self.functions.states, *self.functions.later)
        for states in self.crew.call("codes", some).values():
            for codes in states.tolist():
                for root in roots:
                    self.learner.check_again(root, codes)

    def _judge_graph(self) -> None:
        """Judge what is decided on the whole graph; where shards are lost meanwhile, that stays open."""
        from hwmark.checker.eventually import Graph  # noqa: PLC0415 - scipy, which only this needs

        numbering = Numbering(self.starts, self.known)
        try:
            first_edge, targets, labels, moved = gathered_edges(self.crew, numbering, len(self.actions))
            changes = moved if self.system.observers and not self.options.symmetry else None

            def run_to(number: int) -> Run:
                return self.states.run_to(numbering.place(number))

            graph = Graph(first_edge, targets, labels, changes, levels=self.levels, steps=self.system.steps, run_to=run_to)
            self.conclusions.judge_graph(graph, gathered_answers(self.crew, numbering, len(self.later)), self.clock.limit)
        except StoppedError as error:
            self.conclusions.graph_stopped = str(error)


def factors(components: int) -> NDArray[np.uint64]:
    """Return by what the codes of a state are multiplied to find its owner: odd numbers without a pattern."""
    golden, mask, found = 0x9E3779B97F4A7C15, (1 << 64) - 1, []
    for place in range(1, components + 1):
        value = place * golden & mask
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & mask
        value = (value ^ value >> 27) * 0x94D049BB133111EB & mask
        found.append((value ^ value >> 31) | 1)
    return np.array(found, np.uint64)
