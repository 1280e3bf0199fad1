# SPDX-License-Identifier: Apache-2.0
"""What must hold from a producer to the consumers of each group: delivery, and how often.

Processing is what counts, and only somebody outside sees it: an observer remembers for each record by whom it was processed.
"At least once" says that what is committed was processed; "at most once" that nothing is processed twice. Which of the two
holds is the application's choice of when it commits; both hold only where committing and processing are one step.
"""

from __future__ import annotations

from hwmark.model.machine import Step
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, PartitionId, PerPartition
from hwmark.model.pipeline.state import (
    NOTHING,
    Config,
    ConsumerId,
    PerGroup,
    State,
    consumers,
    group_of,
    messages,
    partitions,
)
from hwmark.spec.ownership import Ownership, refinement
from hwmark.spec.property import Observer, Witness, converges, invariant, reachable, step_property, witness

# -- the topic and what groups hold --


@step_property(sources=("S10-consumption", "S15-groups"), partition=partitions)
def consuming_deletes_nothing(before: State, step: Step, after: State, *, partition: PartitionId) -> Witness | None:
    """What consumers do leaves the log as it is: records come at its end, and none goes."""
    old, new = before.logs[partition], after.logs[partition]
    if new == old or (step.action == "send" and new[:-1] == old):
        return None
    return witness(step=str(step), before=old, after=new)


@invariant(sources=("S9",), message=messages)
def acknowledged_is_stored(state: State, *, message: int) -> Witness | None:
    """What the producer knows to be stored is stored."""
    if not state.acknowledged[message] or any(message in log for log in state.logs):
        return None
    return witness(logs=state.logs)


@step_property(sources=("S9",), partition=partitions)
def committed_only_grows(before: State, step: Step, after: State, *, partition: PartitionId) -> Witness | None:
    """No group goes back in a partition, and none commits beyond its end."""
    for group, (old, new) in enumerate(zip(before.committed, after.committed, strict=True)):
        if not old[partition] <= new[partition] <= len(after.logs[partition]):
            return witness(step=str(step), group=group, before=old[partition], after=new[partition])
    return None


@invariant(sources=("S8",), consumer=consumers, partition=partitions)
def owner_begins_at_committed(state: State, config: Config, *, consumer: ConsumerId, partition: PartitionId) -> Witness | None:
    """The owner of a partition is never behind what its group has committed there."""
    group, ours = group_of(config, consumer), state.consumers[consumer]
    if state.grants[group][partition].owner != consumer or ours.held[partition] == UNKNOWN_GENERATION:
        return None
    committed, position = (
        state.committed[group][partition],
        ours.positions[partition] + int(ours.in_hand == partition and ours.is_committed),
    )
    return None if committed <= position else witness(committed=committed, position=position)


def ownership(state: State, partition: int) -> Ownership:
    """Return who has a partition in the first group; in one of several groups there is but one consumer."""
    granted, alone = state.grants[0][partition], len(state.grants) > 1
    believed = (consumer.held[partition] for consumer in (state.consumers[:1] if alone else state.consumers))
    return Ownership(granted.generation, granted.owner, tuple(believed))


refines_ownership, beliefs_are_grants = refinement(ownership, count=lambda state: len(state.logs), partitions=partitions, sources=("S8",))

# -- what observers remember --

Processed = PerGroup[PerPartition[tuple[tuple[ConsumerId, ...], ...]]]
ENOUGH = 2
"""More than so many times that a record was processed are not told apart."""


def processed_so_far(memory: Processed, before: State, step: Step, after: State) -> Processed:
    """Return for each group, partition and offset who processed the record there, in order."""
    if step.action not in {"process", "process_and_commit"}:
        return memory
    consumer = step.choices["consumer"]
    old, new = before.consumers[consumer], after.consumers[consumer]
    partition = old.in_hand
    offset = old.positions[partition]
    if new.positions[partition] != offset + 1:
        return memory
    group = consumer if len(memory) > 1 else 0
    known = (*memory[group][partition], *((),) * (offset + 1))[: max(offset + 1, len(memory[group][partition]))]
    by = (*known[offset], consumer)[:ENOUGH]
    changed = (*known[:offset], by, *known[offset + 1 :])
    row = tuple(changed if place == partition else one for place, one in enumerate(memory[group]))
    return tuple(row if place == group else one for place, one in enumerate(memory))


PROCESSED = Observer(
    "processed",
    memory=Processed,
    initial=lambda state: tuple(tuple(() for _ in state.logs) for _ in state.committed),
    observe=processed_so_far,
)
"""By whom each record was processed, in each group."""


