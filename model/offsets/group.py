# SPDX-License-Identifier: Apache-2.0
"""How the group's members come and go, as far as commits depend on it: an abstraction of both group protocols.

A classic group goes through generations: whoever joins or leaves begins a rebalance, once it is complete there is a new
generation, and its assignment gives the partition to one member. A consumer group raises its epoch with each change, and
gives the partition to a member once the former owner has released it. Both refine ``ownership``.
"""

from __future__ import annotations

from hwmark.model.machine import action, kafka, put
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId

from .state import INVALID_OFFSET, Bounds, Config, Group, Phase, Protocol, State, members


@action(member=members)
@kafka(
    "GroupMetadataManager.classicGroupJoin; GroupMetadataManager.consumerGroupHeartbeat",
    versions="4.0–4.3",
    simplified="a process that was a member before joins as somebody new: nothing of its former life is under way any more; a "
    "group that was deleted counts its generations on, where Kafka begins anew with new member ids; all members subscribe to "
    "the topic",
)
def join_group(state: State, config: Config, bounds: Bounds, *, member: MemberId) -> State | None:
    """A member joins: a classic group prepares a rebalance, a consumer group raises its epoch."""
    if state.is_loading or state.epochs[member] != UNKNOWN_GENERATION or state.generation >= bounds.max_generation:
        return None
    anew = put(state, believed={member: UNKNOWN_GENERATION}, positions={member: INVALID_OFFSET}, requests={member: None})
    if config.group_protocol is Protocol.CLASSIC:
        return put(anew, phase=Phase.PREPARING_REBALANCE, epochs={member: state.generation})
    generation = state.generation + 1
    return written(put(anew, phase=Phase.STABLE, generation=generation, epochs={member: generation}))


@action(member=members)
@kafka(
    "GroupMetadataManager.classicGroupLeave; GroupMetadataManager.expireClassicGroupMemberHeartbeat; "
    "GroupMetadataManager.consumerGroupFenceMember",
    versions="4.0–4.3",
    simplified="at any moment; the member need not know, and goes on",
)
def remove_member(state: State, config: Config, bounds: Bounds, *, member: MemberId) -> State | None:
    """The coordinator takes a member that left, or that it takes for dead, out of the group."""
    if state.epochs[member] == UNKNOWN_GENERATION or state.generation >= bounds.max_generation:
        return None
    left = put(state, epochs={member: UNKNOWN_GENERATION})
    if config.group_protocol is Protocol.CLASSIC:
        return put(left, phase=Phase.PREPARING_REBALANCE)
    others = any(epoch != UNKNOWN_GENERATION for other, epoch in enumerate(state.epochs) if other != member)
    left = put(left, generation=state.generation + 1, owner=NOBODY if state.owner == member else state.owner)
    return written(left if others else put(left, phase=Phase.EMPTY, empty_since=state.time))


# -- a classic group --


@action()
@kafka(
    "GroupMetadataManager.completeClassicGroupJoin; ClassicGroup.initNextGeneration",
    versions="4.0–4.3",
    simplified="whoever is a member has joined; nobody has the partition until the assignment is known",
)
def complete_join(state: State, config: Config) -> State | None:
    """All members of a classic group have joined: a new generation begins; without members the group is empty."""
    if config.group_protocol is not Protocol.CLASSIC or state.phase is not Phase.PREPARING_REBALANCE:
        return None
    generation = state.generation + 1
    epochs = tuple(epoch if epoch == UNKNOWN_GENERATION else generation for epoch in state.epochs)
    begun = put(state, generation=generation, epochs=epochs, owner=NOBODY)
    if all(epoch == UNKNOWN_GENERATION for epoch in state.epochs):
        return written(put(begun, phase=Phase.EMPTY, empty_since=state.time))
    return put(begun, phase=Phase.COMPLETING_REBALANCE)


