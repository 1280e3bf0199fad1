# SPDX-License-Identifier: Apache-2.0
"""How each step of a classic group is told."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from hwmark.model.group_classic.state import Answer, ConsumerId, Error, GroupState, MemberState, Request, State
from hwmark.model.machine import Step
from hwmark.spec.view import Event, Message

from .naming import COORDINATOR, consumer_name, member_name, partition_name, partitions_name
from .standing import is_accepted_commit, is_member


def message(state: State, consumer: ConsumerId) -> Message | None:
    """Return the request that is under way from a consumer."""
    request, mine = state.requests[consumer], state.consumers[consumer]
    if request is None:
        return None
    generation = (f"generation {mine.generation}",) if mine.generation >= 0 else ()
    claimed = (f"owns {partitions_name(mine.owned)}",) if request is Request.JOIN and mine.owned else ()
    return Message(f"{request.value} of {consumer_name(state, consumer)}", (*generation, *claimed))


def outcome(before: State, after: State) -> str:
    """Return what a step did to the group as a whole."""
    old, new = before.group, after.group
    if new.generation > old.generation >= 0:
        if new.phase is GroupState.EMPTY:
            return f": the group is empty in generation {new.generation}"
        return f": generation {new.generation} begins, led by {member_name(after, new.leader)}"
    if new.phase is GroupState.PREPARING_REBALANCE and old.phase is not new.phase:
        return ": the group rebalances"
    return ""


def of_consumer(after: State, step: Step) -> tuple[ConsumerId, str, str]:
    """Return the consumer of a step, its lane, and its name at the beginning of a sentence."""
    consumer = step.choices["consumer"]
    name = consumer_name(after, consumer)
    return consumer, name, name[0].upper() + name[1:]


def asks_to_join(before: State, step: Step, after: State) -> Event:
    """A consumer sends JoinGroup."""
    consumer, lane, name = of_consumer(after, step)
    old, mine = before.consumers[consumer], after.consumers[consumer]
    was_member = old.has_member_id and old.generation >= 0
    if old.owned - mine.owned:
        how = f", having {'given up' if was_member else 'lost'} {partitions_name(old.owned - mine.owned)}"
    else:
        how = f", keeping {partitions_name(mine.owned)}" if mine.owned else ""
    return Event(f"{name} sends JoinGroup{how}", lane, sends=message(after, consumer))


def handles_join(before: State, step: Step, after: State) -> Event:
    """The coordinator handles a JoinGroup."""
    consumer, lane, _ = of_consumer(after, step)
    caption = f"The coordinator {joining(before, consumer, after)}{outcome(before, after)}"
    return Event(caption, COORDINATOR, lane, receives=message(before, consumer))


def joining(before: State, consumer: ConsumerId, after: State) -> str:
    """Return what a JoinGroup does with its consumer."""
    name, answer = consumer_name(after, consumer), after.answers[consumer]
    if answer is not None and answer.error is Error.MEMBER_ID_REQUIRED:
        return f"gives {name} a member id to join with"
    if answer is not None and answer.error is not Error.NONE:
        return f"refuses {name}: {answer.error.value}"
    if is_member(before, consumer):
        return f"knows that {name} joins again"
    seat = after.consumers[consumer].seat
    replaced = any(
        old is not None and new is None and old.seat == seat and not old.is_pending
        for old, new in zip(before.members, after.members, strict=True)
    )
    return f"gives {name} the place of its former run" if replaced else f"makes {name} a member"


def time_to_join_is_over(before: State, _step: Step, after: State) -> Event:
    """The rebalance timeout."""
    return Event(f"The time to join is over{outcome(before, after)}", COORDINATOR)


def hears_of_join(before: State, step: Step, after: State) -> Event:
    """A consumer handles the answer to its JoinGroup."""
    consumer, lane, name = of_consumer(before, step)
    answer, mine = before.answers[consumer], after.consumers[consumer]
    if answer is not None and answer.error is Error.NONE:
        lost = before.consumers[consumer].owned - mine.owned
        what = f", has lost {partitions_name(lost)}," if lost else ""
        return Event(
            f"{name} is in generation {mine.generation}{what} and sends SyncGroup", lane, COORDINATOR, sends=message(after, consumer)
        )
    return evolve(told(answer, name, lane), sends=message(after, consumer))


def told(answer: Answer | None, name: str, lane: str) -> Event:
    """Return the event of a consumer that is told an error."""
    error = Error.NONE if answer is None else answer.error
    says = "has a member id now, and sends JoinGroup with it" if error is Error.MEMBER_ID_REQUIRED else f"is told {error.value}"
    return Event(f"{name} {says}", lane, COORDINATOR)


def handles_sync(before: State, step: Step, after: State) -> Event:
    """The coordinator handles a SyncGroup."""
    consumer, lane, _ = of_consumer(after, step)
    answer = after.answers[consumer]
    is_leader = before.group.phase is GroupState.COMPLETING_REBALANCE and before.group.leader == consumer
    if is_leader and answer is None:
        caption = f"The coordinator writes the assignment of generation {after.record.generation}, which {lane} has made"
    elif answer is None:
        caption = f"The coordinator lets {lane} wait for the assignment"
    elif answer.error is not Error.NONE:
        caption = f"The coordinator refuses {lane}: {answer.error.value}"
    else:
        caption = f"The coordinator answers {lane} with its assignment"
    return Event(caption, COORDINATOR, lane, receives=message(before, consumer))


def is_stable(_before: State, _step: Step, after: State) -> Event:
    """The assignment is replicated."""
    shares = [
        f"{partitions_name(one.assignment)} for {member_name(after, member)}"
        for member, one in enumerate(after.members)
        if one is not None and not one.is_pending
    ]
    return Event(f"The assignment is replicated, and the group stable: {'; '.join(shares)}", COORDINATOR)


def hears_of_sync(before: State, step: Step, after: State) -> Event:
    """A consumer handles the answer to its SyncGroup."""
    consumer, lane, name = of_consumer(before, step)
    answer, old, mine = before.answers[consumer], before.consumers[consumer].owned, after.consumers[consumer]
    if answer is None or answer.error is not Error.NONE:
        return told(answer, name, lane)
    done = [f"is assigned {partitions_name(mine.owned - old)}"] if mine.owned - old else []
    done += [f"gives up {partitions_name(mine.revoking)}, and is to join again"] if mine.revoking else []
    done = done or [f"keeps {partitions_name(mine.owned)}" if mine.owned else "is assigned nothing"]
    return Event(f"{name} {' and '.join(done)}", lane, COORDINATOR)


def beats(before: State, step: Step, after: State) -> Event:
    """A heartbeat tells something new."""
    _, lane, name = of_consumer(before, step)
    return Event(f"A heartbeat tells {name[0].lower()}{name[1:]} {news(before, step, after)}", lane, COORDINATOR)


def news(before: State, step: Step, after: State) -> str:
    """Return what a consumer learns from its heartbeat or commit."""
    mine, old = after.consumers[step.choices["consumer"]], before.consumers[step.choices["consumer"]]
    if mine.phase is MemberState.STOPPED:
        return "that it is fenced: it stops"
    if mine.phase is MemberState.UNJOINED:
        return "that its generation is over" if mine.has_member_id else "that it is no member any more"
    return "that the group rebalances" if mine.rejoins and not old.rejoins else "nothing new"


def commits(before: State, step: Step, after: State) -> Event:
    """A consumer commits."""
    consumer, lane, name = of_consumer(before, step)
    caption = f"{name} commits {partition_name(step.choices['partition'])} in generation {before.consumers[consumer].generation}"
    if is_accepted_commit(before, step, after):
        return Event(f"{caption}, and that is accepted", COORDINATOR, lane)
    return Event(f"{caption}, is refused, and learns {news(before, step, after)}", COORDINATOR, lane)


def polls_too_late(before: State, step: Step, after: State) -> Event:
    """A consumer does not poll for too long."""
    _, lane, name = of_consumer(before, step)
    left = " and leaves" if before.group != after.group else ""
    return Event(f"{name} does not poll for too long{left}{outcome(before, after)}", lane)


def expires(before: State, step: Step, after: State) -> Event:
    """A session expires."""
    caption = f"The session of {member_name(before, step.choices['member'])} expires{outcome(before, after)}"
    return Event(caption, COORDINATOR)


def time_to_sync_is_over(before: State, _step: Step, after: State) -> Event:
    """Members that have not synced are removed."""
    return Event(f"The time to sync is over{outcome(before, after)}", COORDINATOR)


def closes(before: State, step: Step, after: State) -> Event:
    """A consumer is closed."""
    _, lane, name = of_consumer(before, step)
    return Event(f"{name} is closed, and leaves{outcome(before, after)}", lane)


def crashes(before: State, step: Step, _after: State) -> Event:
    """A consumer crashes."""
    _, lane, name = of_consumer(before, step)
    return Event(f"{name} crashes", lane)


def starts(_before: State, step: Step, after: State) -> Event:
    """A consumer is started again."""
    _, lane, name = of_consumer(after, step)
    return Event(f"{name} is started again", lane)


def is_replaced(before: State, step: Step, after: State) -> Event:
    """A second consumer is started with the same instance id."""
    _, lane, name = of_consumer(after, step)
    stopped = MemberState.STOPPED
    former = next(one for one, mine in enumerate(after.consumers) if before.consumers[one].phase is stopped and mine.phase is not stopped)
    return Event(f"{name} is started anew, while its former run goes on as {consumer_name(after, former)}", lane)


def is_cut_off(before: State, step: Step, after: State) -> Event:
    """A connection breaks."""
    consumer, lane, name = of_consumer(before, step)
    return Event(f"The connection of {name[0].lower()}{name[1:]} breaks: it sends JoinGroup anew", lane, sends=message(after, consumer))


def resigns(_before: State, _step: Step, _after: State) -> Event:
    """The coordinator resigns."""
    return Event("The coordinator resigns: consumers look for another one", COORDINATOR)


def loads(_before: State, _step: Step, after: State) -> Event:
    """Another coordinator loads the group."""
    caption = f"Another coordinator loads the group from the log: {after.group.phase.value} in generation {after.group.generation}"
    return Event(caption, COORDINATOR)


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "consumer_join": asks_to_join,
    "coordinator_handle_join": handles_join,
    "coordinator_rebalance_timeout": time_to_join_is_over,
    "consumer_handle_join": hears_of_join,
    "coordinator_handle_sync": handles_sync,
    "coordinator_commit_assignment": is_stable,
    "consumer_handle_sync": hears_of_sync,
    "consumer_heartbeat": beats,
    "consumer_commit": commits,
    "consumer_poll_timeout": polls_too_late,
    "coordinator_expire_session": expires,
    "coordinator_expire_sync": time_to_sync_is_over,
    "consumer_close": closes,
    "consumer_crash": crashes,
    "operator_restart": starts,
    "operator_replace": is_replaced,
    "connection_lost": is_cut_off,
    "coordinator_resign": resigns,
    "coordinator_load": loads,
}
"""How each action of the machine is told."""
