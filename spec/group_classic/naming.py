# SPDX-License-Identifier: Apache-2.0
"""What consumers, members, partitions and answers of a classic group are called in pictures."""

from __future__ import annotations

from collections.abc import Iterable

from hwmark.model.group_classic.state import NOBODY, Answer, ConsumerId, Error, MemberId, MemberState, PartitionId, State, Waiting

COORDINATOR = "coordinator"
WAITS = {
    Waiting.TO_JOIN: "has its id only",
    Waiting.NOTHING: "waits for nothing",
    Waiting.LATE_JOIN: "has not joined",
    Waiting.FIRST_JOIN: "joins",
    Waiting.JOIN: "joins again",
    Waiting.SYNC: "syncs",
}
"""What a member waits for, as the coordinator has it."""
DOES = {
    MemberState.STOPPED: "does not run",
    MemberState.UNJOINED: "no member",
    MemberState.PREPARING_REBALANCE: "joins",
    MemberState.COMPLETING_REBALANCE: "syncs",
    MemberState.STABLE: "stable",
}
"""What a consumer is doing, as it knows itself."""


def is_former(state: State, consumer: ConsumerId) -> bool:
    """Whether another consumer was started at the seat of this one, or may be one day."""
    return state.consumers[consumer].seat != consumer


def consumer_name(state: State, consumer: ConsumerId) -> str:
    """Return how a consumer is called, which is also the name of its lane."""
    return f"{'former consumer' if is_former(state, consumer) else 'consumer'} {consumer}"


def member_name(state: State, member: MemberId) -> str:
    """Return how a member is called: as the consumer that uses its id."""
    if member == NOBODY:
        return "nobody"
    return consumer_name(state, member) if member < len(state.consumers) else "a member whose consumer is gone"


def partition_name(partition: PartitionId) -> str:
    """Return how a partition is called."""
    return f"p{partition}"


def partitions_name(partitions: Iterable[PartitionId]) -> str:
    """Write partitions in order, for example ``p0, p2``."""
    return ", ".join(map(partition_name, sorted(partitions))) or "nothing"


def short_name(state: State, member: MemberId) -> str:
    """Return the name of a member where there is little room: of one whose consumer is gone, a cross."""
    return f"c{member}" if member < len(state.consumers) else "✗"


def answer_name(answer: Answer) -> str:
    """Return what an answer says in short."""
    if answer.error is not Error.NONE:
        return str(answer.error.value)
    return f"generation {answer.generation}" if answer.generation >= 0 else partitions_name(answer.assignment)
