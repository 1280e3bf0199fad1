# SPDX-License-Identifier: Apache-2.0
"""What a consumer does: it joins, learns its assignment, sends heartbeats, commits, leaves, and finds out that it is no member."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.machine import action, impossible, kafka, put

from .group import (
    is_cooperative,
    is_static,
    joining_again,
    leave_unused,
    prepare_or_complete,
    remove,
    rename,
    spend,
    standing,
    static_member,
)
from .rules import CommitFence, InstanceFence, MissedGeneration, Rules
from .state import (
    UNKNOWN_GENERATION,
    Bounds,
    Config,
    Consumer,
    ConsumerId,
    Error,
    GroupState,
    MemberId,
    MemberState,
    PartitionId,
    Partitions,
    Perturbation,
    Request,
    State,
    consumers,
    former_consumer,
    former_consumers,
    partitions,
    seats,
)

NOTHING: Partitions = frozenset()

# -- rules --


def identity(rules: Rules, state: State, config: Config, consumer: ConsumerId) -> MemberId | None:
    """Return as which member a consumer's heartbeats and commits are taken."""
    if state.members[consumer] is not None:
        return consumer
    match rules.instance_fence:
        case InstanceFence.MEMBER_ID:
            return None
        case InstanceFence.INSTANCE_ID:
            seat = state.consumers[consumer].seat
            return static_member(state, seat) if is_static(config, seat) else None
        case _:
            assert_never(rules.instance_fence)


def refusal(rules: Rules, state: State, config: Config, consumer: ConsumerId) -> Error:
    """Return why a commit is refused (``ClassicGroup.validateOffsetCommit``)."""
    match rules.commit_fence:
        case CommitFence.NONE:
            return Error.NONE
        case CommitFence.MEMBER:
            if identity(rules, state, config, consumer) is None:
                return standing(state, config, consumer)
        case CommitFence.GENERATION:
            error = membership(rules, state, config, consumer)
            if error is not Error.NONE:
                return error
        case _:
            assert_never(rules.commit_fence)
    return Error.REBALANCE_IN_PROGRESS if state.group.phase is GroupState.COMPLETING_REBALANCE else Error.NONE


def loses_all(rules: Rules, mine: Consumer, generation: int) -> bool:
    """Whether a consumer that is told the generation has lost what it brought into it."""
    match rules.missed_generation:
        case MissedGeneration.LOSES_ALL:
            return mine.generation != UNKNOWN_GENERATION and generation > mine.generation + 1
        case MissedGeneration.REVOKES:
            return False
        case _:
            assert_never(rules.missed_generation)


# -- joining --


@action(consumer=consumers)
@kafka(
    "ConsumerCoordinator.onJoinPrepare; AbstractCoordinator.sendJoinGroupRequest",
    versions="3.5–4.3",
    simplified="all consumers subscribe to the same topic, and callbacks take no time",
)
def consumer_join(state: State, rules: Rules, config: Config, *, consumer: ConsumerId) -> State | None:
    """A consumer sends JoinGroup: it has lost what it owned if it is no member any more, and else gives it up or keeps it."""
    mine = state.consumers[consumer]
    if mine.phase is not MemberState.UNJOINED and not (mine.phase is MemberState.STABLE and mine.rejoins):
        return None
    was_member = mine.has_member_id and mine.generation != UNKNOWN_GENERATION
    owned = mine.owned if was_member and is_cooperative(rules, config, mine.seat) else NOTHING
    joining = put(mine, phase=MemberState.PREPARING_REBALANCE, rejoins=False, owned=owned, revoking=NOTHING)
    return put(state, consumers={consumer: joining}, requests={consumer: Request.JOIN})


