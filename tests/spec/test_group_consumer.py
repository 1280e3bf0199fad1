# SPDX-License-Identifier: Apache-2.0
"""The consumer group machine keeps its promises, and each promise can be broken.

Nobody outside has published state counts of this machine: all counts and depths here are pinned by our own engines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from hypothesis.stateful import run_state_machine_as_test

from hwmark.checker.equivariance import asymmetry
from hwmark.checker.explore import Options, explore
from hwmark.checker.shipped import load_shipped
from hwmark.checker.stateful import ViolatedError, repeatable, stateful
from hwmark.checker.trace import replay
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.group_consumer.machine import machine
from hwmark.model.group_consumer.reconciliation import NOT_HELD, STATIC_LEAVE_EPOCH, Error, Member, MemberState
from hwmark.model.group_consumer.rules import Rules
from hwmark.model.group_consumer.state import Bounds, Client, ClientState, Config, Group, Request, Response, State, initial
from hwmark.model.machine import Machine, Step, bind, put
from hwmark.spec.group_consumer import properties as promises
from hwmark.spec.group_consumer.lessons import LESSONS
from hwmark.spec.group_consumer.presets import PRESETS
from hwmark.spec.group_consumer.scopes import UNDISTURBED
from hwmark.spec.ownership_seen import unseen
from hwmark.spec.property import Invariant, Property, Reachable, StepProperty

SMALLEST = Bounds(partitions=1)
LARGE = Bounds(
    members=6,
    partitions=20,
    static_members=3,
    replacements=2,
    crashes=3,
    expirations=3,
    rebalance_timeouts=3,
    losses=5,
    leaves=4,
    failovers=2,
    commits=20,
)
"""Far more states than could be counted."""
NOTHING = (NOT_HELD, NOT_HELD)
BOTH, FIRST, SECOND, NONE = frozenset({0, 1}), frozenset({0}), frozenset({1}), frozenset[int]()


def build(preset: str = "kip_848", bounds: Bounds = UNDISTURBED) -> Machine[State]:
    """Return the machine under the rules of a preset."""
    return machine(PRESETS[preset], Config(), bounds)


def judged(explored: Machine[State], *properties: Property) -> Exploration:
    """Explore all reachable states, and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True))


# -- the right rules --


def test_right_rules_keep_every_promise() -> None:
    """All promises hold while nothing goes wrong, what can be reached then is reached, in exactly so many states."""
    asked = [prop for prop in promises.PROPERTIES if not isinstance(prop, Reachable) or prop.expected_in(UNDISTURBED)]
    exploration = judged(build(), *asked)
    assert {one.name: one.verdict for one in exploration.results if one.verdict is not Verdict.HOLDS} == {}
    assert (exploration.states, exploration.transitions, exploration.depth) == (1168, 3090, 23)
    regular = {"client_send_heartbeat", "coordinator_handle_heartbeat", "client_receive_response", "client_reconcile"}
    assert {name for name, times in exploration.taken.items() if times} == regular


@pytest.mark.parametrize("bounds", [Bounds(losses=2, leaves=2, commits=1), Bounds(members=3, losses=1, failovers=1)], ids=["two", "three"])
def test_members_are_alike_where_the_machine_says_so(bounds: Bounds) -> None:
    """Renaming members and stepping commute, and promises answer the same."""
    explored = build(bounds=bounds)
    assert explored.interchangeable
    assert asymmetry(explored, promises.PROPERTIES, walks=6, steps=40) is None


@pytest.mark.parametrize(
    ("bounds", "config"),
    [
        (Bounds(members=3, partitions=4), Config()),
        (Bounds(partitions=1, expirations=1), Config()),
        (Bounds(leaves=1), Config(assignment_interval=True)),
    ],
    ids=["shares", "returns", "waiting"],
)
def test_members_are_not_alike_where_the_assignor_chooses(bounds: Bounds, config: Config) -> None:
    """Where the machine says that they are not, they are indeed not."""
    explored = machine(Rules(), config, bounds)
    assert not explored.interchangeable
    assert asymmetry(evolve(explored, interchangeable={"member": tuple(range(bounds.members))}), (), walks=40, steps=60) is not None


# -- what can be reached --


@pytest.mark.parametrize(
    ("goal", "bounds", "depth"),
    [
        (promises.zombie_consumes, Bounds(partitions=1, expirations=1), 7),
        (promises.commit_is_refused, Bounds(members=1, partitions=1, expirations=1, commits=1), 6),
        (promises.static_member_returns, Bounds(members=1, partitions=1, static_members=1, replacements=1, leaves=1), 7),
        (promises.instance_is_taken, Bounds(members=1, partitions=1, static_members=1, replacements=1), 5),
    ],
    ids=lambda value: value.name if isinstance(value, Reachable) else None,
)
def test_more_goals_are_met_where_more_goes_wrong(goal: Reachable, bounds: Bounds, depth: int) -> None:
    """Zombies exist and are refused, static members come back, and instance ids are taken."""
    (result,) = explore(build(bounds=bounds), [evolve(goal, scope={})]).results
    assert (result.verdict, result.depth) == (Verdict.HOLDS, depth)


