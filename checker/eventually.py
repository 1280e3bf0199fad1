# SPDX-License-Identifier: Apache-2.0
"""What an explored graph says about the long run: traps that a good state cannot be reached from, and fair lassos.

States are numbered in breadth-first order and edges sorted by source; which engine explored them does not matter.
Fairness is per action instance and about steps that change the state; stopping for ever is a run where no fair instance
is enabled. Strongly connected components come from scipy; strong fairness is decided by removing, again and again, the
states of a component where an instance is enabled that the component never takes (Streett's condition; Emerson and Lei).
Beside the graph a question keeps a few numbers for each state. Edges are copied only among the states in question and,
for traps, once for all questions in the order of their targets.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from hwmark.model.machine import Step
from hwmark.spec.property import LeadsTo

from .verdict import Run

Numbers = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]
Ends = Callable[[Numbers, Integers, Integers], Mask]
"""Which of some edges, given with their sources and targets, a walk may end with."""

AT_ONCE = 1 << 16
"""How many states are looked at together: enough that numpy is quick, and few enough for the processor's cache."""


@frozen(eq=False)
class Graph:
    """An explored graph: the edges that leave state ``s`` are those from ``first_edge[s]`` up to ``first_edge[s + 1]``.

    ``targets`` and ``labels`` are by edge, of any width; a label is the number of the action instance, which ``steps``
    tells, and an instance leads to one state. ``changes``: which edges lead to another state of the machine, as what
    observers remember is no progress; ``None`` where those are the edges to another state of the graph. ``levels``: how
    many states there are at each depth. ``run_to`` tells a shortest run to a state.
    """

    first_edge: Numbers
    targets: Integers
    labels: Integers
    changes: Mask | None
    levels: Sequence[int]
    steps: Sequence[Step]
    run_to: Callable[[int], Run]

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.first_edge) - 1

    @cached_property
    def backwards(self) -> tuple[Integers, Integers]:
        """The edges sorted by target: where those of each state begin, and their sources."""
        unused = np.zeros(len(self.targets), dtype=np.int8)
        turned = csr_matrix((unused, self.targets, self.first_edge), shape=(self.size, self.size)).tocsc()
        return turned.indptr, turned.indices

    def leaving(self, states: Integers) -> Iterator[tuple[Numbers, Integers]]:
        """Yield the edges that leave these states, state by state, and the source of each: some states at once."""
        return _edges_of(self.first_edge, states)

    def moving(self, edges: Numbers, sources: Integers) -> Mask:
        """Return which of these edges change the state."""
        return np.not_equal(self.targets[edges], sources) if self.changes is None else self.changes[edges]

    def source(self, edge: int) -> int:
        """Return the state that an edge leaves."""
        return int(np.searchsorted(self.first_edge, edge, side="right")) - 1

    def enabled(self, states: Integers) -> Mask:
        """Return, for each label, whether its instance changes the state somewhere among these states."""
        labels = np.zeros(len(self.steps), dtype=np.bool_)
        for edges, sources in self.leaving(states):
            labels[self.labels[edges[self.moving(edges, sources)]]] = True
        return labels

    def enabling(self, label: int, states: Integers) -> Mask:
        """Return in which of these states the instance with this label changes the state, as a mask of all states."""
        enabled: Mask = np.zeros(self.size, dtype=np.bool_)
        for edges, sources in self.leaving(states):
            enabled[sources[np.equal(self.labels[edges], label) & self.moving(edges, sources)]] = True
        return enabled

    def instances_of(self, actions: tuple[str, ...]) -> Mask:
        """Return which labels are those of the actions' instances."""
        return np.array([step.action in actions for step in self.steps], dtype=np.bool_)


def progress(sources: Integers, targets: Integers, own: Iterable[Hashable]) -> Mask:
    """Return which edges lead to another state of the machine; ``own`` tells, for each state, which of the machine's it is."""
    numbers: dict[Hashable, int] = {}
    machines: Numbers = np.array([numbers.setdefault(state, len(numbers)) for state in own])
    return np.not_equal(machines[sources], machines[targets])


