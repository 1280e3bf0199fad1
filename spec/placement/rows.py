# SPDX-License-Identifier: Apache-2.0
"""Why leaders are spread and stay so: the order of the replicas, whom elections choose, and that preferred leaders get back."""

from __future__ import annotations

from functools import partial

from hwmark.model.placement.state import Bounds, Config
from hwmark.spec.row import Row

SMALL = Bounds(brokers=3, partitions=3, failures=2)

ONE_FAILS = Bounds(brokers=3, partitions=3, failures=1)
TWO_MOVE = Bounds(brokers=3, partitions=4, failures=1)
ONE_IS_LATE = Bounds(brokers=3, partitions=3, failures=1, late_brokers=1)
BALANCED, UNBALANCED = Config(), Config(auto_leader_rebalance=False)
TWO_REPLICAS, ONE_REPLICA = Config(replication_factor=2), Config(replication_factor=1)

row = partial(Row, machine="placement", rules_on="first_eligible", bounds=ONE_FAILS)

ROWS = (
    row(
        id="first_eligible_replica_leads",
        rule="choice",
        statement="Where a leader is gone, the first of its replicas leads that is there and in sync: so whoever reads the assignment "
        "knows who is next. Any other choice elects somebody else.",
        sources=("S12-choice",),
        rules_off="last_eligible",
        breaks={"right_successor_leads": 2},
        trace="placement_last_eligible",
    ),
    row(
        id="elections_by_load_count",
        rule="choice",
        statement="Who elects the broker that leads the fewest must count each election for the next. By what brokers led before, all "
        "partitions of a failed leader may go to the same one. Kafka's elections do not look at loads.",
        sources=("S12-choice",),
        rules_off="least_loaded_before",
        rules_on="least_loaded",
        bounds=TWO_MOVE,
        breaks={"right_successor_leads": 2},
        trace="placement_least_loaded_before",
    ),
    row(
        id="replicas_in_stripes",
        rule="assignment",
        statement="The placer begins each partition with another broker, so that preferred leaders are spread. In the same order "
        "everywhere, one broker leads everything, and no election brings balance.",
        sources=("S12-choice",),
        rules_off="same_order",
        breaks={"leaders_are_spread": 1},
        trace="placement_same_order",
    ),
    row(
        id="preferred_leaders_get_back",
        rule="auto_leader_rebalance",
        statement="Elections of preferred leaders restore the balance once a broker is back. Without them those that took over keep what "
        "they lead, and the broker that failed leads nothing.",
        sources=("S12-choice",),
        rules_off="first_eligible",
        config=BALANCED,
        config_off=UNBALANCED,
        breaks={"preferred_leaders_lead_again": 2},
        trace="placement_unbalanced",
    ),
    row(
        id="preferred_leaders_are_in_sync",
        rule="preferred",
        statement="A preferred leader gets its partition back once it is in sync again. At once when it is back, it leads without what was "
        "written while it was gone.",
        sources=("S12-choice", "S5"),
        rules_off="preferred_at_once",
        breaks={"leaders_may_lead": 4},
        trace="placement_preferred_at_once",
    ),
    row(
        id="last_replica_leads_again",
        rule="returning",
        statement="When a broker is back, it leads the partitions that nobody leads and of which it was the last one in sync. Else they "
        "stay without a leader, and what they hold cannot be read.",
        sources=("S12-choice", "S13"),
        rules_off="no_election_on_return",
        config=ONE_REPLICA,
        breaks={"leads_if_anybody_may": 3},
        trace="placement_no_election_on_return",
    ),
    row(
        id="late_broker_leads_nothing",
        rule="late_brokers",
        statement="Preferred leaders are spread over the brokers that are there when a topic is created. One that comes later is the "
        "preferred leader of nothing, and no election changes that.",
        sources=("S12-choice",),
        rules_off="first_eligible",
        config=TWO_REPLICAS,
        bounds_off=ONE_IS_LATE,
        breaks={"leaders_are_spread": 3},
        trace="placement_late_broker",
    ),
)
"""Each rule of who leads, taken away."""
