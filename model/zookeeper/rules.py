# SPDX-License-Identifier: Apache-2.0
"""The decisions of the ``zookeeper`` machine: one enum each, whose first member keeps every promise.

That is what Kafka 2.6 does but for ``RefusedWrite`` and ``ElectedAgain``. The other members are what Kafka did in 2.6 or
before, or a mistake that one of its checks excludes.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

# -- what is written to ZooKeeper --


class IsrWrite(Enum):
    """What a leader's write of the ISR is compared with (``ReplicationUtils.updateLeaderAndIsr``)."""

    ZK_VERSION = "zk_version"
    """The version of the znode that the leader knows: whoever does not know the last decision writes nothing."""
    NOTHING = "nothing"
    """Nothing: the last write wins."""


class DecisionWrite(Enum):
    """What the controller's write of a decision is compared with (``KafkaZkClient.setTopicPartitionStatesRaw``)."""

    ZK_VERSION = "zk_version"
    """The version of the znode that it has read just before; it reads and tries again where somebody was faster."""
    NOTHING = "nothing"
    """Nothing, and it decides by what it read last."""


class ControllerWriteFence(Enum):
    """Which controllers may write a decision (``KafkaZkClient.wrapRequestWithControllerEpochCheck``)."""

    CONTROLLER_EPOCH = "controller_epoch"
    """The one of the controller epoch in ZooKeeper; any other finds out and resigns (since 2.1, KAFKA-6082)."""
    NONE = "none"
    """Any, unless a later controller has written the znode already (``PartitionStateMachine.doElectLeaderForPartitions``)."""


class RefusedWrite(Enum):
    """What a leader makes of a refusal of its ISR (``Partition.maybeUpdateIsrAndVersion``)."""

    COUNTED_ON = "counted_on"
    """Until the controller's decision arrives it counts on whom it asked for and on whom it knew, as either may be right (KIP-497)."""
    SKIPPED = "skipped"
    """Nothing: it goes on with the ISR that it knew (2.6)."""
    APPLIED = "applied"
    """It goes on with the ISR that it wanted."""
    VERSION_ADOPTED = "version_adopted"
    """It takes over the version that ZooKeeper has by now, for the next try."""


class LostAnswer(Enum):
    """How a leader takes the refusal of a write that it repeats, as it heard nothing of the first try."""

    COMPARED = "compared"
    """As an acceptance, if the znode is just what it wanted to write (``checkLeaderAndIsrZkData``, KAFKA-1382)."""
    REFUSED = "refused"
    """As a refusal."""


class WhileWriting(Enum):
    """What a leader does while it waits for ZooKeeper to answer."""

    STANDS_STILL = "stands_still"
    """Nothing: it holds the lock of the partition (``Partition.leaderIsrUpdateLock``, until 2.6)."""
    COUNTS_ON_BOTH = "counts_on_both"
    """It goes on, and its high watermark waits for the members that it knows and for those that it asked for (KIP-497)."""
    COUNTS_ON_KNOWN = "counts_on_known"
    """It goes on, and its high watermark waits for the members that it knows."""


# -- what is sent to brokers --


class ControllerEpochFence(Enum):
    """Which controllers a broker obeys (``ReplicaManager.becomeLeaderOrFollower``)."""

    NOT_OLDER = "not_older"
    """None of an older controller epoch than it has heard of."""
    NONE = "none"
    """Any."""


class LeaderEpochFence(Enum):
    """Which decisions a broker obeys (``ReplicaManager.becomeLeaderOrFollower``)."""

    NEWER = "newer"
    """Those of a newer leader epoch than its own."""
    NOT_OLDER = "not_older"
    """Also those of its own leader epoch, which it has obeyed already."""


class BrokerEpochFence(Enum):
    """Which requests a broker takes for meant for itself (``KafkaApis.isBrokerEpochStale``)."""

    NOT_OLDER = "not_older"
    """Those for the broker epoch that it knows, or for a later one of which it has not heard yet (KIP-380, since 2.5.1 KAFKA-9839)."""
    EXACT = "exact"
    """Those for the broker epoch that it knows; any other is an error (2.2 to 2.5.0)."""
    NONE = "none"
    """Any, also those for its former life (until 2.1)."""


# -- who takes what for what --


class BounceDetection(Enum):
    """How a controller finds out that a broker was gone, and is back (``KafkaController.processBrokerChange``)."""

    BROKER_EPOCH = "broker_epoch"
    """By its broker epoch (since 2.2, KIP-380)."""
    NONE = "none"
    """Not, if it is back before the controller looks (until 2.1, KAFKA-1120)."""


class Reconnect(Enum):
    """What becomes of a controller whose session is replaced by a new one (``KafkaController.startup``)."""

    RESIGNS = "resigns"
    """It resigns before it has the new session (since 1.1)."""
    GOES_ON = "goes_on"
    """It goes on until it hears of its successor."""


class ElectedAgain(Enum):
    """What a leader that is to lead in another epoch remembers of its followers (``Partition.makeLeader``)."""

    FORGETS = "forgets"
    """Nothing: each has to fetch in the new epoch before it counts."""
    REMEMBERS = "remembers"
    """How far they had fetched before (2.6 to 4.3, where ``isNewLeader`` asks only whether it led already)."""


@frozen
class Rules:
    """The decisions of the ``zookeeper`` machine; with the defaults every promise holds."""

    isr_write: IsrWrite = IsrWrite.ZK_VERSION
    decision_write: DecisionWrite = DecisionWrite.ZK_VERSION
    controller_write_fence: ControllerWriteFence = ControllerWriteFence.CONTROLLER_EPOCH
    refused_write: RefusedWrite = RefusedWrite.COUNTED_ON
    lost_answer: LostAnswer = LostAnswer.COMPARED
    while_writing: WhileWriting = WhileWriting.STANDS_STILL
    controller_epoch_fence: ControllerEpochFence = ControllerEpochFence.NOT_OLDER
    leader_epoch_fence: LeaderEpochFence = LeaderEpochFence.NEWER
    broker_epoch_fence: BrokerEpochFence = BrokerEpochFence.NOT_OLDER
    bounce_detection: BounceDetection = BounceDetection.BROKER_EPOCH
    reconnect: Reconnect = Reconnect.RESIGNS
    elected_again: ElectedAgain = ElectedAgain.FORGETS
