# SPDX-License-Identifier: Apache-2.0
"""What an explored graph says about the long run: traps that a good state cannot be reached from, and fair lassos.

States are numbered in breadth-first order and edges sorted by source. Fairness is per action instance and about steps
that change the state; stopping for ever is a run where no fair instance is enabled. Strongly connected components come
from scipy; strong fairness is decided by removing, again and again, the states of a component where an instance is
enabled that the component never takes (Streett's condition; Emerson and Lei).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from hwmark.spec.property import LeadsTo

from .system import own_state
from .verdict import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .explore import _Search

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@frozen(eq=False)
class Graph:
    """The explored graph: edge arrays sorted by source, and the depth of each state.

    ``changes``: which edges lead to another state of the machine; what observers remember is no progress.
    """

    search: _Search
    sources: Numbers
    targets: Numbers
    labels: NDArray[np.int32]
    changes: Mask
    depths: Numbers
    first_edge: Numbers

    @classmethod
    def of(cls, search: _Search) -> Graph:
        """Return the graph of a finished search that kept its edges."""
        sources, targets = (np.frombuffer(edges, dtype=np.int64) for edges in (search.sources, search.targets))
        depths = np.repeat(np.arange(len(search.levels)), search.levels)
        first_edge = np.searchsorted(sources, np.arange(len(depths) + 1))
        changes = np.not_equal(sources, targets)
        if search.system.observers and search.key is None:
            numbers: dict[Any, int] = {}
            own = np.array([numbers.setdefault(own_state(state), len(numbers)) for state in search.seen])
            changes = np.not_equal(own[sources], own[targets])
        return cls(search, sources, targets, np.frombuffer(search.labels, dtype=np.int32), changes, depths, first_edge)

    def enabled(self, label: int) -> Mask:
        """Return in which states the action instance with this label changes the state."""
        states = np.zeros(len(self.depths), dtype=np.bool_)
        states[self.sources[self.changes & (self.labels == label)]] = True
        return states

    def edges_from(self, states: Numbers) -> Numbers:
        """Return the numbers of all edges that leave these states, state by state."""
        starts, counts = self.first_edge[states], self.first_edge[states + 1] - self.first_edge[states]
        return np.repeat(starts - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) + np.arange(counts.sum())

    def run_to(self, state: int) -> Run:
        """Return a shortest run to a state."""
        return self.search.run_to(self.search.parents[state], self.search.via[state])

    def instances_of(self, actions: tuple[str, ...]) -> Iterator[int]:
        """Yield the labels of the actions' instances."""
        return (label for label, step in enumerate(self.search.system.steps) if step.action in actions)


def trap(graph: Graph, when: bytearray, goal: bytearray) -> Run | None:
    """Return a shortest run to a state where ``when`` holds and no goal state stays reachable, or ``None``."""
    reaches = np.frombuffer(goal, dtype=np.bool_).copy()
    backwards = np.argsort(graph.targets, kind="stable")
    first = np.searchsorted(graph.targets[backwards], np.arange(len(reaches) + 1))
    frontier = np.flatnonzero(reaches)
    while len(frontier):
        counts = first[frontier + 1] - first[frontier]
        places = np.repeat(first[frontier] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) + np.arange(counts.sum())
        before = np.unique(graph.sources[backwards[places]])
        frontier = before[~reaches[before]]
        reaches[frontier] = True
    lost = np.flatnonzero(np.frombuffer(when, dtype=np.bool_) & ~reaches)
    return graph.run_to(int(lost[0])) if len(lost) else None


def fair_lasso(graph: Graph, when: bytearray, goal: bytearray, prop: LeadsTo) -> Run | None:
    """Return a fair run that meets ``when`` and never the goal after it, as a lasso, or ``None`` if there is none.

    Among all such runs it is one that reaches its loop in the fewest steps.
    """
    avoids = ~np.frombuffer(goal, dtype=np.bool_)
    arrived = _arrive(graph, np.frombuffer(when, dtype=np.bool_) & avoids, avoids)
    found = _fair_component(graph, arrived, prop)
    if found is None:
        return None
    entry, component, wanted = found
    steps, start = _stem(graph, arrived, entry)
    prefix = graph.run_to(start)
    loop = _tour(graph, component, entry, wanted)
    all_steps = graph.search.system.steps
    stem = (*prefix.steps, *(all_steps[graph.labels[edge]] for edge in steps))
    return Run((*stem, *(all_steps[graph.labels[edge]] for edge in loop)), initial=prefix.initial, loop=len(stem))


@frozen(eq=False)
class _Arrival:
    """How each state is reached without meeting the goal: total steps (-1: not at all), and the edge (-1: starts here)."""

    steps: Numbers
    edge: Numbers


