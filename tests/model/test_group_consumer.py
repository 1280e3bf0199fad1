# SPDX-License-Identifier: Apache-2.0
"""The actions of the consumer group machine, one by one, and the assignor that stands in for Kafka's."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hwmark.model.assignors import groups, uniform
from hwmark.model.group_consumer.assignor import legal
from hwmark.model.group_consumer.assignor import uniform as share_out
from hwmark.model.group_consumer.client import (
    client_commit,
    client_crash,
    client_join,
    client_leave,
    client_receive_response,
    client_reconcile,
    client_send_heartbeat,
    lose_heartbeat,
)
from hwmark.model.group_consumer.coordinator import (
    coordinator_failover,
    coordinator_handle_heartbeat,
    coordinator_handle_leave,
    coordinator_rebalance_timeout,
    coordinator_session_timeout,
)
from hwmark.model.group_consumer.machine import machine
from hwmark.model.group_consumer.reconciliation import LEAVE_EPOCH, NOT_HELD, STATIC_LEAVE_EPOCH, Error, Member, MemberState
from hwmark.model.group_consumer.rules import Assignor, CommitEpochs, InstanceClaim, OwnedReport, Rules
from hwmark.model.group_consumer.state import (
    Bounds,
    Budget,
    Client,
    ClientState,
    Config,
    Group,
    Request,
    Response,
    State,
    Unsent,
    initial,
    spent,
)
from hwmark.model.machine import Action, ImpossibleError, put
from hwmark.model.ownership import NOBODY

RIGHT = Rules()
DYNAMIC = Config()
MANY = Bounds(crashes=1, expirations=1, rebalance_timeouts=1, losses=1, leaves=1, failovers=1, commits=2)
STATIC = evolve(MANY, static_members=2)
REPLACED = evolve(STATIC, replacements=1)
STABLE, JOINING, RECONCILING, ACKNOWLEDGING = ClientState.STABLE, ClientState.JOINING, ClientState.RECONCILING, ClientState.ACKNOWLEDGING
NOTHING = (NOT_HELD, NOT_HELD)
BOTH, FIRST, SECOND, NONE = frozenset({0, 1}), frozenset({0}), frozenset({1}), frozenset[int]()


def take(action: Action, state: State, rules: Rules = RIGHT, config: Config = DYNAMIC, bounds: Bounds = MANY, **choices: Any) -> Any:
    """Take an action with these choices; the first of all others."""
    every = {name: domain(bounds)[0] for name, domain in action.domains.items()}
    return action.bind({"rules": rules, "config": config, "bounds": bounds}, {**every, **choices})(state)


def one_member(bounds: Bounds = MANY) -> State:
    """Return a group in which member 0 consumes both partitions, and member 1 wants to join."""
    return put(
        initial(bounds),
        group=Group(2, 2),
        members={0: Member(2, 0, MemberState.STABLE, (2, 2), NOTHING)},
        targets={0: BOTH},
        partition_epochs=(2, 2),
        clients={0: Client(STABLE, 2, BOTH, BOTH)},
    )


def revoking(bounds: Bounds = MANY) -> State:
    """Return the same group once member 1 has joined, and member 0 is to give up partition 1 and has heard of it."""
    return put(
        one_member(bounds),
        group=Group(3, 3),
        members={
            0: Member(2, 0, MemberState.UNREVOKED_PARTITIONS, (2, NOT_HELD), (NOT_HELD, 2)),
            1: Member(3, 0, MemberState.UNRELEASED_PARTITIONS, NOTHING, NOTHING),
        },
        targets={0: FIRST, 1: SECOND},
        clients={0: Client(RECONCILING, 2, BOTH, FIRST), 1: Client(STABLE, 3, NONE, NONE)},
    )


# -- the scope --


def test_initial_state() -> None:
    """All but replacements want to join an empty group; budgets are those of the bounds."""
    state = initial(Bounds(members=2, partitions=3, replacements=1, losses=2, perturbations=5))
    assert [client.state for client in state.clients] == [JOINING, JOINING, ClientState.GONE]
    assert (state.group, state.members, state.partition_epochs) == (Group(1, 1), (None,) * 3, (NOT_HELD,) * 3)
    assert (state.budget.losses, state.budget.perturbations, state.committed) == (2, 2, (NOBODY,) * 3)


def test_members_are_interchangeable_unless_some_are_replaced() -> None:
    """A replacement has the instance id of one member, which is then not as the others."""
    assert machine(RIGHT, DYNAMIC, Bounds(members=3)).interchangeable == {"member": (0, 1, 2)}
    static = Bounds(members=2, static_members=2)
    assert machine(RIGHT, DYNAMIC, static).interchangeable == {"member": (0, 1)}
    assert machine(RIGHT, DYNAMIC, evolve(static, replacements=1)).interchangeable == {}
    assert machine(RIGHT, DYNAMIC, evolve(static, static_members=1)).interchangeable == {}


def test_members_are_interchangeable_unless_the_assignor_tells_them_apart() -> None:
    """It does by their number, where two that are alike otherwise cannot have the same."""
    assert machine(evolve(RIGHT, assignor=Assignor.ANY), DYNAMIC, Bounds()).interchangeable == {}
    assert machine(RIGHT, Config(assignment_interval=True), Bounds()).interchangeable == {}
    assert machine(RIGHT, DYNAMIC, Bounds(members=3, partitions=4)).interchangeable == {}
    assert machine(RIGHT, DYNAMIC, Bounds(members=3, leaves=1)).interchangeable == {}
    assert machine(RIGHT, DYNAMIC, Bounds(members=2, partitions=4, leaves=1)).interchangeable == {"member": (0, 1)}
    assert machine(RIGHT, DYNAMIC, Bounds(members=2, partitions=3, leaves=1)).interchangeable == {}
    assert machine(RIGHT, DYNAMIC, Bounds(members=2, partitions=3, losses=1)).interchangeable == {"member": (0, 1)}


def test_what_goes_wrong_is_bounded() -> None:
    """Of each kind and of all together, commits apart; once no more may go wrong, what would have been left does not matter."""
    budget = Budget(perturbations=2, crashes=1, expirations=3, rebalance_timeouts=0, losses=0, leaves=0, failovers=0, commits=1)
    once = spent(budget, "expirations")
    assert once is not None
    assert (once.perturbations, once.expirations, once.crashes) == (1, 2, 1)
    assert spent(once, "crashes") == spent(once, "expirations") == Budget(0, 0, 0, 0, 0, 0, 0, 1)
    assert spent(budget, "losses") is None
    committed = spent(budget, "commits")
    assert committed is not None
    assert (committed.commits, committed.perturbations) == (0, 2)


# -- the assignor --


def test_the_first_member_gets_all() -> None:
    """Alone, a member has every partition; the next one gets half, and only what the first has too much of moves."""
    assert share_out({4: NONE}, 3) == {4: {0, 1, 2}}
    assert share_out({4: frozenset({0, 1, 2}), 7: NONE}, 3) == {4: {0, 1}, 7: {2}}
    assert share_out({4: FIRST, 7: SECOND, 9: NONE}, 2) == {4: {0}, 7: {1}, 9: set()}
    assert share_out({7: SECOND, 9: NONE}, 2) == {7: {1}, 9: {0}}


@given(data=st.data(), partitions=st.integers(1, 7), members=st.integers(1, 5))
def test_the_assignor_is_that_of_the_coordinator(data: st.DataObject, partitions: int, members: int) -> None:
    """Asked for members in this order, the model of Kafka's uniform assignor shares out the same."""
    owners = data.draw(st.lists(st.integers(-1, members - 1), min_size=partitions, max_size=partitions))
    former = {member: frozenset(part for part, owner in enumerate(owners) if owner == member) for member in range(members)}
    topic = groups.Topic("t", partitions, id=UUID(int=1))
    asked = tuple(
        groups.Member(str(member), frozenset({"t"}), tuple(groups.TopicPartition("t", part) for part in sorted(had)))
        for member, had in former.items()
    )
    shares = uniform.homogeneous_shares(asked, (topic,), (topic,))
    assert share_out(former, partitions) == {int(member): {one.partition for one in share} for member, share in shares.items()}


