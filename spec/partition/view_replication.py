# SPDX-License-Identifier: Apache-2.0
"""How it is told that records are appended, fetched, acknowledged, and deleted at the start of the log."""

from __future__ import annotations

from collections.abc import Callable

from hwmark.model.machine import BrokerId
from hwmark.model.partition.follower import believes
from hwmark.model.partition.state import FetchAnswer, FetchError, FetchRequest, Status, Waiting
from hwmark.spec.naming import braces, broker_name, letter
from hwmark.spec.view import Event

from .view_messages import fetch_answer, fetch_request, proposal_sent
from .view_moment import Moment, called, committed, cut, gone, held

# -- producers --


def appends(moment: Moment) -> Event:
    """A leader appends."""
    leader = moment.chosen("leader")
    log = moment.after.logs[leader]
    record = log.records[-1]
    caption = f"{called(moment.before, leader)} appends {letter(record.id)} at offset {log.end_offset - 1}, in leader epoch"
    return Event(f"{caption} {record.leader_epoch}{committed(moment, leader)}", broker_name(leader))


def acknowledges(moment: Moment) -> Event:
    """A leader tells a producer that its record is stored."""
    record = moment.chosen("record")
    leader = held(moment.before.produced[record], Waiting).leader
    caption = f"{called(moment.before, leader)} tells the producer of {letter(record)} that it is stored (acks={moment.config.acks.value})"
    return Event(caption, broker_name(leader))


def refuses(moment: Moment) -> Event:
    """A leader tells a producer that the ISR has become too small."""
    record = moment.chosen("record")
    leader = held(moment.before.produced[record], Waiting).leader
    why = f"it is committed, but fewer than {moment.config.min_isr} replicas are in the ISR by now"
    caption = f"{called(moment.before, leader)} answers the producer of {letter(record)} NOT_ENOUGH_REPLICAS_AFTER_APPEND: {why}"
    return Event(caption, broker_name(leader))


# -- fetches --


def asks(moment: Moment) -> Event:
    """A follower fetches."""
    follower = moment.chosen("follower")
    request = held(moment.after.fetching[follower], FetchRequest)
    caption = f"Broker {follower} asks broker {request.leader} for offset {request.fetch_offset}, in leader epoch {request.leader_epoch}"
    return Event(caption, broker_name(follower), sends=fetch_request(follower, request))


def serves(moment: Moment) -> Event:
    """A leader handles a fetch, and maybe proposes the follower for the ISR."""
    follower = moment.chosen("follower")
    request, slot = held(moment.before.fetching[follower], FetchRequest), moment.after.fetching[follower]
    leader = request.leader
    caption = served(moment, follower, request, slot if isinstance(slot, FetchAnswer | FetchRequest) else None)
    return Event(
        f"{caption}{committed(moment, leader)}{proposes(moment, leader)}",
        broker_name(leader),
        broker_name(follower),
        sends=fetch_answer(follower, slot) if isinstance(slot, FetchAnswer) else None,
        receives=fetch_request(follower, request),
        also_sends=proposal_sent(moment.before, moment.after, leader),
    )


def served(moment: Moment, follower: BrokerId, request: FetchRequest, slot: FetchAnswer | FetchRequest | None) -> str:
    """Return what a leader says to a fetch."""
    leader = request.leader
    who = called(moment.before, leader)
    known = f"{who} learns that broker {follower} has all before offset {request.fetch_offset}"
    if moment.before.processes[leader].status is not Status.RUNNING:
        return f"Broker {leader} does not run: the fetch of broker {follower} fails"
    if slot is None:
        return f"{who} handles a fetch from a former life of broker {follower}, which no answer reaches"
    if isinstance(slot, FetchRequest):
        return f"{known}, and lets the fetch wait for news"
    if slot.error is not None:
        asked = f"leader epoch {request.leader_epoch}, offset {request.fetch_offset}"
        return f"{who} refuses the fetch of broker {follower} ({asked}): {slot.error.name}"
    if slot.diverging_epoch >= 0:
        return f"{who} tells broker {follower} that epoch {slot.diverging_epoch} ends at offset {slot.diverging_end} in its log"
    news = f"its high watermark, which is {slot.high_watermark}" if slot.record is None else letter(slot.record.id)
    return f"{known}, and sends it {news}"


def proposes(moment: Moment, leader: BrokerId) -> str:
    """Return which ISR a leader has come to propose, as the end of a sentence."""
    new = moment.after.replicas[leader].proposed
    return f"; it proposes ISR {braces(new)}" if new and new != moment.before.replicas[leader].proposed else ""


