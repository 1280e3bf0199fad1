# SPDX-License-Identifier: Apache-2.0
"""How each step of a partition with ZooKeeper is told."""

from __future__ import annotations

from collections.abc import Callable

from hwmark.model.machine import BrokerId, Step
from hwmark.model.zookeeper.shared import leads
from hwmark.model.zookeeper.state import NOBODY, UNKNOWN, LeaderAndIsr, PartitionZNode, State
from hwmark.spec.naming import braces, broker_name, letter
from hwmark.spec.view import Event, Message

ZOOKEEPER = "ZooKeeper"

# -- phrases --


def called(state: State, broker: BrokerId) -> str:
    """Return how a sentence begins that a broker is the subject of: a zombie is called one."""
    is_zombie = leads(state, broker) and state.znode.leader != broker
    return f"Broker {broker}, a zombie leader," if is_zombie else f"Broker {broker}"


def committed(before: State, after: State, leader: BrokerId) -> str:
    """Return what a leader newly counts as committed, as the end of a sentence."""
    offsets = range(before.replicas[leader].high_watermark, after.replicas[leader].high_watermark)
    names = [letter(record.id) for record in map(after.logs[leader].at, offsets) if record is not None]
    return f"; {', '.join(names)} {'counts' if len(names) == 1 else 'count'} as committed" if names else ""


def isr_outcome(before: State, after: State, leader: BrokerId) -> str:
    """Return what became of the ISR that a leader asked for, as the end of a sentence."""
    mine, is_written = after.replicas[leader], before.znode != after.znode
    if mine.writing:
        return "; it is written, but the answer is lost" if is_written else "; ZooKeeper does not answer"
    if is_written:
        return f"; version {after.znode.version} is written"
    is_taken = mine.version == after.znode.version and mine.isr == after.znode.isr
    return "; it is written already" if is_taken else f"; ZooKeeper refuses, as it has version {after.znode.version}"


def decided(before: State, after: State) -> str:
    """Return what a controller wrote, as the end of a sentence."""
    was, now = before.znode, after.znode
    if was == now:
        return ""
    if now.leader == NOBODY:
        return f": nobody leads in leader epoch {now.leader_epoch}, ISR {braces(now.isr)}"
    elected = f"broker {now.leader} is elected" if now.leader != was.leader else f"broker {now.leader} still leads"
    return f": {elected} in leader epoch {now.leader_epoch}, ISR {braces(now.isr)}"


def request(controller_epoch: int, decision: PartitionZNode) -> Message:
    """Return how a controller tells brokers of a decision."""
    says = (f"leader: {broker_name(decision.leader)}", f"ISR {braces(decision.isr)}", f"version {decision.version}")
    return Message(f"leader epoch {decision.leader_epoch} from controller epoch {controller_epoch}", says)


def sent(before: State, after: State) -> list[Message]:
    """Return what a step put under way: each decision once, whoever is told."""
    new = [one for was, now in zip(before.requests, after.requests, strict=True) for one in now if now.count(one) > was.count(one)]
    return list(dict.fromkeys(request(one.controller_epoch, one.decision) for one in new))


def told(before: State, after: State, caption: str, broker: BrokerId) -> Event:
    """Return the event of a controller's step, with what it sends."""
    sends = sent(before, after)
    return Event(
        f"{caption}{decided(before, after)}",
        broker_name(broker),
        ZOOKEEPER,
        sends=sends[-1] if sends else None,
        also_sends=sends[0] if len(sends) > 1 else None,
    )


# -- leaders and followers --


def appends(before: State, step: Step, after: State) -> Event:
    """A leader appends."""
    leader = step.choices["leader"]
    record = after.logs[leader].records[-1]
    caption = f"{called(before, leader)} appends {letter(record.id)} at offset {before.logs[leader].end_offset}"
    return Event(f"{caption}{committed(before, after, leader)}", broker_name(leader))


def truncates(before: State, step: Step, after: State) -> Event:
    """A follower truncates."""
    follower, leader = step.choices["follower"], step.choices["leader"]
    lost = [letter(record.id) for record in before.logs[follower].records[after.logs[follower].end_offset :]]
    caption = f"Broker {follower} asks broker {leader} where its last epoch ends, and drops {', '.join(lost)}"
    return Event(caption, broker_name(follower), broker_name(leader))


