# SPDX-License-Identifier: Apache-2.0
"""How brokers stop and start: what is on disk is left, unless the machine fails before it was flushed."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.log import Log, truncate_to
from hwmark.model.machine import BrokerId, action, kafka, put

from .elections import stepped_down
from .rules import Flush, Rules, VoteMemory
from .state import NOBODY, Bounds, Replica, Role, State, brokers, end_offsets

# -- rules --


def may_lose(rules: Rules, log: Log) -> int:
    """Return how many records at the end of a log a machine that fails may lose."""
    match rules.flush:
        case Flush.BEFORE_COUNTED:
            return 0
        case Flush.LATER:
            return len(log.records)
        case _:
            assert_never(rules.flush)


def remembered_vote(rules: Rules, replica: Replica) -> BrokerId:
    """Return whom a replica stands by once its process has ended."""
    match rules.vote_memory:
        case VoteMemory.STORED:
            return replica.stands_by
        case VoteMemory.FORGOTTEN:
            return NOBODY
        case _:
            assert_never(rules.vote_memory)


# -- stopping and starting --


@action(broker=brokers, kept=end_offsets)
@kafka(
    "QuorumState.initialize; FileQuorumStateStore.readElectionState; LogLoader.load",
    versions="2.7–4.3 (KIP-595)",
    simplified="a clean shutdown, which hands over, is left out; the high watermark is not on disk; a leader does not lead on, and a "
    "candidate begins anew",
)
def crash(state: State, rules: Rules, *, broker: BrokerId, kept: int) -> State | None:
    """A broker's process ends without notice, or its machine fails, of whose log only ``kept`` is left."""
    mine, log, budget = state.replicas[broker], state.logs[broker], state.budget
    lost = log.end_offset - kept
    if mine.role is Role.STOPPED or not 0 <= lost <= may_lose(rules, log) or not (budget.lossy_crashes if lost else budget.crashes):
        return None
    after = stepped_down(state, broker, mine.leader_epoch)
    stopped = Replica(role=Role.STOPPED, leader_epoch=mine.leader_epoch, stands_by=remembered_vote(rules, mine))
    spent = put(budget, lossy_crashes=budget.lossy_crashes - 1) if lost else put(budget, crashes=budget.crashes - 1)
    return put(after, replicas={broker: stopped}, logs={broker: truncate_to(log, kept)}, budget=spent)


@action(broker=brokers)
@kafka(
    "KafkaRaftClient.initialize; QuorumState.initialize",
    versions="2.7–4.3 (KIP-595)",
    simplified="whoever followed waits for its leader to be heard of again",
)
def start(state: State, bounds: Bounds, *, broker: BrokerId) -> State | None:
    """A stopped broker starts, in its last epoch; it leads nothing there, and votes for nobody but whom it stood by."""
    mine = state.replicas[broker]
    if mine.role is not Role.STOPPED or bounds.stays_down:
        return None
    return put(state, replicas={broker: put(mine, role=Role.UNATTACHED)})
