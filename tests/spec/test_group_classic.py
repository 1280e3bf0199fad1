# SPDX-License-Identifier: Apache-2.0
"""The classic group protocol keeps its promises, and each promise can be broken.

All counts and depths are known from our own engines alone; those of the large scopes stand in ``spec/group_classic/scopes.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import asdict, evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.stateful import repeatable, stateful
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.group_classic.coordinator import coordinator_handle_join, coordinator_handle_sync
from hwmark.model.group_classic.machine import machine
from hwmark.model.group_classic.rules import Rules
from hwmark.model.group_classic.state import (
    NOBODY,
    Assignor,
    Bounds,
    Config,
    GroupState,
    MemberState,
    Request,
    State,
    consumers,
    partitions,
)
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.spec.group_classic.described import DESCRIBED
from hwmark.spec.group_classic.lessons import LESSONS
from hwmark.spec.group_classic.presets import PRESETS
from hwmark.spec.group_classic.properties import PROPERTIES
from hwmark.spec.group_classic.rows import NEVER, ROWS, TWO
from hwmark.spec.group_classic.scopes import COOPERATIVE, COOPERATIVE_STATIC, EAGER, EAGER_STATIC, UPGRADE
from hwmark.spec.group_classic.standing import owns
from hwmark.spec.property import Property, Reachable, Witness, invariant, reachable, witness
from hwmark.spec.row import Row

SAFE = tuple(prop for prop in PROPERTIES if prop.kind in ("invariant", "step") and not prop.observers)
"""What is asked without memory; see ``test_ownership_seen`` for the rest."""
GOALS = tuple(prop for prop in PROPERTIES if isinstance(prop, Reachable))
RIGHT = PRESETS["group_classic"]


def build(preset: str = "group_classic", config: Config = COOPERATIVE, bounds: Bounds = TWO) -> Machine[State]:
    """Return the machine under the rules of a preset."""
    return machine(PRESETS[preset], config, bounds)


def asked_in(bounds: Bounds) -> list[Property]:
    """Return the promises that need no memory, and the goals that are to be met in a scope."""
    return [prop for prop in PROPERTIES if not prop.observers and not (isinstance(prop, Reachable) and not prop.expected_in(bounds))]


def judged(explored: Machine[State], properties: Sequence[Property], **options: Any) -> Exploration:
    """Explore all reachable states and judge the properties there."""
    return explore(explored, properties, Options(keep_going=True, **options))


def broken(explored: Machine[State], properties: Sequence[Property] = SAFE) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in judged(explored, properties).results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


@pytest.mark.parametrize("preset", ["group_classic", "kafka_3_5"])
@pytest.mark.parametrize(
    ("config", "states"),
    [(EAGER, 184), (COOPERATIVE, 256), (UPGRADE, 220), (EAGER_STATIC, 148), (COOPERATIVE_STATIC, 220), (Config(), 236)],
)
def test_every_promise_holds_while_nothing_goes_wrong(preset: str, config: Config, states: int) -> None:
    """Two consumers share two partitions, in whatever order they join; what Kafka decides otherwise does not matter then."""
    properties = asked_in(TWO)
    exploration = judged(build(preset, config), properties)
    assert (exploration.verdict, exploration.states) == (Verdict.HOLDS, states)


@pytest.mark.parametrize(("kind", "states"), [("stops", 54), ("pauses", 28), ("failovers", 32), ("replacements", 196), ("losses", 34)])
def test_every_promise_holds_whatever_goes_wrong_once(kind: str, states: int) -> None:
    """For a static member alone, any kind of perturbation."""
    bounds = Bounds(consumers=1, partitions=1, **{**NEVER, kind: 1})
    properties = asked_in(bounds)
    exploration = judged(build(config=Config(), bounds=bounds), properties)
    assert (exploration.verdict, exploration.states) == (Verdict.HOLDS, states)


def test_every_action_is_taken() -> None:
    """With one of each perturbation no action is idle."""
    bounds = Bounds(partitions=1, replacements=1)
    taken = dict.fromkeys((act.name for act in build().actions), 0)
    for config in (EAGER_STATIC, EAGER):
        for kind in ("stops", "pauses", "failovers", "replacements", "losses"):
            one = evolve(bounds, **{other: int(other == kind) for other in ("stops", "pauses", "failovers", "replacements", "losses")})
            found = judged(build(config=config, bounds=evolve(one, consumers=1)), ()).taken
            taken = {name: count + found[name] for name, count in taken.items()}
    assert [name for name, count in taken.items() if not count] == []


@pytest.mark.parametrize(("config", "generations"), [(EAGER, 2), (COOPERATIVE, 3)], ids=["eager", "cooperative"])
def test_generations_grow_only_with_what_happens(config: Config, generations: int) -> None:
    """Two consumers that join one after the other need a generation each, and one more for a partition to move in two steps."""

    @invariant(sources=("S8",), most=lambda _: (generations, generations - 1))
    def generation_is_at_most(state: State, *, most: int) -> Witness | None:
        """No generation is higher."""
        return None if state.group.generation <= most else witness(generation=state.group.generation)

    (result,) = explore(build(config=config), [generation_is_at_most]).results
    assert dict(result.witness or {}) == {"most": generations - 1, "generation": generations}


def test_a_zombie_consumes_what_somebody_else_owns() -> None:
    """What is promised of owners is not promised of zombies, and cannot be: they hear nothing."""

    @reachable(sources=("S8",), scope={}, zombie=consumers, owner=consumers, partition=partitions)
    def zombie_consumes(state: State, *, zombie: int, owner: int, partition: int) -> bool:
        """A zombie consumes another one's partition."""
        return zombie != owner and partition in state.consumers[zombie].owned and owns(state, owner, partition)

    bounds = Bounds(partitions=1, **{**NEVER, "pauses": 1})
    (result,) = explore(build(config=EAGER, bounds=bounds), [zombie_consumes]).results
    assert (result.verdict, result.depth) == (Verdict.HOLDS, 18)


