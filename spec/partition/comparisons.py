# SPDX-License-Identifier: Apache-2.0
"""What is compared of the ``partition`` machine alone: for what the commit of a record waits."""

from __future__ import annotations

from hwmark.spec.comparison import Ask, Column, Comparison, Line

from .rows import CRASH
from .scopes import TWO

COMMIT_RULES = Comparison(
    name="commit_rules",
    question="What if a record counted as committed once all replicas have it, or once the leader has it, instead of the ISR?",
    columns=(
        Column("all replicas", "partition", "commit_on_all_replicas", TWO, CRASH),
        Column("leader only", "partition", "commit_on_leader", TWO, CRASH),
        Column("ISR", "partition", "partition", TWO, CRASH),
    ),
    lines=(
        Line("After a crash of the leader the next one has all that was acknowledged", Ask("acknowledged_survives")),
        Line("It is still writable if a replica crashes and stays away", Ask("stays_writable", {"stays_down": True})),
        Line("Whoever may be elected has all that counts as committed", Ask("candidates_hold_committed")),
    ),
    teaches="Waiting for all replicas is safe, and stops with the first that stays away. Waiting for the leader alone never stops, and "
    "loses what was acknowledged as soon as another leads. The ISR is as safe as the one and stops as little as the other, since whom "
    "the leader waits for is whom the controller may elect.",
    sources=("S7", "S7-rules"),
)

COMPARISONS = (COMMIT_RULES,)
"""Every comparison."""
