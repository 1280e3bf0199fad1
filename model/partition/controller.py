# SPDX-License-Identifier: Apache-2.0
"""What the controller does: it fences and unfences brokers, registers them, elects leaders, and answers proposals of an ISR."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from attrs import evolve

from hwmark.model.machine import BrokerId, action, kafka, put

from .alter_partition import (
    ANY_BROKER_EPOCH,
    AlterPartition,
    Errors,
    Registered,
    check_epochs,
    check_isr,
    check_sender,
    ineligible,
)
from .changes import broker_fenced, broker_in_controlled_shutdown, broker_registered, broker_unfenced, decide, elect_leader, reassign
from .decisions import NOBODY, Brokers, ElectionType, PartitionState
from .rules import Eligibility, LateCopy, PartitionRules, ShutdownDetection, UncleanChoice, VersionCheck
from .shared import brokers, circumstances, decided, spend, truth
from .state import (
    UNKNOWN,
    AlterPartitionAnswer,
    Config,
    Registration,
    RegistrationAnswer,
    RegistrationRequest,
    State,
    Status,
)

# -- rules --


def was_clean(rules: PartitionRules, registration: Registration, request: RegistrationRequest) -> bool:
    """Whether the controller takes the log of a broker that registers for complete."""
    match rules.shutdown_detection:
        case ShutdownDetection.BROKER_EPOCH:
            return request.clean_epoch == registration.broker_epoch
        case ShutdownDetection.TRUSTED:
            return True
        case _:
            assert_never(rules.shutdown_detection)


def is_ineligible(rules: PartitionRules, registration: Registered, broker_epoch: int) -> bool:
    """Whether a proposed member of the ISR is refused."""
    match rules.eligibility:
        case Eligibility.ACTIVE_INCARNATION:
            return ineligible(registration, broker_epoch) is not None
        case Eligibility.ACTIVE:
            return ineligible(registration, ANY_BROKER_EPOCH) is not None
        case Eligibility.INCARNATION:
            return broker_epoch not in {ANY_BROKER_EPOCH, registration.broker_epoch}
        case _:
            assert_never(rules.eligibility)


def epochs_error(rules: PartitionRules, partition: PartitionState, request: AlterPartition) -> Errors:
    """Return what is wrong with the epochs of a proposal."""
    match rules.version_check:
        case VersionCheck.PARTITION_EPOCH:
            return check_epochs(partition, request)
        case VersionCheck.LEADER_EPOCH:
            return check_epochs(partition, evolve(request, partition_epoch=partition.partition_epoch))
        case _:
            assert_never(rules.version_check)


def unclean_candidates(rules: PartitionRules, state: State, alive: Brokers) -> Brokers:
    """Return among whom an operator's unclean election picks the first in assignment order."""
    match rules.unclean_choice:
        case UncleanChoice.FIRST_ASSIGNED:
            return alive
        case UncleanChoice.LONGEST_LOG:
            replicas = sorted(alive.intersection(truth(state).replicas))
            logs = {broker: (state.logs[broker].latest_epoch, state.logs[broker].end_offset) for broker in replicas}
            longest = max(logs.values(), default=None)
            return frozenset(broker for broker, log in logs.items() if log == longest)
        case _:
            assert_never(rules.unclean_choice)


def without_late_copy(state: State, rules: PartitionRules, request: AlterPartition) -> State:
    """Return the state once the controller has answered a proposal, as far as a second copy of it is concerned."""
    match rules.late_copy:
        case LateCopy.DROPPED:
            return put(state, duplicate=None, duplicate_of=NOBODY) if state.duplicate == request else state
        case LateCopy.HANDLED:
            return state
        case _:
            assert_never(rules.late_copy)


# -- brokers come and go --


@action(broker=brokers)
@kafka(
    "ReplicationControlManager.handleBrokerFenced; BrokerHeartbeatManager.findOneStaleBroker",
    versions="3.0–4.3",
    simplified="no time: the session of a broker that does not run may end at any moment, and of one that runs as often as the bounds say",
)
def fence_broker(state: State, rules: PartitionRules, config: Config, *, broker: BrokerId) -> State | None:
    """The controller fences a broker that it has not heard of: out of the ISR, and if it led another is elected."""
    registration, process = state.registrations[broker], state.processes[broker]
    is_alive = process.status is Status.RUNNING and process.broker_epoch == registration.broker_epoch
    if not state.controller_is_up or registration.fenced or (is_alive and not state.budget.fences):
        return None
    partition = broker_fenced(truth(state), broker, circumstances(state, rules, config))
    after = put(state, registrations={broker: evolve(registration, fenced=True, in_controlled_shutdown=False)})
    return decided(put(after, budget=spend(state.budget, "fences")) if is_alive else after, partition)


