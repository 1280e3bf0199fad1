# SPDX-License-Identifier: Apache-2.0
"""The classic consumer-group protocol: one group, its coordinator with its log, and the consumers that come and go.

The coordinator waits until every member has joined, begins a generation, lets the members' leader spread the partitions,
and writes the result to its log, from which another coordinator goes on if it has to. Consumers are eager (they give up
all partitions before they join) or cooperative (they keep them, and give up only what is to move, KIP-429), dynamic or
static members (KIP-345), and need a member id before they join (KIP-394). A consumer may stop, be so slow that it is taken
for dead and go on as a zombie, or be replaced while it runs; answers are lost; the coordinator fails over. Such
perturbations have a budget, healing has none. Time is left out: a timeout may fire at any moment, and costs a perturbation
if it hits a consumer that runs. Left out: topics that differ or change, committed offsets (a commit is only accepted or
refused), the maximum size of groups, and writes that fail.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .consumer import (
    connection_lost,
    consumer_close,
    consumer_commit,
    consumer_crash,
    consumer_handle_join,
    consumer_handle_sync,
    consumer_heartbeat,
    consumer_join,
    consumer_poll_timeout,
    operator_replace,
    operator_restart,
)
from .coordinator import (
    coordinator_commit_assignment,
    coordinator_expire_session,
    coordinator_expire_sync,
    coordinator_handle_join,
    coordinator_handle_sync,
    coordinator_load,
    coordinator_rebalance_timeout,
    coordinator_resign,
)
from .rules import Rules
from .state import Bounds, Config, State, initial

__all__ = ["Bounds", "Config", "Rules", "State", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of one classic group."""
    return Machine(
        name="group_classic",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            consumer_join,
            coordinator_handle_join,
            coordinator_rebalance_timeout,
            consumer_handle_join,
            coordinator_handle_sync,
            coordinator_commit_assignment,
            consumer_handle_sync,
            consumer_heartbeat,
            consumer_commit,
            consumer_poll_timeout,
            coordinator_expire_session,
            coordinator_expire_sync,
            consumer_close,
            consumer_crash,
            operator_restart,
            operator_replace,
            connection_lost,
            coordinator_resign,
            coordinator_load,
        ),
    )
