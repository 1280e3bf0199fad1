# SPDX-License-Identifier: Apache-2.0
"""Committed offsets: one group and one partition, the coordinator with its log, and members that consume and commit.

The coordinator checks each commit against what it knows of the group, writes it to ``__consumer_offsets``, and changes its
memory by replaying what it wrote; commits of transactions wait for their marker. The log is compacted; a new coordinator
knows what it reads there. Offsets expire once the group has been empty for the retention period. Members come and go as in
either group protocol, of which only what commits depend on is here: who has the partition under which generation, and who
still believes so. Requests take any time; failure is not told from slowness; the retention period passes in one step.
Left out: more partitions and topics, static members, topics that are deleted, OffsetDelete, metadata of commits, leader
epochs of offsets (see ``consumer``), producers that fence each other (see ``transactions``). Read in Kafka 4.3.1.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .coordinator import (
    commit_from_outside,
    compact_log,
    delete_group,
    end_transaction,
    expire_offsets,
    fail_over,
    handle_commit,
    load_group,
    pass_retention_period,
)
from .group import (
    advance_epoch,
    assign_partition,
    complete_join,
    hear_epoch,
    join_group,
    release_partition,
    remove_member,
    sync_group,
)
from .members import consume, fetch_offset, send_commit, send_transactional_commit, stop_consuming
from .rules import Rules
from .state import Bounds, Config, State, initial, members

__all__ = ["Bounds", "Config", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of one group's committed offsets."""
    return Machine(
        name="offsets",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            join_group,
            remove_member,
            complete_join,
            sync_group,
            assign_partition,
            release_partition,
            advance_epoch,
            hear_epoch,
            fetch_offset,
            consume,
            send_commit,
            send_transactional_commit,
            stop_consuming,
            handle_commit,
            commit_from_outside,
            end_transaction,
            pass_retention_period,
            expire_offsets,
            delete_group,
            compact_log,
            fail_over,
            load_group,
        ),
        interchangeable={"member": tuple(members(bounds))},
    )
