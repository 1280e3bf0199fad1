# SPDX-License-Identifier: Apache-2.0
"""The coordinator's decisions about one member: heartbeat epochs, the steps of reconciliation, partition epochs, commits."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hwmark.model.group_consumer.reconciliation import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    NOT_HELD,
    STATIC_LEAVE_EPOCH,
    Error,
    Held,
    Member,
    MemberState,
    Partitions,
    Target,
    all_held,
    commit_error,
    heartbeat_error,
    held,
    left_for_a_while,
    new_member,
    reconcile,
    taken_over,
    updated_partition_epochs,
)
from hwmark.model.group_consumer.rules import (
    CommitEpochs,
    EpochAdvance,
    HeartbeatEpochs,
    PartitionEpochUpdate,
    PreviousEpoch,
    Release,
    Rules,
)

RIGHT = Rules()
COUNT = 3
NOTHING: Held = (NOT_HELD,) * COUNT
EVERYTHING = frozenset(range(COUNT))
FREE = (NOT_HELD,) * COUNT
STABLE, UNREVOKED, UNRELEASED = MemberState.STABLE, MemberState.UNREVOKED_PARTITIONS, MemberState.UNRELEASED_PARTITIONS
MEMBER = Member(5, 4, STABLE, (5, 3, NOT_HELD), NOTHING)
"""A member in epoch 5 that was given partition 0 in this epoch and partition 1 in epoch 3."""
REVOKING = Member(5, 5, UNREVOKED, (5, NOT_HELD, NOT_HELD), (NOT_HELD, 3, NOT_HELD))
"""The same once partition 1 is to be given up."""


def target(epoch: int, *partitions: int, subscribed: Partitions = EVERYTHING, is_resubscribed: bool = False) -> Target:
    """Return a target of these partitions."""
    return Target(epoch, frozenset(partitions), subscribed, is_resubscribed)


# -- heartbeats --


@pytest.mark.parametrize("received", [JOIN_EPOCH, 5])
def test_the_current_epoch_and_joining_are_accepted(received: int) -> None:
    """They are accepted whatever is owned, and whatever the rule."""
    for rule in HeartbeatEpochs:
        assert heartbeat_error(evolve(RIGHT, heartbeat_epochs=rule), MEMBER, received, None) is Error.NONE


@pytest.mark.parametrize(
    ("received", "owned", "error"),
    [
        (4, frozenset({0}), Error.NONE),
        (4, frozenset({0, 1}), Error.NONE),
        (4, frozenset({2}), Error.FENCED_MEMBER_EPOCH),
        (4, None, Error.FENCED_MEMBER_EPOCH),
        (3, frozenset(), Error.FENCED_MEMBER_EPOCH),
        (6, frozenset(), Error.FENCED_MEMBER_EPOCH),
    ],
)
def test_a_lost_answer_is_tolerated(received: int, owned: Partitions | None, error: Error) -> None:
    """The previous epoch is accepted from a member that says what it owns, and owns nothing else than it is assigned."""
    assert heartbeat_error(RIGHT, MEMBER, received, owned) is error


def test_what_is_tolerated_may_be_less_or_more() -> None:
    """Without the tolerance a member that missed an answer is fenced; with more of it, one that has yet to give up is not."""
    retry = frozenset({0, 1})
    for rule, record, error in (
        (HeartbeatEpochs.CURRENT, MEMBER, Error.FENCED_MEMBER_EPOCH),
        (HeartbeatEpochs.CURRENT_OR_PREVIOUS, evolve(REVOKING, previous_member_epoch=4), Error.FENCED_MEMBER_EPOCH),
        (HeartbeatEpochs.CURRENT_OR_PREVIOUS_UNREVOKED, evolve(REVOKING, previous_member_epoch=4), Error.NONE),
    ):
        assert heartbeat_error(evolve(RIGHT, heartbeat_epochs=rule), record, 4, retry) is error


def test_a_later_epoch_is_no_previous_one() -> None:
    """The record of a member that left for a while has a previous epoch later than its current one; that one is not accepted."""
    left = left_for_a_while(MEMBER)
    assert left.previous_member_epoch == 4
    assert heartbeat_error(RIGHT, left, 4, frozenset()) is Error.FENCED_MEMBER_EPOCH


# -- reconciliation --


def test_a_stable_member_at_its_target_stays() -> None:
    """In the epoch of the target there is nothing to do."""
    assert reconcile(RIGHT, MEMBER, target(5, 0, 1), None, FREE) is MEMBER


def test_a_member_keeps_what_it_has_when_the_epoch_moves() -> None:
    """It enters the next epoch; the epochs under which it was given its partitions stay."""
    after = reconcile(RIGHT, MEMBER, target(6, 0, 1), None, FREE)
    assert after == Member(6, 5, STABLE, MEMBER.assigned, NOTHING)


@pytest.mark.parametrize("owned", [None, frozenset({0, 1}), frozenset({1})])
def test_a_member_gives_up_before_it_enters_the_next_epoch(owned: Partitions | None) -> None:
    """As long as it may own what it must give up, its epoch stays, and it gets nothing new."""
    after = reconcile(RIGHT, MEMBER, target(6, 0, 2), owned, FREE)
    assert after == REVOKING


def test_a_member_that_owns_nothing_of_it_need_not_give_up() -> None:
    """A member that reports not to own what it should give up enters the next epoch at once."""
    after = reconcile(RIGHT, MEMBER, target(6, 0, 2), frozenset({0}), FREE)
    assert after == Member(6, 5, STABLE, (5, NOT_HELD, 6), NOTHING)


@pytest.mark.parametrize("owned", [None, frozenset({0, 1}), frozenset({1})])
def test_a_revoking_member_is_waited_for(owned: Partitions | None) -> None:
    """Nothing happens before it reports that it owns nothing of what it must give up, whatever the latest target."""
    assert reconcile(RIGHT, REVOKING, target(9, 1), owned, FREE) is REVOKING


def test_a_member_that_has_nothing_left_to_give_up_has_to_say_so() -> None:
    """As long as it says nothing about what it owns it is waited for."""
    done = evolve(REVOKING, pending_revocation=NOTHING)
    assert reconcile(RIGHT, done, target(7, 0), None, FREE) is done
    assert reconcile(RIGHT, done, target(7, 0), frozenset({0}), FREE).member_epoch == 7


def test_a_revoking_member_goes_on_to_the_latest_target() -> None:
    """Once it has given up it enters the latest epoch; what it gave up may be given back to it."""
    epochs = (5, 5, NOT_HELD)
    after = reconcile(RIGHT, REVOKING, target(7, 0, 1), frozenset({0}), epochs)
    assert after == Member(7, 5, STABLE, (5, 7, NOT_HELD), NOTHING)


def test_a_revoking_member_may_have_to_give_up_more() -> None:
    """A later target takes more away: what was given up is free, and the epoch still stays."""
    after = reconcile(RIGHT, REVOKING, target(7, 2), frozenset({0}), (5, 5, NOT_HELD))
    assert after == Member(5, 5, UNREVOKED, NOTHING, (5, NOT_HELD, NOT_HELD))


def test_a_member_waits_for_what_others_have() -> None:
    """It gets what is free, and in the epoch of its target it waits for the rest."""
    after = reconcile(RIGHT, new_member(COUNT), target(6, 0, 2), frozenset(), (5, NOT_HELD, NOT_HELD))
    assert after == Member(6, 0, UNRELEASED, (NOT_HELD, NOT_HELD, 6), NOTHING)
    released = reconcile(RIGHT, after, target(6, 0, 2), None, (NOT_HELD, NOT_HELD, 6))
    assert released == Member(6, 6, STABLE, (6, NOT_HELD, 6), NOTHING)


def test_release_may_not_be_awaited() -> None:
    """Without the rule a member is given what another still has."""
    after = reconcile(evolve(RIGHT, release=Release.NOT_AWAITED), new_member(COUNT), target(6, 0), frozenset(), (5, NOT_HELD, NOT_HELD))
    assert (after.state, after.assigned) == (STABLE, (6, NOT_HELD, NOT_HELD))


def test_the_epoch_may_advance_at_once() -> None:
    """Without the rule a member is in the next epoch while it still has what that takes away."""
    after = reconcile(evolve(RIGHT, epoch_advance=EpochAdvance.AT_ONCE), MEMBER, target(6, 0), None, FREE)
    assert (after.member_epoch, after.state, held(after.pending_revocation)) == (6, UNREVOKED, {1})


def test_a_record_that_keeps_the_epoch_loses_the_previous_one() -> None:
    """A member that waits is fenced at its second retry: the first wrote its epoch anew, and with it the previous one."""
    waiting, taken = Member(6, 5, UNRELEASED, NOTHING, NOTHING), (5, NOT_HELD, NOT_HELD)
    assert heartbeat_error(RIGHT, waiting, 5, frozenset()) is Error.NONE
    again = reconcile(RIGHT, waiting, target(6, 0), frozenset(), taken)
    assert again == Member(6, 6, UNRELEASED, NOTHING, NOTHING)
    assert heartbeat_error(RIGHT, again, 5, frozenset()) is Error.FENCED_MEMBER_EPOCH
    assert reconcile(evolve(RIGHT, previous_epoch=PreviousEpoch.OTHER), waiting, target(6, 0), frozenset(), taken) == waiting


def test_unsubscribed_partitions_go_at_once() -> None:
    """A member that drops a topic gives its partitions up, also in the epoch of its target; its epoch stays."""
    subscribed = frozenset({1, 2})
    dropped = reconcile(RIGHT, MEMBER, target(5, 0, 1, subscribed=subscribed, is_resubscribed=True), frozenset({0, 1}), FREE)
    assert dropped == Member(5, 5, UNREVOKED, (NOT_HELD, 3, NOT_HELD), (5, NOT_HELD, NOT_HELD))
    done = reconcile(RIGHT, MEMBER, target(5, 0, 1, subscribed=subscribed, is_resubscribed=True), frozenset({1}), FREE)
    assert done == Member(5, 5, STABLE, (NOT_HELD, 3, NOT_HELD), NOTHING)
    same = reconcile(RIGHT, MEMBER, target(5, 0, 1, is_resubscribed=True), None, FREE)
    assert same is MEMBER
    more = reconcile(RIGHT, REVOKING, target(6, 0, subscribed=subscribed, is_resubscribed=True), None, FREE)
    assert more == Member(5, 5, UNREVOKED, NOTHING, (5, 3, NOT_HELD))
    late = reconcile(RIGHT, MEMBER, target(6, 0, 1, subscribed=subscribed), frozenset({1}), FREE)
    assert late == Member(6, 5, STABLE, (NOT_HELD, 3, NOT_HELD), NOTHING)


# -- static members --


def test_a_static_member_that_leaves_keeps_what_it_is_assigned() -> None:
    """What it was giving up is free; who comes back has the rest as if from the start, and a record to begin with."""
    left = left_for_a_while(REVOKING)
    assert left == Member(STATIC_LEAVE_EPOCH, 5, UNREVOKED, (0, NOT_HELD, NOT_HELD), NOTHING)
    back = taken_over(left)
    assert back == Member(0, 0, UNREVOKED, (0, NOT_HELD, NOT_HELD), NOTHING)
    assert reconcile(RIGHT, back, target(5, 0, 1), frozenset(), (STATIC_LEAVE_EPOCH, NOT_HELD, NOT_HELD)) == Member(
        5, 0, STABLE, (0, 5, NOT_HELD), NOTHING
    )


# -- partition epochs --


def epochs_after(rules: Rules, epochs: tuple[int, ...], before: Member | None, after: Member | None) -> tuple[int, ...]:
    """Return all partition epochs once a record was replaced."""
    changes = updated_partition_epochs(rules, epochs, before, after)
    return tuple(changes.get(partition, epoch) for partition, epoch in enumerate(epochs))


def test_partitions_carry_the_epoch_of_who_has_them() -> None:
    """Assigned or pending revocation, from the first record to the last."""
    first = epochs_after(RIGHT, FREE, None, MEMBER)
    assert first == (5, 5, NOT_HELD)
    revoking = epochs_after(RIGHT, first, MEMBER, REVOKING)
    assert revoking == first
    moved = epochs_after(RIGHT, revoking, REVOKING, Member(6, 5, STABLE, (5, NOT_HELD, 6), NOTHING))
    assert moved == (6, NOT_HELD, 6)
    assert epochs_after(RIGHT, first, MEMBER, None) == FREE
    assert epochs_after(RIGHT, first, MEMBER, left_for_a_while(MEMBER)) == (STATIC_LEAVE_EPOCH, STATIC_LEAVE_EPOCH, NOT_HELD)


def test_a_partition_given_back_keeps_its_epoch() -> None:
    """Old epochs go before new ones are noted; set by set, the one of a partition that is given back is lost (KAFKA-16147)."""
    given_back = Member(7, 5, STABLE, (5, 7, NOT_HELD), NOTHING)
    assert epochs_after(RIGHT, (5, 5, NOT_HELD), REVOKING, given_back) == (7, 7, NOT_HELD)
    lost = evolve(RIGHT, partition_epoch_update=PartitionEpochUpdate.SET_BY_SET)
    assert epochs_after(lost, (5, 5, NOT_HELD), REVOKING, given_back) == (7, NOT_HELD, NOT_HELD)
    assert epochs_after(lost, (5, 5, NOT_HELD), MEMBER, evolve(MEMBER, member_epoch=6)) == (5, 5, NOT_HELD)
    assert epochs_after(lost, FREE, None, MEMBER) == (5, 5, NOT_HELD)


def test_what_another_has_by_now_is_not_freed() -> None:
    """A member's partition that carries another epoch belongs to somebody else."""
    assert epochs_after(RIGHT, (5, 8, NOT_HELD), MEMBER, None) == (NOT_HELD, 8, NOT_HELD)


