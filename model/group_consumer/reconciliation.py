# SPDX-License-Identifier: Apache-2.0
"""What the coordinator decides about one member, as pure functions: which heartbeats count, what the member has next.

A member is brought from what it has (its current assignment) to what it is meant to have (its target assignment) in steps,
one a heartbeat: it gives up what it must, then enters the target's epoch, and gets what nobody else has. The coordinator
remembers under which member epoch each partition is held, and gives no partition that has such an epoch to another member.
Partitions are numbers, and what a member has is a tuple with an entry for each: the epoch under which it was assigned, or
``NOT_HELD``. Left out: regular expressions, and the state of a record that a later version of Kafka wrote (``UNKNOWN``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import assert_never

from attrs import evolve, frozen

from hwmark.model.ownership import PartitionId

from .rules import CommitEpochs, EpochAdvance, HeartbeatEpochs, PartitionEpochUpdate, PreviousEpoch, Release, Rules

JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH = 0, -1, -2
"""The member epochs with which a member joins, leaves, and leaves for a while (``ConsumerGroupHeartbeatRequest``)."""
NOT_HELD = -1
"""The assignment epoch of a partition that a member does not have, and the partition epoch of one that nobody has."""

Partitions = frozenset[PartitionId]
Held = tuple[int, ...]
"""What a member has: for each partition the epoch under which it was assigned, or ``NOT_HELD``."""


class MemberState(Enum):
    """How far a member is on the way to its target assignment (``MemberState``)."""

    STABLE = "stable"
    """It has reached the target of its epoch."""
    UNREVOKED_PARTITIONS = "unrevoked_partitions"
    """It has yet to give up partitions before it can enter the next epoch."""
    UNRELEASED_PARTITIONS = "unreleased_partitions"
    """It is in the target's epoch, and waits for partitions that others still have."""


class Error(Enum):
    """Why a request is refused (``Errors``)."""

    NONE = "none"
    UNKNOWN_MEMBER_ID = "unknown_member_id"
    FENCED_MEMBER_EPOCH = "fenced_member_epoch"
    UNRELEASED_INSTANCE_ID = "unreleased_instance_id"
    FENCED_INSTANCE_ID = "fenced_instance_id"
    STALE_MEMBER_EPOCH = "stale_member_epoch"


@frozen(cache_hash=True)
class Member:
    """What the coordinator's log says of a member (``ConsumerGroupMember``)."""

    member_epoch: int
    previous_member_epoch: int
    state: MemberState
    assigned: Held
    pending_revocation: Held


@frozen
class Target:
    """What a member is meant to have, the epoch of that assignment, and the partitions of topics that it subscribes to.

    ``is_resubscribed``: it says so with this heartbeat, and said something else before.
    """

    epoch: int
    partitions: Partitions
    subscribed: Partitions
    is_resubscribed: bool = False

    @property
    def wanted(self) -> Partitions:
        """What the member is meant to have and may have."""
        return self.partitions & self.subscribed


def new_member(partitions: int) -> Member:
    """Return the record of a member that has just been heard of."""
    nothing = (NOT_HELD,) * partitions
    return Member(JOIN_EPOCH, NOT_HELD, MemberState.STABLE, nothing, nothing)


def held(has: Held) -> Partitions:
    """Return the partitions that are held."""
    return frozenset(partition for partition, epoch in enumerate(has) if epoch != NOT_HELD)


def all_held(member: Member) -> Partitions:
    """Return every partition that counts as the member's: assigned, or not yet known to be given up."""
    return held(member.assigned) | held(member.pending_revocation)


# -- heartbeats --


def heartbeat_error(rules: Rules, member: Member, received_epoch: int, owned: Partitions | None) -> Error:
    """Return whether a heartbeat with this epoch is refused (``GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid``).

    A member whose last answer was lost comes with its previous epoch. It is let in if it says what it owns, and owns
    nothing but what it has been assigned since.
    """
    if received_epoch in {JOIN_EPOCH, member.member_epoch}:
        return Error.NONE
    if received_epoch > member.member_epoch or received_epoch != member.previous_member_epoch or owned is None:
        return Error.FENCED_MEMBER_EPOCH
    match rules.heartbeat_epochs:
        case HeartbeatEpochs.CURRENT:
            is_retry = False
        case HeartbeatEpochs.CURRENT_OR_PREVIOUS:
            is_retry = owned <= held(member.assigned)
        case HeartbeatEpochs.CURRENT_OR_PREVIOUS_UNREVOKED:
            is_retry = owned <= all_held(member)
        case _:
            assert_never(rules.heartbeat_epochs)
    return Error.NONE if is_retry else Error.FENCED_MEMBER_EPOCH


