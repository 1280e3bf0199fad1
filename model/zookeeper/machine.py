# SPDX-License-Identifier: Apache-2.0
"""One partition as Kafka ran it with ZooKeeper: the controller is elected there, and leaders write the ISR there themselves.

Followed is Kafka 2.6, the last release before leaders ask the controller to change the ISR (KIP-497), which Kafka does from
2.7 to 3.9 with ZooKeeper, too. Each broker has a replica, and any may be the controller. What a controller decides it writes
to ZooKeeper, and sends to each broker over a connection of its own: late, in order, and in part not at all if it is no longer
the controller. A session may expire while its broker runs, which then is a zombie until it hears of that. ZooKeeper is one
linearizable service that is there or not. Time is left out: whatever a timeout could cause may happen at any moment.

Left out: a fetch in flight (fetch and answer are one step in which both brokers are in the same leader epoch; ``partition``
has the rest), acks other than all, lossy crashes, clean and controlled shutdown, reassignment, retention, consumers, the
metadata that brokers keep for clients (UpdateMetadata), and replicas that hold the high watermark back while they have just
caught up.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from . import broker, controller, leader, service
from .rules import Rules
from .state import Bounds, Config, State, initial

__all__ = ["ACTIONS", "Bounds", "Config", "State", "machine"]

ACTIONS = (
    leader.append_record,
    leader.truncate,
    leader.fetch,
    leader.shrink_isr,
    leader.repeat_isr_write,
    controller.elect_controller,
    controller.resign,
    controller.handle_broker_failure,
    controller.handle_broker_startup,
    controller.learn_isr_change,
    controller.elect_preferred_leader,
    broker.receive_leader_and_isr,
    broker.crash,
    broker.start_broker,
    broker.reconnect,
    broker.learn_broker_epoch,
    service.expire_session,
    service.delete_controller,
    service.lose_zookeeper,
    service.regain_zookeeper,
)


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a partition in these bounds; brokers are not interchangeable, as elections follow the assignment."""
    if bounds.first_leader >= bounds.brokers:
        raise ValueError(f"the first leader is one of {bounds.brokers} brokers, not broker {bounds.first_leader}")
    return Machine("zookeeper", rules, config, bounds, (initial(bounds),), ACTIONS)
