# SPDX-License-Identifier: Apache-2.0
"""The actions and decisions of the classic group protocol, one by one."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from hwmark.model.group_classic.consumer import (
    connection_lost,
    consumer_close,
    consumer_commit,
    consumer_crash,
    consumer_handle_join,
    consumer_handle_sync,
    consumer_heartbeat,
    consumer_join,
    consumer_poll_timeout,
    operator_replace,
    operator_restart,
)
from hwmark.model.group_classic.coordinator import (
    coordinator_commit_assignment,
    coordinator_expire_session,
    coordinator_expire_sync,
    coordinator_handle_join,
    coordinator_handle_sync,
    coordinator_load,
    coordinator_rebalance_timeout,
    coordinator_resign,
)
from hwmark.model.group_classic.group import is_cooperative, leave_unused, selected_assignor
from hwmark.model.group_classic.machine import machine
from hwmark.model.group_classic.rules import (
    CommitFence,
    InstanceFence,
    LateSync,
    MemberIdRequired,
    MissedGeneration,
    ProtocolChoice,
    Rules,
    StaticRejoin,
    StaticReplacement,
    StaticReturn,
)
from hwmark.model.group_classic.state import (
    NOBODY,
    UNKNOWN_GENERATION,
    Answer,
    Assignor,
    Assignors,
    Bounds,
    Claim,
    Config,
    Error,
    GroupState,
    Member,
    MemberState,
    Perturbation,
    Record,
    Request,
    State,
    Waiting,
    budget,
    consumers,
    initial,
    member_ids,
    unused_ids,
)
from hwmark.model.machine import Action, ImpossibleError, put

RIGHT = Rules()
BOUNDS = Bounds(perturbations=4, stops=4, pauses=4, failovers=4, replacements=4, losses=4)
COOPERATIVE = Config(assignors=Assignors.COOPERATIVE_STICKY, static_members=0)
EAGER = Config(assignors=Assignors.RANGE_AND_COOPERATIVE_STICKY, static_members=0)
STATIC = evolve(COOPERATIVE, static_members=2)
START = initial(BOUNDS)

JOIN, SYNC = (consumer_join, coordinator_handle_join), (consumer_handle_join, coordinator_handle_sync)


def take(state: State, act: Action, config: Config = COOPERATIVE, rules: Rules = RIGHT, **choices: int) -> Any:
    """Take a step, or return ``None`` where it is not enabled."""
    return act.bind({"rules": rules, "config": config, "bounds": BOUNDS}, choices)(state)


def taken(state: State, *acts: Action, config: Config = COOPERATIVE, rules: Rules = RIGHT, **choices: int) -> State:
    """Take steps of the same consumer one after another; all must be enabled."""
    for act in acts:
        asked = {name: value for name, value in choices.items() if name in act.domains}
        state = take(state, act, config, rules, **asked)
        assert state is not None, act.name
    return state


def settled(state: State, config: Config = COOPERATIVE, rules: Rules = RIGHT) -> State:
    """Let everybody do what is to be done, in a fixed order, until nothing is."""
    quiet = (
        consumer_join,
        coordinator_handle_join,
        consumer_handle_join,
        coordinator_handle_sync,
        coordinator_commit_assignment,
        consumer_handle_sync,
        consumer_heartbeat,
        coordinator_load,
    )
    while True:
        instances = [(act, bound) for act in quiet for bound in act.bindings(BOUNDS)]
        instances += [(coordinator_rebalance_timeout, {})] if state.group.is_initial else []
        following = next((after for act, bound in instances if (after := take(state, act, config, rules, **bound)) is not None), None)
        if following is None:
            return state
        state = following


def alone(config: Config = COOPERATIVE, rules: Rules = RIGHT) -> State:
    """Return the state in which consumer 0 is the only member, and owns everything."""
    state = taken(START, consumer_join, coordinator_handle_join, config=config, rules=rules, consumer=0)
    if state.group.phase is GroupState.EMPTY:
        state = taken(state, consumer_handle_join, coordinator_handle_join, config=config, rules=rules, consumer=0)
    state = taken(state, coordinator_rebalance_timeout, config=config, rules=rules)
    state = taken(state, *SYNC, coordinator_commit_assignment, consumer_handle_sync, config=config, rules=rules, consumer=0)
    assert owned(state) == [{0, 1}, set()]
    return state


def together(config: Config = COOPERATIVE, rules: Rules = RIGHT) -> State:
    """Return the state in which both consumers are members and own a partition each."""
    state = settled(START, config, rules)
    assert owned(state) == [{0}, {1}]
    return state


def owned(state: State) -> list[set[int]]:
    """Return what the consumers own that the operator takes for the running ones."""
    return [set(state.consumers[seat].owned) for seat in range(BOUNDS.consumers)]


# -- the start --


def test_initial_state() -> None:
    """Nobody has joined, nothing is written, and every member id is free."""
    assert len(START.consumers) == BOUNDS.consumers + 4
    assert {one.phase for one in START.consumers[:2]} == {MemberState.UNJOINED}
    assert {one.phase for one in START.consumers[2:]} == {MemberState.STOPPED}
    assert set(START.members) == set(START.stored) == {None}
    assert (START.group.phase, START.record) == (GroupState.EMPTY, Record())


def test_domains() -> None:
    """Former consumers come after the running ones, and ids that nobody uses after both."""
    assert (consumers(BOUNDS), unused_ids(BOUNDS), member_ids(BOUNDS)) == (range(6), range(6, 11), range(11))
    assert consumers(Bounds()) == range(2)


def test_nothing_is_interchangeable() -> None:
    """Assignors take members and partitions in order, so that renaming would change what they do."""
    assert machine(RIGHT, COOPERATIVE, BOUNDS).interchangeable == {}


@pytest.mark.parametrize(("name", "value"), [("consumers", 0), ("partitions", 0), ("perturbations", -1), ("stops", 17)])
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})


def test_a_budget_counts_in_all_and_by_kind() -> None:
    """What is left of a kind is never more than what is left in all, so that it does not matter which kind was spent."""
    left = budget(2, 2, 2, 0, 1, 2)
    assert left.spent(Perturbation.STOP) == left.spent(Perturbation.PAUSE) == budget(1, 1, 1, 0, 1, 1)
    assert left.spent(Perturbation.REPLACEMENT) == budget(1, 1, 1, 0, 0, 1)
    assert left.spent(Perturbation.FAILOVER) is None
    assert left.spent(Perturbation.LOSS, 3) is None


# -- joining --


def test_a_dynamic_consumer_gets_its_member_id_first() -> None:
    """Without a member id it is no member yet; with it, it is, and the group prepares its first rebalance."""
    asked = taken(START, *JOIN, consumer=0)
    assert asked.answers[0] == Answer(Error.MEMBER_ID_REQUIRED)
    assert asked.members[0] == Member(0, Waiting.TO_JOIN)
    assert asked.group.phase is GroupState.EMPTY
    joined = taken(asked, consumer_handle_join, coordinator_handle_join, consumer=0)
    assert joined.members[0] == Member(0, Waiting.FIRST_JOIN)
    assert (joined.group.phase, joined.group.is_initial, joined.group.leader) == (GroupState.PREPARING_REBALANCE, True, 0)


def test_a_dynamic_consumer_may_be_a_member_at_once() -> None:
    """Before KIP-394 nobody asked for a member id."""
    joined = taken(START, *JOIN, rules=Rules(member_id_required=MemberIdRequired.NEVER), consumer=0)
    assert joined.members[0] == Member(0, Waiting.FIRST_JOIN)


def test_a_static_consumer_is_a_member_at_once() -> None:
    """It has a name of its own already."""
    assert taken(START, *JOIN, config=STATIC, consumer=0).members[0] == Member(0, Waiting.FIRST_JOIN)


def test_an_id_of_which_the_consumer_never_heard_is_left_behind() -> None:
    """A consumer whose answer is lost gets another id, and the first one stays until it expires."""
    again = taken(START, *JOIN, connection_lost, coordinator_handle_join, consumer=0)
    left = unused_ids(BOUNDS)[0]
    assert again.members[0] == again.members[left] == Member(0, Waiting.TO_JOIN)
    assert taken(again, coordinator_expire_session, member=left).members[left] is None


def test_the_first_rebalance_waits_for_its_delay() -> None:
    """Whoever joins an empty group is answered only once the initial delay is over, with all who joined meanwhile."""
    state = taken(START, *JOIN, config=STATIC, consumer=0)
    state = taken(state, *JOIN, config=STATIC, consumer=1)
    assert state.group.phase is GroupState.PREPARING_REBALANCE
    done = taken(state, coordinator_rebalance_timeout, config=STATIC)
    assert (done.group.phase, done.group.generation, done.group.leader) == (GroupState.COMPLETING_REBALANCE, 1, 0)
    assert done.answers[:2] == (Answer(generation=1), Answer(generation=1))
    assert {done.members[0], done.members[1]} == {Member(seat, Waiting.NOTHING, pending_sync=True) for seat in (0, 1)}


def test_a_new_member_makes_a_stable_group_rebalance() -> None:
    """The others are asked to join again by their heartbeats, and the last one to join completes the rebalance."""
    state = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    assert state.group.phase is GroupState.PREPARING_REBALANCE
    told = taken(state, consumer_heartbeat, consumer=0)
    assert told.consumers[0].rejoins
    assert take(told, consumer_heartbeat, consumer=0) is None
    done = taken(told, *JOIN, consumer=0)
    assert (done.group.phase, done.group.generation) == (GroupState.COMPLETING_REBALANCE, 2)


def test_eager_consumers_give_up_everything_before_they_join() -> None:
    """Cooperative ones keep what they own, and say so."""
    for config, kept in ((EAGER, frozenset[int]()), (COOPERATIVE, frozenset({0, 1}))):
        state = put(alone(config), consumers={0: put(alone(config).consumers[0], rejoins=True)})
        joining = taken(state, consumer_join, config=config, consumer=0)
        assert joining.consumers[0].owned == kept
        assert taken(joining, coordinator_handle_join, config=config, consumer=0).members[0].claim == Claim(kept, 1)  # type: ignore[union-attr]


def test_nobody_joins_who_need_not() -> None:
    """A stable consumer joins only if it is asked to, and one that waits does not join once more."""
    assert take(alone(), consumer_join, consumer=0) is None
    waiting = taken(START, consumer_join, consumer=0)
    assert take(waiting, consumer_join, consumer=0) is None
    assert take(START, coordinator_handle_join, consumer=0) is None


def test_a_consumer_without_a_common_assignor_is_refused() -> None:
    """A group that has chosen range does not let in who lists cooperative-sticky only."""
    config = Config(assignors=Assignors.RANGE, upgraded=1, static_members=0)
    state = taken(START, *JOIN, consumer_handle_join, coordinator_handle_join, config=config, consumer=1)
    refused = taken(state, *JOIN, config=config, consumer=0)
    assert refused.answers[0] == Answer(Error.INCONSISTENT_GROUP_PROTOCOL)
    assert taken(refused, consumer_handle_join, config=config, consumer=0).consumers[0].phase is MemberState.STOPPED


def test_the_group_chooses_what_all_members_list() -> None:
    """During an upgrade that is cooperative-sticky, although one of them prefers range, and is eager."""
    upgrade = evolve(EAGER, upgraded=1)
    state = settled(START, upgrade)
    assert selected_assignor(state, upgrade) is state.group.assignor is Assignor.COOPERATIVE_STICKY
    assert [is_cooperative(RIGHT, upgrade, seat) for seat in (0, 1)] == [True, False]
    assert settled(START, EAGER).group.assignor is Assignor.RANGE
    assert [is_cooperative(Rules(protocol_choice=ProtocolChoice.MOST_ADVANCED), upgrade, seat) for seat in (0, 1)] == [True, True]
    assert not is_cooperative(RIGHT, Config(assignors=Assignors.RANGE), 1)


def test_the_answer_to_a_join_is_given_again() -> None:
    """A member that joins with what it said before gets the generation that the group has; the leader of a stable group does not."""
    completing = taken(taken(START, *JOIN, config=STATIC, consumer=0), coordinator_rebalance_timeout, config=STATIC)
    asks = put(taken(completing, consumer_handle_join, config=STATIC, consumer=0), requests={0: Request.JOIN})
    asks = put(asks, consumers={0: put(asks.consumers[0], phase=MemberState.PREPARING_REBALANCE, generation=UNKNOWN_GENERATION)})
    again = taken(asks, coordinator_handle_join, config=STATIC, consumer=0)
    assert again.answers[0] == Answer(generation=1)
    assert again.group == completing.group

    stable = together()
    for leader, generation in ((1, stable.group.generation), (0, stable.group.generation)):
        member = stable.members[0]
        assert member is not None
        asks = put(stable, group=put(stable.group, leader=leader), members={0: put(member, claim=Claim(frozenset({0}), generation))})
        asks = put(asks, requests={0: Request.JOIN}, consumers={0: put(stable.consumers[0], phase=MemberState.PREPARING_REBALANCE)})
        after = taken(asks, coordinator_handle_join, consumer=0)
        assert (after.group.phase is GroupState.STABLE) is (leader == 1)


def test_a_member_that_says_something_new_makes_the_group_rebalance() -> None:
    """Also in a generation that has begun: whoever waits for its assignment is told to join again."""
    state = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    state = taken(state, consumer_heartbeat, *JOIN, *SYNC, consumer=0)
    state = taken(state, *SYNC, consumer=1)
    joined = put(state, requests={0: Request.JOIN}, consumers={0: put(state.consumers[0], phase=MemberState.PREPARING_REBALANCE)})
    after = taken(joined, coordinator_handle_join, consumer=0)
    assert after.group.phase is GroupState.PREPARING_REBALANCE
    assert after.answers[1] == Answer(Error.REBALANCE_IN_PROGRESS)
    again = taken(after, consumer_handle_sync, consumer=1)
    assert (again.consumers[1].phase, again.requests[1]) == (MemberState.PREPARING_REBALANCE, Request.JOIN)


# -- syncing --


def test_the_leaders_assignment_is_written_and_then_handed_out() -> None:
    """The group is stable only once the record is replicated; until then everybody waits."""
    state = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    state = taken(state, consumer_heartbeat, *JOIN, consumer=0)
    follower = taken(state, *SYNC, consumer=1)
    assert take(follower, coordinator_commit_assignment) is None
    leader = taken(follower, *SYNC, consumer=0)
    assert leader.record == Record(2, 0, Assignor.COOPERATIVE_STICKY)
    assert [one and one.assignment for one in leader.stored[:2]] == [frozenset({0}), frozenset()]
    assert leader.answers[:2] == (None, None)
    stable = taken(leader, coordinator_commit_assignment)
    assert stable.answers[:2] == (Answer(assignment=frozenset({0})), Answer())
    assert stable.group.phase is GroupState.STABLE
    late = taken(put(stable, answers={1: None}, requests={1: Request.SYNC}), coordinator_handle_sync, consumer=1)
    assert late.answers[1] == Answer()


def test_a_cooperative_move_takes_two_generations() -> None:
    """Whoever has to give something up joins again, and only then somebody else gets it."""
    state = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    state = taken(state, consumer_heartbeat, *JOIN, *SYNC, coordinator_commit_assignment, consumer_handle_sync, consumer=0)
    mine = state.consumers[0]
    assert (set(mine.owned), set(mine.revoking), mine.rejoins) == ({0}, {1}, True)
    assert taken(state, consumer_join, consumer=0).consumers[0].revoking == frozenset()
    assert owned(settled(state)) == [{0}, {1}]


@pytest.mark.parametrize(
    ("known", "error"),
    [
        ({"generation": 0}, Error.ILLEGAL_GENERATION),
        ({}, Error.REBALANCE_IN_PROGRESS),
    ],
)
def test_a_sync_out_of_turn_is_refused(known: dict[str, int], error: Error) -> None:
    """It needs the group's generation, and the group must not prepare the next one."""
    state = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    mine = put(state.consumers[0], phase=MemberState.COMPLETING_REBALANCE, **known)
    after = taken(put(state, consumers={0: mine}, requests={0: Request.SYNC}), coordinator_handle_sync, consumer=0)
    assert after.answers[0] == Answer(error)