def test_a_group_of_two_becomes_stable() -> None:
    """That the group is stable is what several promises presuppose: two members get there in so many steps."""

    def is_shared(state: State) -> bool:
        return promises.all_are_members(state, UNDISTURBED)

    (result,) = explore(build(), [Reachable(is_shared, {}, sources=())]).results
    assert (result.verdict, result.depth) == (Verdict.HOLDS, 18)


# -- lessons --

STEPS = {
    "assign_without_wait_for_release": "S0 S1 H0 H1 R0 R1 T0 T1",
    "bump_epoch_before_revoke": "S0 S1 H0 H1 R0 S0 H0",
    "partition_epoch_lost_on_regrant": "S0 S1 H0 H1 R0 S0 H0 R0 T0 S0 L1 G1 J1 S1 H0 H1 R0 R1 T0 T1",
    "no_previous_epoch_tolerance": "S0 S1 H0 H1 R0 S0 H0 X0 S0 H0",
    "commit_epoch_unchecked": "S0 S1 H0 R0 T0 Z0 H1 R1 T1 C1 C0",
    "commit_of_current_epoch_alone": "S0 S1 H0 H1 R0 S0 H0 T0 C0",
    "owned_alone_reported": "S0 S1 H0 H1 R0 S0 R1 S1 X0 S0 H0 H1 R1 T0 T1",
    "instance_taken_by_itself": "S0 H0 X0 S0 H0",
    "retry_fenced": "S0 S1 S2 H0 H1 H2 R1 S1 H1 X1 S1 H1 X1 S1 H1",
}
"""The steps of each lesson in short: a letter for the action, and the member."""
LETTERS = {
    "client_send_heartbeat": "S",
    "coordinator_handle_heartbeat": "H",
    "client_receive_response": "R",
    "client_reconcile": "T",
    "client_join": "J",
    "client_commit": "C",
    "client_leave": "L",
    "coordinator_handle_leave": "G",
    "coordinator_session_timeout": "Z",
    "lose_heartbeat": "X",
}


@pytest.mark.parametrize("name", LESSONS)
def test_lessons_are_these_runs(name: str) -> None:
    """Each shipped counterexample takes exactly these steps, and breaks what it says."""
    trace = load_shipped(name)
    replayed = replay(trace)
    assert " ".join(f"{LETTERS[step.action]}{step.choices['member']}" for step in replayed.steps) == STEPS[name]
    assert replayed.witness is not None
    assert trace.property == LESSONS[name].property


# -- every promise can be broken --


def stable() -> State:
    """Return a group in which two members have and consume a partition each."""
    return put(
        initial(UNDISTURBED),
        group=Group(3, 3),
        members=(
            Member(3, 2, MemberState.STABLE, (2, NOT_HELD), NOTHING),
            Member(3, 3, MemberState.STABLE, (NOT_HELD, 3), NOTHING),
        ),
        targets=(FIRST, SECOND),
        partition_epochs=(3, 3),
        clients=(Client(ClientState.STABLE, 3, FIRST, FIRST), Client(ClientState.STABLE, 3, SECOND, SECOND)),
    )


STATIC = Bounds(members=1, partitions=2, static_members=1, replacements=1)
WRONG_STATES: dict[str, State] = {
    "one_owner": put(stable(), clients={1: Client(ClientState.STABLE, 3, BOTH, SECOND)}),
    "owner_is_known": put(stable(), clients={1: Client(ClientState.STABLE, 3, BOTH, SECOND)}),
    "one_holder": put(stable(), members={1: Member(3, 3, MemberState.STABLE, (NOT_HELD, 3), (2, NOT_HELD))}),
    "one_owner_once_stable": put(
        stable(),
        members={1: Member(3, 3, MemberState.STABLE, NOTHING, NOTHING)},
        targets={1: NONE},
        clients={1: Client(ClientState.STABLE, 3, NONE, NONE)},
    ),
    "legal_target_assignment": put(stable(), targets={1: NONE}),
    "valid_partition_epoch": put(stable(), partition_epochs={1: NOT_HELD}),
    "coordinator_is_its_log": put(stable(), partition_epochs={1: 2}),
    "valid_member_epoch": put(stable(), targets={0: SECOND, 1: FIRST}),
    "valid_member_state": put(stable(), members={0: Member(3, 2, MemberState.STABLE, NOTHING, NOTHING)}),
    "one_member_an_instance": stable(),
}
"""For each promise about states one that breaks it; the last one breaks it in the scope ``STATIC``."""


