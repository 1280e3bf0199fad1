# SPDX-License-Identifier: Apache-2.0
"""What one partition promises as Kafka ran it with ZooKeeper: to clients, to operators, and between brokers.

"A leader" is any broker that runs and believes that it leads, zombies included; "the true leader" is the one that the
partition's znode names and that knows it, in its leader epoch. Committed means below a leader's high watermark. What is said
of committed records is not promised where unclean elections are allowed.
"""

from __future__ import annotations

from hwmark.model.log import Log
from hwmark.model.machine import BrokerId, Step
from hwmark.model.zookeeper.rules import Rules
from hwmark.model.zookeeper.shared import brokers, counted_on, is_controller, leads
from hwmark.model.zookeeper.state import NOBODY, UNKNOWN, Config, State
from hwmark.spec.property import Witness, converges, invariant, leads_to, reachable, step_property, witness

from .observers import EVER_COMMITTED, STARTED_IN, Committed

# -- what several promises are about --


def is_true_leader(state: State, broker: BrokerId) -> bool:
    """Whether the znode names this broker as leader, and it leads in the leader epoch of that decision."""
    is_named = state.znode.leader == broker and state.replicas[broker].leader_epoch == state.znode.leader_epoch
    return is_named and leads(state, broker)


def lacking(log: Log, committed: Committed) -> Witness | None:
    """Return the first committed record that a log does not hold."""
    for offset, record in enumerate(committed):
        if log.at(offset) != record:
            return witness(offset=offset, committed=record, held=log.at(offset))
    return None


def disagreement(ours: Log, theirs: Log, end_offset: int) -> Witness | None:
    """Return the first offset below ``end_offset`` where two logs do not hold the same record."""
    for offset in range(end_offset):
        record, other = ours.at(offset), theirs.at(offset)
        if record is None or record != other:
            return witness(offset=offset, ours=record, theirs=other)
    return None


# -- what ZooKeeper holds --


@invariant(sources=("S4", "S5"))
def valid_partition(state: State) -> Witness | None:
    """The ISR is not empty, and the leader, if there is one, is in it."""
    znode = state.znode
    return None if znode.isr and znode.leader in znode.isr | {NOBODY} else witness(leader=znode.leader, isr=znode.isr)