@action(consumer=consumers)
@kafka(
    "AbstractCoordinator.JoinGroupResponseHandler.handle",
    versions="3.5–4.3",
    simplified="SyncGroup is sent in the same step; nobody reads the topic's metadata anew",
)
def consumer_handle_join(state: State, rules: Rules, *, consumer: ConsumerId) -> State | None:
    """A consumer learns its generation and asks for its assignment; or its member id, to join with it; or that it has none."""
    mine, answer = state.consumers[consumer], state.answers[consumer]
    if answer is None or mine.phase is not MemberState.PREPARING_REBALANCE:
        return None
    state = put(state, answers={consumer: None})
    match answer.error:
        case Error.NONE:
            lost = loses_all(rules, mine, answer.generation) and bool(mine.owned)
            joined = put(mine, phase=MemberState.COMPLETING_REBALANCE, has_member_id=True, generation=answer.generation)
            joined = put(joined, owned=NOTHING, rejoins=True) if lost else joined
            return put(state, consumers={consumer: joined}, requests={consumer: Request.SYNC})
        case Error.MEMBER_ID_REQUIRED:
            named = put(mine, has_member_id=True, generation=UNKNOWN_GENERATION)
            return put(state, consumers={consumer: named}, requests={consumer: Request.JOIN})
        case Error.UNKNOWN_MEMBER_ID:
            return forget_member_id(state, consumer)
        case Error.FENCED_INSTANCE_ID | Error.INCONSISTENT_GROUP_PROTOCOL:
            return halt(state, consumer)
        case _:
            return impossible(f"a JoinGroup is answered {answer.error.value}")


@action(consumer=consumers)
@kafka(
    "AbstractCoordinator.SyncGroupResponseHandler.handle; ConsumerCoordinator.onJoinComplete",
    versions="3.5–4.3",
    simplified="what is revoked is not consumed any more, and may be committed until the consumer joins again",
)
def consumer_handle_sync(state: State, rules: Rules, config: Config, *, consumer: ConsumerId) -> State | None:
    """A consumer learns its assignment; a cooperative one that has to give something up for it joins again."""
    mine, answer = state.consumers[consumer], state.answers[consumer]
    if answer is None or mine.phase is not MemberState.COMPLETING_REBALANCE:
        return None
    state = put(state, answers={consumer: None})
    match answer.error:
        case Error.NONE:
            revoked = mine.owned - answer.assignment if is_cooperative(rules, config, mine.seat) else NOTHING
            rejoins = mine.rejoins or bool(revoked)
            stable = put(mine, phase=MemberState.STABLE, rejoins=rejoins, owned=answer.assignment, revoking=revoked)
            return put(state, consumers={consumer: stable})
        case Error.REBALANCE_IN_PROGRESS:
            return put(state, consumers={consumer: joining_again(mine)}, requests={consumer: Request.JOIN})
        case _:
            return learn(state, consumer, answer.error)


# -- being a member --


@action(consumer=consumers)
@kafka(
    "AbstractCoordinator.HeartbeatResponseHandler.handle; GroupMetadataManager.classicGroupHeartbeatToClassicGroup",
    versions="3.5–4.3; 4.0–4.3",
    simplified="request and answer are one step; only those that tell something new; none while it joins and syncs, as those answers "
    "tell the same",
)
def consumer_heartbeat(state: State, rules: Rules, config: Config, *, consumer: ConsumerId) -> State | None:
    """A heartbeat tells a consumer that the group rebalances, or that it is no member any more, or not of this generation."""
    mine = state.consumers[consumer]
    if mine.phase is not MemberState.STABLE or state.group.phase is GroupState.DEAD:
        return None
    error = membership(rules, state, config, consumer)
    if error is Error.NONE and state.group.phase is GroupState.PREPARING_REBALANCE:
        error = Error.REBALANCE_IN_PROGRESS
    return None if error is Error.NONE else learn(state, consumer, error)


