# SPDX-License-Identifier: Apache-2.0
"""The search of the tables engine: chunk by chunk, each first walked by kernels, then learned where trees know nothing.

A chunk of states is expanded into slots, one for each step, in the order of states and instances. What no tree answers is
learned from one state each, and tried again, until nothing is missing. Then successors are looked up by shards of the
table, and those that are new are numbered in the order of slots: the numbering, the parents and so the runs are those of
the reference engine, whatever the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, frozen

from . import kernels
from .kernels import Findings, Layout, Misses, Slots
from .learner import Learner
from .rows import Rows, grown
from .values import NotLearnableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]

MOST_SLOTS = 1 << 19
"""Slots of one chunk."""
MOST_INSTANCES = 2**16 - 1
"""The most steps out of one state that are numbered."""
LEAST_FOR_THREADS = 256
"""States of a chunk that are worth sharing among threads."""
MOST_NOTED = 1 << 16
"""Misses of answers that one thread notes before they are learned."""


NO_SLOTS = np.zeros(0, np.int64)


@frozen(eq=False)
class Held:
    """The states that are held in memory, to be expanded."""

    held: Rows

    @property
    def first(self) -> int:
        """The number of the first one."""
        return self.held.first

    @property
    def end(self) -> int:
        """The number after the last one."""
        return self.held.total

    def packed_as(self, _: Layout) -> NDArray[np.uint64]:
        """Return their rows, whose layout is the only one."""
        return self.held.rows


@define(eq=False)
class Window:
    """States that are stored, and were read to be expanded: their packed rows, and the number of the first one."""

    first: int
    rows: NDArray[np.uint64]
    layout: Layout

    @property
    def end(self) -> int:
        """The number after the last one."""
        return self.first + len(self.rows)

    def packed_as(self, layout: Layout) -> NDArray[np.uint64]:
        """Return their rows in a layout, which stays theirs."""
        if not all(map(np.array_equal, layout, self.layout)):
            rows = np.zeros((len(self.rows), int(layout.word.max(initial=0)) + 1), np.uint64)
            kernels.repack_rows(self.layout, self.rows, layout, rows)
            self.rows, self.layout = rows, layout
        return self.rows


class Chunks:
    """Expands states, and judges what it finds, with several threads."""

    def __init__(self, learner: Learner, rows: Rows, threads: int, *, keep_edges: bool) -> None:
        """Prepare the arrays that all chunks share."""
        self.learner, self.rows, self.threads, self.keep_edges = learner, rows, threads, keep_edges
        self.instances = len(learner.system.takes)
        if self.instances > MOST_INSTANCES:
            raise NotLearnableError(f"actions have more than {MOST_INSTANCES:,} combinations of choices")
        self.actions = np.arange(self.instances, dtype=np.int32)
        self.states = max(1, min(1 << 13, MOST_SLOTS // max(1, self.instances)))
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.taken = np.zeros(max(1, self.instances), np.int64)
        self.targets, self.labels = np.zeros(1024, np.uint32), np.zeros(1024, np.uint16)
        self.degrees = np.zeros(1024, np.uint16)
        self.edges = 0
        self.window: Held | Window = Held(rows)
        self.seconds_learning = 0.0
        self.poll: Callable[[], None] = lambda: None
        room = max(self.states * self.instances, len(learner.system.initial))
        self.slots = Slots(
            status=np.zeros(room, np.uint8),
            source=np.zeros(room, np.int64),
            instance=np.zeros(room, np.int32),
            hashes=np.zeros(room, np.uint64),
            rows=np.zeros((0, 0), np.uint64),
            keys=np.zeros((0, 0), np.uint64),
            target=np.zeros(room, np.int64),
            place=np.zeros(room, np.int64),
            unasked=np.zeros(room, np.uint8),
        )
        self._allocate_rows()
        most = max(-(-self.states // self.threads), min(self.states, LEAST_FOR_THREADS))  # states of a chunk in one thread
        self.misses = [_misses(most * self.instances) for _ in range(self.threads)]
        self.unanswered = [_misses(MOST_NOTED) for _ in range(self.threads)]

    def _allocate_rows(self) -> None:
        """Make the slots as wide as rows are now."""
        shape = (len(self.slots.status), self.rows.rows.shape[1])
        packed = np.zeros(shape, np.uint64)
        self.slots = self.slots._replace(rows=packed, keys=np.zeros(shape, np.uint64) if self.rows.symmetry else packed)

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()

    def begin(self, initial: Sequence[Sequence[int]]) -> list[int]:
        """Number the initial states, given by their codes; return for each different one its place among them."""
        self.rows.fit()
        self._allocate_rows()
        for place, codes in enumerate(initial):
            self.slots.status[place], self.slots.source[place], self.slots.instance[place] = kernels.FILLED, 0, 0
            kernels.pack(
                self.learner.forest.arrays(), self.rows.layout, self.learner.renamings, np.array(codes, np.int32), self.slots, place
            )
        keep_edges, self.keep_edges = self.keep_edges, False  # nothing leads to them
        self._number(np.array([[0, len(initial)]], np.int64), np.iinfo(np.int64).max)
        self.keep_edges = keep_edges
        self.taken[:] = 0
        return np.flatnonzero(self.slots.place[: len(initial)] >= 0).tolist()

    def _each(self, work: Callable[[int], Any], parts: int) -> list[Any]:
        """Do the work of each part, at once if there are threads."""
        if self.pool is None or parts == 1:
            return [work(part) for part in range(parts)]
        return list(self.pool.map(work, range(parts)))

    # -- expanding --

    def expand(self, window: Held | Window, first: int, last: int, questions: NDArray[np.int32], most: int) -> tuple[Findings, int, bool]:
        """Take every step from these states of a window, and number what is new.

        Returns what the questions about steps answered, the first step held to be impossible (-1: none), and whether there
        would be more than ``most`` states: then nothing is told of the steps after the one that leads to the first too many.
        """
        self.window = window
        first, last = first - window.first, last - window.first
        parts = self.threads if last - first >= LEAST_FOR_THREADS else 1
        bounds = [first + (last - first) * part // parts for part in range(parts + 1)]
        found = [findings(len(questions)) for _ in range(parts)]
        impossible = [np.full(1, -1, np.int64) for _ in range(parts)]
        trees, screen, asked = self.learner.forest.arrays(), self.learner.screen(self.actions), self.learner.screen(questions)

        rows = window.packed_as(self.rows.layout)

        def work(part: int) -> tuple[int, int, int]:
            return kernels.expand(
                trees,
                self.rows.layout,
                self.learner.renamings,
                screen,
                asked,
                self.instances,
                rows,
                bounds[part],
                bounds[part + 1],
                NO_SLOTS,
                self.slots,
                (bounds[part] - first) * self.instances,
                found[part],
                impossible[part],
                self.misses[part],
                self.unanswered[part],
            )

        done = self._each(work, parts)
        segments = np.array([[(bounds[part] - first) * self.instances, done[part][0]] for part in range(parts)], np.int64)
        noted = [(self.misses[part], done[part][1]) for part in range(parts)]
        noted += [(self.unanswered[part], done[part][2]) for part in range(parts)]
        self._complete(noted, segments, questions, found[0], impossible[0])
        stopped = self._number(segments, most)
        answers, steps = self._merged(questions, found), [int(one[0]) for one in impossible if one[0] >= 0]
        if stopped >= 0:
            last_step = int(self.slots.source[stopped]) * self.instances + int(self.slots.instance[stopped])
            answers = answers._replace(first=np.where(answers.first > last_step, -1, answers.first))
            steps = [step for step in steps if step <= last_step]
        before = window.first * self.instances
        return shifted(answers, before), before + min(steps) if steps else -1, stopped >= 0

    def _complete(
        self, noted: list[tuple[Misses, int]], segments: Longs, questions: NDArray[np.int32], found: Findings, impossible: Longs
    ) -> None:
        """Learn what is missing, and try again, until nothing is."""
        while any(count for _, count in noted):
            self._learn(noted, self._codes_of_slots)
            again = np.concatenate([start + np.flatnonzero(self._is_open(start, end)) for start, end in segments])
            misses = self.misses[0] if len(again) <= len(self.misses[0].where) else _misses(len(again))
            _, missed, unknown = kernels.expand(
                self.learner.forest.arrays(),
                self.rows.layout,
                self.learner.renamings,
                self.learner.screen(self.actions),
                self.learner.screen(questions),
                self.instances,
                self.window.packed_as(self.rows.layout),
                0,
                0,
                again,
                self.slots,
                0,
                found,
                impossible,
                misses,
                self.unanswered[0],
            )
            noted = [(misses, missed), (self.unanswered[0], unknown)]

    def _is_open(self, start: int, end: int) -> Any:
        status = self.slots.status[start:end]
        return (status == kernels.MISSING) | ((status == kernels.FILLED) & (self.slots.unasked[start:end] > 0))

    def _number(self, segments: Longs, most: int) -> int:
        """Look up the successors, and number those that are new; return the slot of the first state too many, or -1."""
        coming = np.zeros(kernels.SHARDS, np.int64)
        kernels.count_shards(self.slots, segments, coming)
        rows = self.rows
        rows.reserve(coming)
        parts = self.threads if int(coming.sum()) >= LEAST_FOR_THREADS else 1
        cuts = [kernels.SHARDS * part // parts for part in range(parts + 1)]
        known = rows.known

        def work(part: int) -> None:
            kernels.look_up(self.slots, segments, rows.keys, known, rows.table, cuts[part], cuts[part + 1], rows.counts)

        self._each(work, parts)
        edges = self.edges
        if self.keep_edges:
            self._reserve_edges(int(coming.sum()))
        rows.known, self.edges, stopped = kernels.number_new(
            self.slots,
            segments,
            rows.rows,
            rows.keys,
            rows.symmetry,
            known,
            most - rows.first,
            rows.table,
            rows.parents,
            rows.via,
            self.taken,
            self.keep_edges,
            self.targets,
            self.labels,
            self.degrees[self.window.first :],
            self.edges,
        )
        rows.parents[known : rows.known] += np.uint32(self.window.first)
        self.targets[edges : self.edges] += np.uint32(rows.first)
        return stopped

    def _reserve_edges(self, coming: int) -> None:
        if self.edges + coming > len(self.targets):
            room = max(self.edges + coming, len(self.targets) + len(self.targets) // 2)
            self.targets, self.labels = grown(self.targets, room), grown(self.labels, room)
        if self.window.end > len(self.degrees):
            self.degrees = grown(self.degrees, max(self.window.end, len(self.degrees) + len(self.degrees) // 2))

    def drop_edges(self) -> None:
        """Keep no edges any more."""
        self.keep_edges, self.edges = False, 0
        self.targets, self.labels, self.degrees = np.zeros(1, np.uint32), np.zeros(1, np.uint16), np.zeros(1, np.uint16)

    def renumber_edges(self, start: int, first: int, numbers: Longs) -> None:
        """Let edges from ``start`` on that lead to candidates, of which the first is ``first``, lead to these numbers instead."""
        targets = self.targets[start : self.edges]
        to_candidates = targets >= first
        targets[to_candidates] = numbers[targets[to_candidates] - np.uint32(first)]

    @property
    def bytes_held(self) -> int:
        """How many bytes the arrays take."""
        held = self.targets.nbytes + self.labels.nbytes + self.degrees.nbytes
        return held + sum(array.nbytes for array in self.slots if array is not self.slots.keys or self.rows.symmetry)

    # -- asking --

    def ask(self, first: int, last: int, questions: NDArray[np.int32], later: NDArray[np.int32], answers: NDArray[np.uint8]) -> Findings:
        """Ask the questions about these states; what those for later answer is kept in ``answers``."""
        place = self.rows.first
        first, last, answers = first - place, last - place, answers[place:]
        parts = self.threads if last - first >= LEAST_FOR_THREADS else 1
        found, asked = [findings(len(questions)) for _ in range(parts)], np.concatenate((questions, later))
        states = [np.arange(first + (last - first) * part // parts, first + (last - first) * (part + 1) // parts) for part in range(parts)]
        while parts:
            trees, screen = self.learner.forest.arrays(), self.learner.screen(asked)

            def work(part: int, trees: Any = trees, screen: Any = screen, states: Any = states) -> tuple[int, int]:
                layout, rows, noted = self.rows.layout, self.rows.rows, self.unanswered[part]
                return kernels.ask(trees, layout, screen, len(questions), rows, states[part], found[part], answers, noted)

            done = self._each(work, parts)
            if not any(again for _, again in done):
                break
            self._learn([(self.unanswered[part], done[part][0]) for part in range(parts)], self._codes_of_states)
            states = [states[part][: done[part][1]] for part in range(parts)]
        return shifted(self._merged(questions, found), place)

    def _merged(self, questions: NDArray[np.int32], found: Sequence[Findings]) -> Findings:
        """Return what several threads found together, and remember what need not be found again."""
        together = merged(found)
        self.learner.presupposed[questions] |= together.presupposed
        return together

    # -- learning --

    def _learn(self, noted: Sequence[tuple[Misses, int]], codes_of: Callable[[Longs, Sequence[int]], list[list[int]]]) -> None:
        """Learn each thing that is missing once, in the order of states, from the first that misses it."""
        started = time.perf_counter()
        where = np.concatenate([misses.where[:count] for misses, count in noted])
        roots = np.concatenate([misses.root[:count] for misses, count in noted])
        keys = np.concatenate([misses.key[:count] for misses, count in noted])
        _, firsts = np.unique(keys, return_index=True)
        firsts.sort()
        learner, numbers = self.learner, roots[firsts].tolist()
        for number, codes in zip(numbers, codes_of(where[firsts], numbers), strict=True):
            learner.resolve(number, codes)
        learner.rename_new()
        if self.rows.fit():
            self._allocate_rows()
            self.slots.unasked[:] = 1  # what was filled has another layout now
        self.seconds_learning += time.perf_counter() - started
        self.poll()

    def _codes_of_states(self, where: Longs, _numbers: Sequence[int]) -> list[list[int]]:
        return self._unpacked(self.rows.rows[where])

    def _unpacked(self, rows: NDArray[np.uint64]) -> list[list[int]]:
        codes = np.empty((len(rows), len(self.rows.layout.word)), np.int32)
        kernels.unpack_rows(self.rows.layout, rows, codes)
        return codes.tolist()

    def _codes_of_slots(self, where: Longs, numbers: Sequence[int]) -> list[list[int]]:
        codes = self._unpacked(self.window.packed_as(self.rows.layout)[self.slots.source[where]])
        learner = self.learner
        for place, number in enumerate(numbers):
            if number >= self.instances:
                step = int(self.slots.instance[where[place]])
                after = learner.successor(learner.resolve(step, codes[place]), codes[place])
                codes[place] = [*codes[place], *(after or ()), step]
        return codes


def _misses(room: int) -> Misses:
    return Misses(np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int64))


def findings(questions: int) -> Findings:
    """Return findings that know nothing yet."""
    return Findings(np.zeros(questions, np.uint8), np.full(questions, -1, np.int64))


def merged(found: Sequence[Findings]) -> Findings:
    """Return what several threads found together: presupposed if anywhere, decided where first."""
    presupposed = np.bitwise_or.reduce([one.presupposed for one in found])
    latest = np.iinfo(np.int64).max
    first = np.min([np.where(one.first < 0, latest, one.first) for one in found], axis=0)
    return Findings(presupposed, np.where(first == latest, -1, first))


def shifted(found: Findings, places: int) -> Findings:
    """Return findings about states or steps whose numbers are so much higher."""
    return found._replace(first=np.where(found.first < 0, -1, found.first + places))
