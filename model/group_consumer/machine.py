# SPDX-License-Identifier: Apache-2.0
"""The consumer group protocol of KIP-848: one coordinator, its members, and heartbeats that bring them what they are to consume.

The coordinator alone decides. With each heartbeat it takes the member one step from what it has towards its target assignment, and
gives away no partition that another member has yet to give up; epochs say who is how far. Each member has one heartbeat in flight, as
request or as answer, which may be lost. Time is left out: a session may expire at any moment, so a member may be taken for dead
while it lives and consumes, a zombie. Processes crash, leave, are replaced under the same instance id, and come back; the coordinator
moves to another broker. Left out: other topics, subscriptions and regular expressions, changes of the topic, members of the classic
protocol, offsets beyond who committed last, and requests that are handled after they were given up.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .client import (
    client_commit,
    client_crash,
    client_join,
    client_leave,
    client_receive_response,
    client_reconcile,
    client_send_heartbeat,
    lose_heartbeat,
)
from .coordinator import (
    coordinator_failover,
    coordinator_handle_heartbeat,
    coordinator_handle_leave,
    coordinator_rebalance_timeout,
    coordinator_session_timeout,
)
from .rules import Assignor, Rules
from .state import Bounds, Config, State, initial

__all__ = ["Bounds", "Config", "State", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a consumer group."""
    return Machine(
        name="group_consumer",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            client_join,
            client_send_heartbeat,
            coordinator_handle_heartbeat,
            client_receive_response,
            client_reconcile,
            client_commit,
            client_leave,
            coordinator_handle_leave,
            coordinator_session_timeout,
            coordinator_rebalance_timeout,
            coordinator_failover,
            client_crash,
            lose_heartbeat,
        ),
        interchangeable={"member": tuple(range(bounds.members))} if are_alike(rules, config, bounds) else {},
    )


def are_alike(rules: Rules, config: Config, bounds: Bounds) -> bool:
    """Whether members may be renamed: the assignor never chooses between two that differ by their number alone.

    It does where shares differ and two members could have the larger one: once somebody who left comes back, or a third joins.
    """
    mixed = 0 < bounds.static_members < bounds.members or bounds.replacements > 0
    if mixed or rules.assignor is not Assignor.UNIFORM or config.assignment_interval:
        return False
    stay = not any((bounds.crashes, bounds.expirations, bounds.rebalance_timeouts, bounds.leaves))
    if bounds.members <= 2:
        return stay or bounds.partitions % 2 == 0
    return stay and bounds.members == 3 and bounds.partitions <= 3
