# SPDX-License-Identifier: Apache-2.0
"""Named rules of the ``group_consumer`` machine, the right ones first, each as a delta from those.

``kafka_4_3`` is what Kafka 4.3.1 does. It differs from the right rules in two decisions, which also stand alone; the others take
away one rule each, or are what earlier releases did. ``retries_tolerated`` goes beyond what KIP-848 promises.
"""

from __future__ import annotations

from attrs import evolve

from hwmark.model.group_consumer.rules import (
    Assignor,
    CommitEpochs,
    EpochAdvance,
    HeartbeatEpochs,
    InstanceClaim,
    OwnedReport,
    PartitionEpochUpdate,
    PreviousEpoch,
    Release,
    Rules,
)

RIGHT = Rules()
KAFKA_4_3 = evolve(
    RIGHT,
    instance_claim=InstanceClaim.ANY_MEMBER,
    owned_report=OwnedReport.OWNED,
)

PRESETS = {
    "kip_848": RIGHT,
    "kafka_4_3": KAFKA_4_3,
    "owned_alone_reported": evolve(RIGHT, owned_report=OwnedReport.OWNED),
    "instance_taken_by_itself": evolve(RIGHT, instance_claim=InstanceClaim.ANY_MEMBER),
    "assign_without_wait_for_release": evolve(RIGHT, release=Release.NOT_AWAITED),
    "bump_epoch_before_revoke": evolve(RIGHT, epoch_advance=EpochAdvance.AT_ONCE),
    "no_previous_epoch_tolerance": evolve(RIGHT, heartbeat_epochs=HeartbeatEpochs.CURRENT),
    "partition_epoch_lost_on_regrant": evolve(RIGHT, partition_epoch_update=PartitionEpochUpdate.SET_BY_SET),
    "commit_of_current_epoch_alone": evolve(RIGHT, commit_epochs=CommitEpochs.CURRENT),
    "commit_epoch_unchecked": evolve(RIGHT, commit_epochs=CommitEpochs.ANY),
    "retries_tolerated": evolve(RIGHT, previous_epoch=PreviousEpoch.OTHER, heartbeat_epochs=HeartbeatEpochs.CURRENT_OR_PREVIOUS_UNREVOKED),
    "any_assignor": evolve(RIGHT, assignor=Assignor.ANY),
}
"""The presets by name."""
