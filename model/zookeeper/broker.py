# SPDX-License-Identifier: Apache-2.0
"""What a broker's process does: it crashes, starts and registers, gets a new session, and learns what a controller decided."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.machine import BrokerId, action, kafka, put

from .rules import BrokerEpochFence, ControllerEpochFence, ElectedAgain, LeaderEpochFence, Reconnect, Rules
from .shared import brokers, controller_epochs, resigned, spend, stands_still, with_high_watermark
from .state import UNKNOWN, LeaderAndIsr, PartitionZNode, Process, Replica, State

# -- rules --


def is_meant_for(rules: Rules, process: Process, request: LeaderAndIsr) -> bool:
    """Whether a broker takes a request for meant for its present life."""
    match rules.broker_epoch_fence:
        case BrokerEpochFence.NOT_OLDER:
            return request.broker_epoch >= process.broker_epoch
        case BrokerEpochFence.EXACT:
            return request.broker_epoch == process.broker_epoch
        case BrokerEpochFence.NONE:
            return True
        case _:
            assert_never(rules.broker_epoch_fence)


def is_obeyed(rules: Rules, process: Process, request: LeaderAndIsr) -> bool:
    """Whether a broker obeys a controller of this epoch."""
    match rules.controller_epoch_fence:
        case ControllerEpochFence.NOT_OLDER:
            return request.controller_epoch >= process.controller_epoch
        case ControllerEpochFence.NONE:
            return True
        case _:
            assert_never(rules.controller_epoch_fence)


def is_news(rules: Rules, replica: Replica, decision: PartitionZNode) -> bool:
    """Whether a broker obeys a decision, given the last one that it obeyed."""
    match rules.leader_epoch_fence:
        case LeaderEpochFence.NEWER:
            return decision.leader_epoch > replica.leader_epoch
        case LeaderEpochFence.NOT_OLDER:
            return decision.leader_epoch >= replica.leader_epoch
        case _:
            assert_never(rules.leader_epoch_fence)


def remembered(rules: Rules, replica: Replica, broker: BrokerId, followers: tuple[int, ...]) -> tuple[int, ...]:
    """Return what a new leader knows of how far its followers have fetched."""
    match rules.elected_again:
        case ElectedAgain.FORGETS:
            return (UNKNOWN,) * len(followers)
        case ElectedAgain.REMEMBERS:
            return followers if replica.leader == broker else (UNKNOWN,) * len(followers)
        case _:
            assert_never(rules.elected_again)


def in_new_session(rules: Rules, state: State, broker: BrokerId) -> State:
    """Return the state once a broker has a new session, as far as its being the controller is concerned."""
    match rules.reconnect:
        case Reconnect.RESIGNS:
            return resigned(state, broker)
        case Reconnect.GOES_ON:
            return state
        case _:
            assert_never(rules.reconnect)


# -- lives and sessions --


@action(broker=brokers)
@kafka(
    "KafkaServer.shutdown; ReplicaManager.checkpointHighWatermarks",
    versions="0.8–3.9",
    simplified="what is written is kept, and the high watermark on disk is the last one; lossy crashes and clean shutdowns are left out",
)
def crash(state: State, *, broker: BrokerId) -> State | None:
    """A broker's process ends without notice; its session lives on until it expires, and who is the controller sends to it again."""
    process = state.processes[broker]
    if not process.is_running or not state.budget.crashes:
        return None
    after = resigned(state, broker)
    senders = [role.controller_epoch for role in after.controllers if role is not None]
    return put(
        after,
        requests={broker: tuple(request for request in after.requests[broker] if request.controller_epoch in senders)},
        processes={broker: Process(is_running=False, broker_epoch=max(process.broker_epoch, state.registrations[broker]))},
        replicas={broker: Replica(high_watermark=state.replicas[broker].high_watermark)},
        followers={broker: (UNKNOWN,) * len(state.processes)},
        budget=spend(state.budget, "crashes"),
    )