@action(member=members)
@kafka(
    "GroupMetadataManager.classicGroupSyncToMember; ConsumerCoordinator.onJoinComplete",
    versions="4.0–4.3",
    simplified="the partition may go to any member; that one hears of it at once, the others have nothing to hear",
)
def sync_group(state: State, *, member: MemberId) -> State | None:
    """The assignment of a classic group is stored, and the member that got the partition hears of it."""
    if state.phase is not Phase.COMPLETING_REBALANCE or state.epochs[member] == UNKNOWN_GENERATION:
        return None
    return assigned(put(state, phase=Phase.STABLE), member)


# -- a consumer group --


@action(member=members)
@kafka(
    "CurrentAssignmentBuilder.build; ConsumerGroup.addPartitionEpochs; ConsumerMembershipManager.onHeartbeatSuccess",
    versions="4.0–4.3",
    simplified="the target assignment may name any member; the member hears of it at once",
)
def assign_partition(state: State, config: Config, *, member: MemberId) -> State | None:
    """A consumer group gives the partition, which nobody has, to a member under the current epoch."""
    if config.group_protocol is not Protocol.CONSUMER or state.owner != NOBODY or state.epochs[member] == UNKNOWN_GENERATION:
        return None
    if state.assignment_epoch >= state.generation:
        return None
    return assigned(put(state, epochs={member: state.generation}), member)


@action(member=members)
@kafka(
    "CurrentAssignmentBuilder.computeNextAssignment; ConsumerMembershipManager.revokeAndAssign",
    versions="4.0–4.3",
    simplified="whenever the epoch was raised, which may take the partition from it, as long as the member was not moved on; to "
    "commit before is not obligatory",
)
def release_partition(state: State, config: Config, *, member: MemberId) -> State | None:
    """A member of a consumer group gives up the partition, as it was asked to; the coordinator hears it, and moves it on."""
    if config.group_protocol is not Protocol.CONSUMER or state.owner != member or state.epochs[member] == state.generation:
        return None
    released = put(state, owner=NOBODY, epochs={member: state.generation})
    return written(put(released, believed={member: UNKNOWN_GENERATION}, positions={member: INVALID_OFFSET}))


@action(member=members)
@kafka(
    "CurrentAssignmentBuilder.build; ConsumerMembershipManager.onHeartbeatSuccess",
    versions="4.0–4.3",
    simplified="only the epoch of whoever has the partition matters; the answer may be late or lost, until the member hears it",
)
def advance_epoch(state: State, config: Config, *, member: MemberId) -> State | None:
    """A member of a consumer group heartbeats and is moved on to the current epoch, without losing the partition."""
    if config.group_protocol is not Protocol.CONSUMER or state.owner != member or state.epochs[member] == state.generation:
        return None
    return written(put(state, epochs={member: state.generation}))


@action(member=members)
@kafka("ConsumerMembershipManager.onHeartbeatSuccess", versions="4.0–4.3", simplified="whatever was answered before is answered again")
def hear_epoch(state: State, config: Config, *, member: MemberId) -> State | None:
    """The member of a consumer group that has the partition hears of the epoch to which it was moved on."""
    if config.group_protocol is not Protocol.CONSUMER or state.owner != member:
        return None
    if state.believed[member] in (UNKNOWN_GENERATION, state.epochs[member]):
        return None
    return put(state, believed={member: state.epochs[member]})


# -- helpers --


def assigned(state: State, member: MemberId) -> State:
    """Give the partition to a member that hears of it; what it knew of its place before is from an earlier assignment."""
    return written(
        put(
            state,
            owner=member,
            assignment_epoch=state.generation,
            believed={member: state.generation},
            positions={member: INVALID_OFFSET},
        )
    )


def written(state: State) -> State:
    """Write a record about the group as it is now."""
    stored = Group(state.phase, state.generation, tuple(state.epochs), state.owner, state.assignment_epoch, state.empty_since)
    return put(state, stored=stored)
