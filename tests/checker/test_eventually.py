# SPDX-License-Identifier: Apache-2.0
"""Convergence and fair liveness against a second, naive decision on small random graphs, and every lasso checked as a run.

The naive decision tries every set of states that a run could visit for ever: such a set avoids the goal, is strongly
connected (or is one place where the run stops), and is fair if each fair move is taken inside it, or is disabled often
enough. What the engine says about a graph must agree, and what it shows must be what it claims.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import networkx as nx
import numpy as np
from attrs import frozen
from hypothesis import example, given, settings
from hypothesis import strategies as st
from toys import Place, arrives, graph, is_watched, returns

from hwmark.checker import eventually
from hwmark.checker.eventually import Graph, fair_lasso, trap
from hwmark.checker.explore import Options, explore
from hwmark.checker.verdict import Result, Run, Verdict
from hwmark.spec.property import leads_to

PLACES = 5
PLACE = st.integers(0, PLACES - 1)
MOVE = st.tuples(st.sampled_from(["free", "steady", "eager"]), st.integers(0, 1), PLACE)
MOVES = st.dictionaries(MOVE, PLACE, min_size=4, max_size=14)
INITIAL = st.lists(PLACE, max_size=1).map(lambda places: (0, *places))
SOME_PLACES = st.frozensets(PLACE, max_size=2)
STARTS = st.frozensets(PLACE, max_size=2).map(lambda places: places | {0}) | SOME_PLACES
"""Where the promise begins to matter: mostly at once, so that most graphs say something."""

MovesOf = dict[tuple[str, int, int], int]


@frozen
class Fair:
    """Which action is weakly fair, and which strongly."""

    weak: str = "steady"
    strong: str = "eager"


@frozen
class Drawn:
    """A graph as edges, and the steps from the initial place to each place that can be reached."""

    moves: MovesOf
    initial: tuple[int, ...]

    @property
    def edges(self) -> nx.MultiDiGraph:
        """The moves among reachable places."""
        drawn = nx.MultiDiGraph()
        drawn.add_nodes_from(range(PLACES))
        drawn.add_edges_from((source, target, (name, lane)) for (name, lane, source), target in self.moves.items())
        return drawn

    @property
    def depths(self) -> dict[int, int]:
        """How far each reachable place is from the nearest initial one."""
        depths: dict[int, int] = {}
        for start in self.initial:
            for place, steps in nx.single_source_shortest_path_length(self.edges, start).items():
                depths[place] = min(steps, depths.get(place, steps))
        return depths


def fair_sets(drawn: Drawn, avoid: frozenset[int], fair: Fair) -> Iterator[frozenset[int]]:
    """Yield every set of places outside ``avoid`` that some fair run visits for ever, all of them again and again."""
    allowed = [place for place in drawn.depths if place not in avoid]
    progress = {(name, lane, source): target for (name, lane, source), target in drawn.moves.items() if source != target}
    for size in range(1, len(allowed) + 1):
        for chosen in map(frozenset, itertools.combinations(allowed, size)):
            inside = {move: target for move, target in progress.items() if move[2] in chosen and target in chosen}
            reduced = nx.DiGraph()
            reduced.add_nodes_from(chosen)
            reduced.add_edges_from((source, target) for (_, _, source), target in inside.items())
            if nx.is_strongly_connected(reduced) and _is_fair(chosen, progress, {move[:2] for move in inside}, fair):
                yield chosen


def _is_fair(visited: frozenset[int], progress: MovesOf, taken: set[tuple[str, int]], fair: Fair) -> bool:
    for name, lane in {move[:2] for move in progress}:
        enabled = [(name, lane, place) in progress for place in visited]
        if (name, lane) not in taken and ((name == fair.weak and all(enabled)) or (name == fair.strong and any(enabled))):
            return False
    return True


def steps_to(drawn: Drawn, when: frozenset[int], goal: frozenset[int]) -> dict[int, int]:
    """Return in how few steps each place is reached on a run that meets ``when`` and then never the goal."""
    avoiding = drawn.edges.subgraph(set(range(PLACES)) - goal)
    found: dict[int, int] = {}
    for start in (when - goal) & set(drawn.depths):
        for place, steps in nx.single_source_shortest_path_length(avoiding, start).items():
            total = drawn.depths[start] + steps
            found[place] = min(total, found.get(place, total))
    return found


def check_lasso(drawn: Drawn, result: Result, when: frozenset[int], goal: frozenset[int], fair: Fair) -> None:
    """A lasso is a run of the graph, meets ``when``, never the goal from there on, closes, and is fair."""
    assert result.run is not None
    assert result.run.loop is not None
    places = [drawn.initial[result.run.initial]]
    labels = [(step.action, step.choices["lane"]) for step in result.run.steps]
    for name, lane in labels:
        places.append(drawn.moves[name, lane, places[-1]])
    assert places[result.run.loop] == places[-1]
    begins = max(number for number, place in enumerate(places[: result.run.loop + 1]) if place in when and place not in goal)
    assert not goal & set(places[begins:])
    visited = frozenset(places[result.run.loop :])
    progress = {(name, lane, source): target for (name, lane, source), target in drawn.moves.items() if source != target}
    taken = {labels[at] for at in range(result.run.loop, len(labels)) if places[at] != places[at + 1]}
    assert _is_fair(visited, progress, taken, fair)


def liveness(when: frozenset[int], goal: frozenset[int], fair: Fair) -> Any:
    """Return the promise that the goal follows, under this fairness."""

    def follows(state: Place) -> bool:
        return state.at in goal

    return leads_to(sources=(), when=lambda state: state.at in when, weak=(fair.weak,), strong=(fair.strong,))(follows)


@given(
    MOVES,
    INITIAL,
    STARTS,
    SOME_PLACES,
    st.sampled_from([Fair(), Fair("eager", "steady")]),
)
@example({("free", 0, 0): 1, ("free", 0, 1): 0, ("steady", 0, 0): 2, ("steady", 1, 1): 2}, (0,), frozenset({0}), frozenset({2}), Fair())
@settings(max_examples=250, deadline=None)
def test_liveness_agrees_with_the_naive_decision(
    moves: MovesOf, initial: tuple[int, ...], when: frozenset[int], goal: frozenset[int], fair: Fair
) -> None:
    """The same verdict under weak and strong fairness, a lasso that is what it says, and no loop that is reached sooner."""
    drawn = Drawn(moves, initial)
    found = explore(graph(moves, initial), (liveness(when, goal, fair),))
    assert found.states == len(drawn.depths)
    (result,) = found.results
    reached = steps_to(drawn, when, goal)
    loops = [chosen for chosen in fair_sets(drawn, goal, fair) if chosen & set(reached)]
    if not when & set(drawn.depths):
        assert result.verdict is Verdict.UNDETERMINED
    elif loops:
        assert result.verdict is Verdict.VIOLATED
        check_lasso(drawn, result, when, goal, fair)
        assert result.run is not None
        assert result.run.loop == min(reached[place] for chosen in loops for place in chosen if place in reached)
    else:
        assert result.verdict is Verdict.HOLDS


@given(MOVES, INITIAL, STARTS, SOME_PLACES)
@settings(max_examples=150, deadline=None)
def test_convergence_agrees_with_reachability(moves: MovesOf, initial: tuple[int, ...], when: frozenset[int], goal: frozenset[int]) -> None:
    """A trap is a reachable place where ``when`` holds and from which networkx finds no way to the goal; the nearest is shown."""
    drawn = Drawn(moves, initial)
    (result,) = explore(graph(moves, initial), (returns(*goal, when=lambda state: state.at in when),)).results
    traps = [place for place in when & set(drawn.depths) if not goal & (nx.descendants(drawn.edges, place) | {place})]
    if not when & set(drawn.depths):
        assert result.verdict is Verdict.UNDETERMINED
    elif traps:
        assert (result.verdict, result.depth) == (Verdict.VIOLATED, min(drawn.depths[place] for place in traps))
        assert result.run is not None
        place = drawn.initial[result.run.initial]
        for step in result.run.steps:
            place = drawn.moves[step.action, step.choices["lane"], place]
        assert place in traps
    else:
        assert result.verdict is Verdict.HOLDS


@given(MOVES, STARTS, SOME_PLACES)
@settings(max_examples=150, deadline=None)
def test_liveness_does_not_depend_on_who_watches(moves: MovesOf, when: frozenset[int], goal: frozenset[int]) -> None:
    """What an observer remembers is no progress: composing one changes no verdict, and its lassos are fair as well."""
    prop = liveness(when, goal, Fair())
    (alone,) = explore(graph(moves), (prop,)).results
    watched = explore(graph(moves), (prop, is_watched)).results[0]
    assert watched.verdict is alone.verdict
    if watched.verdict is Verdict.VIOLATED:
        check_lasso(Drawn(moves, (0,)), watched, when, goal, Fair())


def handed_over(drawn: Drawn, width: type[np.integer[Any]]) -> tuple[Graph, list[int]]:
    """Return the graph as another engine may hand it over, in arrays of this width, and the places by number."""
    machine = graph(drawn.moves, drawn.initial)
    instances = list(machine.instances())
    runs = {initial: Run((), number) for number, initial in reversed(list(enumerate(machine.initial)))}
    level = list(dict.fromkeys(machine.initial))
    levels, first_edge, targets, labels = [len(level)], [0], [], []
    order = list(level)
    while level:
        found = []
        for state in level:
            for label, (step, take) in enumerate(instances):
                after = take(state)
                if after is None:
                    continue
                if after not in runs:
                    runs[after] = Run((*runs[state].steps, step), runs[state].initial)
                    found.append(after)
                    order.append(after)
                targets.append(order.index(after))
                labels.append(label)
            first_edge.append(len(targets))
        levels.append(len(found))
        level = found
    built = Graph(
        first_edge=np.array(first_edge, dtype=np.int64),
        targets=np.array(targets, dtype=width),
        labels=np.array(labels, dtype=np.int16),
        changes=None,
        levels=levels,
        steps=[step for step, _ in instances],
        run_to=lambda number: runs[order[number]],
    )
    return built, [state.at for state in order]


@given(MOVES, INITIAL, STARTS, SOME_PLACES, st.sampled_from([np.int32, np.uint32, np.int64]), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_answers_do_not_depend_on_who_explored(  # noqa: PLR0913, PLR0917 - what is drawn
    moves: MovesOf, initial: tuple[int, ...], when: frozenset[int], goal: frozenset[int], width: type[np.integer[Any]], at_once: int
) -> None:
    """However wide the arrays are that another engine hands over, and however few states are looked at at once, runs are the same."""
    prop = liveness(when, goal, Fair())
    converges = returns(*goal, when=lambda state: state.at in when)
    expected = [result.run for result in explore(graph(moves, initial), (converges, prop)).results]
    built, places = handed_over(Drawn(moves, initial), width)
    asked, met = (np.array([place in chosen for place in places]) for chosen in (when, goal))
    with patch.object(eventually, "AT_ONCE", at_once):
        assert [trap(built, asked, met), fair_lasso(built, asked, met, prop)] == expected


def test_moves_side_by_side_are_one_way() -> None:
    """Two moves from one place to another: scipy's components would never return if they were told of both."""
    (result,) = explore(graph({("free", 0, 0): 1, ("free", 1, 0): 1}), (arrives(2),)).results
    assert result.run == Run((), loop=0)


