# SPDX-License-Identifier: Apache-2.0
"""Vectors that are scenarios: commands one after another, and what may be observed after each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from hwmark.model import log_machine
from hwmark.model.log import EpochCache
from hwmark.model.log_machine import Bounds, Config
from hwmark.model.machine import Machine
from hwmark.spec.machines import MACHINES


@frozen
class Walks:
    """Shortest runs of a machine to each of its states: the commands are its actions, ``observe`` what can be told of a state."""

    name: str
    asks: str
    kafka: str
    sources: tuple[str, ...]
    machine: Callable[[], Machine[Any]]
    observe: Callable[[Any], Any]
    most: int
    """How many scenarios there are at most: the longest ones, since they begin with the others."""


@frozen
class LogSeen:
    """What can be told of a log: its limits, the leader epoch of each record from its start on, and the cache of epochs."""

    log_start_offset: int
    log_end_offset: int
    leader_epochs: tuple[int, ...]
    epoch_cache: EpochCache


def log_seen(state: log_machine.State) -> LogSeen:
    """Return what can be told of a log."""
    epochs = tuple(record.leader_epoch for record in state.log.records)
    return LogSeen(state.log_start_offset, state.end_offset, epochs, state.epoch_cache)


WALKS = (
    Walks(
        "log",
        "One replica's log: it leads in an epoch or follows, appends, truncates, rolls and deletes segments, crashes and recovers. "
        "That a command is in no scenario does not say that it is impossible.",
        "UnifiedLog; LeaderEpochFileCache",
        ("S2", "S10", "K-101"),
        lambda: log_machine.machine(MACHINES["log"].presets["log"], Config(), Bounds(log_size=2, records=2, max_leader_epoch=1)),
        log_seen,
        most=150,
    ),
)
