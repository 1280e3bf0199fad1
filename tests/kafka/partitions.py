# SPDX-License-Identifier: Apache-2.0
"""Partitions to ask the witnesses about, drawn at random, and how they are written for them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from hwmark.model.partition.decisions import NOBODY, Brokers, LeaderRecovery, PartitionState

BROKERS = range(6)
"""So few that Kafka's lists of them, where they come from hash sets, are sorted: the model has sets."""
SOME: st.SearchStrategy[Brokers] = st.frozensets(st.sampled_from(BROKERS), max_size=4)
ASSIGNED: st.SearchStrategy[tuple[int, ...]] = st.permutations(BROKERS).flatmap(
    lambda order: st.integers(1, 4).map(lambda size: tuple(order[:size]))
)
RECOVERY = st.sampled_from(LeaderRecovery)
NONE: Brokers = frozenset()


def written(partition: PartitionState) -> dict[str, Any]:
    """Return a partition in the words of the witnesses; sets are written sorted."""
    return {
        "replicas": list(partition.replicas),
        "isr": sorted(partition.isr),
        "elr": sorted(partition.elr),
        "lastKnownElr": sorted(partition.last_known_elr),
        "leader": partition.leader,
        "leaderEpoch": partition.leader_epoch,
        "partitionEpoch": partition.partition_epoch,
        "addingReplicas": sorted(partition.adding),
        "removingReplicas": sorted(partition.removing),
        "leaderRecoveryState": partition.leader_recovery.name,
    }


def some_of(brokers: tuple[int, ...] | Brokers) -> st.SearchStrategy[Brokers]:
    """Draw some of these brokers, all of them often."""
    everybody = frozenset(brokers)
    return st.just(everybody) | (st.frozensets(st.sampled_from(sorted(everybody))) if everybody else st.just(everybody))


@st.composite
def partitions(draw: st.DrawFn) -> PartitionState:
    """Draw a partition as Kafka may have it: ISR and ELR are disjoint replicas, the leader is in the ISR."""
    replicas = draw(ASSIGNED)
    isr = draw(some_of(replicas))
    adding = draw(st.just(NONE) | some_of(replicas[1:]))
    removing = draw(st.just(NONE) | some_of(replicas[:-1]))
    return PartitionState(
        replicas=replicas,
        isr=isr,
        elr=draw(some_of(frozenset(replicas) - isr)),
        last_known_elr=draw(st.just(NONE) | st.sampled_from(replicas).map(lambda broker: frozenset({broker}))),
        leader=draw(st.sampled_from([*sorted(isr), NOBODY])),
        leader_epoch=draw(st.integers(0, 5)),
        partition_epoch=draw(st.integers(0, 5)),
        adding=adding,
        removing=removing - adding,
        leader_recovery=draw(RECOVERY),
    )


WILD = st.builds(
    PartitionState,
    replicas=ASSIGNED,
    isr=SOME,
    elr=SOME,
    last_known_elr=SOME,
    leader=st.sampled_from([NOBODY, *BROKERS]),
    adding=SOME,
    removing=SOME,
    leader_recovery=RECOVERY,
)
"""A partition as Kafka never has it: every field is drawn for itself."""