# -- the mutants --


@pytest.mark.parametrize("row", [row for row in ROWS if row.quick and not row.control], ids=lambda row: row.id)
def test_mutants(row: Row) -> None:
    """Each rule that is taken away breaks what its row says, in as many steps."""
    named = [prop for prop in PROPERTIES if prop.name in row.breaks]
    assert broken(build(str(row.rules_off), row.config or Config(), row.bounds), named) == dict(row.breaks)


JOIN_STATIC = ["consumer_join(consumer=0)", "coordinator_handle_join(consumer=0)", "coordinator_rebalance_timeout()"]
SYNC_ALONE = [
    "consumer_handle_join(consumer=0)",
    "coordinator_handle_sync(consumer=0)",
    "coordinator_commit_assignment()",
    "consumer_handle_sync(consumer=0)",
]


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        (
            "replace_only_in_stable",
            [
                "consumer_join(consumer=0)",
                "coordinator_handle_join(consumer=0)",
                "operator_replace(consumer=0)",
                "consumer_join(consumer=0)",
                "coordinator_handle_join(consumer=0)",
            ],
        ),
        (
            "static_rejoin_in_memory",
            [
                *JOIN_STATIC,
                *SYNC_ALONE[:3],
                "consumer_crash(consumer=0)",
                "operator_restart(consumer=0)",
                "consumer_join(consumer=0)",
                "coordinator_handle_join(consumer=0)",
            ],
        ),
        (
            "commits_unfenced",
            [*JOIN_STATIC, *SYNC_ALONE, "coordinator_expire_session(member=0)", "consumer_commit(consumer=0, partition=0)"],
        ),
        (
            "no_instance_fence",
            [
                *JOIN_STATIC,
                *SYNC_ALONE,
                "operator_replace(consumer=0)",
                "consumer_join(consumer=0)",
                "coordinator_handle_join(consumer=0)",
                "consumer_handle_join(consumer=0)",
                "coordinator_handle_sync(consumer=0)",
                "consumer_handle_sync(consumer=0)",
                "consumer_commit(consumer=1, partition=0)",
            ],
        ),
    ],
)
def test_counterexamples(name: str, steps: list[str]) -> None:
    """The kept runs are these; the others are compared with what is shipped."""
    lesson = LESSONS[name]
    named = [prop for prop in PROPERTIES if prop.name == lesson.property]
    (result,) = explore(build(lesson.preset, lesson.config or Config(), lesson.bounds), named).results
    assert result.run is not None
    assert [str(step) for step in result.run.steps] == steps