def trap(graph: Graph, when: Mask, goal: Mask) -> Run | None:
    """Return a shortest run to a state where ``when`` holds and no goal state stays reachable, or ``None``."""
    lost = np.flatnonzero(when & ~goal)
    if not len(lost):
        return None
    first, before = graph.backwards
    reaches = goal.copy()
    frontier = np.flatnonzero(goal)
    while len(lost) and len(frontier):
        found = []
        for edges, _ in _edges_of(first, frontier):
            sources = before[edges]
            sources = np.sort(sources[~reaches[sources]])
            reaches[sources] = True
            found.append(sources[np.diff(sources, prepend=-1) > 0])
        frontier = np.concatenate(found)
        lost = lost[~reaches[lost]]
    return graph.run_to(int(lost[0])) if len(lost) else None


def fair_lasso(graph: Graph, when: Mask, goal: Mask, prop: LeadsTo) -> Run | None:
    """Return a fair run that meets ``when`` and never the goal after it, as a lasso, or ``None`` if there is none.

    Among all such runs it is one that reaches its loop in the fewest steps.
    """
    avoids = ~goal
    starts = np.flatnonzero(when & avoids)
    if not len(starts):
        return None
    weak, strong = graph.instances_of(prop.weak), graph.instances_of(prop.strong)
    arrived = _arrive(graph, starts, avoids)
    found = _fair_component(graph, arrived, weak, strong)
    if found is None:
        return None
    entry, component = found
    edges = _edges_to(graph, arrived.edge, entry)
    prefix = graph.run_to(graph.source(edges[0]) if edges else entry)
    loop = _tour(graph, component, entry, weak, strong)
    stem = (*prefix.steps, *(graph.steps[graph.labels[edge]] for edge in edges))
    return Run((*stem, *(graph.steps[graph.labels[edge]] for edge in loop)), initial=prefix.initial, loop=len(stem))


# -- edges --


def _edges_of(first_edge: Integers, states: Integers) -> Iterator[tuple[Numbers, Integers]]:
    for begin in range(0, len(states), AT_ONCE):
        some = states[begin : begin + AT_ONCE]
        starts = first_edge[some]
        counts = first_edge[some + 1] - starts
        ends = np.cumsum(counts, dtype=np.int64)
        yield np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts), np.repeat(some, counts)


def _first_to_each(edges: Numbers, targets: Integers, via: Integers) -> Mask:
    """Note in ``via`` the first of these edges to each target, and return which edges those are."""
    via[targets[::-1]] = edges[::-1]  # of several values for one place the last one stays
    return np.equal(via[targets], edges)


def _edges_to(graph: Graph, via: Integers, state: int) -> list[int]:
    """Return the edges that lead to a state, where ``via`` tells the last one to each (-1: none)."""
    edges: list[int] = []
    while via[state] >= 0:
        edges.append(int(via[state]))
        state = graph.source(edges[-1])
    return edges[::-1]


def _index_type(count: int) -> type[np.signedinteger[Any]]:
    return np.int32 if count <= np.iinfo(np.int32).max else np.int64


# -- arriving --


@frozen(eq=False)
class _Arrival:
    """How each state is reached without meeting the goal: total steps (-1: not at all), and the edge (-1: starts here)."""

    steps: Integers
    edge: Integers


