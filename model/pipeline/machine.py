# SPDX-License-Identifier: Apache-2.0
"""From end to end: a producer writes to a topic, and groups of consumers process it, with crashes and rebalances between.

Each group shares the partitions out among its consumers, and commits how far it is in each; one group does not know of the
other, and consuming takes nothing away. What a consumer has processed and not committed is processed again by whoever takes
over; what it has committed and not processed is never processed. A slow consumer is not told from a dead one: its partitions
may go to another while it goes on. Time is left out. Left out: how the log is replicated (``replication``), the protocols of
groups (``ownership`` stands for them), how offsets are kept (``offsets``) and found (``consumer``), what transactions are made
of, retention, and idempotent producers.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .clients import acknowledge, assign_partition, commit, crash, give_up, process, process_and_commit, send, take
from .rules import Rules
from .state import Bounds, Config, Delivery, State, consumers, initial, partitions

__all__ = ["Bounds", "Config", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a topic, its producer, and its consumers."""
    interchangeable = {"partition": tuple(partitions(bounds))}
    if config.delivery is Delivery.QUEUE:
        interchangeable["member"] = tuple(consumers(bounds))
    return Machine(
        name="pipeline",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(config, bounds),),
        actions=(
            send,
            acknowledge,
            assign_partition,
            give_up,
            take,
            process,
            commit,
            process_and_commit,
            crash,
        ),
        interchangeable=interchangeable,
    )
