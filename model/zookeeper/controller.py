# SPDX-License-Identifier: Apache-2.0
"""What a broker does that is the controller, or believes it: it is elected, watches brokers come and go, decides, and tells."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.machine import BrokerId, action, kafka, put

from .decisions import LeaderIsr, decide, elect_preferred
from .rules import BounceDetection, ControllerWriteFence, DecisionWrite, Rules
from .shared import brokers, cut_off, is_controller, reaches_zookeeper, resigned, sent, spend
from .state import NOBODY, UNKNOWN, Config, Controller, Isr, PartitionZNode, State

# -- rules --


def is_bounced(rules: Rules, known: int, registration: int) -> bool:
    """Whether a controller sees that a broker that it takes for alive has registered anew."""
    match rules.bounce_detection:
        case BounceDetection.BROKER_EPOCH:
            return registration > known
        case BounceDetection.NONE:
            return False
        case _:
            assert_never(rules.bounce_detection)


def decides_by(rules: Rules, state: State, role: Controller) -> PartitionZNode:
    """Return the partition by which a controller decides: as it is in ZooKeeper now, or as it was when it looked last."""
    match rules.decision_write:
        case DecisionWrite.ZK_VERSION:
            return state.znode
        case DecisionWrite.NOTHING:
            return role.known
        case _:
            assert_never(rules.decision_write)


def may_write(rules: Rules, state: State, role: Controller) -> bool:
    """Whether ZooKeeper accepts a decision of a controller."""
    match rules.controller_write_fence:
        case ControllerWriteFence.CONTROLLER_EPOCH:
            return role.controller_epoch == state.controller_epoch
        case ControllerWriteFence.NONE:
            return role.controller_epoch >= state.znode.controller_epoch
        case _:
            assert_never(rules.controller_write_fence)


# -- who is the controller --


@action(broker=brokers)
@kafka(
    "KafkaController.elect; KafkaController.onControllerFailover; KafkaZkClient.registerControllerAndIncrementControllerEpoch",
    versions="2.1–2.6",
    simplified="winning, reading, and writing and sending what is to be decided are one step, with one write instead of one a broker",
)
def elect_controller(state: State, rules: Rules, config: Config, *, broker: BrokerId) -> State | None:
    """Nobody is the controller: a broker that sees that becomes it, in the next controller epoch, and sets right what it finds."""
    if not reaches_zookeeper(state, broker) or state.controller != NOBODY:
        return None
    epoch = state.controller_epoch + 1
    role = Controller(epoch, tuple(state.registrations), state.znode)
    after = put(resigned(state, broker), controller=broker, controller_epoch=epoch, controllers={broker: role}, isr_change_notified=False)
    after = sent(after, epoch, role.live, role.known, alive(role))
    return decided(after, rules, broker, decide(role.known, alive(role), dead(role), unclean=config.unclean_elections))


@action(broker=brokers)
@kafka("KafkaController.maybeResign; KafkaController.processControllerChange", versions="1.1–2.6", simplified="nothing of note")
def resign(state: State, *, broker: BrokerId) -> State | None:
    """A broker that believes that it is the controller finds out that it is not."""
    if state.controllers[broker] is None or not reaches_zookeeper(state, broker) or is_controller(state, broker):
        return None
    return resigned(state, broker)


# -- brokers come and go --


@action(controller=brokers, broker=brokers)
@kafka(
    "KafkaController.processBrokerChange; KafkaController.onBrokerFailure; ReplicaStateMachine.doRemoveReplicasFromIsr",
    versions="2.2–2.6",
    simplified="one broker at a time, and one that is back is gone first; who is refused resigns, where until 2.0 it gives up the "
    "decision; reading and the conditional write are one step, as Kafka repeats both until nobody was faster; StopReplica to a broker "
    "that is not there is left out",
)
def handle_broker_failure(state: State, rules: Rules, config: Config, *, controller: BrokerId, broker: BrokerId) -> State | None:
    """The controller misses a broker that it took for alive: out of the ISR, and if it led another is elected."""
    role = state.controllers[controller]
    if role is None or not reaches_zookeeper(state, controller) or role.live[broker] == UNKNOWN:
        return None
    registration = state.registrations[broker]
    if registration != UNKNOWN and not is_bounced(rules, role.live[broker], registration):
        return None
    read = decides_by(rules, state, role)
    role = evolve(role, live=_replaced(role.live, broker, UNKNOWN), known=read)
    after = cut_off(put(state, controllers={controller: role}), role.controller_epoch, frozenset({broker}))
    return decided(after, rules, controller, decide(read, alive(role), frozenset({broker}), unclean=config.unclean_elections))


@action(controller=brokers, broker=brokers)
@kafka(
    "KafkaController.processBrokerChange; KafkaController.onBrokerStartup; PartitionStateMachine.triggerOnlinePartitionStateChange",
    versions="2.2–2.6",
    simplified="one broker at a time; requests that tell brokers who is alive (UpdateMetadata) are left out",
)
def handle_broker_startup(state: State, rules: Rules, config: Config, *, controller: BrokerId, broker: BrokerId) -> State | None:
    """The controller sees a broker that it did not take for alive: it tells it who leads, and elects somebody if nobody does."""
    role = state.controllers[controller]
    if role is None or not reaches_zookeeper(state, controller):
        return None
    registration = state.registrations[broker]
    if role.live[broker] != UNKNOWN or registration == UNKNOWN:
        return None
    role = evolve(role, live=_replaced(role.live, broker, registration))
    after = put(state, controllers={controller: role})
    after = sent(after, role.controller_epoch, role.live, role.known, frozenset({broker}))
    if role.known.leader in alive(role):
        return after
    read = decides_by(rules, state, role)
    return decided(after, rules, controller, decide(read, alive(role), frozenset(), unclean=config.unclean_elections))


# -- other reasons to look at the partition --


@action(controller=brokers)
@kafka(
    "KafkaController.processIsrChangeNotification; ReplicaManager.maybePropagateIsrChanges",
    versions="0.8.2–2.6",
    simplified="the notification is there as soon as the ISR has changed; brokers learn the ISR for their clients, which is left out",
)
def learn_isr_change(state: State, *, controller: BrokerId) -> State | None:
    """The controller is told that a leader has changed the ISR, and reads it."""
    role = state.controllers[controller]
    if role is None or not reaches_zookeeper(state, controller) or not is_controller(state, controller) or not state.isr_change_notified:
        return None
    return put(state, isr_change_notified=False, controllers={controller: evolve(role, known=state.znode)})


@action(controller=brokers)
@kafka(
    "KafkaController.onReplicaElection; Election.leaderForPreferredReplica",
    versions="0.8–2.6",
    simplified="for an operator, or to balance, as often as the bounds say",
)
def elect_preferred_leader(state: State, rules: Rules, *, controller: BrokerId) -> State | None:
    """The first replica is to lead again, where it is alive and in sync."""
    role = state.controllers[controller]
    if role is None or not reaches_zookeeper(state, controller) or not state.budget.elections:
        return None
    choice = elect_preferred(decides_by(rules, state, role), alive(role))
    if choice is None:
        return None
    return decided(put(state, budget=spend(state.budget, "elections")), rules, controller, choice)


# -- what each of them does --


def alive(role: Controller) -> Isr:
    """Return the brokers that a controller takes for alive."""
    return frozenset(broker for broker, epoch in enumerate(role.live) if epoch != UNKNOWN)


def dead(role: Controller) -> Isr:
    """Return the brokers that a controller does not take for alive."""
    return frozenset(broker for broker, epoch in enumerate(role.live) if epoch == UNKNOWN)


def decided(state: State, rules: Rules, controller: BrokerId, choice: LeaderIsr | None) -> State:
    """Return the state once a controller has written a choice, if it made one and ZooKeeper accepts it, and sent it to all that live.

    Where ZooKeeper refuses it, the controller finds out that it is none.
    """
    role = state.controllers[controller]
    if role is None or choice is None:
        return state
    if not may_write(rules, state, role):
        return resigned(state, controller)
    (leader, isr), read = choice, decides_by(rules, state, role)
    znode = PartitionZNode(leader, read.leader_epoch + 1, isr, role.controller_epoch, state.znode.version + 1)
    role = evolve(role, known=znode)
    after = put(state, znode=znode, controllers={controller: role})
    return sent(after, role.controller_epoch, role.live, znode, alive(role))


def _replaced(epochs: tuple[int, ...], broker: BrokerId, epoch: int) -> tuple[int, ...]:
    return (*epochs[:broker], epoch, *epochs[broker + 1 :])