def test_the_later_epoch_stays() -> None:
    """Should two members have a partition, it carries the later epoch of both."""
    assert epochs_after(RIGHT, (NOT_HELD, 8, NOT_HELD), None, MEMBER) == (5, 8, NOT_HELD)
    assert epochs_after(RIGHT, (NOT_HELD, 4, NOT_HELD), None, MEMBER) == (5, 5, NOT_HELD)


# -- commits --


@pytest.mark.parametrize(
    ("record", "received", "partition", "since_4_3", "until_4_2"),
    [
        (MEMBER, 5, 2, Error.NONE, Error.NONE),
        (MEMBER, 6, 0, Error.STALE_MEMBER_EPOCH, Error.STALE_MEMBER_EPOCH),
        (MEMBER, 4, 0, Error.STALE_MEMBER_EPOCH, Error.STALE_MEMBER_EPOCH),
        (MEMBER, 4, 1, Error.NONE, Error.STALE_MEMBER_EPOCH),
        (MEMBER, 2, 1, Error.STALE_MEMBER_EPOCH, Error.STALE_MEMBER_EPOCH),
        (MEMBER, 4, 2, Error.STALE_MEMBER_EPOCH, Error.STALE_MEMBER_EPOCH),
        (REVOKING, 4, 1, Error.NONE, Error.STALE_MEMBER_EPOCH),
        (None, 5, 0, Error.UNKNOWN_MEMBER_ID, Error.UNKNOWN_MEMBER_ID),
    ],
)
def test_commits(record: Member | None, received: int, partition: int, since_4_3: Error, until_4_2: Error) -> None:
    """Since 4.3 an older epoch will do for a partition that was given under it or before, and is still held (KIP-1251)."""
    assert commit_error(RIGHT, record, received, partition) is since_4_3
    assert commit_error(evolve(RIGHT, commit_epochs=CommitEpochs.CURRENT), record, received, partition) is until_4_2
    assert commit_error(evolve(RIGHT, commit_epochs=CommitEpochs.ANY), record, received, partition) is Error.NONE


