# SPDX-License-Identifier: Apache-2.0
"""Whether engines agree: whatever another engine says is what the reference engine says, or it refuses.

Another engine is compared by one more entry in ``WAYS``: how it explores, and what of its answer must be the same.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attrs import evolve, frozen
from toy_crew import inside

from hwmark.checker.cluster import engine as cluster
from hwmark.checker.explore import Options
from hwmark.checker.storage import checkpoint
from hwmark.checker.tables import engine, memory, search
from hwmark.checker.tables.values import NotLearnableError
from hwmark.checker.verdict import Exploration, Result, Verdict
from hwmark.model.machine import Machine
from hwmark.spec.property import Converges, LeadsTo, Property

REFUSED = "refused"
"""What is told of an engine that says that it cannot do this exactly."""
INTERRUPTED = "interrupted"
FITS_NOT = "the steps between all states do not fit into the memory that is allowed"

Explore = Callable[[Machine[Any], Sequence[Property], Options], Exploration]
Told = Exploration | tuple[str, str] | str
"""What an engine says: an exploration, what it raised, or that it refuses."""


def told(explore: Explore, machine: Machine[Any], properties: Sequence[Property], options: Options) -> Told:
    """Return what an engine says, without how long it took and which engine it is."""
    try:
        found = explore(machine, properties, options)
    except NotLearnableError:
        return REFUSED
    except Exception as error:  # noqa: BLE001 - what a machine raises every engine must raise
        return type(error).__name__, str(error)
    return evolve(found, seconds=0, preparation=0, engine="", workers=1)


# -- what is compared --


def everything(said: Told, _properties: Sequence[Property]) -> Any:
    """Return all that is said."""
    return said


def figures(said: Told, _properties: Sequence[Property]) -> Any:
    """Return what does not depend on which of several shortest runs was found, nor on what was raised first.

    Of a lasso that is the way to where it repeats: a fair loop is no shortest one, and another numbering finds another.
    """
    if not isinstance(said, Exploration):
        return said if said == REFUSED else "raises"
    results = [(one.name, one.kind, one.verdict, _shortest(one), one.why, one.run is None) for one in said.results]
    return said.states, said.transitions, said.depth, said.complete, said.stopped, said.taken, results


def _shortest(one: Result) -> int | None:
    return one.depth if one.run is None or one.run.loop is None else one.run.loop


# -- what is expected --


def the_same(said: Told, _properties: Sequence[Property]) -> Told:
    """Expect what the reference engine says."""
    return said


def without_edges(said: Told, properties: Sequence[Property]) -> Told:
    """Expect that what is judged on the whole graph is left open, and why, as the steps between states are not kept."""
    if not isinstance(said, Exploration) or not said.complete:
        return said
    later = {prop.name for prop in properties if isinstance(prop, (Converges, LeadsTo))}
    return evolve(said, results=tuple(_left_open(one) if one.name in later else one for one in said.results))


def _left_open(one: Result) -> Result:
    if one.why is not None and "symmetry" in one.why:  # it is open anyway
        return one
    return evolve(one, verdict=Verdict.UNDETERMINED, depth=None, witness=None, run=None, why=FITS_NOT)


def with_some_edges(said: Told, properties: Sequence[Property]) -> Told:
    """Expect the same only where nobody watches: else it could not be told which steps change the machine's own state."""
    return without_edges(said, properties) if any(prop.observers for prop in properties) else said


# -- the ways to explore --


@frozen
class Way:
    """One way to explore, what it must say, and what of that is compared; ``renames``: of an orbit it may visit another state."""

    explore: Explore
    compared: Callable[[Told, Sequence[Property]], Any] = everything
    expected: Callable[[Told, Sequence[Property]], Told] = the_same
    renames: bool = False


@contextmanager
def small_arrays(slots: int = 96) -> Iterator[None]:
    """Let the tables engine expand few states at a time, and share them among threads all the same."""
    with patch.object(search, "MOST_SLOTS", slots), patch.object(search, "LEAST_FOR_THREADS", 2):
        yield


def in_memory(machine: Machine[Any], properties: Sequence[Property], options: Options, threads: int = 1) -> Exploration:
    """Explore with so many threads."""
    return engine.explore(machine, properties, options, threads=threads)


