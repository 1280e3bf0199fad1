# SPDX-License-Identifier: Apache-2.0
"""What clients remember of a run of the ``majority`` machine: what was committed, what they were told, and by which leaders."""

from __future__ import annotations

from attrs import frozen

from hwmark.model.log import Record
from hwmark.model.machine import BrokerId, Step
from hwmark.model.majority.state import NOBODY, Role, State
from hwmark.spec.property import Observer


@frozen(cache_hash=True)
class Committed:
    """The records that leaders committed, by offset, and the latest epoch of a leader that did."""

    records: tuple[Record, ...] = ()
    leader_epoch: int = -1


def _committed(memory: Committed, before: State, step: Step, after: State) -> Committed:
    """Return what is held as committed after a step; another record at an offset takes the place of what was there."""
    leader = looked_at(before, step)
    if leader == NOBODY or after.replicas[leader].role is not Role.LEADER:
        return memory
    known, old = after.replicas[leader], memory.records
    new = after.logs[leader].records[: known.high_watermark]
    if new == old[: len(new)]:
        return memory
    return Committed(new, known.leader_epoch)


def looked_at(before: State, step: Step) -> BrokerId:
    """Return the broker that may commit something in a step, or begin to lead with what it knows to be committed."""
    broker: BrokerId
    match step.action:
        case "append_record":
            broker = step.choices["leader"]
        case "start_election" | "request_vote":
            broker = step.choices["candidate"]
        case "handle_fetch":
            broker = before.replicas[step.choices["follower"]].stands_by
        case _:
            broker = NOBODY
    return broker


COMMITTED = Observer("committed", memory=Committed, initial=lambda _: Committed(), observe=_committed)
"""The log of committed records, as clients know it."""


@frozen(cache_hash=True)
class Acknowledged:
    """The ids of the records that producers were told are committed, and the latest epoch of a leader that told so."""

    records: frozenset[int] = frozenset()
    leader_epoch: int = -1


def _acknowledged(memory: Acknowledged, before: State, step: Step, _after: State) -> Acknowledged:
    if step.action != "acknowledge_produce":
        return memory
    record = step.choices["record"]
    waiting = before.produced[record]
    if waiting is None:
        return memory
    return Acknowledged(memory.records | {record}, max(memory.leader_epoch, before.replicas[waiting.leader].leader_epoch))


ACKNOWLEDGED = Observer("acknowledged", memory=Acknowledged, initial=lambda _: Acknowledged(), observe=_acknowledged)
"""What producers were told is committed."""