@action(broker=brokers)
@kafka(
    "BrokerHeartbeatManager.calculateNextBrokerState; ReplicationControlManager.handleBrokerUnfenced",
    versions="3.0–4.3",
    simplified="heartbeats are left out: a broker that has learned the metadata of its registration may be unfenced at any moment",
)
def unfence_broker(state: State, rules: PartitionRules, config: Config, *, broker: BrokerId) -> State | None:
    """The controller unfences a broker that runs; if nobody leads, and it may, it is elected."""
    registration, process = state.registrations[broker], state.processes[broker]
    if not state.controller_is_up or not registration.fenced or process.status is not Status.RUNNING:
        return None
    if process.broker_epoch != registration.broker_epoch or state.replicas[broker].partition_epoch == UNKNOWN:
        return None
    partition = broker_unfenced(truth(state), broker, circumstances(state, rules, config))
    return decided(put(state, registrations={broker: evolve(registration, fenced=False)}), partition)


@action(broker=brokers)
@kafka(
    "ClusterControlManager.registerBroker; ReplicationControlManager.handleBrokerShutdown",
    versions="3.0–4.3, clean shutdowns are told from others since 4.0 (KIP-966)",
    simplified="broker epochs count the lives of a broker, where Kafka takes the offset in the metadata log; no directories, no features",
)
def register_broker(state: State, rules: PartitionRules, config: Config, *, broker: BrokerId) -> State | None:
    """The controller registers a new life of a broker whose last session has ended; without a clean shutdown its log is not trusted."""
    request, registration = state.registering[broker], state.registrations[broker]
    if not isinstance(request, RegistrationRequest) or not state.controller_is_up or not registration.fenced:
        return None
    partition = truth(state)
    after = put(state, registrations={broker: Registration(broker_epoch=request.life, fenced=True)})
    changed = broker_registered(partition, broker, circumstances(state, rules, config), clean=was_clean(rules, registration, request))
    known = partition if changed is None else changed
    return decided(put(after, registering={broker: RegistrationAnswer(request.life, known.partition_epoch)}), changed)


@action(broker=brokers)
@kafka(
    "BrokerLifecycleManager.beginControlledShutdown; ReplicationControlManager.handleBrokerInControlledShutdown",
    versions="3.0–4.3",
    simplified="the broker's wish and the controller's handling of it are one step",
)
def begin_controlled_shutdown(state: State, rules: PartitionRules, config: Config, *, broker: BrokerId) -> State | None:
    """A broker asks to shut down, and the controller takes it out of the ISR and the leadership first."""
    registration, process = state.registrations[broker], state.processes[broker]
    if not state.controller_is_up or not state.budget.shutdowns or registration.fenced or registration.in_controlled_shutdown:
        return None
    if process.status is not Status.RUNNING or process.broker_epoch != registration.broker_epoch:
        return None
    partition = broker_in_controlled_shutdown(truth(state), broker, circumstances(state, rules, config))
    after = put(state, registrations={broker: evolve(registration, in_controlled_shutdown=True)}, budget=spend(state.budget, "shutdowns"))
    return decided(after, partition)


# -- the ISR --


@action(leader=brokers)
@kafka(
    "ReplicationControlManager.alterPartition; "
    "ReplicationControlManager.validateAlterPartitionData; ReplicationControlManager.ineligibleReplicasForIsr",
    versions="3.0–4.3, 2.7–3.9 with ZooKeeper (KafkaController.processAlterPartition), broker epochs since 3.5",
    simplified="the answer may come as soon as the decision is made, before any broker has learned it from the metadata log",
)
def answer_alter_partition(state: State, rules: PartitionRules, config: Config, *, leader: BrokerId) -> State | None:
    """The controller accepts a proposed ISR, or refuses it with the first check that fails."""
    request = state.altering[leader]
    if not isinstance(request, AlterPartition) or not state.controller_is_up:
        return None
    error, partition = judged(state, rules, config, request)
    known = truth(state) if partition is None else partition
    if error is Errors.NONE:
        answer = AlterPartitionAnswer(request, error, known.leader_epoch, known.partition_epoch, known.isr)
    else:
        answer = AlterPartitionAnswer(request, error)
    return decided(put(without_late_copy(state, rules, request), altering={leader: answer}), partition)