def test_any_legal_assignment_has_a_number() -> None:
    """Each partition goes to a member, and each way to do so has a number; some numbers name no assignment."""
    found = [legal((0, 2), 2, number, 3) for number in range(9)]
    assert len([one for one in found if one is not None]) == 4
    assert found[0] == {0: {0, 1}, 2: set()}
    assert found[2] == {0: {1}, 2: {0}}
    assert found[1] is None


# -- a member's life --


def test_consumers_join() -> None:
    """A process starts with an id of its own, once nothing is left of the former one; who left comes back with the same."""
    gone = put(one_member(), clients={0: Client(), 1: Client()})
    assert take(client_join, gone, member=1).clients[1] == Client(JOINING)
    assert take(client_join, gone, member=0) is None
    assert take(client_join, put(gone, heartbeats={1: Request(0)}), member=1) is None
    left = put(one_member(), clients={0: Client(ClientState.UNSUBSCRIBED)})
    assert take(client_join, left, member=0).clients[0] == Client(JOINING)
    assert take(client_join, one_member(), member=1) is None


def test_replacements_need_an_instance_id() -> None:
    """A further process starts in the place of a static member only."""
    state = initial(REPLACED)
    assert take(client_join, state, bounds=evolve(REPLACED, static_members=0), member=2) is None
    assert take(client_join, state, bounds=REPLACED, member=2).clients[2] == Client(JOINING)


