# SPDX-License-Identifier: Apache-2.0
"""What the controller of the ``partition`` machine does; what it decides is tested decision by decision elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from partition_states import (
    CONFIG,
    START,
    A,
    B,
    C,
    controller_down,
    decision,
    fenced,
    logs,
    partition,
    process,
    proposed,
    registration,
    replica,
    request,
    rules,
    spent,
    stopped,
    take,
    taken,
    without,
)

from hwmark.model.log import Log, Record
from hwmark.model.machine import Action, ImpossibleError, put
from hwmark.model.partition.alter_partition import AlterPartition, BrokerState, Errors
from hwmark.model.partition.controller import (
    answer_alter_partition,
    begin_controlled_shutdown,
    elect_preferred_leader,
    elect_uncleanly,
    fence_broker,
    lose_controller,
    regain_controller,
    register_broker,
    replace_replica,
    unfence_broker,
)
from hwmark.model.partition.decisions import NOBODY, LeaderRecovery
from hwmark.model.partition.rules import Eligibility, LateCopy, ShutdownDetection, UncleanChoice, VersionCheck
from hwmark.model.partition.shared import decided, truth
from hwmark.model.partition.state import AlterPartitionAnswer, Registration, RegistrationAnswer, RegistrationRequest, State, Status

NONE = frozenset[int]()
CLASSIC = evolve(CONFIG, elr=False)
"""Without eligible leader replicas."""


# -- fencing --


def test_a_broker_is_fenced() -> None:
    """It leaves the ISR, and if it led another is elected; that costs one of the perturbations as long as it runs."""
    after = taken(fence_broker, START, broker=0)
    assert (after.registrations[0], spent(START, after)) == (Registration(1, fenced=True), ["fences"])
    now = truth(after)
    assert (now.leader, now.leader_epoch, now.partition_epoch, now.isr, now.elr) == (1, 1, 1, frozenset({1, 2}), NONE)


def test_a_broker_that_does_not_run_is_fenced_for_nothing() -> None:
    """Its session ends some time; as does one of a former life."""
    none_left = without(START, "fences")
    for state in (stopped(none_left, 2), process(none_left, 2, broker_epoch=2), process(none_left, 2, status=Status.STARTING)):
        after = taken(fence_broker, state, broker=2)
        assert (truth(after).isr, spent(state, after)) == (frozenset({0, 1}), [])
    assert take(fence_broker, none_left, broker=2) is None


def test_who_leaves_a_small_isr_stays_eligible() -> None:
    """With the ELR, while the ISR is below its minimum; without it the last member stays in the ISR, and nobody leads."""
    two = partition(START, isr=frozenset({0, 1}))
    assert truth(taken(fence_broker, two, broker=1)).elr == {1}
    one = fenced(partition(START, isr=frozenset({0}), elr=frozenset({1})), 1)
    alone = truth(taken(fence_broker, one, broker=0))
    assert (alone.isr, alone.elr, alone.leader) == (NONE, frozenset({0, 1}), NOBODY)
    last = truth(taken(fence_broker, partition(START, isr=frozenset({0})), broker=0, config=CLASSIC))
    assert (last.isr, last.elr, last.leader) == (frozenset({0}), NONE, NOBODY)


def test_a_broker_that_stops_is_fenced_at_last() -> None:
    """Then its controlled shutdown is over."""
    state = registration(stopped(START, 1, clean_epoch=1), 1, in_controlled_shutdown=True)
    assert taken(fence_broker, state, broker=1).registrations[1] == Registration(1, fenced=True)


def test_nobody_is_fenced_twice() -> None:
    """Nor without a controller; one that holds no replica changes nothing in the partition."""
    assert take(fence_broker, fenced(stopped(START, 1), 1), broker=1) is None
    assert take(fence_broker, controller_down(stopped(START, 1)), broker=1) is None
    assert taken(fence_broker, START, broker=3).partition_epoch == 0


def test_a_broker_is_unfenced() -> None:
    """Once it runs as it is registered and has learned the metadata; while somebody leads nothing else changes."""
    state = fenced(START, 1)
    after = taken(unfence_broker, state, broker=1)
    assert (after.registrations[1], truth(after), spent(state, after)) == (Registration(), truth(state), [])
    for not_ready in (
        START,
        controller_down(state),
        stopped(state, 1),
        process(state, 1, status=Status.STARTING),
        process(state, 1, broker_epoch=2),
        replica(state, 1, partition_epoch=-1),
    ):
        assert take(unfence_broker, not_ready, broker=1) is None


def test_an_unfenced_broker_is_elected_where_nobody_leads() -> None:
    """If it may lead without loss, and else only if the operator allows it."""
    nobody = fenced(partition(START, leader=NOBODY, isr=NONE, elr=frozenset({1})), 1)
    assert (truth(taken(unfence_broker, nobody, broker=1)).leader, truth(taken(unfence_broker, nobody, broker=1)).isr) == (
        1,
        frozenset({1}),
    )
    outside = fenced(partition(nobody, elr=frozenset({2})), 2)
    assert truth(taken(unfence_broker, outside, broker=1)).leader == NOBODY
    uncleanly = truth(taken(unfence_broker, outside, broker=1, config=evolve(CONFIG, unclean_elections=True)))
    assert uncleanly.leader == 0, "the first replica that is alive, although another was unfenced"
    assert (uncleanly.isr, uncleanly.leader_recovery) == (frozenset({0}), LeaderRecovery.RECOVERING)


# -- registration --


def registering(state: State, clean_epoch: int, broker: int = 1, life: int = 2) -> State:
    """Return the state in which a broker has been fenced, and asks to be registered."""
    starting = fenced(process(state, broker, status=Status.STARTING, life=life), broker)
    return put(starting, registering={broker: RegistrationRequest(life, clean_epoch)})


def test_a_broker_is_registered_under_its_life() -> None:
    """Fenced at first; the answer says up to where it has to learn the metadata."""
    after = taken(register_broker, registering(decision(partition(START, isr=frozenset({0, 2}))), clean_epoch=1), broker=1)
    assert (after.registrations[1], after.registering[1]) == (Registration(2, fenced=True), RegistrationAnswer(2, 1))
    assert after.partition_epoch == 1


ELIGIBLE = partition(START, isr=frozenset({0}), elr=frozenset({1}))
"""Broker 1 is eligible, as it was in the ISR when that fell below its minimum."""


@pytest.mark.parametrize(
    ("detection", "clean_epoch", "elr"),
    [
        (ShutdownDetection.BROKER_EPOCH, 1, {1}),
        (ShutdownDetection.BROKER_EPOCH, -1, NONE),
        (ShutdownDetection.BROKER_EPOCH, 2, NONE),
        (ShutdownDetection.TRUSTED, -1, {1}),
    ],
)
def test_whose_log_is_trusted(detection: ShutdownDetection, clean_epoch: int, elr: Any) -> None:
    """Whoever shows the broker epoch under which the controller knew it last; under the weaker rule anybody."""
    after = taken(register_broker, registering(ELIGIBLE, clean_epoch), broker=1, rules=rules(shutdown_detection=detection))
    assert truth(after).elr == frozenset(elr)
    answer = after.registering[1]
    assert isinstance(answer, RegistrationAnswer)
    assert answer.partition_epoch == after.partition_epoch == (0 if elr else 1)


def test_who_is_not_registered() -> None:
    """Nobody whose last session has not ended, nobody who did not ask, and nobody without a controller."""
    asking = registering(ELIGIBLE, clean_epoch=1)
    for state in (registration(asking, 1, fenced=False), controller_down(asking), fenced(START, 1)):
        assert take(register_broker, state, broker=1) is None
    answered = put(asking, registering={1: RegistrationAnswer(2, 0)})
    assert take(register_broker, answered, broker=1) is None


# -- controlled shutdown --


def test_a_controlled_shutdown_hands_over() -> None:
    """The broker leaves the ISR and the leadership while it is still running."""
    after = taken(begin_controlled_shutdown, START, broker=0)
    assert after.registrations[0] == Registration(in_controlled_shutdown=True)
    assert (truth(after).leader, truth(after).isr, spent(START, after)) == (1, frozenset({1, 2}), ["shutdowns"])
    only = truth(taken(begin_controlled_shutdown, partition(START, isr=frozenset({0})), broker=0, config=CLASSIC))
    assert (only.leader, only.isr) == (NOBODY, frozenset({0}))


@pytest.mark.parametrize(
    "state",
    [
        controller_down(START),
        without(START, "shutdowns"),
        fenced(START, 1),
        registration(START, 1, in_controlled_shutdown=True),
        stopped(START, 1),
        process(START, 1, broker_epoch=2),
    ],
    ids=["no controller", "none left", "fenced", "has asked", "stopped", "registered otherwise"],
)
def test_who_does_not_ask_to_shut_down(state: State) -> None:
    """A broker asks the controller that knows it, once, and as often as the bounds say."""
    assert take(begin_controlled_shutdown, state, broker=1) is None


# -- proposals --


def answer(state: State, **given: Any) -> tuple[Errors, State]:
    """Return how the controller answers the proposal of broker 0, and the state after that."""
    after = taken(answer_alter_partition, state, leader=0, **given)
    found = after.altering[0]
    assert isinstance(found, AlterPartitionAnswer)
    return found.error, after


def test_a_proposal_is_accepted() -> None:
    """The ISR is that of the proposal, and the answer has the epochs that hold now."""
    error, after = answer(proposed(START, 0, 1))
    assert (error, truth(after).isr, truth(after).partition_epoch, truth(after).leader_epoch) == (Errors.NONE, frozenset({0, 1}), 1, 0)
    assert after.altering[0] == AlterPartitionAnswer(request(0, 1), Errors.NONE, 0, 1, frozenset({0, 1}))
    assert after.replicas == proposed(START, 0, 1).replicas, "nobody knows it yet"


def test_a_proposal_that_changes_nothing_is_accepted_too() -> None:
    """With the epochs of before."""
    _, after = answer(proposed(START, 0, 1, 2))
    assert (after.altering[0], after.partition_epoch) == (
        AlterPartitionAnswer(request(0, 1, 2), Errors.NONE, 0, 0, frozenset({0, 1, 2})),
        0,
    )


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (registration(proposed(START, 0, 1), 0, broker_epoch=2), Errors.STALE_BROKER_EPOCH),
        (proposed(START, 0, 1, leader_epoch=1), Errors.NOT_CONTROLLER),
        (proposed(START, 0, 1, partition_epoch=1), Errors.NOT_CONTROLLER),
        (decision(proposed(START, 0, 1), leader=1, leader_epoch=1), Errors.FENCED_LEADER_EPOCH),
        (partition(proposed(START, 0, 1), leader=1), Errors.INVALID_REQUEST),
        (decision(proposed(START, 0, 1)), Errors.INVALID_UPDATE_VERSION),
        (proposed(START, 1), Errors.INVALID_REQUEST),
        (proposed(START, 0, 3), Errors.INVALID_REQUEST),
        (fenced(proposed(START, 0, 1), 1), Errors.INELIGIBLE_REPLICA),
        (registration(proposed(START, 0, 1), 1, in_controlled_shutdown=True), Errors.INELIGIBLE_REPLICA),
        (registration(proposed(START, 0, 1), 1, broker_epoch=2), Errors.INELIGIBLE_REPLICA),
    ],
)
def test_a_proposal_is_refused(state: State, error: Errors) -> None:
    """With what is wrong first, and nothing changes."""
    found, after = answer(state)
    assert (found, truth(after)) == (error, truth(state))
    assert after.altering[0] == AlterPartitionAnswer(request(*_isr(state), **_epochs(state)), error)


def _isr(state: State) -> list[int]:
    sent = state.altering[0]
    assert isinstance(sent, AlterPartition)
    return [member.broker for member in sent.new_isr]


def _epochs(state: State) -> dict[str, int]:
    sent = state.altering[0]
    assert isinstance(sent, AlterPartition)
    return {"leader_epoch": sent.leader_epoch, "partition_epoch": sent.partition_epoch}


def test_a_proposal_may_end_a_reassignment() -> None:
    """Once all that are added are in sync, those that are removed leave; if the leader is one of them another is elected."""
    moving = partition(START, replicas=(3, 1, 2, 0), adding=frozenset({3}), removing=frozenset({0}))
    error, after = answer(proposed(moving, 0, 1, 2, 3))
    assert error is Errors.NEW_LEADER_ELECTED
    now = truth(after)
    assert (now.replicas, now.isr, now.leader, now.leader_epoch) == ((3, 1, 2), frozenset({1, 2, 3}), 3, 1)


def test_no_proposal_no_answer() -> None:
    """Nor without a controller, nor twice."""
    assert take(answer_alter_partition, START, leader=0) is None
    assert take(answer_alter_partition, controller_down(proposed(START, 0)), leader=0) is None
    assert take(answer_alter_partition, answer(proposed(START, 0))[1], leader=0) is None


@pytest.mark.parametrize(
    ("eligibility", "admitted"),
    [
        (Eligibility.ACTIVE_INCARNATION, (False, False, False, False, True)),
        (Eligibility.ACTIVE, (False, False, True, False, True)),
        (Eligibility.INCARNATION, (True, True, False, False, True)),
    ],
)
def test_who_is_admitted(eligibility: Eligibility, admitted: tuple[bool, ...]) -> None:
    """A fenced member, one that stops, one that has restarted, one that has and is fenced, and one whose broker epoch is not known."""
    unknown = put(proposed(START, 0, 1), altering={0: request(0, new_isr=(BrokerState(0, 1), BrokerState(1)))})
    states = (
        fenced(proposed(START, 0, 1), 1),
        registration(proposed(START, 0, 1), 1, in_controlled_shutdown=True),
        registration(proposed(START, 0, 1), 1, broker_epoch=2),
        registration(proposed(START, 0, 1), 1, broker_epoch=2, fenced=True),
        unknown,
    )
    assert tuple(answer(state, rules=rules(eligibility=eligibility))[0] is Errors.NONE for state in states) == admitted


@pytest.mark.parametrize(
    ("check", "error"), [(VersionCheck.PARTITION_EPOCH, Errors.INVALID_UPDATE_VERSION), (VersionCheck.LEADER_EPOCH, Errors.NONE)]
)
def test_which_proposals_are_out_of_date(check: VersionCheck, error: Errors) -> None:
    """Those of another partition epoch; the weaker rule looks at the leader epoch alone."""
    given = rules(version_check=check)
    assert answer(decision(proposed(START, 0, 1), isr=frozenset({0, 2})), rules=given)[0] is error
    assert answer(decision(proposed(START, 0, 1), leader=1, leader_epoch=1), rules=given)[0] is Errors.FENCED_LEADER_EPOCH


@pytest.mark.parametrize(("late", "is_left"), [(LateCopy.DROPPED, False), (LateCopy.HANDLED, True)])
def test_what_becomes_of_a_copy(late: LateCopy, *, is_left: bool) -> None:
    """It is gone once the first is answered, or may come at any time; a copy of something else is left alone."""
    given = rules(late_copy=late)
    double = put(proposed(START, 0, 1), duplicate=request(0, 1), duplicate_of=0)
    assert (answer(double, rules=given)[1].duplicate is not None) == is_left
    other = put(proposed(START, 0, 1), duplicate=request(0, 2), duplicate_of=0)
    assert answer(other, rules=given)[1].duplicate == request(0, 2)


# -- the operator --


def test_the_preferred_leader_is_elected() -> None:
    """If another leads, and it may lead without loss."""
    state = partition(START, leader=1, leader_epoch=1)
    after = taken(elect_preferred_leader, state)
    assert (truth(after).leader, truth(after).leader_epoch, spent(state, after)) == (0, 2, ["elections"])
    outside = partition(state, isr=frozenset({1, 2}))
    for refused in (START, outside, fenced(state, 0), controller_down(state), without(state, "elections")):
        assert take(elect_preferred_leader, refused) is None


LOST = logs(partition(START, leader=NOBODY, isr=NONE, elr=NONE, leader_epoch=3), (), (A, B), (Record(2, 1),))
"""Nobody may lead without loss; broker 1 has the longest log, broker 2 the one of the latest epoch, broker 0 has nothing."""


@pytest.mark.parametrize(("choice", "leader"), [(UncleanChoice.FIRST_ASSIGNED, 0), (UncleanChoice.LONGEST_LOG, 2)])
def test_an_unclean_election(choice: UncleanChoice, leader: int) -> None:
    """The first that is alive is elected, and is alone in the ISR; under the other rule the one with the latest log."""
    given = rules(unclean_choice=choice)
    after = taken(elect_uncleanly, LOST, rules=given)
    now = truth(after)
    assert (now.leader, now.isr, now.leader_recovery) == (leader, frozenset({leader}), LeaderRecovery.RECOVERING)
    assert spent(LOST, after) == ["unclean_elections"]
    for refused in (START, controller_down(LOST), without(LOST, "unclean_elections")):
        assert take(elect_uncleanly, refused, rules=given) is None


def test_only_who_is_alive_is_elected() -> None:
    """The first of those, or of those with the longest log."""
    given = rules(unclean_choice=UncleanChoice.LONGEST_LOG)
    equal = logs(LOST, (), (A, B), (A, B))
    assert truth(taken(elect_uncleanly, equal, rules=given)).leader == 1
    assert truth(taken(elect_uncleanly, fenced(equal, 1), rules=given)).leader == 2
    assert truth(taken(elect_uncleanly, fenced(LOST, 0))).leader == 1
    former = put(LOST, logs={3: Log((A, B, C), 0)})
    assert truth(taken(elect_uncleanly, former, rules=given)).leader == 2, "who is no replica does not count, whatever it still has"


def test_a_replica_is_replaced() -> None:
    """The new one is added in the place of the old one, which leaves later."""
    after = taken(replace_replica, START, leaving=1, joining=3)
    now = truth(after)
    assert (now.replicas, now.adding, now.removing) == ((0, 3, 2, 1), frozenset({3}), frozenset({1}))
    assert (now.isr, spent(START, after)) == (frozenset({0, 1, 2}), ["reassignments"])


@pytest.mark.parametrize(
    ("state", "leaving", "joining"),
    [
        (controller_down(START), 1, 3),
        (without(START, "reassignments"), 1, 3),
        (partition(START, adding=frozenset({1})), 1, 3),
        (partition(START, removing=frozenset({1})), 1, 3),
        (START, 3, 3),
        (START, 1, 2),
    ],
    ids=["no controller", "none left", "adding", "removing", "no replica leaves", "a replica joins"],
)
def test_what_replaces_nothing(state: State, leaving: int, joining: int) -> None:
    """One reassignment at a time, of one replica to a broker that has none."""
    assert take(replace_replica, state, leaving=leaving, joining=joining) is None


# -- the controller itself --


def test_the_controller_comes_and_goes() -> None:
    """As often as the bounds say; without it nothing is decided, and nothing is forgotten."""
    down = taken(lose_controller, START)
    assert (down.controller_is_up, spent(START, down), truth(down)) == (False, ["outages"], truth(START))
    assert take(lose_controller, down) is None
    assert take(lose_controller, without(START, "outages")) is None
    assert taken(regain_controller, down).controller_is_up
    assert take(regain_controller, START) is None


@pytest.mark.parametrize(
    ("action", "state", "choices"),
    [
        (fence_broker, START, {"broker": 1}),
        (unfence_broker, fenced(START, 1), {"broker": 1}),
        (register_broker, registering(START, 1), {"broker": 1}),
        (begin_controlled_shutdown, START, {"broker": 1}),
        (answer_alter_partition, proposed(START, 0), {"leader": 0}),
        (elect_preferred_leader, partition(START, leader=1), {}),
        (elect_uncleanly, LOST, {}),
        (replace_replica, START, {"leaving": 1, "joining": 3}),
    ],
)
def test_without_a_controller_nothing_is_decided(action: Action, state: State, choices: dict[str, int]) -> None:
    """Each decision is possible until it is gone."""
    assert take(action, state, **choices) is not None
    assert take(action, controller_down(state), **choices) is None


def test_more_decisions_than_there_is_room_for_are_impossible() -> None:
    """So that a bound which is too small is reported, and not taken for safe."""
    last = len(START.metadata) - 1
    state = put(START, metadata={last: evolve(truth(START), partition_epoch=last)}, partition_epoch=last)
    with pytest.raises(ImpossibleError, match="more changes"):
        decided(state, evolve(truth(state), partition_epoch=last + 1))