def test_a_consumer_that_is_refused_a_sync_begins_anew() -> None:
    """An illegal generation leaves it its member id, an unknown member id does not, and being fenced ends it."""
    waiting = put(alone(), consumers={0: put(alone().consumers[0], phase=MemberState.COMPLETING_REBALANCE)})
    found = {
        error: taken(put(waiting, answers={0: Answer(error)}), consumer_handle_sync, consumer=0).consumers[0]
        for error in (Error.ILLEGAL_GENERATION, Error.UNKNOWN_MEMBER_ID, Error.FENCED_INSTANCE_ID)
    }
    assert {error: (one.phase, one.has_member_id) for error, one in found.items()} == {
        Error.ILLEGAL_GENERATION: (MemberState.UNJOINED, True),
        Error.UNKNOWN_MEMBER_ID: (MemberState.UNJOINED, False),
        Error.FENCED_INSTANCE_ID: (MemberState.STOPPED, False),
    }
    lost = put(waiting, consumers={0: found[Error.ILLEGAL_GENERATION]})
    assert taken(lost, consumer_join, consumer=0).consumers[0].owned == frozenset()


@pytest.mark.parametrize(("act", "phase"), [(consumer_handle_join, "preparing_rebalance"), (consumer_handle_sync, "completing_rebalance")])
def test_answers_that_nobody_gives_are_impossible(act: Action, phase: str) -> None:
    """A consumer says what it cannot understand."""
    state = put(alone(), consumers={0: put(alone().consumers[0], phase=MemberState(phase))})
    error = Error.MEMBER_ID_REQUIRED if act is consumer_handle_sync else Error.ILLEGAL_GENERATION
    with pytest.raises(ImpossibleError, match=error.value):
        take(put(state, answers={0: Answer(error)}), act, consumer=0)