@action(consumer=consumers, partition=partitions)
@kafka(
    "ClassicGroup.validateOffsetCommit; ConsumerCoordinator.OffsetCommitResponseHandler.handle",
    versions="4.0–4.3; 3.5–4.3",
    simplified="request and answer are one step; an accepted commit leaves no trace here; none while the consumer joins and syncs",
)
def consumer_commit(state: State, rules: Rules, config: Config, *, consumer: ConsumerId, partition: PartitionId) -> State | None:
    """A consumer commits its position in a partition that it owns or is just giving up; if it is refused, it learns why."""
    mine = state.consumers[consumer]
    if mine.phase is not MemberState.STABLE or partition not in mine.owned | mine.revoking or state.group.phase is GroupState.DEAD:
        return None
    error = refusal(rules, state, config, consumer)
    return state if error is Error.NONE else learn(state, consumer, error)


@action(consumer=consumers)
@kafka(
    "AbstractCoordinator.handlePollTimeoutExpiry; GroupMetadataManager.classicGroupLeaveToClassicGroup",
    versions="3.5–4.3; 4.0–4.3",
    simplified="untimed: at any moment while it is stable; costs a perturbation; LeaveGroup arrives at once",
)
def consumer_poll_timeout(state: State, config: Config, *, consumer: ConsumerId) -> State | None:
    """A consumer does not poll for too long: it forgets that it is a member, and leaves unless it is static.

    What it owns it goes on with until it polls, and then has lost it.
    """
    if state.consumers[consumer].phase is not MemberState.STABLE or state.group.phase is GroupState.DEAD:
        return None
    paused = spend(state, Perturbation.PAUSE)
    return None if paused is None else forget_member_id(leave(paused, config, consumer), consumer)


# -- stopping and starting --


@action(consumer=seats)
@kafka(
    "AbstractCoordinator.close; ConsumerCoordinator.onLeavePrepare",
    versions="3.5–4.3",
    simplified="costs a perturbation; LeaveGroup arrives at once",
)
def consumer_close(state: State, config: Config, *, consumer: ConsumerId) -> State | None:
    """A consumer is closed: it gives everything up, and leaves the group unless it is static."""
    mine = state.consumers[consumer]
    can_leave = mine.phase not in (MemberState.STOPPED, MemberState.UNJOINED) and state.group.phase is not GroupState.DEAD
    closing = spend(state, Perturbation.STOP) if can_leave and not is_static(config, mine.seat) else None
    if closing is None:
        return None
    closing = put(closing, consumers={consumer: put(mine, phase=MemberState.STOPPED)})
    return halt(leave(closing, config, consumer), consumer)


@action(consumer=seats)
@kafka(
    "KafkaConsumer.poll",
    versions="3.5–4.3",
    simplified="costs a perturbation; a static consumer that is closed is the same; what was on its way to it is lost",
)
def consumer_crash(state: State, *, consumer: ConsumerId) -> State | None:
    """A consumer crashes: the coordinator does not know."""
    crashed = spend(state, Perturbation.STOP) if state.consumers[consumer].phase is not MemberState.STOPPED else None
    return None if crashed is None else halt(crashed, consumer)


@action(consumer=seats)
@kafka(
    "KafkaConsumer.subscribe",
    versions="3.5–4.3",
    simplified="at any moment after it has stopped",
)
def operator_restart(state: State, *, consumer: ConsumerId) -> State | None:
    """The operator starts a consumer again, which knows nothing of its former life."""
    if state.consumers[consumer].phase is not MemberState.STOPPED:
        return None
    return put(state, consumers={consumer: Consumer(consumer)})


@action(consumer=seats)
@kafka(
    "KafkaConsumer.subscribe",
    versions="3.5–4.3",
    simplified="costs a perturbation; the former consumer is known as another one from then on",
)
def operator_replace(state: State, config: Config, bounds: Bounds, *, consumer: ConsumerId) -> State | None:
    """The operator starts a second consumer with the instance id of one that runs, believing that it has stopped."""
    mine = state.consumers[consumer]
    if not is_static(config, mine.seat) or mine.phase is MemberState.STOPPED:
        return None
    free = (one for one in former_consumers(bounds) if state.consumers[one].phase is MemberState.STOPPED)
    former, replaced = next(free, None), spend(state, Perturbation.REPLACEMENT)
    if former is None or replaced is None:
        return None
    return put(
        rename(replaced, consumer, former),
        consumers={former: mine, consumer: Consumer(consumer)},
        requests={former: state.requests[consumer], consumer: None},
        answers={former: state.answers[consumer], consumer: None},
    )


