# SPDX-License-Identifier: Apache-2.0
"""Differences between values, as the smallest parts that changed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from attrs import evolve, frozen

from hwmark.checker.diff import ABSENT, Change, changes
from hwmark.checker.explore import explore
from hwmark.checker.replay import replay_run
from hwmark.model.replication import Bounds, Config
from hwmark.spec.machines import MACHINES


@frozen
class Inner:
    """A part."""

    number: int = 0
    names: frozenset[str] = frozenset()


@frozen
class Outer:
    """A whole."""

    parts: tuple[Inner, ...] = ()
    alone: Inner | None = None
    flag: object = 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (Outer(), Outer(), []),
        (Outer(), Outer(flag=1), [Change("flag", 0, 1)]),
        (Outer(), Outer(flag=False), [Change("flag", 0, False)]),  # noqa: FBT003 - a value like any other
        (Outer(), Outer(alone=Inner()), [Change("alone", None, Inner())]),
        (Outer(alone=Inner()), Outer(alone=Inner(3)), [Change("alone.number", 0, 3)]),
        (Outer((Inner(), Inner(1))), Outer((Inner(), Inner(2))), [Change("parts[1].number", 1, 2)]),
        (Outer((Inner(),)), Outer((Inner(), Inner(2))), [Change("parts[1]", ABSENT, Inner(2))]),
        (Outer((Inner(), Inner(2))), Outer((Inner(),)), [Change("parts[1]", Inner(2), ABSENT)]),
        (Outer(flag=((0, 1), 2)), Outer(flag=((0, 3), 2)), [Change("flag[0][1]", 1, 3)]),
        (
            Outer(alone=Inner(1, frozenset({"a"}))),
            Outer(alone=Inner(2, frozenset({"b"}))),
            [Change("alone.number", 1, 2), Change("alone.names", frozenset({"a"}), frozenset({"b"}))],
        ),
        (1, 2, [Change("", 1, 2)]),
        (Inner(), Outer(), [Change("", Inner(), Outer())]),
    ],
)
def test_only_what_changed_is_named(before: object, after: object, expected: list[Change]) -> None:
    """Records are compared by field, tuples by index, all else as a whole; 0 is not False."""
    found = changes(before, after)
    assert found == expected
    assert [type(change.after) for change in found] == [type(change.after) for change in expected]


def test_nested_values_that_equal_but_differ_in_type_are_told_apart() -> None:
    """A field that turns from 0 to False inside a tuple of records is a change."""
    assert changes((Outer(flag=0),), (Outer(flag=False),)) == [Change("[0].flag", 0, False)]  # noqa: FBT003 - a value like any other


def test_the_changes_of_a_run_lead_from_state_to_state() -> None:
    """Along a counterexample every step changes something, and what it changed is what differs."""
    described = MACHINES["replication"]
    machine = described.build(described.presets["truncate_to_high_watermark"], Config(), Bounds(2, 2, 2, 2))
    weak_isr = next(prop for prop in described.properties if prop.name == "weak_isr")
    (result,) = explore(machine, (weak_isr,)).results
    assert result.run is not None
    states = replay_run(machine, result.run).states
    found = [[change.path for change in changes(*pair)] for pair in pairwise(states)]
    assert found[0] == ["quorum.leader_epoch", "quorum.leader", "requests[0]"]
    assert found[-1] == ["logs[1].records[0]", "replicas[1].leader_epoch", "replicas[1].isr"]
    assert all(found)
    assert changes(states[0], evolve(states[0])) == []
