# SPDX-License-Identifier: Apache-2.0
"""How it is told what consumers do."""

from __future__ import annotations

from collections.abc import Callable

from hwmark.model.log import Record
from hwmark.model.partition.state import Consumer
from hwmark.spec.naming import broker_name, letter
from hwmark.spec.view import Event

from .view_lanes import consumer_name
from .view_moment import Moment, held


def known(moment: Moment) -> tuple[int, Consumer, Consumer]:
    """Return the consumer of a step, and what it knows before and after it."""
    consumer = moment.chosen("consumer")
    return consumer, moment.before.consumers[consumer], moment.after.consumers[consumer]


def learns(moment: Moment) -> Event:
    """A consumer learns of a new leader epoch."""
    consumer, _, now = known(moment)
    broker = moment.chosen("broker")
    leader = "it leads" if now.leader == broker else f"broker {now.leader} leads"
    validates = "" if now.validated else f", and has to validate its position {now.position}"
    caption = f"Consumer {consumer} learns from broker {broker} that {leader} in leader epoch {now.leader_epoch}{validates}"
    return Event(caption, consumer_name(consumer), broker_name(broker))


def validates(moment: Moment) -> Event:
    """A consumer compares its position with the leader's log."""
    consumer, was, now = known(moment)
    asked = f"Consumer {consumer} asks broker {was.leader} where epoch {was.last_epoch} ends"
    if now.position < 0:
        caption = f"{asked}, is told nothing, and takes {now.position} for an offset"
    elif now.last_epoch < 0:
        caption = f"{asked}, is told nothing, and starts again at offset {now.position}"
    elif now.position == was.position:
        caption = f"{asked}, and stays at offset {now.position}"
    else:
        caption = f"{asked}, and goes back from offset {was.position} to {now.position}"
    return Event(caption, consumer_name(consumer), broker_name(was.leader))


def reads(moment: Moment) -> Event:
    """A consumer reads a record."""
    consumer, was, _ = known(moment)
    broker = moment.chosen("broker")
    record = held(moment.before.logs[broker].at(was.position), Record)
    kind = "" if broker == was.leader else ", a follower"
    caption = f"Consumer {consumer} reads {letter(record.id)} at offset {was.position} from broker {broker}{kind}"
    return Event(caption, consumer_name(consumer), broker_name(broker))


def resets(moment: Moment) -> Event:
    """A consumer's position is not in the leader's log."""
    consumer, was, now = known(moment)
    asked = f"Consumer {consumer} asks broker {was.leader} for offset {was.position}"
    caption = f"{asked}, hears OFFSET_OUT_OF_RANGE, and starts again at offset {now.position}"
    return Event(caption, consumer_name(consumer), broker_name(was.leader))


CLIENT_EVENTS: dict[str, Callable[[Moment], Event]] = {
    "refresh_metadata": learns,
    "validate_position": validates,
    "consume": reads,
    "reset_position": resets,
}
"""How each of these actions is told."""