def test_presets_take_one_rule_away() -> None:
    """Kafka's own rules differ in three decisions from the right ones, each other preset in one."""
    right = asdict(RIGHT)
    changed = {name: sum(value is not right[rule] for rule, value in asdict(rules).items()) for name, rules in PRESETS.items()}
    assert changed == {name: {"group_classic": 0, "kafka_3_5": 3}.get(name, 1) for name in PRESETS}
    assert Rules() == RIGHT


# -- each other promise can be broken --


@action(consumer=consumers, partition=partitions)
@kafka("none", versions="none", simplified="a mistake for the tests")
def consumer_helps_itself(state: State, *, consumer: int, partition: int) -> State | None:
    """A stable consumer takes a partition that nobody gave it."""
    mine = state.consumers[consumer]
    return put(state, consumers={consumer: put(mine, owned=mine.owned | {partition})}) if mine.phase is MemberState.STABLE else None


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def coordinator_forgets_the_leader(state: State) -> State | None:
    """The coordinator has no leader any more."""
    return put(state, group=put(state.group, leader=NOBODY))


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def coordinator_counts_anew(state: State) -> State | None:
    """The coordinator begins with the first generation again."""
    return put(state, group=put(state.group, generation=0))


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def coordinator_prefers_range(state: State) -> State | None:
    """The coordinator chooses an assignor whatever members list."""
    return put(state, group=put(state.group, assignor=Assignor.RANGE)) if state.group.assignor else None