@action(broker=brokers)
@kafka(
    "KafkaServer.startup; KafkaZkClient.registerBroker",
    versions="1.1–3.9",
    simplified="broker epochs are numbered by the registrations of a broker; a start while the znode of the former life is there fails in "
    "Kafka, and is as if it did not happen",
)
def start_broker(state: State, *, broker: BrokerId) -> State | None:
    """A broker starts once the session of its former life has expired, registers, and knows nothing of the partition yet."""
    process = state.processes[broker]
    if process.is_running or not state.zookeeper_is_up or state.registrations[broker] != UNKNOWN:
        return None
    epoch = process.broker_epoch + 1
    return put(state, processes={broker: Process(broker_epoch=epoch)}, registrations={broker: epoch})


@action(broker=brokers)
@kafka(
    "KafkaController.processExpire; KafkaController.processRegisterBrokerAndReelect; ZooKeeperClient.reinitialize",
    versions="1.1–3.9",
    simplified="being told of the expiry, resigning and registering are one step",
)
def reconnect(state: State, rules: Rules, *, broker: BrokerId) -> State | None:
    """A broker hears that its session has expired, and registers in a new one; what it leads it goes on to lead."""
    process = state.processes[broker]
    if not process.is_running or not state.zookeeper_is_up or state.registrations[broker] != UNKNOWN:
        return None
    return put(in_new_session(rules, state, broker), registrations={broker: process.broker_epoch + 1})


@action(broker=brokers)
@kafka("KafkaController.processRegisterBrokerAndReelect", versions="2.2–3.9", simplified="nothing of note")
def learn_broker_epoch(state: State, *, broker: BrokerId) -> State | None:
    """A broker learns the broker epoch of its new registration, which controllers may have seen before."""
    process, registration = state.processes[broker], state.registrations[broker]
    if not process.is_running or registration <= process.broker_epoch:
        return None
    return put(state, processes={broker: evolve(process, broker_epoch=registration)})


# -- decisions --


@action(broker=brokers, controller_epoch=controller_epochs)
@kafka(
    "KafkaApis.handleLeaderAndIsrRequest; ReplicaManager.becomeLeaderOrFollower; Partition.makeLeader; Partition.makeFollower",
    versions="2.2–2.6",
    simplified="nothing is lost but with the controller or the connection: Kafka repeats until it is answered; none arrives twice",
)
def receive_leader_and_isr(state: State, rules: Rules, *, broker: BrokerId, controller_epoch: int) -> State | None:
    """A broker gets the next request of a controller, and leads, follows, or refuses."""
    queue, process, mine = state.requests[broker], state.processes[broker], state.replicas[broker]
    place = next((place for place, one in enumerate(queue) if one.controller_epoch == controller_epoch), None)
    if place is None or not process.is_running or stands_still(rules, mine):
        return None
    request, after = queue[place], put(state, requests={broker: (*queue[:place], *queue[place + 1 :])})
    if not is_meant_for(rules, process, request) or not is_obeyed(rules, process, request):
        return after
    after = put(after, processes={broker: evolve(process, controller_epoch=max(process.controller_epoch, controller_epoch))})
    if not is_news(rules, mine, request.decision):
        return after
    return _lead(after, rules, broker, request.decision) if request.decision.leader == broker else _follow(after, broker, request.decision)


def _lead(state: State, rules: Rules, broker: BrokerId, decision: PartitionZNode) -> State:
    mine = state.replicas[broker]
    replica = Replica(
        leader=broker,
        leader_epoch=decision.leader_epoch,
        isr=decision.isr,
        controller_epoch=decision.controller_epoch,
        version=decision.version,
        high_watermark=mine.high_watermark,
        epoch_start=state.logs[broker].end_offset,
    )
    known = remembered(rules, mine, broker, state.followers[broker])
    return with_high_watermark(put(state, replicas={broker: replica}, followers={broker: known}), rules, broker)


def _follow(state: State, broker: BrokerId, decision: PartitionZNode) -> State:
    replica = Replica(decision.leader, decision.leader_epoch, high_watermark=state.replicas[broker].high_watermark)
    return put(state, replicas={broker: replica}, followers={broker: (UNKNOWN,) * len(state.processes)})
