# SPDX-License-Identifier: Apache-2.0
"""What a broker knows."""

from __future__ import annotations

from attrs import frozen

from .partition.state import Producer, Sent


@frozen(cache_hash=True)
class State:
    """``log`` has the records by offset, also deleted ones; ``sent`` counts all that the program has sent, appended or not.

    ``producers`` are those that have been given an id, in the order of their names, each with what the partition remembers.
    """

    log: tuple[Sent, ...] = ()
    log_start_offset: int = 0
    producers: tuple[tuple[str, Producer], ...] = ()
    sent: int = 0

    @property
    def end_offset(self) -> int:
        """The offset of the next record; with one replica it is the high watermark too."""
        return len(self.log)

    def producer(self, name: str) -> Producer:
        """Return what is remembered of a producer."""
        return dict(self.producers)[name]
