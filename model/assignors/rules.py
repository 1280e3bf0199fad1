# SPDX-License-Identifier: Apache-2.0
"""The decisions of the sticky assignors: what is right, what Kafka does, what went wrong before."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class Claims(Enum):
    """Which claim counts where several members say that they own a partition."""

    NEWEST = "newest"
    """The one of the highest generation, if it is alone there; a lone claim always (KAFKA-14639)."""
    IN_TURN = "in_turn"
    """Members in turn: the newer one of two, by the later one's user data and the earlier one's subscription (Kafka)."""
    NEWEST_GENERATION_ONLY = "newest_generation_only"
    """Only claims of the highest generation in the group, so that whoever missed it owns nothing (KAFKA-13419)."""
    ALL = "all"
    """Every claim, however old (before KAFKA-7026)."""


class ClaimedPartitions(Enum):
    """Which claimed partitions may be kept."""

    EXISTING = "existing"
    """Those that exist."""
    OF_EXISTING_TOPICS = "of_existing_topics"
    """Any number of a topic that exists, also one that the topic no longer has (Kafka)."""


class EqualSubscriptions(Enum):
    """When all members count as subscribed to the same topics, so that the simple algorithm is taken."""

    ALL_EQUAL = "all_equal"
    """When all are equal."""
    AFTER_THE_FIRST_TOPIC = "after_the_first_topic"
    """When all are equal but for members without topics that come before the first one with topics (Kafka)."""


class FormerOwner(Enum):
    """To which former owner a partition may go back to improve the balance."""

    SUBSCRIBED = "subscribed"
    """To one that subscribes to its topic."""
    ANY = "any"
    """To any (Kafka)."""


class Withheld(Enum):
    """Which partitions a cooperative member does not get yet, where subscriptions differ."""

    CLAIMED = "claimed"
    """What is claimed, unless by the receiver alone in the newest generation."""
    REVOKED_AND_ADDED = "revoked_and_added"
    """What the receiver does not claim, and somebody claims who does not keep it (Kafka)."""
    NOTHING = "nothing"
    """Nothing: a partition moves in one step (before KIP-429)."""


@frozen
class StickyRules:
    """One value of each decision; the defaults are right, each for a reason that the catalogue tells."""

    claims: Claims = Claims.NEWEST
    claimed_partitions: ClaimedPartitions = ClaimedPartitions.EXISTING
    equal_subscriptions: EqualSubscriptions = EqualSubscriptions.ALL_EQUAL
    former_owner: FormerOwner = FormerOwner.SUBSCRIBED
    withheld: Withheld = Withheld.CLAIMED
