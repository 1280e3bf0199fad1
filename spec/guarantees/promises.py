# SPDX-License-Identifier: Apache-2.0
"""What an operator wants to rely on, asked plainly: nothing excuses a loss, so the settings decide whether it is true.

The promises of ``partition`` say what the protocol guarantees, whatever is set; these say what somebody gets who set it
so. Safety is asked while brokers go down and come back; whether the partition goes on serving is asked with the bound
``stays_down``, under which a broker that went down is gone.
"""

from __future__ import annotations

from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY, effective_min_isr
from hwmark.model.partition.shared import brokers, is_active, leads, truth
from hwmark.model.partition.state import Acks, Bounds, Config, State, Status
from hwmark.spec.partition.observers import looked_at
from hwmark.spec.partition.properties import disagreement, is_true_leader
from hwmark.spec.property import Observer, Witness, converges, invariant, witness

# -- what producers were told, and consumers shown --


def shown_by(state: State, broker: BrokerId) -> frozenset[int]:
    """Return the ids of the records that a consumer of a broker may read: those below its high watermark, if it leads."""
    if not leads(state, broker):
        return frozenset()
    log, high_watermark = state.logs[broker], state.replicas[broker].high_watermark
    shown = (log.at(offset) for offset in range(log.log_start_offset, high_watermark))
    return frozenset(record.id for record in shown if record is not None)


def _first_shown(state: State) -> frozenset[int]:
    return shown_by(state, truth(state).leader)


def _told(memory: frozenset[int], _before: State, step: Step, after: State) -> frozenset[int]:
    if step.action == "append_record":  # with acks=0 a producer takes for stored what it has sent
        record = after.next_record_id - 1
        return memory | {record} if after.produced[record] is None else memory
    return memory | {step.choices["record"]} if step.action == "acknowledge_produce" else memory


TOLD = Observer("told", memory=frozenset[int], initial=_first_shown, observe=_told)
"""The ids of the records that producers take for stored: they were told so, or with ``acks=0`` never ask."""


def _shown(memory: frozenset[int], before: State, step: Step, after: State) -> frozenset[int]:
    broker = looked_at(before, step)
    return memory if broker is None else memory | shown_by(after, broker)


SHOWN = Observer("shown", memory=frozenset[int], initial=_first_shown, observe=_shown)
"""The ids of the records that consumers may have read, from whoever led or believed so."""


# -- safety --


def lost(state: State, broker: BrokerId, records: frozenset[int]) -> Witness | None:
    """Return the first of these records that the true leader does not hold."""
    if not is_true_leader(state, broker):
        return None
    missing = sorted(records - {record.id for record in state.logs[broker].records})
    return witness(record=missing[0]) if missing else None


@invariant(sources=("S7", "S7-rules", "S14-crashes", "K-966"), observers=(TOLD,), broker=brokers)
def acknowledged_lasts(state: State, told: frozenset[int], *, broker: BrokerId) -> Witness | None:
    """Whoever leads holds every record that its producer takes for stored."""
    return lost(state, broker, told)


@invariant(sources=("S14", "S14-crashes", "K-966"), observers=(SHOWN,), broker=brokers)
def consumed_lasts(state: State, shown: frozenset[int], *, broker: BrokerId) -> Witness | None:
    """Whoever leads holds every record that a consumer may have read."""
    return lost(state, broker, shown)


@invariant(sources=("S2",), broker=brokers)
def order_is_kept(state: State, *, broker: BrokerId) -> Witness | None:
    """Whoever leads shows records in the order in which leaders took them in."""
    log = state.logs[broker]
    ids = tuple(record.id for record in log.records[: state.replicas[broker].high_watermark - log.log_start_offset])
    return None if not leads(state, broker) or list(ids) == sorted(set(ids)) else witness(shown=ids)


@invariant(sources=("S2", "S6", "S14"), broker=brokers, other=brokers)
def replicas_agree(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Any two replicas that run hold the same records below both their high watermarks, whatever happened."""
    if broker >= other or Status.STOPPED in {state.processes[broker].status, state.processes[other].status}:
        return None
    shown = min(state.replicas[broker].high_watermark, state.replicas[other].high_watermark)
    return disagreement(state.logs[broker], state.logs[other], shown)


# -- service --


def serves(state: State) -> BrokerId | None:
    """Return the broker that leads, knows it, and is known to be alive, if there is one."""
    leader = truth(state).leader
    return leader if leader != NOBODY and is_true_leader(state, leader) and is_alive(state, leader) else None


def is_alive(state: State, broker: BrokerId) -> bool:
    """Whether a broker runs as it is registered, and the controller takes it for alive."""
    process, registration = state.processes[broker], state.registrations[broker]
    return process.status is Status.RUNNING and process.broker_epoch == registration.broker_epoch and is_active(registration)


def is_settled(state: State, leader: BrokerId) -> bool:
    """Whether a leader knows the ISR, and all of it is alive."""
    partition, mine = truth(state), state.replicas[leader]
    return mine.isr == partition.isr and not mine.proposed and all(is_alive(state, broker) for broker in sorted(partition.isr))


def has_min_isr(state: State, config: Config) -> bool:
    """Whether the ISR is as large as the operator asks for."""
    partition = truth(state)
    return len(partition.isr) >= effective_min_isr(config.min_isr, partition.replicas)


@converges(sources=("S7", "S13"))
def writes_go_on(state: State, config: Config) -> bool:
    """Whatever went wrong, a state can be reached in which a producer's request is answered as its acks ask for."""
    leader = serves(state)
    if leader is None or not is_settled(state, leader):
        return False
    return config.acks is not Acks.ALL or has_min_isr(state, config)


@converges(sources=("S6-min-isr", "S7", "S13"))
def written_is_shown(state: State, config: Config) -> bool:
    """Whatever went wrong, a state can be reached in which consumers are shown all that is written, or will be with the next record."""
    leader = serves(state)
    if leader is None or not is_settled(state, leader) or not has_min_isr(state, config):
        return False
    end_offset, known = state.logs[leader].end_offset, state.followers[leader]
    is_shown = state.replicas[leader].high_watermark == end_offset
    return is_shown or all(known[member].end_offset == end_offset for member in sorted(truth(state).isr - {leader}))


@converges(sources=("S6", "S13"))
def reads_go_on(state: State, bounds: Bounds) -> bool:
    """Whatever went wrong, a state can be reached in which a leader shows all that was committed at the start."""
    leader = serves(state)
    return leader is not None and shown_by(state, leader) >= frozenset(range(bounds.initial_records))


PROMISES = (
    acknowledged_lasts,
    consumed_lasts,
    order_is_kept,
    replicas_agree,
    writes_go_on,
    written_is_shown,
    reads_go_on,
)
"""Every promise, in the order of the answer."""
