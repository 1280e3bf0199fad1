# SPDX-License-Identifier: Apache-2.0
"""What several actors of the ``partition`` machine do: domains, spending a budget, deciding, and advancing the high watermark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from attrs import evolve

from hwmark.model.log import EpochCache, EpochEntry, Log, assign_epoch, epoch_entries
from hwmark.model.machine import BrokerId, PerBroker, impossible, put

from .decisions import Brokers, Circumstances, PartitionState, effective_min_isr, election_type
from .rules import ElrMembers, EpochBegin, HighWatermarkMinimum, HighWatermarkOver, PartitionRules
from .state import Bounds, Budget, Config, Registration, Replica, State, Status

# -- domains --


def brokers(bounds: Bounds) -> range:
    """Return the ids of the brokers."""
    return range(bounds.brokers)


def offsets(bounds: Bounds) -> range:
    """Return the offsets at which a log may end."""
    return range(bounds.records + 1)


def records(bounds: Bounds) -> range:
    """Return the ids of the records."""
    return range(bounds.records)


def consumers(bounds: Bounds) -> range:
    """Return the consumers."""
    return range(bounds.consumers)


# -- budgets --


def spend(budget: Budget, kind: str) -> Budget:
    """Return the budget after one perturbation of a kind, of which some must be left."""
    return evolve(budget, **{kind: getattr(budget, kind) - 1})


# -- the controller's decisions --


def truth(state: State) -> PartitionState:
    """Return what the controller decided last."""
    latest = state.metadata[state.partition_epoch]
    return impossible("the latest decision is forgotten") if latest is None else latest


def is_active(registration: Registration) -> bool:
    """Whether the controller takes a broker for one that serves (``ClusterControlManager.isActive``)."""
    return not registration.fenced and not registration.in_controlled_shutdown


def keeps_former_replicas(rules: PartitionRules) -> bool:
    """Whether a broker that is no replica any more may stay eligible to lead."""
    match rules.elr_members:
        case ElrMembers.REPLICAS:
            return False
        case ElrMembers.FORMER_REPLICAS:
            return True
        case _:
            assert_never(rules.elr_members)


def circumstances(state: State, rules: PartitionRules, config: Config) -> Circumstances:
    """Return what the controller's decisions depend on."""
    return Circumstances(
        acceptable=frozenset(broker for broker, registration in enumerate(state.registrations) if is_active(registration)),
        min_isr=effective_min_isr(config.min_isr, truth(state).replicas),
        election=election_type(unclean_allowed=config.unclean_elections),
        elr_enabled=config.elr,
        elr_of_replicas=not keeps_former_replicas(rules),
    )


def decided(state: State, partition: PartitionState | None) -> State:
    """Return the state once the controller has written a decision, if it made one, to the metadata log."""
    if partition is None:
        return state
    if partition.partition_epoch == len(state.metadata):
        impossible("more changes of the partition than the perturbations account for")
    after = put(state, metadata={partition.partition_epoch: partition}, partition_epoch=partition.partition_epoch)
    return without_old_metadata(after)


def without_old_metadata(state: State) -> State:
    """Return the state without the decisions that every running broker has learned, or that a later start will not replay."""
    needed = [state.partition_epoch, *(state.positions[broker] + 1 for broker in running(state.processes))]
    oldest = min(needed)
    old = {epoch: None for epoch in range(oldest) if state.metadata[epoch] is not None}
    return put(state, metadata=old) if old else state


def running(processes: PerBroker[object]) -> Iterator[BrokerId]:
    """Yield the brokers that run."""
    return (broker for broker, process in enumerate(processes) if process.status is Status.RUNNING)  # type: ignore[attr-defined]


# -- leaders --


def leads(state: State, broker: BrokerId) -> bool:
    """Whether a broker runs and believes that it leads."""
    return state.processes[broker].status is Status.RUNNING and state.replicas[broker].leader == broker


def epoch_cache(rules: PartitionRules, replica: Replica, broker: BrokerId, log: Log) -> EpochCache:
    """Return where leader epochs start in a replica's log: as its records say, and for a leader the epoch in which it leads."""
    entries = epoch_entries(log)
    match rules.epoch_begin:
        case EpochBegin.AT_ELECTION:
            if replica.leader != broker:
                return entries
            return assign_epoch(entries, EpochEntry(replica.leader_epoch, max(replica.epoch_start, log.log_start_offset)))
        case EpochBegin.AT_FIRST_RECORD:
            return entries
        case _:
            assert_never(rules.epoch_begin)


def maximal_isr(replica: Replica) -> Brokers:
    """Return whoever may be in the ISR by now, as far as a leader knows (KIP-497)."""
    return replica.isr | replica.proposed


def holds_back(rules: PartitionRules, replica: Replica) -> Brokers:
    """Return whose end offsets limit a leader's high watermark."""
    match rules.high_watermark_over:
        case HighWatermarkOver.MAXIMAL_ISR:
            return maximal_isr(replica)
        case HighWatermarkOver.COMMITTED_ISR:
            return replica.isr
        case HighWatermarkOver.PROPOSED_ISR:
            return replica.proposed or replica.isr
        case HighWatermarkOver.ALL_REPLICAS:
            return frozenset(replica.replicas)
        case HighWatermarkOver.LEADER:
            return frozenset()
        case _:
            assert_never(rules.high_watermark_over)


def caught_up(state: State, leader: BrokerId) -> Brokers:
    """Return which followers have lately had all that a leader has, as far as it notes that."""
    return frozenset(follower for follower, known in enumerate(state.followers[leader]) if known.caught_up)


def may_advance(rules: PartitionRules, config: Config, replica: Replica) -> bool:
    """Whether the ISR is large enough for the high watermark to advance."""
    match rules.high_watermark_minimum:
        case HighWatermarkMinimum.MIN_ISR:
            return len(replica.isr) >= effective_min_isr(config.min_isr, replica.replicas)
        case HighWatermarkMinimum.ANY_ISR:
            return True
        case _:
            assert_never(rules.high_watermark_minimum)


def with_high_watermark(state: State, rules: PartitionRules, config: Config, leader: BrokerId) -> State:
    """Return the state once a leader has advanced its high watermark as far as it may (``Partition.maybeIncrementLeaderHW``)."""
    mine = state.replicas[leader]
    if not may_advance(rules, config, mine):
        return state
    end_offset = state.logs[leader].end_offset
    for member in sorted(holds_back(rules, mine) | caught_up(state, leader)):
        if member != leader:
            end_offset = min(end_offset, state.followers[leader][member].end_offset)
    return put(state, replicas={leader: put(mine, high_watermark=end_offset)}) if end_offset > mine.high_watermark else state
