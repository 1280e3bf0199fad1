# SPDX-License-Identifier: Apache-2.0
"""The producer sends, the groups share partitions out, and consumers take records, process them, and commit."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.machine import action, kafka, put
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, PartitionId

from .rules import CommitPoint, Rules
from .state import NOTHING, Bounds, Config, Consumer, ConsumerId, Grant, State, consumers, group_of, messages, partitions

# -- rules --


def may_process(rules: Rules, consumer: Consumer) -> bool:
    """Whether a consumer may process the record that it has in hand before anything is committed with it."""
    match rules.commit:
        case CommitPoint.AFTER_PROCESSING:
            return True
        case CommitPoint.BEFORE_PROCESSING:
            return consumer.is_committed
        case CommitPoint.WITH_PROCESSING:
            return False
        case _:
            assert_never(rules.commit)


def to_commit(rules: Rules, consumer: Consumer, partition: PartitionId) -> int | None:
    """Return the offset that a consumer commits by itself: that of the next record to process, or the one behind it."""
    match rules.commit:
        case CommitPoint.AFTER_PROCESSING:
            return consumer.positions[partition]
        case CommitPoint.BEFORE_PROCESSING:
            has_it = consumer.in_hand == partition and not consumer.is_committed
            return consumer.positions[partition] + 1 if has_it else None
        case CommitPoint.WITH_PROCESSING:
            return None
        case _:
            assert_never(rules.commit)


def is_one_step(rules: Rules) -> bool:
    """Whether processing and committing are one step."""
    match rules.commit:
        case CommitPoint.WITH_PROCESSING:
            return True
        case CommitPoint.AFTER_PROCESSING | CommitPoint.BEFORE_PROCESSING:
            return False
        case _:
            assert_never(rules.commit)


# -- the producer --


@action(message=messages, partition=partitions)
@kafka(
    "KafkaProducer.send; UnifiedLog.appendAsLeader",
    versions="0.11–4.3",
    simplified="to any partition; without idempotence a message whose acknowledgement is not there yet may be sent again, also to another "
    "partition, as by a producer that crashed; nothing is lost in the log: see ``replication``",
)
def send(state: State, bounds: Bounds, *, message: int, partition: PartitionId) -> State | None:
    """The producer sends a message, and it is appended; for want of an acknowledgement it may send it again."""
    if state.acknowledged[message]:
        return None
    is_again = any(message in log for log in state.logs)
    if is_again and state.resends >= bounds.resends:
        return None
    return put(state, logs={partition: (*state.logs[partition], message)}, resends=state.resends + int(is_again))


@action(message=messages)
@kafka("Sender.completeBatch", versions="0.11–4.3", simplified="at any time after the message was appended")
def acknowledge(state: State, *, message: int) -> State | None:
    """The producer hears that a message was appended."""
    if state.acknowledged[message] or not any(message in log for log in state.logs):
        return None
    return put(state, acknowledged={message: True})


# -- the groups --


@action(partition=partitions, consumer=consumers)
@kafka(
    "ConsumerCoordinator.onJoinComplete; AbstractMembershipManager.assignPartitions",
    versions="0.11–4.3",
    simplified="one partition a step, and the consumer hears of it and looks up the committed offset at once; nobody else hears of it: see "
    "``ownership`` and ``offsets``",
)
def assign_partition(state: State, config: Config, bounds: Bounds, *, partition: PartitionId, consumer: ConsumerId) -> State | None:
    """A group gives a partition to a consumer, which begins at the committed offset; the former owner may go on for a while."""
    group = group_of(config, consumer)
    granted = state.grants[group][partition]
    lives = granted.owner != NOBODY
    if granted.owner == consumer or (lives and state.rebalances >= bounds.rebalances):
        return None
    given = Grant(granted.generation + 1, consumer)
    ours = state.consumers[consumer]
    return put(
        state,
        grants={group: replaced(state.grants[group], partition, given)},
        consumers={
            consumer: put(
                without_work(ours, partition),
                held=replaced(ours.held, partition, given.generation),
                positions=replaced(ours.positions, partition, state.committed[group][partition]),
            )
        },
        rebalances=state.rebalances + int(lives),
    )


@action(partition=partitions, consumer=consumers)
@kafka(
    "ConsumerCoordinator.onJoinPrepare; ConsumerCoordinator.onLeavePrepare; ConsumerMembershipManager.transitionToFenced",
    versions="0.11–4.3",
    simplified="whenever it hears that the partition was given to another; what it has in hand is dropped",
)
def give_up(state: State, config: Config, *, partition: PartitionId, consumer: ConsumerId) -> State | None:
    """A consumer hears that a partition is no longer its own, and stops."""
    ours = state.consumers[consumer]
    if ours.held[partition] == UNKNOWN_GENERATION or is_owner(state, config, partition, consumer):
        return None
    return put(state, consumers={consumer: dropped(ours, partition)})


# -- the consumers --


@action(partition=partitions, consumer=consumers)
@kafka("KafkaConsumer.poll", versions="0.11–4.3", simplified="one record at a time, from any partition that the consumer believes to own")
def take(state: State, *, partition: PartitionId, consumer: ConsumerId) -> State | None:
    """A consumer takes the next record of a partition."""
    ours = state.consumers[consumer]
    if ours.held[partition] == UNKNOWN_GENERATION or ours.in_hand != NOTHING:
        return None
    if ours.positions[partition] >= len(state.logs[partition]):
        return None
    return put(state, consumers={consumer: put(ours, in_hand=partition)})


@action(consumer=consumers)
@kafka("ConsumerRecords.iterator", versions="0.11–4.3", simplified="what processing does is seen from outside at once")
def process(state: State, rules: Rules, *, consumer: ConsumerId) -> State | None:
    """A consumer processes the record that it has in hand, and has no other copy of it."""
    ours = state.consumers[consumer]
    if ours.in_hand == NOTHING or not may_process(rules, ours):
        return None
    return put(state, consumers={consumer: advanced(ours)})


@action(partition=partitions, consumer=consumers)
@kafka(
    "KafkaConsumer.commitSync; OffsetMetadataManager.commitOffset",
    versions="0.11–4.3",
    simplified="request and answer are one step; refused if the partition belongs to somebody else, and then the consumer knows",
)
def commit(state: State, rules: Rules, config: Config, *, partition: PartitionId, consumer: ConsumerId) -> State | None:
    """A consumer commits its place in a partition, as long as that is its own."""
    ours = state.consumers[consumer]
    if ours.held[partition] == UNKNOWN_GENERATION:
        return None
    offset = to_commit(rules, ours, partition)
    group = group_of(config, consumer)
    if offset is None or offset == state.committed[group][partition]:
        return None
    if not is_owner(state, config, partition, consumer):
        return put(state, consumers={consumer: dropped(ours, partition)})
    known = put(ours, is_committed=ours.in_hand == partition and offset > ours.positions[partition])
    return put(state, committed={group: replaced(state.committed[group], partition, offset)}, consumers={consumer: known})


@action(consumer=consumers)
@kafka(
    "KafkaProducer.sendOffsetsToTransaction; KafkaProducer.commitTransaction",
    versions="2.5–4.3",
    simplified="the transaction is one step, and its results are seen with its offset or not at all: see ``offsets`` for the pieces",
)
def process_and_commit(state: State, rules: Rules, config: Config, *, consumer: ConsumerId) -> State | None:
    """A consumer processes the record that it has in hand and commits that in one step, if the partition is its own."""
    ours = state.consumers[consumer]
    partition = ours.in_hand
    if partition == NOTHING or not is_one_step(rules):
        return None
    if not is_owner(state, config, partition, consumer):
        return put(state, consumers={consumer: dropped(ours, partition)})
    group, after = group_of(config, consumer), advanced(ours)
    offsets = replaced(state.committed[group], partition, after.positions[partition])
    return put(state, committed={group: offsets}, consumers={consumer: after})


@action(consumer=consumers)
@kafka(
    "GroupMetadataManager.expireClassicGroupMemberHeartbeat; GroupMetadataManager.consumerGroupFenceMember",
    versions="0.11–4.3",
    simplified="the group hears of it at once: until then the consumer would only be slow; it is back at once, and knows nothing",
)
def crash(state: State, config: Config, bounds: Bounds, *, consumer: ConsumerId) -> State | None:
    """A consumer crashes, with what it has in hand and has not committed; its partitions are nobody's."""
    ours = state.consumers[consumer]
    if state.crashes >= bounds.crashes or all(held == UNKNOWN_GENERATION for held in ours.held):
        return None
    group = group_of(config, consumer)
    left = tuple(Grant(one.generation, NOBODY) if one.owner == consumer else one for one in state.grants[group])
    idle = Consumer(held=(UNKNOWN_GENERATION,) * bounds.partitions, positions=(0,) * bounds.partitions)
    return put(state, grants={group: left}, consumers={consumer: idle}, crashes=state.crashes + 1)