def test_heartbeats_say_what_is_new() -> None:
    """A joining member says everything; a stable one its epoch; after a change what it owns; after a failure everything."""
    state = one_member()
    assert take(client_send_heartbeat, state, member=1).heartbeats[1] == Request(0, NONE, is_full=True)
    assert take(client_send_heartbeat, state, member=0).heartbeats[0] == Request(2)
    changed = put(state, clients={0: Client(ACKNOWLEDGING, 2, FIRST, FIRST, Unsent.OWNED)})
    sent = take(client_send_heartbeat, changed, member=0)
    assert (sent.heartbeats[0], sent.clients[0]) == (Request(2, FIRST), Client(STABLE, 2, FIRST, FIRST))
    failed = put(state, clients={0: Client(RECONCILING, 2, NONE, FIRST, Unsent.EVERYTHING)})
    sent = take(client_send_heartbeat, failed, member=0)
    assert (sent.heartbeats[0], sent.clients[0].state) == (Request(2, FIRST, is_full=True), RECONCILING)
    assert take(client_send_heartbeat, failed, evolve(RIGHT, owned_report=OwnedReport.OWNED), member=0).heartbeats[0] == Request(
        2, NONE, is_full=True
    )


def test_one_heartbeat_is_in_flight() -> None:
    """Nobody sends a heartbeat before the last one is answered, or from outside the group."""
    state = one_member()
    for heartbeat in (Request(2), Response(2)):
        assert take(client_send_heartbeat, put(state, heartbeats={0: heartbeat}), member=0) is None
    assert take(client_send_heartbeat, put(state, clients={0: Client()}), member=0) is None


