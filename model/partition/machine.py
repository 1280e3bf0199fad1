# SPDX-License-Identifier: Apache-2.0
"""One partition as Kafka runs it with a KRaft controller: requests in flight, late metadata, crashes, and the ELR.

The controller is one value that is there or not; whatever it decides reaches each broker late and in order. Followers
fetch from the leader, one request in flight each; leaders propose ISR changes and count on whoever may be in the ISR
until they hear; producers wait for their answers. A broker stops cleanly or crashes, losing any part of the end of its
log or nothing, and registers again. Time is left out: what a timeout could cause may happen at any moment, as often as
the bounds say, and whatever heals may happen as often as it takes. Left out: batches, idempotence and transactions,
several partitions, the log's storage (the ``log`` machine has it), the quorum's own replication, directories.
Kafka's names and rules are those of 4.3.1, whose sources were read, unless an action says otherwise.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from . import broker, caught_up, clients, controller, follower, leader, network
from .rules import PartitionRules
from .state import Bounds, Config, State, initial

__all__ = ["ACTIONS", "Bounds", "Config", "State", "machine"]

ACTIONS = (
    leader.append_record,
    follower.send_fetch,
    leader.handle_fetch,
    follower.receive_fetch,
    leader.acknowledge_produce,
    leader.refuse_produce,
    clients.refresh_metadata,
    clients.validate_position,
    clients.consume,
    clients.reset_position,
    leader.propose_shrink,
    leader.propose_from_memory,
    caught_up.let_lag_time_pass,
    controller.answer_alter_partition,
    leader.receive_alter_partition,
    broker.learn_metadata,
    controller.fence_broker,
    controller.unfence_broker,
    controller.begin_controlled_shutdown,
    broker.shut_down,
    broker.crash,
    broker.start_broker,
    broker.request_registration,
    controller.register_broker,
    broker.receive_registration,
    controller.elect_preferred_leader,
    controller.elect_uncleanly,
    controller.replace_replica,
    controller.lose_controller,
    controller.regain_controller,
    leader.delete_old_segment,
    leader.delete_records,
    network.lose_fetch,
    network.lose_alter_partition_answer,
    network.duplicate_fetch,
    network.duplicate_alter_partition,
    network.deliver_duplicate,
)


def machine(rules: PartitionRules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a partition in these bounds; brokers are not interchangeable, as elections follow the assignment."""
    if bounds.brokers < config.replication_factor:
        raise ValueError(f"{config.replication_factor} replicas need as many brokers, not {bounds.brokers}")
    return Machine("partition", rules, config, bounds, (initial(config, bounds),), ACTIONS)
