# SPDX-License-Identifier: Apache-2.0
"""How it is told that brokers stop, start and register, and what the controller decides and brokers learn of it."""

from __future__ import annotations

from collections.abc import Callable

from hwmark.model.log import Record
from hwmark.model.machine import BrokerId
from hwmark.model.partition.decisions import NOBODY, PartitionState
from hwmark.model.partition.state import UNKNOWN, RegistrationAnswer, RegistrationRequest, State, Status
from hwmark.spec.naming import braces, broker_name, letter
from hwmark.spec.view import Event

from .view_lanes import CONTROLLER
from .view_messages import metadata_record, news, registration_answer, registration_request
from .view_moment import Moment, called, committed, cut, decided, held

# -- the controller --


def told(moment: Moment, caption: str, source: BrokerId = NOBODY) -> Event:
    """Return the event of a decision, which the controller makes known to everybody."""
    where = None if source == NOBODY else broker_name(source)
    return Event(f"{caption}{decided(moment)}", CONTROLLER, where, sends=news(moment.before, moment.after))


def fences(moment: Moment) -> Event:
    """The controller fences a broker."""
    broker = moment.chosen("broker")
    why = "of which it has not heard for too long" if is_alive(moment.before, broker) else "which does not run as it is registered"
    return told(moment, f"The controller fences broker {broker}, {why}")


def is_alive(state: State, broker: BrokerId) -> bool:
    """Whether a broker runs as it is registered."""
    process = state.processes[broker]
    return process.status is Status.RUNNING and process.broker_epoch == state.registrations[broker].broker_epoch


def unfences(moment: Moment) -> Event:
    """The controller unfences a broker."""
    return told(moment, f"The controller unfences broker {moment.chosen('broker')}")


def hands_over(moment: Moment) -> Event:
    """A broker asks to shut down."""
    broker = moment.chosen("broker")
    return told(moment, f"Broker {broker} asks the controller for a controlled shutdown", broker)


def elects_preferred(moment: Moment) -> Event:
    """The preferred leader is elected."""
    return told(moment, "The controller holds a preferred election")


def elects_uncleanly(moment: Moment) -> Event:
    """An operator has somebody elected who may lack records."""
    return told(moment, "An operator asks for an unclean election")


def moves(moment: Moment) -> Event:
    """An operator reassigns the partition."""
    leaving, joining = moment.chosen("leaving"), moment.chosen("joining")
    return told(moment, f"An operator moves the replica of broker {leaving} to broker {joining}")


def goes(_moment: Moment) -> Event:
    """There is no controller."""
    return Event("The controller quorum loses its majority: nothing is decided until it is back", CONTROLLER)


def comes_back(_moment: Moment) -> Event:
    """The controller is there again."""
    return Event("The controller quorum is back, with all that it decided", CONTROLLER)


# -- processes --


def crashes(moment: Moment) -> Event:
    """A broker's process ends."""
    broker = moment.chosen("broker")
    lost = moment.before.logs[broker].records[len(moment.after.logs[broker].records) :]
    what = f"loses {letters(lost)}, all from offset {moment.after.logs[broker].end_offset} on" if lost else "loses nothing of its log"
    on_disk, known = moment.after.replicas[broker].high_watermark, moment.before.replicas[broker].high_watermark
    older = f"; the high watermark on its disk is {on_disk}" if on_disk != known else ""
    return Event(f"{called(moment.before, broker)} crashes, and {what}{older}", broker_name(broker))


def letters(records: tuple[Record, ...]) -> str:
    """Write records as letters."""
    return ", ".join(letter(record.id) for record in records)


def stops(moment: Moment) -> Event:
    """A broker stops cleanly."""
    broker = moment.chosen("broker")
    how = "has handed over, and stops cleanly" if moment.before.controller_is_up else "finds no controller to ask, and stops cleanly"
    return Event(
        f"Broker {broker} {how}: it writes down its broker epoch {moment.before.processes[broker].broker_epoch}", broker_name(broker)
    )


