# SPDX-License-Identifier: Apache-2.0
"""The functions that choose partitions, with what is said about them."""

from __future__ import annotations

from hwmark.model.partitioners.load import Queues, adaptive_shares
from hwmark.model.partitioners.producer import producer_partition
from hwmark.model.partitioners.round_robin import round_robin_partitioner
from hwmark.model.partitioners.rules import ProducerRules, RoundRobinRules, StickyRules
from hwmark.model.partitioners.sticky import sticky_partitioner
from hwmark.spec.function import DescribedFunction

from . import contracts, presets, questions
from .questions import Scope


def shares_by_rules(queues: Queues, rules: StickyRules) -> tuple[int, ...] | None:
    """Return how often each queue is chosen."""
    return adaptive_shares(queues, rules.load)


DESCRIBED = (
    DescribedFunction(
        name="producer_partition",
        function=producer_partition,
        rules=ProducerRules,
        presets=presets.PRODUCER,
        right="producer",
        contracts=contracts.PRODUCER,
        questions=questions.sends,
        size=questions.size_of_send,
        small=Scope(),
    ),
    DescribedFunction(
        name="sticky_partitioner",
        function=sticky_partitioner,
        rules=StickyRules,
        presets=presets.STICKY,
        right="sticky_batches",
        contracts=contracts.STICKY,
        questions=questions.all_appends,
        size=questions.size_of_appends,
        small=Scope(partitions=2, records=3),
    ),
    DescribedFunction(
        name="adaptive_shares",
        function=shares_by_rules,
        rules=StickyRules,
        presets=presets.LOAD,
        right="shorter_queues_more",
        contracts=contracts.LOAD,
        questions=questions.all_queues,
        size=questions.size_of_queues,
        small=Scope(),
    ),
    DescribedFunction(
        name="round_robin_partitioner",
        function=round_robin_partitioner,
        rules=RoundRobinRules,
        presets=presets.ROUND_ROBIN,
        right="in_turn",
        contracts=contracts.ROUND_ROBIN,
        questions=questions.all_turns,
        size=questions.size_of_turns,
        small=Scope(),
    ),
)
