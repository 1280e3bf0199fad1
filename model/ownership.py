# SPDX-License-Identifier: Apache-2.0
"""Who may consume a partition: the least that every group protocol of Kafka promises, whatever else it does.

A coordinator gives a partition to one member under a generation (classic protocol: the generation id; consumer protocol:
the member epoch under which the partition was assigned) that is later than every earlier one of that partition. So a
generation of a partition has at most one owner, for ever. A member hears of what it was given late or never, and goes on
for a while after the partition was taken from it or given to somebody else: such a zombie knows only older generations.
Failure is not told from slowness: who does not hear, or does not give up, may be dead. Left out: how members join and
how partitions are spread over them, sessions, and what members do with a partition.

What is committed, and who may commit, stands on this alone; a group machine that is shown to refine it (see
``hwmark.spec.ownership``) may be put in its place.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from attrs import field, frozen, validators

from .machine import Identity, IndexedBy, Machine, action, kafka, put

T = TypeVar("T")
MemberId = Annotated[int, Identity("member")]
PerMember = Annotated[tuple[T, ...], IndexedBy("member")]
PartitionId = Annotated[int, Identity("partition")]
PerPartition = Annotated[tuple[T, ...], IndexedBy("partition")]

NOBODY: MemberId = -1
"""The owner of a partition that nobody owns."""
UNKNOWN_GENERATION = -1
"""The generation of somebody who is no member: Kafka's ``JoinGroupRequest.UNKNOWN_GENERATION_ID``."""


@frozen(cache_hash=True)
class State:
    """What the coordinator gave to whom, who owns each partition now, and what each member believes to own.

    ``grants[p][g]`` is the member that was given partition p under generation g, and ``owners[p]`` is the one to whom the
    latest of them still belongs. ``believed[m][p]`` is the generation under which member m believes to own p.
    """

    grants: PerPartition[tuple[MemberId, ...]]
    owners: PerPartition[MemberId]
    believed: PerMember[PerPartition[int]]


@frozen
class Config:
    """Nothing that an operator sets is part of this machine."""


@frozen
class Rules:
    """Nothing is left to decide: this is what every protocol must do."""


@frozen
class Bounds:
    """How far we look: so many members and partitions, and generations from 0 up to and including their bound."""

    members: int = field(default=2, validator=[validators.ge(1), validators.le(9)])
    partitions: int = field(default=1, validator=[validators.ge(1), validators.le(9)])
    max_generation: int = field(default=2, validator=[validators.ge(0), validators.le(64)])


def initial(bounds: Bounds) -> State:
    """Nobody was given anything."""
    return State(
        grants=((NOBODY,) * (bounds.max_generation + 1),) * bounds.partitions,
        owners=(NOBODY,) * bounds.partitions,
        believed=((UNKNOWN_GENERATION,) * bounds.partitions,) * bounds.members,
    )


# -- domains --


def members(bounds: Bounds) -> range:
    """Return the ids of the members."""
    return range(bounds.members)


def partitions(bounds: Bounds) -> range:
    """Return the partitions."""
    return range(bounds.partitions)


def generations(bounds: Bounds) -> range:
    """Return the generations that the coordinator can reach."""
    return range(bounds.max_generation + 1)


# -- the coordinator --


@action(partition=partitions, generation=generations, member=members)
@kafka(
    "ClassicGroup.initNextGeneration; GroupMetadataManager.classicGroupSync; ConsumerGroup.addPartitionEpochs",
    versions="4.0–4.3",
    simplified="one partition a step; the member may be the one that has it, or another while the former owner goes on",
)
def grant(state: State, *, partition: PartitionId, generation: int, member: MemberId) -> State | None:
    """The coordinator gives a partition to a member, under a generation that is later than every earlier one."""
    if generation <= latest_generation(state.grants[partition]):
        return None
    return put(state, grants={partition: given(state.grants[partition], generation, member)}, owners={partition: member})


@action(partition=partitions)
@kafka(
    "ClassicGroup.remove; ConsumerGroup.removePartitionEpochs",
    versions="4.0–4.3",
    simplified="the member gave it up, left, or was taken for dead; it need not know",
)
def revoke(state: State, *, partition: PartitionId) -> State | None:
    """The coordinator takes a partition from its owner, and gives it to nobody yet."""
    if state.owners[partition] == NOBODY:
        return None
    return put(state, owners={partition: NOBODY})


# -- the members --


@action(member=members, partition=partitions, generation=generations)
@kafka(
    "ConsumerCoordinator.onJoinComplete; ConsumerMembershipManager.onHeartbeatSuccess",
    versions="4.0–4.3",
    simplified="the answer may come late, after others were given the partition; of several the later one is kept",
)
def learn(state: State, *, member: MemberId, partition: PartitionId, generation: int) -> State | None:
    """A member hears that it was given a partition, perhaps so late that it is not true any more."""
    known = state.believed[member]
    if state.grants[partition][generation] != member or generation <= known[partition]:
        return None
    return put(state, believed={member: replaced(known, partition, generation)})


@action(member=members, partition=partitions)
@kafka(
    "ConsumerCoordinator.onJoinPrepare; ConsumerCoordinator.onLeavePrepare; ConsumerMembershipManager.transitionToFenced",
    versions="4.0–4.3",
    simplified="at any moment, asked to or not; restarting is the same",
)
def give_up(state: State, *, member: MemberId, partition: PartitionId) -> State | None:
    """A member stops consuming a partition."""
    known = state.believed[member]
    if known[partition] == UNKNOWN_GENERATION:
        return None
    return put(state, believed={member: replaced(known, partition, UNKNOWN_GENERATION)})


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the abstract machine of ownership."""
    return Machine(
        name="ownership",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(grant, revoke, learn, give_up),
        interchangeable={"member": tuple(members(bounds)), "partition": tuple(partitions(bounds))},
    )


# -- helpers --


def latest_generation(granted: tuple[MemberId, ...]) -> int:
    """Return the latest generation under which a partition was given to anybody."""
    return max((generation for generation, member in enumerate(granted) if member != NOBODY), default=UNKNOWN_GENERATION)


def given(granted: tuple[MemberId, ...], generation: int, member: MemberId) -> tuple[MemberId, ...]:
    """Return what was granted of a partition once it was also given to a member under this generation."""
    return (*granted[:generation], member, *granted[generation + 1 :])


def replaced(entries: tuple[int, ...], index: int, entry: int) -> tuple[int, ...]:
    """Return the entries with one of them replaced."""
    return (*entries[:index], entry, *entries[index + 1 :])
