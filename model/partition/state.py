# SPDX-License-Identifier: Apache-2.0
"""The state of the ``partition`` machine: the controller's decisions, what each broker knows of them, logs, and messages.

Belief and truth are apart: ``metadata[partition_epoch]`` is the truth, ``replicas[b]`` what broker b takes for true.
Messages are in slots, as many as Kafka has in flight: one fetch a follower, one AlterPartition and one registration a
broker. What the controller decided is kept until every running broker has learned it.
"""

from __future__ import annotations

from enum import Enum

from attrs import evolve, field, fields, frozen, validators

from hwmark.model.log import UNDEFINED_EPOCH, Log, Record
from hwmark.model.machine import BrokerId, PerBroker

from .alter_partition import AlterPartition
from .alter_partition import Errors as AlterErrors
from .decisions import NOBODY, Brokers, PartitionState

UNKNOWN = -1
"""An offset or a broker epoch that somebody does not know."""


# -- brokers --


class Status(Enum):
    """What a broker's process is doing."""

    RUNNING = "running"
    STARTING = "starting"
    """It has opened its logs, and the controller has not answered its registration yet."""
    STOPPED = "stopped"


@frozen(cache_hash=True)
class Process:
    """A broker's process: which of its lives it is in, and the broker epoch that it goes by while it is registered.

    ``clean_epoch`` is what it wrote down when it last stopped cleanly: the broker epoch of then, else ``UNKNOWN``.
    """

    status: Status = Status.RUNNING
    life: int = 1
    broker_epoch: int = 1
    clean_epoch: int = UNKNOWN


@frozen(cache_hash=True)
class Registration:
    """What the controller knows of a broker; broker epochs are numbered by the lives of the broker."""

    broker_epoch: int = 1
    fenced: bool = False
    in_controlled_shutdown: bool = False


@frozen(cache_hash=True)
class RegistrationRequest:
    """A starting broker registers: its life (Kafka: an incarnation id), and the broker epoch in which it stopped cleanly."""

    life: int
    clean_epoch: int


@frozen(cache_hash=True)
class RegistrationAnswer:
    """The controller registered this life of a broker; ``partition_epoch``: what the metadata said by then."""

    life: int
    partition_epoch: int


# -- replicas --


@frozen(cache_hash=True)
class Replica:
    """What a broker believes about the partition; an ISR is known to leaders only.

    ``proposed`` is the ISR that a leader asked for and has no answer to, else empty. ``epoch_start`` is where a leader's
    epoch starts in its log. ``fetch_epoch`` is the leader epoch in which a follower fetches.
    """

    leader: BrokerId = NOBODY
    leader_epoch: int = UNDEFINED_EPOCH
    partition_epoch: int = UNKNOWN
    high_watermark: int = 0
    replicas: tuple[BrokerId, ...] = ()
    isr: Brokers = frozenset()
    proposed: Brokers = frozenset()
    epoch_start: int = UNKNOWN
    fetch_epoch: int = UNDEFINED_EPOCH


@frozen(cache_hash=True)
class Follower:
    """What a leader knows of a follower: up to where it has fetched, and in which broker epoch.

    The rest is noted only where the high watermark waits for who has caught up: where the leader's log ended at the last
    fetch of this leader epoch, and whether the follower had all of it within ``replica.lag.time.max.ms``.
    """

    end_offset: int = UNKNOWN
    broker_epoch: int = UNKNOWN
    leader_end_offset: int = UNKNOWN
    caught_up: bool = False


# -- messages --


class FetchError(Enum):
    """Why a fetch is refused."""

    NOT_LEADER_OR_FOLLOWER = "not_leader_or_follower"
    FENCED_LEADER_EPOCH = "fenced_leader_epoch"
    UNKNOWN_LEADER_EPOCH = "unknown_leader_epoch"
    OFFSET_OUT_OF_RANGE = "offset_out_of_range"


@frozen(cache_hash=True)
class FetchRequest:
    """A follower asks its leader for the record at an offset. ``held``: the leader has seen it, and waits for news."""

    leader: BrokerId
    leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    broker_epoch: int
    held: bool = False


@frozen(cache_hash=True)
class FetchAnswer:
    """What a leader answers: an error, or where an epoch ends (divergence), or at most one record; and its log's limits."""

    leader: BrokerId
    leader_epoch: int
    fetch_offset: int
    error: FetchError | None = None
    diverging_epoch: int = UNDEFINED_EPOCH
    diverging_end: int = UNKNOWN
    record: Record | None = None
    high_watermark: int = 0
    log_start_offset: int = 0
    log_end_offset: int = 0


