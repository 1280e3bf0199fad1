# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``placement`` machine, under each rule; who is elected, beside what ``partition`` decides; and the placer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from attrs import evolve

from hwmark.model.machine import Machine, Step
from hwmark.model.partition import changes, decisions
from hwmark.model.placement.admin_utils import assign_replicas
from hwmark.model.placement.elections import KAFKAS_PLACER, decided, placement, preferred, with_back, without
from hwmark.model.placement.machine import machine
from hwmark.model.placement.placer import Refusal, Topic, UsableBroker, place
from hwmark.model.placement.rules import Assignment, Choice, PlacerRules, Preferred, Returning, Rules
from hwmark.model.placement.state import NOBODY, Bounds, Config, Partition, State, alive, exists, initial

KAFKA = Rules()
WIDE = Bounds(brokers=3, partitions=3, failures=3)
THREE, TWO, BY_HAND = Config(), Config(replication_factor=2), Config(auto_leader_rebalance=False, operator=True)


def step(explored: Machine[State], state: State, written: str) -> State | None:
    """Take a step that is written as the action and the values of its choices."""
    name, *values = written.split()
    choices = next(act.domains for act in explored.actions if act.name == name)
    wanted = Step(name, dict(zip(choices, map(int, values), strict=True)))
    return next(take for one, take in explored.instances() if one == wanted)(state)


def run(*steps: str, rules: Rules = KAFKA, config: Config = THREE, bounds: Bounds = WIDE) -> State:
    """Return the state after these steps."""
    explored, state = machine(rules, config, bounds), initial(bounds)
    for number, written in enumerate(steps):
        after = step(explored, state, written)
        assert after is not None, f"step {number}, {written}, is not enabled"
        state = after
    return state


def refused(written: str, state: State, rules: Rules = KAFKA, config: Config = THREE, bounds: Bounds = WIDE) -> bool:
    """Whether a step is not enabled."""
    return step(machine(rules, config, bounds), state, written) is None


def leaders(state: State) -> tuple[int, ...]:
    """Return who leads each partition."""
    return tuple(one.leader for one in state.partitions)


CREATED = ("create_topic 0 0",)
FAILED = (*CREATED, "fence_broker 0")
BACK = (*FAILED, "unfence_broker 0")

# -- the topic --


def test_a_topic_is_created_in_stripes() -> None:
    """Each partition begins with the next broker; all replicas are in sync, and the first leads."""
    assert not exists(run())
    state = run(*CREATED)
    assert exists(state)
    assert [one.replicas for one in state.partitions] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert {one.isr for one in state.partitions} == {frozenset({0, 1, 2})}
    assert leaders(state) == (0, 1, 2)
    assert leaders(run("create_topic 2 0")) == (2, 0, 1)
    assert refused("create_topic 0 0", state)


def test_the_second_stripe_is_shuffled() -> None:
    """The number that is drawn in shuffles matters once each broker had its turn; it leads once more in either case."""
    six = evolve(WIDE, partitions=6)
    found = {leaders(run(f"create_topic 0 {shuffle}", bounds=six)) for shuffle in range(3)}
    assert found == {(0, 1, 2, 1, 2, 0), (0, 1, 2, 0, 2, 1), (0, 1, 2, 1, 0, 2)}


def test_the_same_order_for_every_partition() -> None:
    """Under that rule the first broker leads everything."""
    state = run(*CREATED, rules=Rules(assignment=Assignment.SAME_ORDER))
    assert leaders(state) == (0, 0, 0)
    few = Config(replication_factor=4)
    assert placement(initial(WIDE), Rules(assignment=Assignment.SAME_ORDER), few, WIDE, (0, 0)) is Refusal.TOO_FEW_BROKERS


def test_in_rounds_the_followers_change() -> None:
    """Under the rule of ZooKeeper's controllers the second number is the gap between leader and followers; it grows each round."""
    rounds, six = Rules(assignment=Assignment.IN_ROUNDS), evolve(WIDE, partitions=6)
    for start, shuffle, first in (
        (0, 0, [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]),
        (1, 1, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 0), (0, 1)]),
    ):
        state = run(f"create_topic {start} {shuffle}", rules=rounds, config=TWO, bounds=six)
        assert [one.replicas for one in state.partitions] == first


