# SPDX-License-Identifier: Apache-2.0
"""The decisions of the functions that choose partitions: what is right, what Kafka does, what went wrong before."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class Remainder(Enum):
    """How a hash, which may be negative, becomes a partition."""

    SIGN_MASKED = "sign_masked"
    """The remainder of the hash without its sign bit (``Utils.toPositive``)."""
    ABSOLUTE = "absolute"
    """The remainder of its absolute value, as other clients had it."""
    SIGNED = "signed"
    """The remainder as Java computes it, with the sign of the hash."""


class Precedence(Enum):
    """What counts where a record names a partition and a partitioner is configured."""

    RECORD = "record"
    """The partition that the record names."""
    PARTITIONER = "partitioner"
    """The answer of the partitioner."""


class NamedPartition(Enum):
    """Which named partition is taken."""

    EXISTING = "existing"
    """One that the topic has, whoever names it."""
    EXISTING_OF_RECORD = "existing_of_record"
    """One that the topic has where a record names it, any that is not negative where a partitioner does (Kafka)."""
    ANY = "any"
    """Any that is not negative."""


@frozen
class ProducerRules:
    """The decisions about one record; the defaults are right."""

    remainder: Remainder = Remainder.SIGN_MASKED
    precedence: Precedence = Precedence.RECORD
    named_partition: NamedPartition = NamedPartition.EXISTING


class Switch(Enum):
    """When records without a key change to another partition."""

    AFTER_BATCH_SIZE = "after_batch_size"
    """Once ``batch.size`` bytes went there, if the last batch is full, and at twice as many in any case (KIP-794)."""
    AT_EVERY_BATCH = "at_every_batch"
    """With every batch that is begun, also if the last one left before it was full (KIP-480)."""
    AT_EVERY_RECORD = "at_every_record"
    """With every record (before KIP-480)."""


class Load(Enum):
    """How the load of partitions weighs in the choice of the next one."""

    SHORTER_QUEUES_MORE = "shorter_queues_more"
    """The shorter the queue of batches, the more often; the longest is still chosen (KIP-794)."""
    UNIFORM = "uniform"
    """Not at all."""
    SHORTEST_QUEUE = "shortest_queue"
    """Always the shortest queue."""


class Availability(Enum):
    """What it means that a partition has no leader."""

    AVAILABLE_FIRST = "available_first"
    """It is chosen only if no partition has one."""
    IGNORED = "ignored"
    """Nothing."""


@frozen
class StickyRules:
    """The decisions about records without a key; the defaults are right."""

    switch: Switch = Switch.AFTER_BATCH_SIZE
    load: Load = Load.SHORTER_QUEUES_MORE
    availability: Availability = Availability.AVAILABLE_FIRST


class Turn(Enum):
    """How often a partitioner is asked about a record."""

    ONCE = "once"
    """Once."""
    AGAIN_FOR_NEW_BATCH = "again_for_new_batch"
    """Again if a new batch has to be begun, so that the first answer is skipped (KIP-480 without KAFKA-9965)."""


@frozen
class RoundRobinRules:
    """The decisions about taking turns; the defaults are right."""

    turn: Turn = Turn.ONCE
    availability: Availability = Availability.AVAILABLE_FIRST
