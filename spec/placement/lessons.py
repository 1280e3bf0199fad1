# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about who leads teaches."""

from __future__ import annotations

from hwmark.spec.lesson import Lesson

from .rows import ONE_FAILS, ONE_IS_LATE, ONE_REPLICA, TWO_MOVE, TWO_REPLICAS, UNBALANCED

LESSONS = {
    "placement_last_eligible": Lesson(
        preset="last_eligible",
        machine="placement",
        bounds=ONE_FAILS,
        property="right_successor_leads",
        note="A leader fails, and the last replica of its partition takes over though an earlier one is there and in sync. Any member of "
        "the ISR has what is committed, so nothing is lost by it, but nobody can tell from the assignment who is next. Kafka asks the "
        "replicas in the order of the assignment, and takes the first that may lead.",
        source="PartitionChangeBuilder.electAnyLeader",
    ),
    "placement_least_loaded_before": Lesson(
        preset="least_loaded_before",
        machine="placement",
        bounds=TWO_MOVE,
        property="right_successor_leads",
        note="A broker that leads two partitions fails, and both go to the same other one, which then leads three, while a third one that "
        "is in sync leads one. Both elections saw the loads before the failure, by which the two brokers were alike. Counting each "
        "election for the next ends it; Kafka elects by the order of the assignment, and does not look at loads at all.",
        source="PartitionChangeBuilder.electAnyLeader",
    ),
    "placement_same_order": Lesson(
        preset="same_order",
        machine="placement",
        bounds=ONE_FAILS,
        property="leaders_are_spread",
        note="A topic is created with the same replicas in the same order for each partition, and one broker leads all of them. The first "
        "replica is the preferred leader, so that each election of preferred leaders only restores this. Kafka's placer begins each "
        "partition with the next broker, and every one leads its share.",
        source="StripedReplicaPlacer",
    ),
    "placement_unbalanced": Lesson(
        preset="first_eligible",
        machine="placement",
        bounds=ONE_FAILS,
        config=UNBALANCED,
        property="preferred_leaders_lead_again",
        note="A leader fails once, and from then on its partition is led by another broker, also when the first is back and in sync. A "
        "leader that is there keeps its partition, and nothing else asks who should have it. The election of preferred leaders ends it, "
        "by the controller from time to time or by an operator's command.",
        source="ReplicationControlManager.maybeBalancePartitionLeaders",
    ),
    "placement_preferred_at_once": Lesson(
        preset="preferred_at_once",
        machine="placement",
        bounds=ONE_FAILS,
        property="leaders_may_lead",
        note="A broker is back, and gets its partition at once, although it was away and is not in the ISR: what the other leader wrote in "
        "between it does not have. That it is alive says nothing of its log. A preferred election, like any clean one, elects from the ISR "
        "alone, and so waits until the broker has caught up.",
        source="PartitionChangeBuilder.electPreferredLeader",
    ),
    "placement_no_election_on_return": Lesson(
        preset="no_election_on_return",
        machine="placement",
        bounds=ONE_FAILS,
        config=ONE_REPLICA,
        property="leads_if_anybody_may",
        note="The only replica of a partition fails and is back, and the partition is still without a leader. Nobody was to be elected "
        "when it failed, and afterwards no other event concerns the partition. When a broker is unfenced the controller looks at each "
        "partition without a leader, and elects where the broker may lead.",
        source="ReplicationControlManager.handleBrokerUnfenced",
    ),
    "placement_late_broker": Lesson(
        preset="first_eligible",
        machine="placement",
        bounds=ONE_IS_LATE,
        config=TWO_REPLICAS,
        property="leaders_are_spread",
        note="A topic is created while a broker is away, and when that broker is there again it leads nothing, although each partition "
        "has its preferred leader. No leader is placed on a fenced broker, and a placement is for good. Only moving replicas, or their "
        "order, ends it; elections do not.",
        source="StripedReplicaPlacer",
    ),
}
"""Each lesson by the name of its trace."""
