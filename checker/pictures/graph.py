# SPDX-License-Identifier: Apache-2.0
"""Graphs of text boxes: Graphviz says where everything stands, and the canvas draws it.

Graphviz is given sizes only, no text. So a graph looks the same whatever fonts a machine has, nothing that a trace
file says ever reaches DOT, and every picture speaks in one hand. ``dot`` on the PATH is used, else the libraries that
come with the ``pygraphviz`` wheel.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from hwmark.checker.errors import InputError

from .canvas import Box, Canvas, Font, Pen
from .palette import FAINT, INK, PANEL, QUIET, SMALL, TINY, line_height
from .text import width

PAD, POINTS_PER_INCH = 10.0, 72.0
PLAIN_NODE, PLAIN_EDGE = Pen(FAINT, 1), Pen(QUIET, 1.2)


@frozen
class Line:
    """One line of text in a node."""

    text: str
    bold: bool = False
    colour: str = INK


@frozen
class Node:
    """A box of lines; ``pen`` is its border."""

    lines: tuple[Line, ...]
    pen: Pen = PLAIN_NODE
    fill: str = PANEL
    font_size: float = SMALL
    column: str = ""
    """Nodes of one column stand below each other where that is possible."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in pixels."""
        wide = max([width(line.text, self.font_size, bold=line.bold) for line in self.lines], default=0)
        return wide + 2 * PAD, len(self.lines) * line_height(self.font_size) + 2 * PAD - 2


@frozen
class Edge:
    """An arrow between two nodes given by number, with lines of text beside it; ``loose``: it does not set the order."""

    tail: int
    head: int
    lines: tuple[str, ...] = ()
    pen: Pen = PLAIN_EDGE
    loose: bool = False
    weight: int = 1
    """The heavier, the shorter and straighter."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the text in pixels."""
        return max([width(line, TINY + 1) for line in self.lines], default=0) + 10, len(self.lines) * line_height(TINY + 1) + 4


def draw_graph(canvas: Canvas, nodes: Sequence[Node], edges: Sequence[Edge], corner: tuple[float, float]) -> tuple[float, float]:
    """Draw a graph from the top down with its upper left corner here; return its right and lower edge."""
    left, top = corner
    placed = json.loads(run_dot(dot_source(nodes, edges), "json"))
    high = float(placed["bb"].split(",")[3])

    def at(point: str) -> tuple[float, float]:
        x, y = (float(part) for part in point.split(","))
        return left + x, top + high - y

    for drawn in placed.get("edges", ()):
        edge = edges[int(drawn["id"])]
        _draw_edge(canvas, edge, [at(point.removeprefix("e,")) for point in drawn["pos"].split()])
        if edge.lines:
            x, y = at(drawn["lp"])
            _draw_label(canvas, edge, x - edge.size[0] / 2, y - edge.size[1] / 2)
    for drawn in placed.get("objects", ()):
        node = nodes[int(drawn["id"])]
        x, y = at(drawn["pos"])
        _draw_node(canvas, node, Box(x - node.size[0] / 2, y - node.size[1] / 2, *node.size))
    return left + float(placed["bb"].split(",")[2]), top + high


def dot_source(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """Return the graph in DOT: numbers and sizes only."""
    from graphviz import Digraph  # type: ignore[import-untyped]  # noqa: PLC0415 - only pictures of graphs pay for it

    graph = Digraph(graph_attr={"nodesep": "0.35", "ranksep": "0.3"}, node_attr={"shape": "box", "fixedsize": "true", "label": ""})
    for number, node in enumerate(nodes):
        inches = [f"{length / POINTS_PER_INCH:.4f}" for length in node.size]
        graph.node(f"n{number}", id=str(number), width=inches[0], height=inches[1], **({"group": node.column} if node.column else {}))
    for number, edge in enumerate(edges):
        attributes = {"id": str(number), "weight": str(edge.weight), **({"constraint": "false"} if edge.loose else {})}
        if edge.lines:
            wide, high = (round(length) for length in edge.size)
            attributes["label"] = f'<<TABLE BORDER="0" FIXEDSIZE="TRUE" WIDTH="{wide}" HEIGHT="{high}"><TR><TD></TD></TR></TABLE>>'
        graph.edge(f"n{edge.tail}", f"n{edge.head}", **attributes)
    return str(graph.source)


def run_dot(source: str, output: str) -> str:
    """Lay out a graph given in DOT; raises ``InputError`` where neither ``dot`` nor ``pygraphviz`` is there."""
    if shutil.which("dot"):
        from graphviz import pipe  # noqa: PLC0415

        return str(pipe("dot", output, source.encode(), quiet=True), "utf-8")
    try:
        import pygraphviz  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise InputError("drawing a graph needs Graphviz: install pygraphviz, or put dot on the PATH") from None
    with _muted():
        drawn: Any = pygraphviz.AGraph(string=source).draw(format=output, prog="dot")
    return bytes(drawn).decode()


@contextmanager
def _muted() -> Iterator[None]:
    """Drop what is written to the standard error: Graphviz's library remarks there on every tight bend, past Python."""
    sys.stderr.flush()
    kept = os.dup(2)
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _draw_node(canvas: Canvas, node: Node, box: Box) -> None:
    canvas.rectangle(box, node.pen, fill=node.fill, rounding=5)
    for number, line in enumerate(node.lines):
        y = box.top + PAD + node.font_size - 1 + number * line_height(node.font_size)
        canvas.text(line.text, box.left + PAD, y, Font(node.font_size, line.colour, bold=line.bold))


def _draw_edge(canvas: Canvas, edge: Edge, points: list[tuple[float, float]]) -> None:
    """Draw an edge whose first point is its arrowhead's tip, as Graphviz writes it."""
    tip, *curve = points
    canvas.line(curve, edge.pen, curve=True)
    canvas.arrow([curve[-1], tip], edge.pen)


def _draw_label(canvas: Canvas, edge: Edge, left: float, top: float) -> None:
    for number, line in enumerate(edge.lines):
        canvas.text(line, left + 5, top + TINY + 2 + number * line_height(TINY + 1), Font(TINY + 1, edge.pen.colour))