def judged(state: State, rules: PartitionRules, config: Config, request: AlterPartition) -> tuple[Errors, PartitionState | None]:
    """Return the error of a proposal, and what it changes if there is none."""
    partition = truth(state)
    error = next((one for one in _checks(state, rules, partition, request) if one is not Errors.NONE), Errors.NONE)
    if error is not Errors.NONE:
        return error, None
    isr = frozenset(member.broker for member in request.new_isr)
    target = evolve(partition, isr=isr, leader_recovery=request.leader_recovery)
    after = decide(partition, target, circumstances(state, rules, config))
    return (Errors.NONE if after is None or after.leader == request.sender else Errors.NEW_LEADER_ELECTED), after


def _checks(state: State, rules: PartitionRules, partition: PartitionState, request: AlterPartition) -> Iterable[Errors]:
    yield check_sender(request, state.registrations[request.sender])
    yield epochs_error(rules, partition, request)
    yield check_isr(partition, request)
    for member in request.new_isr:
        if is_ineligible(rules, state.registrations[member.broker], member.broker_epoch):
            yield Errors.INELIGIBLE_REPLICA


# -- the operator --


@action()
@kafka(
    "ReplicationControlManager.electLeader; ReplicationControlManager.maybeBalancePartitionLeaders",
    versions="3.0–4.3",
    simplified="balancing by time and an operator's request are one, and a perturbation",
)
def elect_preferred_leader(state: State, rules: PartitionRules, config: Config) -> State | None:
    """The controller gives the partition to its first replica, if that may lead without loss."""
    if not state.controller_is_up or not state.budget.elections:
        return None
    partition = elect_leader(truth(state), evolve(circumstances(state, rules, config), election=ElectionType.PREFERRED))
    return None if partition is None else decided(put(state, budget=spend(state.budget, "elections")), partition)


@action()
@kafka(
    "ReplicationControlManager.electLeader; PartitionChangeBuilder.electAnyLeader",
    versions="3.0–4.3",
    simplified="an operator's request; elections that unclean.leader.election.enable allows happen with whatever changes the partition",
)
def elect_uncleanly(state: State, rules: PartitionRules, config: Config) -> State | None:
    """Where nobody may lead without loss, the controller elects somebody who is alive at an operator's request."""
    if not state.controller_is_up or not state.budget.unclean_elections:
        return None
    by = circumstances(state, rules, config)
    by = evolve(by, election=ElectionType.UNCLEAN, acceptable=unclean_candidates(rules, state, by.acceptable))
    partition = elect_leader(truth(state), by)
    return None if partition is None else decided(put(state, budget=spend(state.budget, "unclean_elections")), partition)


@action(leaving=brokers, joining=brokers)
@kafka(
    "ReplicationControlManager.alterPartitionReassignments; ReplicationControlManager.changePartitionReassignment",
    versions="3.0–4.3",
    simplified="one replica is replaced by one other; cancelling is left out",
)
def replace_replica(state: State, rules: PartitionRules, config: Config, *, leaving: BrokerId, joining: BrokerId) -> State | None:
    """An operator moves one replica to another broker; the new one is added at once, the old one leaves when the new is in sync."""
    partition = truth(state)
    if not state.controller_is_up or not state.budget.reassignments or partition.adding or partition.removing:
        return None
    if leaving not in partition.replicas or joining in partition.replicas:
        return None
    replicas = tuple(joining if broker == leaving else broker for broker in partition.replicas)
    after = reassign(partition, replicas, circumstances(state, rules, config))
    return None if after is None else decided(put(state, budget=spend(state.budget, "reassignments")), after)


# -- the controller itself --


@action()
@kafka(
    "KafkaController.onControllerResignation; QuorumController",
    versions="0.8–3.9 with ZooKeeper; 3.0–4.3 with KRaft",
    simplified="the quorum is one linearizable controller that is there or not; what it decided is never lost",
)
def lose_controller(state: State) -> State | None:
    """The controller quorum loses its majority: nothing is decided until it is back, and brokers go on with what they know."""
    if not state.controller_is_up or not state.budget.outages:
        return None
    return put(state, controller_is_up=False, budget=spend(state.budget, "outages"))


@action()
@kafka("KafkaController.onControllerFailover; QuorumController", versions="0.8–3.9; 3.0–4.3", simplified="as when it is lost")
def regain_controller(state: State) -> State | None:
    """The controller quorum is back, with everything that it decided."""
    return None if state.controller_is_up else put(state, controller_is_up=True)
