# SPDX-License-Identifier: Apache-2.0
"""How the driver calls its shards, whatever they are: objects of this process, or actors on other machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from .messages import Absorbed

Poll = Callable[[], None]
"""What is called now and then while somebody waits; it raises where it is time to stop."""


class StoppedError(Exception):
    """The search cannot or may not go on; the message says why."""


class LostError(StoppedError):
    """A shard, or what it sent, is lost: nothing more can be asked of the shards."""


class Crew(Protocol):
    """All shards of a search. A call to one that is lost raises ``LostError``; waiting ends when ``poll`` raises."""

    size: int
    poll: Poll

    def share(self, value: Any) -> Any:
        """Return what stands for a value in calls to several shards, so that it travels once."""
        ...

    def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of some shards, by number, and return their answers in the order of their numbers."""
        ...

    def exchange(self) -> list[Absorbed]:
        """Let all shards send their parcels, and take in what is theirs."""
        ...
