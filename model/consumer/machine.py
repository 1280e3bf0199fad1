# SPDX-License-Identifier: Apache-2.0
"""One consumer of one partition: assigned, positioned, polling, seeking, committing, restarting, while the log moves under it.

The consumer begins at the committed offset, or where its reset policy says; it polls one record after the other, and its
position may fall out of the log's range, by retention or because another replica, which lacks records, takes over. After a
change of leader it validates its position by the leader epoch of what it read last. Commits are under way for any time. The
application's assignment callback may still run while offsets are looked up. Failure is not told from slowness, and time is
left out. Left out: the group (see ``ownership`` and ``offsets``: the partition is this consumer's until it restarts), more
partitions but for lookups that are about others, fetched records that wait in a buffer, pausing, transactions and
read_committed, reading from followers. Everything in the leader's log is committed. Read in Kafka 4.3.1, and in the changes
named at each rule.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .partition import append_record, delete_records, elect_other_replica, replicate
from .positions import (
    assign_partition,
    begin_lookup,
    finish_callback,
    finish_lookup,
    refresh_metadata,
    reset_position,
    seek,
    validate_position,
    validate_without_answer,
)
from .reading import build_commit, commit_arrives, commit_fails, poll, restart
from .rules import Rules
from .state import Bounds, Config, State, initial

__all__ = ["Bounds", "Config", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of one consumer."""
    return Machine(
        name="consumer",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(),),
        actions=(
            append_record,
            replicate,
            elect_other_replica,
            delete_records,
            assign_partition,
            finish_callback,
            begin_lookup,
            finish_lookup,
            reset_position,
            seek,
            poll,
            refresh_metadata,
            validate_position,
            validate_without_answer,
            build_commit,
            commit_arrives,
            commit_fails,
            restart,
        ),
    )