def test_answers_bring_epoch_and_assignment() -> None:
    """A new assignment has to be taken over; one that is known, or none, only tells the epoch."""
    state = put(one_member(), heartbeats={0: Response(3, FIRST)})
    after = take(client_receive_response, state, member=0)
    assert (after.clients[0], after.heartbeats[0]) == (Client(RECONCILING, 3, BOTH, FIRST), None)
    for response in (Response(3), Response(3, BOTH)):
        after = take(client_receive_response, put(state, heartbeats={0: response}), member=0)
        assert after.clients[0] == Client(STABLE, 3, BOTH, BOTH)
    first = put(state, clients={1: Client(JOINING)}, heartbeats={1: Response(3, NONE)})
    assert take(client_receive_response, first, member=1).clients[1] == Client(RECONCILING, 3, NONE, NONE)
    assert take(client_receive_response, one_member(), member=0) is None
    assert take(client_receive_response, put(state, heartbeats={0: Request(2)}), member=0) is None


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (Error.FENCED_MEMBER_EPOCH, JOINING),
        (Error.UNKNOWN_MEMBER_ID, JOINING),
        (Error.UNRELEASED_INSTANCE_ID, ClientState.GONE),
        (Error.FENCED_INSTANCE_ID, ClientState.GONE),
    ],
)
def test_a_fenced_member_drops_everything(error: Error, state: ClientState) -> None:
    """It joins anew, or ends if its instance id belongs to another."""
    fenced = put(one_member(), heartbeats={0: Response(error=error)})
    assert take(client_receive_response, fenced, member=0).clients[0] == Client(state)


def test_who_left_does_not_listen() -> None:
    """An answer to a consumer that is out of the group changes nothing."""
    state = put(one_member(), clients={0: Client(ClientState.UNSUBSCRIBED)}, heartbeats={0: Response(3, FIRST)})
    after = take(client_receive_response, state, member=0)
    assert (after.clients[0], after.heartbeats[0]) == (Client(ClientState.UNSUBSCRIBED), None)


def test_a_member_takes_over_its_assignment() -> None:
    """What it owns is what it was given, and it has to say so."""
    after = take(client_reconcile, revoking(), member=0)
    assert after.clients[0] == Client(ACKNOWLEDGING, 2, FIRST, FIRST, Unsent.OWNED)
    failed = put(revoking(), clients={0: Client(RECONCILING, 2, BOTH, FIRST, Unsent.EVERYTHING)})
    assert take(client_reconcile, failed, member=0).clients[0].unsent is Unsent.EVERYTHING
    assert take(client_reconcile, one_member(), member=0) is None


def test_commits() -> None:
    """A member's commit is noted; a zombie's is refused, or noted too where nobody checks; who does not own does not commit."""
    state = one_member()
    after = take(client_commit, state, member=0, partition=1)
    assert (after.committed, after.budget.commits) == ((NOBODY, 0), 1)
    assert take(client_commit, state, member=1, partition=1) is None
    zombie = put(state, members={0: None})
    assert take(client_commit, zombie, member=0, partition=1).committed == (NOBODY, NOBODY)
    assert take(client_commit, zombie, evolve(RIGHT, commit_epochs=CommitEpochs.ANY), member=0, partition=1).committed == (NOBODY, 0)
    assert take(client_commit, put(state, budget=evolve(state.budget, commits=0)), member=0) is None


def test_leaving() -> None:
    """A member that leaves owns nothing and says so; a static one leaves for a while; none overtakes its own heartbeat."""
    state = put(one_member(), heartbeats={0: Response(2)})
    after = take(client_leave, state, member=0)
    assert (after.clients[0], after.heartbeats[0]) == (Client(ClientState.UNSUBSCRIBED), Request(LEAVE_EPOCH))
    assert take(client_leave, state, bounds=STATIC, member=0).heartbeats[0] == Request(STATIC_LEAVE_EPOCH)
    assert take(client_leave, after, member=0) is None
    assert take(client_leave, put(state, heartbeats={0: Request(2)}), member=0) is None


def test_crashing() -> None:
    """Of a process that dies its last request may still arrive; an answer finds nobody."""
    state = put(one_member(), heartbeats={0: Request(2)})
    after = take(client_crash, state, member=0)
    assert (after.clients[0], after.heartbeats[0], after.budget.crashes) == (Client(), Request(2), 0)
    assert take(client_crash, put(state, heartbeats={0: Response(2)}), member=0).heartbeats[0] is None
    assert take(client_crash, after, member=1) is None
    assert take(client_crash, put(state, clients={0: Client()}), member=0) is None


