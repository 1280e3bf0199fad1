# SPDX-License-Identifier: Apache-2.0
"""What the controller decides about a partition: who leads, who is in sync, and who else may lead without loss.

Kafka's controller makes every change of a partition the same way (``PartitionChangeBuilder.build``, 4.3.1): the caller
says what the partition should become, and the builder completes a reassignment, says who is eligible, elects, and counts
epochs. Here the caller's target is the partition itself with its ISR, replicas, reassignment or recovery replaced. Each
decision is one small function, in the order in which ``change`` makes them.

Left out: the directories of a replica's broker, of which none goes offline here. Kafka keeps the ISR, the ELR and the
brokers that are added or removed as lists; here they are sets, so a change of nothing but their order is no change.
"""

from __future__ import annotations

from enum import Enum

from attrs import evolve, frozen

from hwmark.model.machine import BrokerId

NOBODY: BrokerId = -1
Brokers = frozenset[BrokerId]


class LeaderRecovery(Enum):
    """Whether a leader that was elected uncleanly still has to recover (``LeaderRecoveryState``)."""

    RECOVERED = "recovered"
    """The election was clean, or the leader has recovered since."""
    RECOVERING = "recovering"
    """The election was unclean, and the leader has not said yet that it recovered."""


class ElectionType(Enum):
    """What an election is for (``PartitionChangeBuilder.Election``)."""

    PREFERRED = "preferred"
    """Give the partition to its first replica if that may lead, and else keep it online."""
    ONLINE = "online"
    """Keep the partition online, with a leader that loses nothing."""
    UNCLEAN = "unclean"
    """Keep the partition online, if need be with a leader that lacks committed records."""


@frozen(cache_hash=True)
class PartitionState:
    """What the metadata say of a partition (``PartitionRegistration``); the order of the replicas matters for elections."""

    replicas: tuple[BrokerId, ...]
    isr: Brokers
    elr: Brokers = frozenset()
    last_known_elr: Brokers = frozenset()
    """As Kafka ships: nobody, or just the leader that the partition had before it first lost it."""
    leader: BrokerId = NOBODY
    leader_epoch: int = 0
    partition_epoch: int = 0
    adding: Brokers = frozenset()
    removing: Brokers = frozenset()
    leader_recovery: LeaderRecovery = LeaderRecovery.RECOVERED


@frozen
class Circumstances:
    """What a change depends on besides the partition: what the operator set, which features are on, and who is alive."""

    acceptable: Brokers
    """Who may lead as far as the brokers themselves are concerned: see ``changes.acceptable_leaders``."""
    min_isr: int = 1
    """The effective one: see ``effective_min_isr``."""
    election: ElectionType = ElectionType.ONLINE
    elr_enabled: bool = True
    elr_of_replicas: bool = False
    """Whether only replicas are eligible: in Kafka also who was removed since it left the ISR."""
    last_known_leader: bool = True
    """Whether ``last_known_elr`` remembers the last leader, which may be elected; Kafka never switches that off."""
    unclean_shutdown: Brokers = frozenset()
    """Whose logs may lack records, because they register again and did not shut down cleanly."""
    bump_on_isr_shrink: bool = False
    """Whether the leader epoch grows whenever the ISR shrinks: only with metadata versions before 3.6 (KAFKA-15021)."""


@frozen
class Elected:
    """The outcome of an election: who is to lead, maybe nobody, and whether records may be lost by it."""

    leader: BrokerId
    unclean: bool = False


def effective_min_isr(min_insync_replicas: int, replicas: tuple[BrokerId, ...]) -> int:
    """Return the size of the ISR below which the ELR is kept: no more than there are replicas.

    ``ReplicationControlManager.getTopicEffectiveMinIsr`` counts those of the topic's partition 0, while reassigning also
    the ones that are added and removed.
    """
    return min(min_insync_replicas, len(replicas))


