# SPDX-License-Identifier: Apache-2.0
"""What the driver and the shards tell one another: arrays and numbers, and nothing of a machine's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hwmark.checker.tables.kernels import Findings, Layout, Renamings, Screen, Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Settings(NamedTuple):
    """What a shard is told once about a search."""

    instances: int
    components: int
    memories: int
    """How many of the last components are what observers remember."""
    later: int
    """How many questions there are that the whole graph is judged by."""
    symmetry: bool
    keep_edges: bool
    factors: NDArray[np.uint64]
    """By which the codes of a state are multiplied to find its owner."""


class Knowledge(NamedTuple):
    """What was learned so far, and what is asked: it replaces what a shard was told before."""

    trees: Trees
    layout: Layout
    renamings: Renamings
    actions: Screen
    of_steps: Screen
    of_states: Screen
    """The questions about states, and then those for later."""


class Missing(NamedTuple):
    """What no tree answers, once each: the root, the state's codes, and the instance if it is about a step, else -1."""

    roots: NDArray[np.int32]
    instances: NDArray[np.int32]
    keys: NDArray[np.int64]
    codes: NDArray[np.int32]


class Expanded(NamedTuple):
    """What a shard found as it expanded states: how often each instance was taken, and how much goes to each owner.

    A step is the state's number times the number of instances, plus that of the instance: where something was found, and in
    ``impossible[0]`` the first step held to be impossible (-1: none).
    """

    taken: NDArray[np.int64]
    sent: NDArray[np.int64]
    findings: Findings
    impossible: NDArray[np.int64]


class Parcel(NamedTuple):
    """Successors for one owner, in the order in which they were found; without symmetry rows are the keys."""

    rows: NDArray[np.uint64]
    keys: NDArray[np.uint64] | None
    origins: NDArray[np.uint64]


class Absorbed(NamedTuple):
    """How many successors came to a shard, and how many states it knows now."""

    came: int
    known: int


class Edges(NamedTuple):
    """The transitions that lead to a shard's states: the origin, and the number of the state here."""

    origins: NDArray[np.uint64]
    targets: NDArray[np.uint32]


class Figures(NamedTuple):
    """How large a shard is: states, bytes that they take, words of a row; bytes that were sent to others, and CPU seconds."""

    states: int
    bytes_held: int
    words: int
    bytes_sent: int
    seconds: float