def test_losing_a_heartbeat() -> None:
    """Request or answer is lost; the next heartbeat says everything."""
    for heartbeat in (Request(2), Response(3, FIRST)):
        after = take(lose_heartbeat, put(one_member(), heartbeats={0: heartbeat}), member=0)
        assert (after.heartbeats[0], after.clients[0], after.budget.losses) == (None, Client(STABLE, 2, BOTH, BOTH, Unsent.EVERYTHING), 0)
    assert take(lose_heartbeat, put(one_member(), heartbeats={1: Request(0)}), member=1).clients[1] == Client(JOINING)
    assert take(lose_heartbeat, one_member(), member=0) is None


# -- the coordinator --


def test_joining() -> None:
    """A new member raises the epoch of the group and renews the target; it waits for what the other has to give up."""
    state = put(one_member(), heartbeats={1: Request(0, NONE, is_full=True)})
    after = take(coordinator_handle_heartbeat, state, member=1)
    assert (after.group, after.targets) == (Group(3, 3), (FIRST, SECOND))
    assert after.members[1] == Member(3, 0, MemberState.UNRELEASED_PARTITIONS, NOTHING, NOTHING)
    assert after.heartbeats[1] == Response(3, NONE)
    assert after.partition_epochs == (2, 2)
    assert take(coordinator_handle_heartbeat, state, member=1, assignment=1) is None


def test_the_assignor_may_have_to_wait() -> None:
    """If targets are not renewed at once, a new member is in the epoch of the last one, which gives it nothing."""
    state = put(one_member(), heartbeats={1: Request(0, NONE, is_full=True)})
    waits = Config(assignment_interval=True)
    after = take(coordinator_handle_heartbeat, state, config=waits, member=1, delayed=True)
    assert (after.group, after.targets, after.heartbeats[1]) == (Group(3, 2), (BOTH, NONE), Response(2, NONE))
    assert take(coordinator_handle_heartbeat, state, config=waits, member=1, delayed=True, assignment=1) is None
    assert take(coordinator_handle_heartbeat, state, member=1, delayed=True) is None
    first = put(initial(MANY), heartbeats={1: Request(0, NONE, is_full=True)})
    assert take(coordinator_handle_heartbeat, first, config=waits, member=1, delayed=True) is None
    idle = put(one_member(), heartbeats={0: Request(2)})
    assert take(coordinator_handle_heartbeat, idle, config=waits, member=0, delayed=True) is None
    assert take(coordinator_handle_heartbeat, idle, config=waits, member=0) is not None


def test_any_assignor() -> None:
    """An assignor that may come to any assignment is told which by its number."""
    rules, bounds = evolve(RIGHT, assignor=Assignor.ANY), evolve(MANY, assignments=4)
    state = put(one_member(), heartbeats={1: Request(0, NONE, is_full=True)})
    targets = [take(coordinator_handle_heartbeat, state, rules, bounds=bounds, member=1, assignment=number).targets for number in range(4)]
    assert targets == [(BOTH, NONE), (SECOND, FIRST), (FIRST, SECOND), (NONE, BOTH)]
    alone = put(initial(bounds), heartbeats={1: Request(0, NONE, is_full=True)})
    assert take(coordinator_handle_heartbeat, alone, rules, bounds=bounds, member=1, assignment=1) is None


def test_a_round_of_revocation() -> None:
    """A member reports that it has given up a partition, enters the epoch of the target, and the other gets the partition."""
    state = put(revoking(), heartbeats={0: Request(2, FIRST), 1: Request(3)})
    early = take(coordinator_handle_heartbeat, state, member=1)
    assert (early.members[1], early.heartbeats[1]) == (Member(3, 3, MemberState.UNRELEASED_PARTITIONS, NOTHING, NOTHING), Response(3))
    released = take(coordinator_handle_heartbeat, state, member=0)
    assert released.members[0] == Member(3, 2, MemberState.STABLE, (2, NOT_HELD), NOTHING)
    assert (released.partition_epochs, released.heartbeats[0]) == ((3, NOT_HELD), Response(3))
    given = take(coordinator_handle_heartbeat, released, member=1)
    assert (given.partition_epochs, given.heartbeats[1]) == ((3, 3), Response(3, SECOND))


