# SPDX-License-Identifier: Apache-2.0
"""Each promise of replication is false where it should be: crafted states and steps that break exactly it.

Verdicts over whole scopes stand in ``test_published_verdicts.py``. What no preset of this family can break is broken here.
"""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.judge import ask_again
from hwmark.checker.system import system
from hwmark.checker.verdict import Verdict
from hwmark.model.log import Log, Record
from hwmark.model.machine import Step
from hwmark.model.replication import NOBODY, Bounds, LeaderAndIsr, Replica, State, initial
from hwmark.spec import replication as spec
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import StepProperty, Witness

BOUNDS = Bounds(replicas=3, log_size=2, records=2, max_leader_epoch=2)
A, B = Record(0, 0), Record(1, 1)
ALL = frozenset({0, 1, 2})

HEALTHY = State(
    logs=(Log((A, B)), Log((A, B)), Log((A,))),
    replicas=(Replica(2, 1, 0, ALL), Replica(1, 1, 0, ALL), Replica(1, 0, 1, ALL)),
    quorum=LeaderAndIsr(1, 0, frozenset({0, 1})),
    requests=(LeaderAndIsr(0, 1, ALL), LeaderAndIsr(1, 0, ALL), None),
    next_record_id=2,
)
"""Broker 0 leads in epoch 1 with both records committed, broker 1 follows it, and broker 2 still follows 1 in epoch 0."""


def at(entries: tuple[Any, ...], index: int, entry: Any) -> tuple[Any, ...]:
    """Return a tuple with one entry replaced."""
    return (*entries[:index], entry, *entries[index + 1 :])


def log(index: int, *records: Record) -> State:
    """Return the healthy state with another log at one broker."""
    return evolve(HEALTHY, logs=at(HEALTHY.logs, index, Log(records)))


def replica(index: int, **changes: Any) -> State:
    """Return the healthy state with another belief at one broker."""
    return evolve(HEALTHY, replicas=at(HEALTHY.replicas, index, evolve(HEALTHY.replicas[index], **changes)))


def quorum(**changes: Any) -> State:
    """Return the healthy state with another truth in the quorum."""
    return evolve(HEALTHY, quorum=evolve(HEALTHY.quorum, **changes))


def broken(state: State, before: State = HEALTHY) -> dict[str, dict[str, Any]]:
    """Return the safety properties without observers that are false, each with its first witness."""
    described = MACHINES["replication"]
    asked = system(described.build(described.presets["kip_320"], described.module.Config(), BOUNDS))
    found: dict[str, dict[str, Any]] = {}
    for prop in described.properties:
        if prop.observers or prop.kind not in ("invariant", "step"):
            continue
        given = (before, Step("step", {}), state) if isinstance(prop, StepProperty) else (state,)
        for bound in asked.bind(prop):
            answer = bound.holds(*given) if bound.when is None or bound.when(*given) else None
            if isinstance(answer, Witness):
                found.setdefault(prop.name, {**bound.choices, **answer.facts})
    return found


OTHER = Record(1, 0)
"""A record that was written elsewhere at the offset of ``B``."""


def test_the_healthy_state_is_healthy() -> None:
    """What the other cases change one thing of breaks nothing but the cached ISR, which still names the laggard."""
    assert broken(HEALTHY) == {"weak_isr": {"leader": 0, "member": 2, "offset": 1, "ours": B, "theirs": None}}


