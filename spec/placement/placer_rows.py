# SPDX-License-Identifier: Apache-2.0
"""Rules of the placer: who leads in a rack, and what a shuffle leaves behind. In both Kafka 4.3.1 does otherwise."""

from __future__ import annotations

from functools import partial

from hwmark.model.placement.placer import Topic, UsableBroker
from hwmark.spec.row import Example, Row

from .questions import Scope

row = partial(Row, rules_on="leaders_in_turn", machine="striped_replica_placer")

TWO = (UsableBroker(0, "a"), UsableBroker(1, "b"))
FOUR = tuple(UsableBroker(broker, rack) for broker, rack in enumerate("aabb"))
HALF = (UsableBroker(0, "a"), UsableBroker(1, "a", fenced=True), UsableBroker(2, "b"), UsableBroker(3, "c", fenced=True))

ROWS = (
    row(
        id="leaders_take_turns_in_their_rack",
        rule="leading",
        statement="The brokers of a rack lead in turn. Kafka has one turn for leaders and followers: where the number of racks that a "
        "partition is put on and that of the brokers in each have a common divisor, as with two racks of two or three of three, some "
        "brokers lead several partitions of a round, and others none.",
        sources=("S12-choice", "KAFKA-15354"),
        rules_off="next_leads",
        bounds=Scope(partitions=3, replication_factor=2, draws=0),
        breaks={"leaders_are_spread": 9},
        states=270,
        example=Example(Topic(FOUR, 3, 2), ((0, 2), (3, 1), (0, 2))),
    ),
    row(
        id="leaders_are_spread_after_a_shuffle",
        rule="rewinding",
        statement="Each partition may be put on any broker. Kafka counts partitions anew once it has shuffled, and takes the next one "
        "for the very first again: what that took is still gone, and another broker leads out of turn.",
        sources=("S12-choice",),
        rules_off="lists_not_rewound",
        bounds=Scope(brokers=2, replication_factor=1, draws=5),
        breaks={"leaders_are_spread": 8, "replicas_are_spread": 8},
        states=1536,
        example=Example(Topic(TWO, 4, 1, (0, 0, 0, 1, 0)), ((0,), (1,), (1,), (1,))),
    ),
    row(
        id="fenced_brokers_come_last_after_a_shuffle",
        rule="rewinding",
        statement="A fenced broker is taken once its rack has no other. After a shuffle Kafka takes for gone what the first partition "
        "took, and puts a replica on a fenced broker beside one that is free and not fenced.",
        sources=("S12-choice",),
        rules_off="lists_not_rewound",
        bounds=Scope(racks=3, partitions=3, replication_factor=2, draws=0, fenced=True),
        breaks={"fenced_brokers_come_last": 11},
        states=13_986,
        quick=False,
        example=Example(Topic(HALF, 3, 2), ((0, 2), (2, 3), (2, 1))),
    ),
)
"""Each rule of the placer, as Kafka has it."""
