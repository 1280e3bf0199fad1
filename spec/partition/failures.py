# SPDX-License-Identifier: Apache-2.0
"""What is left of a partition once brokers are gone, one after another, and what of it needs the controller.

Asked where a broker that went down stays down (``Bounds.stays_down``): with the others back everything heals anyway.
"""

from __future__ import annotations

from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY, effective_min_isr
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.shared import brokers, holds_back, leads, truth
from hwmark.model.partition.state import Config, State, Status
from hwmark.spec.property import Witness, converges, leads_to, step_property, witness


def leads_truly(state: State, broker: BrokerId) -> bool:
    """Whether the controller names this broker as leader, and it leads in the leader epoch of that decision."""
    partition = truth(state)
    return partition.leader == broker and leads(state, broker) and state.replicas[broker].leader_epoch == partition.leader_epoch


def can_lead(state: State) -> bool:
    """Whether somebody may lead without loss, or could if it ran."""
    partition = truth(state)
    return bool(partition.isr or partition.elr)


@converges(sources=("S13-failures", "S7-rules"), when=can_lead)
def stays_writable(state: State, rules: PartitionRules, config: Config) -> bool:
    """As long as somebody may lead without loss, or could if it ran, records can still be committed.

    Such is a state in which a leader has committed all it has, its ISR is large enough, and all for whom it waits run and follow.
    """
    partition = truth(state)
    leader = partition.leader
    if leader == NOBODY or not leads_truly(state, leader) or not state.controller_is_up:
        return False
    mine, log = state.replicas[leader], state.logs[leader]
    if mine.isr != partition.isr or mine.proposed or len(mine.isr) < effective_min_isr(config.min_isr, mine.replicas):
        return False
    return mine.high_watermark == log.end_offset and all(
        broker == leader or (follows(state, broker, leader) and state.logs[broker] == log) for broker in holds_back(rules, mine)
    )


def follows(state: State, broker: BrokerId, leader: BrokerId) -> bool:
    """Whether a broker runs and fetches from a leader in its leader epoch."""
    known = state.replicas[broker]
    is_running = state.processes[broker].status is Status.RUNNING
    return is_running and (known.leader, known.fetch_epoch) == (leader, state.replicas[leader].leader_epoch)


# -- without the controller --


@step_property(sources=("S13-failures",))
def nothing_is_decided_without_controller(before: State, step: Step, after: State) -> Witness | None:
    """While there is no controller nobody is elected, and the ISR stays as it is, whoever fails."""
    if before.controller_is_up or truth(before) == truth(after):
        return None
    return witness(step=str(step), before=truth(before).leader, after=truth(after).leader)


def has_uncommitted_without_controller(state: State, broker: BrokerId) -> bool:
    """Whether a leader has records that are not committed while there is no controller."""
    is_alone = not state.controller_is_up and leads_truly(state, broker)
    return is_alone and state.replicas[broker].high_watermark < state.logs[broker].end_offset


@leads_to(
    sources=("S13-failures",),
    when=has_uncommitted_without_controller,
    weak=("send_fetch", "handle_fetch", "receive_fetch", "learn_metadata"),
    broker=brokers,
)
def commits_without_controller(state: State, *, broker: BrokerId) -> bool:
    """While there is no controller, and it may never be back, what the leader has is committed at last, if the leader keeps running."""
    return not has_uncommitted_without_controller(state, broker)


PROPERTIES = (stays_writable, nothing_is_decided_without_controller, commits_without_controller)
"""What is promised of a partition that loses brokers or its controller."""