def test_a_consumer_that_missed_a_generation_has_lost_what_it_owned() -> None:
    """It knows from the number, and joins once more; or, as in Kafka, it goes on until it knows its assignment."""
    mine = put(alone().consumers[0], phase=MemberState.PREPARING_REBALANCE)
    for generation, rules, kept in (
        (2, RIGHT, {0, 1}),
        (3, RIGHT, set()),
        (3, Rules(missed_generation=MissedGeneration.REVOKES), {0, 1}),
    ):
        state = put(alone(), consumers={0: mine}, answers={0: Answer(generation=generation)})
        joined = taken(state, consumer_handle_join, rules=rules, consumer=0)
        assert set(joined.consumers[0].owned) == kept
        synced = put(joined, requests={0: None}, answers={0: Answer(assignment=frozenset({0}))})
        stable = taken(synced, consumer_handle_sync, rules=rules, consumer=0).consumers[0]
        assert (stable.rejoins, set(stable.revoking)) == (True, kept - {0})


# -- being a member --


def test_heartbeats_tell_what_is_new() -> None:
    """Of a rebalance, of an illegal generation, of an unknown member id; and of nothing while all is well."""
    stable = together()
    assert take(stable, consumer_heartbeat, consumer=0) is None
    older = put(stable, consumers={0: put(stable.consumers[0], generation=0)})
    assert taken(older, consumer_heartbeat, consumer=0).consumers[0].phase is MemberState.UNJOINED
    removed = put(stable, members={0: None})
    assert not taken(removed, consumer_heartbeat, consumer=0).consumers[0].has_member_id
    assert take(taken(stable, coordinator_resign), consumer_heartbeat, consumer=0) is None


