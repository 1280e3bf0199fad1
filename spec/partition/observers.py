# SPDX-License-Identifier: Apache-2.0
"""What clients and bystanders remember of a run of the ``partition`` machine, and Kafka does not store."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from hwmark.model.log import Log, Record
from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.shared import leads, truth
from hwmark.model.partition.state import State
from hwmark.spec.property import Observer

Committed = tuple[Record, ...]
"""The records that leaders counted as committed, by offset from 0 on."""


# -- what was committed --


def committed_views(state: State) -> Iterator[tuple[Log, int]]:
    """Yield the log and the high watermark of each broker that believes that it leads, the lowest high watermark first."""
    leaders = [broker for broker in range(len(state.logs)) if leads(state, broker)]
    for broker in sorted(leaders, key=lambda one: (state.replicas[one].high_watermark, state.replicas[one].leader_epoch)):
        yield state.logs[broker], state.replicas[broker].high_watermark


def _ever_committed(memory: Committed, _before: State, _step: Step, after: State) -> Committed:
    return _grown(memory, after)


def _grown(memory: Committed, state: State) -> Committed:
    """Return what is held as committed; a leader that holds another record there takes its place."""
    for log, high_watermark in committed_views(state):
        for offset in range(log.log_start_offset, high_watermark):
            record = log.at(offset)
            if record is not None and offset <= len(memory) and memory[offset : offset + 1] != (record,):
                memory = (*memory[:offset], record)
    return memory


EVER_COMMITTED = Observer("ever_committed", memory=Committed, initial=lambda state: _grown((), state), observe=_ever_committed)
"""The log of records that leaders counted as committed, as clients know it."""


# -- what was acknowledged --


def _acknowledged(memory: frozenset[int], _before: State, step: Step, _after: State) -> frozenset[int]:
    return memory | {step.choices["record"]} if step.action == "acknowledge_produce" else memory


def _first_acknowledged(state: State) -> frozenset[int]:
    return frozenset(record.id for record in _grown((), state))


ACKNOWLEDGED = Observer("acknowledged", memory=frozenset[int], initial=_first_acknowledged, observe=_acknowledged)
"""The ids of the records that producers were told are stored."""


# -- what excuses a loss --


@frozen(cache_hash=True)
class Excuses:
    """What may have cost committed records: members of the ISR whose logs lost their tails, and what became of it.

    ``incomplete``: members of the ISR that crashed and lost records, and have not left the ISR since. ``last_member``:
    whether such a member was ever the last one. ``unclean``: whether somebody was elected from outside ISR and ELR.
    """

    incomplete: frozenset[BrokerId] = frozenset()
    last_member: bool = False
    unclean: bool = False


def _excuses(memory: Excuses, before: State, step: Step, after: State) -> Excuses:
    was, now = truth(before), truth(after)
    incomplete = memory.incomplete & now.isr
    if step.action == "crash":
        broker = step.choices["broker"]
        if broker in now.isr and after.logs[broker].end_offset < before.logs[broker].end_offset:
            incomplete |= {broker}
    is_unclean = now.leader not in {NOBODY, was.leader} and now.leader not in was.isr | was.elr
    return evolve(
        memory,
        incomplete=incomplete,
        last_member=memory.last_member or (len(now.isr) == 1 and now.isr <= incomplete),
        unclean=memory.unclean or is_unclean,
    )


EXCUSES = Observer("excuses", memory=Excuses, initial=lambda _: Excuses(), observe=_excuses)
"""What may have cost committed records, and is no fault of the protocol."""


# -- what clients were told --


def _latest_offset(memory: int, _before: State, _step: Step, after: State) -> int:
    leader = truth(after).leader
    return max(memory, after.replicas[leader].high_watermark) if leader != NOBODY and leads(after, leader) else memory


LATEST_OFFSET = Observer("latest_offset", memory=int, initial=lambda state: len(_grown((), state)), observe=_latest_offset)
"""The largest offset that clients were told is the end of the log, by a leader that is one."""
