# SPDX-License-Identifier: Apache-2.0
"""Why a step is not enabled: the operand that decided, with its values; for every operand of every guard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import toy_lift
from attrs import evolve
from toy_lift import Direction, Lift, lift
from toys import counter, graph, two

from hwmark.checker.errors import InputError
from hwmark.checker.explain import Reason, explain, why_not
from hwmark.checker.plain import to_text
from hwmark.model import replication
from hwmark.model.log import Log, Record
from hwmark.model.machine import Machine, Step
from hwmark.model.replication import Bounds, Config, LeaderAndIsr, Replica, State
from hwmark.spec.machines import MACHINES
from hwmark.spec.versions import REPLICATION

OPERANDS = {
    "controller_elect_leader": {
        "leader == state.quorum.leader",
        "leader not in state.quorum.isr",
        "decide(state, bounds, leader, state.quorum.isr)",
    },
    "controller_shrink_isr": {
        "broker not in quorum.isr and broker != quorum.leader",
        "decide(state, bounds, quorum.leader, quorum.isr - {broker})",
        "decide(state, bounds, NOBODY, quorum.isr if quorum.isr == {broker} else quorum.isr - {broker})",
    },
    "become_leader": {"request is None", "request.leader != broker", "leader_epoch <= state.replicas[broker].leader_epoch"},
    "leader_write": {"mine.leader != leader", "state.next_record_id >= bounds.records", "log.end_offset >= bounds.log_size"},
    "leader_advance_high_watermark": {
        "mine.leader != leader",
        "advanced > state.logs[leader].end_offset",
        "not acknowledges(rules, state, leader, member, advanced)",
    },
    "leader_shrink_isr": {
        "follower == leader",
        "follower not in isr",
        "not is_true_leader(state, leader)",
        "not is_out_of_sync(rules, state, leader, follower)",
    },
    "leader_expand_isr": {
        "follower in isr",
        "not is_true_leader(state, leader)",
        "not is_back_in_sync(rules, state, leader, follower)",
        "not has_reached_epoch(rules, state, leader, follower)",
    },
    "become_follower": {
        "request is None",
        "request.leader in (NOBODY, broker)",
        "leader_epoch <= state.replicas[broker].leader_epoch",
        "not may_ask(rules, state, request.leader, leader_epoch)",
        "offset > state.logs[broker].end_offset",
    },
    "follower_fetch": {"record is None", "not can_fetch(rules, state, leader, follower)"},
    "follower_truncate": {
        "not truncates_on_fetch(rules)",
        "state.replicas[leader].leader != leader",
        "state.replicas[follower].leader != leader",
        "not needs_truncation(ours, theirs)",
    },
}
"""Every operand of every guard of the replication machine, as its source has it."""


def some_states(machine: Machine[State]) -> Iterator[State]:
    """Yield states from everywhere in the machine's space, nearer ones first."""
    takes = [take for _, take in machine.instances()]
    seen = dict.fromkeys(machine.initial)
    queue = list(seen)
    for number, state in enumerate(queue):
        if number % 47 == 0:
            yield state
        for after in filter(None, (take(state) for take in takes)):
            if after not in seen:
                seen[after] = None
                queue.append(after)


def locals_of(machine: Machine[State], state: State, step: Step, reason: Reason) -> dict[str, Any]:
    """Return what the names in a guard of the replication machine stand for, worked out apart from the code that explains."""
    names: dict[str, Any] = {**vars(replication), **machine.context, **step.choices, "state": state, "quorum": state.quorum}
    if "leader" in step.choices:
        mine = state.replicas[step.choices["leader"]]
        names |= {"mine": mine, "log": state.logs[step.choices["leader"]], "isr": mine.isr, "advanced": mine.high_watermark + 1}
    if "follower" in step.choices:
        ours, theirs = state.logs[step.choices["follower"]], state.logs[step.choices["leader"]]
        names |= {"ours": ours, "theirs": theirs, "record": theirs.at(ours.end_offset) if mine.leader == step.choices["leader"] else None}
    if "leader_epoch" in step.choices:
        request = state.requests[step.choices["leader_epoch"]]
        names |= {"request": request}
        if request is not None and request.leader >= 0:
            names |= {"offset": replication.truncation_offset(machine.rules, state, request.leader, step.choices["broker"])}
    return {**names, **{name: int(value) for name, value in reason.values if name == "member"}}


