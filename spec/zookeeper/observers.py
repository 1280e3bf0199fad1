# SPDX-License-Identifier: Apache-2.0
"""What bystanders remember of a run of the ``zookeeper`` machine, and Kafka does not store."""

from __future__ import annotations

from hwmark.model.log import Record
from hwmark.model.machine import BrokerId, PerBroker, Step
from hwmark.model.zookeeper.shared import leads
from hwmark.model.zookeeper.state import State
from hwmark.spec.property import Observer

Committed = tuple[Record, ...]
"""The records that leaders counted as committed, by offset."""

# -- what was committed --


def looked_at(step: Step) -> BrokerId | None:
    """Return the broker whose high watermark, or whose place as leader, a step may change; followers only repeat what is committed."""
    name = LOOKED_AT.get(step.action)
    return None if name is None else step.choices[name]


LOOKED_AT = {
    "append_record": "leader",
    "fetch": "leader",
    "shrink_isr": "leader",
    "repeat_isr_write": "leader",
    "receive_leader_and_isr": "broker",
}
"""Under which name each of these steps chose that broker."""


def _ever_committed(memory: Committed, _before: State, step: Step, after: State) -> Committed:
    broker = looked_at(step)
    if broker is None or not leads(after, broker):
        return memory
    log = after.logs[broker]
    for offset in range(after.replicas[broker].high_watermark):
        record = log.at(offset)
        if record is not None and memory[offset : offset + 1] != (record,):
            memory = (*memory[:offset], record)
    return memory


EVER_COMMITTED = Observer("ever_committed", memory=Committed, initial=lambda _: (), observe=_ever_committed)
"""The log of records that leaders counted as committed, as clients know it; another record at an offset takes the place of the rest."""


# -- when brokers started --


def _started_in(memory: PerBroker[int], _before: State, step: Step, after: State) -> PerBroker[int]:
    if step.action != "start_broker":
        return memory
    started = step.choices["broker"]
    return tuple(after.znode.leader_epoch if broker == started else epoch for broker, epoch in enumerate(memory))


STARTED_IN = Observer(
    "started_in", memory=PerBroker[int], initial=lambda state: (state.znode.leader_epoch,) * len(state.logs), observe=_started_in
)
"""The leader epoch of the partition when each broker last started."""
