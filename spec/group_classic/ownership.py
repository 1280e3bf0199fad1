# SPDX-License-Identifier: Apache-2.0
"""What the classic group protocol promises of who owns a partition, and of who may commit."""

from __future__ import annotations

from hwmark.model.group_classic.state import (
    Bounds,
    ConsumerId,
    GroupState,
    MemberId,
    PartitionId,
    State,
    consumers,
    member_ids,
    partitions,
    seats,
)
from hwmark.model.machine import Step
from hwmark.spec.property import Witness, invariant, step_property, witness

from .standing import is_accepted_commit, is_current, is_settled, joined_with, owns

# -- ownership --


@invariant(sources=("S8", "A01", "K-429"), consumer=consumers, other=consumers, partition=partitions)
def one_owner(state: State, *, consumer: ConsumerId, other: ConsumerId, partition: PartitionId) -> Witness | None:
    """No partition is owned by two current consumers."""
    if consumer >= other or not owns(state, consumer, partition) or not owns(state, other, partition):
        return None
    return witness(generation=state.group.generation)


@invariant(sources=("S8", "K-429", "A03"), consumer=consumers, other=consumers, partition=partitions)
def kept_until_revoked(state: State, *, consumer: ConsumerId, other: ConsumerId, partition: PartitionId) -> Witness | None:
    """No current consumer owns what another one brought into the group's generation and has not given up yet."""
    if consumer == other or not owns(state, consumer, partition) or not joined_with(state, other, partition):
        return None
    return witness(generation=state.group.generation)


@step_property(sources=("K-429", "A01", "A03"), member=member_ids, other=member_ids)
def moves_take_two_generations(before: State, step: Step, after: State, *, member: MemberId, other: MemberId) -> Witness | None:
    """An assignment gives no member a partition that another one claims, unless it claims it itself under a higher generation."""
    if member == other or after.record.generation <= before.record.generation:
        return None
    given, rival = after.stored[member], after.stored[other]
    if given is None or rival is None:
        return None
    contested = given.assignment & rival.claim.partitions
    if given.claim.generation > rival.claim.generation:
        contested -= given.claim.partitions
    if not contested:
        return None
    return witness(step=str(step), partition=min(contested), generation=after.record.generation, claimed=rival.claim.generation)


@invariant(sources=("S8", "S15"), partition=partitions)
def everything_is_assigned(state: State, *, partition: PartitionId) -> Witness | None:
    """In a stable group each partition is assigned to one member; or to none, while somebody is to give it up."""
    if state.group.phase is not GroupState.STABLE:
        return None
    known = [(member, one) for member, one in enumerate(state.members) if one is not None and not one.is_pending]
    owners = [member for member, one in known if partition in one.assignment]
    if len(owners) == 1 or (not owners and any(partition in one.claim.partitions for _, one in known)):
        return None
    return witness(owners=tuple(owners))


@invariant(sources=("S8", "S15", "K-345", "K-429"), partition=partitions)
def settled_group_owns_all(state: State, bounds: Bounds, *, partition: PartitionId) -> Witness | None:
    """Once every consumer is current and none is to join again, every partition is owned by one of them."""
    if not is_settled(state, bounds):
        return None
    owners = tuple(seat for seat in seats(bounds) if partition in state.consumers[seat].owned)
    return None if len(owners) == 1 else witness(owners=owners)


# -- commits --


@step_property(sources=("S8", "K-345"))
def commits_are_of_the_generation(before: State, step: Step, after: State) -> Witness | None:
    """Commits are accepted only from members, and only under the group's generation."""
    if not is_accepted_commit(before, step, after) or is_current(before, step.choices["consumer"]):
        return None
    mine = before.consumers[step.choices["consumer"]]
    return witness(step=str(step), generation=mine.generation, group_generation=before.group.generation)


@step_property(sources=("S8", "S8", "K-345"), owner=consumers)
def commits_are_of_the_owner(before: State, step: Step, after: State, *, owner: ConsumerId) -> Witness | None:
    """No commit is accepted for a partition that another consumer owns: zombies are refused."""
    if not is_accepted_commit(before, step, after) or step.choices["consumer"] == owner:
        return None
    return witness(step=str(step)) if owns(before, owner, step.choices["partition"]) else None
