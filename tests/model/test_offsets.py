# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``offsets`` machine: when it is enabled and what it does; each check of a commit; replay and compaction."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from hwmark.model.machine import Machine, Step, put
from hwmark.model.offsets.machine import machine
from hwmark.model.offsets.rules import (
    CommitCheck,
    Expiry,
    Loading,
    OffsetFetchStability,
    Rules,
    TransactionalIdentity,
    TransactionalOrder,
    UnknownGroup,
)
from hwmark.model.offsets.state import (
    INVALID_OFFSET,
    Bounds,
    CommitRequest,
    Config,
    Marker,
    OffsetCommit,
    OffsetLog,
    Phase,
    Protocol,
    State,
    Tombstone,
    initial,
)
from hwmark.model.offsets.store import Offsets, compacted, replayed
from hwmark.model.offsets.validation import OUTSIDER, Error, Sender, commit_error, fetch_error, sender
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION

RIGHT, CLASSIC, CONSUMER = Rules(), Config(), Config(group_protocol=Protocol.CONSUMER)
WIDE = Bounds(
    members=2, max_offset=2, max_generation=4, commits=4, outside_commits=4, transactional_commits=4, failovers=2, retentions=3, deletions=2
)


def taken(explored: Machine[State], state: State, name: str, /, **choices: Any) -> State | None:
    """Return the state after one step, or ``None`` where it is not enabled."""
    step = Step(name, choices)
    return next(take for one, take in explored.instances() if one == step)(state)


def run(*steps: str, config: Config = CLASSIC, rules: Rules = RIGHT, bounds: Bounds = WIDE) -> State:
    """Return the state after these steps, each written as ``action member`` or ``action member value``."""
    explored = machine(rules, config, bounds)
    state = initial(bounds)
    for number, written in enumerate(steps):
        after = step(explored, state, written)
        assert after is not None, f"step {number}, {written}, is not enabled"
        state = after
    return state


def step(explored: Machine[State], state: State, written: str) -> State | None:
    """Take a step that is written as the action and the values of its choices."""
    name, *values = written.split()
    choices = next(act.domains for act in explored.actions if act.name == name)
    return taken(explored, state, name, **dict(zip(choices, map(int, values), strict=True)))


def refused(written: str, state: State, config: Config = CLASSIC, rules: Rules = RIGHT, bounds: Bounds = WIDE) -> bool:
    """Whether a step is not enabled."""
    return step(machine(rules, config, bounds), state, written) is None


OWNED = ("join_group 0", "complete_join", "sync_group 0")
CONSUMING = (*OWNED, "fetch_offset 0", "consume 0")
COMMITTED = (*CONSUMING, "send_commit 0", "handle_commit 0")
EMPTY = (*COMMITTED, "remove_member 0", "complete_join")
OWNED_CONSUMER = ("join_group 0", "assign_partition 0")


# -- the group --


def test_a_classic_group_goes_through_a_rebalance() -> None:
    """Who joins begins a rebalance; once it is complete there is a generation, and once it is assigned an owner, who hears of it."""
    joined = run("join_group 0")
    assert (joined.phase, joined.generation, joined.stored.phase) == (Phase.PREPARING_REBALANCE, 0, Phase.ABSENT)
    begun = run("join_group 0", "complete_join")
    assert (begun.phase, begun.generation, begun.owner) == (Phase.COMPLETING_REBALANCE, 1, NOBODY)
    owned = run(*OWNED)
    assert (owned.phase, owned.owner, owned.assignment_epoch, owned.believed) == (Phase.STABLE, 0, 1, (1, UNKNOWN_GENERATION))
    assert (owned.stored.phase, owned.stored.generation, owned.stored.owner) == (Phase.STABLE, 1, 0)
    assert refused("sync_group 1", begun)
    assert refused("complete_join", owned)
    assert refused("join_group 0", owned)