def test_commits_are_accepted_from_current_members() -> None:
    """An accepted commit leaves no trace; only what is owned or is being given up is committed."""
    stable = together()
    assert take(stable, consumer_commit, consumer=0, partition=0) == stable
    assert take(stable, consumer_commit, consumer=0, partition=1) is None
    giving_up = put(stable, consumers={0: put(stable.consumers[0], revoking=frozenset({1}))})
    assert take(giving_up, consumer_commit, consumer=0, partition=1) == giving_up


@pytest.mark.parametrize(
    ("fence", "accepted"), [(CommitFence.GENERATION, (False, False)), (CommitFence.MEMBER, (False, True)), (CommitFence.NONE, (True, True))]
)
def test_commits_are_fenced(fence: CommitFence, accepted: tuple[bool, bool]) -> None:
    """By membership and by generation, unless the rules say otherwise."""
    stable = together()
    removed = put(stable, members={0: None})
    older = put(stable, consumers={0: put(stable.consumers[0], generation=0)})
    rules = Rules(commit_fence=fence)
    assert accepted == tuple(take(state, consumer_commit, rules=rules, consumer=0, partition=0) == state for state in (removed, older))


def test_a_commit_while_the_generation_begins_asks_to_join_again() -> None:
    """A member is not to commit before its assignment is known."""
    stable = together()
    begun = put(stable, group=put(stable.group, phase=GroupState.COMPLETING_REBALANCE))
    assert taken(begun, consumer_commit, consumer=0, partition=0).consumers[0].rejoins