# -- the network --


@action(consumer=consumers)
@kafka(
    "AbstractCoordinator.CoordinatorResponseHandler.onFailure; AbstractCoordinator.joinGroupIfNeeded",
    versions="3.5–4.3",
    simplified="costs a perturbation; a request that is lost is like one that comes late; an answer that is held back is lost once it "
    "is given",
)
def connection_lost(state: State, *, consumer: ConsumerId) -> State | None:
    """The connection breaks on which a consumer waits for an answer, or has sent SyncGroup: it joins again."""
    mine = state.consumers[consumer]
    waits = mine.phase in (MemberState.PREPARING_REBALANCE, MemberState.COMPLETING_REBALANCE)
    lost = spend(state, Perturbation.LOSS) if waits and state.requests[consumer] is not Request.JOIN else None
    if lost is None:
        return None
    return put(
        lost,
        consumers={consumer: joining_again(mine)},
        requests={consumer: Request.JOIN},
        answers={consumer: None},
    )


# -- helpers --


def membership(rules: Rules, state: State, config: Config, consumer: ConsumerId) -> Error:
    """Return what is wrong with a consumer's member id and generation."""
    if identity(rules, state, config, consumer) is None:
        return standing(state, config, consumer)
    return Error.NONE if state.consumers[consumer].generation == state.group.generation else Error.ILLEGAL_GENERATION


def learn(state: State, consumer: ConsumerId, error: Error) -> State | None:
    """Return the state once a consumer knows what was wrong with its heartbeat, commit, or SyncGroup."""
    mine = state.consumers[consumer]
    match error:
        case Error.REBALANCE_IN_PROGRESS:
            return None if mine.rejoins else put(state, consumers={consumer: put(mine, rejoins=True)})
        case Error.ILLEGAL_GENERATION:
            return forget_generation(state, consumer)
        case Error.UNKNOWN_MEMBER_ID:
            return forget_member_id(state, consumer)
        case Error.FENCED_INSTANCE_ID:
            return halt(state, consumer)
        case _:
            return impossible(f"a consumer is told {error.value}")


def forget_generation(state: State, consumer: ConsumerId) -> State:
    """Return the state once a consumer knows that its generation is over; its member id may still be good."""
    mine = state.consumers[consumer]
    forgotten = put(mine, phase=MemberState.UNJOINED, generation=UNKNOWN_GENERATION, rejoins=False, revoking=NOTHING)
    return put(state, consumers={consumer: forgotten})


def forget_member_id(state: State, consumer: ConsumerId) -> State:
    """Return the state once a consumer takes itself for no member any more; what it owned it loses when it joins."""
    state = forget_generation(leave_unused(state, consumer), consumer)
    return put(state, consumers={consumer: put(state.consumers[consumer], has_member_id=False)})


def halt(state: State, consumer: ConsumerId) -> State:
    """Return the state once a consumer has stopped, because it had to or because it crashed."""
    state = leave_unused(state, consumer)
    is_former = state.consumers[consumer].seat != consumer
    stopped = former_consumer() if is_former else Consumer(consumer, MemberState.STOPPED)
    return put(state, consumers={consumer: stopped}, requests={consumer: None}, answers={consumer: None})


def leave(state: State, config: Config, consumer: ConsumerId) -> State:
    """Return the state once a consumer's LeaveGroup was handled; static members send none."""
    mine, member = state.consumers[consumer], state.members[consumer]
    if member is None or not mine.has_member_id or is_static(config, mine.seat):
        return state
    state = remove(state, consumer)
    return state if state.group.phase is GroupState.EMPTY else prepare_or_complete(state, config)
