# SPDX-License-Identifier: Apache-2.0
"""Why the controller changes a partition of its own accord or for an operator, and what it then asks ``decisions.change``.

Each function is one cause (``ReplicationControlManager``, 4.3.1) and returns the partition after it, or ``None`` where
the controller has no reason to look at the partition, or nothing changes. ``by.acceptable`` are the active brokers before
the cause: registered, not fenced, not in controlled shutdown. ``by.election`` is ``election_type`` of the topic.
"""

from __future__ import annotations

from attrs import evolve

from hwmark.model.machine import BrokerId

from .decisions import NOBODY, Brokers, Circumstances, ElectionType, PartitionState, change

# -- what no cause gets round --


def decide(partition: PartitionState, target: PartitionState, by: Circumstances) -> PartitionState | None:
    """Make a change, unless a broker would lead that is no replica before it: then Kafka fails, and nothing changes.

    ``ReplicationControlManager.LeaderAcceptor`` looks for the directory of whoever might lead among the replicas of before.
    """
    after = change(partition, target, by)
    return None if after is not None and after.leader not in {NOBODY, *partition.replicas} else after


# -- brokers come and go --


def acceptable_leaders(
    active: Brokers, *, removed: BrokerId = NOBODY, added: BrokerId = NOBODY, unclean_shutdown: BrokerId = NOBODY
) -> Brokers:
    """Return who may lead: the active brokers and one that becomes so, without one that leaves (``generateLeaderAndIsrUpdates``)."""
    return (active | {added}) - {removed, unclean_shutdown, NOBODY}


def remove_broker(partition: PartitionState, broker: BrokerId, by: Circumstances) -> PartitionState | None:
    """Take a broker out of the ISR and the leadership; it stays or becomes eligible if the ISR is below its minimum."""
    by = evolve(by, acceptable=acceptable_leaders(by.acceptable, removed=broker))
    return decide(partition, evolve(partition, isr=partition.isr - {broker}), by)


def broker_fenced(partition: PartitionState, broker: BrokerId, by: Circumstances) -> PartitionState | None:
    """A broker is fenced: its session timed out or it asked to be (``handleBrokerFenced``)."""
    return remove_broker(partition, broker, by) if broker in partition.isr else None


def broker_in_controlled_shutdown(partition: PartitionState, broker: BrokerId, by: Circumstances) -> PartitionState | None:
    """A broker asks to shut down: it hands over what it leads (``handleBrokerInControlledShutdown``)."""
    return remove_broker(partition, broker, by) if broker in partition.isr else None


def broker_unregistered(partition: PartitionState, broker: BrokerId, by: Circumstances) -> PartitionState | None:
    """A broker is unregistered by an operator; if it is in the ELR, it stays there (``handleBrokerUnregistered``)."""
    return remove_broker(partition, broker, by) if broker in partition.isr or broker in partition.elr else None


def broker_unfenced(partition: PartitionState, broker: BrokerId, by: Circumstances) -> PartitionState | None:
    """A broker is unfenced: it may be elected where nobody leads (``handleBrokerUnfenced``)."""
    if partition.leader != NOBODY:
        return None
    return decide(partition, partition, evolve(by, acceptable=acceptable_leaders(by.acceptable, added=broker)))


def broker_registered(partition: PartitionState, broker: BrokerId, by: Circumstances, *, clean: bool) -> PartitionState | None:
    """A broker registers as a new incarnation; its log may lack records if its shutdown was unclean (``handleBrokerShutdown``)."""
    if clean or not by.elr_enabled:
        return remove_broker(partition, broker, by) if broker in partition.isr else None
    if broker not in partition.isr and broker not in partition.elr:
        return None
    acceptable = acceptable_leaders(by.acceptable, unclean_shutdown=broker)
    by = evolve(by, acceptable=acceptable, unclean_shutdown=frozenset({broker}))
    return decide(partition, evolve(partition, isr=partition.isr - {broker}), by)


# -- elections that are asked for --


def is_election_needed(partition: PartitionState, election: ElectionType) -> bool:
    """Whether there is anything to elect: another than the preferred leader leads, or, for an unclean election, nobody."""
    match election:
        case ElectionType.PREFERRED:
            return partition.leader != next(iter(partition.replicas), NOBODY)
        case ElectionType.UNCLEAN:
            return partition.leader == NOBODY
        case ElectionType.ONLINE:  # nobody can ask for it
            return False


def elect_leader(partition: PartitionState, by: Circumstances) -> PartitionState | None:
    """Elect for an operator, or to balance, or to end that nobody leads where unclean elections are allowed (``electLeader``)."""
    return decide(partition, partition, by) if is_election_needed(partition, by.election) else None


# -- reassignments --


def reassign(partition: PartitionState, replicas: tuple[BrokerId, ...], by: Circumstances) -> PartitionState | None:
    """An operator moves the partition: what is new is added, what goes leaves later (``changePartitionReassignment``).

    What is added or removed counts against all replicas of now, also those that another reassignment adds or removes; and
    where a set comes out empty, that of the other reassignment stays. It never elects uncleanly.
    """
    adding, removing = frozenset(replicas) - frozenset(partition.replicas), frozenset(partition.replicas) - frozenset(replicas)
    target = evolve(
        partition,
        replicas=(*replicas, *sorted(removing)),
        adding=adding or partition.adding,
        removing=removing or partition.removing,
    )
    return decide(partition, target, evolve(by, election=ElectionType.ONLINE))


def cancel_reassignment(partition: PartitionState, by: Circumstances) -> PartitionState | None:
    """An operator takes a reassignment back: what it added leaves at once (``cancelPartitionReassignment``).

    If nobody else is in sync, the first of the others counts as in sync, whatever its log lacks: only where unclean
    elections are allowed (``PartitionReassignmentRevert``).
    """
    replicas, isr = tuple(broker for broker in partition.replicas if broker not in partition.adding), partition.isr - partition.adding
    is_unclean = not isr
    if not (partition.adding or partition.removing) or not replicas or (is_unclean and by.election is not ElectionType.UNCLEAN):
        return None
    target = evolve(partition, replicas=replicas, isr=isr or frozenset(replicas[:1]), adding=frozenset(), removing=frozenset())
    return decide(partition, target, by)