def test_a_consumer_that_does_not_poll_leaves() -> None:
    """A dynamic one leaves the group, a static one does not; both forget their member id and go on for a while."""
    for config, leaves in ((COOPERATIVE, True), (STATIC, False)):
        state = taken(together(config), consumer_poll_timeout, config=config, consumer=0)
        assert (state.consumers[0].phase, state.consumers[0].has_member_id) == (MemberState.UNJOINED, False)
        assert owned(state) == [{0}, {1}]
        assert (state.group.phase is GroupState.PREPARING_REBALANCE) is leaves
        assert (state.members[unused_ids(BOUNDS)[0]] is None) is leaves
        assert owned(settled(state, config)) in ([{0}, {1}], [{1}, {0}])


# -- timeouts --


def test_the_rebalance_goes_on_without_who_is_late() -> None:
    """A dynamic member that has not joined is removed, a static one stays and is marked; each live one is a perturbation."""
    for config, stays in ((COOPERATIVE, False), (STATIC, True)):
        state = taken(alone(config), *JOIN, config=config, consumer=1)
        if config is COOPERATIVE:
            state = taken(state, consumer_handle_join, coordinator_handle_join, consumer=1)
        after = taken(state, coordinator_rebalance_timeout, config=config)
        assert (after.group.generation, after.group.leader, after.budget.total) == (2, 1, 3)
        assert (after.members[0] is not None) is stays
        assert not stays or (after.members[0] is not None and after.members[0].waiting is Waiting.LATE_JOIN)
        assert take(put(state, budget=budget(0, 0, 0, 0, 0, 0)), coordinator_rebalance_timeout, config) is None


