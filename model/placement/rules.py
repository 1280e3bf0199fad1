# SPDX-License-Identifier: Apache-2.0
"""The decisions of placement: of the placer, which is a function, and of the controller, which is a machine."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class Leading(Enum):
    """Which broker of a rack leads, once the rack is the first of a partition."""

    IN_TURN = "in_turn"
    """The brokers of the rack lead in turn, whatever was placed on them in between."""
    NEXT = "next"
    """The one whose turn it is to get any replica, so that some may lead again and again, and some never (Kafka, KAFKA-15354)."""


class Rewinding(Enum):
    """When a list of brokers, out of which a partition has taken some, is whole again."""

    EACH_PARTITION = "each_partition"
    """For each partition."""
    EACH_NUMBER = "each_number"
    """For a partition of another number, which begins anew with each shuffle: what the last partition 0 took is still gone (Kafka)."""


@frozen
class PlacerRules:
    """The decisions of the placer; the defaults are right, each for a reason that the catalogue tells."""

    leading: Leading = Leading.IN_TURN
    rewinding: Rewinding = Rewinding.EACH_PARTITION


class Assignment(Enum):
    """On which brokers the replicas of each partition are put, and in which order."""

    STRIPED = "striped"
    """As the placer says, so that each broker comes first in turn (``StripedReplicaPlacer``)."""
    IN_ROUNDS = "in_rounds"
    """As ZooKeeper's controllers put them: in each round the followers are other ones (``AdminUtils``, up to 4.0)."""
    SAME_ORDER = "same_order"
    """On the same brokers in the same order for every partition, as in an assignment by hand that nobody thought about."""


class Choice(Enum):
    """Which of the replicas that may lead is elected where the leader is gone."""

    FIRST = "first"
    """The first in the order of the assignment (Kafka)."""
    LAST = "last"
    """The last one."""
    LEAST_LOADED = "least_loaded"
    """The one on the broker that leads the fewest partitions, of several the first; each election counts for the next."""
    LEAST_LOADED_BEFORE = "least_loaded_before"
    """The one on the broker that led the fewest before: where several partitions lose their leader, none counts for another."""


class Preferred(Enum):
    """When a preferred election gives a partition back to its first replica."""

    IN_SYNC = "in_sync"
    """Once that is alive and in the ISR."""
    ALIVE = "alive"
    """Once that is alive."""


class Returning(Enum):
    """What the controller does for partitions without a leader when a broker is back."""

    ELECT = "elect"
    """It elects, as the broker may be the last one that was in sync."""
    NOTHING = "nothing"
    """Nothing."""


@frozen
class Rules:
    """The decisions of the controller; the defaults are what Kafka does."""

    assignment: Assignment = Assignment.STRIPED
    choice: Choice = Choice.FIRST
    preferred: Preferred = Preferred.IN_SYNC
    returning: Returning = Returning.ELECT
