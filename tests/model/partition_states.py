# SPDX-License-Identifier: Apache-2.0
"""States of the ``partition`` machine to take single steps from: three replicas on four brokers, unless something else is said."""

from __future__ import annotations

from typing import Any

from attrs import evolve, fields

from hwmark.model.log import Log, Record
from hwmark.model.machine import Action, BrokerId, put
from hwmark.model.partition.alter_partition import AlterPartition, BrokerState, Errors
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.shared import truth
from hwmark.model.partition.state import (
    UNKNOWN,
    AlterPartitionAnswer,
    Bounds,
    Budget,
    Config,
    FetchAnswer,
    FetchRequest,
    State,
    Status,
    initial,
)

RIGHT = PartitionRules()
CONFIG = Config(replication_factor=3, min_isr=2)
BOUNDS = Bounds(
    brokers=4,
    records=3,
    consumers=1,
    fences=1,
    shutdowns=1,
    crashes=1,
    lossy_crashes=1,
    lags=1,
    losses=1,
    duplicates=1,
    elections=1,
    unclean_elections=1,
    reassignments=1,
    deletions=1,
    outages=1,
)
START = initial(CONFIG, BOUNDS)
"""Broker 0 leads in epoch 0, brokers 1 and 2 are in sync, broker 3 has no replica; nothing is written."""

A, B, C = (Record(number, 0) for number in range(3))
"""Records of leader epoch 0."""


def take(
    action: Action, state: State, *, rules: PartitionRules = RIGHT, config: Config = CONFIG, bounds: Bounds = BOUNDS, **choices: Any
) -> State | None:
    """Return the state after one step, or ``None`` where it is not enabled."""
    after: State | None = action.bind({"rules": rules, "config": config, "bounds": bounds}, choices)(state)
    return after


def taken(action: Action, state: State, **given: Any) -> State:
    """Return the state after a step that is enabled."""
    after = take(action, state, **given)
    assert after is not None, f"{action.name} is not enabled"
    return after


def rules(**changed: Any) -> PartitionRules:
    """Return the right rules but for these."""
    return evolve(RIGHT, **changed)


def without(state: State, kind: str) -> State:
    """Return the state in which no perturbation of a kind is left."""
    return put(state, budget=evolve(state.budget, **{kind: 0}))


def spent(before: State, after: State) -> list[str]:
    """Return which perturbations a step has cost."""
    names = [kind.name for kind in fields(Budget)]
    return [name for name in names if getattr(after.budget, name) == getattr(before.budget, name) - 1]


# -- what the controller holds --


def partition(state: State, **changed: Any) -> State:
    """Return the state in which the latest decision is another one, which nobody has learned by other means."""
    return put(state, metadata={state.partition_epoch: evolve(truth(state), **changed)})


def decision(state: State, **changed: Any) -> State:
    """Return the state after one more decision, which nobody has learned yet."""
    epoch = state.partition_epoch + 1
    return put(state, metadata={epoch: evolve(truth(state), partition_epoch=epoch, **changed)}, partition_epoch=epoch)


def registration(state: State, broker: BrokerId, **changed: Any) -> State:
    """Return the state in which the controller knows something else of a broker."""
    return put(state, registrations={broker: evolve(state.registrations[broker], **changed)})


def fenced(state: State, broker: BrokerId) -> State:
    """Return the state in which a broker is fenced."""
    return registration(state, broker, fenced=True)


def controller_down(state: State) -> State:
    """Return the state without a controller."""
    return put(state, controller_is_up=False)


# -- brokers and their logs --


def replica(state: State, broker: BrokerId, **changed: Any) -> State:
    """Return the state in which a broker believes something else."""
    return put(state, replicas={broker: evolve(state.replicas[broker], **changed)})


def process(state: State, broker: BrokerId, **changed: Any) -> State:
    """Return the state in which a broker's process is another one."""
    return put(state, processes={broker: evolve(state.processes[broker], **changed)})


def stopped(state: State, broker: BrokerId, clean_epoch: int = UNKNOWN) -> State:
    """Return the state in which a broker does not run, as after a crash, or after a clean shutdown in a broker epoch."""
    return process(state, broker, status=Status.STOPPED, broker_epoch=UNKNOWN, clean_epoch=clean_epoch)


def logs(state: State, *held: Log | tuple[Record, ...], high_watermark: int = 0) -> State:
    """Return the state in which brokers 0, 1, … hold these records, and each the same high watermark."""
    for broker, one in enumerate(held):
        state = put(state, logs={broker: one if isinstance(one, Log) else Log(one)})
        state = replica(state, broker, high_watermark=high_watermark)
    return state


def follower(state: State, broker: BrokerId, end_offset: int, leader: BrokerId = 0, broker_epoch: int = 1) -> State:
    """Return the state in which a leader has noted how far a follower is."""
    noted = evolve(state.followers[leader][broker], end_offset=end_offset, broker_epoch=broker_epoch)
    return put(state, followers={leader: tuple(noted if one == broker else old for one, old in enumerate(state.followers[leader]))})


# -- messages --


def fetch(state: State, broker: BrokerId = 1, **given: Any) -> State:
    """Return the state in which a follower's fetch is on its way: from the end of an empty log, in leader epoch 0."""
    usual = FetchRequest(leader=0, leader_epoch=0, fetch_offset=0, last_fetched_epoch=-1, broker_epoch=1)
    return put(state, fetching={broker: evolve(usual, **given)})


def fetch_answer(state: State, broker: BrokerId = 1, **given: Any) -> State:
    """Return the state in which an answer to a follower is on its way: to a fetch as above, with nothing in it."""
    return put(state, fetching={broker: evolve(FetchAnswer(leader=0, leader_epoch=0, fetch_offset=0), **given)})


def request(*isr: BrokerId, **given: Any) -> AlterPartition:
    """Return a proposal of broker 0 under the epochs of the start, whose members all fetched in their first life."""
    return evolve(AlterPartition(0, 1, 0, 0, tuple(BrokerState(member, 1) for member in isr)), **given)


def proposed(state: State, *isr: BrokerId, **given: Any) -> State:
    """Return the state in which broker 0 has proposed an ISR, and the controller has not looked at it."""
    return put(replica(state, 0, proposed=frozenset(isr)), altering={0: request(*isr, **given)})


def answered(state: State, *isr: BrokerId, error: Errors = Errors.NONE, partition_epoch: int = 1) -> State:
    """Return the state in which the controller has answered the proposal of an ISR of broker 0."""
    accepted = AlterPartitionAnswer(request(*isr), error, 0, partition_epoch, frozenset(isr))
    answer = accepted if error is Errors.NONE else AlterPartitionAnswer(request(*isr), error)
    return put(replica(state, 0, proposed=frozenset(isr)), altering={0: answer})


def leading(state: State, broker: BrokerId, leader_epoch: int = 1, **changed: Any) -> State:
    """Return the state in which a broker was elected in a later epoch, and knows it: with all replicas in sync, and an empty log."""
    state = decision(state, leader=broker, leader_epoch=leader_epoch)
    partition_now = truth(state)
    usual = {
        "leader": broker,
        "leader_epoch": leader_epoch,
        "partition_epoch": state.partition_epoch,
        "replicas": partition_now.replicas,
        "isr": partition_now.isr,
        "epoch_start": state.logs[broker].end_offset,
        "fetch_epoch": UNKNOWN,
    }
    return put(replica(state, broker, **{**usual, **changed}), positions={broker: state.partition_epoch})
