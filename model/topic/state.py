# SPDX-License-Identifier: Apache-2.0
"""The partitions of a topic, and for each producer what waits, what is under way, and what it believes."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeVar

from attrs import field, frozen, validators

from hwmark.model.machine import Identity, IndexedBy

T = TypeVar("T")
PartitionId = int
PerPartition = tuple[T, ...]
ProducerId = Annotated[int, Identity("producer")]
PerProducer = Annotated[tuple[T, ...], IndexedBy("producer")]

NO_KEY = -1
"""The key of a record without one."""
NO_PARTITION: PartitionId = -1
"""No partition: a record that names none, a producer that has chosen none."""
NO_SEQUENCE = -1
"""The sequence number of a batch that has none yet, or never gets one (``RecordBatch.NO_SEQUENCE``)."""


class Strategy(Enum):
    """How the application lets its producers choose partitions."""

    KEY_HASH = "key_hash"
    """By the hash of the key, and sticky for records without one: Kafka's default."""
    STICKY = "sticky"
    """Sticky, whatever the key (``partitioner.ignore.keys``)."""
    ROUND_ROBIN = "round_robin"
    """In turn, whatever the key (``RoundRobinPartitioner``)."""
    EXPLICIT = "explicit"
    """Each record names its partition."""


class Outcome(Enum):
    """What has become of a request on its connection."""

    UNDER_WAY = "under_way"
    """The broker has not handled it."""
    DONE = "done"
    """Its batch is in the log, and the answer says so."""
    REFUSED = "refused"
    """Its batch is not appended, and the answer says to try again."""


@frozen(cache_hash=True)
class Record:
    """The ``number``-th record of a producer, its key, and the partition that it names."""

    producer: ProducerId
    number: int
    key: int = NO_KEY
    named: PartitionId = NO_PARTITION


@frozen(cache_hash=True)
class Stored:
    """A record in a log, under the offset that it got."""

    offset: int
    record: Record


@frozen(cache_hash=True)
class Batch:
    """Records that are sent and appended together; ``sequence`` is that of the first one; a closed batch was sent and gets no more."""

    records: tuple[Record, ...]
    sequence: int = NO_SEQUENCE
    is_closed: bool = False

    @property
    def end(self) -> int:
        """The sequence number behind its last record."""
        return self.sequence + len(self.records)


@frozen(cache_hash=True)
class Request:
    """A batch that was sent over a connection, and what became of it there."""

    batch: Batch
    outcome: Outcome = Outcome.UNDER_WAY


@frozen(cache_hash=True)
class Producer:
    """What a producer has done and knows.

    ``sent`` records were handed to it, of which ``refused`` were for no partition. It knows of so many ``partitions``. Records without
    a key go to ``sticky``, where so many went ``in_a_row``; ``turns`` were taken in turn.
    """

    partitions: int
    sent: int = 0
    refused: int = 0
    sticky: PartitionId = NO_PARTITION
    in_a_row: int = 0
    turns: int = 0


@frozen(cache_hash=True)
class Channel:
    """What a producer has for one partition: batches that wait, those on the connection in order, and those of lost connections.

    ``late`` batches were sent, the producer has given up waiting for their answers, and the broker may still handle them. The next new
    batch gets the sequence number ``sequence``.
    """

    waiting: tuple[Batch, ...] = ()
    in_flight: tuple[Request, ...] = ()
    late: tuple[Batch, ...] = ()
    sequence: int = 0


@frozen(cache_hash=True)
class State:
    """``logs[p]`` and what its leader ``remembered[p]`` of each producer: its last batches; the topic has so many ``partitions``.

    ``channels[r][p]`` is what producer r has for partition p, and ``positions[p]`` where the consumer is. The last two count what
    ``Bounds`` allow a number of.
    """

    partitions: int
    logs: PerPartition[tuple[Stored, ...]]
    remembered: PerPartition[PerProducer[tuple[Batch, ...]]]
    producers: PerProducer[Producer]
    channels: PerProducer[PerPartition[Channel]]
    positions: PerPartition[int]
    refusals: int
    disconnects: int


@frozen
class Config:
    """What is set at the producers."""

    strategy: Strategy = field(default=Strategy.KEY_HASH, validator=validators.instance_of(Strategy))
    enable_idempotence: bool = True
    max_in_flight: int = field(default=5, validator=[validators.ge(1), validators.le(9)])
    """``max.in.flight.requests.per.connection``; with idempotence at most 5."""
    batch_size: int = field(default=1, validator=[validators.ge(1), validators.le(9)])
    """``batch.size``, in records."""

    def __attrs_post_init__(self) -> None:
        """Refuse what ``ProducerConfig`` refuses."""
        if self.enable_idempotence and self.max_in_flight > IDEMPOTENT_IN_FLIGHT:
            raise ValueError(f"max_in_flight must be at most {IDEMPOTENT_IN_FLIGHT} with enable_idempotence")


IDEMPOTENT_IN_FLIGHT = 5
"""``MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION_FOR_IDEMPOTENCE``."""


def counted(default: int, least: int = 0) -> int:
    """Return a field of bounds that counts something."""
    count: int = field(default=default, validator=[validators.ge(least), validators.le(9)])
    return count


@frozen
class Bounds:
    """How far we look: producers with so many records each, partitions, keys, and so much trouble."""

    producers: int = counted(1, least=1)
    partitions: int = counted(2, least=1)
    records: int = counted(1)
    keys: int = counted(0)
    """How many different keys there are; each record may have one or none."""
    added: int = counted(0)
    """Partitions that are added to the topic."""
    refusals: int = counted(0)
    """A leader refuses a batch for the moment."""
    disconnects: int = counted(0)
    """A connection is lost, or an answer does not come in time."""
    consumers: int = counted(0)
    """Whether a consumer reads; more than one read as one does."""
    first_offset: int = field(default=0, validator=[validators.ge(0), validators.le(2**62)])
    """Of each log: what was there before is deleted."""


def most_partitions(bounds: Bounds) -> int:
    """Return how many partitions the topic has at last."""
    return bounds.partitions + bounds.added


def initial(bounds: Bounds) -> State:
    """The logs are empty, nothing was sent, and producers know all partitions."""
    most = most_partitions(bounds)
    return State(
        partitions=bounds.partitions,
        logs=((),) * most,
        remembered=(((),) * bounds.producers,) * most,
        producers=(Producer(bounds.partitions),) * bounds.producers,
        channels=((Channel(),) * most,) * bounds.producers,
        positions=(0,) * most,
        refusals=0,
        disconnects=0,
    )


# -- domains --


def producers(bounds: Bounds) -> range:
    """Return the ids of the producers."""
    return range(bounds.producers)


def partitions(bounds: Bounds) -> range:
    """Return the partitions that the topic has at last."""
    return range(most_partitions(bounds))


def draws(bounds: Bounds) -> range:
    """Return what is drawn or named where a partition is chosen: one more than there are."""
    return range(most_partitions(bounds) + 1)


def keys(bounds: Bounds) -> range:
    """Return the keys, no key first."""
    return range(NO_KEY, bounds.keys)


# -- helpers --


def replaced(entries: tuple[T, ...], index: int, entry: T) -> tuple[T, ...]:
    """Return the entries with one of them replaced."""
    return (*entries[:index], entry, *entries[index + 1 :])