def answers(prop: Property, bounds: Bounds, *about: Any) -> Iterator[Any]:
    """Yield what a property says with each of its choices, where it says anything."""
    context = {"rules": Rules(), "config": Config(), "bounds": bounds}
    for choices in prop.bindings(bounds):
        if prop.when is None or bind(prop.when, {**context, **choices})(*about):
            yield prop.bind(context, choices)(*about)


def test_every_promise_about_states_can_be_broken() -> None:
    """For each there is a state that breaks it, and a stable group breaks none."""
    invariants = {prop.name: prop for prop in promises.PROPERTIES if isinstance(prop, Invariant)}
    assert invariants.keys() == WRONG_STATES.keys()
    for name, state in WRONG_STATES.items():
        bounds = STATIC if name == "one_member_an_instance" else UNDISTURBED
        assert any(answers(invariants[name], bounds, state)), name
        assert not any(answers(invariants[name], UNDISTURBED, stable())), name


@pytest.mark.parametrize(
    "state",
    [
        put(stable(), members={0: Member(4, 3, MemberState.STABLE, (2, NOT_HELD), NOTHING)}),
        put(stable(), members={0: Member(3, 3, MemberState.STABLE, (2, NOT_HELD), (NOT_HELD, 2))}),
    ],
    ids=["ahead", "foreign"],
)
def test_no_member_is_ahead_of_the_target(state: State) -> None:
    """A member whose epoch is later than that of the target assignment is as wrong as one with foreign partitions."""
    assert any(answers(promises.valid_member_epoch, UNDISTURBED, state))


@pytest.mark.parametrize(
    "record",
    [
        Member(3, 3, MemberState.UNREVOKED_PARTITIONS, (2, NOT_HELD), NOTHING),
        Member(2, 2, MemberState.UNREVOKED_PARTITIONS, (2, NOT_HELD), NOTHING),
        Member(3, 3, MemberState.UNRELEASED_PARTITIONS, (2, NOT_HELD), NOTHING),
    ],
)
def test_member_states_mean_something(record: Member) -> None:
    """A member does not wait for nothing; who left for a while may have been giving up."""
    state = put(stable(), members={0: record})
    assert any(answers(promises.valid_member_state, UNDISTURBED, state))
    left = put(state, members={0: evolve(record, member_epoch=STATIC_LEAVE_EPOCH)})
    assert not any(answers(promises.valid_member_state, UNDISTURBED, left))


def stepped(action: str, before: State, after: State, **choices: Any) -> tuple[State, Step, State]:
    """Return a step, right or wrong."""
    return before, Step(action, choices), after


FENCED = stepped(
    "coordinator_handle_heartbeat",
    put(stable(), heartbeats={0: Request(3)}),
    put(stable(), heartbeats={0: Response(error=Error.FENCED_MEMBER_EPOCH)}),
    member=0,
)
TAKEN = put(
    stable(),
    members={1: Member(4, 3, MemberState.STABLE, (4, 3), NOTHING)},
)
ZOMBIE = put(stable(), members={0: None}, committed={0: 1})
WRONG_STEPS: dict[str, tuple[tuple[State, Step, State], dict[str, Any]]] = {
    "group_epoch_order": (stepped("coordinator_failover", stable(), put(stable(), group=Group(3, 2))), {}),
    "member_epoch_order": (
        stepped("coordinator_failover", stable(), put(stable(), clients={0: Client(ClientState.STABLE, 2, FIRST, FIRST)})),
        {},
    ),
    "assigned_once_released": (stepped("coordinator_handle_heartbeat", stable(), TAKEN, member=1), {}),
    "commits_of_holders": (
        stepped("client_commit", put(stable(), clients={0: Client(ClientState.STABLE, 3, BOTH, FIRST)}), stable(), member=0, partition=1),
        {},
    ),
    "commit_of_holder_stays": (
        stepped("client_commit", put(stable(), committed={1: 1}), put(stable(), committed={1: 0}), member=0, partition=1),
        {},
    ),
    "commits_of_owners_count": (
        stepped("client_commit", put(stable(), clients={0: Client(ClientState.STABLE, 1, FIRST, FIRST)}), stable(), member=0, partition=0),
        {},
    ),
    "no_needless_fencing": (FENCED, {"missed_answers": ((1, 0), (1, 0))}),
    "no_fencing_of_retries": (FENCED, {"last_other_epoch": ((2, 0), (2, 0))}),
    "refines_ownership": (
        stepped("client_reconcile", stable(), put(stable(), clients={0: Client(ClientState.STABLE, 2, BOTH, BOTH)}), member=0),
        {"seen": ((unseen(2), unseen(2)),) * 2},
    ),
    "commits_are_of_the_grant": (
        stepped("client_commit", stable(), stable(), member=0, partition=0),
        {"seen": ((unseen(2), unseen(2)),) * 2},
    ),
}
"""For each promise about steps one that breaks it, with what observers remember."""


