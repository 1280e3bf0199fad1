# SPDX-License-Identifier: Apache-2.0
"""What went on in a run that matters to an operator: who was told what, who went down, who was elected, and from where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from attrs import frozen

from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.shared import truth
from hwmark.model.partition.state import State, Status
from hwmark.spec.naming import broker_name, letter
from hwmark.spec.partition.observers import accepted_isr
from hwmark.spec.partition.view_cluster import is_alive


class Origin(Enum):
    """Where a leader was drawn from."""

    ISR = "from the ISR"
    ELR = "from the ELR"
    LAST_KNOWN = "as the last known leader, although neither ISR nor ELR has anybody"
    UNCLEAN = "uncleanly"


@frozen
class Election:
    """A broker becomes leader."""

    leader: BrokerId
    origin: Origin


def election(before: State, step: Step, after: State) -> Election | None:
    """Return the election that a step brought, if it did."""
    was, now = truth(before), truth(after)
    if now.leader in {NOBODY, was.leader}:
        return None
    if now.leader in was.isr | accepted_isr(before, step):
        return Election(now.leader, Origin.ISR)
    if now.leader in was.elr:
        return Election(now.leader, Origin.ELR)
    return Election(now.leader, Origin.LAST_KNOWN if was.last_known_elr == {now.leader} else Origin.UNCLEAN)


def elections(steps: Sequence[Step], states: Sequence[State]) -> Iterator[Election]:
    """Yield the elections of a run in order."""
    for step, before, after in zip(steps, states, states[1:], strict=False):
        found = election(before, step, after)
        if found is not None:
            yield found


def holds(state: State, broker: BrokerId, record: int) -> bool:
    """Whether a broker's log has a record."""
    return any(one.id == record for one in state.logs[broker].records)


def holders(state: State, record: int) -> tuple[BrokerId, ...]:
    """Return the brokers whose logs have a record."""
    return tuple(broker for broker in range(len(state.logs)) if holds(state, broker, record))


def loses(before: State, after: State, broker: BrokerId) -> tuple[int, ...]:
    """Return the records that a broker's log had before a step and not after it."""
    kept = {one.id for one in after.logs[broker].records}
    return tuple(one.id for one in before.logs[broker].records if one.id not in kept)


def told(steps: Sequence[Step], states: Sequence[State], record: int) -> str:
    """Return who was told that a record is stored, and who held it then: of one from before the run, that it is committed."""
    if record < states[0].next_record_id:
        return f"record {letter(record)} is committed, and {_only(holders(states[0], record))} it"
    for step, after in zip(steps, states[1:], strict=True):
        is_sent = step.action == "append_record" and after.next_record_id == record + 1
        if is_sent and after.produced[record] is None:
            leader = broker_name(step.choices["leader"])
            return f"record {letter(record)} is sent, which with acks=0 is all that its producer waits for, and {leader} appends it"
        if step.action == "acknowledge_produce" and step.choices["record"] == record:
            return f"record {letter(record)} is acknowledged when {_only(holders(after, record))} it"
    return f"record {letter(record)} is written"


def _only(brokers: Sequence[BrokerId]) -> str:
    """Return the subject and verb of who holds something."""
    if len(brokers) == 1:
        return f"only {broker_name(brokers[0])} holds"
    return f"brokers {', '.join(map(str, brokers[:-1]))} and {brokers[-1]} hold"


def events(steps: Sequence[Step], states: Sequence[State], record: int | None) -> Iterator[str]:
    """Yield what brokers did and what became of them, in order; elections say whether the leader holds the record."""
    for step, before, after in zip(steps, states, states[1:], strict=False):
        match step.action:
            case "crash":
                broker = step.choices["broker"]
                lost = [letter(one) for one in loses(before, after, broker)]
                yield f"{broker_name(broker)} crashes" + (f" and loses {' and '.join(lost)}" if lost else "")
            case "fence_broker" if is_alive(before, step.choices["broker"]):
                yield f"{broker_name(step.choices['broker'])} is taken for dead although it runs"
            case "begin_controlled_shutdown":
                yield f"{broker_name(step.choices['broker'])} is shut down"
            case _:
                pass
        found = election(before, step, after)
        if found is not None:
            lacks = record is not None and not holds(after, found.leader, record)
            yield f"{broker_name(found.leader)} is elected {found.origin.value}" + (f", without {letter(record or 0)}" if lacks else "")


def is_up(state: State, broker: BrokerId) -> bool:
    """Whether a broker's process runs or starts."""
    return state.processes[broker].status is not Status.STOPPED