def test_brokers_that_are_away_lead_nothing_at_first() -> None:
    """As many may be away as bounds say; a replica may be put there, and is not in sync."""
    assert refused("fence_broker 0", run())
    late = evolve(WIDE, late_brokers=1)
    state = run("fence_broker 0", "create_topic 0 0", bounds=late)
    assert leaders(state) == (1, 2, 2)
    assert {one.isr for one in state.partitions} == {frozenset({1, 2})}
    assert refused("fence_broker 1", run("fence_broker 0", bounds=late), bounds=late)
    assert refused("create_topic 0 0", run("fence_broker 0", bounds=late))


def test_more_replicas_than_brokers_are_refused() -> None:
    """There is no topic then."""
    assert refused("create_topic 0 0", run(), config=Config(replication_factor=4))


# -- brokers --


def test_the_first_eligible_replica_takes_over() -> None:
    """It leads what the failed broker led; others keep what they have, and the failed one leaves each ISR."""
    state = run(*FAILED)
    assert leaders(state) == (1, 1, 2)
    assert {one.isr for one in state.partitions} == {frozenset({1, 2})}
    assert (state.fenced, state.failures) == ((True, False, False), 1)
    assert refused("fence_broker 0", state)
    assert refused("fence_broker 1", state, bounds=evolve(WIDE, failures=1))
    assert leaders(run(*FAILED, rules=Rules(choice=Choice.LAST))) == (2, 1, 2)


def test_the_least_loaded_broker_takes_over() -> None:
    """Partitions are decided one after another, and each decision counts for the next."""
    four = evolve(WIDE, partitions=4)
    rules = Rules(choice=Choice.LEAST_LOADED)
    assert leaders(run("create_topic 0 2", bounds=four)) == (0, 1, 2, 1)
    assert leaders(run("create_topic 0 2", "fence_broker 0", bounds=four)) == (1, 1, 2, 1)
    assert leaders(run("create_topic 0 2", "fence_broker 0", rules=rules, bounds=four)) == (2, 1, 2, 1)
    left = tuple(Partition((0, broker, 3 - broker), frozenset({1, 2}), NOBODY) for broker in (1, 1, 2))
    assert [one.leader for one in decided(rules, left, (1, 2))] == [1, 2, 2]
    before = Rules(choice=Choice.LEAST_LOADED_BEFORE)
    assert [one.leader for one in decided(before, left, (1, 2))] == [1, 1, 2]


def test_the_last_in_sync_stays_so() -> None:
    """Once the last member fails nobody leads, and only that one leads again."""
    state = run(*FAILED, "fence_broker 1", "fence_broker 2")
    assert (leaders(state), {one.isr for one in state.partitions}) == ((NOBODY,) * 3, {frozenset({2})})
    steps = (*FAILED, "fence_broker 1", "fence_broker 2", "unfence_broker 0")
    assert leaders(run(*steps)) == (NOBODY,) * 3
    assert leaders(run(*steps, "unfence_broker 2")) == (2, 2, 2)
    assert leaders(run(*steps, "unfence_broker 2", rules=Rules(returning=Returning.NOTHING))) == (NOBODY,) * 3


def test_a_broker_that_is_back_leads_nothing_yet() -> None:
    """It is in no ISR before it has caught up, partition by partition."""
    state = run(*BACK)
    assert (leaders(state), state.fenced) == ((1, 1, 2), (False,) * 3)
    assert run(*BACK, "expand_isr 0 0").partitions[0].isr == {0, 1, 2}
    assert refused("expand_isr 0 1", state)
    assert refused("expand_isr 0 0", run(*FAILED))
    assert refused("expand_isr 0 0", run(*CREATED))
    assert refused("expand_isr 0 0", run())
    assert refused("expand_isr 0 2", run(*CREATED, config=TWO), config=TWO)
    assert refused("expand_isr 0 0", run(*FAILED, "fence_broker 1", "fence_broker 2", "unfence_broker 0"))
    assert refused("unfence_broker 0", state)
    assert refused("unfence_broker 0", run(*FAILED), bounds=evolve(WIDE, returns=0))


