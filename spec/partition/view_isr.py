# SPDX-License-Identifier: Apache-2.0
"""How it is told that leaders propose an ISR, that the controller answers, and that requests come twice."""

from __future__ import annotations

from collections.abc import Callable

from hwmark.model.machine import BrokerId
from hwmark.model.partition.alter_partition import AlterPartition, Errors
from hwmark.model.partition.controller import judged
from hwmark.model.partition.state import UNKNOWN, AlterPartitionAnswer, FetchRequest, Status
from hwmark.spec.naming import braces, broker_name
from hwmark.spec.view import Event

from .view_lanes import CONTROLLER
from .view_messages import copy, news, proposal, proposal_answer, proposal_sent, proposed
from .view_moment import Moment, called, committed, decided, held
from .view_replication import proposes

# -- the leader --


def drops(moment: Moment) -> Event:
    """A leader proposes an ISR without a follower."""
    leader, follower = moment.chosen("leader"), moment.chosen("follower")
    end_offset = moment.before.followers[leader][follower].end_offset
    finds = (
        f"has not heard of broker {follower} since it leads"
        if end_offset == UNKNOWN
        else f"finds broker {follower} still at offset {end_offset}"
    )
    caption = f"{called(moment.before, leader)} {finds}{proposes(moment, leader)}"
    return Event(caption, broker_name(leader), sends=proposal_sent(moment.before, moment.after, leader))


def adds(moment: Moment) -> Event:
    """A leader proposes an ISR with a follower of which it heard before."""
    leader, follower = moment.chosen("leader"), moment.chosen("follower")
    caption = f"{called(moment.before, leader)} goes by an earlier fetch of broker {follower}{proposes(moment, leader)}"
    return Event(caption, broker_name(leader), sends=proposal_sent(moment.before, moment.after, leader))


def gives_up(moment: Moment) -> Event:
    """A leader does not wait for a follower outside of the ISR any more."""
    leader, follower = moment.chosen("leader"), moment.chosen("follower")
    caption = f"{called(moment.before, leader)} does not wait for broker {follower} any more, which is outside of the ISR"
    return Event(f"{caption}{committed(moment, leader)}", broker_name(leader))


def learns_answer(moment: Moment) -> Event:
    """A leader hears what became of its proposal."""
    leader = moment.chosen("leader")
    answer = held(moment.before.altering[leader], AlterPartitionAnswer)
    return Event(
        f"{called(moment.before, leader)} {answered(moment, leader, answer)}{committed(moment, leader)}",
        broker_name(leader),
        CONTROLLER,
        receives=proposal_answer(answer),
    )


def answered(moment: Moment, leader: BrokerId, answer: AlterPartitionAnswer) -> str:
    """Return what a leader makes of an answer."""
    was, now = moment.before.replicas[leader], moment.after.replicas[leader]
    heard = "that its proposal was accepted" if answer.error is Errors.NONE else answer.error.name
    if not was.proposed:
        return f"hears {heard}, and knows better already"
    if now.proposed:
        return f"hears {heard}, and waits for metadata that tell it more"
    if answer.error is not Errors.NONE:
        return f"hears {heard}, and takes its proposal back"
    return f"hears {heard}: the ISR is {braces(now.isr)}, in partition epoch {now.partition_epoch}"


# -- the controller --


def answers(moment: Moment) -> Event:
    """The controller accepts or refuses a proposal."""
    leader = moment.chosen("leader")
    request, answer = held(moment.before.altering[leader], AlterPartition), held(moment.after.altering[leader], AlterPartitionAnswer)
    caption = f"The controller {verdict(answer.error)} the ISR {braces(proposed(request))} that broker {leader} proposed"
    return Event(
        f"{caption}{outcome(moment, answer.error, request)}",
        CONTROLLER,
        broker_name(leader),
        sends=proposal_answer(answer),
        receives=proposal(request),
        also_sends=news(moment.before, moment.after),
    )


def verdict(error: Errors) -> str:
    """Return what the controller does with a proposal."""
    return "accepts" if error in {Errors.NONE, Errors.NEW_LEADER_ELECTED} else "refuses"


def outcome(moment: Moment, error: Errors, request: AlterPartition) -> str:
    """Return why a proposal is refused, or what comes of it, as the end of a sentence."""
    return decided(moment, proposed(request)) if error in {Errors.NONE, Errors.NEW_LEADER_ELECTED} else f": {error.name}"


# -- messages --


def loses_answer(moment: Moment) -> Event:
    """The answer to a proposal is lost."""
    leader = moment.chosen("leader")
    request = held(moment.after.altering[leader], AlterPartition)
    caption = f"The answer to broker {leader} is lost, and it proposes ISR {braces(proposed(request))} once more"
    return Event(caption, broker_name(leader), sends=proposal(request))


def doubles_fetch(moment: Moment) -> Event:
    """A fetch is on its way twice."""
    follower = moment.chosen("follower")
    request = held(moment.after.duplicate, FetchRequest)
    return Event(f"The fetch of broker {follower} is on its way twice", broker_name(follower), sends=copy(request, follower))


def doubles_proposal(moment: Moment) -> Event:
    """A proposal is on its way twice."""
    leader = moment.chosen("leader")
    request = held(moment.after.duplicate, AlterPartition)
    caption = f"The proposal of broker {leader}, ISR {braces(proposed(request))}, is on its way twice"
    return Event(caption, broker_name(leader), sends=copy(request, leader))


def delivers(moment: Moment) -> Event:
    """The second copy of a request arrives."""
    request, sender = moment.before.duplicate, moment.before.duplicate_of
    if isinstance(request, AlterPartition):
        error, _ = judged(moment.before, moment.rules, moment.config, request)
        caption = f"A second copy of broker {sender}'s proposal arrives: the controller {verdict(error)} the ISR"
        return Event(
            f"{caption} {braces(proposed(request))}{outcome(moment, error, request)}",
            CONTROLLER,
            broker_name(sender),
            sends=news(moment.before, moment.after),
            receives=copy(request, sender),
        )
    request = held(request, FetchRequest)
    leader = request.leader
    is_running = moment.before.processes[leader].status is Status.RUNNING
    handled = "it handles it like the first" if is_running else "it does not run"
    caption = f"A second copy of the fetch of broker {sender} (offset {request.fetch_offset}) reaches broker {leader}: {handled}"
    return Event(
        f"{caption}{committed(moment, leader)}{proposes(moment, leader)}",
        broker_name(leader),
        broker_name(sender),
        sends=proposal_sent(moment.before, moment.after, leader),
        receives=copy(request, sender),
    )


ISR_EVENTS: dict[str, Callable[[Moment], Event]] = {
    "propose_shrink": drops,
    "propose_from_memory": adds,
    "let_lag_time_pass": gives_up,
    "answer_alter_partition": answers,
    "receive_alter_partition": learns_answer,
    "lose_alter_partition_answer": loses_answer,
    "duplicate_fetch": doubles_fetch,
    "duplicate_alter_partition": doubles_proposal,
    "deliver_duplicate": delivers,
}
"""How each of these actions is told."""
