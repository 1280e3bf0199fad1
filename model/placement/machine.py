# SPDX-License-Identifier: Apache-2.0
"""Who leads the partitions of a topic: several of them over several brokers, which fail and come back.

The controller puts the replicas of each partition on brokers, elects another leader where one is gone, and gives partitions
back to their preferred leaders. Every step is atomic, as one batch in the controller's log: nothing is under way, everybody
knows at once, and no leader believes what is not true; what messages and late metadata do to one partition is ``partition``. A
broker that fails is fenced and keeps its log. Time is left out: balancing and catching up happen at any time. Left out: the
records and what may be lost of them, eligible leader replicas and unclean elections, epochs, reassignment, controlled
shutdown, racks (which the placer, a function of its own, knows), and topics beside this one.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .controller import balance_leaders, create_topic, elect_preferred_leader, expand_isr, fence_broker, unfence_broker
from .rules import Rules
from .state import Bounds, Config, State, initial

__all__ = ["Bounds", "Config", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a topic's partitions and their brokers; the order of brokers and partitions matters to it."""
    return Machine(
        name="placement",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            create_topic,
            fence_broker,
            unfence_broker,
            expand_isr,
            balance_leaders,
            elect_preferred_leader,
        ),
    )