def _arrive(graph: Graph, starts: Integers, avoids: Mask) -> _Arrival:
    """Walk from the starting states through states that avoid the goal, in the order of total steps from the beginning."""
    steps = np.full(graph.size, -1, dtype=_index_type(graph.size))
    edge = np.empty(graph.size, dtype=_index_type(len(graph.targets)))  # no place is read before it is written
    fresh_at = np.split(starts, np.searchsorted(starts, np.cumsum(graph.levels)))
    frontier = starts[:0]
    depth = 0
    while len(frontier) or depth < len(fresh_at):
        if depth < len(fresh_at):
            fresh = fresh_at[depth][steps[fresh_at[depth]] < 0]
            steps[fresh], edge[fresh] = depth, -1
            frontier = np.concatenate((frontier, fresh))
        depth += 1
        found = [frontier[:0]]
        for edges, _ in graph.leaving(frontier):
            targets = graph.targets[edges]
            new = avoids[targets] & (steps[targets] < 0)
            edges, targets = edges[new], targets[new]  # noqa: PLW2901 - the rest of them lead nowhere new
            targets = targets[_first_to_each(edges, targets, edge)]
            steps[targets] = depth
            found.append(targets)
        frontier = np.sort(np.concatenate(found))
    return _Arrival(steps, edge)


# -- fair components --


def _fair_component(graph: Graph, arrived: _Arrival, weak: Mask, strong: Mask) -> tuple[int, Mask] | None:
    """Return the entry and the states of the component of a fair run that is reached first."""
    component_of = np.full(graph.size, -1, dtype=_index_type(graph.size))
    states = np.flatnonzero(arrived.steps >= 0).astype(component_of.dtype)
    entry, members = -1, states[:0]
    while len(states):
        component_of[states] = component = _components(graph, states, component_of)
        good, rest = _judge(graph, states, component_of, weak | strong, strong)
        if good.any():
            reached = int(states[good][np.argmin(arrived.steps[states[good]])])
            if entry < 0 or (arrived.steps[reached], reached) < (arrived.steps[entry], entry):
                entry = reached
                members = states[component == component_of[entry]] if component_of[entry] else np.array([entry])
        component_of[states] = -1
        states = states[rest]
    if entry < 0:
        return None
    inside = np.zeros(graph.size, dtype=np.bool_)
    inside[members] = True
    return entry, inside


def _components(graph: Graph, states: Integers, number: Integers) -> Integers:
    """Return the strongly connected component of each of these states among them, from 1 on, and 0 for a state alone.

    ``number`` must be negative for all other states; it is used for numbering these.
    """
    number[states] = np.arange(len(states))
    _, found = connected_components(_matrix(graph, states, number), connection="strong")
    several = np.bincount(found) > 1
    return (np.cumsum(several) * several)[found].astype(number.dtype)


def _matrix(graph: Graph, states: Integers, number: Integers) -> csr_matrix[np.int8]:
    """Return which of these states lead to which, by number; edges side by side, which scipy's components loop on, are one."""
    rows, columns = [states[:0]], [states[:0]]
    for edges, sources in graph.leaving(states):
        targets = number[graph.targets[edges]]
        inside = targets >= 0
        rows.append(number[sources[inside]])
        columns.append(targets[inside])
    places = np.concatenate(rows), np.concatenate(columns)
    del rows, columns  # as large again
    return csr_matrix((np.ones(len(places[0]), dtype=np.int8), places), shape=(len(states), len(states)))


def _judge(graph: Graph, states: Integers, component_of: Integers, fair: Mask, strong: Mask) -> tuple[Mask, Mask]:
    """Return which of these states are in fair components, and which may be in one that is part of their component."""
    component = component_of[states]
    sizes = np.bincount(component)
    doomed, broken = np.zeros(len(sizes), dtype=np.bool_), np.zeros(len(sizes), dtype=np.bool_)
    stuck = np.zeros(graph.size, dtype=np.bool_)
    sources, labels, inside = _fair_edges(graph, states, component_of, fair, stuck)
    for label in np.flatnonzero(fair).tolist():
        these = labels == label
        enabled_at = component_of[sources[these]]
        untaken = np.ones(len(sizes), dtype=np.bool_)
        untaken[enabled_at[inside[these]]] = False
        enabled = np.bincount(enabled_at, minlength=len(sizes))
        doomed |= untaken & (enabled == sizes)
        if strong[label]:
            broken |= untaken & (enabled > 0)
            stuck[sources[these][untaken[enabled_at]]] = True
    free = ~stuck[states]
    return free & ~(doomed | broken)[component], free & (broken & ~doomed)[component]


