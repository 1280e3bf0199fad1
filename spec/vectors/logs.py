# SPDX-License-Identifier: Apache-2.0
"""Vectors about a replica's log: where leader epochs end, where a follower truncates, and where the high watermark goes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from attrs import evolve, frozen

from hwmark.model.log import UNDEFINED_EPOCH, EpochCache, EpochEnd, EpochEntry, Log, Record, assign_epoch, end_offset_for
from hwmark.model.machine import put
from hwmark.model.partition.follower import truncation_offset
from hwmark.model.partition.shared import with_high_watermark
from hwmark.model.partition.state import Bounds, Config, FetchAnswer, Follower, initial
from hwmark.spec.partition.presets import RIGHT

from .vector_set import VectorSet, every


@frozen
class EpochQuestion:
    """``cache``: the leader epochs that are known, oldest first. ``leader_epoch``: the one that is asked about."""

    cache: EpochCache
    leader_epoch: int
    log_end_offset: int


@frozen
class NewEpoch:
    """``cache``: the leader epochs that are known; ``entry`` is to be added."""

    cache: EpochCache
    entry: EpochEntry


@frozen
class Truncation:
    """``leader_epochs``: that of each record of the follower's log, which starts at offset 0; and what the leader answers."""

    leader_epochs: tuple[int, ...]
    diverging_epoch: int
    diverging_end_offset: int


@frozen
class Replication:
    """``end_offsets``: by broker, of which broker 0 leads; ``isr``: those in sync, and those that the leader has asked to be."""

    end_offsets: tuple[int, ...]
    isr: frozenset[int]
    min_isr: int
    high_watermark: int


def caches(epochs: int, offsets: int) -> Iterator[EpochCache]:
    """Yield every cache of so many epochs and offsets, the shortest first; epochs and offsets grow."""
    for length in range(min(epochs, offsets) + 1):
        for known, starts in product(combinations(range(epochs), length), combinations(range(offsets), length)):
            yield tuple(map(EpochEntry, known, starts))


def epoch_questions() -> Iterator[EpochQuestion]:
    """Yield questions about every epoch of small caches."""
    for cache in every(caches(4, 4), 2, 60):
        for leader_epoch in range(UNDEFINED_EPOCH, 5):
            yield EpochQuestion(cache, leader_epoch, 5)


def new_epochs() -> Iterator[NewEpoch]:
    """Yield entries that are added to small caches, also such as contradict them."""
    for cache in every(caches(3, 3), 1, 30):
        for leader_epoch, start_offset in product(range(4), range(0, 5, 2)):
            yield NewEpoch(cache, EpochEntry(leader_epoch, start_offset))


def truncations() -> Iterator[Truncation]:
    """Yield logs, and what a leader may say about where they part."""
    logs = (epochs for length in range(4) for epochs in product(range(3), repeat=length) if list(epochs) == sorted(epochs))
    for leader_epochs, epoch, end in product(logs, range(3), range(5)):
        yield Truncation(leader_epochs, epoch, end)


def replications() -> Iterator[Replication]:
    """Yield what a leader knows of its followers."""
    members = [frozenset(one) for one in ({0}, {0, 1}, {0, 2}, {0, 1, 2})]
    for end_offsets, isr, min_isr, high_watermark in product(((2, 0, 1), (2, 2, 1), (3, 3, 3), (1, 0, 0)), members, (1, 2), (0, 1)):
        yield Replication(end_offsets, isr, min_isr, high_watermark)


def epoch_end(question: EpochQuestion) -> EpochEnd:
    """Return the largest known epoch up to the one that is asked about, and where it ends."""
    return end_offset_for(question.cache, question.leader_epoch, question.log_end_offset)


def with_epoch(question: NewEpoch) -> EpochCache:
    """Return the cache with the entry."""
    return assign_epoch(question.cache, question.entry)


def truncated_to(question: Truncation) -> int:
    """Return the offset to which the follower truncates."""
    log = Log(tuple(Record(number, epoch) for number, epoch in enumerate(question.leader_epochs)))
    answer = FetchAnswer(
        leader=0,
        leader_epoch=9,
        fetch_offset=log.end_offset,
        diverging_epoch=question.diverging_epoch,
        diverging_end=question.diverging_end_offset,
    )
    return truncation_offset(log, answer)


def advanced_to(question: Replication) -> int:
    """Return the leader's high watermark afterwards; nobody outside of the ISR has caught up."""
    config = Config(replication_factor=len(question.end_offsets), min_isr=question.min_isr)
    state = initial(config, Bounds(brokers=len(question.end_offsets)))
    log = Log(tuple(Record(number, 0) for number in range(question.end_offsets[0])))
    leader = evolve(state.replicas[0], isr=question.isr, high_watermark=question.high_watermark)
    followers = tuple(Follower(end_offset, 1) for end_offset in question.end_offsets)
    known = put(state, logs={0: log}, replicas={0: leader}, followers={0: followers})
    return with_high_watermark(known, RIGHT, config, 0).replicas[0].high_watermark


LOGS = (
    VectorSet(
        "epoch_end_offset",
        "Where a leader epoch ends in a log: the largest known epoch up to the requested one, and the start of the next one. "
        "-1 is undefined.",
        "LeaderEpochFileCache.endOffsetFor",
        ("K-101", "K-279", "R03", "R16"),
        epoch_end,
        epoch_questions,
    ),
    VectorSet(
        "epoch_cache_assign",
        "The cache of leader epochs once an epoch is known to start at an offset; what contradicts it goes.",
        "LeaderEpochFileCache.assign",
        ("K-101",),
        with_epoch,
        new_epochs,
    ),
    VectorSet(
        "truncation_offset",
        "The offset to which a follower truncates when a leader answers its fetch with where the epoch of its last record ends.",
        "AbstractFetcherThread.getOffsetTruncationState",
        ("K-279", "K-320"),
        truncated_to,
        truncations,
    ),
    VectorSet(
        "high_watermark",
        "A leader's high watermark once it has looked at its followers' end offsets; it waits for the ISR, and does not move "
        "while that is below its minimum.",
        "Partition.maybeIncrementLeaderHW",
        ("S6", "S6-min-isr", "C07"),
        advanced_to,
        replications,
    ),
)
"""In the order of a log's life."""