@given(MOVES)
@settings(max_examples=60, deadline=None)
def test_reachability_agrees_with_networkx(moves: MovesOf) -> None:
    """The number of states, of transitions and the diameter are those of the graph."""
    drawn = Drawn(moves, (0,))
    found = explore(graph(moves), (), Options())
    assert found.states == len(drawn.depths)
    assert found.depth == max(drawn.depths.values())
    assert found.transitions == sum(source in drawn.depths for _, _, source in moves)


def test_naive_decision_tells_weak_from_strong() -> None:
    """The second opinion itself is right about the toy where weak fairness does not suffice."""
    drawn = Drawn({("free", 0, 0): 1, ("steady", 0, 1): 0, ("eager", 0, 0): 2}, (0,))
    assert list(fair_sets(drawn, frozenset({2}), Fair())) == []
    assert list(fair_sets(drawn, frozenset({2}), Fair(strong="none"))) == [frozenset({0}), frozenset({0, 1})]
    assert list(fair_sets(drawn, frozenset({2}), Fair("eager", "steady"))) == [frozenset({0, 1})]


def test_long_way_round_takes_every_fair_move() -> None:
    """Three strongly fair moves at three places of one ring: the loop goes through all of them."""
    ring: MovesOf = {("free", 0, place): (place + 1) % 3 for place in range(3)}
    fair: MovesOf = {("eager", place, place): (place + 1) % 3 for place in range(3)}
    (result,) = explore(graph({**ring, **fair}), (arrives(5),)).results
    assert result.run is not None
    assert sorted(str(step) for step in result.run.steps) == ["eager(lane=0)", "eager(lane=1)", "eager(lane=2)"]
    assert result.run.loop == 0
