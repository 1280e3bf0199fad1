# SPDX-License-Identifier: Apache-2.0
"""How the ISR changes when leader and controller only exchange messages: the precursor of AlterPartition (KIP-497).

One fixed leader proposes ISR changes; the controller alone decides them, numbers each of its decisions (the version,
Kafka's partition epoch) and publishes it. Until the leader hears of a decision it does not know the true ISR. Every
request and every update ever sent stays deliverable, which models loss, delay, duplication and reordering. Time is
left out: a follower may be taken for slow or dead at any moment. Left out: elections and leader epochs, records
(a log is its end offset), rejections (a request is then just never accepted), minimum ISR, broker epochs. The rules
are those of hachikuji/kafka-specification (AsyncIsr), where the high watermark is not stored but follows from the
ISR and the offsets that the leader knows; its pending version is always the leader's version, and not kept either.
"""

from __future__ import annotations

from typing import assert_never

from attrs import field, frozen, validators

from .machine import BrokerId, Machine, PerBroker, action, kafka, put
from .rules import AsyncIsrRules, ExpandGuard, HighWatermarkOver, VersionCheck

LEADER: BrokerId = 0
Isr = frozenset[BrokerId]


@frozen(cache_hash=True)
class VersionedIsr:
    """An ISR, and the version under which the controller decided it."""

    isr: Isr
    version: int


@frozen(cache_hash=True)
class State:
    """What the controller decided, what the leader knows of it, and every message between them.

    ``pending_isr`` unites what the leader proposed under the version that it knows. ``offsets`` are the end offsets of
    all replicas as the leader knows them. ``requests[v]`` are the ISRs that the leader proposed while it knew version v;
    ``updates[v]`` is the decision with version v, published once it is taken.
    """

    controller: VersionedIsr
    leader: VersionedIsr
    pending_isr: Isr
    offsets: PerBroker[int]
    requests: tuple[frozenset[Isr], ...]
    updates: tuple[Isr | None, ...]


@frozen
class Config:
    """Nothing that an operator sets is part of this machine."""


@frozen
class Bounds:
    """How far we look: versions and offsets run from 0 up to and including their bound."""

    replicas: int = field(default=3, validator=[validators.ge(1), validators.le(9)])
    max_version: int = field(default=2, validator=[validators.ge(0), validators.le(64)])
    max_offset: int = field(default=1, validator=[validators.ge(0), validators.le(64)])


def initial(bounds: Bounds) -> State:
    """Everybody is in the ISR and empty, and no message was sent; the ISR of version 0 is known to all."""
    everybody = frozenset(range(bounds.replicas))
    known = VersionedIsr(everybody, 0)
    return State(
        controller=known,
        leader=known,
        pending_isr=frozenset(),
        offsets=(0,) * bounds.replicas,
        requests=(frozenset(),) * (bounds.max_version + 1),
        updates=(everybody, *(None,) * bounds.max_version),
    )


# -- domains --


def brokers(bounds: Bounds) -> range:
    """Return the ids of the brokers; each holds one replica."""
    return range(bounds.replicas)


def followers(bounds: Bounds) -> range:
    """Return the ids of all brokers but the leader."""
    return range(LEADER + 1, bounds.replicas)


def versions(bounds: Bounds) -> range:
    """Return the versions that the controller can reach."""
    return range(bounds.max_version + 1)


# -- rules --


def high_watermark(rules: AsyncIsrRules, state: State) -> int:
    """Return the first offset that the leader does not count as committed."""
    match rules.high_watermark_over:
        case HighWatermarkOver.COMMITTED:
            members = state.leader.isr
        case HighWatermarkOver.PROPOSED:
            members = state.pending_isr or state.leader.isr
        case HighWatermarkOver.MAXIMAL:
            members = state.leader.isr | state.pending_isr
        case _:
            assert_never(rules.high_watermark_over)
    return min(state.offsets[member] for member in sorted(members))


def is_current(rules: AsyncIsrRules, state: State, version: int) -> bool:
    """Whether the controller accepts a proposal that was made under this version."""
    match rules.version_check:
        case VersionCheck.COMPARE_AND_SET:
            return version == state.controller.version
        case VersionCheck.NONE:
            return True
        case _:
            assert_never(rules.version_check)


def may_join(rules: AsyncIsrRules, state: State, follower: BrokerId) -> bool:
    """Whether the leader may propose to add the follower to the ISR."""
    match rules.expand_guard:
        case ExpandGuard.HIGH_WATERMARK:
            return state.offsets[follower] >= high_watermark(rules, state)
        case ExpandGuard.NONE:
            return True
        case _:
            assert_never(rules.expand_guard)


# -- the controller --


@action(follower=followers)
@kafka(
    "ReplicaStateMachine.removeReplicasFromIsr; ReplicationControlManager.handleBrokerFenced",
    versions="2.7–3.9 with ZooKeeper; 3.0–4.3 with KRaft",
    simplified="any follower may be taken for dead at any moment; the leader never is, so no leader epoch is needed",
)
def controller_shrink_isr(state: State, bounds: Bounds, *, follower: BrokerId) -> State | None:
    """The controller takes a follower for dead: out of the ISR, under the next version, which it publishes."""
    if follower not in state.controller.isr:
        return None
    return decide(state, bounds, state.controller.isr - {follower})