def test_a_group_without_members_is_empty() -> None:
    """The generation in which nobody joined is an empty one, and it is stored since when."""
    empty = run(*OWNED, "remove_member 0", "pass_retention_period", "complete_join")
    assert (empty.phase, empty.generation, empty.empty_since, empty.stored.phase) == (Phase.EMPTY, 2, 1, Phase.EMPTY)
    assert empty.believed == (1, UNKNOWN_GENERATION)


def test_who_joins_again_is_somebody_new() -> None:
    """Nothing that the process knew or sent in its former life is left."""
    state = run(*CONSUMING, "send_commit 0", "remove_member 0", "join_group 0")
    assert (state.believed[0], state.positions[0], state.requests[0]) == (UNKNOWN_GENERATION, INVALID_OFFSET, None)


def test_generations_run_out() -> None:
    """Nobody joins or leaves once no generation is left."""
    state = run("join_group 0", "complete_join", bounds=evolve(WIDE, max_generation=1))
    for written in ("join_group 1", "remove_member 0"):
        assert refused(written, state, bounds=evolve(WIDE, max_generation=1))


def test_a_consumer_group_raises_its_epoch_with_each_change() -> None:
    """Joining and leaving raise the epoch; the partition is given away under it, and not again under the same one."""
    owned = run(*OWNED_CONSUMER, config=CONSUMER)
    assert (owned.phase, owned.generation, owned.owner, owned.assignment_epoch, owned.epochs[0]) == (Phase.STABLE, 1, 0, 1, 1)
    left = run(*OWNED_CONSUMER, "join_group 1", "remove_member 0", config=CONSUMER)
    assert (left.phase, left.generation, left.owner, left.believed[0]) == (Phase.STABLE, 3, NOBODY, 1)
    alone = run(*OWNED_CONSUMER, "pass_retention_period", "remove_member 0", config=CONSUMER)
    assert (alone.phase, alone.empty_since) == (Phase.EMPTY, 1)
    for written in ("assign_partition 0", "release_partition 0", "advance_epoch 0", "hear_epoch 0", "complete_join"):
        assert refused(written, owned, CONSUMER)


def test_a_member_keeps_the_partition_or_gives_it_up() -> None:
    """Once the epoch was raised the owner is moved on with the partition, which it hears later, or releases it."""
    kept = run(*OWNED_CONSUMER, "join_group 1", "advance_epoch 0", config=CONSUMER)
    assert (kept.owner, kept.epochs[0], kept.believed[0], kept.assignment_epoch) == (0, 2, 1, 1)
    assert refused("release_partition 0", kept, CONSUMER)
    heard = run(*OWNED_CONSUMER, "join_group 1", "advance_epoch 0", "hear_epoch 0", config=CONSUMER)
    assert heard.believed[0] == 2
    released = run(*OWNED_CONSUMER, "join_group 1", "release_partition 0", config=CONSUMER)
    assert (released.owner, released.epochs[0], released.believed[0]) == (NOBODY, 2, UNKNOWN_GENERATION)
    assert run(*OWNED_CONSUMER, "join_group 1", "release_partition 0", "assign_partition 1", config=CONSUMER).assignment_epoch == 2


def test_each_protocol_has_its_own_steps() -> None:
    """A classic group has no heartbeats that assign, a consumer group no rebalance that all wait for."""
    assert refused("assign_partition 0", run("join_group 0"))
    assert refused("advance_epoch 0", run(*OWNED, "join_group 1"))
    assert refused("release_partition 0", run(*OWNED, "join_group 1"))
    assert refused("hear_epoch 0", run(*OWNED))
    assert refused("complete_join", run("join_group 0", config=CONSUMER), CONSUMER)
    assert refused("sync_group 0", run("join_group 0", config=CONSUMER), CONSUMER)


# -- members --


def test_the_first_position_is_the_committed_offset() -> None:
    """Without one a member begins at the start; with one, there; and it asks only once."""
    assert run(*OWNED, "fetch_offset 0").positions[0] == 0
    assert run(*EMPTY, "join_group 1", "complete_join", "sync_group 1", "fetch_offset 1").positions[1] == 1
    assert refused("fetch_offset 0", run(*CONSUMING))
    assert refused("fetch_offset 0", run("join_group 0"))