def test_the_rebalance_timeout_waits_where_nobody_could_go_on() -> None:
    """Neither before a rebalance, nor once all have joined, nor while only static members are left that have not."""
    assert take(together(), coordinator_rebalance_timeout) is None
    state = together(STATIC)
    prepared = taken(taken(state, consumer_crash, config=STATIC, consumer=1), coordinator_expire_session, config=STATIC, member=6)
    assert prepared.group.phase is GroupState.PREPARING_REBALANCE
    assert take(prepared, coordinator_rebalance_timeout, STATIC) is None


def test_a_session_expires() -> None:
    """Of a consumer that has crashed without a cost, of one that runs at the cost of a perturbation, and never while it waits."""
    crashed = taken(together(), consumer_crash, consumer=0)
    left = unused_ids(BOUNDS)[0]
    expired = taken(crashed, coordinator_expire_session, member=left)
    assert (expired.members[left], expired.group.phase) == (None, GroupState.PREPARING_REBALANCE)
    assert expired.budget == crashed.budget
    assert taken(together(), coordinator_expire_session, member=0).budget.total == 3
    waiting = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    assert take(waiting, coordinator_expire_session, member=1) is None
    assert take(taken(waiting, consumer_crash, consumer=1), coordinator_expire_session, member=left).group.phase is (
        GroupState.PREPARING_REBALANCE
    )


def test_the_last_member_leaves_an_empty_group_that_is_written() -> None:
    """The group begins a generation without members."""
    state = taken(taken(alone(), consumer_crash, consumer=0), coordinator_expire_session, member=unused_ids(BOUNDS)[0])
    assert (state.group.phase, state.group.generation, state.group.leader) == (GroupState.EMPTY, 2, NOBODY)
    assert (state.record, set(state.stored)) == (Record(2), {None})
    assert taken(state, operator_restart, consumer=0).consumers[0].phase is MemberState.UNJOINED


def test_whoever_does_not_sync_is_removed() -> None:
    """The group rebalances with the others; while all have synced nothing happens."""
    state = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    state = taken(state, consumer_heartbeat, *JOIN, *SYNC, consumer=0)
    after = taken(state, coordinator_expire_sync)
    assert (after.members[1], after.group.phase) == (None, GroupState.PREPARING_REBALANCE)
    assert after.answers[0] == Answer(Error.REBALANCE_IN_PROGRESS)
    assert take(together(), coordinator_expire_sync) is None


# -- stopping, replacing, losing --


def test_a_closed_consumer_leaves_and_a_crashed_one_does_not() -> None:
    """Static members are not closed here: for the group that is the same as a crash."""
    closed = taken(together(), consumer_close, consumer=0)
    assert (closed.members[0], closed.group.phase) == (None, GroupState.PREPARING_REBALANCE)
    assert owned(settled(closed)) == [set(), {0, 1}]
    crashed = taken(together(), consumer_crash, consumer=0)
    assert crashed.group == put(together().group, leader=unused_ids(BOUNDS)[0])
    assert take(together(STATIC), consumer_close, STATIC, consumer=0) is None
    assert take(crashed, consumer_crash, consumer=0) is None
    assert take(together(), operator_restart, consumer=0) is None


def test_a_closed_consumer_that_has_not_joined_yet_leaves_too() -> None:
    """Its id is forgotten; a group that is stable rebalances for it, as Kafka's does."""
    pending = taken(alone(), *JOIN, consumer_handle_join, consumer=1)
    closed = taken(pending, consumer_close, consumer=1)
    assert (closed.members[1], closed.group.phase) == (None, GroupState.PREPARING_REBALANCE)
    first = taken(START, *JOIN, consumer_handle_join, consumer=0)
    assert taken(first, consumer_close, consumer=0).group == START.group


