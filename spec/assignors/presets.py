# SPDX-License-Identifier: Apache-2.0
"""The sticky assignors' rules with a name: the right ones, each that breaks something, and all that Kafka takes together."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.assignors.rules import ClaimedPartitions, Claims, EqualSubscriptions, FormerOwner, StickyRules, Withheld

RIGHT = StickyRules()
KAFKA_4_3 = StickyRules(
    claims=Claims.IN_TURN,
    claimed_partitions=ClaimedPartitions.OF_EXISTING_TOPICS,
    equal_subscriptions=EqualSubscriptions.AFTER_THE_FIRST_TOPIC,
    former_owner=FormerOwner.ANY,
    withheld=Withheld.REVOKED_AND_ADDED,
)
"""What ``AbstractStickyAssignor`` and ``CooperativeStickyAssignor`` of Kafka 4.3.1 do."""

PRESETS: dict[str, StickyRules] = {
    "sticky": RIGHT,
    "kafka_4_3": KAFKA_4_3,
    "all_claims": evolve(RIGHT, claims=Claims.ALL),
    "claims_in_turn": evolve(RIGHT, claims=Claims.IN_TURN),
    "newest_generation_only": evolve(RIGHT, claims=Claims.NEWEST_GENERATION_ONLY),
    "vanished_partitions": evolve(RIGHT, claimed_partitions=ClaimedPartitions.OF_EXISTING_TOPICS),
    "equal_after_the_first_topic": evolve(RIGHT, equal_subscriptions=EqualSubscriptions.AFTER_THE_FIRST_TOPIC),
    "any_former_owner": evolve(RIGHT, former_owner=FormerOwner.ANY),
    "revoked_and_added": evolve(RIGHT, withheld=Withheld.REVOKED_AND_ADDED),
    "nothing_withheld": evolve(RIGHT, withheld=Withheld.NOTHING),
}
"""Every preset, the right one first."""