def starts(moment: Moment) -> Event:
    """A broker starts."""
    broker = moment.chosen("broker")
    return Event(f"Broker {broker} starts: its life {moment.after.processes[broker].life}", broker_name(broker))


def registers(moment: Moment) -> Event:
    """A starting broker asks to be registered."""
    broker = moment.chosen("broker")
    request = held(moment.after.registering[broker], RegistrationRequest)
    how = (
        "does not know of a clean shutdown" if request.clean_epoch == UNKNOWN else f"stopped cleanly in broker epoch {request.clean_epoch}"
    )
    caption = f"Broker {broker} asks to be registered: it is in its life {request.life}, and {how}"
    return Event(caption, broker_name(broker), sends=registration_request(broker, request))


def is_registered(moment: Moment) -> Event:
    """The controller registers a broker."""
    broker = moment.chosen("broker")
    request = held(moment.before.registering[broker], RegistrationRequest)
    answer = held(moment.after.registering[broker], RegistrationAnswer)
    return Event(
        f"The controller registers life {answer.life} of broker {broker}, which is its broker epoch{decided(moment)}",
        CONTROLLER,
        broker_name(broker),
        sends=registration_answer(broker, answer),
        receives=registration_request(broker, request),
        also_sends=news(moment.before, moment.after),
    )


def begins(moment: Moment) -> Event:
    """A broker hears that it is registered."""
    broker = moment.chosen("broker")
    answer = held(moment.before.registering[broker], RegistrationAnswer)
    is_late = answer.life != moment.before.processes[broker].life
    late = ", although the answer is to its former life" if is_late else ""
    caption = f"Broker {broker} hears that it is registered, with broker epoch {answer.life}{late}, and runs"
    return Event(caption, broker_name(broker), CONTROLLER, receives=registration_answer(broker, answer))


# -- metadata --


def learns(moment: Moment) -> Event:
    """A broker learns what the controller decided."""
    broker = moment.chosen("broker")
    partition = held(moment.before.metadata[moment.chosen("partition_epoch")], PartitionState)
    return Event(learned(moment, broker, partition), broker_name(broker), CONTROLLER, receives=metadata_record(partition))


def learned(moment: Moment, broker: BrokerId, partition: PartitionState) -> str:
    """Return what a decision means to a broker."""
    was, now = moment.before.replicas[broker], moment.after.replicas[broker]
    which, in_epoch = f"partition epoch {partition.partition_epoch}", f"in leader epoch {partition.leader_epoch}"
    if broker not in partition.replicas:
        dropped = moment.before.logs[broker].records
        drops = f", and drops its log: {letters(dropped)}" if dropped else ""
        return f"Broker {broker} learns from {which} that it holds no replica{drops}"
    if now == was:
        return f"Broker {broker} learns of {which}, and knows better already"
    if partition.leader == broker:
        begins_at = f" that starts at offset {now.epoch_start}" if now.leader_epoch != was.leader_epoch else ""
        isr = f"with ISR {braces(now.isr)} in {which}"
        gives_up = f"; it forgets its proposal {braces(was.proposed)}" if was.proposed and not now.proposed else ""
        return f"Broker {broker} learns that it leads {in_epoch}{begins_at}, {isr}{gives_up}{committed(moment, broker)}"
    leader = "nobody leads" if partition.leader == NOBODY else f"broker {partition.leader} leads"
    steps_down = ", and steps down" if was.leader == broker else ""
    return f"Broker {broker} learns from {which} that {leader} {in_epoch}{steps_down}{cut(moment, broker)}"


CLUSTER_EVENTS: dict[str, Callable[[Moment], Event]] = {
    "fence_broker": fences,
    "unfence_broker": unfences,
    "begin_controlled_shutdown": hands_over,
    "elect_preferred_leader": elects_preferred,
    "elect_uncleanly": elects_uncleanly,
    "replace_replica": moves,
    "lose_controller": goes,
    "regain_controller": comes_back,
    "crash": crashes,
    "shut_down": stops,
    "start_broker": starts,
    "request_registration": registers,
    "register_broker": is_registered,
    "receive_registration": begins,
    "learn_metadata": learns,
}
"""How each of these actions is told."""
