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
    transactional: bool = False


@frozen(cache_hash=True)
class Marker:
    """The end of a producer's transaction, which takes an offset too."""

    producer: str
    commit: bool


Entry = Sent | Marker
"""What is at an offset of a log."""


@frozen(cache_hash=True)
class Batch:
    """A batch that a producer has sent: its sequences, and where it begins."""

    first_sequence: int
    last_sequence: int
    offset: int


@frozen(cache_hash=True)
class Verification:
    """That a transactional batch was about to be appended: the least first sequence so far, of the highest epoch.

    ``adds``: whether the batch makes the partition part of the transaction (KIP-890, part 2).
    """

    sequence: int
    epoch: int
    adds: bool


@frozen(cache_hash=True)
class Producer:
    """What is remembered of a producer: its epoch (``NOTHING``: nothing of it is there), and its last batches.

    ``given`` is the epoch that it was given last, by which it goes.
    """

    given: int = 0
    epoch: int = NOTHING
    batches: tuple[Batch, ...] = ()
    verification: Verification | None = None

    @property
    def last_sequence(self) -> int:
        """The sequence of its last record, ``NOTHING`` before the first."""
        return self.batches[-1].last_sequence if self.batches else NOTHING
