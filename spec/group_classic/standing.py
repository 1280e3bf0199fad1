# SPDX-License-Identifier: Apache-2.0
"""Who of a classic group's consumers is a member of the generation, and which commits are accepted."""

from __future__ import annotations

from hwmark.model.group_classic.state import (
    Bounds,
    ConsumerId,
    GroupState,
    MemberId,
    MemberState,
    PartitionId,
    State,
    seats,
)
from hwmark.model.machine import Step


def is_member(state: State, member: MemberId) -> bool:
    """Whether a member id is that of a member; one that was only given out is not."""
    one = state.members[member]
    return one is not None and not one.is_pending


def is_current(state: State, consumer: ConsumerId) -> bool:
    """Whether a consumer is a member of the group's generation that knows its assignment."""
    mine = state.consumers[consumer]
    return mine.phase is MemberState.STABLE and is_member(state, consumer) and mine.generation == state.group.generation


def owns(state: State, consumer: ConsumerId, partition: PartitionId) -> bool:
    """Whether a current consumer consumes a partition."""
    return partition in state.consumers[consumer].owned and is_current(state, consumer)


def joined_with(state: State, consumer: ConsumerId, partition: PartitionId) -> bool:
    """Whether a consumer joined the group's generation with a partition that it still consumes, without having missed one."""
    member = state.members[consumer]
    if partition not in state.consumers[consumer].owned or member is None or member.is_pending or member.has_joined:
        return False
    return partition in member.claim.partitions and member.claim.generation >= state.group.generation - 1


def is_accepted_commit(before: State, step: Step, after: State) -> bool:
    """Whether a step is a commit that was accepted: whoever is refused learns why."""
    if step.action != "consumer_commit":
        return False
    consumer: ConsumerId = step.choices["consumer"]
    unchanged: bool = before.consumers[consumer] == after.consumers[consumer]
    return unchanged


def is_settled(state: State, bounds: Bounds) -> bool:
    """Whether the group is stable, everybody who should run is current and is not to join again, and nobody else is a member."""
    if state.group.phase is not GroupState.STABLE:
        return False
    for member, one in enumerate(state.members):
        if (one is not None) is not (member < bounds.consumers):
            return False
    return all(is_current(state, seat) and not state.consumers[seat].rejoins for seat in seats(bounds))
