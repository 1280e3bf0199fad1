# SPDX-License-Identifier: Apache-2.0
"""Which assignor promises what."""

from __future__ import annotations

from hwmark.spec.function import ANSWERS, Contract

from . import balance, contracts, racks, stickiness

ALWAYS = (ANSWERS, contracts.one_owner, contracts.only_subscribed, contracts.same_answer_again)
WHOLE = (*ALWAYS, contracts.every_partition_has_an_owner)
"""What every assignor promises whose answer is final."""

ANY_ORDER = (contracts.any_order_of_members, contracts.static_members_keep_their_place)
"""What is promised by those that sort members; the others see them in the order of a hash table."""

RANGES = (balance.balanced_by_topic, balance.in_ranges, balance.same_numbers_of_like_topics)

STICKY = (balance.balanced, balance.no_better_move, stickiness.EAGER.keeps_most, stickiness.EAGER.leaves_what_is_balanced)

COOPERATIVE = (
    *ALWAYS,
    contracts.every_partition_has_an_owner_or_waits,
    contracts.moves_in_two_steps,
    stickiness.COOPERATIVE.keeps_most,
    stickiness.COOPERATIVE.leaves_what_is_balanced,
    racks.no_better_racks,
)
"""A cooperative answer is balanced only once nothing waits any more: then it is that of the sticky assignor."""

PROMISES: dict[str, tuple[Contract, ...]] = {
    "range": (*WHOLE, *ANY_ORDER, *RANGES, racks.no_better_racks_in_like_topics),
    "roundrobin": (*WHOLE, *ANY_ORDER, balance.in_turn, balance.balanced),
    "sticky": (*WHOLE, *STICKY, racks.no_better_racks),
    "cooperative-sticky": COOPERATIVE,
    "uniform": (
        *WHOLE,
        balance.balanced,
        balance.no_better_move,
        stickiness.COORDINATOR.keeps_most,
        stickiness.COORDINATOR.leaves_what_is_balanced,
    ),
    "server-range": (*WHOLE, *ANY_ORDER, *RANGES),
}
"""The contracts of each assignor, by the name under which clients and coordinators configure it."""