@step_property(sources=("S1",), broker=brokers)
def epochs_grow(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """Neither the leader epoch nor the controller epoch in ZooKeeper goes back, nor do those that a broker knows while it runs."""
    was, now = before.znode, after.znode
    if now.leader_epoch < was.leader_epoch or after.controller_epoch < before.controller_epoch:
        return witness(step=str(step), before=was.leader_epoch, after=now.leader_epoch)
    if not (before.processes[broker].is_running and after.processes[broker].is_running):
        return None
    old, new = before.replicas[broker].leader_epoch, after.replicas[broker].leader_epoch
    heard = before.processes[broker].controller_epoch, after.processes[broker].controller_epoch
    return witness(step=str(step), before=(old, heard[0]), after=(new, heard[1])) if new < old or heard[1] < heard[0] else None


@step_property(sources=("S1", "KAFKA-6082"))
def only_the_controller_elects(before: State, step: Step, after: State) -> Witness | None:
    """Who leads, and in which leader epoch, is changed in ZooKeeper only by the controller that was elected last."""
    was, now = before.znode, after.znode
    if (now.leader, now.leader_epoch) == (was.leader, was.leader_epoch) or now.controller_epoch == after.controller_epoch:
        return None
    return witness(step=str(step), leader=now.leader, leader_epoch=now.leader_epoch, controller_epoch=now.controller_epoch)


@step_property(sources=("S5",))
def elected_from_isr(before: State, step: Step, after: State, config: Config) -> Witness | None:
    """A new leader is a member of the ISR, unless the controller takes nobody there for alive and unclean elections are allowed."""
    was, now = before.znode, after.znode
    if now.leader in was.isr | {NOBODY, was.leader}:
        return None
    role = after.controllers[after.controller] if config.unclean_elections else None
    is_excused = role is not None and all(role.live[member] == UNKNOWN for member in sorted(was.isr))
    return None if is_excused else witness(step=str(step), elected=now.leader, isr=was.isr)


@step_property(sources=("S13-failures",))
def nothing_is_decided_in_an_outage(before: State, step: Step, after: State) -> Witness | None:
    """While ZooKeeper is down nobody is elected, no ISR changes, and no broker registers or is taken for dead."""
    if before.zookeeper_is_up or after.zookeeper_is_up:
        return None
    was = (before.znode, before.controller, before.controller_epoch, before.registrations)
    now = (after.znode, after.controller, after.controller_epoch, after.registrations)
    return None if was == now else witness(step=str(step), before=was, after=now)


# -- leaders --


@invariant(sources=("S1",), broker=brokers)
def single_leader(state: State, *, broker: BrokerId) -> Witness | None:
    """No two brokers lead in the same leader epoch; a deposed one is a zombie of an earlier one."""
    if not leads(state, broker):
        return None
    leader_epoch = state.replicas[broker].leader_epoch
    for other in range(broker + 1, len(state.replicas)):
        if leads(state, other) and state.replicas[other].leader_epoch == leader_epoch:
            return witness(other=other, leader_epoch=leader_epoch)
    return None


@invariant(sources=("S1", "KIP-380", "KAFKA-7235"), observers=(STARTED_IN,), broker=brokers)
def former_leadership_is_over(state: State, started_in: tuple[int, ...], *, broker: BrokerId) -> Witness | None:
    """A broker that has started leads only by a decision that was not overtaken by then: no request to its former life makes it lead."""
    leader_epoch = state.replicas[broker].leader_epoch
    if not leads(state, broker) or leader_epoch >= started_in[broker]:
        return None
    return witness(leader_epoch=leader_epoch, started_in=started_in[broker])


@invariant(sources=("S4", "KIP-497"), when=is_true_leader, broker=brokers)
def leader_counts_on_isr(state: State, rules: Rules, *, broker: BrokerId) -> Witness | None:
    """The true leader counts on everybody who is in the ISR in ZooKeeper, or stands still."""
    members = counted_on(rules, state.replicas[broker])
    return None if members is None or state.znode.isr <= members else witness(isr=state.znode.isr, counted_on=members)


# -- logs --


@invariant(sources=("S6",), broker=brokers)
def high_watermark_range(state: State, *, broker: BrokerId) -> Witness | None:
    """A high watermark is within its log."""
    high_watermark, end_offset = state.replicas[broker].high_watermark, state.logs[broker].end_offset
    return None if 0 <= high_watermark <= end_offset else witness(high_watermark=high_watermark, log_end_offset=end_offset)


@invariant(sources=("S2", "S6", "S14"), broker=brokers, other=brokers)
def high_watermark_prefix(state: State, config: Config, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Two replicas agree on every record below both their high watermarks, unless unclean elections are allowed."""
    if broker >= other or config.unclean_elections:
        return None
    shown = min(state.replicas[broker].high_watermark, state.replicas[other].high_watermark)
    return disagreement(state.logs[broker], state.logs[other], shown)


@invariant(sources=("S2", "K-101", "K-279"), broker=brokers, other=brokers)
def epoch_lineage(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Two logs with a record of the same leader epoch at the same offset agree on everything up to it."""
    if broker >= other:
        return None
    ours, theirs = state.logs[broker], state.logs[other]
    for offset in range(min(ours.end_offset, theirs.end_offset) - 1, -1, -1):
        record, other_record = ours.at(offset), theirs.at(offset)
        if record is not None and other_record is not None and record.leader_epoch == other_record.leader_epoch:
            return disagreement(ours, theirs, offset + 1)
    return None


# -- what is committed --


@invariant(sources=("S5", "S14"), observers=(EVER_COMMITTED,), broker=brokers)
def isr_holds_committed(state: State, ever_committed: Committed, *, broker: BrokerId) -> Witness | None:
    """Every member of the ISR in ZooKeeper, from which the next leader is drawn, holds every committed record."""
    return lacking(state.logs[broker], ever_committed) if broker in state.znode.isr else None


@invariant(sources=("S7", "S12", "S13", "S14"), observers=(EVER_COMMITTED,), broker=brokers)
def leader_completeness(state: State, ever_committed: Committed, *, broker: BrokerId) -> Witness | None:
    """The true leader holds every committed record."""
    return lacking(state.logs[broker], ever_committed) if is_true_leader(state, broker) else None


@step_property(sources=("S2", "S6", "S14"), observers=(EVER_COMMITTED,))
def append_only_log(before: State, step: Step, after: State, ever_committed: tuple[Committed, Committed]) -> Witness | None:
    """To its clients the partition is one log that only grows at its end."""
    old, new = ever_committed
    return None if new[: len(old)] == old else witness(step=str(step), before=old, after=new)


def awaits_dead_member(state: State, leader: BrokerId) -> bool:
    """Whether ZooKeeper is down, and the true leader has a record that a member of the ISR lacks that does not run."""
    if state.zookeeper_is_up or not is_true_leader(state, leader):
        return False
    end_offset = state.logs[leader].end_offset
    return any(not state.processes[member].is_running and state.logs[member].end_offset < end_offset for member in sorted(state.znode.isr))


@step_property(sources=("S13-failures",), leader=brokers)
def dead_member_blocks_commits(before: State, step: Step, after: State, *, leader: BrokerId) -> Witness | None:
    """While ZooKeeper is down nothing is committed that a dead member of the ISR lacks: it cannot leave the ISR."""
    if after.zookeeper_is_up or not awaits_dead_member(before, leader):
        return None
    high_watermark = after.replicas[leader].high_watermark
    for member in sorted(before.znode.isr):
        if not before.processes[member].is_running and high_watermark > before.logs[member].end_offset:
            return witness(step=str(step), member=member, end_offset=before.logs[member].end_offset, high_watermark=high_watermark)
    return None


# -- goals --


def small(**scope: int) -> dict[str, int]:
    """Return a minimal scope: two brokers, no record, and no trouble, but for these."""
    return {"brokers": 2, "records": 0, **scope}


@reachable(sources=("S13-failures",), scope=small(brokers=1, records=1, outages=1), leader=brokers)
def committed_without_zookeeper(before: State, step: Step, after: State, config: Config, *, leader: BrokerId) -> bool:
    """While ZooKeeper is down a record is committed."""
    has_grown = after.replicas[leader].high_watermark > before.replicas[leader].high_watermark
    return config.min_isr > len(before.logs) or (not before.zookeeper_is_up and leads(after, leader) and has_grown)


@reachable(sources=("S13-failures",), scope=small(records=1, crashes=1, outages=1), leader=brokers)
def commit_waits_for_dead_member(state: State, config: Config, *, leader: BrokerId) -> bool:
    """While ZooKeeper is down a leader waits for a member of the ISR that does not run."""
    return config.min_isr > len(state.logs) or awaits_dead_member(state, leader)


@reachable(sources=("S4", "KIP-497"), scope=small(outages=1, lags=1), leader=brokers)
def leader_waits_for_zookeeper(state: State, config: Config, *, leader: BrokerId) -> bool:
    """A leader has asked ZooKeeper for an ISR while that is down."""
    return config.min_isr > len(state.logs) or (not state.zookeeper_is_up and bool(state.replicas[leader].writing))


@reachable(sources=("S4", "KAFKA-2729"), scope=small(expiries=1, lags=1), leader=brokers)
def zombie_is_refused(before: State, step: Step, after: State, config: Config, *, leader: BrokerId) -> bool:
    """A broker that does not know yet that another leads wants to change the ISR, and ZooKeeper refuses."""
    is_zombie = leads(before, leader) and before.znode.leader_epoch > before.replicas[leader].leader_epoch
    is_asking = step.action in {"shrink_isr", "repeat_isr_write"} and step.choices["leader"] == leader
    is_refused = is_zombie and is_asking and before.znode == after.znode and not after.replicas[leader].writing
    return config.min_isr > len(before.logs) or is_refused


@reachable(sources=("S1", "KAFKA-6082"), scope=small(expiries=1, moves=1), controller=brokers)
def zombie_controller_is_fenced(before: State, step: Step, after: State, *, controller: BrokerId) -> bool:
    """A broker that does not know yet that another is the controller wants to decide, and finds out."""
    is_deciding = step.action == "handle_broker_failure" and step.choices["controller"] == controller
    return is_deciding and after.controllers[controller] is None


@reachable(sources=("S1", "KIP-380"), scope=small(brokers=1, expiries=1, moves=1), broker=brokers)
def request_to_former_life_is_refused(before: State, step: Step, after: State, *, broker: BrokerId) -> bool:
    """A broker gets a request for its former broker epoch, and does nothing with it."""
    if step.action != "receive_leader_and_isr" or step.choices["broker"] != broker:
        return False
    old = [one for one in before.requests[broker] if one.controller_epoch == step.choices["controller_epoch"]]
    is_late = bool(old) and old[0].broker_epoch < before.processes[broker].broker_epoch
    return is_late and before.replicas[broker] == after.replicas[broker]


@reachable(sources=("S13",), scope=small(records=1, crashes=1), broker=brokers)
def crash_of_the_leader_is_survived(state: State, config: Config, *, broker: BrokerId) -> bool:
    """Another broker than the first leads, has a committed record, and the first is in sync again."""
    is_over = is_true_leader(state, broker) and broker > 0 and state.replicas[broker].high_watermark > 0 and 0 in state.znode.isr
    return is_over or config.min_isr > len(state.logs)


# -- what stays possible --


def is_quiet(state: State) -> bool:
    """Whether ZooKeeper is up, and there is a controller that takes for true what ZooKeeper holds."""
    controller = state.controller
    if not state.zookeeper_is_up or controller == NOBODY or not is_controller(state, controller):
        return False
    role = state.controllers[controller]
    return role is not None and role.live == tuple(state.registrations) and role.known == state.znode


@converges(sources=("S4", "S13", "KAFKA-2729"))
def all_in_sync(state: State) -> bool:
    """Whatever happened, all can get in sync: everybody in the ISR, one log, committed to its end, and leader and controller know it."""
    leader, isr = state.znode.leader, state.znode.isr
    if len(isr) < len(state.logs) or not is_quiet(state) or not is_true_leader(state, leader):
        return False
    log, mine = state.logs[leader], state.replicas[leader]
    knows = mine.isr == isr and mine.version == state.znode.version
    return knows and mine.high_watermark == log.end_offset and all(other == log for other in state.logs)


def is_served(state: State, broker: BrokerId) -> bool:
    """Whether the true leader has a record that is not committed, and every member of the ISR runs and follows it."""
    mine = state.replicas[broker]
    if not is_true_leader(state, broker) or mine.high_watermark == state.logs[broker].end_offset:
        return False
    members = sorted(state.znode.isr - {broker})
    return all(state.processes[one].is_running and state.replicas[one].leader_epoch == mine.leader_epoch for one in members)


@leads_to(
    sources=("S7", "S13-failures"),
    when=is_served,
    weak=("truncate", "fetch", "repeat_isr_write", "receive_leader_and_isr", "reconnect"),
    broker=brokers,
)
def commits_at_last(state: State, *, broker: BrokerId) -> bool:
    """While every member of the ISR runs and follows the true leader, its records are committed at last, with or without ZooKeeper."""
    return not is_served(state, broker)


PROPERTIES = (
    valid_partition,
    epochs_grow,
    only_the_controller_elects,
    elected_from_isr,
    nothing_is_decided_in_an_outage,
    single_leader,
    former_leadership_is_over,
    leader_counts_on_isr,
    high_watermark_range,
    high_watermark_prefix,
    epoch_lineage,
    isr_holds_committed,
    leader_completeness,
    append_only_log,
    dead_member_blocks_commits,
    committed_without_zookeeper,
    commit_waits_for_dead_member,
    leader_waits_for_zookeeper,
    zombie_is_refused,
    zombie_controller_is_fenced,
    request_to_former_life_is_refused,
    crash_of_the_leader_is_survived,
    all_in_sync,
    commits_at_last,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
