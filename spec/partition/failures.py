# SPDX-License-Identifier: Apache-2.0
"""What is left of a partition once brokers are gone, one after another, and what of it needs the controller.

Asked where a broker that went down stays down (``Bounds.stays_down``): with the others back everything heals anyway.
"""

from __future__ import annotations

from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY, effective_min_isr
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.shared import holds_back, records, truth
from hwmark.model.partition.state import Bounds, Config, State, Status
from hwmark.spec.property import Witness, converges, leads_to, step_property, witness

from .observers import ACKNOWLEDGED
from .properties import can_recover, holds_all, is_true_leader


@converges(sources=("S13-failures", "S7-rules"), when=can_recover)
def stays_writable(state: State, rules: PartitionRules, config: Config) -> bool:
    """As long as somebody may lead without loss, or could if it ran, records can still be committed.

    Such is a state in which a leader has committed all it has, its ISR is large enough, and all for whom it waits run and follow.
    """
    partition = truth(state)
    leader = partition.leader
    if leader == NOBODY or not is_true_leader(state, leader) or not state.controller_is_up:
        return False
    mine, log = state.replicas[leader], state.logs[leader]
    if mine.isr != partition.isr or mine.proposed or len(mine.isr) < effective_min_isr(config.min_isr, mine.replicas):
        return False
    return mine.high_watermark == log.end_offset and all(
        broker == leader or (follows(state, broker, leader) and holds_all(state.logs[broker], log)) for broker in holds_back(rules, mine)
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


def records_in_outages(bounds: Bounds) -> range:
    """Return the ids of the records, where there can be no controller."""
    return records(bounds) if bounds.outages else range(0)


def waits_without_controller(state: State, record: int) -> bool:
    """Whether a producer waits for a leader to answer while there is no controller."""
    waiting = state.produced[record]
    return waiting is not None and not state.controller_is_up and is_true_leader(state, waiting.leader)


@leads_to(
    sources=("S13-failures",),
    when=waits_without_controller,
    weak=("send_fetch", "handle_fetch", "receive_fetch", "learn_metadata", "acknowledge_produce"),
    observers=(ACKNOWLEDGED,),
    record=records_in_outages,
)
def acknowledged_without_controller(state: State, acknowledged: frozenset[int], *, record: int) -> bool:
    """While there is no controller, and it may never be back, a producer is told at last that the leader's record is stored.

    It holds as long as all that are in sync run, and is asked by name: without the controller nobody takes a dead one out.
    """
    return record in acknowledged or not waits_without_controller(state, record)


PROPERTIES = (stays_writable, nothing_is_decided_without_controller, acknowledged_without_controller)
"""What is promised of a partition that loses brokers or its controller."""