def test_a_member_consumes_what_there_is() -> None:
    """The position goes up to the end of the log, and only for whoever believes to have the partition."""
    assert run(*CONSUMING, "consume 0").positions[0] == 2
    assert refused("consume 0", run(*CONSUMING, "consume 0"))
    assert refused("consume 0", run(*OWNED))
    assert refused("consume 0", run(*CONSUMING, "stop_consuming 0"))


def test_one_commit_is_under_way_at_a_time() -> None:
    """A member sends its position with the generation that it knows, one request after the other, as often as bounds allow."""
    sent = run(*CONSUMING, "send_commit 0")
    assert sent.requests[0] == CommitRequest(1, 1, is_transactional=False)
    assert refused("send_commit 0", sent)
    assert refused("send_transactional_commit 0", sent)
    assert run(*CONSUMING, "send_transactional_commit 0").requests[0] == CommitRequest(1, 1, is_transactional=True)
    none = evolve(WIDE, commits=0, transactional_commits=0)
    assert refused("send_commit 0", run(*CONSUMING), bounds=none)
    assert refused("send_transactional_commit 0", run(*CONSUMING), bounds=none)
    assert refused("stop_consuming 1", sent)


def test_a_request_arrives_after_its_member_stopped() -> None:
    """A request under way still arrives, and its commit counts as long as the member has the partition for the coordinator."""
    state = run(*CONSUMING, "send_commit 0", "stop_consuming 0", "handle_commit 0")
    assert state.committed == OffsetCommit(0, 1, 0, NOBODY)


# -- commits --


def test_a_commit_is_written_and_held() -> None:
    """The coordinator holds what it wrote."""
    state = run(*COMMITTED)
    assert (state.committed, state.log, state.next_record_offset, state.requests[0]) == (
        OffsetCommit(0, 1, 0, NOBODY),
        (state.committed,),
        1,
        None,
    )


@pytest.mark.parametrize(
    ("steps", "error", "believed"),
    [
        (("join_group 1", "complete_join"), Error.ILLEGAL_GENERATION, UNKNOWN_GENERATION),
        (("remove_member 0",), Error.UNKNOWN_MEMBER_ID, UNKNOWN_GENERATION),
        (("remove_member 0", "complete_join", "expire_offsets"), Error.GROUP_ID_NOT_FOUND, UNKNOWN_GENERATION),
    ],
)
def test_a_zombie_is_told(steps: tuple[str, ...], error: Error, believed: int) -> None:
    """A commit from outside of the current generation is refused, and its member stops consuming."""
    before = run(*CONSUMING, "send_commit 0", *steps)
    request = before.requests[0]
    assert request is not None
    assert commit_error(RIGHT, CLASSIC, before, sender(RIGHT, 0, request)) is error
    after = run(*CONSUMING, "send_commit 0", *steps, "handle_commit 0")
    assert (after.log, after.believed[0], after.requests[0]) == ((), believed, None)


def test_an_old_refusal_does_not_stop_a_new_owner() -> None:
    """Who got the partition again under a later generation goes on, whatever becomes of its earlier request."""
    after = run(*CONSUMING, "send_commit 0", "join_group 1", "complete_join", "sync_group 0", "handle_commit 0")
    assert (after.log, after.believed[0]) == ((), 2)


def state_of(phase: Phase, generation: int, epochs: tuple[int, int], **changes: Any) -> State:
    """Return a state of the group in which nothing was committed."""
    return put(initial(WIDE), phase=phase, generation=generation, epochs=epochs, **changes)


STABLE = state_of(Phase.STABLE, 2, (2, UNKNOWN_GENERATION))
COMPLETING = state_of(Phase.COMPLETING_REBALANCE, 2, (2, UNKNOWN_GENERATION))
ABSENT = state_of(Phase.ABSENT, 2, (UNKNOWN_GENERATION,) * 2)
NO_MEMBERS = state_of(Phase.EMPTY, 2, (UNKNOWN_GENERATION,) * 2)
LOADING = put(ABSENT, is_loading=True)
TRANSACTIONAL_OUTSIDER = evolve(OUTSIDER, is_transactional=True)


