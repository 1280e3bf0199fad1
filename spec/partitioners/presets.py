# SPDX-License-Identifier: Apache-2.0
"""The rules of the functions that choose partitions, with a name: the right ones, and each that breaks something."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.partitioners.rules import (
    Availability,
    Load,
    NamedPartition,
    Precedence,
    ProducerRules,
    Remainder,
    RoundRobinRules,
    StickyRules,
    Switch,
    Turn,
)

PRODUCER: dict[str, ProducerRules] = {
    "producer": ProducerRules(),
    "partitioner_unchecked": ProducerRules(named_partition=NamedPartition.EXISTING_OF_RECORD),
    "partition_unchecked": ProducerRules(named_partition=NamedPartition.ANY),
    "partitioner_first": ProducerRules(precedence=Precedence.PARTITIONER),
    "remainder_of_absolute": ProducerRules(remainder=Remainder.ABSOLUTE),
    "remainder_signed": ProducerRules(remainder=Remainder.SIGNED),
}
"""How the partition of one record is chosen; Kafka 4.3.1 is ``partitioner_unchecked``."""

STICKY: dict[str, StickyRules] = {
    "sticky_batches": StickyRules(),
    "switch_at_every_batch": StickyRules(switch=Switch.AT_EVERY_BATCH),
    "switch_at_every_record": StickyRules(switch=Switch.AT_EVERY_RECORD),
    "leaders_ignored": StickyRules(availability=Availability.IGNORED),
}
"""How records without a key change from partition to partition."""

LOAD: dict[str, StickyRules] = {
    "shorter_queues_more": StickyRules(),
    "load_ignored": evolve(StickyRules(), load=Load.UNIFORM),
    "shortest_queue_only": evolve(StickyRules(), load=Load.SHORTEST_QUEUE),
}
"""How the load of partitions weighs."""

ROUND_ROBIN: dict[str, RoundRobinRules] = {
    "in_turn": RoundRobinRules(),
    "asked_again": RoundRobinRules(turn=Turn.AGAIN_FOR_NEW_BATCH),
    "turns_without_leader": RoundRobinRules(availability=Availability.IGNORED),
}
"""How records take turns."""