def takes_in(moment: Moment) -> Event:
    """A follower takes an answer in, or drops it."""
    follower = moment.chosen("follower")
    answer = held(moment.before.fetching[follower], FetchAnswer)
    caption = f"Broker {follower} {taken_in(moment, follower, answer)}"
    return Event(caption, broker_name(follower), broker_name(answer.leader), receives=fetch_answer(follower, answer))


def taken_in(moment: Moment, follower: BrokerId, answer: FetchAnswer) -> str:
    """Return what an answer leads to."""
    replica, log = moment.before.replicas[follower], moment.before.logs[follower]
    is_running = moment.before.processes[follower].status is Status.RUNNING
    if not is_running or replica.leader != answer.leader or not believes(moment.rules, replica, log, answer):
        return (
            f"drops an answer that does not fit any more: it is from leader epoch {answer.leader_epoch}, about offset {answer.fetch_offset}"
        )
    if answer.error is not None:
        is_out_of_range = answer.error is FetchError.OFFSET_OUT_OF_RANGE
        changes = (cut(moment, follower) or anew(moment, follower)) if is_out_of_range else ""
        return f"hears {answer.error.name}{changes or ', and goes on as before'}"
    return diverged(moment, follower, answer) if answer.diverging_epoch >= 0 else appended(moment, follower, answer)


def diverged(moment: Moment, follower: BrokerId, answer: FetchAnswer) -> str:
    """Return what a follower does that is told where the logs part."""
    if isinstance(moment.after.fetching[follower], FetchAnswer):
        return f"takes the high watermark {moment.after.replicas[follower].high_watermark} from an answer that tells it to truncate"
    where = f"epoch {answer.diverging_epoch} ends at offset {answer.diverging_end} at broker {answer.leader}"
    return f"learns that {where}{cut(moment, follower) or ', and has nothing to truncate'}"


def appended(moment: Moment, follower: BrokerId, answer: FetchAnswer) -> str:
    """Return what a follower appends and learns."""
    learns = learned(moment, follower)
    if answer.record is None:
        return f"learns {learns}" if learns else f"hears nothing new from broker {answer.leader}"
    offset = moment.before.logs[follower].end_offset
    appends_it = f"appends {letter(answer.record.id)} at offset {offset} (epoch {answer.record.leader_epoch})"
    return f"{appends_it}, and learns {learns}" if learns else appends_it


def learned(moment: Moment, follower: BrokerId) -> str:
    """Return what a follower learns beside a record."""
    old, new = moment.before.replicas[follower].high_watermark, moment.after.replicas[follower].high_watermark
    is_gone = moment.after.logs[follower].log_start_offset != moment.before.logs[follower].log_start_offset
    learns = [f"the high watermark {new}" if new != old else "", f"that {gone(moment, follower)}" if is_gone else ""]
    return ", and ".join(filter(None, learns))


def anew(moment: Moment, follower: BrokerId) -> str:
    """Return where a follower that lacks what the leader has deleted starts its log, as the end of a sentence."""
    start = moment.after.logs[follower].log_start_offset
    return f", and starts its log anew at offset {start}" if start != moment.before.logs[follower].log_start_offset else ""


# -- the start of the log --


def deletes(moment: Moment) -> Event:
    """A broker deletes its first segment."""
    broker = moment.chosen("broker")
    return Event(f"Broker {broker} deletes its first segment: {gone(moment, broker)}", broker_name(broker))


def deletes_on_request(moment: Moment) -> Event:
    """A leader deletes what a client asked it to."""
    leader = moment.chosen("leader")
    caption = f"{called(moment.before, leader)} deletes what is committed at a client's request: {gone(moment, leader)}"
    return Event(caption, broker_name(leader))


# -- messages --


def loses_fetch(moment: Moment) -> Event:
    """A fetch or its answer is lost."""
    follower = moment.chosen("follower")
    lost = "The answer to a fetch" if isinstance(moment.before.fetching[follower], FetchAnswer) else "A fetch"
    return Event(f"{lost} of broker {follower} is lost", broker_name(follower))


REPLICATION_EVENTS: dict[str, Callable[[Moment], Event]] = {
    "append_record": appends,
    "acknowledge_produce": acknowledges,
    "refuse_produce": refuses,
    "send_fetch": asks,
    "handle_fetch": serves,
    "receive_fetch": takes_in,
    "delete_old_segment": deletes,
    "delete_records": deletes_on_request,
    "lose_fetch": loses_fetch,
}
"""How each of these actions is told."""
