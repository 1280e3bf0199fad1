# SPDX-License-Identifier: Apache-2.0
"""Explores a machine with several shards, and concludes what the reference engine would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from typing import Any

from hwmark.checker.explore import Options
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.system import system
from hwmark.checker.tables.components import ResizedError
from hwmark.checker.tables.values import NotLearnableError
from hwmark.checker.verdict import Exploration
from hwmark.model.machine import Machine
from hwmark.spec.property import Property

from .crew import Crew, Poll
from .kernels import MOST_INSTANCES, MOST_SHARDS
from .limits import Clock, Limits
from .search import Search

Muster = Callable[[int, Poll], AbstractContextManager[Crew]]
"""Gathers so many shards, given what to call now and then while they start."""


def explore(  # noqa: PLR0913 - what is asked, and how to search
    machine: Machine[Any],
    properties: Sequence[Property],
    options: Options = Options(),
    *,
    shards: int = 1,
    muster: Muster | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
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
        clock = Clock(options)
        while True:
            try:
                return Search(
                    explored, properties, options, shards=shards, clock=clock, mustered=mustered, whole=whole, limits=limits
                ).run()
            except ResizedError as error:
                whole.add(error.name)


def _actors(shards: int, poll: Poll) -> AbstractContextManager[Crew]:
    from .actors import actors  # noqa: PLC0415 - Ray, which is not installed everywhere

    return actors(shards, poll)
