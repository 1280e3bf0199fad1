# SPDX-License-Identifier: Apache-2.0
"""What a broker knows."""

from __future__ import annotations

from typing import TypeVar

from attrs import evolve, field, frozen

from .groups.state import Groups
from .partition.state import Entry, Producer
from .transactions.state import Transaction

T = TypeVar("T")


@frozen(cache_hash=True)
class State:
    """``log`` has the records by offset, also deleted ones; ``sent`` counts all that the program has sent, appended or not.

    ``leaders`` says of each leader that the partition has had where the log ended when its epoch began.
    ``producers`` are those that have been given an id, each with what the partition remembers; ``transactions`` has what the
    coordinator knows of those with a transactional id; both in the order of their names.
    """

    lacks: frozenset[str] = frozenset()
    """Rules that this broker does not have: those of a later release, or one that was taken away."""

    log: tuple[Entry, ...] = ()
    log_start_offset: int = 0
    leaders: tuple[int, ...] = (0,)
    producers: tuple[tuple[str, Producer], ...] = ()
    transactions: tuple[tuple[str, Transaction], ...] = ()
    sent: int = 0
    groups: Groups = field(factory=Groups)

    @property
    def end_offset(self) -> int:
        """The offset of the next record; with one replica it is the high watermark too."""
        return len(self.log)

    def producer(self, name: str) -> Producer:
        """Return what is remembered of a producer."""
        return dict(self.producers)[name]

    def epoch_of(self, name: str, relative: int) -> int:
        """Return an epoch of a producer, given how far it is from the one that it was given last."""
        return self.producer(name).given + relative

    def transaction(self, name: str) -> Transaction | None:
        """Return what the coordinator knows of a producer's transactional id, ``None`` if nothing."""
        return dict(self.transactions).get(name)

    def with_producer(self, name: str, known: Producer) -> State:
        """Return the state in which this is remembered of a producer."""
        return evolve(self, producers=_with(self.producers, name, known))

    def with_transaction(self, name: str, known: Transaction) -> State:
        """Return the state in which the coordinator knows this of a producer's transactional id."""
        return evolve(self, transactions=_with(self.transactions, name, known))


def _with(pairs: tuple[tuple[str, T], ...], name: str, value: T) -> tuple[tuple[str, T], ...]:
    """Return pairs with another value for a name, in the order of names."""
    return tuple(sorted({**dict(pairs), name: value}.items(), key=lambda pair: pair[0]))