def test_a_static_member_takes_its_place_back() -> None:
    """A stable group stays as it is, its log names the new member id, and nobody rebalances."""
    state = taken(taken(together(STATIC), consumer_crash, config=STATIC, consumer=0), operator_restart, config=STATIC, consumer=0)
    back = taken(state, *JOIN, config=STATIC, consumer=0)
    assert back.group == together(STATIC).group
    assert back.answers[0] == Answer(generation=back.group.generation)
    assert back.members[0] is not None
    assert (back.members[0].assignment, back.members[0].stored) == (frozenset({0}), back.stored[0])
    forgotten = taken(state, *JOIN, config=STATIC, rules=Rules(static_rejoin=StaticRejoin.IN_MEMORY), consumer=0)
    assert forgotten.stored[unused_ids(BOUNDS)[0]] == together(STATIC).stored[0]


def test_a_static_member_that_had_to_give_something_up_makes_the_group_rebalance() -> None:
    """Its former run would have joined again; or, as in Kafka, nobody does."""
    state = taken(alone(STATIC), *JOIN, config=STATIC, consumer=1)
    state = taken(state, consumer_heartbeat, *JOIN, *SYNC, coordinator_commit_assignment, config=STATIC, consumer=0)
    state = taken(taken(state, consumer_crash, config=STATIC, consumer=0), operator_restart, config=STATIC, consumer=0)
    assert taken(state, *JOIN, config=STATIC, consumer=0).group.phase is GroupState.PREPARING_REBALANCE
    assert owned(settled(state, STATIC)) == [{0}, {1}]
    quiet = Rules(static_return=StaticReturn.QUIET)
    assert taken(state, *JOIN, config=STATIC, rules=quiet, consumer=0).group.phase is GroupState.STABLE
    assert owned(settled(state, STATIC, quiet)) == [{0}, set()]


@pytest.mark.parametrize("waits_for", ["join", "sync"])
def test_a_replaced_member_is_fenced_where_it_waits(waits_for: str) -> None:
    """In every state of the group; it stops once it hears of it."""
    state = taken(START, *JOIN, config=STATIC, consumer=0)
    if waits_for == "sync":
        state = taken(taken(state, *JOIN, config=STATIC, consumer=1), coordinator_rebalance_timeout, config=STATIC)
        state = taken(state, *SYNC, config=STATIC, consumer=1)
    twin = taken(state, operator_replace, config=STATIC, consumer=int(waits_for == "sync"))
    former = BOUNDS.consumers
    assert twin.consumers[former] == state.consumers[int(waits_for == "sync")]
    replaced = taken(twin, *JOIN, config=STATIC, consumer=int(waits_for == "sync"))
    assert replaced.answers[former] == Answer(Error.FENCED_INSTANCE_ID)
    assert (replaced.members[former], replaced.group.phase) == (None, GroupState.PREPARING_REBALANCE)
    handle = consumer_handle_sync if waits_for == "sync" else consumer_handle_join
    assert taken(replaced, handle, config=STATIC, consumer=former).consumers[former].phase is MemberState.STOPPED


def test_replacing_only_in_a_stable_group_makes_two_members_of_one() -> None:
    """Before KAFKA-8500."""
    twin = taken(taken(START, *JOIN, config=STATIC, consumer=0), operator_replace, config=STATIC, consumer=0)
    after = taken(twin, *JOIN, config=STATIC, rules=Rules(static_replacement=StaticReplacement.STABLE_ONLY), consumer=0)
    assert [one.seat for one in after.members if one is not None] == [0, 0]


def test_only_static_consumers_that_run_are_replaced() -> None:
    """Any other consumer is just one more, and there is room for so many former ones."""
    assert take(together(), operator_replace, consumer=0) is None
    stopped = taken(together(STATIC), consumer_crash, config=STATIC, consumer=0)
    assert take(stopped, operator_replace, STATIC, consumer=0) is None
    often = taken(together(STATIC), *(operator_replace,) * 4, config=STATIC, consumer=0)
    assert take(put(often, budget=budget(1, 1, 1, 1, 1, 1)), operator_replace, STATIC, consumer=0) is None


def test_a_zombie_is_fenced_by_its_member_id() -> None:
    """It stops at its next heartbeat or commit; by its instance id alone it would go on."""
    state = taken(together(STATIC), operator_replace, *JOIN, config=STATIC, consumer=0)
    former = BOUNDS.consumers
    for act, choices in ((consumer_heartbeat, {}), (consumer_commit, {"partition": 0})):
        assert taken(state, act, config=STATIC, consumer=former, **choices).consumers[former].phase is MemberState.STOPPED
    rules = Rules(instance_fence=InstanceFence.INSTANCE_ID)
    assert take(state, consumer_commit, STATIC, rules, consumer=former, partition=0) == state
    assert take(taken(together(), consumer_crash, consumer=0), consumer_commit, rules=rules, consumer=0, partition=0) is None


