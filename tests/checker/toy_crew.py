# SPDX-License-Identifier: Apache-2.0
"""Shards in one process, for tests: what they are told and tell is pickled as it is on its way to actors.

A crew can lose a shard at any call, and can then not be asked anything any more.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attrs import define, field

from hwmark.checker.cluster.crew import LostError
from hwmark.checker.cluster.messages import Absorbed
from hwmark.checker.cluster.shard import Shard


def sent(value: Any) -> Any:
    """Return a value as it arrives elsewhere."""
    return pickle.loads(pickle.dumps(value, protocol=5))  # noqa: S301 - our own


@define(eq=False)
class Inside:
    """Shards as objects of this process; at call ``dies_at`` something is lost, and shard ``dies`` for ever."""

    size: int
    poll: Callable[[], None]
    dies_at: int | None = None
    dies: int = 0
    loses_at: int | None = None
    """The exchange from which on parcels are lost unseen."""
    exchanges: int = 0
    calls: int = 0
    shards: list[Shard] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make the shards."""
        self.shards = [Shard(number, self.size) for number in range(self.size)]

    def share(self, value: Any) -> Any:
        """Return the value."""
        return value

    def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of some shards."""
        return {shard: self._call(shard, method, *given) for shard, given in sorted(arguments.items())}

    def exchange(self) -> list[Absorbed]:
        """Let all shards send their parcels, and take in what is theirs."""
        parcels = [self._call(shard, "send") for shard in range(self.size)]
        self.exchanges += 1
        if self.loses_at is not None and self.exchanges >= self.loses_at:
            parcels = [[[] for _ in sent] for sent in parcels]
        return [self._call(shard, "absorb", *[sent[shard] for sent in parcels]) for shard in range(self.size)]

    def _call(self, shard: int, method: str, *arguments: Any) -> Any:
        self.poll()
        self.calls += 1
        if self.dies_at is not None and self.calls > self.dies_at and (self.calls == self.dies_at + 1 or shard == self.dies):
            raise LostError("a shard died")
        return sent(getattr(self.shards[shard], method)(*sent(arguments)))


def inside(
    dies_at: int | None = None, dies: int = 0, loses_at: int | None = None, crews: list[Inside] | None = None
) -> Callable[[int, Callable[[], None]], Any]:
    """Return what musters shards in this process, and enters them in ``crews``."""

    @contextmanager
    def muster(shards: int, poll: Callable[[], None]) -> Iterator[Inside]:
        crew = Inside(shards, poll, dies_at, dies, loses_at)
        if crews is not None:
            crews.append(crew)
        yield crew

    return muster
