# SPDX-License-Identifier: Apache-2.0
"""What releases of Kafka lack of the rules of 4.3.1, which is modelled."""

from __future__ import annotations

LATER_RULES: tuple[tuple[tuple[int, int], frozenset[str]], ...] = (
    ((4, 1), frozenset({"older_epoch_at_once", "transaction_begins_at_zero"})),
    ((4, 2), frozenset({"begins_anew_at_any_epoch", "own_partition_comes_back"})),
    ((4, 3), frozenset({"held_partition"})),
)
"""Rules, by the first release that has them."""


def lacking(release: tuple[int, int]) -> frozenset[str]:
    """Return the rules that a release, as 4 and 0, does not have yet."""
    return frozenset(rule for first, rules in LATER_RULES if release < first for rule in rules)
