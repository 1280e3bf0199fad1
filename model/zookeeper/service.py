# SPDX-License-Identifier: Apache-2.0
"""What ZooKeeper does by itself: sessions expire, an operator deletes a znode, and the ensemble is down for a while."""

from __future__ import annotations

from hwmark.model.machine import BrokerId, action, kafka, put

from .shared import brokers, has_session, spend
from .state import NOBODY, UNKNOWN, State


@action(broker=brokers)
@kafka(
    "BrokerIdZNode; ControllerZNode",
    versions="0.8–3.9",
    simplified="no time: the session of a broker that does not run may end at any moment, and of one that runs as often as the bounds say; "
    "not in the moment between its registration and its hearing of that",
)
def expire_session(state: State, *, broker: BrokerId) -> State | None:
    """ZooKeeper has not heard of a broker for too long: its ephemeral znodes go, with them ``/controller`` if it is its own."""
    process, registration = state.processes[broker], state.registrations[broker]
    if not state.zookeeper_is_up or registration == UNKNOWN:
        return None
    is_running = has_session(state, broker)
    if is_running and (not state.budget.expiries or registration != process.broker_epoch):
        return None
    return put(
        state,
        registrations={broker: UNKNOWN},
        controller=NOBODY if state.controller == broker else state.controller,
        budget=spend(state.budget, "expiries") if is_running else state.budget,
    )


@action()
@kafka("ControllerZNode", versions="0.8–3.9", simplified="what operators do to have another controller elected")
def delete_controller(state: State) -> State | None:
    """An operator deletes ``/controller``; whoever was the controller goes on until it hears of that."""
    if not state.zookeeper_is_up or state.controller == NOBODY or not state.budget.moves:
        return None
    return put(state, controller=NOBODY, budget=spend(state.budget, "moves"))


@action()
@kafka(
    "ZooKeeperClient",
    versions="1.1–3.9",
    simplified="all brokers lose it at once; what it holds is never lost, and no session ends meanwhile",
)
def lose_zookeeper(state: State) -> State | None:
    """ZooKeeper loses its quorum: nothing is read, written, or expires until it is back."""
    if not state.zookeeper_is_up or not state.budget.outages:
        return None
    return put(state, zookeeper_is_up=False, budget=spend(state.budget, "outages"))


@action()
@kafka("ZooKeeperClient", versions="1.1–3.9", simplified="as when it is lost")
def regain_zookeeper(state: State) -> State | None:
    """ZooKeeper is back, with everything that it held."""
    return None if state.zookeeper_is_up else put(state, zookeeper_is_up=True)