@action(version=versions, follower=followers)
@kafka(
    "KafkaController.processAlterIsr; KafkaController.processAlterPartition; "
    "ReplicationControlManager.alterIsr; ReplicationControlManager.alterPartition",
    versions="2.7–3.1 with ZooKeeper; 3.2–3.9 with ZooKeeper; 3.0–3.1 with KRaft; 3.2–4.3 with KRaft",
    simplified="a request that is not accepted gets no answer; one that was accepted may be delivered again; the proposal "
    "is named by the version that the leader knew and by the follower whose membership it changes",
)
def controller_handle_request(state: State, rules: AsyncIsrRules, bounds: Bounds, *, version: int, follower: BrokerId) -> State | None:
    """The controller accepts an ISR that the leader proposed, under the next version, which it publishes."""
    isr = proposed(state, version, follower)
    if isr is None or isr not in state.requests[version] or not is_current(rules, state, version):
        return None
    return decide(state, bounds, isr)


# -- the leader --


@action(follower=followers)
@kafka(
    "Partition.shrinkIsrWithAlterIsr; Partition.shrinkIsr; Partition.prepareIsrShrink",
    versions="2.7; 2.8–3.0; 3.1–4.3",
    simplified="any member may be dropped, caught up or not; several proposals may be in flight, where Kafka allows one",
)
def leader_request_shrink_isr(state: State, *, follower: BrokerId) -> State | None:
    """The leader proposes to drop a follower from the ISR that it knows."""
    if follower not in state.leader.isr:
        return None
    return propose(state, state.leader.isr - {follower})


@action(follower=followers)
@kafka(
    "Partition.expandIsrWithAlterIsr; Partition.expandIsr; Partition.prepareIsrExpand",
    versions="2.7; 2.8–3.0; 3.1–4.3",
    simplified="no leader epoch, whose start the follower must also have reached (Partition.isFollowerInSync); several "
    "proposals may be in flight, where Kafka allows one",
)
def leader_request_expand_isr(state: State, rules: AsyncIsrRules, *, follower: BrokerId) -> State | None:
    """The leader proposes to add a follower that has reached the high watermark to the ISR that it knows."""
    if follower in state.leader.isr or not may_join(rules, state, follower):
        return None
    return propose(state, state.leader.isr | {follower})


@action()
@kafka("Partition.appendRecordsToLeader", versions="2.7–4.3", simplified="one record an append; no acks, no min.insync.replicas")
def leader_write(state: State, bounds: Bounds) -> State | None:
    """The leader appends a record."""
    if state.offsets[LEADER] >= bounds.max_offset:
        return None
    return put(state, offsets={LEADER: state.offsets[LEADER] + 1})


@action(version=versions)
@kafka(
    "Partition.handleAlterIsrResponse; Partition.handleAlterIsrUpdate; Partition.handleAlterPartitionUpdate; Partition.makeLeader",
    versions="2.7–3.0; 3.1; 3.2–4.3; 2.7–4.3",
    simplified="the answer to the leader's own request and the news of another decision are the same message",
)
def leader_handle_update(state: State, *, version: int) -> State | None:
    """The leader learns of a newer decision: that is its ISR now, and what it had proposed is settled."""
    isr = state.updates[version]
    if isr is None or version <= state.leader.version:
        return None
    return put(state, leader=VersionedIsr(isr, version), pending_isr=frozenset())


# -- the followers --


@action(follower=followers)
@kafka(
    "ReplicaFetcherThread.processPartitionData; Partition.updateFollowerFetchState",
    versions="2.7–4.3",
    simplified="one record a fetch; the leader learns the follower's new end offset in the same step, a fetch early",
)
def follower_replicate(state: State, *, follower: BrokerId) -> State | None:
    """A follower copies the next record of the leader, and the leader knows it."""
    if state.offsets[follower] >= state.offsets[LEADER]:
        return None
    return put(state, offsets={follower: state.offsets[follower] + 1})


def machine(rules: AsyncIsrRules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the asynchronous ISR machine: one controller, one fixed leader, and followers."""
    return Machine(
        name="async_isr",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            controller_shrink_isr,
            controller_handle_request,
            leader_request_shrink_isr,
            leader_request_expand_isr,
            leader_write,
            leader_handle_update,
            follower_replicate,
        ),
        interchangeable={"broker": tuple(followers(bounds))},
    )


# -- helpers --


def decide(state: State, bounds: Bounds, isr: Isr) -> State | None:
    """Record a decision of the controller under the next version, and publish it."""
    version = state.controller.version + 1
    if version > bounds.max_version:
        return None
    return put(state, controller=VersionedIsr(isr, version), updates={version: isr})


def propose(state: State, isr: Isr) -> State:
    """Send a proposal under the version that the leader knows, and count it as pending."""
    version = state.leader.version
    return put(state, pending_isr=state.pending_isr | isr, requests={version: state.requests[version] | {isr}})


def proposed(state: State, version: int, follower: BrokerId) -> Isr | None:
    """Return the ISR of a proposal made under this version that changes this follower's membership."""
    isr = state.updates[version]
    return None if isr is None else isr ^ {follower}
