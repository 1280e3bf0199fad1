# SPDX-License-Identifier: Apache-2.0
"""What the controller writes to its log about brokers and the partitions of a topic: each step is one batch of records."""

from __future__ import annotations

from hwmark.model.machine import BrokerId, action, kafka, put

from .elections import may_get_back, placement, preferred, with_back, without
from .placer import Refusal
from .rules import Rules
from .state import NOBODY, Bounds, Config, Partition, PartitionId, State, brokers, exists, partitions, returns

# -- the topic --


@action(start=brokers, shuffle=brokers)
@kafka(
    "ReplicationControlManager.createTopic; StripedReplicaPlacer.place; AdminUtils.assignReplicasToBrokers",
    versions="3.3–4.3; 3.3–4.3; 0.8–4.0",
    simplified="one topic, without racks; the random generator gives one number at the start and one in shuffles; at most "
    "``late_brokers`` are away: what the placer makes of racks and fenced brokers is a function of its own",
)
def create_topic(  # noqa: PLR0913 - what is drawn at random
    state: State, rules: Rules, config: Config, bounds: Bounds, *, start: int, shuffle: int
) -> State | None:
    """A topic is created: replicas are put on brokers, all that are not fenced are in sync, and the first one leads."""
    if exists(state) or sum(state.fenced) > bounds.late_brokers:
        return None
    answer = placement(state, rules, config, bounds, (start, shuffle))
    if isinstance(answer, Refusal):
        return None
    created = (
        Partition(replicas, frozenset(broker for broker in replicas if not state.fenced[broker]), replicas[0]) for replicas in answer
    )
    return put(state, partitions=dict(enumerate(created)))


# -- brokers --


@action(broker=brokers)
@kafka(
    "ReplicationControlManager.handleBrokerFenced; PartitionChangeBuilder.electAnyLeader",
    versions="3.3–4.3",
    simplified="its session ends, and everybody knows at once; a last member stays in its ISR: without eligible leader replicas and "
    "unclean elections, for which see ``partition``; a controlled shutdown elects alike",
)
def fence_broker(state: State, rules: Rules, bounds: Bounds, *, broker: BrokerId) -> State | None:
    """A broker fails: it leaves each ISR, and for each partition that it led another one is elected, if there is one."""
    is_early = not exists(state) and sum(state.fenced) >= bounds.late_brokers
    if state.fenced[broker] or is_early or state.failures >= bounds.failures:
        return None
    return put(state, fenced={broker: True}, partitions=dict(enumerate(without(rules, state, broker))), failures=state.failures + 1)


@action(broker=brokers)
@kafka(
    "ReplicationControlManager.handleBrokerUnfenced",
    versions="3.3–4.3",
    simplified="it has its logs; registration and catching up with the metadata are this one step",
)
def unfence_broker(state: State, rules: Rules, bounds: Bounds, *, broker: BrokerId) -> State | None:
    """A broker is back: it may lead where nobody does and it is in the ISR, and else leads nothing."""
    if not state.fenced[broker] or returns(state) >= bounds.returns:
        return None
    return put(state, fenced={broker: False}, partitions=dict(enumerate(with_back(rules, state, broker))))


@action(partition=partitions, broker=brokers)
@kafka(
    "ReplicationControlManager.alterPartition; Partition.maybeExpandIsr",
    versions="3.3–4.3",
    simplified="the follower has caught up at any time, and nobody falls behind without failing: see ``partition``",
)
def expand_isr(state: State, *, partition: PartitionId, broker: BrokerId) -> State | None:
    """A replica has caught up, and the leader takes it into the ISR."""
    ours = state.partitions[partition]
    if ours.leader == NOBODY or broker not in ours.replicas or broker in ours.isr or state.fenced[broker]:
        return None
    return put(state, partitions={partition: put(ours, isr=ours.isr | {broker})})


# -- preferred elections --


@action()
@kafka(
    "ReplicationControlManager.maybeBalancePartitionLeaders",
    versions="3.3–4.3",
    simplified="at any time instead of each ``leader.imbalance.check.interval.seconds``, and all at once instead of a thousand; "
    "``leader.imbalance.per.broker.percentage`` counted with ZooKeeper only",
)
def balance_leaders(state: State, rules: Rules, config: Config) -> State | None:
    """The controller gives every partition back to its first replica that may have it."""
    if not config.auto_leader_rebalance:
        return None
    changed = {place: preferred(one) for place, one in enumerate(state.partitions) if may_get_back(state, rules, one)}
    return put(state, partitions=changed) if changed else None


@action(partition=partitions)
@kafka(
    "ReplicationControlManager.electLeaders; Admin.electLeaders",
    versions="3.3–4.3",
    simplified="one partition; that it has its preferred leader, or cannot have it, is an error that changes nothing",
)
def elect_preferred_leader(state: State, rules: Rules, config: Config, *, partition: PartitionId) -> State | None:
    """An operator asks for a preferred election of a partition."""
    ours = state.partitions[partition]
    if not config.operator or not may_get_back(state, rules, ours):
        return None
    return put(state, partitions={partition: preferred(ours)})
