# SPDX-License-Identifier: Apache-2.0
"""One step of the ``partition`` machine as captions see it, and phrases that several captions share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from attrs import frozen

from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY, Brokers, LeaderRecovery
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.shared import leads, truth
from hwmark.model.partition.state import Config, State
from hwmark.spec.naming import braces, letter

from .view_messages import listed

T = TypeVar("T")


@frozen
class Moment:
    """A step with the states around it, and what the machine is bound to."""

    before: State
    step: Step
    after: State
    rules: PartitionRules
    config: Config

    def chosen(self, name: str) -> int:
        """Return the id that the step chose under this name."""
        choice: int = self.step.choices[name]
        return choice


def held(slot: object, kind: type[T]) -> T:
    """Return what a slot holds, of which the step says that it is of this kind."""
    if not isinstance(slot, kind):
        raise TypeError(f"a step needs a {kind.__name__}, and there is {slot}")
    return slot


# -- who --


def called(state: State, broker: BrokerId) -> str:
    """Return how a sentence begins that a broker is the subject of: a zombie is called one."""
    is_zombie = leads(state, broker) and truth(state).leader != broker
    return f"Broker {broker}, a zombie leader," if is_zombie else f"Broker {broker}"


# -- what changed --


def decided(moment: Moment, asked: Brokers | None = None) -> str:
    """Return what the controller decided in a step, as the end of a sentence; an ISR that it was asked for goes without saying."""
    changes = list(_changes(moment, asked))
    if changes:
        return f": {', '.join(changes)}"
    is_changed = moment.before.partition_epoch != moment.after.partition_epoch
    return f": partition epoch {moment.after.partition_epoch}" if is_changed else ", and the partition stays as it is"


def _changes(moment: Moment, asked: Brokers | None) -> Iterator[str]:
    was, now = truth(moment.before), truth(moment.after)
    if now.leader != was.leader:
        is_unclean = now.leader_recovery is LeaderRecovery.RECOVERING and now.leader not in was.isr | was.elr
        elected = f"broker {now.leader} is elected{' uncleanly' if is_unclean else ''}"
        yield f"{'nobody leads' if now.leader == NOBODY else elected} in leader epoch {now.leader_epoch}"
    elif now.leader_epoch != was.leader_epoch:
        yield f"leader epoch {now.leader_epoch} begins"
    if now.replicas != was.replicas:
        yield f"replicas {listed(now.replicas)}"
    if now.isr not in {was.isr, asked}:
        yield f"ISR {braces(now.isr)}"
    if now.elr != was.elr:
        yield f"ELR {braces(now.elr)}"


def committed(moment: Moment, leader: BrokerId) -> str:
    """Return what a leader newly counts as committed, as the end of a sentence."""
    log, high_watermark = moment.after.logs[leader], moment.after.replicas[leader].high_watermark
    offsets = range(moment.before.replicas[leader].high_watermark, high_watermark)
    names = [letter(record.id) for record in map(log.at, offsets) if record is not None]
    what = f": {', '.join(names)} counts as committed" if len(names) == 1 else f": {', '.join(names)} count as committed" if names else ""
    return f", and advances its high watermark to {high_watermark}{what}" if offsets else ""


def cut(moment: Moment, broker: BrokerId) -> str:
    """Return what a broker drops from the end of its log, as the end of a sentence."""
    old, new = moment.before.logs[broker], moment.after.logs[broker]
    names = [letter(record.id) for record in old.records[max(0, new.end_offset - old.log_start_offset) :]]
    return f", and truncates its log to offset {new.end_offset}: drops {', '.join(names)}" if names else ""


def gone(moment: Moment, broker: BrokerId) -> str:
    """Return what is no longer at the start of a broker's log."""
    old, new = moment.before.logs[broker], moment.after.logs[broker]
    names = [letter(record.id) for record in old.records[: new.log_start_offset - old.log_start_offset]]
    return f"its log starts at offset {new.log_start_offset}; {', '.join(names)} {'is' if len(names) == 1 else 'are'} gone"
