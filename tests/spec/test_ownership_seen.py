# SPDX-License-Identifier: Apache-2.0
"""Both group machines refine ``ownership``, and what is remembered for that agrees with what groups do.

All counts are known from our own engines alone; those of larger scopes stand in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as in_tables
from hwmark.checker.verdict import Verdict
from hwmark.model.group_classic.machine import machine as classic
from hwmark.model.group_classic.state import Bounds, Config
from hwmark.model.group_classic.state import consumers as classic_members
from hwmark.model.group_classic.state import partitions as classic_partitions
from hwmark.model.group_consumer.machine import machine as consumer
from hwmark.model.group_consumer.state import Bounds as ConsumerBounds
from hwmark.model.group_consumer.state import Config as ConsumerConfig
from hwmark.model.group_consumer.state import partitions as consumer_partitions
from hwmark.model.group_consumer.state import processes
from hwmark.model.machine import Machine, Step
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, State
from hwmark.spec import ownership_seen
from hwmark.spec.group_classic import refinement as of_classic
from hwmark.spec.group_classic.presets import PRESETS as CLASSIC
from hwmark.spec.group_classic.rows import NEVER, TWO
from hwmark.spec.group_classic.scopes import COOPERATIVE, COOPERATIVE_STATIC, EAGER, EAGER_STATIC, UPGRADE
from hwmark.spec.group_consumer import refinement as of_consumer
from hwmark.spec.group_consumer.presets import PRESETS as CONSUMER
from hwmark.spec.group_consumer.scopes import UNDISTURBED
from hwmark.spec.ownership_seen import Belief, Course, Owner, Seen, believing, belonging, renamed, unseen
from hwmark.spec.property import Witness, invariant, witness

ENGINES = [explore, in_tables]
ASKED_CLASSIC = (of_classic.refines_ownership, of_classic.commits_are_of_the_grant)
ASKED_CONSUMER = (of_consumer.refines_ownership, of_consumer.commits_are_of_the_grant)


def alone(**kinds: int) -> Bounds:
    """Return a scope of one static member with one partition, in which so much may go wrong."""
    return Bounds(consumers=1, partitions=1, **{**NEVER, **kinds})


# -- the right rules --


@pytest.mark.parametrize("engine", ENGINES, ids=["reference", "tables"])
@pytest.mark.parametrize(
    ("config", "bounds", "states"),
    [
        (EAGER, TWO, 206),
        (COOPERATIVE, TWO, 278),
        (UPGRADE, TWO, 242),
        (EAGER_STATIC, TWO, 170),
        (COOPERATIVE_STATIC, TWO, 242),
        (Config(), alone(stops=1), 68),
        (Config(), alone(pauses=1), 35),
        (Config(), alone(failovers=1), 32),
        (Config(), alone(replacements=1), 278),
        (Config(), alone(losses=1), 37),
    ],
)
def test_a_classic_group_refines_ownership(engine: Any, config: Config, bounds: Bounds, states: int) -> None:
    """Each step is one of ownership, and commits are of owners, in exactly as many states with what is remembered."""
    found = engine(classic(CLASSIC["group_classic"], config, bounds), ASKED_CLASSIC, Options(keep_going=True))
    assert (found.verdict, found.states) == (Verdict.HOLDS, states)


@pytest.mark.parametrize("engine", ENGINES, ids=["reference", "tables"])
@pytest.mark.parametrize(
    ("bounds", "states"),
    [
        (UNDISTURBED, 1168),
        (ConsumerBounds(members=1, partitions=1, static_members=1, replacements=1, leaves=1, commits=1), 1426),
    ],
    ids=["undisturbed", "taken over"],
)
def test_a_consumer_group_refines_ownership(engine: Any, bounds: ConsumerBounds, states: int) -> None:
    """The same of the protocol of KIP-848, also where another process takes a static member's place."""
    found = engine(consumer(CONSUMER["kip_848"], ConsumerConfig(), bounds), ASKED_CONSUMER, Options(keep_going=True))
    assert (found.verdict, found.states) == (Verdict.HOLDS, states)


# -- what is remembered --


@invariant(sources=("S8",), observers=(of_classic.SEEN,), member=classic_members, partition=classic_partitions)
def classic_memory_is_true(state: Any, seen: tuple[Seen, ...], *, member: int, partition: int) -> Witness | None:
    """A consumer is remembered to believe that it owns just what it owns, or may still commit."""
    mine = state.consumers[member]
    is_believed = partition < len(seen) and seen[partition].believed(member) != UNKNOWN_GENERATION
    return None if is_believed == (partition in mine.owned | mine.revoking) else witness(consumer=mine)


