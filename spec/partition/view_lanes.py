# SPDX-License-Identifier: Apache-2.0
"""The lanes of the ``partition`` machine: the controller with the truth, the brokers with what they believe, and consumers."""

from __future__ import annotations

from hwmark.model.machine import BrokerId
from hwmark.model.partition.decisions import NOBODY, LeaderRecovery
from hwmark.model.partition.shared import truth
from hwmark.model.partition.state import UNKNOWN, Follower, Process, Replica, State, Status
from hwmark.spec.naming import braces, broker_name, epoch_name, letter
from hwmark.spec.view import Cell, Lane, Mark, Tone

from .view_messages import listed

CONTROLLER = "controller"


def consumer_name(consumer: int) -> str:
    """Return how a consumer is called, which is also the name of its lane."""
    return f"consumer {consumer}"


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the controller's lane, each broker's, and each consumer's."""
    brokers = (broker_lane(state, broker) for broker in range(len(state.replicas)))
    consumers = (consumer_lane(state, consumer) for consumer in range(len(state.consumers)))
    return (controller_lane(state), *brokers, *consumers)


# -- the controller --


def controller_lane(state: State) -> Lane:
    """Return what the controller decided last: who leads, who is in sync or eligible, and whom it takes for dead."""
    partition, registrations = truth(state), state.registrations
    fenced = frozenset(broker for broker, one in enumerate(registrations) if one.fenced)
    stopping = frozenset(broker for broker, one in enumerate(registrations) if one.in_controlled_shutdown)
    facts = {
        "leader epoch": str(partition.leader_epoch),
        "partition epoch": str(partition.partition_epoch),
        "replicas": listed(partition.replicas),
        "ISR": braces(partition.isr),
    }
    groups = {
        "ELR": partition.elr,
        "last known leader": partition.last_known_elr,
        "adding": partition.adding,
        "removing": partition.removing,
        "fenced": fenced,
        "shutting down": stopping,
    }
    facts |= {name: braces(members) for name, members in groups.items() if members}
    if partition.leader_recovery is LeaderRecovery.RECOVERING:
        facts["leader"] = "elected uncleanly"
    leader = f"leader: {broker_name(partition.leader)}"
    return Lane(CONTROLLER, leader, facts=facts) if state.controller_is_up else Lane(CONTROLLER, "not available", Tone.WRONG, facts)


# -- brokers --


def broker_lane(state: State, broker: BrokerId) -> Lane:
    """Return what a broker holds and believes; of one that is stopped, what is on its disk."""
    process, replica, log = state.processes[broker], state.replicas[broker], state.logs[broker]
    role, tone = role_of(state, broker)
    is_running = process.status is Status.RUNNING
    cells = tuple(
        Cell(offset, letter(record.id), record.leader_epoch, offset < replica.high_watermark)
        for offset, record in enumerate(log.records, start=log.log_start_offset)
    )
    start = (Mark("log start", log.log_start_offset),) if log.log_start_offset else ()
    marks = (*start, Mark("HW", replica.high_watermark, strong=True), Mark("LEO", log.end_offset))
    return Lane(broker_name(broker), role, tone, broker_facts(state, broker) if is_running else {}, cells, marks)


def broker_facts(state: State, broker: BrokerId) -> dict[str, str]:
    """Return the epochs that a broker knows, and what it knows as a leader."""
    replica = state.replicas[broker]
    facts = {"broker epoch": str(state.processes[broker].broker_epoch)}
    if replica.partition_epoch == UNKNOWN:
        return facts
    facts |= {"leader epoch": epoch_name(replica.leader_epoch), "partition epoch": str(replica.partition_epoch)}
    if replica.leader != broker:
        is_behind = replica.leader != NOBODY and replica.fetch_epoch != replica.leader_epoch
        return facts | ({"fetches in epoch": epoch_name(replica.fetch_epoch)} if is_behind else {})
    facts["ISR"] = braces(replica.isr)
    if replica.proposed:
        facts["proposed ISR"] = braces(replica.proposed)
    facts["epoch start"] = str(replica.epoch_start)
    followers = enumerate(state.followers[broker])
    facts |= {f"broker {other} at": fetched(one) for other, one in followers if other != broker and one.end_offset != UNKNOWN}
    waiting = [letter(record) for record, one in enumerate(state.produced) if one is not None and one.leader == broker]
    return facts | ({"not yet answered": ", ".join(waiting)} if waiting else {})