# -- reconciliation --


def reconcile(rules: Rules, member: Member, target: Target, owned: Partitions | None, partition_epochs: Sequence[int]) -> Member:
    """Return a member's record after a heartbeat that says what it owns, or nothing about it (``CurrentAssignmentBuilder.build``)."""
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch != target.epoch:
                return next_assignment(rules, member, target, owned, partition_epochs)
            return without_unsubscribed(rules, member, target, owned) if target.is_resubscribed else member
        case MemberState.UNREVOKED_PARTITIONS:
            if not owns_any(owned, held(member.pending_revocation)):
                return next_assignment(rules, member, target, owned, partition_epochs)
            return without_unsubscribed(rules, member, target, owned) if target.is_resubscribed else member
        case MemberState.UNRELEASED_PARTITIONS:
            return next_assignment(rules, member, target, owned, partition_epochs)
        case _:
            assert_never(member.state)


def next_assignment(rules: Rules, member: Member, target: Target, owned: Partitions | None, partition_epochs: Sequence[int]) -> Member:
    """Take one step towards the target (``CurrentAssignmentBuilder.computeNextAssignment``)."""
    wanted = target.wanted
    kept = restricted(member.assigned, wanted)
    revoked = restricted(member.assigned, held(member.assigned) - wanted)
    if held(revoked) and owns_any(owned, held(revoked)):
        epoch = epoch_while_revoking(rules, member, target)
        return Member(epoch, previous_epoch(rules, member, epoch), MemberState.UNREVOKED_PARTITIONS, kept, revoked)
    missing = wanted - held(kept)
    free = frozenset(partition for partition in sorted(missing) if is_free(rules, member, partition, partition_epochs))
    assigned = tuple(target.epoch if partition in free else epoch for partition, epoch in enumerate(kept))
    state = MemberState.UNRELEASED_PARTITIONS if missing - free else MemberState.STABLE
    return Member(target.epoch, previous_epoch(rules, member, target.epoch), state, assigned, restricted(assigned, frozenset()))


def without_unsubscribed(rules: Rules, member: Member, target: Target, owned: Partitions | None) -> Member:
    """Take away what the member no longer subscribes to, whatever its target (``CurrentAssignmentBuilder.updateCurrentAssignment``)."""
    gone = held(member.assigned) - target.subscribed
    if not gone:
        return member
    kept = restricted(member.assigned, target.subscribed)
    pending = tuple(
        epoch if partition in gone else before
        for partition, (epoch, before) in enumerate(zip(member.assigned, member.pending_revocation, strict=True))
    )
    previous = previous_epoch(rules, member, member.member_epoch)
    if held(pending) and owns_any(owned, held(pending)):
        return Member(member.member_epoch, previous, MemberState.UNREVOKED_PARTITIONS, kept, pending)
    return Member(member.member_epoch, previous, member.state, kept, member.pending_revocation)


def owns_any(owned: Partitions | None, partitions: Partitions) -> bool:
    """Whether the member may still own any of these partitions, for all that it says; it need not say."""
    return owned is None or not owned.isdisjoint(partitions)


def is_free(rules: Rules, member: Member, partition: PartitionId, partition_epochs: Sequence[int]) -> bool:
    """Whether the member may be given a partition: nobody has it, or itself does, and is giving it up."""
    match rules.release:
        case Release.AWAITED:
            return partition_epochs[partition] == NOT_HELD or member.pending_revocation[partition] != NOT_HELD
        case Release.NOT_AWAITED:
            return True
        case _:
            assert_never(rules.release)


def epoch_while_revoking(rules: Rules, member: Member, target: Target) -> int:
    """Return the epoch of a member that has yet to give up partitions."""
    match rules.epoch_advance:
        case EpochAdvance.AFTER_REVOCATION:
            return member.member_epoch
        case EpochAdvance.AT_ONCE:
            return target.epoch
        case _:
            assert_never(rules.epoch_advance)


def previous_epoch(rules: Rules, member: Member, epoch: int) -> int:
    """Return a member's previous epoch once its record says this one (``ConsumerGroupMember.Builder.updateMemberEpoch``)."""
    match rules.previous_epoch:
        case PreviousEpoch.LAST_WRITTEN:
            return member.member_epoch
        case PreviousEpoch.OTHER:
            return member.previous_member_epoch if epoch == member.member_epoch else member.member_epoch
        case _:
            assert_never(rules.previous_epoch)