@frozen(cache_hash=True)
class AlterPartitionAnswer:
    """The controller's answer to a proposal: an error, or the ISR and partition epoch that hold now."""

    request: AlterPartition
    error: AlterErrors
    leader_epoch: int = UNDEFINED_EPOCH
    partition_epoch: int = UNKNOWN
    isr: Brokers = frozenset()


@frozen(cache_hash=True)
class Waiting:
    """A produce request that a leader has appended and not answered."""

    leader: BrokerId
    offset: int


# -- clients --


@frozen(cache_hash=True)
class Consumer:
    """A consumer's position, the epoch of the record before it, and the leader and leader epoch in its metadata.

    ``validated``: it has compared its position with this leader's log.
    """

    position: int = 0
    last_epoch: int = UNDEFINED_EPOCH
    leader: BrokerId = NOBODY
    leader_epoch: int = UNDEFINED_EPOCH
    validated: bool = True


@frozen(cache_hash=True)
class Budget:
    """How many perturbations of each kind may still happen; what heals has no budget."""

    fences: int
    shutdowns: int
    crashes: int
    lossy_crashes: int
    lags: int
    losses: int
    duplicates: int
    elections: int
    unclean_elections: int
    reassignments: int
    deletions: int
    outages: int


@frozen(cache_hash=True)
class State:
    """All that Kafka stores of the partition, all that is under way, and what may still go wrong."""

    metadata: tuple[PartitionState | None, ...]
    partition_epoch: int
    controller_is_up: bool
    registrations: PerBroker[Registration]
    processes: PerBroker[Process]
    positions: PerBroker[int]
    replicas: PerBroker[Replica]
    logs: PerBroker[Log]
    followers: PerBroker[PerBroker[Follower]]
    registering: PerBroker[RegistrationRequest | RegistrationAnswer | None]
    fetching: PerBroker[FetchRequest | FetchAnswer | None]
    altering: PerBroker[AlterPartition | AlterPartitionAnswer | None]
    duplicate: FetchRequest | AlterPartition | None
    duplicate_of: BrokerId
    produced: tuple[Waiting | None, ...]
    next_record_id: int
    consumers: tuple[Consumer, ...]
    budget: Budget


# -- what an operator sets, and how far we look --


class Acks(Enum):
    """When a producer takes a record for stored (``acks``)."""

    NONE = "0"
    """It does not ask."""
    LEADER = "1"
    """Once the leader has it."""
    ALL = "all"
    """Once it is committed, and the ISR is not below its minimum."""


@frozen
class Config:
    """What an operator and the producers' owners set."""

    replication_factor: int = field(default=2, validator=[validators.ge(1), validators.le(9)])
    min_isr: int = field(default=1, validator=[validators.ge(1), validators.le(9)])
    elr: bool = True
    """Eligible leader replicas (``eligible.leader.replicas.version`` 1)."""
    unclean_elections: bool = False
    """``unclean.leader.election.enable``."""
    acks: Acks = Acks.ALL
    follower_reads: bool = False
    """Whether consumers read from any replica (KIP-392)."""


class Start(Enum):
    """What has happened before the start."""

    IN_SYNC = "in_sync"
    """Nothing: whoever is not in the ISR has an empty log."""
    OUTSIDER_OF_LATER_EPOCH = "outsider_of_later_epoch"
    """The last replica led in epoch 1, and holds a record of its own that nobody else has, as all others hold what is committed;
    the first leads again, in epoch 2."""
    SECOND_LEADS = "second_leads"
    """Nothing but that the second replica leads: an election of the preferred leader, which is the first, moves the leadership."""