def test_every_promise_about_steps_can_be_broken() -> None:
    """For each there is a step that breaks it, and standing still breaks none."""
    about_steps = {prop.name: prop for prop in promises.PROPERTIES if isinstance(prop, StepProperty)}
    assert about_steps.keys() == WRONG_STEPS.keys()
    for name, (step, memories) in WRONG_STEPS.items():
        found = [
            prop(*step)
            for choices in about_steps[name].bindings(UNDISTURBED)
            for prop in [about_steps[name].bind({"rules": Rules(), "bounds": UNDISTURBED, **memories}, choices)]
        ]
        assert any(found), name
        still = stepped("coordinator_failover", stable(), stable())
        quiet = [
            about_steps[name].bind({"rules": Rules(), "bounds": UNDISTURBED, **memories}, choices)(*still)
            for choices in about_steps[name].bindings(UNDISTURBED)
        ]
        assert not any(quiet), name


def test_a_record_does_not_go_back() -> None:
    """The coordinator's epoch of a member goes back only where it leaves."""
    back = put(stable(), members={0: Member(2, 2, MemberState.STABLE, (2, NOT_HELD), NOTHING)})
    left = put(stable(), members={0: Member(STATIC_LEAVE_EPOCH, 2, MemberState.STABLE, (0, NOT_HELD), NOTHING)})
    still = Step("coordinator_failover", {})
    assert [any(answers(promises.member_epoch_order, UNDISTURBED, stable(), still, after)) for after in (back, left)] == [True, False]


def test_observers_remember() -> None:
    """Answers count from one that is handled to one that is heard; the epoch before is the last that differs."""
    missed = promises.MISSED_ANSWERS
    handled, heard = Step("coordinator_handle_heartbeat", {"member": 1}), Step("client_receive_response", {"member": 1})
    lost = Step("lose_heartbeat", {"member": 1})
    memory = missed.initial(stable())
    counts = []
    for step in (handled, lost, handled, handled, heard):
        memory = missed.observe(memory, stable(), step, stable())
        counts.append(memory[1])
    assert counts == [1, 1, 2, 2, 0]
    moved = put(stable(), members={0: Member(5, 3, MemberState.STABLE, (2, NOT_HELD), NOTHING), 1: None})
    assert promises.LAST_OTHER_EPOCH.observe((2, 2), stable(), handled, moved) == (3, 2)
    assert promises.LAST_OTHER_EPOCH.initial(stable()) == (NOT_HELD, NOT_HELD)


@pytest.mark.parametrize("action", ["client_reconcile", "client_receive_response"])
def test_a_group_whose_members_do_not_go_on_never_becomes_stable(action: str) -> None:
    """Without one of the members' actions neither can the group become stable, nor does it at last."""
    full = build(bounds=SMALLEST)
    less = evolve(full, actions=tuple(act for act in full.actions if act.name != action))
    found = judged(less, promises.group_can_stabilise, evolve(promises.group_stabilises, weak=("client_send_heartbeat",)))
    assert [one.verdict for one in found.results] == [Verdict.VIOLATED, Verdict.VIOLATED]


# -- scopes too large to exhaust --

WALKED = (
    promises.owner_is_known,
    promises.one_owner,
    promises.coordinator_is_its_log,
    promises.legal_target_assignment,
    promises.valid_member_epoch,
    promises.valid_member_state,
    promises.one_member_an_instance,
    promises.group_epoch_order,
    promises.member_epoch_order,
    promises.commits_of_holders,
    promises.no_needless_fencing,
)


def walk(preset: str, examples: int) -> None:
    """Walk the large scope at random."""
    found = stateful(build(preset, LARGE), WALKED)
    run_state_machine_as_test(found, settings=repeatable(examples=examples, steps=60))


def test_six_members_share_twenty_partitions() -> None:
    """Random runs of static and dynamic members, with much that goes wrong, break nothing: a sample, not a proof."""
    walk("kip_848", examples=5)


@pytest.mark.exhaustive
def test_six_members_share_twenty_partitions_for_longer() -> None:
    """More of the same."""
    walk("kip_848", examples=150)


def test_random_runs_find_what_is_wrong() -> None:
    """A run under wrong rules breaks something soon."""
    with pytest.raises(ViolatedError):
        walk("assign_without_wait_for_release", examples=20)
