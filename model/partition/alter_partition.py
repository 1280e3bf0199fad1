# SPDX-License-Identifier: Apache-2.0
"""How the controller answers a leader that proposes an ISR (``ReplicationControlManager.alterPartition``, 4.3.1).

The checks stand in Kafka's order: who sees first that it is out of date decides which error comes back. Topics and
partitions are known here, and a proposal names nobody twice (Kafka: INVALID_REQUEST).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Protocol

from attrs import evolve, frozen

from hwmark.model.machine import BrokerId

from .decisions import Circumstances, LeaderRecovery, PartitionState, change

ANY_BROKER_EPOCH = -1
"""What stands for the broker epoch of a proposed member whose epoch the leader does not know, or need not."""


class Registered(Protocol):
    """What the controller knows of a registered broker (``BrokerRegistration``)."""

    @property
    def broker_epoch(self) -> int:
        """Which of its registrations it is."""
        ...

    @property
    def fenced(self) -> bool:
        """Whether its session has ended, or not begun yet."""
        ...

    @property
    def in_controlled_shutdown(self) -> bool:
        """Whether it asked to shut down."""
        ...


class Errors(Enum):
    """What an AlterPartition request is answered with (``org.apache.kafka.common.protocol.Errors``)."""

    NONE = "none"
    """The proposal is the partition's ISR now."""
    STALE_BROKER_EPOCH = "stale_broker_epoch"
    """The sender is an earlier incarnation of its broker, or unregistered."""
    NOT_CONTROLLER = "not_controller"
    """The sender knows more than this controller, which is the active one no more."""
    FENCED_LEADER_EPOCH = "fenced_leader_epoch"
    """The sender leads no more, or must learn first that it leads again."""
    INVALID_REQUEST = "invalid_request"
    """The sender does not lead, or its proposal lacks the leader, or names others than replicas, or skips recovery."""
    INVALID_UPDATE_VERSION = "invalid_update_version"
    """The partition has changed since what the sender knows."""
    INELIGIBLE_REPLICA = "ineligible_replica"
    """A proposed member is not alive, or has restarted since it caught up."""
    NEW_LEADER_ELECTED = "new_leader_elected"
    """The proposal was accepted, and with it the sender leads no more."""


class Ineligible(Enum):
    """Why a broker may not be in the ISR."""

    NOT_REGISTERED = "not_registered"
    """Nobody knows it."""
    SHUTTING_DOWN = "shutting_down"
    """It is about to stop (KIP-841)."""
    FENCED = "fenced"
    """It is not known to be alive (KIP-841)."""
    BROKER_EPOCH = "broker_epoch"
    """It has registered anew since the leader saw it catch up, so its log may be another one (KIP-903)."""


@frozen(cache_hash=True)
class BrokerState:
    """A proposed member of the ISR, and the incarnation of it that the leader saw catch up."""

    broker: BrokerId
    broker_epoch: int = ANY_BROKER_EPOCH


@frozen(cache_hash=True)
class AlterPartition:
    """What a leader proposes, and the epochs that it knows (``AlterPartitionRequestData``)."""

    sender: BrokerId
    broker_epoch: int
    leader_epoch: int
    partition_epoch: int
    new_isr: tuple[BrokerState, ...]
    leader_recovery: LeaderRecovery = LeaderRecovery.RECOVERED


# -- who may be in the ISR --


def ineligible(registration: Registered | None, broker_epoch: int) -> Ineligible | None:
    """Return why this incarnation of a broker may not be in the ISR, if so (``ineligibleReplicasForIsr``)."""
    if registration is None:
        return Ineligible.NOT_REGISTERED
    if registration.in_controlled_shutdown:
        return Ineligible.SHUTTING_DOWN
    if registration.fenced:
        return Ineligible.FENCED
    return Ineligible.BROKER_EPOCH if broker_epoch not in {ANY_BROKER_EPOCH, registration.broker_epoch} else None


# -- the checks --


def check_sender(request: AlterPartition, registration: Registered | None) -> Errors:
    """Refuse an earlier incarnation of the sender (``ClusterControlManager.checkBrokerEpoch``)."""
    is_current = registration is not None and registration.broker_epoch == request.broker_epoch
    return Errors.NONE if is_current else Errors.STALE_BROKER_EPOCH


def check_epochs(partition: PartitionState, request: AlterPartition) -> Errors:
    """Compare what leader and controller know: who knows less must learn first."""
    if request.leader_epoch > partition.leader_epoch or request.partition_epoch > partition.partition_epoch:
        return Errors.NOT_CONTROLLER
    if request.leader_epoch < partition.leader_epoch:
        return Errors.FENCED_LEADER_EPOCH
    if request.sender != partition.leader:
        return Errors.INVALID_REQUEST
    return Errors.INVALID_UPDATE_VERSION if request.partition_epoch < partition.partition_epoch else Errors.NONE


def check_isr(partition: PartitionState, request: AlterPartition) -> Errors:
    """Refuse an ISR without the leader, one with others than replicas, and one of several before the leader recovered."""
    isr = [member.broker for member in request.new_isr]
    is_recovering = request.leader_recovery is LeaderRecovery.RECOVERING
    is_wrong = (
        not set(partition.replicas).issuperset(isr)
        or partition.leader not in isr
        or (is_recovering and len(isr) > 1)
        or (is_recovering and partition.leader_recovery is LeaderRecovery.RECOVERED)
    )
    return Errors.INVALID_REQUEST if is_wrong else Errors.NONE


def check_eligible(request: AlterPartition, registered: Sequence[Registered | None]) -> Errors:
    """Refuse an ISR with a member that is not alive or has restarted; ``registered`` has each broker at its id."""
    are_eligible = all(ineligible(registered[member.broker], member.broker_epoch) is None for member in request.new_isr)
    return Errors.NONE if are_eligible else Errors.INELIGIBLE_REPLICA


def checks(partition: PartitionState, request: AlterPartition, registered: Sequence[Registered | None]) -> Iterable[Errors]:
    """Yield what each check says, in Kafka's order (``alterPartition``, ``validateAlterPartitionData``)."""
    yield check_sender(request, registered[request.sender])
    yield check_epochs(partition, request)
    yield check_isr(partition, request)
    yield check_eligible(request, registered)


def validate_alter_partition(partition: PartitionState, request: AlterPartition, registered: Sequence[Registered | None]) -> Errors:
    """Return the first error that a check finds, or none."""
    return next((error for error in checks(partition, request, registered) if error is not Errors.NONE), Errors.NONE)


# -- the answer --


def alter_partition(
    partition: PartitionState, request: AlterPartition, registered: Sequence[Registered | None], by: Circumstances
) -> tuple[Errors, PartitionState | None]:
    """Return the answer to a proposal, and the partition if it changes; an accepted proposal may finish a reassignment."""
    error = validate_alter_partition(partition, request, registered)
    if error is not Errors.NONE:
        return error, None
    isr = frozenset(member.broker for member in request.new_isr)
    after = change(partition, evolve(partition, isr=isr, leader_recovery=request.leader_recovery), by)
    return (Errors.NONE if after is None or after.leader == request.sender else Errors.NEW_LEADER_ELECTED), after
