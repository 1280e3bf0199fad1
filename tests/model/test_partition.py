# SPDX-License-Identifier: Apache-2.0
"""How the ``partition`` machine starts, in which bounds, and that its actions do not depend on anything but the state."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, fields
from partition_states import BOUNDS, CONFIG, START

from hwmark.model.log import Log, Record
from hwmark.model.partition.machine import ACTIONS, machine
from hwmark.model.partition.rules import ElrMembers, PartitionRules
from hwmark.model.partition.shared import circumstances, truth
from hwmark.model.partition.state import Bounds, Budget, Config, Start, State, initial, partition_epochs, perturbations


def start(config: Config = CONFIG, **given: Any) -> State:
    """Return the initial state in bounds that differ from the usual ones in these."""
    return initial(config, evolve(BOUNDS, **given))


def test_at_the_start_all_is_well() -> None:
    """The first replica leads, all are in sync, everybody knows that, and nothing is under way."""
    now = truth(START)
    assert (now.replicas, now.isr, now.elr, now.leader, now.leader_epoch, now.partition_epoch) == (
        (0, 1, 2),
        frozenset({0, 1, 2}),
        frozenset(),
        0,
        0,
        0,
    )
    assert [one.leader for one in START.replicas] == [0, 0, 0, -1]
    assert START.replicas[0].isr == now.isr
    assert [one.fetch_epoch for one in START.replicas] == [-1, 0, 0, -1]
    assert (START.registering, START.fetching, START.altering) == ((None,) * 4,) * 3


def test_a_start_with_a_small_isr() -> None:
    """Whoever it takes to reach the minimum is eligible, if that is a feature; the others lack what is committed."""
    small = start(initial_isr=1, initial_records=1)
    assert (truth(small).isr, truth(small).elr) == (frozenset({0}), frozenset({1}))
    assert [log.end_offset for log in small.logs] == [1, 1, 0, 0]
    assert [one.high_watermark for one in small.replicas] == [1, 1, 0, 0]
    assert truth(start(evolve(CONFIG, elr=False), initial_isr=1)).elr == frozenset()
    assert (small.next_record_id, small.replicas[0].epoch_start) == (1, 1)


def test_a_start_after_two_elections() -> None:
    """The last replica has a record of epoch 1 that nobody else has; the first leads in epoch 2."""
    late = start(initial_records=1, start=Start.OUTSIDER_OF_LATER_EPOCH)
    assert (truth(late).leader_epoch, truth(late).isr) == (2, frozenset({0, 1}))
    assert late.logs == (Log((Record(0, 0),)), Log((Record(0, 0),)), Log((Record(1, 1),)), Log())
    assert late.next_record_id == 2
    small = start(evolve(CONFIG, replication_factor=4), initial_isr=1, start=Start.OUTSIDER_OF_LATER_EPOCH)
    assert (truth(small).isr, truth(small).elr) == (frozenset({0}), frozenset({1}))


def test_a_start_under_the_second_replica() -> None:
    """It leads, if it is in the ISR, and all else is as ever; the first replica follows it."""
    second = start(initial_records=1, start=Start.SECOND_LEADS)
    assert (truth(second).leader, truth(second).isr) == (1, truth(start()).isr)
    assert [one.leader for one in second.replicas[:3]] == [1, 1, 1]
    assert (second.replicas[1].isr, second.replicas[0].isr, second.logs) == (truth(second).isr, frozenset(), start(initial_records=1).logs)
    assert truth(start(initial_isr=1, start=Start.SECOND_LEADS)).leader == 0


def test_the_budget_is_what_the_bounds_say() -> None:
    """Each kind of perturbation by its name."""
    some = evolve(BOUNDS, fences=2, losses=3, outages=0)
    budget = initial(CONFIG, some).budget
    assert {kind.name: getattr(budget, kind.name) for kind in fields(Budget)} == {
        kind.name: getattr(some, kind.name) for kind in fields(Budget)
    }
    assert len(partition_epochs(some)) == 3 + 4 * sum(perturbations(some))


def test_what_the_controller_goes_by() -> None:
    """Who is active, how small the ISR may be, and what the operator allows."""
    by = circumstances(START, PartitionRules(), evolve(CONFIG, min_isr=7, unclean_elections=True, elr=False))
    assert (by.acceptable, by.min_isr, by.election.value, by.elr_enabled) == (frozenset(range(4)), 3, "unclean", False)


@pytest.mark.parametrize(("members", "of_replicas"), [(ElrMembers.REPLICAS, True), (ElrMembers.FORMER_REPLICAS, False)])
def test_who_may_be_eligible(members: ElrMembers, *, of_replicas: bool) -> None:
    """Replicas alone, or in Kafka also who was one."""
    assert circumstances(START, PartitionRules(elr_members=members), CONFIG).elr_of_replicas is of_replicas


def test_replicas_need_brokers() -> None:
    """Fewer brokers than replicas are refused in one line."""
    with pytest.raises(ValueError, match="3 replicas need as many brokers, not 2"):
        machine(PartitionRules(), CONFIG, Bounds(brokers=2))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("brokers", 0),
        ("brokers", 10),
        ("records", -1),
        ("initial_isr", 0),
        ("segment_size", 0),
        ("consumers", 3),
        *((kind.name, value) for kind in fields(Budget) for value in (-1, 10)),
    ],
)
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("replication_factor", 0), ("replication_factor", 10), ("min_isr", 0), ("min_isr", 10)])
def test_settings_have_limits(name: str, value: int) -> None:
    """As have settings."""
    with pytest.raises(ValueError, match=name):
        Config(**{name: value})


def test_every_action_names_its_origin() -> None:
    """And no two have the same name."""
    assert len({act.name for act in ACTIONS}) == len(ACTIONS)
    assert all(act.origin.source and act.origin.versions and act.origin.simplified for act in ACTIONS)
