# SPDX-License-Identifier: Apache-2.0
"""The model's assignors keep every contract on drawn groups, small odd ones and large ones.

That each contract can be broken is shown where wrong assignors are judged (``tests/checker/conform``).
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from hwmark.checker.conform.assignors.draw import Shape, groups
from hwmark.model.assignors.groups import Assignor, Group
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.round_robin import round_robin_assignor
from hwmark.model.assignors.server_range import server_range_assignor
from hwmark.model.assignors.sticky import cooperative_sticky_assignor, sticky_assignor
from hwmark.model.assignors.uniform import uniform_assignor
from hwmark.spec.assignors.promises import PROMISES

ASSIGNORS: dict[str, Assignor] = {
    "range": range_assignor,
    "roundrobin": round_robin_assignor,
    "sticky": sticky_assignor,
    "cooperative-sticky": cooperative_sticky_assignor,
    "uniform": uniform_assignor,
    "server-range": server_range_assignor,
}
CLIENTS = ("sticky", "cooperative-sticky")
"""Whose members may contradict each other; what the coordinator's assignors are given is its own."""


def shape(name: str, members: int = 5, partitions: int = 6) -> Shape:
    """Return which groups an assignor is asked about."""
    return Shape(members, partitions=partitions, conflicts=name in CLIENTS, shrunk_topics=name in CLIENTS, racks=name != "uniform")


def broken(name: str, group: Group) -> dict[str, object]:
    """Return the contracts that an assignor breaks on a group, with what is wrong."""
    found = {contract.name: contract.witness(ASSIGNORS[name], group) for contract in PROMISES[name]}
    return {rule: witness for rule, witness in found.items() if witness is not None}


@pytest.mark.parametrize("name", ASSIGNORS)
def test_every_contract_is_kept(name: str) -> None:
    """In small groups with static members, racks, other subscriptions, stale and contradicting claims, and vanished partitions."""

    @settings(max_examples=60, suppress_health_check=list(HealthCheck))
    @given(group=groups(shape(name)))
    def kept(group: Group) -> None:
        assert broken(name, group) == {}

    kept()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ASSIGNORS)
@pytest.mark.parametrize(("members", "partitions", "count"), [(5, 6, 1500), (12, 12, 300), (40, 50, 40)])
def test_every_contract_is_kept_in_many_and_large_groups(name: str, members: int, partitions: int, count: int) -> None:
    """Up to 40 members and 200 partitions."""

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(group=groups(shape(name, members, partitions)))
    def kept(group: Group) -> None:
        assert broken(name, group) == {}

    kept()