@pytest.mark.parametrize(
    ("state", "by", "error"),
    [
        (STABLE, Sender(0, 2), Error.NONE),
        (STABLE, Sender(0, 1), Error.ILLEGAL_GENERATION),
        (STABLE, Sender(0, 3), Error.ILLEGAL_GENERATION),
        (STABLE, Sender(1, 2), Error.UNKNOWN_MEMBER_ID),
        (STABLE, Sender(NOBODY, 2), Error.UNKNOWN_MEMBER_ID),
        (STABLE, Sender(0, UNKNOWN_GENERATION), Error.ILLEGAL_GENERATION),
        (STABLE, OUTSIDER, Error.UNKNOWN_MEMBER_ID),
        (STABLE, TRANSACTIONAL_OUTSIDER, Error.NONE),
        (STABLE, Sender(0, 1, is_transactional=True), Error.ILLEGAL_GENERATION),
        (COMPLETING, Sender(0, 2), Error.REBALANCE_IN_PROGRESS),
        (COMPLETING, Sender(0, 2, is_transactional=True), Error.NONE),
        (COMPLETING, Sender(0, 1), Error.ILLEGAL_GENERATION),
        (COMPLETING, OUTSIDER, Error.UNKNOWN_MEMBER_ID),
        (NO_MEMBERS, OUTSIDER, Error.NONE),
        (NO_MEMBERS, TRANSACTIONAL_OUTSIDER, Error.NONE),
        (NO_MEMBERS, Sender(0, 2), Error.UNKNOWN_MEMBER_ID),
        (ABSENT, OUTSIDER, Error.NONE),
        (ABSENT, Sender(0, 2), Error.GROUP_ID_NOT_FOUND),
        (ABSENT, Sender(0, 2, is_transactional=True), Error.ILLEGAL_GENERATION),
        (LOADING, OUTSIDER, Error.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_a_classic_group_checks_in_this_order(state: State, by: Sender, error: Error) -> None:
    """The answer is that of ``ClassicGroup.validateOffsetCommit``."""
    assert commit_error(RIGHT, CLASSIC, state, by) is error


HELD = state_of(Phase.STABLE, 4, (3, 4), owner=0, assignment_epoch=2)


@pytest.mark.parametrize(
    ("state", "by", "error"),
    [
        (HELD, Sender(0, 3), Error.NONE),
        (HELD, Sender(0, 2), Error.NONE),
        (HELD, Sender(0, 1), Error.STALE_MEMBER_EPOCH),
        (HELD, Sender(0, 4), Error.STALE_MEMBER_EPOCH),
        (HELD, Sender(0, 1, is_transactional=True), Error.ILLEGAL_GENERATION),
        (HELD, Sender(1, 3), Error.STALE_MEMBER_EPOCH),
        (HELD, Sender(1, 4), Error.NONE),
        (HELD, OUTSIDER, Error.UNKNOWN_MEMBER_ID),
        (HELD, TRANSACTIONAL_OUTSIDER, Error.NONE),
        (NO_MEMBERS, OUTSIDER, Error.NONE),
        (NO_MEMBERS, Sender(0, 2), Error.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_consumer_group_checks_in_this_order(state: State, by: Sender, error: Error) -> None:
    """The answer is that of ``ConsumerGroup.validateOffsetCommit`` with KIP-1251; to commit is not refused to who has no partition."""
    assert commit_error(RIGHT, CONSUMER, state, by) is error


def test_rules_of_commits() -> None:
    """Each rule of who may commit changes the answer that it is about."""
    exact = Rules(commit_check=CommitCheck.EXACT)
    assert commit_error(exact, CONSUMER, HELD, Sender(0, 2)) is Error.STALE_MEMBER_EPOCH
    assert commit_error(Rules(commit_check=CommitCheck.MEMBER_ONLY), CLASSIC, STABLE, Sender(0, 1)) is Error.NONE
    assert commit_error(Rules(unknown_group=UnknownGroup.STORE), CLASSIC, ABSENT, Sender(0, 2)) is Error.NONE
    assert commit_error(Rules(loading=Loading.SERVE), CLASSIC, LOADING, OUTSIDER) is Error.NONE
    request = CommitRequest(2, 1, is_transactional=True)
    assert sender(Rules(transactional_identity=TransactionalIdentity.NOBODY), 0, request) == TRANSACTIONAL_OUTSIDER
    assert sender(RIGHT, 0, request) == Sender(0, 2, is_transactional=True)


def test_who_may_ask_for_offsets() -> None:
    """A classic group checks nothing, a consumer group the epoch; all wait for loading and for transactions, under these rules."""
    pending = put(HELD, pending={1: OffsetCommit(0, 1, 0, 1)})
    assert fetch_error(RIGHT, CLASSIC, STABLE, 1, 1) is Error.NONE
    assert fetch_error(RIGHT, CONSUMER, HELD, 0, 3) is Error.NONE
    assert fetch_error(RIGHT, CONSUMER, HELD, 0, 2) is Error.STALE_MEMBER_EPOCH
    assert fetch_error(RIGHT, CONSUMER, NO_MEMBERS, 0, 2) is Error.UNKNOWN_MEMBER_ID
    assert fetch_error(RIGHT, CONSUMER, ABSENT, 0, 2) is Error.NONE
    assert fetch_error(RIGHT, CONSUMER, LOADING, 0, 2) is Error.COORDINATOR_LOAD_IN_PROGRESS
    assert fetch_error(RIGHT, CONSUMER, pending, 0, 3) is Error.UNSTABLE_OFFSET_COMMIT
    assert fetch_error(Rules(offset_fetch=OffsetFetchStability.ANY), CONSUMER, pending, 0, 3) is Error.NONE


def test_a_former_member_that_asks_for_its_offset_stops() -> None:
    """In a consumer group who asks after it was taken out hears so."""
    state = run(*OWNED_CONSUMER, "join_group 1", "remove_member 0", "fetch_offset 0", config=CONSUMER)
    assert state.believed[0] == UNKNOWN_GENERATION


# -- from outside, and transactions --


def test_whoever_is_no_member_commits_while_there_are_none() -> None:
    """The offset may be any, and makes the group exist; with members it is refused."""
    state = run("commit_from_outside 2", "commit_from_outside 1")
    assert (state.phase, state.stored.phase) == (Phase.EMPTY, Phase.ABSENT)
    assert state.committed == OffsetCommit(1, 1, 0, NOBODY)
    assert refused("commit_from_outside 0", run(*OWNED))
    assert refused("commit_from_outside 0", run(), bounds=evolve(WIDE, outside_commits=0))


TRANSACTION = (*CONSUMING, "send_transactional_commit 0", "handle_commit 0")


def test_a_transactional_commit_waits_for_its_marker() -> None:
    """It is held as pending, and committed or forgotten with the marker; until then a new owner has no position."""
    pending = run(*TRANSACTION)
    assert (pending.committed, pending.pending) == (None, (OffsetCommit(0, 1, 0, 0), None))
    committed = run(*TRANSACTION, "end_transaction 0 1")
    assert (committed.committed, committed.pending) == (OffsetCommit(0, 1, 0, 0), (None, None))
    assert run(*TRANSACTION, "end_transaction 0 0").committed is None
    assert refused("end_transaction 0 1", committed)
    assert refused("fetch_offset 1", run(*TRANSACTION, "join_group 1", "complete_join", "sync_group 1"))


# -- expiry and deletion --


def test_an_offset_expires_once_the_group_was_empty_for_long() -> None:
    """With it goes the group; not while there are members, not before the time is over, not while a transaction is open."""
    expired = run(*EMPTY, "pass_retention_period", "expire_offsets")
    assert (expired.committed, expired.phase, expired.stored.phase, expired.log[-1]) == (None, Phase.ABSENT, Phase.ABSENT, Tombstone(1))
    assert refused("expire_offsets", run(*EMPTY))
    assert refused("expire_offsets", run(*COMMITTED, "pass_retention_period"))
    assert refused("expire_offsets", run(*COMMITTED, "pass_retention_period", "remove_member 0", "complete_join"))
    assert refused("expire_offsets", run(*TRANSACTION, "remove_member 0", "complete_join", "pass_retention_period"))
    assert refused("expire_offsets", run())


def test_an_offset_without_a_group_expires_by_its_age() -> None:
    """A simple consumer's offset counts from its commit."""
    assert run("commit_from_outside 1", "pass_retention_period", "expire_offsets").phase is Phase.ABSENT
    assert refused("expire_offsets", run("pass_retention_period", "commit_from_outside 1"))


@pytest.mark.parametrize(
    ("expiry", "steps", "expires"),
    [
        (Expiry.GROUP_EMPTY, (*COMMITTED, "pass_retention_period", "remove_member 0", "complete_join"), False),
        (Expiry.LAST_COMMIT, (*COMMITTED, "pass_retention_period", "remove_member 0", "complete_join"), True),
        (Expiry.LAST_COMMIT, (*COMMITTED, "pass_retention_period"), False),
        (Expiry.LAST_COMMIT_ALWAYS, (*COMMITTED, "pass_retention_period"), True),
        (Expiry.LAST_COMMIT_ALWAYS, COMMITTED, False),
    ],
)
def test_rules_of_expiry(expiry: Expiry, steps: tuple[str, ...], *, expires: bool) -> None:
    """From when the time counts, and whether members keep the offset."""
    rules = Rules(expiry=expiry)
    assert refused("expire_offsets", run(*steps, rules=rules), rules=rules) is not expires


def test_an_empty_group_without_offsets_goes() -> None:
    """Nothing keeps it."""
    assert run(*OWNED, "remove_member 0", "complete_join", "expire_offsets").phase is Phase.ABSENT
    assert refused("expire_offsets", run(*OWNED))


def test_a_group_is_deleted_with_what_it_committed() -> None:
    """Only an empty one, with what is committed and what is pending."""
    deleted = run(*EMPTY, "delete_group")
    assert (deleted.phase, deleted.committed, deleted.log[-1]) == (Phase.ABSENT, None, Tombstone(1))
    undecided = run(*TRANSACTION, "remove_member 0", "complete_join", "delete_group")
    assert (undecided.pending, undecided.log[-1]) == ((None, None), Tombstone(1))
    assert run(*OWNED, "remove_member 0", "complete_join", "delete_group").log == ()
    assert refused("delete_group", run(*COMMITTED))


# -- the log --

PLAIN_0, PLAIN_1, PLAIN_2 = (OffsetCommit(offset, offset + 5, 0, NOBODY) for offset in range(3))
TXN_0, TXN_1 = (OffsetCommit(offset, offset + 7, 0, 0) for offset in range(2))


@pytest.mark.parametrize(
    ("log", "left"),
    [
        ((), ()),
        ((PLAIN_0, PLAIN_1), (PLAIN_1,)),
        ((PLAIN_0, Tombstone(1)), ()),
        ((PLAIN_0, Tombstone(1), PLAIN_2), (PLAIN_2,)),
        ((TXN_0, PLAIN_1), (TXN_0, PLAIN_1)),
        ((TXN_0, PLAIN_1, Marker(2, 0, is_commit=True)), (PLAIN_1,)),
        ((TXN_0, PLAIN_1, Marker(2, 0, is_commit=False)), (PLAIN_1,)),
        ((PLAIN_0, TXN_1, Marker(2, 0, is_commit=True)), (TXN_1, Marker(2, 0, is_commit=True))),
        ((PLAIN_0, TXN_1, Marker(2, 0, is_commit=False)), (PLAIN_0,)),
        ((TXN_0, Tombstone(1), Marker(2, 0, is_commit=True)), ()),
        ((TXN_0, Marker(1, 0, is_commit=True), OffsetCommit(2, 9, 0, 0)), (TXN_0, Marker(1, 0, is_commit=True), OffsetCommit(2, 9, 0, 0))),
    ],
)
def test_compaction(log: OffsetLog, left: OffsetLog) -> None:
    """Of what is decided only the latest value stays, and compacting again changes nothing."""
    assert compacted(log) == left
    assert compacted(left) == left


@pytest.mark.parametrize(
    ("log", "held"),
    [
        ((PLAIN_0, PLAIN_1), Offsets(PLAIN_1, (None, None))),
        ((TXN_0, PLAIN_1), Offsets(PLAIN_1, (TXN_0, None))),
        ((TXN_0, PLAIN_1, Marker(2, 0, is_commit=True)), Offsets(PLAIN_1, (None, None))),
        ((PLAIN_0, TXN_1, Marker(2, 0, is_commit=True)), Offsets(TXN_1, (None, None))),
        ((PLAIN_0, TXN_1, Marker(2, 0, is_commit=False)), Offsets(PLAIN_0, (None, None))),
        ((TXN_0, Tombstone(1), Marker(2, 0, is_commit=True)), Offsets(None, (None, None))),
        ((Marker(0, 1, is_commit=True),), Offsets(None, (None, None))),
    ],
)
def test_replay(log: OffsetLog, held: Offsets) -> None:
    """Plain commits count at once, those of transactions with their marker, unless a later one or a tombstone came between."""
    assert replayed(RIGHT, log, 2) == held


def test_marker_order_takes_the_marker_for_the_commit() -> None:
    """The mistaken rule lets the transaction win."""
    log = (TXN_0, PLAIN_1, Marker(2, 0, is_commit=True))
    assert replayed(Rules(transactional_order=TransactionalOrder.MARKER), log, 2).committed == TXN_0


def test_compacting_changes_nothing_but_the_log() -> None:
    """The coordinator holds what it held."""
    before = run(*COMMITTED, "consume 0", "send_commit 0", "handle_commit 0")
    after = run(*COMMITTED, "consume 0", "send_commit 0", "handle_commit 0", "compact_log")
    assert after == put(before, log=(before.committed,))
    assert refused("compact_log", after)


# -- failover --


def test_a_new_coordinator_knows_what_was_written() -> None:
    """Before it has read the log it knows nothing, and answers nobody; afterwards the group is as it was stored."""
    failed = run(*COMMITTED, "send_commit 0", "fail_over")
    assert (failed.phase, failed.committed, failed.epochs, failed.is_loading) == (Phase.ABSENT, None, (UNKNOWN_GENERATION,) * 2, True)
    for written in ("handle_commit 0", "join_group 1", "commit_from_outside 1", "expire_offsets", "delete_group", "fail_over"):
        assert refused(written, failed)
    assert run(*COMMITTED, "fail_over", "load_group") == put(run(*COMMITTED), failovers=1)
    assert refused("load_group", run(*COMMITTED))


def test_a_rebalance_that_was_not_stored_is_forgotten() -> None:
    """The generation before it goes on."""
    state = run(*COMMITTED, "join_group 1", "complete_join", "fail_over", "load_group")
    assert (state.phase, state.generation, state.owner) == (Phase.STABLE, 1, 0)


def test_offsets_make_their_group_exist() -> None:
    """A group of which only offsets were stored is found again, empty."""
    assert run("commit_from_outside 1", "fail_over", "load_group").phase is Phase.EMPTY
    assert run("fail_over", "load_group").phase is Phase.ABSENT


def test_served_while_loading() -> None:
    """The mistaken rule answers from nothing."""
    rules = Rules(loading=Loading.SERVE)
    state = run("commit_from_outside 1", *OWNED, "fail_over", "fetch_offset 0", rules=rules)
    assert state.positions[0] == 0


def test_budgets_are_kept() -> None:
    """Time, failovers and deletions are as many as bounds allow."""
    none = evolve(WIDE, failovers=0, retentions=0, deletions=0)
    assert refused("fail_over", run(), bounds=none)
    assert refused("pass_retention_period", run(), bounds=none)
    assert refused("delete_group", run(*EMPTY), bounds=none)
