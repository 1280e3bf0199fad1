# SPDX-License-Identifier: Apache-2.0
"""Who leads the partition of a program, in which leader epoch: asked of one of several brokers, and changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from hwmark.model.broker_api.common import NOTHING

from .asking import BrokenError, CannotAskError

LOOK_EVERY = 0.01


@frozen
class Leadership:
    """A partition as a broker describes it: its leader, its leader epoch, its replicas, and where each broker listens."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    brokers: Mapping[int, tuple[str, int]]


def leadership(topic: Any, brokers: Any) -> Leadership | None:
    """Return what an answer to Metadata says of partition 0 of a topic; ``None`` if that has no leader."""
    found = next((one for one in topic.partitions or () if one.partition_index == 0 and one.leader_id >= 0), None)
    if found is None:
        return None
    listening = {int(one.node_id): (str(one.host), int(one.port)) for one in brokers}
    return Leadership(int(found.leader_id), max(int(found.leader_epoch), 0), tuple(map(int, found.replica_nodes)), listening)


def until(seconds: float, is_so: Callable[[], bool], failure: str) -> None:
    """Wait until something is so; raises ``BrokenError`` where that takes too long."""
    last = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > last:
            raise BrokenError(f"{failure} for {seconds:g} s")
        time.sleep(LOOK_EVERY)


# -- leader epochs, as numbers and in the model's words --


def epoch_of(epochs: list[int], relative: int) -> int:
    """Return a leader epoch, given those of all leaders so far, and how many leaders it is from the present one."""
    at = len(epochs) - 1 + relative
    epoch = epochs[-1] + relative if relative > 0 else epochs[at] if at >= 0 else epochs[0] + at
    if epoch < 0:
        raise CannotAskError("the partition has had no such leader")
    return epoch


def relative_of(epochs: list[int], epoch: int) -> int | None:
    """Return how many leaders an epoch is from the present one, ``None`` for none; raises ``BrokenError`` where nobody led in it."""
    if epoch == NOTHING:
        return None
    if epoch in epochs:
        return epochs.index(epoch) + 1 - len(epochs)
    if epochs[0] < epoch < epochs[-1]:
        raise BrokenError(f"an answer names leader epoch {epoch}, in which nobody led")
    return epoch - epochs[-1] if epoch > epochs[-1] else epoch - epochs[0] + 1 - len(epochs)