def test_a_full_heartbeat_is_told_the_assignment() -> None:
    """Who says everything is told everything."""
    state = put(one_member(), heartbeats={0: Request(2, BOTH, is_full=True)})
    assert take(coordinator_handle_heartbeat, state, member=0).heartbeats[0] == Response(2, BOTH)


def test_refusals() -> None:
    """Unknown members and wrong epochs are told so, and nothing else changes."""
    unknown = put(one_member(), heartbeats={1: Request(3)})
    assert take(coordinator_handle_heartbeat, unknown, member=1) == put(unknown, heartbeats={1: Response(error=Error.UNKNOWN_MEMBER_ID)})
    fenced = put(one_member(), heartbeats={0: Request(1, BOTH)})
    assert take(coordinator_handle_heartbeat, fenced, member=0).heartbeats[0] == Response(error=Error.FENCED_MEMBER_EPOCH)
    assert take(coordinator_handle_heartbeat, fenced, bounds=evolve(MANY, assignments=4), member=0, assignment=1) is None
    assert take(coordinator_handle_heartbeat, one_member(), member=0) is None


def test_a_dead_process_is_not_answered() -> None:
    """Its last heartbeat counts all the same."""
    state = put(one_member(), clients={1: Client()}, heartbeats={1: Request(0, NONE, is_full=True)})
    after = take(coordinator_handle_heartbeat, state, member=1)
    assert (after.heartbeats[1], after.group) == (None, Group(3, 3))


def test_a_member_that_leaves_is_removed() -> None:
    """Its partitions are free, and the group has a new epoch; an unknown one is not missed."""
    state = put(one_member(), heartbeats={0: Request(LEAVE_EPOCH)})
    after = take(coordinator_handle_leave, state, member=0)
    assert (after.members, after.targets, after.partition_epochs) == ((None, None), (NONE, NONE), NOTHING)
    assert (after.group, after.heartbeats[0]) == (Group(3, 2), None)
    unknown = put(one_member(), heartbeats={1: Request(LEAVE_EPOCH)})
    assert take(coordinator_handle_leave, unknown, member=1) == one_member()
    assert take(coordinator_handle_leave, put(state, heartbeats={0: Request(2)}), member=0) is None
    assert take(coordinator_handle_heartbeat, state, member=0) is None


def test_a_static_member_leaves_for_a_while_and_is_replaced() -> None:
    """Its partitions stay its, and a process with its instance id takes them over in the same group epoch."""
    state = put(one_member(REPLACED), heartbeats={0: Request(STATIC_LEAVE_EPOCH)}, clients={0: Client(ClientState.UNSUBSCRIBED)})
    left = take(coordinator_handle_leave, state, bounds=REPLACED, member=0)
    assert (left.members[0].member_epoch, left.partition_epochs, left.group) == (-2, (-2, -2), Group(2, 2))
    joining = put(left, clients={2: Client(JOINING)}, heartbeats={2: Request(0, NONE, is_full=True)})
    after = take(coordinator_handle_heartbeat, joining, bounds=REPLACED, member=2)
    assert after.members == (None, None, Member(2, 0, MemberState.STABLE, (0, 0), NOTHING))
    assert (after.targets, after.partition_epochs, after.group) == ((NONE, NONE, BOTH), (2, 2), Group(2, 2))
    assert after.heartbeats[2] == Response(2, BOTH)
    former = put(after, heartbeats={0: Request(2)})
    refused = take(coordinator_handle_heartbeat, former, bounds=REPLACED, member=0)
    assert refused.heartbeats[0] == Response(error=Error.FENCED_INSTANCE_ID)
    with_another = put(left, group=Group(3, 2), heartbeats={2: Request(0, NONE, is_full=True)})
    renewed = take(coordinator_handle_heartbeat, with_another, bounds=REPLACED, member=2)
    assert (renewed.targets, renewed.group) == ((NONE, NONE, BOTH), Group(3, 3))