def in_small_arrays(machine: Machine[Any], properties: Sequence[Property], options: Options) -> Exploration:
    """Explore with two threads, chunk by small chunk."""
    with small_arrays():
        return engine.explore(machine, properties, options, threads=2)


def spilled(machine: Machine[Any], properties: Sequence[Property], options: Options) -> Exploration:
    """Explore with next to no memory: states are on disk at once, and edges are dropped."""
    with small_arrays(), fast_disk():
        return engine.explore(machine, properties, evolve(options, memory=1))


def spilled_with_edges(machine: Machine[Any], properties: Sequence[Property], options: Options) -> Exploration:
    """Explore with memory for nothing but the edges."""

    def is_exceeded(_budget: memory.Budget, rows: Any, _chunks: Any, _answers: Any) -> bool:
        return rows is not None

    with small_arrays(), fast_disk(), patch.object(memory.Budget, "is_exceeded", is_exceeded):
        return engine.explore(machine, properties, options, threads=2)


def resumed(machine: Machine[Any], properties: Sequence[Property], options: Options) -> Exploration:
    """Explore, interrupted while something is learned, and then after one commit and after two, and go on from what is stored."""
    with small_arrays(), fast_disk(), counted_commits() as commits, tempfile.TemporaryDirectory() as directory:
        at = evolve(options, checkpoint=Path(directory))
        for number, (polls, patience) in enumerate(((1, None), (None, 1), (None, 2))):
            commits.clear()
            found = engine.explore(machine, properties, evolve(at, resume=number > 0, stop=_impatient(polls, patience, commits)))
            if INTERRUPTED not in {found.stopped, *(one.why for one in found.results)}:
                return found
        return engine.explore(machine, properties, evolve(at, resume=True), threads=2)


def _impatient(polls: int | None, patience: int | None, commits: list[None]) -> Callable[[], str | None]:
    """Return what interrupts after so many polls, or once there were so many commits."""
    left = itertools.count() if polls is None else iter(range(polls))
    return lambda: INTERRUPTED if next(left, None) is None or (patience is not None and len(commits) >= patience) else None


@contextmanager
def counted_commits() -> Iterator[list[None]]:
    """Note each commit of a search."""
    commits: list[None] = []
    commit = checkpoint.StateSpace.commit

    def noted(space: checkpoint.StateSpace, **given: Any) -> None:
        commit(space, **given)
        commits.append(None)

    with patch.object(checkpoint.StateSpace, "commit", noted):
        yield commits


@contextmanager
def fast_disk() -> Iterator[None]:
    """Do not wait for the disk of the tests, which nobody unplugs; commit whenever that is asked for."""
    with ExitStack() as patched:
        patched.enter_context(patch("os.fsync", lambda _: None))
        patched.enter_context(patch.object(checkpoint, "COMMIT_EVERY", 0))
        yield


def sharded(machine: Machine[Any], properties: Sequence[Property], options: Options, shards: int) -> Exploration:
    """Explore with so many shards in this process, in small rounds."""
    return cluster.explore(machine, properties, options, shards=shards, muster=inside(), limits=cluster.Limits(round=7))


WAYS: Mapping[str, Way] = {
    "one thread": Way(in_memory),
    "two threads": Way(partial(in_memory, threads=2)),
    "small arrays": Way(in_small_arrays),
    "spilled": Way(spilled, expected=without_edges),
    "spilled with edges": Way(spilled_with_edges, expected=with_some_edges),
    "resumed": Way(resumed),
    "one shard": Way(partial(sharded, shards=1), figures),
    "three shards": Way(partial(sharded, shards=3), figures, renames=True),
}
"""All ways to explore but that of the reference engine."""


def agrees(way: Way, found: Told, expected: Told, properties: Sequence[Property]) -> bool:
    """Whether a way to explore says what it must, given what the reference engine says."""
    return bool(way.compared(found, properties) == way.compared(way.expected(expected, properties), properties))


def disagreement(way: Way, expected: Told, machine: Machine[Any], properties: Sequence[Property], options: Options) -> str | None:
    """Return how a way to explore is wrong, or ``None`` if it says what is expected, or refuses."""
    found = told(way.explore, machine, properties, options)
    return None if found == REFUSED or agrees(way, found, expected, properties) else f"{found}"
