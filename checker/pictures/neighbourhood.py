# SPDX-License-Identifier: Apache-2.0
"""The neighbourhood of a run in the state graph: its states, and all that are reached within a few steps of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from hwmark.checker.diff import changes
from hwmark.checker.errors import InputError
from hwmark.checker.replay import Replayed
from hwmark.checker.system import own_state
from hwmark.checker.wording import entries
from hwmark.model.machine import ImpossibleError

from .canvas import Canvas, Pen
from .graph import Edge, Line, Node, draw_graph
from .palette import FAINT, INK, MARGIN, PAPER, SMALL, STRONG_PANEL, WRONG, WRONG_PANEL
from .panels import heading, verdict
from .state_path import change_lines
from .story import Story
from .text import wrap

if TYPE_CHECKING:
    from networkx import DiGraph  # type: ignore[import-untyped]

READABLE = 60
"""Nodes above which a graph is no longer a picture."""

PAGE, ROOM, NARROW, FINE = 760.0, 300.0, 226.0, 11.0
"""Widths of the page and of nodes of the run and beside it, and the font size of the latter."""


def explore_around(replayed: Replayed, *, steps: int = 1, tail: int | None = None, limit: int = READABLE) -> DiGraph:
    """Return the graph of a run (its last ``tail`` steps, or all) and of the states within ``steps`` steps of it, forward.

    Nodes are states, with ``number`` (order of discovery); edges have the list ``steps``. Raises ``InputError`` above
    ``limit`` states.
    """
    from networkx import DiGraph  # noqa: PLC0415 - only this picture pays for it

    if steps < 0 or (tail is not None and tail < 0):
        raise InputError("a neighbourhood reaches a number of steps, 0 or more")
    graph = DiGraph()
    instances = list(replayed.machine.instances())
    level = path(replayed, tail)
    for state in level:
        _add(graph, state, _advice(replayed, steps, tail, limit), limit)
    for (before, after), step in zip(itertools.pairwise(level), taken(replayed, tail), strict=True):
        _connect(graph, before, after, step)
    for _ in range(steps):
        found: list[Any] = []
        for state in dict.fromkeys(level):
            for step, after in _successors(instances, state):
                if _add(graph, after, _advice(replayed, steps, tail, limit), limit):
                    found.append(after)
                _connect(graph, state, after, str(step))
        level = found
    return graph


def path(replayed: Replayed, tail: int | None) -> list[Any]:
    """Return the states of the run that are drawn."""
    states = [own_state(state) for state in replayed.states]
    return states if tail is None else states[-tail - 1 :]


def taken(replayed: Replayed, tail: int | None) -> list[str]:
    """Return the steps of the run that are drawn."""
    steps = [str(step) for step in replayed.steps]
    return steps if tail is None else steps[len(steps) - min(tail, len(steps)) :]


def _successors(instances: list[tuple[Any, Any]], state: Any) -> Iterator[tuple[Any, Any]]:
    for step, take in instances:
        try:
            after = take(state)
        except ImpossibleError:
            continue
        if after is not None:
            yield step, after


def _add(graph: DiGraph, state: Any, advice: str, limit: int) -> bool:
    """Add a state; return whether it is new."""
    if state in graph:
        return False
    if len(graph) >= limit:
        raise InputError(advice)
    graph.add_node(state, number=len(graph))
    return True


def _advice(replayed: Replayed, steps: int, tail: int | None, limit: int) -> str:
    """Return what to do about a neighbourhood that is too large."""
    bounds = ", ".join(f"{name}={value}" for name, value in entries(replayed.machine.bounds))
    fewer = f"fewer steps around it than {steps}, " if steps > 1 else ""
    shorter = f"only the end of the run (tail below {len(replayed.steps) if tail is None else tail}), "
    return f"more than {limit} states are near this run, too many for one picture: ask for {fewer}{shorter}or smaller bounds than {bounds}"


def _connect(graph: DiGraph, before: Any, after: Any, step: str) -> None:
    if not graph.has_edge(before, after):
        graph.add_edge(before, after, steps=[])
    names = graph.edges[before, after]["steps"]
    if step not in names:
        names.append(step)


@frozen
class Nearby:
    """What is drawn: the graph, and which of its nodes and edges are the run's, by number."""

    story: Story
    graph: Any
    first: int
    path: tuple[int, ...]
    taken: Mapping[tuple[int, int], str]

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes in order of number."""
        for number, state in enumerate(self.graph):
            before = min(self.graph.predecessors(state), key=self._number, default=None)
            if number in self.path:
                yield self._of_run(number)
            else:
                yield self._beside(before, state)

    def edges(self) -> Iterator[Edge]:
        """Yield the arrows; their steps stand in the nodes that they were found through, else beside them."""
        for before, after, names in self.graph.edges(data="steps"):
            ends = (self._number(before), self._number(after))
            if ends in self.taken:
                yield Edge(*ends, (self.taken[ends],), Pen(INK, 2.4), weight=20)
            elif ends[1] in self.path or before != min(self.graph.predecessors(after), key=self._number):
                yield Edge(*ends, tuple(wrap(names[0], FINE, NARROW, lines=2)), loose=ends[1] <= ends[0])
            else:
                yield Edge(*ends)

    def _number(self, state: Any) -> int:
        return int(self.graph.nodes[state]["number"])

    def _of_run(self, number: int) -> Node:
        """Return the node of a state of the run: what the step to it changed, and at the end what it violates."""
        place = self.path.index(number)
        row = self.story.rows[self.first + place]
        lines = [Line(f"state {row.number} of the run", bold=True)]
        if place:
            lines += change_lines(self.story.view, row.changes, SMALL, ROOM)
        if place < len(self.path) - 1 or not self.story.verdict:
            return Node(tuple(lines), Pen(INK, 2), STRONG_PANEL, column="run")
        said = [Line(line, bold=True, colour=WRONG) for line in wrap(self.story.verdict[0], SMALL, ROOM, bold=True, lines=2)]
        return Node((*lines, *said), Pen(WRONG, 2.8), WRONG_PANEL, column="run")

    def _beside(self, before: Any, state: Any) -> Node:
        """Return the node of a state beside the run: the steps that lead to it, and what they change."""
        names = self.graph.edges[before, state]["steps"]
        said = [Line(line, bold=True) for name in names for line in wrap(name.replace("(", " ("), FINE, NARROW, bold=True, lines=2)]
        lines = change_lines(self.story.view, changes(before, state), FINE, NARROW)
        return Node((*said, *lines), Pen(FAINT, 1), PAPER, font_size=FINE)


def draw(story: Story, replayed: Replayed, graph: DiGraph, tail: int | None) -> tuple[Canvas, tuple[float, float]]:
    """Draw a neighbourhood that was explored; return the canvas, and how large the page is."""
    numbers = tuple(graph.nodes[state]["number"] for state in path(replayed, tail))
    steps = dict(zip(itertools.pairwise(numbers), taken(replayed, tail), strict=True))
    near = Nearby(story, graph, len(replayed.states) - len(numbers), numbers, steps)
    canvas = Canvas()
    y = heading(canvas, story, PAGE)
    right, y = draw_graph(canvas, list(near.nodes()), list(near.edges()), (MARGIN, y + 4))
    page = max(PAGE, right + MARGIN)
    return canvas, (page, verdict(canvas, story, page, y + 12) + MARGIN)