# -- preferred elections --


def test_the_controller_gives_back_what_it_may() -> None:
    """All partitions at once whose preferred leader is there and in sync."""
    synced = run(*BACK, "expand_isr 0 0")
    assert leaders(run(*BACK, "expand_isr 0 0", "balance_leaders")) == (0, 1, 2)
    assert refused("balance_leaders", run(*BACK))
    assert refused("balance_leaders", run(*CREATED))
    assert refused("balance_leaders", run())
    assert refused("balance_leaders", synced, config=BY_HAND)
    at_once = Rules(preferred=Preferred.ALIVE)
    assert leaders(run(*BACK, "balance_leaders", rules=at_once)) == (0, 1, 2)
    assert refused("balance_leaders", run(*FAILED), at_once)


def test_an_operator_asks_for_one_partition() -> None:
    """If there is one, and the partition is not led by whom it should be, and can be."""
    steps = (*BACK, "expand_isr 0 0")
    assert leaders(run(*steps, "elect_preferred_leader 0", config=BY_HAND)) == (0, 1, 2)
    assert refused("elect_preferred_leader 0", run(*steps))
    assert refused("elect_preferred_leader 1", run(*steps, config=BY_HAND), config=BY_HAND)
    assert refused("elect_preferred_leader 0", run(*BACK, config=BY_HAND), config=BY_HAND)
    assert refused("elect_preferred_leader 0", run(config=BY_HAND), config=BY_HAND)


# -- as ``partition`` decides --


def reachable(explored: Machine[State]) -> Iterator[State]:
    """Yield every reachable state."""
    found, instances = dict.fromkeys(explored.initial), [take for _, take in explored.instances()]
    waiting = list(found)
    while waiting:
        state = waiting.pop()
        yield state
        for after in filter(None, (take(state) for take in instances)):
            if after not in found:
                found[after] = None
                waiting.append(after)


def as_partition(partition: Partition) -> decisions.PartitionState:
    """Return a partition as the machine of one partition knows it."""
    return decisions.PartitionState(partition.replicas, partition.isr, leader=partition.leader)


def plain(partition: decisions.PartitionState | None, before: Partition) -> Partition:
    """Return a partition after a change, if there was one."""
    return before if partition is None else Partition(partition.replicas, partition.isr, partition.leader)


@pytest.mark.parametrize("config", [THREE, TWO])
def test_each_partition_is_decided_as_if_it_were_alone(config: Config) -> None:
    """In every reachable state each change is what ``partition`` decides, which agrees with Kafka's own classes."""
    asked_for = machine(KAFKA, evolve(config, operator=True), WIDE).instances()
    elections = [take for one, take in asked_for if one.action == "elect_preferred_leader"]
    for state in filter(exists, reachable(machine(KAFKA, config, evolve(WIDE, failures=2)))):
        by = decisions.Circumstances(frozenset(alive(state)), elr_enabled=False)
        for broker, is_fenced in enumerate(state.fenced):
            changed, cause = (with_back, changes.broker_unfenced) if is_fenced else (without, changes.broker_fenced)
            expected = tuple(plain(cause(as_partition(one), broker, by), one) for one in state.partitions)
            assert changed(KAFKA, state, broker) == expected
        asked = evolve(by, election=decisions.ElectionType.PREFERRED)
        for number, one in enumerate(state.partitions):
            after, elected = elections[number](state), changes.elect_leader(as_partition(one), asked)
            assert (after is None) is (elected is None)
            assert after is None or plain(elected, one) == preferred(one) == after.partitions[number]


# -- where ZooKeeper's controllers put replicas --