# -- helpers --


def is_owner(state: State, config: Config, partition: PartitionId, consumer: ConsumerId) -> bool:
    """Whether the group still has a consumer as the owner of a partition."""
    return state.grants[group_of(config, consumer)][partition].owner == consumer


def advanced(consumer: Consumer) -> Consumer:
    """Return a consumer that has dealt with the record in its hand."""
    partition = consumer.in_hand
    positions = replaced(consumer.positions, partition, consumer.positions[partition] + 1)
    return put(consumer, positions=positions, in_hand=NOTHING, is_committed=False)


def without_work(consumer: Consumer, partition: PartitionId) -> Consumer:
    """Return a consumer that has nothing of a partition in hand."""
    return put(consumer, in_hand=NOTHING, is_committed=False) if consumer.in_hand == partition else consumer


def dropped(consumer: Consumer, partition: PartitionId) -> Consumer:
    """Return a consumer that has stopped with a partition."""
    held = replaced(consumer.held, partition, UNKNOWN_GENERATION)
    return put(without_work(consumer, partition), held=held, positions=replaced(consumer.positions, partition, 0))


def replaced(entries: tuple, index: int, entry: object) -> tuple:  # type: ignore[type-arg]
    """Return the entries with one of them replaced."""
    return tuple(entry if place == index else one for place, one in enumerate(entries))