def test_a_lost_answer_makes_a_consumer_join_again() -> None:
    """Also where it waits for its assignment; a request that was not answered yet is only late."""
    state = taken(START, *JOIN, config=STATIC, consumer=0)
    state = taken(state, coordinator_rebalance_timeout, config=STATIC)
    again = taken(state, connection_lost, config=STATIC, consumer=0)
    assert (again.requests[0], again.answers[0], again.consumers[0].phase) == (Request.JOIN, None, MemberState.PREPARING_REBALANCE)
    assert take(again, connection_lost, STATIC, consumer=0) is None
    assert take(together(), connection_lost, consumer=0) is None
    synced = taken(taken(state, consumer_handle_join, config=STATIC, consumer=0), connection_lost, config=STATIC, consumer=0)
    assert synced.requests[0] is Request.JOIN


def test_an_answer_that_comes_too_late_is_not_taken() -> None:
    """Whoever has sent another request meanwhile waits for that one's answer."""
    waiting = taken(taken(START, *JOIN, config=STATIC, consumer=0), connection_lost, config=STATIC, consumer=0)
    done = taken(waiting, coordinator_rebalance_timeout, config=STATIC)
    assert (done.requests[0], done.answers[0], done.group.generation) == (Request.JOIN, None, 1)


# -- failover --


def test_another_coordinator_goes_on_from_the_log() -> None:
    """A stable group is loaded as it was written; whoever waited joins again, and what was not written is lost."""
    stable = together()
    dead = taken(stable, coordinator_resign)
    assert (dead.group.phase, set(dead.members)) == (GroupState.DEAD, {None})
    assert take(dead, coordinator_resign) is None
    loaded = taken(dead, coordinator_load)
    assert (loaded.group, loaded.members) == (stable.group, stable.members)
    assert take(loaded, coordinator_load) is None

    waiting = taken(alone(), *JOIN, consumer_handle_join, coordinator_handle_join, consumer=1)
    dead = taken(waiting, coordinator_resign)
    assert dead.requests[1] is Request.JOIN
    assert take(dead, coordinator_handle_join, consumer=1) is None
    loaded = taken(dead, coordinator_load, coordinator_handle_join, consumer=1)
    assert loaded.answers[1] == Answer(Error.UNKNOWN_MEMBER_ID)
    assert owned(settled(loaded)) == [{0}, {1}]


def test_a_group_that_was_never_written_is_empty_after_a_failover() -> None:
    """Its members are unknown."""
    state = taken(taken(START, *JOIN, config=STATIC, consumer=0), coordinator_rebalance_timeout, config=STATIC)
    loaded = taken(state, coordinator_resign, coordinator_load, config=STATIC)
    assert loaded.group.phase is GroupState.EMPTY
    refused = taken(loaded, *SYNC, config=STATIC, consumer=0)
    assert refused.answers[0] == Answer(Error.UNKNOWN_MEMBER_ID)


@pytest.mark.parametrize(("late_sync", "answer"), [(LateSync.REFUSED, Answer(Error.ILLEGAL_GENERATION)), (LateSync.ACCEPTED, None)])
def test_a_static_member_that_missed_a_generation_has_no_share_in_it(late_sync: LateSync, answer: Answer | None) -> None:
    """It may know the number from a coordinator that failed; after it has joined it has a share."""
    state = taken(alone(STATIC), *JOIN, coordinator_rebalance_timeout, config=STATIC, consumer=1)
    knows = put(state.consumers[0], phase=MemberState.COMPLETING_REBALANCE, generation=2)
    asks = put(state, consumers={0: knows}, requests={0: Request.SYNC})
    assert taken(asks, coordinator_handle_sync, config=STATIC, rules=Rules(late_sync=late_sync), consumer=0).answers[0] == answer
    member = state.members[0]
    assert member is not None
    joins = put(knows, phase=MemberState.PREPARING_REBALANCE, owned=member.claim.partitions, generation=member.claim.generation)
    joined = taken(put(state, consumers={0: joins}, requests={0: Request.JOIN}), coordinator_handle_join, config=STATIC, consumer=0)
    assert joined.answers[0] == Answer(generation=2)
    assert joined.members[0] is not None
    assert joined.members[0].waiting is Waiting.NOTHING


def test_more_unused_ids_than_perturbations_are_impossible() -> None:
    """Each of them was left behind by a perturbation."""
    full = put(together(), members={one: Member(0, Waiting.NOTHING) for one in unused_ids(BOUNDS)})
    with pytest.raises(ImpossibleError, match="unused"):
        leave_unused(full, 0)
