# SPDX-License-Identifier: Apache-2.0
"""The scopes in which placement was exhausted: several numbers of brokers, partitions and failures, and each way to balance."""

from __future__ import annotations

from functools import partial

from hwmark.model.placement.state import Bounds, Config
from hwmark.spec.row import Row

THREE_FAIL = Bounds(brokers=3, partitions=3, failures=3)
FOUR_BROKERS = Bounds(brokers=4, partitions=4, failures=3)
TWO_STRIPES = Bounds(brokers=3, partitions=6, failures=2)
CROWDED = Bounds(brokers=3, partitions=4, failures=2)
BY_HAND = Config(auto_leader_rebalance=False, operator=True)
TWO_REPLICAS = Config(replication_factor=2)

scope = partial(Row, rule="all", machine="placement", quick=False, sources=("S12-choice",))

BALANCED = ("leaders_are_spread", "preferred_leaders_lead_again", "right_successor_leads")

SCOPES = (
    scope(
        id="placement_all_brokers_fail",
        statement="Three brokers may all fail: the first eligible replica leads as long as there is one, and in the end all preferred "
        "leaders can lead again.",
        rules_on="first_eligible",
        bounds=THREE_FAIL,
        holds=BALANCED,
        states=8_461,
    ),
    scope(
        id="placement_four_brokers",
        statement="With four brokers, of which three fail, and four partitions with two replicas.",
        rules_on="first_eligible",
        bounds=FOUR_BROKERS,
        config=TWO_REPLICAS,
        holds=BALANCED,
        states=3_009,
    ),
    scope(
        id="placement_shuffled",
        statement="With twice as many partitions as brokers, so that the placer has shuffled once.",
        rules_on="first_eligible",
        bounds=TWO_STRIPES,
        config=TWO_REPLICAS,
        holds=BALANCED,
        states=16_939,
    ),
    scope(
        id="placement_in_rounds",
        statement="As ZooKeeper's controllers put replicas, with twice as many partitions as brokers.",
        rules_on="in_rounds",
        bounds=TWO_STRIPES,
        config=TWO_REPLICAS,
        holds=BALANCED,
        states=11_269,
    ),
    scope(
        id="placement_by_hand",
        statement="Where the controller does not balance, an operator's elections of preferred leaders do.",
        rules_on="first_eligible",
        bounds=Bounds(brokers=3, partitions=3, failures=2),
        config=BY_HAND,
        holds=BALANCED,
        states=2_008,
    ),
    scope(
        id="placement_least_loaded",
        statement="Choosing the least loaded broker is as safe, and preferred leaders can lead again all the same.",
        rules_on="least_loaded",
        bounds=CROWDED,
        holds=BALANCED,
        states=43_183,
    ),
)
"""The counts are from our own engines alone."""