def fetches(before: State, step: Step, after: State) -> Event:
    """A follower fetches."""
    follower, leader = step.choices["follower"], step.choices["leader"]
    new = [letter(record.id) for record in after.logs[follower].records[before.logs[follower].end_offset :]]
    got = f" and gets {new[0]}" if new else ""
    caption = f"Broker {follower} fetches at offset {before.logs[follower].end_offset} from broker {leader}{got}"
    mine, was = after.replicas[leader], before.replicas[leader]
    asks = ""
    if follower not in was.isr and (mine.isr != was.isr or mine.writing or before.znode != after.znode):
        asks = f", which asks for ISR {braces(mine.writing or mine.isr)}{isr_outcome(before, after, leader)}"
    return Event(f"{caption}{asks}{committed(before, after, leader)}", broker_name(leader), broker_name(follower))


def shrinks(before: State, step: Step, after: State) -> Event:
    """A leader drops a follower."""
    leader, follower = step.choices["leader"], step.choices["follower"]
    caption = f"{called(before, leader)} asks ZooKeeper for an ISR without broker {follower}{isr_outcome(before, after, leader)}"
    return Event(f"{caption}{committed(before, after, leader)}", ZOOKEEPER, broker_name(leader))


def repeats(before: State, step: Step, after: State) -> Event:
    """A leader tries again."""
    leader = step.choices["leader"]
    wanted = braces(before.replicas[leader].writing)
    caption = f"{called(before, leader)} asks ZooKeeper again for ISR {wanted}{isr_outcome(before, after, leader)}"
    return Event(f"{caption}{committed(before, after, leader)}", ZOOKEEPER, broker_name(leader))


# -- controllers --


def becomes_controller(before: State, step: Step, after: State) -> Event:
    """A broker is elected controller."""
    broker = step.choices["broker"]
    return told(before, after, f"Broker {broker} becomes the controller, in controller epoch {after.controller_epoch}", broker)


def resigns(_before: State, step: Step, _after: State) -> Event:
    """A broker finds out that it is not the controller."""
    broker = step.choices["broker"]
    return Event(f"Broker {broker} finds out that it is not the controller any more", broker_name(broker), ZOOKEEPER)


def misses(before: State, step: Step, after: State) -> Event:
    """A controller misses a broker."""
    controller, broker = step.choices["controller"], step.choices["broker"]
    how = "has gone" if before.registrations[broker] == UNKNOWN else "was gone, and is back"
    caption = f"Controller {controller} sees that broker {broker} {how}"
    if after.controllers[controller] is None:
        return Event(f"{caption}; its decision is refused, as it is the controller no more", broker_name(controller), ZOOKEEPER)
    return told(before, after, caption, controller)


def welcomes(before: State, step: Step, after: State) -> Event:
    """A controller sees a broker that is new."""
    controller, broker = step.choices["controller"], step.choices["broker"]
    caption = f"Controller {controller} sees that broker {broker} is there"
    if after.controllers[controller] is None:
        return Event(f"{caption}; its decision is refused, as it is the controller no more", broker_name(controller), ZOOKEEPER)
    return told(before, after, caption, controller)


def reads_isr(_before: State, step: Step, after: State) -> Event:
    """A controller is told of an ISR."""
    controller = step.choices["controller"]
    return Event(f"Controller {controller} is told that the ISR is {braces(after.znode.isr)}", broker_name(controller), ZOOKEEPER)


def elects_preferred(before: State, step: Step, after: State) -> Event:
    """The preferred leader is elected."""
    controller = step.choices["controller"]
    caption = f"Controller {controller} holds a preferred election"
    if after.controllers[controller] is None:
        return Event(f"{caption}, which is refused, as it is the controller no more", broker_name(controller), ZOOKEEPER)
    return told(before, after, caption, controller)


# -- brokers --