@invariant(sources=("S8",), observers=(of_consumer.SEEN,), member=processes, partition=consumer_partitions)
def consumer_memory_is_true(state: Any, seen: tuple[Seen, ...], *, member: int, partition: int) -> Witness | None:
    """A member is remembered to believe that it owns just what it consumes."""
    client = state.clients[member]
    is_believed = seen[partition].believed(member) != UNKNOWN_GENERATION
    return None if is_believed == (partition in client.owned) else witness(client=client)


@invariant(sources=("S8",), observers=(of_classic.SEEN,), partition=classic_partitions)
def classic_owner_is_true(state: Any, seen: tuple[Seen, ...], *, partition: int) -> Witness | None:
    """Whoever the log gives a partition is remembered as its owner."""
    given = [member for member, one in enumerate(state.stored[: len(state.consumers)]) if one and partition in one.assignment]
    if not given or [seen[partition].owner] == given:
        return None
    return witness(given=tuple(given))


@pytest.mark.parametrize(
    ("config", "bounds"),
    [
        (COOPERATIVE, TWO),
        (EAGER, TWO),
        (Config(), alone(replacements=1)),
        (Config(), alone(stops=1, failovers=1, perturbations=2)),
    ],
)
def test_what_is_remembered_of_a_classic_group_is_true(config: Config, bounds: Bounds) -> None:
    """Whom the log gives a partition, and who believes to own it, is remembered in each state as it is there."""
    asked = (classic_memory_is_true, classic_owner_is_true)
    assert explore(classic(CLASSIC["group_classic"], config, bounds), asked, Options(keep_going=True)).verdict is Verdict.HOLDS


def test_what_is_remembered_of_a_consumer_group_is_true() -> None:
    """The same of the protocol of KIP-848."""
    bounds = ConsumerBounds(members=1, partitions=1, static_members=1, replacements=1, perturbations=1, crashes=1, leaves=1, losses=1)
    whole = consumer(CONSUMER["kip_848"], ConsumerConfig(), bounds)
    assert explore(whole, (consumer_memory_is_true,), Options(keep_going=True)).verdict is Verdict.HOLDS


def explanations(explored: Machine[Any], module: Any) -> Iterator[Step]:
    """Yield the steps of ownership that explain each step between reachable states, of the first partition."""
    observer = module.SEEN
    start = (explored.initial[0], observer.initial(explored.initial[0]))
    known, todo = {start}, [start]
    instances = list(explored.instances())
    sight = module.SIGHT
    while todo:
        state, memory = todo.pop()
        for step, take in instances:
            after = take(state)
            if after is None:
                continue
            yield from ownership_seen.explained(sight, memory, state, step, after, 0).steps
            there = (after, observer.observe(memory, state, step, after))
            if there not in known:
                known.add(there)
                todo.append(there)


def kinds(explored: Machine[Any], module: Any) -> set[str]:
    """Return the actions of ownership that occur."""
    return {step.action for step in explanations(explored, module)}


def test_every_action_of_ownership_is_taken() -> None:
    """Groups do everything that ownership allows: nothing holds because it does not occur."""
    every = {"grant", "revoke", "learn", "give_up"}
    assert kinds(classic(CLASSIC["group_classic"], COOPERATIVE, alone(stops=1)), of_classic) == every
    zombies = ConsumerBounds(members=1, partitions=1, expirations=1)
    assert kinds(consumer(CONSUMER["kip_848"], ConsumerConfig(), zombies), of_consumer) == every


# -- what is no refinement --


@pytest.mark.parametrize(
    ("preset", "config", "bounds", "depths"),
    [
        ("cooperative_one_phase", COOPERATIVE, TWO, {"commits_are_of_the_grant": 21}),
        ("eager_without_revoke", EAGER, evolve(TWO, partitions=1), {"commits_are_of_the_grant": 21}),
        ("static_rejoin_in_memory", Config(), alone(stops=1), {"commits_are_of_the_grant": 14}),
        ("no_instance_fence", Config(), alone(replacements=1), {"commits_are_of_the_grant": 11}),
        ("commits_unfenced", Config(), alone(pauses=1), {"commits_are_of_the_grant": 9}),
        ("replace_only_in_stable", Config(), alone(replacements=1), {}),
    ],
)
def test_classic_groups_that_are_no_refinement(preset: str, config: Config, bounds: Bounds, depths: dict[str, int]) -> None:
    """Without a rule that keeps owners apart a classic group does what ownership does not allow; other rules do not matter to it."""
    found = explore(classic(CLASSIC[preset], config, bounds), ASKED_CLASSIC, Options(keep_going=True)).results
    assert {one.name: one.depth for one in found if one.verdict is Verdict.VIOLATED} == depths


