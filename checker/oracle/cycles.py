# SPDX-License-Identifier: Apache-2.0
"""Finds cycles among the calls and transactions of a history: strongly connected components, and in each a shortest cycle."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np
from networkx import DiGraph, shortest_path  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hwmark.spec.histories.cycles import EDGES, NODES, Cycle

from .findings import Asked, Finding

Row = tuple[int, int, int | None, int | None]
"""An edge: source, target, and the two calls that show it."""


def ask(facts: sqlite3.Connection, cycles: tuple[Cycle, ...], shown: int) -> list[Asked]:
    """Look for each kind of cycle; a component counts once."""
    facts.executescript(NODES)
    pairs = {kind: _pairs(facts, kind) for kind in EDGES}
    asked = []
    for cycle in cycles:
        inside = _components(np.concatenate([pairs[kind] for kind in cycle.edges]))
        found = list(_findings(facts, cycle, inside))
        (count,) = facts.execute(f"SELECT count(*) FROM {cycle.about}").fetchone()  # noqa: S608 - our own text
        asked.append(Asked(cycle, count, len(found), len(found) if cycle.allowed else 0, tuple(found[:shown])))
    return asked


def _pairs(facts: sqlite3.Connection, kind: str) -> NDArray[np.int64]:
    flat = np.fromiter((end for row in facts.execute(EDGES[kind]) for end in row[:2]), dtype=np.int64)
    return flat.reshape(-1, 2)


def _components(pairs: NDArray[np.int64]) -> dict[int, int]:
    """Return the component of each node that is in one with others."""
    nodes, numbered = np.unique(pairs, return_inverse=True)
    numbered = numbered.reshape(pairs.shape)
    matrix = coo_array((np.ones(len(pairs), dtype=np.int8), (numbered[:, 0], numbered[:, 1])), shape=(len(nodes), len(nodes)))
    if not len(nodes):
        return {}
    _, labels = connected_components(matrix, directed=True, connection="strong")
    is_shared = np.bincount(labels)[labels] > 1
    return dict(zip(nodes[is_shared].tolist(), labels[is_shared].tolist(), strict=True))


def _findings(facts: sqlite3.Connection, cycle: Cycle, inside: dict[int, int]) -> Iterator[Finding]:
    graphs: dict[int, Any] = {}
    for kind in cycle.edges if inside else ():
        for source, target, before, after in facts.execute(EDGES[kind]):
            component = inside.get(source)
            if component is not None and component == inside.get(target):
                graph = graphs.setdefault(component, DiGraph())
                if not graph.has_edge(source, target):
                    graph.add_edge(source, target, kind=kind, ops=(before, after))
    for graph in graphs.values():
        steps = _shortest(graph, cycle.edges[0])
        if steps is None:
            continue  # made of the other kinds alone
        ops = [op for step in steps for op in graph.edges[step]["ops"] if op is not None]
        told = {"cycle": [_name(source) for source, _ in steps], "edges": [graph.edges[step]["kind"] for step in steps]}
        yield Finding(None, tuple(dict.fromkeys(ops)), told, cycle.allowed)


def _shortest(graph: Any, kind: str) -> list[tuple[int, int]] | None:
    """Return the edges of a shortest cycle through an edge of this kind."""
    paths = [shortest_path(graph, target, source) for source, target, data in graph.edges(data=True) if data["kind"] == kind]
    best = min(paths, key=len, default=None)
    return None if best is None else list(zip(best, [*best[1:], best[0]], strict=True))


def _name(node: int) -> str:
    return f"transaction {-node}" if node < 0 else f"op {node}"
