# SPDX-License-Identifier: Apache-2.0
"""What clients and bystanders remember of a run of the ``partition`` machine, and Kafka does not store."""

from __future__ import annotations

from attrs import evolve, frozen

from hwmark.model.log import UNDEFINED_EPOCH, Record
from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.alter_partition import AlterPartition
from hwmark.model.partition.decisions import NOBODY, PartitionState
from hwmark.model.partition.shared import leads, truth
from hwmark.model.partition.state import UNKNOWN, FetchAnswer, FetchRequest, State
from hwmark.spec.property import Observer

Committed = tuple[Record, ...]
"""The records that leaders counted as committed, by offset from 0 on."""


# -- what was committed --


def looked_at(before: State, step: Step) -> BrokerId | None:
    """Return the broker whose high watermark, or whose place as leader, a step may change; followers only repeat what is committed."""
    broker: BrokerId
    match step.action:
        case "append_record" | "receive_alter_partition":
            broker = step.choices["leader"]
            return broker
        case "learn_metadata":
            broker = step.choices["broker"]
            return broker
        case "handle_fetch":
            request = before.fetching[step.choices["follower"]]
        case "deliver_duplicate":
            request = before.duplicate
        case _:
            return None
    return request.leader if isinstance(request, FetchRequest) else None


def with_view(memory: Committed, state: State, broker: BrokerId) -> Committed:
    """Return what is held as committed once somebody has read from a broker that leads; another record there takes its place."""
    if not leads(state, broker):
        return memory
    log, high_watermark = state.logs[broker], state.replicas[broker].high_watermark
    for offset in range(log.log_start_offset, high_watermark):
        record = log.at(offset)
        if record is not None and offset <= len(memory) and memory[offset : offset + 1] != (record,):
            memory = (*memory[:offset], record)
    return memory


def _first_committed(state: State) -> Committed:
    return with_view((), state, truth(state).leader)


def _ever_committed(memory: Committed, before: State, step: Step, after: State) -> Committed:
    broker = looked_at(before, step)
    return memory if broker is None else with_view(memory, after, broker)


EVER_COMMITTED = Observer("ever_committed", memory=Committed, initial=_first_committed, observe=_ever_committed)
"""The log of records that leaders counted as committed, as clients know it."""


# -- what was acknowledged --


def _acknowledged(memory: frozenset[int], _before: State, step: Step, _after: State) -> frozenset[int]:
    return memory | {step.choices["record"]} if step.action == "acknowledge_produce" else memory


def _first_acknowledged(state: State) -> frozenset[int]:
    return frozenset(record.id for record in _first_committed(state))


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


DECIDES = {
    "fence_broker",
    "unfence_broker",
    "register_broker",
    "begin_controlled_shutdown",
    "answer_alter_partition",
    "deliver_duplicate",
    "elect_preferred_leader",
    "elect_uncleanly",
    "replace_replica",
}
"""The steps in which the controller may change the partition."""


def _excuses(memory: Excuses, before: State, step: Step, after: State) -> Excuses:
    if step.action == "crash":
        broker = step.choices["broker"]
        is_member = broker in truth(after).isr and after.logs[broker].end_offset < before.logs[broker].end_offset
        return _seen(memory, truth(after), memory.incomplete | {broker}) if is_member else memory
    if step.action not in DECIDES or before.partition_epoch == after.partition_epoch:
        return memory
    was, now = truth(before), truth(after)
    is_unclean = now.leader not in {NOBODY, was.leader} and now.leader not in was.isr | was.elr | accepted_isr(before, step)
    return _seen(evolve(memory, unclean=memory.unclean or is_unclean), now, memory.incomplete & now.isr)


def _seen(memory: Excuses, partition: PartitionState, incomplete: frozenset[BrokerId]) -> Excuses:
    is_last = len(partition.isr) == 1 and partition.isr <= incomplete
    return evolve(memory, incomplete=incomplete, last_member=memory.last_member or is_last)


def accepted_isr(before: State, step: Step) -> frozenset[BrokerId]:
    """Return the ISR of the proposal that the controller looks at in a step, if it does."""
    if step.action == "answer_alter_partition":
        request = before.altering[step.choices["leader"]]
    else:
        request = before.duplicate if step.action == "deliver_duplicate" else None
    return frozenset(member.broker for member in request.new_isr) if isinstance(request, AlterPartition) else frozenset()


EXCUSES = Observer("excuses", memory=Excuses, initial=lambda _: Excuses(), observe=_excuses)
"""What may have cost committed records, and is no fault of the protocol."""


# -- who keeps up --


@frozen(cache_hash=True)
class Keeper:
    """What was seen of a broker that fetches: from which leader in which epoch, and where that leader's log ended at its last fetch.

    ``fetches``: how many of its fetches kept up, one after the other, since the leader last learned of a decision; two are as
    good as more.
    """

    leader: BrokerId = NOBODY
    leader_epoch: int = UNDEFINED_EPOCH
    leader_end_offset: int = UNKNOWN
    fetches: int = 0


KeepingUp = tuple[Keeper, ...]
"""What was seen of each broker."""


def _first_keeping_up(state: State) -> KeepingUp:
    return (Keeper(),) * len(state.replicas)


def _keeping_up(keepers: KeepingUp, before: State, step: Step, after: State) -> KeepingUp:
    follower: BrokerId
    match step.action:
        case "let_lag_time_pass" | "propose_shrink":
            return _replaced(keepers, step.choices["follower"], Keeper())
        case "learn_metadata":  # somebody may be fenced
            return tuple(Keeper() if known.leader == step.choices["broker"] else known for known in keepers)
        case "handle_fetch":
            follower = step.choices["follower"]
        case _:
            return keepers
    request, known = before.fetching[follower], keepers[follower]
    if not isinstance(request, FetchRequest) or not _is_served(request, after.fetching[follower]):
        return _replaced(keepers, follower, Keeper())
    leader, end_offset = request.leader, after.logs[request.leader].end_offset
    is_next = (known.leader, known.leader_epoch) == (leader, request.leader_epoch)
    keeps_up = is_next and request.fetch_offset >= known.leader_end_offset
    return _replaced(keepers, follower, Keeper(leader, request.leader_epoch, end_offset, min(known.fetches + 1, 2) if keeps_up else 0))


def _is_served(request: FetchRequest, answer: FetchRequest | FetchAnswer | None) -> bool:
    """Whether a leader has taken a fetch for a sign of where the follower is."""
    if isinstance(answer, FetchAnswer):
        return answer.error is None and answer.diverging_epoch == UNDEFINED_EPOCH
    return answer == evolve(request, held=True)


def _replaced(keepers: KeepingUp, broker: BrokerId, keeper: Keeper) -> KeepingUp:
    return (*keepers[:broker], keeper, *keepers[broker + 1 :])


KEEPING_UP = Observer("keeping_up", memory=KeepingUp, initial=_first_keeping_up, observe=_keeping_up)
"""Whose fetches keep up with the leader."""


# -- what clients were told --


def _latest_offset(memory: int, before: State, step: Step, after: State) -> int:
    broker = looked_at(before, step)
    if broker is None or not leads(after, broker) or truth(after).leader != broker:
        return memory
    return max(memory, after.replicas[broker].high_watermark)


LATEST_OFFSET = Observer("latest_offset", memory=int, initial=lambda state: len(_first_committed(state)), observe=_latest_offset)
"""The largest offset that clients were told is the end of the log, by a leader that is one."""