@pytest.mark.parametrize(
    ("name", "state", "witness"),
    [
        ("strong_isr", quorum(isr=ALL), {"leader": 0, "member": 2, "offset": 1, "ours": B, "theirs": None}),
        ("leader_completeness", log(0, A), {"broker": 0, "leader": 0, "offset": 1, "ours": None, "theirs": None}),
        ("high_watermark_prefix", log(2, OTHER), {"broker": 0, "other": 2, "offset": 0, "ours": A, "theirs": OTHER}),
        ("epoch_lineage", log(1, Record(0, 1), B), {"broker": 0, "other": 1, "offset": 0, "ours": A, "theirs": Record(0, 1)}),
        ("single_leader", replica(1, leader=1), {"broker": 0, "other": 1, "leader_epoch": 1}),
        ("leader_in_isr", quorum(isr=frozenset({1})), {"leader": 0, "isr": frozenset({1})}),
        ("structure", replica(2, high_watermark=2), {"broker": 2, "high_watermark": 2, "log_end_offset": 1}),
        ("structure", evolve(HEALTHY, next_record_id=1), {"broker": 0, "record": B, "quorum_leader_epoch": 1, "next_record_id": 1}),
        ("structure", replica(2, leader_epoch=2), {"broker": 2, "leader_epoch": 2, "quorum_leader_epoch": 1}),
        ("structure", quorum(isr=frozenset({0, 3})), {"broker": 0, "isr": frozenset({0, 3}), "replicas": 3}),
        ("leader_epoch_order", replica(2, leader_epoch=-1), {"broker": 2, "whose": "replica", "before": 0, "after": -1}),
        ("leader_epoch_order", quorum(leader_epoch=0), {"broker": 0, "whose": "quorum", "before": 1, "after": 0}),
        ("election_from_isr", quorum(leader=2), {"step": "step()", "elected": 2, "isr": frozenset({0, 1})}),
        (
            "high_watermark_bound",
            replica(2, high_watermark=2),
            {"broker": 2, "step": "step()", "before": 1, "after": 2, "log_end_offset": 1},
        ),
        ("committed_stability", log(0, A, OTHER), {"broker": 0, "step": "step()", "offset": 1, "ours": B, "theirs": OTHER}),
    ],
)
def test_each_promise_is_broken_by_a_state_that_breaks_it(name: str, state: State, witness: dict[str, Any]) -> None:
    """A state, or the step from the healthy state to it, with one thing wrong is refused with the witness that explains it."""
    assert broken(state)[name] == witness


def test_nobody_may_lead() -> None:
    """That the quorum names no leader breaks neither promise about the leader."""
    assert not {"leader_in_isr", "election_from_isr"} & set(broken(quorum(leader=NOBODY)))


def test_the_initial_state_breaks_nothing() -> None:
    """Before the first election every promise holds."""
    start = initial(BOUNDS)
    assert broken(start, start) == {}


@pytest.mark.parametrize("name", ["append_only_log", "consistent_reads"])
def test_the_right_rules_refine_the_append_only_log(name: str) -> None:
    """With a memory of what was committed and exposed, KIP-320 refines one append-only log; truncating to the high watermark does not."""
    described = MACHINES["replication"]
    (chosen,) = (prop for prop in described.properties if prop.name == name)
    scope = Bounds(replicas=2, log_size=2, records=2, max_leader_epoch=2)
    verdicts = {}
    for preset in ("kip_320", "truncate_to_high_watermark"):
        machine = described.build(described.presets[preset], described.module.Config(), scope)
        (result,) = explore(machine, [chosen], Options(keep_going=True)).results
        verdicts[preset] = (result.verdict, result.depth)
        if result.run is not None:
            assert ask_again(machine, chosen, result.run)[2].facts
    assert verdicts == {"kip_320": (Verdict.HOLDS, None), "truncate_to_high_watermark": (Verdict.VIOLATED, 14)}


def test_without_the_observer_a_followers_high_watermark_goes_back() -> None:
    """The refinement needs the memory: what a follower holds as committed may shrink, so no single state tells the log."""
    described = MACHINES["replication"]
    machine = described.build(described.presets["kip_320"], described.module.Config(), Bounds(2, 2, 2, 2))
    states, frontier, shrinks = set(machine.initial), list(machine.initial), 0
    takes = [take for _, take in machine.instances()]
    while frontier:
        state = frontier.pop()
        for after in (take(state) for take in takes):
            if after is not None:
                shrinks += any(len(spec.committed(after, one)) < len(spec.committed(state, one)) for one in (0, 1))
                if after not in states:
                    states.add(after)
                    frontier.append(after)
    assert shrinks > 0
