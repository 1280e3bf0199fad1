# SPDX-License-Identifier: Apache-2.0
"""What producers ask a transaction coordinator, as far as the answers depend on it, and the answers.

An ``epoch`` is relative to the one that the producer was given last, by the broker's answer to any of its requests.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from hwmark.model.broker_api.common import NOTHING, Errors, Where


class Identity(Enum):
    """By what a producer is known to the coordinator."""

    OWN = "own"
    """Its transactional id, and the producer id that it was given."""
    OTHER_PRODUCER_ID = "other_producer_id"
    """Its transactional id, and a producer id that nobody has."""
    NO_NAME = "no_name"
    """A transactional id with no letters."""


class Oddity(Enum):
    """What is wrong with a request for a producer id."""

    NONE = "none"
    TIMEOUT = "timeout"
    """Its transactions may last longer than any broker allows."""
    HALF_AN_IDENTITY = "half_an_identity"
    """It names a producer id, and no epoch."""


# -- requests --


@frozen
class InitTransactions:
    """A producer with a transactional id asks for its producer id: InitProducerId. It says which epoch it has, if it has one (KIP-360)."""

    producer: str
    epoch: int | None = None
    identity: Identity = Identity.OWN
    oddity: Oddity = Oddity.NONE


@frozen
class AddPartitionsToTxn:
    """Make a partition part of a transaction, as clients do that do not follow KIP-890: version 3."""

    producer: str
    epoch: int = 0
    identity: Identity = Identity.OWN
    where: Where = Where.PARTITION


@frozen
class AddOffsetsToTxn:
    """Make the offsets of the group part of a transaction, as clients do that do not follow KIP-890."""

    producer: str
    epoch: int = 0
    identity: Identity = Identity.OWN


@frozen
class EndTxn:
    """End a transaction. ``bumps``: version 5, which gives the producer a new epoch (KIP-890); else version 4."""

    producer: str
    commit: bool = True
    epoch: int = 0
    identity: Identity = Identity.OWN
    bumps: bool = False


# -- answers --


@frozen
class Added:
    """Whether the partition, or the offsets, are part of the transaction now."""

    error: Errors


@frozen
class Ended:
    """Whether the transaction is ended; with version 5 the producer's id and epoch from now on."""

    error: Errors
    producer_id: int = NOTHING
    producer_epoch: int = NOTHING