def receives(before: State, step: Step, after: State) -> Event:
    """A broker gets a request."""
    broker, controller_epoch = step.choices["broker"], step.choices["controller_epoch"]
    one = next(one for one in before.requests[broker] if one.controller_epoch == controller_epoch)
    caption = f"Broker {broker} {_reaction(before, after, broker, one)}"
    return Event(f"{caption}{committed(before, after, broker)}", broker_name(broker), receives=request(one.controller_epoch, one.decision))


def _reaction(before: State, after: State, broker: BrokerId, one: LeaderAndIsr) -> str:
    """Return what a broker does with a request."""
    decision, was = one.decision, before.replicas[broker]
    process = before.processes[broker]
    if one.broker_epoch < process.broker_epoch and after.replicas[broker] == was:
        return f"refuses a request to its former broker epoch {one.broker_epoch}"
    if one.controller_epoch < process.controller_epoch and after.replicas[broker] == was:
        return f"refuses a request from controller epoch {one.controller_epoch}, as it has heard of {process.controller_epoch}"
    if after.replicas[broker] != was or decision.leader_epoch > was.leader_epoch:
        if after.replicas[broker].leader_epoch != decision.leader_epoch:
            return f"takes a request to its broker epoch {one.broker_epoch} for an error, as it has not heard of that"
        leads_now = f"leads in leader epoch {decision.leader_epoch}, with ISR {braces(decision.isr)}"
        return leads_now if decision.leader == broker else f"follows broker {decision.leader} in leader epoch {decision.leader_epoch}"
    return f"gets a request for leader epoch {decision.leader_epoch}, which is no news"


def crashes(_before: State, step: Step, _after: State) -> Event:
    """A broker crashes."""
    return Event(f"Broker {step.choices['broker']} crashes; its session lives on", broker_name(step.choices["broker"]))


def starts(_before: State, step: Step, after: State) -> Event:
    """A broker starts."""
    broker = step.choices["broker"]
    return Event(f"Broker {broker} starts, and registers with broker epoch {after.registrations[broker]}", broker_name(broker))


def reconnects(before: State, step: Step, after: State) -> Event:
    """A broker gets a new session."""
    broker = step.choices["broker"]
    resigned = ", and is not the controller any more" if before.controllers[broker] and not after.controllers[broker] else ""
    caption = f"Broker {broker} has a new session, registers with broker epoch {after.registrations[broker]}{resigned}"
    return Event(caption, broker_name(broker), ZOOKEEPER)


def learns_epoch(_before: State, step: Step, after: State) -> Event:
    """A broker hears of its broker epoch."""
    broker = step.choices["broker"]
    return Event(f"Broker {broker} hears that its broker epoch is {after.processes[broker].broker_epoch}", broker_name(broker), ZOOKEEPER)


# -- ZooKeeper --


def expires(before: State, step: Step, after: State) -> Event:
    """A session expires."""
    broker = step.choices["broker"]
    goes = ", and with it /controller goes" if before.controller != after.controller else ""
    return Event(f"The session of broker {broker} expires{goes}", ZOOKEEPER)


def is_deleted(_before: State, _step: Step, _after: State) -> Event:
    """An operator deletes a znode."""
    return Event("An operator deletes /controller", ZOOKEEPER)


def goes_down(_before: State, _step: Step, _after: State) -> Event:
    """ZooKeeper is down."""
    return Event("ZooKeeper loses its quorum", ZOOKEEPER)


def comes_back(_before: State, _step: Step, _after: State) -> Event:
    """ZooKeeper is up."""
    return Event("ZooKeeper is back, with all that it held", ZOOKEEPER)


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "append_record": appends,
    "truncate": truncates,
    "fetch": fetches,
    "shrink_isr": shrinks,
    "repeat_isr_write": repeats,
    "elect_controller": becomes_controller,
    "resign": resigns,
    "handle_broker_failure": misses,
    "handle_broker_startup": welcomes,
    "learn_isr_change": reads_isr,
    "elect_preferred_leader": elects_preferred,
    "receive_leader_and_isr": receives,
    "crash": crashes,
    "start_broker": starts,
    "reconnect": reconnects,
    "learn_broker_epoch": learns_epoch,
    "expire_session": expires,
    "delete_controller": is_deleted,
    "lose_zookeeper": goes_down,
    "regain_zookeeper": comes_back,
}
"""How each action of the machine is told."""
