# SPDX-License-Identifier: Apache-2.0
"""Which engine explores: the reference engine for tiny scopes, the tables engine beyond, or the one that is asked for.

The ray engine, for several machines, is taken only if it is asked for. All give the same answers. Under symmetry none
starts before random walks have shown that the machine and its promises treat the identities alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attrs import evolve

from hwmark.model.machine import Machine
from hwmark.spec.property import Property

from . import explore as reference
from .engine import Engine
from .equivariance import asymmetry
from .errors import InputError
from .explore import Options
from .symmetry import NotSymmetricError
from .verdict import Exploration

TINY = 10_000
"""States up to which the reference engine is done before compiled code is even loaded."""


def search(
    machine: Machine[Any],
    properties: Sequence[Property],
    options: Options = Options(),  # noqa: B008 - frozen
    *,
    engine: Engine = Engine.AUTO,
    workers: int = 1,
) -> Exploration:
    """Explore a machine with an engine; where tables cannot be learned, with the reference engine, and say so.

    Raises ``NotSymmetricError`` if symmetry is asked for and the machine, or a promise about it, tells identities apart.
    """
    if options.symmetry:
        found = asymmetry(machine, properties)
        if found is not None:
            raise NotSymmetricError(found)
    if engine is Engine.REFERENCE:
        return reference.explore(machine, properties, options)
    uses_disk = options.memory is not None or options.checkpoint is not None
    if engine is Engine.AUTO and not uses_disk:
        tiny = reference.explore(machine, properties, _at_most(options, TINY))
        if tiny.complete or tiny.stopped != reference.limit_of_states(TINY) or options.max_states == TINY:
            return tiny
    if engine is Engine.RAY and uses_disk:
        raise InputError("engine ray holds all states in the memory of its cluster: limits of memory, and checkpoints, are for tables")
    from .tables.values import NotLearnableError  # noqa: PLC0415 - compiled code

    try:
        return _learning(engine, workers)(machine, properties, options)
    except NotLearnableError as error:
        if uses_disk:
            raise InputError(f"the engine that can use a disk refuses this machine: {error}") from None
        return evolve(reference.explore(machine, properties, options), note=f"explored by the reference engine: {error}")


def _learning(engine: Engine, workers: int) -> Callable[..., Exploration]:
    """Return an engine that learns tables: on this machine, or on a cluster."""
    if engine is Engine.RAY:
        from .cluster import engine as cluster  # noqa: PLC0415 - compiled code

        return partial(cluster.explore, shards=workers)
    from .tables import engine as tables  # noqa: PLC0415 - compiled code

    return partial(tables.explore, threads=workers)


def _at_most(options: Options, states: int) -> Options:
    return evolve(options, max_states=states if options.max_states is None else min(states, options.max_states))