def test_an_instance_id_is_taken() -> None:
    """While its member has not left, nobody else can have it; Kafka does not let the member itself in again either."""
    state = put(one_member(REPLACED), clients={2: Client(JOINING)}, heartbeats={2: Request(0, NONE, is_full=True)})
    refused = take(coordinator_handle_heartbeat, state, bounds=REPLACED, member=2)
    assert refused.heartbeats[2] == Response(error=Error.UNRELEASED_INSTANCE_ID)
    again = put(one_member(), heartbeats={0: Request(0, NONE, is_full=True)})
    assert take(coordinator_handle_heartbeat, again, bounds=STATIC, member=0).heartbeats[0] == Response(2, BOTH)
    kafka = evolve(RIGHT, instance_claim=InstanceClaim.ANY_MEMBER)
    own = take(coordinator_handle_heartbeat, again, kafka, bounds=STATIC, member=0)
    assert own.heartbeats[0] == Response(error=Error.UNRELEASED_INSTANCE_ID)
    left = put(again, members={0: Member(-2, 0, MemberState.STABLE, (0, 0), NOTHING)}, partition_epochs=(-2, -2))
    assert take(coordinator_handle_heartbeat, left, kafka, bounds=STATIC, member=0).heartbeats[0] == Response(2, BOTH)


def test_sessions_expire() -> None:
    """Of a dead process for free, of a living one as something that goes wrong: it is a zombie then."""
    state = one_member()
    after = take(coordinator_session_timeout, state, member=0)
    assert (after.members[0], after.group, after.partition_epochs, after.budget.expirations) == (None, Group(3, 2), NOTHING, 0)
    assert after.clients[0] == state.clients[0]
    assert take(coordinator_session_timeout, state, member=1) is None
    no_more = put(state, budget=evolve(state.budget, expirations=0))
    assert take(coordinator_session_timeout, no_more, member=0) is None
    dead = put(no_more, clients={0: Client()})
    assert take(coordinator_session_timeout, dead, member=0).members[0] is None
    assert take(coordinator_session_timeout, put(dead, heartbeats={0: Request(2)}), member=0) is None


def test_rebalances_time_out() -> None:
    """A member that does not give up in time is removed; one that has nothing to give up, or left for a while, is not."""
    after = take(coordinator_rebalance_timeout, revoking(), member=0)
    assert (after.members[0], after.group, after.partition_epochs) == (None, Group(4, 3), NOTHING)
    assert take(coordinator_rebalance_timeout, revoking(), member=1) is None
    assert take(coordinator_rebalance_timeout, one_member(), member=1) is None
    left = put(revoking(), members={0: Member(-2, 0, MemberState.UNREVOKED_PARTITIONS, (0, NOT_HELD), NOTHING)})
    assert take(coordinator_rebalance_timeout, left, member=0) is None


def test_failover() -> None:
    """The next coordinator knows what the log says; requests are sent anew in full, answers may still arrive."""
    state = put(revoking(), heartbeats={0: Request(2), 1: Response(3)})
    after = take(coordinator_failover, state)
    assert (after.members, after.partition_epochs, after.group) == (state.members, (2, 2), Group(3, 3))
    assert (after.heartbeats, after.clients[0].unsent, after.clients[1]) == ((None, Response(3)), Unsent.EVERYTHING, state.clients[1])
    assert take(coordinator_failover, after) is None
    twice = put(state, members={1: Member(3, 0, MemberState.STABLE, (NOT_HELD, 3), NOTHING)})
    with pytest.raises(ImpossibleError, match="two members"):
        take(coordinator_failover, twice)
