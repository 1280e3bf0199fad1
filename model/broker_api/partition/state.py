# SPDX-License-Identifier: Apache-2.0
"""What a broker knows of the records and producers of a partition."""

from __future__ import annotations

from attrs import frozen

from hwmark.model.broker_api.common import NOTHING

RETAINED = 5
"""How many batches of a producer are remembered (``ProducerStateEntry.NUM_BATCHES_TO_RETAIN``)."""


@frozen(cache_hash=True)
class Sent:
    """A record: its number in the program, which is its value, and its time."""

    value: int
    timestamp: int
    producer: str | None = None


@frozen(cache_hash=True)
class Batch:
    """A batch that a producer has sent: its sequences, and where it begins."""

    first_sequence: int
    last_sequence: int
    offset: int


@frozen(cache_hash=True)
class Producer:
    """What is remembered of a producer: its epoch (``NOTHING``: none of its records is there), and its last batches."""

    epoch: int = NOTHING
    batches: tuple[Batch, ...] = ()

    @property
    def last_sequence(self) -> int:
        """The sequence of its last record, ``NOTHING`` before the first."""
        return self.batches[-1].last_sequence if self.batches else NOTHING
