# SPDX-License-Identifier: Apache-2.0
"""What the controller decides about a partition: each decision by itself, then what comes of them together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from attrs import evolve, frozen

from hwmark.model.partition.alter_partition import (
    ANY_BROKER_EPOCH,
    AlterPartition,
    BrokerState,
    Errors,
    Ineligible,
    alter_partition,
    ineligible,
    validate_alter_partition,
)
from hwmark.model.partition.changes import (
    acceptable_leaders,
    broker_fenced,
    broker_in_controlled_shutdown,
    broker_registered,
    broker_unfenced,
    broker_unregistered,
    cancel_reassignment,
    elect_leader,
    is_election_needed,
    reassign,
)
from hwmark.model.partition.decisions import (
    NOBODY,
    Circumstances,
    Elected,
    ElectionType,
    LeaderRecovery,
    PartitionState,
    change,
    complete_reassignment,
    effective_min_isr,
    elect,
    election_order,
    election_type,
    is_valid_new_leader,
    update_elr,
)


def these(*brokers: int) -> frozenset[int]:
    """Return a set of brokers."""
    return frozenset(brokers)


def partition(isr: Iterable[int] = (0, 1, 2), **other: Any) -> PartitionState:
    """Return a partition with replicas 0, 1, 2, led by the first of the ISR."""
    members = tuple(isr)
    given = {"replicas": (0, 1, 2), "leader": members[0] if members else NOBODY, "leader_epoch": 4, "partition_epoch": 7, **other}
    return PartitionState(isr=these(*members), **given)


def alive(*brokers: int, **other: Any) -> Circumstances:
    """Return circumstances in which these brokers are alive; the least ISR is 2."""
    return Circumstances(these(*brokers), **{"min_isr": 2, **other})


# -- what the operator set --


def test_the_effective_least_isr_is_no_more_than_the_replicas() -> None:
    """A partition with fewer replicas than ``min.insync.replicas`` is not below its least ISR for ever."""
    assert effective_min_isr(2, (0, 1, 2)) == 2
    assert effective_min_isr(2, (0,)) == 1


def test_unclean_elections_are_what_the_operator_allows() -> None:
    """The controller elects uncleanly of its own accord if that is allowed, and else never."""
    assert election_type(unclean_allowed=True) is ElectionType.UNCLEAN
    assert election_type(unclean_allowed=False) is ElectionType.ONLINE


# -- completing a reassignment --


@pytest.mark.parametrize(
    ("isr", "adding", "removing", "completed"),
    [
        ((0, 1, 2), (), (), None),  # none goes on
        ((0, 1, 2), (2,), (0,), ((1, 2), (1, 2))),
        ((0, 1), (2,), (0,), None),  # who is added is not in sync
        ((0, 2), (2,), (0,), ((1, 2), (2,))),  # who stays need not be
        ((0, 1), (), (0,), None),  # but must where the replicas become fewer
        ((0, 1, 2), (), (0,), ((1, 2), (1, 2))),
        ((0,), (), (0,), None),  # nobody would be in sync
        ((0, 1, 2), (), (0, 1, 2), None),  # nobody would be left
        ((0, 2), (2,), (), ((0, 1, 2), (0, 2))),
    ],
)
def test_a_reassignment_is_completed_in_sync(
    isr: tuple[int, ...], adding: tuple[int, ...], removing: tuple[int, ...], completed: tuple[tuple[int, ...], tuple[int, ...]] | None
) -> None:
    """It is complete once all that are added are in sync, and, if the replicas become fewer, all that stay."""
    before = partition(isr, adding=these(*adding), removing=these(*removing))
    after = complete_reassignment(before)
    if completed is None:
        assert after == before
    else:
        replicas, in_sync = completed
        assert after == evolve(before, replicas=replicas, isr=these(*in_sync), adding=these(), removing=these())


# -- the ELR --


@pytest.mark.parametrize(
    ("isr", "elr", "target", "unclean_shutdown", "expected"),
    [
        ((0, 1, 2), (), (0, 1), (), ()),  # the ISR is large enough
        ((0, 1), (), (0,), (), (1,)),
        ((0,), (1,), (), (), (0, 1)),
        ((0,), (1,), (0,), (1,), ()),  # its log may lack records
        ((0,), (1,), (), (0,), (1,)),
        ((0,), (1,), (0, 2), (), ()),  # large enough again
        ((), (0, 1), (1,), (), (0,)),
    ],
)
def test_who_leaves_a_small_isr_stays_eligible(
    isr: tuple[int, ...], elr: tuple[int, ...], target: tuple[int, ...], unclean_shutdown: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    """Below its least size the ISR does not commit, so that who leaves it then holds all that is committed."""
    before = partition(isr, elr=these(*elr))
    after = update_elr(before, evolve(before, isr=these(*target)), alive(unclean_shutdown=these(*unclean_shutdown)))
    assert after.elr == these(*expected)


def test_the_elr_is_left_alone_without_the_feature() -> None:
    """Without the feature nobody is eligible who is not in the ISR."""
    before = partition((0,))
    assert update_elr(before, evolve(before, isr=these()), alive(elr_enabled=False)).elr == these()


def test_a_removed_replica_stays_in_the_elr() -> None:
    """Kafka does not ask whether who leaves the ISR is a replica any more."""
    before = partition((0, 2), replicas=(0, 1, 3, 2), adding=these(3), removing=these(2), elr=these(1))
    after = change(before, evolve(before, isr=these(0, 2, 3)), alive(0, 2, 3, min_isr=3))
    assert after == evolve(
        before, replicas=(0, 1, 3), isr=these(0, 3), elr=these(1, 2), adding=these(), removing=these(), leader_epoch=5, partition_epoch=8
    )
    restricted = change(before, evolve(before, isr=these(0, 2, 3)), alive(0, 2, 3, min_isr=3, elr_of_replicas=True))
    assert restricted == evolve(after, elr=these(1))


# -- elections --


@pytest.mark.parametrize(
    ("isr", "elr", "valid"),
    [((0, 1), (2,), {0, 1}), ((), (1, 2), {1, 2}), ((), (), set())],
)
def test_who_may_lead_without_loss(isr: tuple[int, ...], elr: tuple[int, ...], valid: set[int]) -> None:
    """The ISR may lead, and the ELR only where nobody is in the ISR; and only who is alive."""
    target = partition(isr, elr=these(*elr))
    assert {broker for broker in range(3) if is_valid_new_leader(target, broker, these(0, 1, 2))} == valid
    assert not any(is_valid_new_leader(target, broker, these()) for broker in range(3))


def test_a_leader_stays_unless_another_is_preferred() -> None:
    """The leader is asked first; the preferred leader is the first replica, and asked before it."""
    before = partition((1, 2, 0))
    assert election_order(before, before, ElectionType.ONLINE) == (1, 0, 1, 2)
    assert election_order(before, before, ElectionType.UNCLEAN) == (1, 0, 1, 2)
    assert election_order(before, before, ElectionType.PREFERRED) == (0, 1, 1, 2)


@pytest.mark.parametrize(
    ("before", "by", "elected"),
    [
        (partition((1, 2)), alive(0, 1, 2), Elected(1)),  # it stays
        (partition((1, 2)), alive(0, 2), Elected(2)),
        (partition((0, 1, 2), replicas=(2, 1, 0)), alive(1, 2), Elected(2)),  # in assignment order
        (partition((1, 0)), alive(0, 1, election=ElectionType.PREFERRED), Elected(0)),
        (partition((1, 2)), alive(0, 1, election=ElectionType.PREFERRED), Elected(1)),  # the preferred is not in sync
        (partition((), elr=these(1, 2)), alive(0, 2), Elected(2)),
        (partition((), elr=these(1), last_known_elr=these(2)), alive(0, 2), Elected(NOBODY)),  # 1 may come back
        (partition((), last_known_elr=these(2)), alive(0, 2), Elected(2, unclean=True)),
        (partition((), last_known_elr=these(1)), alive(0, 2), Elected(NOBODY)),
        (partition((), last_known_elr=these(1, 2)), alive(0, 2), Elected(NOBODY)),  # the last ELR, not the last leader
        (partition((), last_known_elr=these(2)), alive(0, 2, last_known_leader=False), Elected(NOBODY)),
        (partition((), last_known_elr=these(2)), alive(0, 2, elr_enabled=False), Elected(NOBODY)),
        (partition((), last_known_elr=these(2)), alive(0, 2, election=ElectionType.UNCLEAN), Elected(2, unclean=True)),
        (partition((1,)), alive(0, 2), Elected(NOBODY)),
        (partition((1,)), alive(0, 2, election=ElectionType.UNCLEAN), Elected(0, unclean=True)),
        (partition((1,), replicas=(2, 1, 0)), alive(0, 2, election=ElectionType.UNCLEAN), Elected(2, unclean=True)),
        (partition((1,)), alive(election=ElectionType.UNCLEAN), Elected(NOBODY)),
    ],
)
def test_whom_the_controller_elects(before: PartitionState, by: Circumstances, elected: Elected) -> None:
    """From the ISR, else the ELR, else the last known leader, else, if that is allowed, whoever is alive."""
    assert elect(before, before, by) == elected


# -- the whole change --


def test_nothing_changes() -> None:
    """Where the target is the partition, and its leader is alive, no epoch moves."""
    assert change(partition(), partition(), alive(0, 1, 2)) is None


def test_a_shrunk_isr_begins_no_leader_epoch() -> None:
    """Only metadata versions before 3.6 begin one; an ISR that grows never did."""
    target = evolve(partition(), isr=these(0, 1))
    assert change(partition(), target, alive(0, 1, 2)) == evolve(target, partition_epoch=8)
    old = alive(0, 1, 2, bump_on_isr_shrink=True)
    assert change(partition(), target, old) == evolve(target, partition_epoch=8, leader_epoch=5)
    assert change(target, partition(), old) == evolve(partition(), partition_epoch=8)


def test_the_elr_leads_alone() -> None:
    """A leader from the ELR is the only one in the ISR, and has nothing to recover from."""
    before = partition((), elr=these(1, 2), last_known_elr=these(0))
    assert change(before, before, alive(2)) == evolve(
        before, leader=2, isr=these(2), elr=these(1), last_known_elr=these(), leader_epoch=5, partition_epoch=8
    )


@pytest.mark.parametrize("elr_enabled", [False, True])
def test_an_unclean_leader_is_alone_and_recovers(elr_enabled: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """All that others hold besides may differ: nobody else is in sync or eligible."""
    before = partition((1,), elr=these(2))
    by = alive(0, election=ElectionType.UNCLEAN, elr_enabled=elr_enabled)
    assert change(before, before, by) == evolve(
        before, leader=0, isr=these(0), elr=these(), leader_epoch=5, partition_epoch=8, leader_recovery=LeaderRecovery.RECOVERING
    )


def test_the_last_member_stays_in_the_isr_only_without_the_elr() -> None:
    """With the ELR the ISR may be empty; without it the last member is waited for."""
    target = evolve(partition((0,)), isr=these())
    with_elr = change(partition((0,)), target, alive(1, 2))
    assert with_elr == partition((), elr=these(0), last_known_elr=these(0), leader_epoch=5, partition_epoch=8)
    without = change(partition((0,)), target, alive(1, 2, elr_enabled=False))
    assert without == partition((0,), leader=NOBODY, leader_epoch=5, partition_epoch=8)


def test_the_first_leader_that_was_lost_is_remembered() -> None:
    """Another change while nobody leads does not forget it; without the special rule the last ELR is remembered."""
    before = partition((), elr=these(0, 1), last_known_elr=these(0))
    after = change(before, before, alive(unclean_shutdown=these(1)))
    assert after == evolve(before, elr=these(0), partition_epoch=8)
    after = change(before, before, alive(unclean_shutdown=these(1), last_known_leader=False))
    assert after == evolve(before, elr=these(0), last_known_elr=these(1), partition_epoch=8)


def test_a_removed_replica_begins_a_leader_epoch() -> None:
    """Its leader must learn that who was removed may not come back into the ISR, so the epoch grows with the same leader."""
    before = partition((0, 1, 2), adding=these(1), removing=these(2))
    assert change(before, before, alive(0, 1, 2)) == evolve(
        before, replicas=(0, 1), isr=these(0, 1), adding=these(), removing=these(), leader_epoch=5, partition_epoch=8
    )


def test_a_leader_recovers_once() -> None:
    """What the leader says of its recovery is taken over, and is a change by itself."""
    before = partition((0,), leader_recovery=LeaderRecovery.RECOVERING)
    target = evolve(before, leader_recovery=LeaderRecovery.RECOVERED)
    assert change(before, target, alive(0, min_isr=1)) == evolve(target, partition_epoch=8)


# -- causes --


def test_who_may_lead_while_a_broker_comes_or_goes() -> None:
    """The brokers of before, with the one that comes and without the one that goes or lost records."""
    assert acceptable_leaders(these(0, 1)) == these(0, 1)
    assert acceptable_leaders(these(0, 1), removed=0) == these(1)
    assert acceptable_leaders(these(0, 1), added=2) == these(0, 1, 2)
    assert acceptable_leaders(these(0, 1), unclean_shutdown=1) == these(0)


@pytest.mark.parametrize("cause", [broker_fenced, broker_in_controlled_shutdown, broker_unregistered])
def test_a_broker_that_goes_leads_no_more(cause: Any) -> None:
    """It leaves the ISR, and the next replica leads; of a partition that it is not in sync with nothing changes."""
    assert cause(partition(), 0, alive(0, 1, 2)) == partition((1, 2), leader_epoch=5, partition_epoch=8)
    assert cause(partition((1, 2)), 0, alive(0, 1, 2)) is None


def test_an_eligible_broker_that_goes_stays_eligible() -> None:
    """Its log is still there; also an unregistered broker stays in the ELR."""
    before = partition((1,), elr=these(0))
    for cause in (broker_fenced, broker_in_controlled_shutdown, broker_unregistered):
        assert cause(before, 0, alive(0, 1)) is None


def test_a_broker_that_comes_leads_where_nobody_does() -> None:
    """It is elected if it is eligible; where somebody leads nothing changes."""
    before = partition((), elr=these(0, 1))
    after = broker_unfenced(before, 1, alive(2))
    assert after is not None
    assert after.leader == 1
    assert broker_unfenced(partition((0, 1)), 2, alive(0, 1)) is None


def test_an_unclean_shutdown_ends_eligibility() -> None:
    """Who registers after an unclean shutdown is in sync no more, nor eligible; after a clean one it is as if fenced."""
    before = partition((0,), elr=these(1))
    assert broker_registered(before, 1, alive(0), clean=False) == evolve(before, elr=these(), partition_epoch=8)
    assert broker_registered(before, 1, alive(0), clean=True) is None
    alone = partition((0,))
    after = broker_registered(alone, 0, alive(), clean=True)
    assert after is not None
    assert after.elr == these(0)
    after = broker_registered(alone, 0, alive(), clean=False)
    assert after is not None
    assert after.elr == these()
    assert broker_registered(partition((1,)), 0, alive(1), clean=False) is None


@pytest.mark.parametrize(
    ("leader", "election", "needed"),
    [
        (0, ElectionType.PREFERRED, False),
        (1, ElectionType.PREFERRED, True),
        (1, ElectionType.UNCLEAN, False),
        (NOBODY, ElectionType.UNCLEAN, True),
        (NOBODY, ElectionType.ONLINE, False),
    ],
)
def test_an_election_that_is_asked_for_may_not_be_needed(leader: int, election: ElectionType, needed: bool) -> None:  # noqa: FBT001
    """Another than the preferred leader must lead, or, for an unclean election, nobody."""
    before = partition((0, 1), leader=leader)
    assert is_election_needed(before, election) is needed
    assert (elect_leader(before, alive(0, 1, election=election)) is not None) is needed


def test_a_reassignment_adds_first_and_removes_later() -> None:
    """New replicas stand where they are asked for, those that go at the end."""
    before = partition()
    after = reassign(before, (3, 1, 0), alive(0, 1, 2, 3))
    assert after == evolve(before, replicas=(3, 1, 0, 2), adding=these(3), removing=these(2), partition_epoch=8)
    assert reassign(before, (0, 1, 2), alive(0, 1, 2)) is None
    shorter = reassign(before, (0, 1), alive(0, 1, 2))  # all that stay are in sync
    assert shorter == evolve(before, replicas=(0, 1), isr=these(0, 1), leader_epoch=5, partition_epoch=8)


def test_what_an_earlier_reassignment_removes_is_removed_all_the_same() -> None:
    """Where the new one removes nobody, who was to be removed still is."""
    going = partition(replicas=(0, 1, 2), isr=(0, 1), adding=these(2), removing=these(1))
    assert reassign(going, (0, 1, 2), alive(0, 1, 2)) is None
    assert reassign(going, (1, 0, 2), alive(0, 1, 2)) == evolve(going, replicas=(1, 0, 2), partition_epoch=8)


def test_a_reassignment_elects_nobody_that_is_no_replica_yet() -> None:
    """Kafka fails there, and nothing changes: it looks for the directory of a replica that is not one."""
    before = partition((), replicas=(0,), elr=these(0, 1))
    assert reassign(before, (0, 1), alive(1, min_isr=1)) is None


def test_a_reassignment_is_taken_back() -> None:
    """Who was added leaves at once; where nobody else is in sync, that takes an operator who allows unclean elections."""
    going = partition((0, 1), adding=these(1), removing=these(2), replicas=(1, 0, 2))
    assert cancel_reassignment(going, alive(0, 1, 2, min_isr=1)) == evolve(
        going, replicas=(0, 2), isr=these(0), adding=these(), removing=these(), leader_epoch=5, partition_epoch=8
    )
    assert cancel_reassignment(partition(), alive(0, 1, 2)) is None
    only_added = evolve(going, isr=these(1), leader=1)
    assert cancel_reassignment(only_added, alive(0, 1, 2, min_isr=1)) is None
    unclean = cancel_reassignment(only_added, alive(0, 1, 2, min_isr=1, election=ElectionType.UNCLEAN))
    assert unclean == evolve(
        only_added, replicas=(0, 2), isr=these(0), leader=0, adding=these(), removing=these(), leader_epoch=5, partition_epoch=8
    )
    all_added = partition((0,), replicas=(0,), adding=these(0))
    assert cancel_reassignment(all_added, alive(0, election=ElectionType.UNCLEAN)) is None


# -- proposals --


@frozen
class Broker:
    """A registered broker."""

    broker_epoch: int
    fenced: bool = False
    in_controlled_shutdown: bool = False


REGISTERED = (Broker(10), Broker(11), Broker(12), None)


@pytest.mark.parametrize(
    ("registration", "broker_epoch", "why"),
    [
        (Broker(10), 10, None),
        (Broker(10), ANY_BROKER_EPOCH, None),
        (Broker(10), 9, Ineligible.BROKER_EPOCH),
        (Broker(10, fenced=True), 10, Ineligible.FENCED),
        (Broker(10, in_controlled_shutdown=True), 10, Ineligible.SHUTTING_DOWN),
        (Broker(10, fenced=True, in_controlled_shutdown=True), 9, Ineligible.SHUTTING_DOWN),
        (None, ANY_BROKER_EPOCH, Ineligible.NOT_REGISTERED),
    ],
)
def test_who_may_be_in_the_isr(registration: Broker | None, broker_epoch: int, why: Ineligible | None) -> None:
    """Whoever is registered, alive, and the incarnation that the leader saw."""
    assert ineligible(registration, broker_epoch) is why


def proposal(*isr: int, **other: Any) -> AlterPartition:
    """Return what the leader 0 proposes, knowing all that there is to know."""
    members = tuple(BrokerState(broker, 10 + broker) for broker in isr)
    return AlterPartition(**{"sender": 0, "broker_epoch": 10, "leader_epoch": 4, "partition_epoch": 7, "new_isr": members, **other})


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (proposal(0, 1), Errors.NONE),
        (proposal(0, 1, broker_epoch=9, leader_epoch=9), Errors.STALE_BROKER_EPOCH),
        (proposal(0, 1, sender=3, broker_epoch=13), Errors.STALE_BROKER_EPOCH),
        (proposal(0, 1, leader_epoch=5), Errors.NOT_CONTROLLER),
        (proposal(0, 1, leader_epoch=3, partition_epoch=8), Errors.NOT_CONTROLLER),
        (proposal(0, 1, leader_epoch=3, partition_epoch=6), Errors.FENCED_LEADER_EPOCH),
        (proposal(0, 1, sender=1, broker_epoch=11, partition_epoch=6), Errors.INVALID_REQUEST),
        (proposal(0, 3, partition_epoch=6), Errors.INVALID_UPDATE_VERSION),
        (proposal(0, 3), Errors.INVALID_REQUEST),  # no replica
        (proposal(1, 2), Errors.INVALID_REQUEST),  # not the leader itself
        (proposal(), Errors.INVALID_REQUEST),
        (proposal(0, 1, leader_recovery=LeaderRecovery.RECOVERING), Errors.INVALID_REQUEST),
        (proposal(0, leader_recovery=LeaderRecovery.RECOVERING), Errors.INVALID_REQUEST),  # it had recovered
        (proposal(new_isr=(BrokerState(0), BrokerState(1, 10))), Errors.INELIGIBLE_REPLICA),
        (proposal(new_isr=(BrokerState(0), BrokerState(1))), Errors.NONE),
    ],
)
def test_a_proposal_is_checked_in_order(request_: AlterPartition, error: Errors) -> None:
    """The first check that fails says why."""
    assert validate_alter_partition(partition(), request_, REGISTERED) is error


def test_a_leader_that_recovers_is_alone() -> None:
    """Before it has recovered it may say so, but not let others into the ISR."""
    before = partition((0,), leader_recovery=LeaderRecovery.RECOVERING)
    still = {"leader_recovery": LeaderRecovery.RECOVERING}
    assert validate_alter_partition(before, proposal(0, **still), REGISTERED) is Errors.NONE
    assert validate_alter_partition(before, proposal(0, 1, **still), REGISTERED) is Errors.INVALID_REQUEST
    assert validate_alter_partition(before, proposal(0, 1), REGISTERED) is Errors.NONE


def test_an_accepted_proposal_is_the_isr() -> None:
    """The partition epoch grows, the leader epoch does not; the same ISR again changes nothing; a refused one neither."""
    by = alive(0, 1, 2)
    assert alter_partition(partition(), proposal(0, 1), REGISTERED, by) == (Errors.NONE, partition((0, 1), partition_epoch=8))
    assert alter_partition(partition(), proposal(0, 1, 2), REGISTERED, by) == (Errors.NONE, None)
    assert alter_partition(partition(), proposal(0, 3), REGISTERED, by) == (Errors.INVALID_REQUEST, None)


def test_an_accepted_proposal_may_end_a_leadership() -> None:
    """If it completes a reassignment that removes the leader, another one leads, and the sender is told so."""
    before = partition((0, 1), replicas=(1, 2, 0), adding=these(2), removing=these(0))
    error, after = alter_partition(before, proposal(0, 1, 2), REGISTERED, alive(0, 1, 2))
    assert error is Errors.NEW_LEADER_ELECTED
    assert after == partition((1, 2), replicas=(1, 2), leader_epoch=5, partition_epoch=8)
