# SPDX-License-Identifier: Apache-2.0
"""What of a partition has to agree with the published machine that goes along with it.

The logs, record by record; who leads, and in which leader epoch; the ISR, but for members that were dropped and lack nothing;
that a leader counts on whom the published leader counts on, with the same exception; and what leaders count as committed.
"""

from __future__ import annotations

from attrs import frozen

from hwmark.model import replication
from hwmark.model.log import UNDEFINED_EPOCH, Log, Record
from hwmark.model.machine import BrokerId
from hwmark.model.partition.decisions import Brokers, PartitionState
from hwmark.model.partition.shared import leads, maximal_isr, truth
from hwmark.model.partition.state import Replica, State
from hwmark.model.replication import is_true_leader
from hwmark.spec.property import Witness, witness
from hwmark.spec.refinement import Followed

# -- what stands for what --


@frozen(cache_hash=True)
class Decision:
    """The decision of Kafka's controller for which a published leader epoch stands."""

    partition_epoch: int
    leader_epoch: int


@frozen(cache_hash=True)
class Notes:
    """What is kept beside the published state: the decision of each of its leader epochs, and what its leaders ever committed."""

    decisions: tuple[Decision, ...] = ()
    committed: tuple[Record, ...] = ()


def kafka_epoch(notes: Notes, leader_epoch: int) -> int:
    """Return the leader epoch of Kafka for which a published one stands; there are no fewer of these."""
    return UNDEFINED_EPOCH if leader_epoch == UNDEFINED_EPOCH else notes.decisions[leader_epoch].leader_epoch


def members(partition: PartitionState) -> Brokers:
    """Return who may lead next: the ISR, or if it is empty those eligible: a single one is who stayed in the ISR before the ELR."""
    return partition.isr or partition.elr


def follows(published: replication.State, broker: BrokerId, leader: BrokerId) -> bool:
    """Whether a broker follows a leader in that one's leader epoch."""
    theirs = published.replicas[broker]
    return theirs.leader == leader and theirs.leader_epoch == published.replicas[leader].leader_epoch


def lacks_nothing(published: replication.State, broker: BrokerId, leader: BrokerId) -> bool:
    """Whether a broker follows a leader in its epoch, and has all that the leader has."""
    return follows(published, broker, leader) and published.logs[broker].end_offset == published.logs[leader].end_offset


def is_copy(records: tuple[Record, ...], published: tuple[Record, ...], notes: Notes) -> bool:
    """Whether two logs hold the same records, of leader epochs that stand for one another."""
    return len(records) == len(published) and all(
        (one.id, one.leader_epoch) == (other.id, kafka_epoch(notes, other.leader_epoch))
        for one, other in zip(records, published, strict=True)
    )


# -- what has to agree --


def difference(state: State, known: Followed, broker: BrokerId) -> Witness | None:
    """Return what of the controller's decision or of a broker is not as in the published machine."""
    partition, quorum = truth(state), known.state.quorum
    if broker not in partition.replicas:
        return None
    if quorum.leader != partition.leader or not members(partition) <= quorum.isr:
        return witness(leader=partition.leader, isr=partition.isr)
    if is_true_leader(known.state, quorum.leader):
        for member in sorted(quorum.isr - members(partition)):
            if not lacks_nothing(known.state, member, quorum.leader):
                return witness(isr=partition.isr, member=member)
    mine, log = state.replicas[broker], state.logs[broker]
    if not is_copy(log.records, known.state.logs[broker].records, known.notes):
        return witness(log=log)
    leader_epoch = kafka_epoch(known.notes, known.state.replicas[broker].leader_epoch)
    if mine.leader_epoch not in (UNDEFINED_EPOCH, leader_epoch) and leader_epoch > mine.leader_epoch:
        return witness(knows_leader_epoch=mine.leader_epoch, is_said_to_know=leader_epoch)
    return leader_difference(mine, log, known, broker) if leads(state, broker) else None


def leader_difference(mine: Replica, log: Log, known: Followed, broker: BrokerId) -> Witness | None:
    """Return what of a leader is not as in the published machine.

    A high watermark beyond the start of the leader's epoch must be the same. Up to there it may be what the leader heard as
    a follower, which the published machine forgets: then some leader must have committed as much before.
    """
    theirs = known.state.replicas[broker]
    if (theirs.leader, kafka_epoch(known.notes, theirs.leader_epoch)) != (broker, mine.leader_epoch):
        return witness(leads_in=mine.leader_epoch)
    for member in sorted(theirs.isr - maximal_isr(mine)):
        if not lacks_nothing(known.state, member, broker):
            return witness(counts_on=maximal_isr(mine), member=member)
    high_watermark, ever = mine.high_watermark, known.notes.committed
    if high_watermark > mine.epoch_start and high_watermark != theirs.high_watermark:
        return witness(high_watermark=high_watermark)
    is_committed = is_copy(log.records[:high_watermark], ever[:high_watermark], known.notes)
    return None if is_committed else witness(high_watermark=high_watermark, ever_committed=ever)
