# SPDX-License-Identifier: Apache-2.0
"""A topic of several partitions: producers choose among them, batch, send and send again, and a consumer reads.

Each partition is one append-only log with a leader that does not fail; no replication (``partition``). A producer has a
connection to each leader, on which requests are handled and answered in order; a request may be refused for the moment, a
connection may be lost, and the broker may handle what was sent on it later. Partitions are added, and producers learn of that
late. Time is left out: a batch is sent again for ever. Left out: ``delivery.timeout.ms`` and what an idempotent producer does
once it has given up a batch, acks other than all, partitions without a leader, transactions, groups (``pipeline``), retention.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .broker import handle_late, handle_produce, refuse_produce
from .producer import lose_connection, receive_answer, refresh_metadata, send, send_batch
from .reading import create_partition, poll
from .rules import Rules
from .state import Bounds, Config, State, initial, producers

__all__ = ["Bounds", "Config", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a topic, its producers, and its consumer."""
    return Machine(
        name="topic",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            send,
            send_batch,
            handle_produce,
            refuse_produce,
            receive_answer,
            lose_connection,
            handle_late,
            create_partition,
            refresh_metadata,
            poll,
        ),
        interchangeable={"producer": tuple(producers(bounds))},
    )
