# SPDX-License-Identifier: Apache-2.0
"""What several actors of the ``zookeeper`` machine do: domains, spending a budget, sending requests, and advancing the high watermark."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.machine import BrokerId, put

from .rules import Rules, WhileWriting
from .state import NOBODY, UNKNOWN, Bounds, Budget, Isr, LeaderAndIsr, PartitionZNode, Replica, State

# -- domains --


def brokers(bounds: Bounds) -> range:
    """Return the ids of the brokers."""
    return range(bounds.brokers)


def controller_epochs(bounds: Bounds) -> range:
    """Return the controller epochs that can be reached: there is an election whenever ``/controller`` goes away."""
    return range(1 + bounds.crashes + bounds.expiries + bounds.moves)


def whether(_bounds: Bounds) -> tuple[bool, ...]:
    """Return yes and no."""
    return True, False


# -- budgets --


def spend(budget: Budget, kind: str) -> Budget:
    """Return the budget after one perturbation of a kind, of which some must be left."""
    return evolve(budget, **{kind: getattr(budget, kind) - 1})


# -- sessions --


def has_session(state: State, broker: BrokerId) -> bool:
    """Whether a broker runs, and its session with ZooKeeper has not expired."""
    return state.processes[broker].is_running and state.registrations[broker] != UNKNOWN


def reaches_zookeeper(state: State, broker: BrokerId) -> bool:
    """Whether ZooKeeper answers a broker: it is up, and the broker has a session."""
    return state.zookeeper_is_up and has_session(state, broker)


def is_controller(state: State, broker: BrokerId) -> bool:
    """Whether a broker believes that it is the controller, and is."""
    role = state.controllers[broker]
    return role is not None and state.controller == broker and role.controller_epoch == state.controller_epoch


# -- requests --


def sent(state: State, controller_epoch: int, live: tuple[int, ...], decision: PartitionZNode, recipients: Isr) -> State:
    """Return the state once a controller has sent a decision to brokers, unless its leader is not alive, when they ignore it."""
    if decision.leader == NOBODY or live[decision.leader] == UNKNOWN:
        return state
    queues = {}
    for broker in sorted(recipients):
        request = LeaderAndIsr(controller_epoch, live[broker], decision)
        queues[broker] = tuple(sorted((*state.requests[broker], request), key=lambda one: one.controller_epoch))
    return put(state, requests=queues)


def cut_off(state: State, controller_epoch: int, recipients: Isr) -> State:
    """Return the state once a controller has closed connections: what it has sent last may still arrive where somebody is to get it."""
    queues = {}
    for broker in sorted(recipients):
        queue, sent_last = state.requests[broker], int(state.processes[broker].is_running)
        lost = [place for place, request in enumerate(queue) if request.controller_epoch == controller_epoch][sent_last:]
        if lost:
            queues[broker] = tuple(request for place, request in enumerate(queue) if place not in lost)
    return put(state, requests=queues) if queues else state


def resigned(state: State, broker: BrokerId) -> State:
    """Return the state once a broker, if it believed that it was the controller, does not any more."""
    role = state.controllers[broker]
    if role is None:
        return state
    return put(cut_off(state, role.controller_epoch, frozenset(range(len(state.requests)))), controllers={broker: None})


# -- leaders --


def leads(state: State, broker: BrokerId) -> bool:
    """Whether a broker runs and believes that it leads."""
    return state.processes[broker].is_running and state.replicas[broker].leader == broker


def counted_on(rules: Rules, replica: Replica) -> Isr | None:
    """Return for whom a leader's high watermark waits, or ``None`` where it does nothing because it waits for ZooKeeper."""
    match rules.while_writing:
        case WhileWriting.STANDS_STILL:
            return None if replica.writing else replica.isr
        case WhileWriting.COUNTS_ON_BOTH:
            return replica.isr | replica.writing
        case WhileWriting.COUNTS_ON_KNOWN:
            return replica.isr
        case _:
            assert_never(rules.while_writing)


def stands_still(rules: Rules, replica: Replica) -> bool:
    """Whether a leader does nothing, because it waits for ZooKeeper."""
    return counted_on(rules, replica) is None


def with_high_watermark(state: State, rules: Rules, leader: BrokerId) -> State:
    """Return the state once a leader has advanced its high watermark as far as it may (``Partition.maybeIncrementLeaderHW``)."""
    mine = state.replicas[leader]
    members, end_offset = counted_on(rules, mine), state.logs[leader].end_offset
    if members is None:
        return state
    for member in sorted(members):
        if member != leader:
            end_offset = min(end_offset, state.followers[leader][member])
    return put(state, replicas={leader: put(mine, high_watermark=end_offset)}) if end_offset > mine.high_watermark else state
