# SPDX-License-Identifier: Apache-2.0
"""What the controller decides about a partition when brokers come and go: who leads, and who is in sync.

Each function answers with the leader and the ISR to write, or ``None`` where there is nothing to write. ``alive`` are the
brokers that the controller takes for alive. Replicas are assigned in the order of their brokers' ids.
"""

from __future__ import annotations

from hwmark.model.machine import BrokerId

from .state import NOBODY, Isr, PartitionZNode

LeaderIsr = tuple[BrokerId, Isr]
"""Who is to lead, and who is in sync."""


def elect(partition: PartitionZNode, alive: Isr, *, unclean: bool) -> LeaderIsr | None:
    """Elect the first live member of the ISR, which keeps its live members; else, if allowed, the first live replica alone.

    ``PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection``, ``Election.leaderForOffline``.
    """
    in_sync = partition.isr & alive
    if in_sync:
        return min(in_sync), in_sync
    return (min(alive), frozenset({min(alive)})) if unclean and alive else None


def elect_preferred(partition: PartitionZNode, alive: Isr) -> LeaderIsr | None:
    """Elect the first replica if it is alive, in sync, and does not lead; the ISR stays (``Election.leaderForPreferredReplica``)."""
    preferred = 0
    return (preferred, partition.isr) if preferred in partition.isr & alive and partition.leader != preferred else None


def remove(partition: PartitionZNode, lost: Isr) -> LeaderIsr | None:
    """Take brokers out of the ISR, in which the last one stays, and out of the leadership.

    ``ReplicaStateMachine.doRemoveReplicasFromIsr``; who is the last one is a matter of order, which here is that of the ids.
    """
    gone = partition.isr & lost
    if not gone:
        return None
    isr = partition.isr - gone or frozenset({max(gone)})
    leader = NOBODY if partition.leader in lost else partition.leader
    return None if (leader, isr) == (partition.leader, partition.isr) else (leader, isr)


def decide(partition: PartitionZNode, alive: Isr, lost: Isr, *, unclean: bool) -> LeaderIsr | None:
    """Decide once brokers are gone or back: elect where the leader is not alive, else take who is gone out of the ISR.

    ``KafkaController.onReplicasBecomeOffline``, ``PartitionStateMachine.triggerOnlinePartitionStateChange``.
    """
    if partition.leader in alive:
        return remove(partition, lost)
    return elect(partition, alive, unclean=unclean) or remove(partition, lost)