def _arrive(graph: Graph, starts: Mask, avoids: Mask) -> _Arrival:
    """Walk from the starting states through states that avoid the goal, in the order of total steps from the beginning."""
    steps, edge = np.full(len(starts), -1, dtype=np.int64), np.full(len(starts), -1, dtype=np.int64)
    frontier = np.empty(0, dtype=np.int64)
    depth, last = 0, int(graph.depths[-1])
    while len(frontier) or depth <= last:
        fresh = np.flatnonzero(starts & (graph.depths == depth) & (steps < 0)) if depth <= last else np.empty(0, dtype=np.int64)
        steps[fresh] = depth
        frontier = np.concatenate((frontier, fresh))
        edges = graph.edges_from(frontier)
        edges = edges[avoids[graph.targets[edges]]]
        targets, places = np.unique(graph.targets[edges], return_index=True)
        new = steps[targets] < 0
        frontier, edges = targets[new], edges[places[new]]
        depth += 1
        steps[frontier], edge[frontier] = depth, edges
    return _Arrival(steps, edge)


def _fair_component(graph: Graph, arrived: _Arrival, prop: LeadsTo) -> tuple[int, Mask, list[tuple[int, Mask]]] | None:
    """Return the entry, the states, and what must be visited, of the component of a fair run that is reached first.

    What must be visited: for each fair instance its label (-1: none) and, instead of taking it, states to pass through.
    """
    size = len(arrived.steps)
    weak, strong = list(graph.instances_of(prop.weak)), list(graph.instances_of(prop.strong))
    enabled = {label: graph.enabled(label) for label in (*weak, *strong)}
    rest, fair = arrived.steps >= 0, np.zeros(size, dtype=np.bool_)
    components, numbered = np.zeros(size, dtype=np.int64), 0
    while rest.any():
        inside = rest[graph.sources] & rest[graph.targets]
        matrix = csr_matrix((np.ones(int(inside.sum()), dtype=np.int8), (graph.sources[inside], graph.targets[inside])), shape=(size, size))
        count, found = connected_components(matrix, connection="strong")
        inside &= (found[graph.sources] == found[graph.targets]) & graph.changes
        doomed, broken = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
        remove = np.zeros(size, dtype=np.bool_)
        for label, states in enabled.items():
            takes = np.zeros(count, dtype=np.bool_)
            takes[found[graph.sources[inside & (graph.labels == label)]]] = True
            somewhere, not_everywhere = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
            somewhere[found[rest & states]] = True
            not_everywhere[found[rest & ~states]] = True
            doomed |= ~takes & ~not_everywhere
            if label in strong:
                broken |= ~takes & somewhere
                remove |= states & (~takes & somewhere)[found]
        good = rest & ~doomed[found] & ~broken[found]
        fair |= good
        components[good] = found[good] + numbered
        numbered += count
        rest = rest & ~doomed[found] & broken[found] & ~remove
    if not fair.any():
        return None
    candidates = np.flatnonzero(fair)
    entry = int(candidates[np.argmin(arrived.steps[candidates])])
    component = fair & (components == components[entry])
    wanted = []
    for label, states in enabled.items():
        idle = component & ~states
        if label in strong and (component & states).any():
            idle = np.zeros(size, dtype=np.bool_)
        wanted.append((label, idle))
    return entry, component, wanted


def _stem(graph: Graph, arrived: _Arrival, state: int) -> tuple[list[int], int]:
    """Return the edges from where the property began to matter to a state, and the state where it did."""
    edges: list[int] = []
    while arrived.edge[state] >= 0:
        edges.append(int(arrived.edge[state]))
        state = int(graph.sources[edges[-1]])
    return edges[::-1], state


def _tour(graph: Graph, component: Mask, entry: int, wanted: list[tuple[int, Mask]]) -> list[int]:
    """Return edges of a closed walk in the component that takes, or passes by, whatever fairness demands."""
    walk: list[int] = []
    here, visited = entry, {entry}
    for label, idle in wanted:
        if any(idle[state] for state in visited) or any(graph.labels[edge] == label and graph.changes[edge] for edge in walk):
            continue
        for edge in _walk(graph, component, here, label, idle):
            walk.append(edge)
            here = int(graph.targets[edge])
            visited.add(here)
    only_entry = np.zeros(len(component), dtype=np.bool_)
    only_entry[entry] = True
    if here != entry:
        walk += _walk(graph, component, here, -1, only_entry)
    return walk


def _walk(graph: Graph, component: Mask, start: int, label: int, goals: Mask) -> list[int]:
    """Return a shortest walk in the component that ends in one of the goals or with an edge of this label."""
    came: dict[int, int] = {start: -1}
    queue = [start]
    for state in queue:
        for edge in range(int(graph.first_edge[state]), int(graph.first_edge[state + 1])):
            target = int(graph.targets[edge])
            if not component[target] or target == state:
                continue
            if (graph.labels[edge] == label and graph.changes[edge]) or goals[target]:
                walk = [edge]
                while came[state] >= 0:
                    walk.append(came[state])
                    state = int(graph.sources[came[state]])  # noqa: PLW2901 - the search is over
                return walk[::-1]
            if target not in came:
                came[target] = edge
                queue.append(target)
    return []
