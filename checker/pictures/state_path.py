# SPDX-License-Identifier: Apache-2.0
"""The state path: one node for each state of a run, in which stands what the step changed, old → new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hwmark.checker.diff import Change
from hwmark.checker.replay import Replayed
from hwmark.checker.system import own_state
from hwmark.checker.wording import entries, written
from hwmark.spec.view import View

from .canvas import Canvas, Pen
from .graph import Edge, Line, Node, draw_graph
from .palette import FAINT, INK, MARGIN, PANEL, PAPER, QUIET, SMALL, STRONG_PANEL, WRONG, WRONG_PANEL
from .panels import heading, verdict
from .story import Row, Story
from .text import wrap

ROOM, EDGE_ROOM, PAGE = 560.0, 420.0, 760.0
LINES = 3
"""Lines that one value of the initial state, or one change, may take."""


def draw(story: Story, replayed: Replayed, *, framed: bool = True) -> tuple[Canvas, tuple[float, float]]:
    """Draw the path, ``framed`` by headline and verdict; return the canvas, and how large the page is."""
    canvas = Canvas()
    nodes = [_initial(story, replayed), *(_after(story, row) for row in story.rows[1:])]
    edges = [Edge(row.number - 1, row.number, _step_lines(row), Pen(INK, 1.4)) for row in story.rows[1:]]
    if story.loop is not None and story.loop < len(nodes) - 1:
        edges.append(Edge(len(nodes) - 1, story.loop, ("repeats for ever",), Pen(WRONG, 2), loose=True))
    y = heading(canvas, story, PAGE) if framed else MARGIN
    right, y = draw_graph(canvas, nodes, edges, (MARGIN, y + 4))
    page = max(PAGE, right + MARGIN)
    if framed:
        y = verdict(canvas, story, page, y + 12)
    return canvas, (page, y + MARGIN)


def _initial(story: Story, replayed: Replayed) -> Node:
    """Return the node with the whole initial state."""
    lines = [Line("state 0: the start", bold=True)]
    for name, value in entries(own_state(replayed.states[0])):
        lines += [Line(line) for line in wrap(f"{name}: {written(value, story.view, name)}", SMALL, ROOM, lines=LINES)]
    return _node(story, lines, 0, STRONG_PANEL)


def _after(story: Story, row: Row) -> Node:
    """Return the node of a state after a step: what the step changed."""
    lines = [Line(f"state {row.number}", bold=True), *change_lines(story.view, row.changes, SMALL, ROOM)]
    return _node(story, lines, row.number, PANEL)


def _node(story: Story, lines: list[Line], number: int, fill: str) -> Node:
    """Return a node; the last one says what is violated."""
    if number != len(story.rows) - 1 or not story.verdict:
        return Node(tuple(lines), Pen(FAINT, 1.2), fill)
    said = [line for part in (story.verdict[0], story.verdict[-1]) for line in wrap(part, SMALL, ROOM, bold=True, lines=LINES)]
    return Node((*lines, *(Line(line, bold=True, colour=WRONG) for line in said)), Pen(WRONG, 2.6), WRONG_PANEL if number else PAPER)


def change_lines(view: View, changed: Sequence[Change], size: float, room: float) -> Iterator[Line]:
    """Yield what a step changed, as lines that fit into a node."""
    for one in changed:
        text = f"{one.path}: {written(one.before, view, one.path)} → {written(one.after, view, one.path)}"
        yield from (Line(line) for line in wrap(text, size, room, lines=LINES))
    if not changed:
        yield Line("nothing changes", colour=QUIET)


def _step_lines(row: Row) -> tuple[str, ...]:
    return tuple(wrap(f"{row.number}  {row.step}", SMALL, EDGE_ROOM, lines=2))