@action(consumer=consumers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def coordinator_forgets_an_assignment(state: State, *, consumer: int) -> State | None:
    """The coordinator takes a member's assignment away without telling anybody."""
    member = state.members[consumer]
    return None if member is None else put(state, members={consumer: put(member, assignment=frozenset())})


@action(consumer=consumers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def consumer_asks_twice(state: State, *, consumer: int) -> State | None:
    """A stable consumer sends another SyncGroup."""
    return put(state, requests={consumer: Request.SYNC}) if state.consumers[consumer].phase is MemberState.STABLE else None


@action(consumer=consumers)
@kafka("none", versions="none", simplified="a mistake for the tests")
def consumer_forgets_its_id(state: State, *, consumer: int) -> State | None:
    """A consumer keeps its generation, but not its member id."""
    return put(state, consumers={consumer: put(state.consumers[consumer], has_member_id=False)})


@pytest.mark.parametrize(
    ("mistake", "name", "depth"),
    [
        (consumer_helps_itself, "one_owner", 13),
        (consumer_helps_itself, "settled_group_owns_all", 13),
        (consumer_helps_itself, "commits_are_of_the_owner", 14),
        (consumer_helps_itself, "refines_ownership", 10),
        (consumer_helps_itself, "commits_are_of_the_grant", 11),
        (coordinator_forgets_the_leader, "structure", 3),
        (coordinator_forgets_the_leader, "group_is_replayed", 7),
        (coordinator_counts_anew, "generation_order", 4),
        (coordinator_prefers_range, "assignor_is_common", 4),
        (coordinator_forgets_an_assignment, "everything_is_assigned", 7),
        (coordinator_forgets_an_assignment, "members_are_replayed", 7),
        (consumer_asks_twice, "consumer_structure", 8),
        (consumer_forgets_its_id, "consumer_structure", 5),
    ],
    ids=lambda value: value.name if isinstance(value, Action) else str(value),
)
def test_mistakes_are_found(mistake: Action, name: str, depth: int) -> None:
    """A machine with one mistaken action more breaks what it touches."""
    wrong = build(config=COOPERATIVE_STATIC)
    (result,) = explore(evolve(wrong, actions=(*wrong.actions, mistake)), [prop for prop in PROPERTIES if prop.name == name]).results
    assert (result.verdict, result.depth) == (Verdict.VIOLATED, depth)


RIGHT_JOIN = coordinator_handle_join.function


def instead(wrong: Machine[State], spoil: Callable[[State, State, int], State]) -> Machine[State]:
    """Return a machine in which the coordinator spoils what handling a JoinGroup should lead to."""

    def mistaken(state: State, rules: Rules, config: Config, *, consumer: int) -> State | None:
        after = RIGHT_JOIN(state, rules, config, consumer=consumer)
        return None if after is None else spoil(state, after, consumer)

    mistaken.__name__ = coordinator_handle_join.name
    mistake = evolve(coordinator_handle_join, function=mistaken)
    return evolve(wrong, actions=tuple(mistake if one is coordinator_handle_join else one for one in wrong.actions))


def quietly(before: State, after: State, _consumer: int) -> State:
    """A stable group stays stable, whoever joins."""
    return put(after, group=put(after.group, phase=GroupState.STABLE)) if before.group.phase is GroupState.STABLE else after


def with_nothing(_before: State, after: State, consumer: int) -> State:
    """Nobody has an assignment after it has joined."""
    member = after.members[consumer]
    return after if member is None else put(after, members={consumer: put(member, assignment=frozenset())})


@pytest.mark.parametrize(
    ("spoil", "name", "config", "bounds", "depth"),
    [
        (quietly, "new_members_rebalance", COOPERATIVE, TWO, 12),
        (with_nothing, "static_members_return_quietly", Config(), Bounds(consumers=1, partitions=1, **{**NEVER, "stops": 1}), 10),
    ],
    ids=["new", "static"],
)
def test_joining_wrongly_is_found(spoil: Any, name: str, config: Config, bounds: Bounds, depth: int) -> None:
    """New members make the group rebalance, and static members keep what they had."""
    (result,) = explore(instead(build(config=config, bounds=bounds), spoil), [prop for prop in SAFE if prop.name == name]).results
    assert (result.verdict, result.depth) == (Verdict.VIOLATED, depth)


def test_without_assignments_nothing_converges() -> None:
    """If the coordinator handles no SyncGroup, nobody gets its assignment, neither perhaps nor at last."""
    whole = build(bounds=evolve(TWO, consumers=1))
    deaf = evolve(whole, actions=tuple(one for one in whole.actions if one is not coordinator_handle_sync))
    ends = [prop for prop in PROPERTIES if prop.kind == "converges"]
    ends += [evolve(prop, weak=("coordinator_handle_join", "consumer_handle_join")) for prop in PROPERTIES if prop.kind == "leads_to"]
    assert broken(deaf, ends) == {"all_partitions_owned": 0, "joins_end": 4}


def test_joins_end_only_if_everybody_goes_on() -> None:
    """Without fairness to the consumers they may wait for ever."""
    (ends,) = (prop for prop in PROPERTIES if prop.name == "joins_end")
    unfair = evolve(ends, weak=("coordinator_handle_join", "coordinator_handle_sync"))
    assert list(broken(build(bounds=evolve(TWO, consumers=1)), [unfair])) == ["joins_end"]


def test_the_small_scope_is_small() -> None:
    """The default suite explores it, and asks every promise but goals of other perturbations."""
    exploration = explore(build(config=Config(), bounds=DESCRIBED.small), ())
    assert exploration.states == 5483


# -- larger scopes: all but these are rows of the catalogue --


@pytest.mark.parametrize("static_members", [0, 3])
def test_six_consumers_of_twenty_partitions(static_members: int) -> None:
    """Random runs in a scope far too large to exhaust break nothing."""
    bounds = Bounds(
        consumers=6, partitions=20, perturbations=4, stops=4, pauses=4, failovers=2, losses=4, replacements=2 if static_members else 0
    )
    case = stateful(machine(RIGHT, evolve(COOPERATIVE, static_members=static_members), bounds), SAFE + GOALS).TestCase
    case.settings = repeatable(examples=5, steps=120)
    case("runTest").runTest()
