# SPDX-License-Identifier: Apache-2.0
"""What a leader of the ``partition`` machine does, action by action, and what each of its rules decides."""

from __future__ import annotations

import pytest
from attrs import evolve
from partition_states import (
    BOUNDS,
    CONFIG,
    START,
    A,
    B,
    C,
    answered,
    fetch,
    follower,
    leading,
    logs,
    process,
    proposed,
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
from hwmark.model.machine import put
from hwmark.model.partition.alter_partition import AlterPartition, Errors
from hwmark.model.partition.leader import (
    acknowledge_produce,
    append_record,
    delete_old_segment,
    delete_records,
    handle_fetch,
    propose_from_memory,
    propose_shrink,
    receive_alter_partition,
    refuse_produce,
)
from hwmark.model.partition.rules import (
    EpochBegin,
    ExpandGuard,
    ExpandOn,
    FetchFence,
    HighWatermarkMinimum,
    HighWatermarkOver,
    Refusal,
    Retention,
    Truncation,
)
from hwmark.model.partition.state import Acks, FetchAnswer, FetchError, FetchRequest, State, Status, Waiting

ALONE = evolve(CONFIG, min_isr=1)
WITHOUT_ALL = evolve(CONFIG, acks=Acks.LEADER)
APPENDED = taken(append_record, START, leader=0)


def isr(state: State, *members: int) -> State:
    """Return the state in which broker 0 knows this ISR."""
    return replica(state, 0, isr=frozenset(members))


def answer(state: State, broker: int = 1) -> FetchAnswer:
    """Return the answer to a follower."""
    found = state.fetching[broker]
    assert isinstance(found, FetchAnswer)
    return found


# -- producers --


def test_a_leader_appends() -> None:
    """The record goes to the end of its log, in its leader epoch; the producer waits, and nothing is committed yet."""
    assert APPENDED.logs == ((Log((A,)), Log(), Log(), Log()))
    assert (APPENDED.produced[0], APPENDED.next_record_id) == (Waiting(0, 0), 1)
    assert APPENDED.replicas[0].high_watermark == 0
    assert taken(append_record, leading(START, 1), leader=1).logs[1] == Log((Record(0, 1),))


def test_a_leader_that_is_alone_in_the_isr_commits_at_once() -> None:
    """If the operator asks for no more."""
    assert taken(append_record, isr(START, 0), leader=0, config=ALONE).replicas[0].high_watermark == 1


def test_a_producer_may_not_wait() -> None:
    """With ``acks=0`` it hears nothing."""
    assert taken(append_record, START, leader=0, config=evolve(CONFIG, acks=Acks.NONE)).produced == (None, None, None)


def test_who_does_not_append() -> None:
    """Followers, brokers that do not run, and nobody once the records are used up; a zombie does."""
    assert take(append_record, START, leader=1) is None
    assert take(append_record, stopped(START, 0), leader=0) is None
    assert take(append_record, put(START, next_record_id=BOUNDS.records), leader=0) is None
    assert take(append_record, leading(START, 1), leader=0) is not None


def test_too_small_an_isr_stops_acks_all() -> None:
    """NOT_ENOUGH_REPLICAS is for ``acks=all`` alone; no more members can be asked for than there are replicas."""
    assert take(append_record, isr(START, 0), leader=0) is None
    assert take(append_record, isr(START, 0), leader=0, config=WITHOUT_ALL) is not None
    assert take(append_record, START, leader=0, config=evolve(CONFIG, min_isr=5)) is not None


def test_a_stored_record_is_acknowledged() -> None:
    """With ``acks=1`` at once, with ``acks=all`` once it is committed and enough may be in sync, proposed members counted."""
    assert taken(acknowledge_produce, APPENDED, record=0, config=WITHOUT_ALL).produced[0] is None
    assert take(acknowledge_produce, APPENDED, record=0) is None
    committed = replica(APPENDED, 0, high_watermark=1)
    assert taken(acknowledge_produce, committed, record=0).produced[0] is None
    assert take(acknowledge_produce, isr(committed, 0), record=0) is None
    assert take(acknowledge_produce, isr(replica(committed, 0, proposed=frozenset({0, 1})), 0), record=0) is not None
    assert take(acknowledge_produce, committed, record=1) is None


def test_a_committed_record_may_be_refused() -> None:
    """If the ISR is below its minimum by then, which ``acks=1`` does not ask."""
    committed = isr(replica(APPENDED, 0, high_watermark=1), 0)
    assert taken(refuse_produce, committed, record=0).produced[0] is None
    assert take(refuse_produce, committed, record=0, config=WITHOUT_ALL) is None
    assert take(refuse_produce, isr(APPENDED, 0), record=0) is None
    assert take(refuse_produce, replica(APPENDED, 0, high_watermark=1), record=0) is None
    assert take(refuse_produce, committed, record=1) is None


# -- fetches --


def test_a_fetch_brings_the_next_record() -> None:
    """And the leader notes how far the follower is, and in which broker epoch."""
    state = taken(handle_fetch, fetch(logs(START, (A, B)), fetch_offset=1, last_fetched_epoch=0), follower=1)
    assert (answer(state).record, answer(state).error, answer(state).diverging_epoch) == (B, None, -1)
    assert (answer(state).high_watermark, answer(state).log_start_offset, answer(state).log_end_offset) == (0, 0, 2)
    noted = state.followers[0][1]
    assert (noted.end_offset, noted.broker_epoch) == (1, 1)


def test_the_high_watermark_advances_with_the_slowest_member() -> None:
    """Up to where all have fetched who are in the ISR; the follower learns what it was before."""
    state = fetch(follower(logs(START, (A, B)), 2, 1), fetch_offset=2, last_fetched_epoch=0)
    after = taken(handle_fetch, state, follower=1)
    assert after.replicas[0].high_watermark == 1
    unknown = taken(handle_fetch, fetch(logs(START, (A, B)), fetch_offset=2, last_fetched_epoch=0), follower=1)
    assert unknown.replicas[0].high_watermark == 0


def test_a_fetch_without_news_waits() -> None:
    """Once; it is answered when there is a record, or a higher high watermark, or a later log start."""
    held = taken(handle_fetch, fetch(START), follower=1)
    assert held.fetching[1] == FetchRequest(0, 0, 0, -1, 1, held=True)
    assert take(handle_fetch, held, follower=1) is None
    assert answer(taken(handle_fetch, logs(held, (A,)), follower=1)).record == A
    waiting = fetch(logs(START, (A,), (A,)), fetch_offset=1, last_fetched_epoch=0, held=True)
    assert answer(taken(handle_fetch, replica(waiting, 0, high_watermark=1), follower=1)).high_watermark == 1
    moved = put(replica(waiting, 0, high_watermark=1), logs={0: Log((), 1)})
    assert answer(taken(handle_fetch, replica(moved, 1, high_watermark=1), follower=1)).log_start_offset == 1


def test_a_fetch_that_is_refused() -> None:
    """In another leader epoch, by a broker that does not lead, for one that is no replica, or from below the log start."""
    later = replica(START, 0, leader_epoch=1)
    assert answer(taken(handle_fetch, fetch(later), follower=1)).error is FetchError.FENCED_LEADER_EPOCH
    assert answer(taken(handle_fetch, fetch(START, leader_epoch=1), follower=1)).error is FetchError.UNKNOWN_LEADER_EPOCH
    assert answer(taken(handle_fetch, fetch(START, leader=2), follower=1)).error is FetchError.NOT_LEADER_OR_FOLLOWER
    assert answer(taken(handle_fetch, fetch(START, broker=3), follower=3), 3).error is FetchError.UNKNOWN_LEADER_EPOCH
    deleted = fetch(logs(START, Log((B,), 1)), fetch_offset=0)
    assert answer(taken(handle_fetch, deleted, follower=1)).error is FetchError.OFFSET_OUT_OF_RANGE
    beyond = fetch(logs(START, (A,)), fetch_offset=2)
    assert answer(taken(handle_fetch, beyond, follower=1)).error is FetchError.OFFSET_OUT_OF_RANGE
    unknown_epoch = fetch(logs(START, (A,)), fetch_offset=1, last_fetched_epoch=1)
    assert answer(taken(handle_fetch, unknown_epoch, follower=1)).error is FetchError.OFFSET_OUT_OF_RANGE
    assert all(one.end_offset == -1 for one in taken(handle_fetch, unknown_epoch, follower=1).followers[0])


def test_nobody_serves_or_hears() -> None:
    """A request to a broker that is gone fails; an answer to a follower that is gone is lost, but its fetch counts."""
    assert taken(handle_fetch, fetch(stopped(START, 0)), follower=1).fetching[1] is None
    gone = taken(handle_fetch, fetch(stopped(START, 1)), follower=1)
    assert (gone.fetching[1], gone.followers[0][1].end_offset) == (None, 0)
    again = taken(handle_fetch, fetch(process(START, 1, life=2, broker_epoch=2)), follower=1)
    assert (again.fetching[1], again.followers[0][1].broker_epoch) == (None, 1)
    assert take(handle_fetch, START, follower=1) is None


LATER = leading(logs(START, (A,)), 0, leader_epoch=2)
"""Broker 0 leads again, in epoch 2, which starts at offset 1; what was in epoch 1 it does not know."""


@pytest.mark.parametrize(
    ("truncation", "diverging"), [(Truncation.EPOCH_AND_END, (0, 1)), (Truncation.END, (1, 1)), (Truncation.HIGH_WATERMARK, (-1, -1))]
)
def test_a_fetch_after_records_that_the_leader_lacks(truncation: Truncation, diverging: tuple[int, int]) -> None:
    """The right leader names the largest epoch that it knows and where that ends; by KIP-101 just an end; else it says nothing."""
    request_ = fetch(LATER, leader_epoch=2, fetch_offset=2, last_fetched_epoch=1)
    found = answer(taken(handle_fetch, request_, follower=1, rules=rules(truncation=truncation)))
    assert (found.diverging_epoch, found.diverging_end) == diverging
    assert (found.error is FetchError.OFFSET_OUT_OF_RANGE) == (truncation is Truncation.HIGH_WATERMARK)


def test_an_epoch_that_the_leader_never_had() -> None:
    """By KIP-101 a follower with as many records as the leader had before its epoch is taken for one that agrees."""
    state = fetch(LATER, leader_epoch=2, fetch_offset=1, last_fetched_epoch=1)
    assert answer(taken(handle_fetch, state, follower=1)).diverging_epoch == 0
    held = taken(handle_fetch, state, follower=1, rules=rules(truncation=Truncation.END)).fetching[1]
    assert isinstance(held, FetchRequest)


def test_a_leader_knows_where_its_epoch_starts() -> None:
    """From its election on, although it has no record of it; before KAFKA-7415 it knew nothing with an empty log."""
    empty = fetch(leading(START, 0, leader_epoch=2), leader_epoch=2, fetch_offset=1, last_fetched_epoch=1)
    known = answer(taken(handle_fetch, empty, follower=1))
    assert (known.diverging_epoch, known.diverging_end, known.error) == (1, 0, None)
    at_first_record = rules(epoch_begin=EpochBegin.AT_FIRST_RECORD)
    assert answer(taken(handle_fetch, empty, follower=1, rules=at_first_record)).error is FetchError.OFFSET_OUT_OF_RANGE


def test_without_fences_any_epoch_is_served() -> None:
    """And the leader notes what it hears."""
    unfenced = rules(fetch_fence=FetchFence.NONE)
    for state in (fetch(replica(START, 0, leader_epoch=1)), fetch(START, leader_epoch=1)):
        assert taken(handle_fetch, state, follower=1, rules=unfenced).followers[0][1].end_offset == 0


# -- who is proposed --

OUTSIDE = isr(logs(START, (A, B, C), high_watermark=1), 0, 2)
"""Broker 1 is not in the ISR; up to offset 1 all is committed, and the leader epoch starts at offset 0."""


def test_a_follower_that_caught_up_is_proposed() -> None:
    """With the broker epochs in which the members fetched, under the epochs that the leader knows."""
    state = follower(isr(logs(START, (A,), high_watermark=1), 0, 2), 2, 1, broker_epoch=3)
    after = taken(handle_fetch, fetch(state, fetch_offset=1, last_fetched_epoch=0, broker_epoch=1), follower=1)
    assert after.replicas[0].proposed == {0, 1, 2}
    proposal = after.altering[0]
    assert isinstance(proposal, AlterPartition)
    assert [(one.broker, one.broker_epoch) for one in proposal.new_isr] == [(0, 1), (1, 1), (2, 3)]
    assert (proposal.sender, proposal.broker_epoch, proposal.leader_epoch, proposal.partition_epoch) == (0, 1, 0, 0)


def test_a_proposal_answers_a_held_fetch_again() -> None:
    """A fetch that waits is looked at again once the follower can be proposed: it goes on waiting, and its sender is proposed."""
    after = taken(handle_fetch, fetch(isr(START, 0, 2), held=True), follower=1)
    assert (after.replicas[0].proposed, after.fetching[1]) == (frozenset({0, 1, 2}), fetch(START, held=True).fetching[1])


def test_one_proposal_at_a_time() -> None:
    """Neither while one is pending, nor while one of this life of the broker is under way; one of a former life does not count."""
    for state in (proposed(isr(START, 0, 2), 0), put(isr(START, 0, 2), altering={0: request(0)})):
        assert taken(handle_fetch, fetch(state), follower=1).altering == state.altering
    former = put(isr(START, 0, 2), altering={0: request(0, broker_epoch=0)})
    assert taken(handle_fetch, fetch(former), follower=1).replicas[0].proposed == {0, 1, 2}


@pytest.mark.parametrize(
    ("guard", "fetched", "is_proposed"),
    [
        (ExpandGuard.EPOCH_START, (0, 1, 2, 3), (False, False, True, True)),
        (ExpandGuard.HIGH_WATERMARK, (0, 1, 2, 3), (False, True, True, True)),
        (ExpandGuard.EPOCH_START_ONLY, (0, 1, 2, 3), (False, False, True, True)),
        (ExpandGuard.NONE, (0, 1, 2, 3), (True, True, True, True)),
    ],
)
def test_what_a_follower_must_have_on_a_fresh_leader(guard: ExpandGuard, fetched: tuple[int, ...], is_proposed: tuple[bool, ...]) -> None:
    """The high watermark of a fresh leader is late (1), its epoch starts at 2."""
    fresh = replica(OUTSIDE, 0, epoch_start=2)
    assert _proposed(fresh, guard, fetched) == is_proposed


@pytest.mark.parametrize(
    ("guard", "is_proposed"),
    [
        (ExpandGuard.EPOCH_START, (False, False, True, True)),
        (ExpandGuard.HIGH_WATERMARK, (False, False, True, True)),
        (ExpandGuard.EPOCH_START_ONLY, (False, True, True, True)),
        (ExpandGuard.NONE, (True, True, True, True)),
    ],
)
def test_what_a_follower_must_have_later(guard: ExpandGuard, is_proposed: tuple[bool, ...]) -> None:
    """The high watermark (2) is above the start of the leader's epoch (1) by then."""
    assert _proposed(replica(OUTSIDE, 0, epoch_start=1, high_watermark=2), guard, (0, 1, 2, 3)) == is_proposed


def _proposed(state: State, guard: ExpandGuard, fetched: tuple[int, ...]) -> tuple[bool, ...]:
    """Return whether a follower is proposed that fetches from each of these offsets."""
    afters = (taken(handle_fetch, fetch(state, fetch_offset=offset), follower=1, rules=rules(expand_guard=guard)) for offset in fetched)
    return tuple(bool(after.replicas[0].proposed) for after in afters)


def test_a_leader_may_go_by_its_memory() -> None:
    """Only under the rule for that, and only for a replica that it remembers to have caught up."""
    remembered = follower(isr(START, 0, 2), 1, 0)
    memory = rules(expand_on=ExpandOn.MEMORY)
    assert taken(propose_from_memory, remembered, leader=0, follower=1, rules=memory).replicas[0].proposed == {0, 1, 2}
    assert take(propose_from_memory, remembered, leader=0, follower=1) is None
    assert take(propose_from_memory, isr(START, 0, 2), leader=0, follower=1, rules=memory) is None
    assert take(propose_from_memory, follower(START, 1, 0), leader=0, follower=1, rules=memory) is None
    assert take(propose_from_memory, follower(START, 3, 0), leader=0, follower=3, rules=memory) is None
    assert take(propose_from_memory, START, leader=0, follower=0, rules=memory) is None
    assert take(propose_from_memory, stopped(remembered, 0), leader=0, follower=1, rules=memory) is None


def test_who_lags_is_dropped() -> None:
    """A leader proposes an ISR without a member that lacks records, or of which it has not heard, as often as the bounds say."""
    state = follower(logs(START, (A,)), 1, 0)
    after = taken(propose_shrink, state, leader=0, follower=1)
    assert (after.replicas[0].proposed, after.altering[0]) == (
        frozenset({0, 2}),
        request(0, 2, new_isr=request(0, 2).new_isr[:1] + _unknown(2)),
    )
    assert spent(state, after) == ["lags"]
    assert take(propose_shrink, START, leader=0, follower=1) is not None


def _unknown(broker: int) -> tuple[object, ...]:
    """Return a member whose broker epoch the leader does not know."""
    return (evolve(request(broker).new_isr[0], broker_epoch=-1),)


@pytest.mark.parametrize(
    "state",
    [
        without(START, "lags"),
        follower(START, 1, 0),
        isr(START, 0, 2),
        proposed(START, 0, 1),
        stopped(START, 0),
        put(START, altering={0: request(0, 1)}),
    ],
    ids=["no lags left", "caught up", "not in the ISR", "proposal pending", "not running", "proposal under way"],
)
def test_who_is_not_dropped(state: State) -> None:
    """One that has all, or is not a member; nobody while a proposal is pending or under way; and the leader never drops itself."""
    assert take(propose_shrink, state, leader=0, follower=1) is None
    assert take(propose_shrink, START, leader=0, follower=0) is None
    assert take(propose_shrink, START, leader=1, follower=2) is None


# -- what becomes of a proposal --


def test_an_accepted_proposal_is_taken_over() -> None:
    """And the high watermark may advance at once, as fewer members hold it back."""
    state = follower(logs(answered(START, 0, 1), (A,)), 1, 1)
    known = taken(receive_alter_partition, state, leader=0).replicas[0]
    assert (known.isr, known.proposed, known.partition_epoch, known.high_watermark) == (frozenset({0, 1}), frozenset(), 1, 1)
    assert taken(receive_alter_partition, state, leader=0).altering[0] is None


def test_an_accepted_proposal_may_change_nothing() -> None:
    """The partition epoch is the one that the leader knows, and the proposal is settled all the same."""
    known = taken(receive_alter_partition, answered(START, 0, 1, 2, partition_epoch=0), leader=0).replicas[0]
    assert (known.proposed, known.partition_epoch) == (frozenset(), 0)


def test_a_refusal() -> None:
    """INELIGIBLE_REPLICA is taken back; every other error leaves the proposal pending until metadata come."""
    state = answered(isr(START, 0), 0, 1, error=Errors.INELIGIBLE_REPLICA)
    assert taken(receive_alter_partition, state, leader=0).replicas[0].proposed == frozenset()
    for error in (Errors.INVALID_UPDATE_VERSION, Errors.FENCED_LEADER_EPOCH, Errors.STALE_BROKER_EPOCH, Errors.NEW_LEADER_ELECTED):
        after = taken(receive_alter_partition, answered(START, 0, error=error), leader=0)
        assert (after.replicas[0].proposed, after.altering[0]) == (frozenset({0}), None)


def test_an_answer_that_comes_too_late() -> None:
    """If nothing is pending any more, or the leader knows a later partition epoch or another leader epoch, nothing changes but the slot."""
    for state in (
        replica(answered(START, 0, 1), 0, proposed=frozenset()),
        replica(answered(START, 0, 1), 0, partition_epoch=2),
        replica(answered(START, 0, 1), 0, leader_epoch=1),
    ):
        after = taken(receive_alter_partition, state, leader=0)
        assert (after.replicas, after.altering[0]) == (state.replicas, None)
    assert take(receive_alter_partition, proposed(START, 0), leader=0) is None
    assert take(receive_alter_partition, START, leader=0) is None


@pytest.mark.parametrize(("refusal", "high_watermark"), [(Refusal.ADVANCES, 1), (Refusal.ENDS_THERE, 0)])
def test_after_a_refusal_nobody_is_waited_for(refusal: Refusal, high_watermark: int) -> None:
    """Who was proposed holds nothing back any more; Kafka notices that with the next append or fetch only."""
    state = follower(logs(isr(START, 0, 2), (A,)), 2, 1)
    refused = answered(state, 0, 1, 2, error=Errors.INELIGIBLE_REPLICA)
    after = taken(receive_alter_partition, refused, leader=0, rules=rules(refusal=refusal))
    assert after.replicas[0].high_watermark == high_watermark


# -- whom the high watermark waits for --


@pytest.mark.parametrize(
    ("over", "high_watermark"),
    [
        (HighWatermarkOver.MAXIMAL_ISR, 0),
        (HighWatermarkOver.COMMITTED_ISR, 1),
        (HighWatermarkOver.PROPOSED_ISR, 0),
        (HighWatermarkOver.ALL_REPLICAS, 0),
        (HighWatermarkOver.LEADER, 2),
    ],
)
def test_whom_the_high_watermark_waits_for_while_the_isr_grows(over: HighWatermarkOver, high_watermark: int) -> None:
    """Broker 1 is known to be in the ISR and at offset 1, broker 2 is proposed and at offset 0."""
    state = proposed(isr(follower(follower(logs(START, (A, B)), 1, 1), 2, 0), 0, 1), 0, 1, 2)
    assert _appended(state, over) == high_watermark


@pytest.mark.parametrize(
    ("over", "high_watermark"),
    [
        (HighWatermarkOver.MAXIMAL_ISR, 0),
        (HighWatermarkOver.COMMITTED_ISR, 0),
        (HighWatermarkOver.PROPOSED_ISR, 1),
        (HighWatermarkOver.ALL_REPLICAS, 0),
        (HighWatermarkOver.LEADER, 2),
    ],
)
def test_whom_the_high_watermark_waits_for_while_the_isr_shrinks(over: HighWatermarkOver, high_watermark: int) -> None:
    """Broker 1 stays in the ISR and is at offset 1, broker 2 is at offset 0 and to be dropped."""
    state = proposed(follower(follower(logs(START, (A, B)), 1, 1), 2, 0), 0, 1)
    assert _appended(state, over) == high_watermark


def _appended(state: State, over: HighWatermarkOver) -> int:
    """Return the high watermark once the leader looks how far it may advance: with a fetch of broker 1, which comes to offset 1."""
    served = fetch(follower(state, 1, 0), fetch_offset=1, last_fetched_epoch=0)
    return taken(handle_fetch, served, follower=1, rules=rules(high_watermark_over=over)).replicas[0].high_watermark


def test_a_fetch_that_is_no_further_advances_nothing() -> None:
    """The leader looks how far it may advance only when it learns that a follower has more (``Partition.updateFollowerFetchState``)."""
    state = isr(follower(logs(START, (A,)), 1, 1), 0, 1)
    after = taken(handle_fetch, fetch(state, fetch_offset=1, last_fetched_epoch=0), follower=1)
    assert after.replicas[0].high_watermark == state.replicas[0].high_watermark == 0


def test_outside_of_changes_all_replicas_or_only_members() -> None:
    """A broker that has left the ISR holds nothing back, unless the rule waits for everybody."""
    state = isr(follower(logs(START, (A,)), 1, 1), 0, 1)
    assert _appended(state, HighWatermarkOver.MAXIMAL_ISR) == 1
    assert _appended(state, HighWatermarkOver.ALL_REPLICAS) == 0


@pytest.mark.parametrize(("minimum", "high_watermark"), [(HighWatermarkMinimum.MIN_ISR, 0), (HighWatermarkMinimum.ANY_ISR, 1)])
def test_below_the_minimum_the_high_watermark_stays(minimum: HighWatermarkMinimum, high_watermark: int) -> None:
    """As long as the known ISR is smaller than ``min.insync.replicas`` (KIP-966)."""
    given = rules(high_watermark_minimum=minimum)
    after = taken(append_record, isr(START, 0), leader=0, config=WITHOUT_ALL, rules=given)
    assert after.replicas[0].high_watermark == high_watermark


# -- the start of the log --


@pytest.mark.parametrize(("retention", "is_allowed"), [(Retention.HIGH_WATERMARK, False), (Retention.LOG_END, True)])
def test_a_segment_is_deleted(retention: Retention, *, is_allowed: bool) -> None:
    """By leaders and followers, whole segments only, and what is not committed only under the rule from before KAFKA-5634."""
    given = rules(retention=retention)
    for broker in (0, 1):
        committed = logs(START, (A, B), (A, B), high_watermark=1)
        after = taken(delete_old_segment, committed, broker=broker, rules=given)
        assert (after.logs[broker], spent(committed, after)) == (Log((B,), 1), ["deletions"])
        uncommitted = take(delete_old_segment, logs(START, (A,), (A,)), broker=broker, rules=given)
        assert (uncommitted is not None) == is_allowed


def test_a_segment_is_deleted_as_a_whole() -> None:
    """Segments begin at the same offsets everywhere; half a segment is neither deleted nor, once it is what is left, kept back."""
    longer = evolve(BOUNDS, segment_size=2)
    assert take(delete_old_segment, logs(START, (A, B), high_watermark=1), broker=0, bounds=longer) is None
    assert taken(delete_old_segment, logs(START, Log((B, C), 1), high_watermark=3), broker=0, bounds=longer).logs[0] == Log((C,), 2)


def test_what_is_not_deleted() -> None:
    """Nothing beyond the end of the log, on a broker that does not run, or once the bounds allow no more."""
    committed = logs(START, (A,), high_watermark=1)
    assert take(delete_old_segment, START, broker=0, rules=rules(retention=Retention.LOG_END)) is None
    for state in (without(committed, "deletions"), stopped(committed, 0)):
        assert take(delete_old_segment, state, broker=0) is None
        assert take(delete_records, state, leader=0) is None


def test_records_are_deleted_on_request() -> None:
    """Up to the high watermark, by the leader alone."""
    committed = logs(START, (A, B), (A, B), high_watermark=1)
    after = taken(delete_records, committed, leader=0)
    assert (after.logs[0], spent(committed, after)) == (Log((B,), 1), ["deletions"])
    assert take(delete_records, committed, leader=1) is None
    assert take(delete_records, logs(START, Log((B,), 1), high_watermark=1), leader=0) is None


def test_a_process_that_starts_does_not_lead() -> None:
    """Whatever it believed before: nothing is appended, deleted or proposed by it."""
    starting = process(logs(START, (A,), high_watermark=1), 0, status=Status.STARTING)
    assert take(append_record, starting, leader=0) is None
    assert take(delete_records, starting, leader=0) is None
    assert take(propose_shrink, starting, leader=0, follower=1) is None