@pytest.mark.parametrize(
    ("preset", "bounds", "depths"),
    [
        ("assign_without_wait_for_release", UNDISTURBED, {"refines_ownership": 4}),
        ("bump_epoch_before_revoke", UNDISTURBED, {}),
        ("commit_epoch_unchecked", ConsumerBounds(members=1, partitions=1, expirations=1, commits=1), {"commits_are_of_the_grant": 6}),
    ],
)
def test_consumer_groups_that_are_no_refinement(preset: str, bounds: ConsumerBounds, depths: dict[str, int]) -> None:
    """The same of the protocol of KIP-848."""
    found = explore(consumer(CONSUMER[preset], ConsumerConfig(), bounds), ASKED_CONSUMER, Options(keep_going=True)).results
    assert {one.name: one.depth for one in found if one.verdict is Verdict.VIOLATED} == depths


# -- one step at a time --

FIRST = frozenset({0})


def given(*grants: tuple[int, int], members: int = 2) -> Course:
    """Return the course of a partition that was given to members, each time under a term."""
    course = Course(unseen(members))
    for member, term in grants:
        course = belonging(course, Owner((member,), term))
    return course


def test_a_generation_counts_grants() -> None:
    """Given twice under one term, to whoever took a member's place, a partition has two generations."""
    seen = given((0, 1), (1, 1)).seen
    assert (seen.state.grants, seen.terms, seen.owner, seen.generation) == (((0, 1),), (1, 1), 1, 1)


def test_nothing_changes_without_need() -> None:
    """Who still has a partition is not given it again, and what nobody has is not taken back."""
    course = given((0, 1))
    assert belonging(course, Owner((0,), 2)) == course
    nobody = Course(unseen(2))
    assert belonging(nobody, Owner((), 2)) == nobody
    assert belonging(course, Owner((), 2)).seen.owner == NOBODY


def test_a_partition_has_one_owner() -> None:
    """Nobody has a partition beside another."""
    course = given((0, 1))
    after = belonging(course, Owner((0, 1), 2))
    assert dict((after.refused or witness()).facts) == {"owners": (0, 1)}
    assert after.seen == course.seen


def test_members_believe_what_they_were_told() -> None:
    """A member hears of the last grant of which it was told, late or not, and of none that was not its."""
    course = given((0, 1), (1, 2), (0, 3))
    late = believing(course, Belief(0, FIRST, FIRST, 1), 0)
    assert (late.seen.believed(0), late.refused) == (0, None)
    assert believing(course, Belief(0, FIRST, FIRST, 3), 0).seen.believed(0) == 2
    assert believing(late, Belief(0, FIRST), 0) == late
    assert believing(late, Belief(0, frozenset()), 0).seen.believed(0) == UNKNOWN_GENERATION
    refused = believing(course, Belief(1, FIRST, FIRST, 1), 0).refused
    assert dict((refused or witness()).facts) == {"member": 1, "term": 1, "given": (0, 1, 0)}
    helped_itself = believing(course, Belief(1, FIRST), 0).refused
    assert dict((helped_itself or witness()).facts) == {"member": 1}


def test_nobody_comes_to_believe_in_less() -> None:
    """Whoever knows of a later grant is not told of an earlier one."""
    course = given((0, 1), (1, 2), (0, 3))
    knows = believing(course, Belief(0, FIRST, FIRST, 3), 0)
    refused = believing(knows, Belief(0, FIRST, FIRST, 1), 0)
    assert dict((refused.refused or witness()).facts) == {"action": "learn", "member": 0, "generation": 0}
    assert refused.seen == knows.seen


def test_members_that_change_places() -> None:
    """Whoever goes on as another is remembered as that one."""
    course = believing(given((0, 1)), Belief(0, FIRST, FIRST, 1), 0)
    assert renamed(course.seen, 0, 1) == Seen(State(grants=((1,),), owners=(1,), believed=((UNKNOWN_GENERATION,), (0,))), (1,))
