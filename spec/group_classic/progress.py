# SPDX-License-Identifier: Apache-2.0
"""What a classic group gets to, so that it does not keep its promises by doing nothing, and what comes true at last."""

from __future__ import annotations

from hwmark.model.group_classic.state import (
    Bounds,
    ConsumerId,
    GroupState,
    MemberState,
    State,
    consumers,
    seats,
)
from hwmark.model.machine import Step
from hwmark.spec.property import converges, leads_to, reachable

from .standing import is_current, is_member, is_settled

# -- goals --

FEW = {"stops": 0, "pauses": 0, "failovers": 0, "replacements": 0, "losses": 0}


@reachable(sources=("S8",), scope={"consumers": 1, "partitions": 1, "perturbations": 0, **FEW})
def partition_is_owned(state: State) -> bool:
    """A current consumer owns a partition."""
    return any(one.owned and is_current(state, consumer) for consumer, one in enumerate(state.consumers))


@reachable(sources=("S8", "S15"), scope={"consumers": 2, "partitions": 2, "perturbations": 0, **FEW})
def partitions_are_shared(state: State) -> bool:
    """Two current consumers own a partition each."""
    return sum(bool(one.owned) and is_current(state, consumer) for consumer, one in enumerate(state.consumers)) > 1


@reachable(sources=("K-429", "S15"), scope={"consumers": 2, "partitions": 2, "perturbations": 0, **FEW})
def partition_is_given_up(before: State, step: Step, after: State) -> bool:
    """A consumer gives up a partition in a rebalance, and stays a member."""
    if step.action not in ("consumer_join", "consumer_handle_sync"):
        return False
    consumer = step.choices["consumer"]
    return is_member(after, consumer) and len(after.consumers[consumer].owned) < len(before.consumers[consumer].owned)


@reachable(sources=("S8",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "pauses": 1})
def zombie_is_refused(before: State, step: Step, after: State) -> bool:
    """A consumer that is no member any more goes on, commits, and is refused."""
    return step.action == "consumer_commit" and not is_member(before, step.choices["consumer"])


@reachable(sources=("G03",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "failovers": 1})
def stable_group_is_loaded(before: State, step: Step, after: State) -> bool:
    """Another coordinator loads a stable group."""
    return step.action == "coordinator_load" and after.group.phase is GroupState.STABLE


@reachable(sources=("S15",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "stops": 1})
def member_is_left_behind(state: State) -> bool:
    """A member's consumer has crashed, and the group does not know."""
    return any(one is not None for one in state.members[len(state.consumers) :])


@reachable(sources=("K-345",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "stops": 1})
def static_member_returns(before: State, step: Step, after: State) -> bool:
    """A static member that was started again gets its place in a stable group, which stays stable."""
    if step.action != "coordinator_handle_join" or before.group.phase is not GroupState.STABLE:
        return False
    consumer = step.choices["consumer"]
    return not is_member(before, consumer) and is_member(after, consumer) and after.group.phase is GroupState.STABLE


@reachable(sources=("S8",), scope={"consumers": 1, "partitions": 1, "perturbations": 1, **FEW, "stops": 1})
def group_gets_empty(before: State, step: Step, after: State) -> bool:
    """The last member is gone, and that is written."""
    return before.group.phase is not GroupState.EMPTY and after.group.phase is GroupState.EMPTY and step.action != "coordinator_load"


# -- what comes true at last --


def is_undisturbed(state: State) -> bool:
    """Whether every perturbation of the scope has happened."""
    return state.budget.total == 0


@converges(sources=("S8", "S15", "K-345", "K-429"), when=is_undisturbed)
def all_partitions_owned(state: State, bounds: Bounds) -> bool:
    """Once nothing disturbs it any more, the group can get stable, with every partition owned by one of all its consumers."""
    if not is_settled(state, bounds):
        return False
    return sum(len(state.consumers[seat].owned) for seat in seats(bounds)) == bounds.partitions


def waits_undisturbed(state: State, consumer: ConsumerId) -> bool:
    """Whether a consumer has begun to join, and every perturbation of the scope has happened."""
    waits = (MemberState.PREPARING_REBALANCE, MemberState.COMPLETING_REBALANCE)
    return state.budget.total == 0 and state.consumers[consumer].phase in waits


@leads_to(
    sources=("S8", "S15"),
    when=waits_undisturbed,
    weak=(
        "consumer_join",
        "coordinator_handle_join",
        "coordinator_rebalance_timeout",
        "consumer_handle_join",
        "coordinator_handle_sync",
        "coordinator_commit_assignment",
        "consumer_handle_sync",
        "consumer_heartbeat",
        "coordinator_expire_session",
        "coordinator_expire_sync",
        "coordinator_load",
    ),
    consumer=consumers,
)
def joins_end(state: State, *, consumer: ConsumerId) -> bool:
    """Once nothing disturbs the group any more, whoever has begun to join gets its assignment at last, or is told to stop."""
    return state.consumers[consumer].phase in (MemberState.STABLE, MemberState.STOPPED)
