# SPDX-License-Identifier: Apache-2.0
"""Alternatives: every combination, each as it would be asked alone, and one clear line for whatever is wrong."""

from __future__ import annotations

from typing import Any

import pytest
import toy_lift
from attrs import field, frozen, validators

from hwmark.checker import asked as asked_module
from hwmark.checker.errors import InputError
from hwmark.checker.simulation.request import Request, larger
from hwmark.checker.simulation.swarm import variants
from hwmark.spec.machines import MACHINES


def asked(*swarm: str, machine: str = "replication", **given: Any) -> list[Any]:
    """Return what is asked in each combination."""
    return list(variants(Request(machine, swarm=swarm, **given))[1])


def test_without_alternatives_there_is_one() -> None:
    """It is what was asked for."""
    (only,) = asked(preset="kip_279", config="", bounds="replicas=3")
    assert (only.preset, only.bounds.replicas) == ("kip_279", 3)


def test_every_combination_once() -> None:
    """The last alternatives vary fastest, presets first of all."""
    combinations = asked("replicas=2,3", "rules=kip_101,kip_279", "log_size=4,5", bounds="records=1")
    named = [(one.preset, one.bounds.replicas, one.bounds.log_size) for one in combinations]
    assert named == [(preset, replicas, size) for preset in ("kip_101", "kip_279") for replicas in (2, 3) for size in (4, 5)]
    assert {one.bounds.records for one in combinations} == {1}


def test_rules_change_presets() -> None:
    """Single rules, given once or as alternatives, are changed in every preset, and what has a name gets its name."""
    combinations = asked("fetch_fence=none,leader_epoch", "rules=kip_320,kip_279", changed_rules=("shrink_fence=none",))
    assert [(one.rules.fetch_fence.value, one.rules.shrink_fence.value) for one in combinations] == [
        ("none", "none"),
        ("leader_epoch", "none"),
    ] * 2
    assert [one.preset for one in combinations] == [None, "kip_320_shrink_unfenced", "kip_279", None]
    assert [one.preset for one in asked("fetch_fence=none,leader_epoch")] == ["kip_320_fetch_unfenced", "kip_320"]


def test_settings_of_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have alternatives like bounds, if they can be written in one word."""
    monkeypatch.setitem(asked_module.MACHINES, "lift", toy_lift.LIFT)
    with pytest.raises(InputError, match="closed_floors cannot be set in this form"):
        asked("closed_floors=1,2", machine="lift")


def test_any_two_bounds_are_one() -> None:
    """Each two of those that are listed, and the others are zero."""
    combinations = asked("2=fences,crashes,losses", "records=1,2", machine="partition")
    assert [(one.bounds.fences, one.bounds.crashes, one.bounds.losses, one.bounds.records) for one in combinations] == [
        (*some, records) for some in ((1, 1, 0), (1, 0, 1), (0, 1, 1)) for records in (1, 2)
    ]


@pytest.mark.parametrize(
    ("swarm", "bounds", "said"),
    [
        (("2=fences,crash",), "", "there is no bound 'crash'"),
        (("3=fences,crashes",), "", "there are not 3 among 2 bounds"),
        (("0=fences,crashes",), "", "there are not 0 among 2 bounds"),
        (("2=fences,crashes",), "crashes=1", "crashes is set to one value already"),
        (("1=fences,crashes", "crashes=1,2"), "", "crashes is given twice"),
        (("2=fences,fences",), "", "gives something twice"),
        (("1=fences,brokers",), "", "brokers"),
    ],
)
def test_what_is_wrong_with_some_bounds_is_said(swarm: tuple[str, ...], bounds: str, said: str) -> None:
    """In one line."""
    with pytest.raises(InputError, match=said) as caught:
        asked(*swarm, machine="partition", bounds=bounds)
    assert "\n" not in str(caught.value)


def test_properties_are_those_of_the_scope() -> None:
    """Goals that are due in one combination only are asked there only, unless properties are chosen."""
    without, with_goal = asked("max_leader_epoch=0,1")
    assert set(with_goal.properties) - set(without.properties) == {"leadership_moves", "log_is_truncated", "zombie_writes"}
    assert {one.properties for one in asked("max_leader_epoch=0,1", properties=("strong_isr",))} == {("strong_isr",)}


@pytest.mark.parametrize(
    ("swarm", "given", "said"),
    [
        (("replicas",), {}, "expected NAME=VALUE,VALUE,…, got 'replicas'"),
        (("replicas=",), {}, "expected NAME=VALUE"),
        (("replicas=3,",), {}, "expected NAME=VALUE"),
        (("replica=3",), {}, "did you mean 'replicas'?"),
        (("rules=kip_321",), {}, "did you mean"),
        (("replicas=3,3",), {}, "gives something twice"),
        (("replicas=3", "replicas=4"), {}, "gives something twice"),
        (("replicas=3",), {"bounds": "replicas=4"}, "replicas is set to one value already"),
        (("fetch_fence=none",), {"changed_rules": ("fetch_fence=none",)}, "fetch_fence is set to one value already"),
        (("rules=kip_101",), {"preset": "kip_320"}, "rules is set to one value already"),
        (("replicas=3,many",), {}, "expected a whole number"),
        (("replicas=0",), {}, "Bounds"),
        (("fetch_fence=maybe",), {}, "fetch_fence"),
        (
            ("log_size=" + ",".join(map(str, range(1, 41))), "records=" + ",".join(map(str, range(1, 41)))),
            {},
            "1,600 combinations are too many",
        ),
    ],
)
def test_what_is_wrong_is_said(swarm: tuple[str, ...], given: dict[str, Any], said: str) -> None:
    """Each mistake is one line that names it."""
    with pytest.raises(InputError) as raised:
        asked(*swarm, **given)
    assert said in str(raised.value)


@frozen
class Scope:
    """Bounds of several kinds."""

    most: int = field(default=5, validator=validators.le(9))
    few: int = field(default=3, validator=validators.le(9))
    strict: bool = True


def test_larger_scopes_are_twice_as_large_where_they_may_be() -> None:
    """Each number is doubled unless the bounds refuse that; what is no number stays."""
    assert larger(Scope()) == Scope(most=5, few=6, strict=True)
    small = MACHINES["async_isr"].small
    assert (larger(small).replicas, larger(small).max_version) == (2 * small.replicas, 2 * small.max_version)