@frozen
class Bounds:
    """How far we look: brokers, records, and how often each kind of perturbation happens."""

    brokers: int = field(default=2, validator=[validators.ge(1), validators.le(9)])
    records: int = field(default=1, validator=[validators.ge(0), validators.le(64)])
    initial_isr: int = field(default=9, validator=[validators.ge(1), validators.le(9)])
    """How many of the replicas are in the ISR at the start; those of the others that ``min.insync.replicas`` asks for are eligible."""
    initial_records: int = field(default=0, validator=[validators.ge(0), validators.le(64)])
    """How many records are committed at the start: in the logs of the ISR, and of as many more as ``min.insync.replicas`` asks for."""
    start: Start = Start.IN_SYNC
    segment_size: int = field(default=1, validator=[validators.ge(1), validators.le(64)])
    """How many records a segment has; the start of the log moves by whole segments, unless records are deleted by request."""
    consumers: int = field(default=0, validator=[validators.ge(0), validators.le(2)])
    fences: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """The controller takes a broker for dead that runs."""
    shutdowns: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A broker stops cleanly, asking the controller first or not."""
    crashes: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A broker's process is killed; what it wrote is still there."""
    lossy_crashes: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A broker's machine fails: what was not flushed is gone, and that may be any part of the end of its log."""
    lags: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A leader proposes to drop a follower that lacks records, or waits no more for one outside of the ISR that runs."""
    losses: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A message is lost, and its sender notices."""
    duplicates: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A request arrives a second time, at any later moment."""
    elections: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """An operator elects the preferred leader, or the controller does to balance."""
    unclean_elections: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """An operator elects whoever is alive, where nobody may lead without loss."""
    reassignments: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    deletions: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """Retention or a request moves the start of the log."""
    outages: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """No controller decides anything for a while."""
    stays_down: bool = False
    """A broker that went down is not started again: what the others can still do is asked so, and not all get in sync again."""


PARTITION_EPOCHS = 4
"""How many changes one perturbation can lead to, with all that heals it; reaching the limit is reported as impossible."""


def perturbations(bounds: Bounds) -> tuple[int, ...]:
    """Return how many perturbations of each kind may happen, in the order of ``Budget``."""
    return tuple(getattr(bounds, kind.name) for kind in fields(Budget))


def partition_epochs(bounds: Bounds) -> range:
    """Return the partition epochs that the controller can reach."""
    return range(3 + PARTITION_EPOCHS * sum(perturbations(bounds)))


def initial(config: Config, bounds: Bounds) -> State:
    """Everybody runs, and the first replica leads, or the second; the metadata are known to all."""
    ids = range(bounds.brokers)
    replicas = tuple(ids[: config.replication_factor])
    is_late = bounds.start is Start.OUTSIDER_OF_LATER_EPOCH
    isr = frozenset(replicas[: min(bounds.initial_isr, len(replicas) - is_late)])
    complete = replicas[:-1] if is_late else replicas[: max(len(isr), min(config.min_isr, len(replicas)))]
    eligible = min(config.min_isr, len(complete)) if config.elr else 0
    partition = PartitionState(
        replicas=replicas,
        isr=isr,
        elr=frozenset(complete[len(isr) : eligible]),
        leader=replicas[min(bounds.start is Start.SECOND_LEADS, len(isr) - 1)],
        leader_epoch=2 if is_late else 0,
    )
    committed = Log(tuple(Record(record_id, 0) for record_id in range(bounds.initial_records)))
    outside = Log((Record(bounds.initial_records, 1),)) if is_late else Log()
    return State(
        metadata=(partition, *(None,) * (len(partition_epochs(bounds)) - 1)),
        partition_epoch=0,
        controller_is_up=True,
        registrations=(Registration(),) * bounds.brokers,
        processes=(Process(),) * bounds.brokers,
        positions=(0,) * bounds.brokers,
        replicas=tuple(_believes(partition, broker, bounds.initial_records if broker in complete else 0) for broker in ids),
        logs=tuple(committed if broker in complete else outside if broker == replicas[-1] else Log() for broker in ids),
        followers=((Follower(),) * bounds.brokers,) * bounds.brokers,
        registering=(None,) * bounds.brokers,
        fetching=(None,) * bounds.brokers,
        altering=(None,) * bounds.brokers,
        duplicate=None,
        duplicate_of=NOBODY,
        produced=(None,) * bounds.records,
        next_record_id=bounds.initial_records + is_late,
        consumers=(Consumer(leader=partition.leader, leader_epoch=partition.leader_epoch),) * bounds.consumers,
        budget=Budget(*perturbations(bounds)),
    )


def _believes(partition: PartitionState, broker: BrokerId, high_watermark: int) -> Replica:
    if broker not in partition.replicas:
        return Replica(partition_epoch=0)
    known = Replica(partition.leader, partition.leader_epoch, partition_epoch=0, high_watermark=high_watermark)
    if broker != partition.leader:
        return evolve(known, fetch_epoch=partition.leader_epoch)
    return evolve(known, replicas=partition.replicas, isr=partition.isr, epoch_start=high_watermark)
