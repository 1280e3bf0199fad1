# SPDX-License-Identifier: Apache-2.0
"""Each contract about the choice of a partition can be broken; that the rules keep them is shown row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hwmark.checker.functions import ask_all
from hwmark.spec.functions import FUNCTIONS
from hwmark.spec.partitioners.described import DESCRIBED


def never() -> str | None:
    """Do not stop."""
    return None


@pytest.mark.parametrize("described", DESCRIBED, ids=lambda one: one.name)
def test_the_right_rules_keep_every_contract(described: Any) -> None:
    """No question of the small scope breaks any."""
    assert ask_all(described, described.right, described.small, described.contracts, never).broken == {}


WRONG: dict[str, tuple[str, Callable[[Any], Any], int]] = {
    "exists": ("producer_partition", lambda send: send.partitions, 1),
    "record_names_its_partition": ("producer_partition", lambda _: 0, 2),
    "key_decides": ("producer_partition", lambda _: -1, 2),
    "clients_agree": ("producer_partition", lambda _: 0, 6),
    "chosen_later": ("producer_partition", lambda _: 0, 1),
    "sticky_only_available": ("sticky_partitioner", lambda appends: (0,) * len(appends.records), 3),
    "turns_fill_a_batch": ("sticky_partitioner", lambda appends: tuple(range(len(appends.records))), 3),
    "turns_end": ("sticky_partitioner", lambda appends: (0,) * len(appends.records), 8),
    "every_queue_gets_some": ("adaptive_shares", lambda queues: (0,) * len(queues.ids), 1),
    "shorter_queues_get_more": ("adaptive_shares", lambda queues: (1,) * len(queues.ids), 3),
    "alike_is_uniform": ("adaptive_shares", lambda _: None, 2),
    "turns_only_available": ("round_robin_partitioner", lambda turns: (0,) * len(turns.begins), 3),
    "in_turn": ("round_robin_partitioner", lambda turns: (0,) * len(turns.begins), 4),
}
"""For each contract a function that answers otherwise, and the size of the smallest question that shows it."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_breaks_its_contract(name: str) -> None:
    """The first question that is answered wrong is as small as it can be."""
    function, answer, size = WRONG[name]
    described = FUNCTIONS[function]
    contract = described.find(name)
    assert contract is not None
    broken = next(question for question in described.questions(described.small) if contract.witness(answer, question) is not None)
    assert described.size(broken) == size


def test_every_contract_is_broken_by_something() -> None:
    """None is left out above."""
    assert set(WRONG) == {contract.name for one in DESCRIBED for contract in one.contracts}
