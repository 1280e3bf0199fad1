# SPDX-License-Identifier: Apache-2.0
"""Which protocol: every decision of the consumer group protocol that was taken differently over time, or may be taken wrongly.

The defaults are those of Kafka 4.3.1, but for two, in which Kafka breaks a promise that the protocol makes:
``InstanceClaim`` and ``OwnedReport``. Presets with names stand in ``hwmark.spec.group_consumer.presets``.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class Assignor(Enum):
    """Which target assignments the coordinator may come to."""

    UNIFORM = "uniform"
    """Balanced, and otherwise as before: what ``UniformAssignor`` makes of members with one and the same subscription."""
    ANY = "any"
    """Each partition goes to any member, as an assignor of somebody else's may have it."""


class Release(Enum):
    """When a partition goes to the member that it is meant for."""

    AWAITED = "awaited"
    """Once nobody else has it any more (``CurrentAssignmentBuilder.computeNextAssignment``)."""
    NOT_AWAITED = "not_awaited"
    """At once, whoever still has it."""


class EpochAdvance(Enum):
    """When a member that must give up partitions enters the epoch of the assignment that takes them away."""

    AFTER_REVOCATION = "after_revocation"
    """Once it has given them up."""
    AT_ONCE = "at_once"
    """As soon as it is asked to."""


class HeartbeatEpochs(Enum):
    """Which member epochs are accepted in a heartbeat, besides 0, with which a member joins."""

    CURRENT_OR_PREVIOUS = "current_or_previous"
    """The current one, or the one before it from a member that owns nothing else than it is assigned (KIP-848)."""
    CURRENT_OR_PREVIOUS_UNREVOKED = "current_or_previous_unrevoked"
    """The same, but a member in its previous epoch may also own what it has yet to give up."""
    CURRENT = "current"
    """The current one alone."""


class PreviousEpoch(Enum):
    """Which epoch counts as a member's previous one."""

    LAST_WRITTEN = "last_written"
    """That of its record before, also if it was the same epoch (``ConsumerGroupMember.Builder.updateMemberEpoch``)."""
    OTHER = "other"
    """The last one that differs from the current epoch."""


class InstanceClaim(Enum):
    """Whom a static member that joins finds its instance id taken by, unless it was left for a while."""

    OTHER_MEMBER = "other_member"
    """Another member."""
    ANY_MEMBER = "any_member"
    """Whoever has it, itself too (``GroupMetadataManager.throwIfInstanceIdIsUnreleased``)."""


class OwnedReport(Enum):
    """What a member reports to own, where a heartbeat says so."""

    OWNED_AND_PENDING = "owned_and_pending"
    """What it consumes, and what it was given and has yet to take over."""
    OWNED = "owned"
    """What it consumes (``ConsumerHeartbeatRequestManager.HeartbeatState.buildRequestData``)."""


class PartitionEpochUpdate(Enum):
    """In which order the epochs of a member's partitions are replaced."""

    REMOVE_THEN_ADD = "remove_then_add"
    """All old ones go, then all new ones are noted (``ConsumerGroup.maybeUpdatePartitionEpoch`` since 3.7, KAFKA-16147)."""
    SET_BY_SET = "set_by_set"
    """First those of assigned partitions are replaced, then those of partitions pending revocation (3.6)."""


class CommitEpochs(Enum):
    """From which member epochs on a commit of a partition is accepted, besides the current one."""

    ASSIGNMENT_EPOCH = "assignment_epoch"
    """From that in which the member was given the partition on, while it still has it (KIP-1251, since 4.3)."""
    CURRENT = "current"
    """None (``ConsumerGroup.validateOffsetCommit`` until 4.2)."""
    ANY = "any"
    """All, and from anybody: the epoch is not checked."""


@frozen
class Rules:
    """The decisions of the ``group_consumer`` machine."""

    assignor: Assignor = Assignor.UNIFORM
    release: Release = Release.AWAITED
    epoch_advance: EpochAdvance = EpochAdvance.AFTER_REVOCATION
    heartbeat_epochs: HeartbeatEpochs = HeartbeatEpochs.CURRENT_OR_PREVIOUS
    previous_epoch: PreviousEpoch = PreviousEpoch.LAST_WRITTEN
    instance_claim: InstanceClaim = InstanceClaim.OTHER_MEMBER
    owned_report: OwnedReport = OwnedReport.OWNED_AND_PENDING
    partition_epoch_update: PartitionEpochUpdate = PartitionEpochUpdate.REMOVE_THEN_ADD
    commit_epochs: CommitEpochs = CommitEpochs.ASSIGNMENT_EPOCH