@invariant(sources=("S9",), observers=(PROCESSED,), partition=partitions)
def committed_was_processed(state: State, processed: Processed, *, partition: PartitionId) -> Witness | None:
    """At least once: whatever a group has committed was processed there, or is about to be by who has it in hand."""
    in_hand = [one.positions[partition] for one in state.consumers if one.in_hand == partition and one.is_committed]
    for group, committed in enumerate(state.committed):
        known = processed[group][partition]
        for offset in range(committed[partition]):
            if offset not in in_hand and (offset >= len(known) or not known[offset]):
                return witness(group=group, offset=offset, committed=committed[partition])
    return None


@invariant(sources=("S9", "KIP-447"), observers=(PROCESSED,), partition=partitions)
def processed_at_most_once(state: State, processed: Processed, *, partition: PartitionId) -> Witness | None:
    """At most once: no group processes a record twice."""
    for group, known in enumerate(processed):
        for offset, by in enumerate(known[partition]):
            if len(by) > 1:
                return witness(group=group, offset=offset, by=by)
    return None


@invariant(sources=("S8-groups",), observers=(PROCESSED,), partition=partitions)
def processed_by_one_consumer(state: State, processed: Processed, *, partition: PartitionId) -> Witness | None:
    """As from a queue: no two consumers of a group process the same record."""
    for group, known in enumerate(processed):
        for offset, by in enumerate(known[partition]):
            if len(set(by)) > 1:
                return witness(group=group, offset=offset, by=by)
    return None


# -- goals --


def small(**scope: int) -> dict[str, int]:
    """Return a minimal scope: one consumer, one partition, one message, and no trouble, but for these."""
    return {"consumers": 1, "partitions": 1, "messages": 1, "resends": 0, "rebalances": 0, "crashes": 0, **scope}


@reachable(sources=("S9",), scope=small())
def everything_is_committed(state: State) -> bool:
    """All messages are acknowledged, and committed by every group."""
    return state.acknowledged != () and all(state.acknowledged) and all_committed(state)


@reachable(sources=("S8",), scope=small(consumers=2, partitions=2, messages=0))
def partitions_are_shared(state: State) -> bool:
    """Two consumers have something at the same time: each a partition of their group, or each the same one in a group of its own."""
    owners = {granted.owner for group in state.grants for granted in group}
    return len(owners - {NOBODY}) > 1


@reachable(sources=("S9",), scope=small(crashes=1), consumer=consumers)
def work_is_lost(before: State, step: Step, after: State, *, consumer: ConsumerId) -> bool:
    """A consumer crashes with a record in hand."""
    is_crash = step.action == "crash" and step.choices["consumer"] == consumer
    return is_crash and before.consumers[consumer].in_hand != NOTHING


@reachable(sources=("S9",), scope=small(resends=1))
def message_is_stored_twice(state: State) -> bool:
    """A producer without an acknowledgement sends a message again, which is stored twice."""
    return any(sum(log.count(message) for log in state.logs) > 1 for message in range(len(state.acknowledged)))


# -- what stays possible --


def all_committed(state: State) -> bool:
    """Whether every group has committed everything that is stored."""
    ends = tuple(len(log) for log in state.logs)
    return all(committed == ends for committed in state.committed)


@converges(sources=("S8-groups", "S9", "S15-groups"))
def every_group_gets_everything(state: State) -> bool:
    """Whatever happened, all messages can still be stored, and every group can get and commit all of them."""
    return all(any(message in log for log in state.logs) for message in range(len(state.acknowledged))) and all_committed(state)


# -- goals of one way to deliver --


@reachable(sources=("S8",), scope=small(consumers=2, rebalances=1), consumer=consumers)
def zombie_takes_a_record(before: State, step: Step, after: State, *, consumer: ConsumerId) -> bool:
    """In a queue: a partition was given to another consumer, and the former owner goes on."""
    is_taken = step.action == "take" and step.choices["consumer"] == consumer
    return is_taken and before.grants[0][after.consumers[consumer].in_hand].owner not in (NOBODY, consumer)


@reachable(sources=("S15-groups",), scope=small(consumers=2), consumer=consumers)
def committed_record_is_read_again(before: State, step: Step, after: State, *, consumer: ConsumerId) -> bool:
    """With several groups: one takes a record that another has committed."""
    if step.action != "take" or step.choices["consumer"] != consumer:
        return False
    partition = after.consumers[consumer].in_hand
    position = after.consumers[consumer].positions[partition]
    return any(committed[partition] > position for group, committed in enumerate(before.committed) if group != consumer)


PROPERTIES = (
    consuming_deletes_nothing,
    acknowledged_is_stored,
    committed_only_grows,
    owner_begins_at_committed,
    refines_ownership,
    beliefs_are_grants,
    committed_was_processed,
    processed_at_most_once,
    processed_by_one_consumer,
    everything_is_committed,
    partitions_are_shared,
    work_is_lost,
    message_is_stored_twice,
    every_group_gets_everything,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