def test_every_operand_of_every_guard_explains_itself() -> None:
    """In states from everywhere each refusal names an operand that refused there, with true values; together they are all operands."""
    explained: dict[str, set[str]] = {}
    scopes = (("kip_320", 1), ("kip_320_first_try", 1), ("kip_101", 2))
    for preset, log_size in scopes:
        machine = replication.machine(REPLICATION[preset], Config(), Bounds(2, log_size, 2, 2))
        instances = list(machine.instances())
        for state in some_states(machine):
            for step, take in instances:
                reason = why_not(machine, state, step)
                assert (reason is None) == (take(state) is not None)
                if reason is not None:
                    names = locals_of(machine, state, step, reason)
                    refused = eval(reason.text, names)  # noqa: S307 - the machine's own source
                    assert refused is None if reason.text.startswith("decide(") else refused
                    for text, value in reason.values:
                        assert to_text(eval(text, names)) == value  # noqa: S307
                    explained.setdefault(step.action, set()).add(reason.text)
    assert explained == OPERANDS


def test_all_actions_have_their_operands_listed() -> None:
    """No action of the machine is missing above."""
    machine = replication.machine(REPLICATION["kip_320"], Config(), Bounds())
    assert list(OPERANDS) == [act.name for act in machine.actions]


def start() -> State:
    """Return the initial state of two brokers."""
    return replication.initial(Bounds())


def elected() -> State:
    """Return the state in which broker 0 leads in epoch 0 with one record, and broker 1 has not heard of it."""
    request = LeaderAndIsr(0, 0, frozenset({0, 1}))
    return evolve(
        start(),
        quorum=request,
        requests=(request, None, None),
        replicas=(Replica(0, 0, 0, frozenset({0, 1})), Replica()),
        logs=(Log((Record(0, 0),)), Log()),
        next_record_id=1,
    )


@pytest.mark.parametrize(
    ("state", "step", "expected"),
    [
        (
            start(),
            Step("become_leader", {"broker": 0, "leader_epoch": 2}),
            "not enabled, because `request is None` (request = None, leader_epoch = 2; where request is state.requests[leader_epoch])",
        ),
        (
            elected(),
            Step("become_leader", {"broker": 0, "leader_epoch": 0}),
            (
                "not enabled, because `leader_epoch <= state.replicas[broker].leader_epoch` "
                "(leader_epoch = 0, state.replicas[broker].leader_epoch = 0, broker = 0)"
            ),
        ),
        (
            evolve(elected(), quorum=LeaderAndIsr(2, 0, frozenset({0, 1}))),
            Step("controller_elect_leader", {"leader": 1}),
            (
                "not enabled, because `decide(state, bounds, leader, state.quorum.isr)` is None (leader = 1, state.quorum.isr = {0, 1}); "
                "in decide: `leader_epoch > bounds.max_leader_epoch` "
                "(leader_epoch = 3, bounds.max_leader_epoch = 2, state.quorum.leader_epoch = 2; "
                "where leader_epoch is state.quorum.leader_epoch + 1)"
            ),
        ),
        (
            elected(),
            Step("leader_advance_high_watermark", {"leader": 0}),
            (
                "not enabled, because `not acknowledges(rules, state, leader, member, advanced)` "
                "(leader = 0, member = 1, advanced = 1, mine.high_watermark = 0; where advanced is mine.high_watermark + 1); "
                "in acknowledges: `is_caught_up(rules.high_watermark_fence, state, leader, follower, offset)` is False "
                "(rules.high_watermark_fence = Fence.LEADER_EPOCH, leader = 0, follower = 1, offset = 1); "
                "in is_caught_up: `theirs.leader != leader` (theirs.leader = -1, leader = 0, follower = 1; "
                "where theirs is state.replicas[follower])"
            ),
        ),
        (elected(), Step("leader_write", {"leader": 0}), "enabled"),
    ],
)
def test_what_replication_says(state: State, step: Step, expected: str) -> None:
    """The line names operand, values, what local names stand for, and what lies behind a helper's answer."""
    machine = replication.machine(REPLICATION["kip_320"], Config(), Bounds())
    assert explain(machine, state, step) == expected