def election_type(*, unclean_allowed: bool) -> ElectionType:
    """Return how the controller elects of its own accord: ``unclean.leader.election.enable`` makes each election unclean."""
    return ElectionType.UNCLEAN if unclean_allowed else ElectionType.ONLINE


# -- the reassignment --


def complete_reassignment(target: PartitionState) -> PartitionState:
    """Finish a reassignment once all that are added are in sync (``PartitionReassignmentReplicas.maybeCompleteReassignment``)."""
    if not target.adding and not target.removing:
        return target
    replicas, isr = tuple(broker for broker in target.replicas if broker not in target.removing), target.isr - target.removing
    if target.removing and not (replicas and isr):
        return target
    is_smaller = len(target.adding) < len(target.removing)  # who stays must then be in sync too, lest the ISR shrinks for nothing
    if not target.adding <= isr or (is_smaller and not isr.issuperset(replicas)):
        return target
    return evolve(target, replicas=replicas, isr=isr, adding=frozenset(), removing=frozenset())


# -- the eligible leader replicas --


def update_elr(partition: PartitionState, target: PartitionState, by: Circumstances) -> PartitionState:
    """Say who left the ISR while it is below its minimum, and so holds all that is committed (``maybePopulateTargetElr``)."""
    if not by.elr_enabled:
        return target
    if len(target.isr) >= by.min_isr:
        return evolve(target, elr=frozenset(), last_known_elr=frozenset())
    left = (target.elr | partition.isr) - target.isr
    if by.elr_of_replicas:
        left &= frozenset(target.replicas)
    elr = left - by.unclean_shutdown
    return evolve(target, elr=elr, last_known_elr=(left | (target.last_known_elr - target.isr)) - elr)


# -- the election --


def is_valid_new_leader(target: PartitionState, broker: BrokerId, acceptable: Brokers) -> bool:
    """Whether a broker may lead without loss: it is in the ISR, or in the ELR if the ISR is empty (``isValidNewLeader``)."""
    is_eligible = broker in target.isr or (not target.isr and broker in target.elr)
    return is_eligible and broker in acceptable


def election_order(partition: PartitionState, target: PartitionState, election: ElectionType) -> tuple[BrokerId, ...]:
    """Return who is asked first: the leader, then the replicas as assigned; for a preferred election their first before it."""
    if election is ElectionType.PREFERRED:
        return (*target.replicas[:1], partition.leader, *target.replicas[1:])
    return (partition.leader, *target.replicas)


def elect_clean(partition: PartitionState, target: PartitionState, by: Circumstances) -> BrokerId | None:
    """Return the first who may lead without loss, if anybody may."""
    order = election_order(partition, target, by.election)
    return next((broker for broker in order if is_valid_new_leader(target, broker, by.acceptable)), None)


def elect_last_known(partition: PartitionState, target: PartitionState, by: Circumstances) -> BrokerId | None:
    """Return the last leader if nobody is in sync or eligible any more and it is back (``canElectLastKnownLeader``)."""
    is_asked = by.elr_enabled and by.last_known_leader and not target.isr and not target.elr
    if not is_asked or len(partition.last_known_elr) != 1 or not partition.last_known_elr <= by.acceptable:
        return None
    return min(partition.last_known_elr)


def elect_unclean(target: PartitionState, by: Circumstances) -> BrokerId | None:
    """Return the first replica that is alive, whatever its log may lack, if an unclean election is asked for."""
    if by.election is not ElectionType.UNCLEAN:
        return None
    return next((broker for broker in target.replicas if broker in by.acceptable), None)


def elect(partition: PartitionState, target: PartitionState, by: Circumstances) -> Elected:
    """Elect without loss if possible, else the last known leader, else uncleanly if asked to, else nobody (``electLeader``)."""
    clean = elect_clean(partition, target, by)
    if clean is not None:
        return Elected(clean)
    last_known = elect_last_known(partition, target, by)
    if last_known is not None:  # also where unclean elections are not allowed
        return Elected(last_known, unclean=True)
    unclean = elect_unclean(target, by)
    return Elected(NOBODY) if unclean is None else Elected(unclean, unclean=True)