# -- all inputs --

holdings = st.lists(st.sampled_from([NOT_HELD, 1, 2, 3]), min_size=COUNT, max_size=COUNT).map(tuple)
parts = st.frozensets(st.sampled_from(range(COUNT)))


@st.composite
def records(draw: st.DrawFn) -> Member:
    """Draw a record: what is assigned is not also to be given up."""
    assigned, pending = draw(holdings), draw(holdings)
    apart = tuple(NOT_HELD if one != NOT_HELD else other for one, other in zip(assigned, pending, strict=True))
    return Member(draw(st.integers(3, 5)), draw(st.integers(-1, 5)), draw(st.sampled_from(MemberState)), assigned, apart)


@given(member=records(), wanted=parts, epoch=st.integers(3, 6), owned=st.none() | parts, others=holdings)
def test_what_reconciliation_may_do(member: Member, wanted: Partitions, epoch: int, owned: Partitions | None, others: Held) -> None:
    """Nothing that somebody else has is given, nothing that may be owned is freed, and the epoch does not move while it may."""
    mine = all_held(member)
    epochs = tuple(member.member_epoch if partition in mine else other for partition, other in enumerate(others))
    after = reconcile(RIGHT, member, target(epoch, *wanted), owned, epochs)
    assert held(after.assigned).isdisjoint(held(after.pending_revocation))
    assert held(after.assigned) - held(member.assigned) <= {part for part in range(COUNT) if part in mine or epochs[part] == NOT_HELD}
    if owned is None:
        assert mine <= all_held(after) or (member.state is not UNREVOKED and held(member.assigned) <= all_held(after))
    assert after.member_epoch in {member.member_epoch, epoch}
    if after.state is UNREVOKED and after is not member:
        assert after.member_epoch == member.member_epoch
    if after.member_epoch != member.member_epoch:
        assert held(after.assigned) <= wanted
        assert not held(after.pending_revocation)


def test_leaving_is_no_epoch_of_a_member() -> None:
    """The epochs with which a member joins and leaves are as in the protocol."""
    assert (JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH, NOT_HELD) == (0, -1, -2, -1)