def fetched(known: Follower) -> str:
    """Return how far a follower is, as its leader knows, and whether the high watermark waits for it in any case."""
    return f"{known.end_offset}, caught up" if known.caught_up else str(known.end_offset)


def role_of(state: State, broker: BrokerId) -> tuple[str, Tone]:
    """Return what a broker does or takes itself for, and whether the controller says so too."""
    registration, (role, tone) = state.registrations[broker], believed_role(state, broker)
    if registration.fenced:
        return f"{role}, fenced", tone
    return (f"{role}, stopping" if registration.in_controlled_shutdown else role), tone


def believed_role(state: State, broker: BrokerId) -> tuple[str, Tone]:
    """Return what a broker does or takes itself for, and how that is set off."""
    process, replica, partition = state.processes[broker], state.replicas[broker], truth(state)
    if process.status is not Status.RUNNING:
        return process_role(process)
    if replica.leader != broker:
        return follower_role(state, broker, replica), Tone.PLAIN
    if partition.leader != broker:
        return "zombie leader", Tone.WRONG
    return ("leader", Tone.LEADING) if replica.leader_epoch == partition.leader_epoch else ("leader of an old epoch", Tone.WRONG)


def process_role(process: Process) -> tuple[str, Tone]:
    """Return the role of a broker that does not run: how it stopped, or that it starts."""
    if process.status is Status.STARTING:
        return "starting", Tone.PLAIN
    return ("crashed", Tone.WRONG) if process.clean_epoch == UNKNOWN else ("stopped cleanly", Tone.PLAIN)


def follower_role(state: State, broker: BrokerId, replica: Replica) -> str:
    """Return the role of a broker that does not take itself for the leader."""
    if replica.leader != NOBODY:
        return f"follower of broker {replica.leader}"
    if replica.partition_epoch == UNKNOWN:
        return "has no metadata yet"
    return "no replica" if broker not in truth(state).replicas else "knows of no leader"


# -- consumers --


def consumer_lane(state: State, consumer: int) -> Lane:
    """Return where a consumer is, and whom it takes for the leader."""
    known = state.consumers[consumer]
    facts = {
        "position": str(known.position),
        "last epoch": epoch_name(known.last_epoch),
        "leader": broker_name(known.leader),
        "leader epoch": epoch_name(known.leader_epoch),
    }
    return Lane(consumer_name(consumer), "reads" if known.validated else "has to validate its position", facts=facts)


ROLES = {
    "leader": "believes that it leads, and the controller agrees",
    "zombie leader": "believes that it leads; the controller has decided otherwise",
    "leader of an old epoch": "the controller's leader, but it does not know the newest leader epoch yet",
    "knows of no leader": "follows nobody until it learns of a leader",
    "no replica": "holds nothing of the partition",
    "has no metadata yet": "is registered, and has not learned who leads",
    "starting": "has opened its log, and is not registered yet",
    "crashed": "stopped without notice; the log is what its disk still has",
    "stopped cleanly": "wrote everything down before it stopped",
    "not available": "there is no controller: nothing is decided",
}
"""What roles mean; those of brokers may go with what the controller takes a broker for."""

SUFFIXES = {"fenced": "the controller takes it for dead", "stopping": "the controller knows that it is about to stop"}
"""What the controller takes a broker for."""

ROLE_WORDS = ROLES | {f"{role}, {suffix}": f"{text}; {more}" for role, text in ROLES.items() for suffix, more in SUFFIXES.items()}
"""Every role that the legend explains."""