def _fair_edges(graph: Graph, states: Integers, component_of: Integers, fair: Mask, stuck: Mask) -> tuple[Integers, Integers, Mask]:
    """Return source, label, and whether they stay in the component, of fair edges from components of several states.

    States alone where a fair instance is enabled are noted in ``stuck``: nobody may stop there for ever.
    """
    found_sources, found_labels, found_inside = [states[:0]], [graph.labels[:0]], [np.empty(0, dtype=np.bool_)]
    for edges, sources in graph.leaving(states):
        demanded = fair[graph.labels[edges]] & graph.moving(edges, sources)
        edges, sources = edges[demanded], sources[demanded]  # noqa: PLW2901 - fairness demands none of the rest
        component = component_of[sources]
        stuck[sources[component == 0]] = True
        several = component > 0
        found_sources.append(sources[several])
        found_labels.append(graph.labels[edges[several]])
        found_inside.append(component[several] == component_of[graph.targets[edges[several]]])
    return np.concatenate(found_sources), np.concatenate(found_labels), np.concatenate(found_inside)


# -- the run --


def _tour(graph: Graph, component: Mask, entry: int, weak: Mask, strong: Mask) -> list[int]:
    """Return edges of a closed walk in the component that takes, or passes by, whatever fairness demands."""
    walk: list[int] = []
    taken: set[int] = set()
    here = np.array([entry])
    sometimes, always = graph.enabled(np.flatnonzero(component)), graph.enabled(here)
    for label in (*np.flatnonzero(weak).tolist(), *np.flatnonzero(strong & ~weak).tolist()):
        if label in taken or not (sometimes if strong[label] else always)[label]:
            continue
        for edge in _walk(graph, component, here, _demanded(graph, label, idle=not strong[label])):
            walk.append(edge)
            if graph.moving(np.array([edge]), here)[0]:
                taken.add(int(graph.labels[edge]))
            here = graph.targets[[edge]]
            always &= graph.enabled(here)
    if here[0] != entry:
        walk += _walk(graph, component, here, lambda _edges, _sources, targets: np.equal(targets, entry))
    return walk


def _demanded(graph: Graph, label: int, *, idle: bool) -> Ends:
    """Return which edges take an instance or, if ``idle``, lead to where it is not enabled."""

    def ends(edges: Numbers, sources: Integers, targets: Integers) -> Mask:
        takes = np.equal(graph.labels[edges], label) & graph.moving(edges, sources)
        return takes | ~graph.enabling(label, targets)[targets] if idle else takes

    return ends


def _walk(graph: Graph, component: Mask, start: Integers, ends: Ends) -> list[int]:
    """Return a shortest walk in the component that ends as it may."""
    via = np.empty(graph.size, dtype=_index_type(len(graph.targets)))  # no place is read before it is written
    via[start] = -1
    seen = np.zeros(graph.size, dtype=np.bool_)
    seen[start] = True
    frontier = start
    while len(frontier):
        found = []
        for edges, sources in graph.leaving(frontier):
            targets = graph.targets[edges]
            inside = component[targets] & (targets != sources)
            edges, sources, targets = edges[inside], sources[inside], targets[inside]  # noqa: PLW2901 - the rest of them lead away
            last = np.flatnonzero(ends(edges, sources, targets))
            if len(last):
                return [*_edges_to(graph, via, int(sources[last[0]])), int(edges[last[0]])]
            new = ~seen[targets]
            targets = targets[new]
            targets = targets[_first_to_each(edges[new], targets, via)]
            seen[targets] = True
            found.append(targets)
        frontier = np.concatenate(found)
    return []
