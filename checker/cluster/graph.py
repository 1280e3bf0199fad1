# SPDX-License-Identifier: Apache-2.0
"""The explored graph, gathered from all shards: states numbered level by level, and in each level shard by shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hwmark.checker.tables.kernels import DECIDES, PRESUPPOSED

from .crew import Crew
from .kernels import INSTANCE_AT, NUMBER_AT, NUMBER_BITS, SHARD_AT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .messages import Edges

    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Mask = NDArray[np.bool_]


class Numbering:
    """How the states of all shards are numbered in the graph."""

    def __init__(self, starts: Sequence[Longs], known: Longs) -> None:
        """Number them, given for each level the number of its first state in each shard, and how many there are at last."""
        self.bounds = np.array([*starts, known])
        sizes = np.diff(self.bounds, axis=0)
        self.firsts = np.cumsum(sizes).reshape(sizes.shape) - sizes
        self.size = int(known.sum())

    def of(self, shard: int, numbers: Any) -> Longs:
        """Return the numbers in the graph of some states of a shard."""
        levels = np.searchsorted(self.bounds[:, shard], numbers, side="right") - 1
        found: Longs = numbers + (self.firsts - self.bounds[:-1])[levels, shard]
        return found

    def place(self, number: int) -> int:
        """Return the shard and the number there, in one, of a state of the graph."""
        position = int(np.searchsorted(self.firsts.ravel(), number, side="right")) - 1
        shard: int = position % self.firsts.shape[1]
        place = number - int(self.firsts.flat[position]) + int(self.bounds.flat[position])
        return shard << NUMBER_BITS | place


def gathered_edges(crew: Crew, numbering: Numbering, instances: int) -> tuple[Longs, Longs, NDArray[np.uint16], Mask]:
    """Return the edges of all shards: where those of each state begin, and target, label and whether the state changes of each."""
    sources, targets, labels, moved = [], [], [], []
    for shard in range(crew.size):
        edges: Edges = crew.call("all_edges", {shard: ()})[shard]
        sources.append(_sources(edges.origins, numbering))
        targets.append(numbering.of(shard, edges.targets.astype(np.int64)))
        labels.append((edges.origins >> np.uint64(INSTANCE_AT)).astype(np.uint16))
        moved.append((edges.origins & np.uint64(1)).astype(np.bool_))
    source = np.concatenate(sources)
    order = np.argsort(source * instances + np.concatenate(labels), kind="stable")
    first_edge = np.zeros(numbering.size + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=numbering.size), out=first_edge[1:])
    return first_edge, np.concatenate(targets)[order], np.concatenate(labels)[order], np.concatenate(moved)[order]


def _sources(origins: Words, numbering: Numbering) -> Longs:
    """Return the numbers in the graph of the states that edges come from."""
    shards = (origins >> np.uint64(SHARD_AT)).astype(np.int64)
    numbers = (origins >> np.uint64(NUMBER_AT)).astype(np.int64) & ((1 << NUMBER_BITS) - 1)
    for shard in np.unique(shards).tolist():
        here = shards == shard
        numbers[here] = numbering.of(shard, numbers[here])
    return numbers


def gathered_answers(crew: Crew, numbering: Numbering, questions: int) -> Iterator[tuple[Mask, Mask]]:
    """Yield, for each question for later, in which states it presupposes something, and in which it is true."""
    answers = np.zeros((numbering.size, questions), np.uint8)
    for shard in range(crew.size):
        of_shard = crew.call("all_answers", {shard: ()})[shard]
        answers[numbering.of(shard, np.arange(len(of_shard)))] = of_shard
    for one in answers.T:
        yield (one & PRESUPPOSED) > 0, (one & DECIDES) > 0
