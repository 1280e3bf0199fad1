# SPDX-License-Identifier: Apache-2.0
"""What consumers do, and what happens to them and to their heartbeats."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.machine import action, kafka, put
from hwmark.model.ownership import MemberId, PartitionId

from .reconciliation import JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH, Error, Partitions, commit_error
from .rules import OwnedReport, Rules
from .state import OUTSIDE, Bounds, Client, ClientState, Request, Response, State, Unsent, is_static, partitions, processes, spent

# -- rules --


def reported(rules: Rules, client: Client) -> Partitions:
    """Return what a member reports to own."""
    match rules.owned_report:
        case OwnedReport.OWNED:
            return client.owned
        case OwnedReport.OWNED_AND_PENDING:
            return client.owned if client.assignment is None else client.owned | client.assignment
        case _:
            assert_never(rules.owned_report)


# -- a member's life --


@action(member=processes)
@kafka(
    "AbstractMembershipManager.transitionToJoining; ConsumerMembershipManager",
    versions="4.0–4.3",
    simplified="a process that starts has a new member id, as nothing is left of the former one; a process that fails for good is "
    "started again by somebody",
)
def client_join(state: State, bounds: Bounds, *, member: MemberId) -> State | None:
    """A consumer that is not in the group wants to be: it starts, or subscribes again."""
    client = state.clients[member].state
    if client not in OUTSIDE or state.heartbeats[member] is not None:
        return None
    if client is ClientState.GONE and (state.members[member] is not None or (member >= bounds.members and not is_static(bounds, member))):
        return None
    return put(state, clients={member: Client(ClientState.JOINING)})


@action(member=processes)
@kafka(
    "ConsumerHeartbeatRequestManager.HeartbeatState.buildRequestData; AbstractMembershipManager.onHeartbeatRequestGenerated",
    versions="4.0–4.3",
    simplified="at any moment, if none is in flight; subscription, rack and assignor never change",
)
def client_send_heartbeat(state: State, rules: Rules, *, member: MemberId) -> State | None:
    """A member sends a heartbeat, with what the coordinator has yet to hear."""
    client = state.clients[member]
    if client.state in OUTSIDE or state.heartbeats[member] is not None:
        return None
    if client.state is ClientState.JOINING:
        return put(state, heartbeats={member: Request(JOIN_EPOCH, frozenset(), is_full=True)})
    unsent = client.unsent
    owned = None if unsent is Unsent.NOTHING else reported(rules, client)
    request = Request(client.member_epoch, owned, is_full=unsent is Unsent.EVERYTHING)
    after = ClientState.STABLE if client.state is ClientState.ACKNOWLEDGING else client.state
    return put(state, clients={member: evolve(client, state=after, unsent=Unsent.NOTHING)}, heartbeats={member: request})


@action(member=processes)
@kafka(
    "ConsumerMembershipManager.onHeartbeatSuccess; AbstractHeartbeatRequestManager.onErrorResponse; "
    "AbstractMembershipManager.transitionToFenced; AbstractMembershipManager.transitionToFatal",
    versions="4.0–4.3",
    simplified="a fenced member calls onPartitionsLost and asks to join again in the same step; one that fails for good ends",
)
def client_receive_response(state: State, *, member: MemberId) -> State | None:
    """A member hears its epoch, and perhaps an assignment; or that it is no member, and drops everything."""
    response = state.heartbeats[member]
    if not isinstance(response, Response):
        return None
    client = state.clients[member]
    if client.state in OUTSIDE:
        return put(state, heartbeats={member: None})
    return put(state, clients={member: informed(client, response)}, heartbeats={member: None})


def informed(client: Client, response: Response) -> Client:
    """Return what a member is once it has an answer."""
    match response.error:
        case Error.NONE:
            pass
        case Error.FENCED_MEMBER_EPOCH | Error.UNKNOWN_MEMBER_ID:
            return Client(ClientState.JOINING)
        case _:
            return Client(ClientState.GONE)
    if response.assignment is None or response.assignment == client.assignment:
        return evolve(client, member_epoch=response.member_epoch)
    return evolve(client, state=ClientState.RECONCILING, member_epoch=response.member_epoch, assignment=response.assignment)


@action(member=processes)
@kafka(
    "AbstractMembershipManager.maybeReconcile; AbstractMembershipManager.revokeAndAssign",
    versions="4.0–4.3",
    simplified="committing, onPartitionsRevoked, onPartitionsAssigned and the change of the assignment are one step",
)
def client_reconcile(state: State, *, member: MemberId) -> State | None:
    """A member takes over what it was last given, and gives up all else."""
    client = state.clients[member]
    if client.state is not ClientState.RECONCILING or client.assignment is None:
        return None
    unsent = Unsent.EVERYTHING if client.unsent is Unsent.EVERYTHING else Unsent.OWNED
    return put(state, clients={member: evolve(client, state=ClientState.ACKNOWLEDGING, owned=client.assignment, unsent=unsent)})


@action(member=processes, partition=partitions)
@kafka(
    "CommitRequestManager; OffsetMetadataManager.commitOffset; ConsumerGroup.validateOffsetCommit",
    versions="4.0–4.2 and 4.3, see the rule",
    simplified="request and answer are one step: on its connection a member's commits and heartbeats keep their order",
)
def client_commit(state: State, rules: Rules, *, member: MemberId, partition: PartitionId) -> State | None:
    """A consumer commits an offset of a partition that it consumes, member or zombie; the coordinator takes it or not."""
    client, budget = state.clients[member], spent(state.budget, "commits")
    if budget is None or partition not in client.owned:
        return None
    if commit_error(rules, state.members[member], client.member_epoch, partition) is not Error.NONE:
        return put(state, budget=budget)
    return put(state, budget=budget, committed={partition: member})


@action(member=processes)
@kafka(
    "AbstractMembershipManager.leaveGroup; ConsumerMembershipManager.leaveGroupEpoch",
    versions="4.0–4.3",
    simplified="once no heartbeat is on its way: it would be handled before this one; a static member always leaves for a while",
)
def client_leave(state: State, bounds: Bounds, *, member: MemberId) -> State | None:
    """A member gives up everything and says that it leaves; the answer does not matter to it."""
    client, budget = state.clients[member].state, spent(state.budget, "leaves")
    if budget is None or client in OUTSIDE or isinstance(state.heartbeats[member], Request):
        return None
    request = Request(STATIC_LEAVE_EPOCH if is_static(bounds, member) else LEAVE_EPOCH)
    return put(state, clients={member: Client(ClientState.UNSUBSCRIBED)}, heartbeats={member: request}, budget=budget)


# -- what goes wrong --


@action(member=processes)
@kafka(
    "ConsumerHeartbeatRequestManager",
    versions="4.0–4.3",
    simplified="its last heartbeat may still be handled; a process that stands still is one whose session expires, see there",
)
def client_crash(state: State, *, member: MemberId) -> State | None:
    """A consumer's process dies; nobody is told."""
    client, budget = state.clients[member].state, spent(state.budget, "crashes")
    if budget is None or client in OUTSIDE:
        return None
    heartbeat = state.heartbeats[member]
    left = heartbeat if isinstance(heartbeat, Request) else None
    return put(state, clients={member: Client()}, heartbeats={member: left}, budget=budget)


@action(member=processes)
@kafka(
    "AbstractHeartbeatRequestManager.onFailure",
    versions="4.0–4.3",
    simplified="request or answer is lost and the member knows it; a request that was given up is never handled later",
)
def lose_heartbeat(state: State, *, member: MemberId) -> State | None:
    """A heartbeat or its answer is lost; the next one says everything."""
    budget = spent(state.budget, "losses")
    if budget is None or state.heartbeats[member] is None:
        return None
    return put(state, clients={member: after_failure(state.clients[member])}, heartbeats={member: None}, budget=budget)


def after_failure(client: Client) -> Client:
    """Return what a consumer is once a heartbeat has failed."""
    if client.state in OUTSIDE or client.state is ClientState.JOINING:
        return client
    return evolve(client, unsent=Unsent.EVERYTHING)