def restricted(has: Held, partitions: Collection[PartitionId]) -> Held:
    """Return what is left of what a member has if only these partitions are kept."""
    return tuple(epoch if partition in partitions else NOT_HELD for partition, epoch in enumerate(has))


# -- static members --


def left_for_a_while(member: Member) -> Member:
    """Return the record of a static member that left and may come back (``GroupMetadataManager.consumerGroupStaticMemberGroupLeave``).

    It keeps what it is assigned; whoever comes back has it as if from the start, and what it was giving up is given up.
    """
    assigned = tuple(epoch if epoch == NOT_HELD else 0 for epoch in member.assigned)
    return evolve(
        member, member_epoch=STATIC_LEAVE_EPOCH, assigned=assigned, pending_revocation=restricted(member.pending_revocation, frozenset())
    )


def taken_over(member: Member) -> Member:
    """Return the record with which another process takes a static member's place, before it is reconciled.

    See ``GroupMetadataManager.getOrMaybeSubscribeStaticConsumerGroupMember``.
    """
    return evolve(member, member_epoch=JOIN_EPOCH, previous_member_epoch=JOIN_EPOCH)


# -- the epochs of partitions --


def updated_partition_epochs(
    rules: Rules, partition_epochs: Sequence[int], before: Member | None, after: Member | None
) -> Mapping[PartitionId, int]:
    """Return which partitions get which epoch as a member's record is replaced (``ConsumerGroup.maybeUpdatePartitionEpoch``).

    Each partition that a member has carries the epoch of that member, for others to see that it is not free.
    """
    changes: dict[PartitionId, int] = {}
    old_assigned, old_pending = (before.assigned, before.pending_revocation) if before is not None else ((), ())
    new_assigned, new_pending = (after.assigned, after.pending_revocation) if after is not None else ((), ())
    old_epoch, new_epoch = before.member_epoch if before is not None else 0, after.member_epoch if after is not None else 0
    match rules.partition_epoch_update:
        case PartitionEpochUpdate.REMOVE_THEN_ADD:
            for has in (old_assigned, old_pending):
                remove_partition_epochs(changes, partition_epochs, has, old_epoch)
            for has in (new_assigned, new_pending):
                add_partition_epochs(changes, partition_epochs, has, new_epoch)
        case PartitionEpochUpdate.SET_BY_SET:
            for old, new in ((old_assigned, new_assigned), (old_pending, new_pending)):
                if old != new:
                    changes.update(dict.fromkeys(sorted(held(old)), NOT_HELD))
                    changes.update(dict.fromkeys(sorted(held(new)), new_epoch))
        case _:
            assert_never(rules.partition_epoch_update)
    return changes


def remove_partition_epochs(changes: dict[PartitionId, int], partition_epochs: Sequence[int], has: Held, epoch: int) -> None:
    """Note that partitions are free, unless somebody has them by now (``ConsumerGroup.removePartitionEpochs``)."""
    for partition in sorted(held(has)):
        if changes.get(partition, partition_epochs[partition]) == epoch:
            changes[partition] = NOT_HELD


def add_partition_epochs(changes: dict[PartitionId, int], partition_epochs: Sequence[int], has: Held, epoch: int) -> None:
    """Note under which epoch partitions are held; if somebody else holds one under a later epoch, that stays.

    Kafka fails if somebody holds it under the same or a later one (``ConsumerGroup.addPartitionEpochs``), which is one way to find out
    that a partition is held twice.
    """
    for partition in sorted(held(has)):
        changes[partition] = max(epoch, changes.get(partition, partition_epochs[partition])) if epoch >= 0 else epoch


# -- commits --


def commit_error(rules: Rules, member: Member | None, received_epoch: int, partition: PartitionId) -> Error:
    """Return whether a commit of a partition's offset is refused (``ConsumerGroup.validateOffsetCommit``)."""
    match rules.commit_epochs:
        case CommitEpochs.ANY:
            return Error.NONE
        case CommitEpochs.CURRENT | CommitEpochs.ASSIGNMENT_EPOCH:
            if member is None:
                return Error.UNKNOWN_MEMBER_ID
        case _:
            assert_never(rules.commit_epochs)
    if received_epoch == member.member_epoch:
        return Error.NONE
    if rules.commit_epochs is CommitEpochs.CURRENT or received_epoch > member.member_epoch:
        return Error.STALE_MEMBER_EPOCH
    assigned = member.assigned[partition]
    since = assigned if assigned != NOT_HELD else member.pending_revocation[partition]
    return Error.STALE_MEMBER_EPOCH if since == NOT_HELD or received_epoch < since else Error.NONE