def join_isr(target: PartitionState, leader: BrokerId) -> PartitionState:
    """Make a new leader from the ELR the only member of the ISR (``tryElection``)."""
    return evolve(target, isr=frozenset({leader}), elr=target.elr - {leader}) if leader in target.elr else target


# -- what the change is --


def isr_after(partition: PartitionState, target: PartitionState, leader: BrokerId, by: Circumstances, *, unclean: bool) -> Brokers:
    """Return the new ISR: just the leader after an unclean election; it is never emptied without the ELR."""
    if unclean:
        return frozenset({leader})
    return target.isr if target.isr or by.elr_enabled else partition.isr


def elr_after(target: PartitionState, by: Circumstances, *, unclean: bool) -> Brokers:
    """Return the new ELR: nobody after an unclean election, or without the feature (``maybeUpdateRecordElr``)."""
    return frozenset() if unclean or not by.elr_enabled else target.elr


def is_leader_epoch_bumped(partition: PartitionState, target: PartitionState, leader: BrokerId, isr: Brokers, by: Circumstances) -> bool:
    """Whether the leader epoch grows: with a new leader or none, when a replica is removed, and once whenever the ISR shrank."""
    is_replica_removed = not set(target.replicas).issuperset(partition.replicas)
    is_isr_shrunk = by.bump_on_isr_shrink and not isr >= partition.isr
    return leader != partition.leader or is_replica_removed or is_isr_shrunk


def last_known_elr_after(
    partition: PartitionState, target: PartitionState, leader: BrokerId, by: Circumstances, *, bumped: bool
) -> Brokers:
    """Return who led before the partition first lost its leader, forgotten with the next (``maybeUpdateLastKnownLeader``)."""
    if not by.last_known_leader:
        return target.last_known_elr
    if not by.elr_enabled or not bumped:
        return partition.last_known_elr
    if leader != NOBODY:
        return frozenset()
    return partition.last_known_elr or frozenset({partition.leader})


def leader_recovery_after(partition: PartitionState, target: PartitionState, *, unclean: bool) -> LeaderRecovery:
    """Return whether the leader has to recover: as asked for if that is news, else from an unclean election."""
    if target.leader_recovery is not partition.leader_recovery:
        return target.leader_recovery
    return LeaderRecovery.RECOVERING if unclean else partition.leader_recovery


def change(partition: PartitionState, target: PartitionState, by: Circumstances) -> PartitionState | None:
    """Return the partition on its way to a target, or ``None`` if nothing changes (``PartitionChangeBuilder.build``).

    The target is the partition with ``isr``, ``replicas``, ``adding``, ``removing`` or ``leader_recovery`` replaced.
    """
    target = update_elr(partition, complete_reassignment(target), by)
    elected = elect(partition, target, by)
    is_new = elected.leader != partition.leader
    unclean = is_new and elected.unclean
    if is_new:
        target = join_isr(target, elected.leader)
    isr = isr_after(partition, target, elected.leader, by, unclean=unclean)
    bumped = is_leader_epoch_bumped(partition, target, elected.leader, isr, by)
    if unclean or not by.elr_enabled:
        target = evolve(target, last_known_elr=frozenset())
    changed = evolve(
        partition,
        replicas=target.replicas or partition.replicas,
        isr=isr,
        elr=elr_after(target, by, unclean=unclean),
        last_known_elr=last_known_elr_after(partition, target, elected.leader, by, bumped=bumped),
        leader=elected.leader,
        leader_epoch=partition.leader_epoch + bumped,
        adding=target.adding,
        removing=target.removing,
        leader_recovery=leader_recovery_after(partition, target, unclean=unclean),
    )
    return None if changed == partition else evolve(changed, partition_epoch=partition.partition_epoch + 1)
