# SPDX-License-Identifier: Apache-2.0
"""The decisions of the ``consumer`` machine: what the Java consumer of Kafka 4.3 does, and what others do, or it did before."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

# -- the first position --


class Initialization(Enum):
    """When a partition that was just assigned gets its first position."""

    DURING_CALLBACK = "during_callback"
    """At once, also while the assignment callback runs; only fetching waits for it (since 3.8, KAFKA-16665)."""
    AFTER_CALLBACK = "after_callback"
    """Committed offsets are looked up only for partitions whose callback is over (3.7, KAFKA-16107)."""


class ResetScope(Enum):
    """Which partitions without a position are reset once committed offsets were looked up."""

    LOOKED_UP = "looked_up"
    """Those whose committed offset was looked up, and does not exist (since 4.0, KAFKA-17674)."""
    CALLBACK_DONE = "callback_done"
    """All whose assignment callback is over (KAFKA-16556)."""
    ALL_INITIALIZING = "all_initializing"
    """All that have none (3.7, KAFKA-16107)."""


class LoadedOffset(Enum):
    """To what a committed offset applies that was looked up."""

    WITHOUT_POSITION = "without_position"
    """Only to a partition that still has no position (``OffsetsRequestManager.offsetsForInitializingPartitions``)."""
    ALWAYS = "always"
    """Also to one that got its position otherwise while the answer was under way (librdkafka#5345)."""


# -- after a change of leader --


class FetchEpoch(Enum):
    """Which leader epoch a fetch names."""

    CURRENT = "current"
    """The one that the consumer knows, so that a leader of another epoch refuses (KIP-320)."""
    NONE = "none"
    """None, and any leader answers."""


class Validation(Enum):
    """What a consumer makes of the new leader's answer to OffsetsForLeaderEpoch before it reads on."""

    SAME_EPOCH = "same_epoch"
    """If the leader has the epoch, its end; if not, nobody can say where the logs part, and the reset policy decides."""
    END_OFFSET = "end_offset"
    """The end offset, of whichever epoch it is (``SubscriptionState.maybeCompleteValidation``, 2.3–4.3)."""
    NONE = "none"
    """Nothing: it reads on (before KIP-320)."""


class UndefinedEnd(Enum):
    """What an answer means that names no epoch and no end."""

    UNKNOWN = "unknown"
    """That the leader cannot tell: the reset policy decides (KAFKA-9840)."""
    OFFSET = "offset"
    """That the log ends at offset -1."""


# -- commits --


class CommittedEpoch(Enum):
    """Whether a commit says of which leader epoch the last consumed record was."""

    STORED = "stored"
    """It does, so that whoever resumes there can find out about truncation (KIP-320)."""
    LEFT_OUT = "left_out"
    """It is an offset alone."""


class CommitOrder(Enum):
    """In which order commits arrive that one consumer has under way."""

    AS_BUILT = "as_built"
    """As they were built: one after the other on one connection."""
    ANY = "any"
    """In any order: several threads build and send without a lock (sarama#2940)."""


class CommitRetry(Enum):
    """What becomes of an asynchronous commit that failed and may be tried again."""

    NEVER = "never"
    """Nothing: a later commit may be under way already (``KafkaConsumer.commitAsync``)."""
    LATER = "later"
    """It is sent again, behind whatever is under way."""


@frozen
class Rules:
    """The decisions of the ``consumer`` machine; the defaults are those of Kafka 4.3, whose validation is END_OFFSET, though."""

    initialization: Initialization = Initialization.DURING_CALLBACK
    reset_scope: ResetScope = ResetScope.LOOKED_UP
    loaded_offset: LoadedOffset = LoadedOffset.WITHOUT_POSITION
    fetch_epoch: FetchEpoch = FetchEpoch.CURRENT
    validation: Validation = Validation.SAME_EPOCH
    undefined_end: UndefinedEnd = UndefinedEnd.UNKNOWN
    committed_epoch: CommittedEpoch = CommittedEpoch.STORED
    commit_order: CommitOrder = CommitOrder.AS_BUILT
    commit_retry: CommitRetry = CommitRetry.NEVER