def test_racks_alternate() -> None:
    """Brokers stand in one list, one of each rack in turn; racks without a replica come first."""
    uneven = Topic(brokers("aabbbc"), 2, 3)
    assert assign_replicas(uneven) == ((0, 2, 5), (2, 5, 1))
    assert assign_replicas(evolve(uneven, draws=(1, 1))) == ((2, 0, 5), (5, 0, 2))
    assert assign_replicas(evolve(uneven, brokers=brokers("a", ""), replication_factor=1)) == ((0,), (0,))


@pytest.mark.parametrize(
    ("factor", "racks", "refusal"), [(0, "ab", "NOT_POSITIVE"), (3, "ab", "TOO_FEW_BROKERS"), (2, "a.", "RACKS_INCOMPLETE")]
)
def test_what_could_not_be_assigned_is_refused(factor: int, racks: str, refusal: str) -> None:
    """In this order: a replication factor that is none, too few brokers, racks of some brokers only; a fenced broker counts as gone."""
    assert assign_replicas(Topic(brokers(racks), 1, factor)) is Refusal[refusal]
    assert assign_replicas(Topic(brokers("ab", fenced="1"), 1, 2)) is Refusal.TOO_FEW_BROKERS


# -- the placer --


def brokers(racks: str, fenced: str = "") -> tuple[UsableBroker, ...]:
    """Return brokers whose racks have these letters (a point for none), of which some are fenced."""
    return tuple(UsableBroker(broker, None if rack == "." else rack, str(broker) in fenced) for broker, rack in enumerate(racks))


def placed(racks: str, partitions: int, factor: int, *draws: int, fenced: str = "", rules: PlacerRules = KAFKAS_PLACER) -> object:
    """Return where replicas are put."""
    return place(Topic(brokers(racks, fenced), partitions, factor, draws), rules)


def test_racks_and_their_brokers_take_turns() -> None:
    """Of three racks of three each partition gets one broker a rack; Kafka's turns come round to the same leaders."""
    kafkas = ((0, 3, 6), (4, 7, 1), (8, 2, 5), (0, 3, 6))
    assert placed("aaabbbccc", 4, 3) == kafkas
    right = placed("aaabbbccc", 9, 3, rules=PlacerRules())
    assert isinstance(right, tuple)
    assert sorted(replicas[0] for replicas in right) == list(range(9))
    assert placed("...", 3, 2) == ((0, 1), (1, 2), (2, 0))
    assert placed("...", 3, 2, 1) == ((1, 2), (2, 0), (0, 1))


def test_fenced_brokers_come_last_and_never_first() -> None:
    """A rack whose brokers are all fenced gives no leader, but replicas; elsewhere they fill up."""
    assert placed("aabb", 2, 2, fenced="01") == ((2, 0), (3, 1))
    assert placed("aabb", 2, 4, fenced="13") == ((0, 2, 1, 3), (2, 0, 3, 1))
    assert placed(".", 3, 1) == ((0,),) * 3


@pytest.mark.parametrize(("factor", "fenced", "refusal"), [(0, "", "NOT_POSITIVE"), (3, "01", "ALL_FENCED"), (3, "", "TOO_FEW_BROKERS")])
def test_what_cannot_be_placed_is_refused(factor: int, fenced: str, refusal: str) -> None:
    """In this order: a replication factor that is none, nobody who may lead, too few brokers."""
    assert placed("ab", 1, factor, fenced=fenced) is Refusal[refusal]
    assert placed("", 1, 1) is Refusal.ALL_FENCED


def test_the_rules_differ_only_where_they_say_so() -> None:
    """Without racks, and with nobody fenced, leaders and followers have the same turns, and lists are whole."""
    for count, partitions, factor, draw in product(range(2, 5), range(1, 7), range(1, 3), range(2)):
        answers = {rules.leading: placed("." * count, partitions, factor, draw, rules=rules) for rules in (KAFKAS_PLACER, PlacerRules())}
        leading = [[replicas[0] for replicas in answer] for answer in answers.values() if isinstance(answer, tuple)]
        assert leading[0] == leading[1]


@pytest.mark.parametrize(("name", "value"), [("brokers", 0), ("partitions", 0), ("failures", -1), ("returns", 10), ("late_brokers", 10)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})