@pytest.mark.parametrize("described", MACHINES.values(), ids=lambda one: one.name)
def test_every_machine_explains_itself_from_its_start(described: Any) -> None:
    """Whatever is not enabled at the start of any machine has a reason."""
    machine = described.build(described.presets[described.right], described.module.Config(), described.small)
    for state in machine.initial:
        for step, take in machine.instances():
            assert (explain(machine, state, step) == "enabled") == (take(state) is not None)
            assert (why_not(machine, state, step) is None) == (take(state) is not None)


@pytest.mark.parametrize(
    ("state", "step", "expected"),
    [
        (
            Lift(is_open=True),
            Step("move", {"direction": Direction.UP}),
            "not enabled, because `state.is_open and rules.door is Door.CLOSED` (state.is_open = True, rules.door = Door.CLOSED)",
        ),
        (Lift(broken=True), Step("move", {"direction": Direction.UP}), "not enabled, because `state.broken` (state.broken = True)"),
        (
            Lift(),
            Step("move", {"direction": Direction.DOWN}),
            (
                "not enabled, because `arrive(state, bounds, state.floor + (1 if direction is Direction.UP else -1))` is None "
                "(bounds = Bounds(floors=3), state.floor = 0, direction = Direction.DOWN); "
                "in arrive: `not 0 <= floor < bounds.floors` (floor = -1)"
            ),
        ),
        (Lift(called=1), Step("call", {"floor": 2}), "not enabled, because `state.called is not None` (state.called = 1)"),
        (Lift(), Step("call", {"floor": 0}), "not enabled, because `floor == state.floor` (floor = 0, state.floor = 0)"),
        (Lift(), Step("use_door", {}), "enabled"),
        (Lift(floor=2, broken=True), Step("break_down", {}), "held to be impossible: it breaks twice"),
    ],
)
def test_what_the_lift_says(state: Lift, step: Step, expected: str) -> None:
    """Operands joined by *and* stay whole where all of them were needed; short cuts leave out what was not evaluated."""
    assert explain(toy_lift.machine(toy_lift.Rules(), toy_lift.Config(), toy_lift.Bounds()), state, step) == expected


def test_conditional_expressions_and_closures() -> None:
    """A guard written as an expression is the reason itself; what lies behind a lookup in a helper is found."""
    assert explain(counter(two, limit=1), counter().initial[0], Step("two", {})) == (
        "not enabled, because `Count(state.value + 2) if state.value + 1 < bounds.limit else None` is None "
        "(state.value = 0, bounds.limit = 1)"
    )
    assert "in _move: `None if target is None else Place(target)` is None (target = None" in explain(
        graph({}), graph({}).initial[0], Step("steady", {"lane": 0})
    )


@pytest.mark.parametrize("step", [Step("fly", {}), Step("move", {}), Step("move", {"direction": Direction.UP, "floor": 1})])
def test_a_step_that_does_not_exist_is_refused(step: Step) -> None:
    """An unknown action, or other choices than it declares, is no step."""
    with pytest.raises(InputError, match="no such step in the machine lift"):
        explain(lift(), Lift(), step)
