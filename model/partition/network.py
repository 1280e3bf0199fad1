# SPDX-License-Identifier: Apache-2.0
"""What may happen to messages: one is lost and its sender notices, or a request arrives a second time, at any later moment."""

from __future__ import annotations

from hwmark.model.machine import BrokerId, action, kafka, put

from .alter_partition import AlterPartition
from .controller import judged
from .decisions import NOBODY
from .leader import serve
from .rules import PartitionRules
from .shared import brokers, decided, spend
from .state import AlterPartitionAnswer, Config, FetchRequest, State, Status


@action(follower=brokers)
@kafka("NetworkClient.handleTimedOutRequests", versions="0.8–4.3", simplified="a lost request and a lost answer look alike to the follower")
def lose_fetch(state: State, *, follower: BrokerId) -> State | None:
    """A fetch or its answer is lost; the follower will fetch again."""
    if not state.budget.losses or state.fetching[follower] is None:
        return None
    return put(state, fetching={follower: None}, budget=spend(state.budget, "losses"))


@action(leader=brokers)
@kafka(
    "AlterPartitionManager",
    versions="2.7–4.3",
    simplified="a lost request is sent again, and changes nothing",
)
def lose_alter_partition_answer(state: State, *, leader: BrokerId) -> State | None:
    """The answer to a proposal is lost; the leader sends the same proposal again."""
    answer = state.altering[leader]
    if not state.budget.losses or not isinstance(answer, AlterPartitionAnswer):
        return None
    return put(state, altering={leader: answer.request}, budget=spend(state.budget, "losses"))


@action(follower=brokers)
@kafka("ReplicaManager.fetchMessages", versions="0.8–4.3", simplified="a copy of any request that is on its way; one copy at a time")
def duplicate_fetch(state: State, *, follower: BrokerId) -> State | None:
    """A fetch is on its way twice."""
    request = state.fetching[follower]
    if not state.budget.duplicates or state.duplicate is not None or not isinstance(request, FetchRequest) or request.held:
        return None
    return put(state, duplicate=request, duplicate_of=follower, budget=spend(state.budget, "duplicates"))


@action(leader=brokers)
@kafka(
    "ReplicationControlManager.alterPartition",
    versions="2.7–4.3",
    simplified="a copy of any request that is on its way; one copy at a time",
)
def duplicate_alter_partition(state: State, *, leader: BrokerId) -> State | None:
    """A proposal is on its way twice."""
    request = state.altering[leader]
    if not state.budget.duplicates or state.duplicate is not None or not isinstance(request, AlterPartition):
        return None
    return put(state, duplicate=request, duplicate_of=leader, budget=spend(state.budget, "duplicates"))


@action()
@kafka(
    "ReplicaManager.fetchMessages; ReplicationControlManager.alterPartition",
    versions="2.7–4.3",
    simplified="the answer to the copy reaches nobody",
)
def deliver_duplicate(state: State, rules: PartitionRules, config: Config) -> State | None:
    """The second copy of a request arrives, and is handled like the first."""
    request = state.duplicate
    if request is None:
        return None
    gone = put(state, duplicate=None, duplicate_of=NOBODY)
    if isinstance(request, AlterPartition):
        return decided(gone, judged(state, rules, config, request)[1]) if state.controller_is_up else None
    if state.processes[request.leader].status is not Status.RUNNING:
        return gone
    served = serve(gone, rules, config, state.duplicate_of, request)
    return gone if served is None else served[0]
