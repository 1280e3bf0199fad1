# SPDX-License-Identifier: Apache-2.0
"""Programs about a group: two members that mostly do what is right, as the model sees it, and now and then something else.

They are drawn at random, and not varied as Hypothesis does it: there are many rules to come to, and not one to break.
"""

from __future__ import annotations

from enum import Enum
from random import Random
from typing import Any

from attrs import evolve, fields, frozen

from hwmark.model.broker_api import answer
from hwmark.model.broker_api.answering import is_asked
from hwmark.model.broker_api.groups.requests import (
    Await,
    ConsumerGroupHeartbeat,
    DeleteGroup,
    DescribeGroup,
    Epoch,
    FindCoordinator,
    Heartbeat,
    Identity,
    JoinGroup,
    LeaveGroup,
    Metadata,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    Owned,
    ProtocolType,
    Said,
    Subscription,
    SyncGroup,
)
from hwmark.model.broker_api.groups.state import Phase
from hwmark.model.broker_api.state import State

from .partition_programs import PRODUCERS
from .programs import Program, Share, by_chance

MEMBERS = ("a", "b")
INSTANCES: tuple[tuple[str | None, str | None], ...] = ((None, None), (None, None), ("i", None), ("i", "j"), ("i", "i"))
"""Which static members the two are, if they are."""
FEWEST, MOST, AT_FIRST = 3, 16, 16
"""How many requests are drawn, and how many may come before, until the members are where they are to be."""


class Kind(Enum):
    """Which protocol a member speaks."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    BY_HAND = "by_hand"
    """None: it commits by hand."""


KINDS = (
    *((Kind.CLASSIC, Kind.CLASSIC),) * 4,
    *((Kind.CONSUMER, Kind.CONSUMER),) * 4,
    *((Kind.BY_HAND, Kind.BY_HAND),) * 2,
    (Kind.CLASSIC, Kind.CONSUMER),
)


@frozen
class Member:
    """A member of a program: its name, its instance, which protocol it speaks, and the type of the group that it has in mind."""

    name: str
    instance: str | None
    kind: Kind
    protocol_type: ProtocolType = ProtocolType.CONSUMER


def drawn(rng: Random) -> Program:
    """Draw a program: of members of one protocol, or, seldom, of one of each, or of none."""
    instances, kinds, type_ = rng.choice(INSTANCES), rng.choice(KINDS), rng.choice((*(ProtocolType.CONSUMER,) * 6, ProtocolType.OTHER))
    both = tuple(Member(*one, type_) for one in zip(MEMBERS, instances, kinds, strict=True))
    members = rng.choice((both, both, both[:1]))
    phases = (Phase.COMPLETING, Phase.STABLE) if len(members) == 1 else (Phase.PREPARING, Phase.COMPLETING, Phase.STABLE)
    state, steps = played(rng.choice(BEGINNINGS)) if rng.random() < SELDOM else arrived(members, rng.choice((None, *phases, *phases)))
    for _ in range(rng.randint(FEWEST, MOST)):
        member, chance = rng.choice(members), rng.random()
        request = right(state, member) if chance < 0.4 else rng.choice(possible(rng, member))
        if steps and isinstance(steps[-1], UNSEEN) and rng.random() < 0.5:
            request = rng.choice((OffsetFetch(), DescribeGroup()))
        elif 0.25 < chance < 0.4 or chance > 0.7:
            request = varied(rng, request)
        state, steps = with_request(state, steps, request)
    return steps or (JoinGroup(),)


UNSEEN = (OffsetCommit, OffsetDelete, DeleteGroup)
"""What is seen only if one looks."""


BEAT = ConsumerGroupHeartbeat(epoch=Epoch.RIGHT, owned=Owned.UNSAID, subscription=Subscription.UNSAID)
PAIR = (JoinGroup(), JoinGroup(), JoinGroup("b"), JoinGroup("b"), JoinGroup(), Await("b"))
"""Two members come to one generation, and have no assignment yet."""
BEGINNINGS: tuple[Program, ...] = (
    (*PAIR, SyncGroup("b"), JoinGroup(metadata=1), Heartbeat("b")),
    (*PAIR, SyncGroup("b"), LeaveGroup()),
    (*PAIR, SyncGroup("b"), SyncGroup(), Await("b"), LeaveGroup(), SyncGroup("b")),
    (*(JoinGroup(protocol_type=ProtocolType.OTHER),) * 2, SyncGroup(), OffsetDelete()),
    (ConsumerGroupHeartbeat(), ConsumerGroupHeartbeat("b"), BEAT),
    (ConsumerGroupHeartbeat(), ConsumerGroupHeartbeat("b"), evolve(BEAT, owned=Owned.PARTITION, subscription=Subscription.NOTHING)),
    (
        ConsumerGroupHeartbeat(),
        evolve(BEAT, owned=Owned.PARTITION, subscription=Subscription.NOTHING),
        evolve(BEAT, owned=Owned.NOTHING, subscription=Subscription.TOPIC),
    ),
    (ConsumerGroupHeartbeat(instance="i"), evolve(BEAT, epoch=Epoch.LEAVE_STATIC, instance="i"), ConsumerGroupHeartbeat("b", instance="i")),
    (OffsetCommit(3, metadata=Metadata.SOME),),
)
"""What chance seldom comes to."""
SELDOM = 0.25


def played(program: Program) -> tuple[State, Program]:
    """Return what a program leads to, and the program."""
    state = State()
    for request in program:
        state = answer(state, request).state
    return state, program


def with_request(state: State, steps: Program, request: Any) -> tuple[State, Program]:
    """Return what a program and one more request lead to; one that nobody can answer surely is left out."""
    return (answer(state, request).state, (*steps, request)) if is_asked(state, request) else (state, steps)


def arrived(members: tuple[Member, ...], phase: Phase | None) -> tuple[State, Program]:
    """Return what members do, one after the other, until all are in a group in this phase; ``None``: nothing at all."""
    state, steps = played(())
    if phase is None or members[0].kind is Kind.BY_HAND or len({one.kind for one in members}) > 1:
        return state, ()
    while len(steps) < AT_FIRST:
        for member in members:
            state, steps = with_request(state, steps, right(state, member))
            if is_at(state, len(members), phase):
                return state, steps
    return state, steps


def is_at(state: State, count: int, phase: Phase) -> bool:
    """Whether so many members are in a group in this phase, and have heard what there is to hear."""
    groups, group = state.groups, state.groups.classic
    if group is not None and phase is Phase.PREPARING:
        return group.phase is phase
    is_there = len(groups.member_ids) == count and not groups.heard
    return is_there and (group is None or (group.phase is phase and not groups.waiting))


def right(state: State, member: Member) -> Any:
    """Return what a member does next."""
    match member.kind:
        case Kind.CLASSIC:
            return right_request(state, member)
        case Kind.CONSUMER:
            return right_beat(state, member)
        case Kind.BY_HAND:
            return OffsetCommit(state.groups.committed.offset + 1 if state.groups.committed is not None else 0)


def right_request(state: State, member: Member) -> Any:
    """Return what a member of the classic protocol does next: join, bring or ask for assignments, or say that it is there."""
    groups, group, name = state.groups, state.groups.classic, member.name
    if name in dict(groups.heard):
        return Await(name)
    known = None if group is None else group.member(groups.of(name).last_id)
    is_pending = group is not None and groups.of(name).last_id in group.pending
    if group is None or known is None or group.phase is Phase.PREPARING:
        identity = Identity.RIGHT if known is not None or is_pending else Identity.NONE
        return JoinGroup(name, identity, member.instance, member.protocol_type)
    if group.phase is Phase.COMPLETING:
        return SyncGroup(name, instance=member.instance)
    return Heartbeat(name, instance=member.instance)


def right_beat(state: State, member: Member) -> Any:
    """Return what a member of the consumer protocol does next: join, or say that it is there, and what it owns where that changes."""
    group = state.groups.consumer
    known = None if group is None else group.member(state.groups.of(member.name).last_id)
    if known is None or known.epoch <= 0:
        identity = Identity.NEW if state.groups.of(member.name).ids else Identity.RIGHT
        return ConsumerGroupHeartbeat(member.name, identity, instance=member.instance)
    owned = Owned.NOTHING if known.revoked is not None else Owned.UNSAID
    return ConsumerGroupHeartbeat(member.name, Identity.RIGHT, Epoch.RIGHT, member.instance, owned, Subscription.UNSAID)


def possible(rng: Random, member: Member) -> tuple[Any, ...]:
    """Return some of what a member, or somebody else, may ask at any time."""
    name, instance = member.name, member.instance
    common = (OffsetFetch(), OffsetDelete(), DescribeGroup(), DeleteGroup(), FindCoordinator(), OffsetCommit(1))
    by_hand = (*(OffsetCommit(2, metadata=one) for one in Metadata), OffsetDelete(), DeleteGroup(), OffsetFetch())
    as_member = (
        OffsetCommit(2, name, Identity.RIGHT, Epoch.RIGHT, instance),
        OffsetCommit(3, name, Identity.RIGHT, rng.choice((Epoch.PREVIOUS, Epoch.OLDER, Epoch.NEWER)), instance),
        OffsetFetch(name, Identity.RIGHT, rng.choice((Epoch.RIGHT, Epoch.PREVIOUS))),
    )
    classic = (
        JoinGroup(name, Identity.RIGHT, instance, member.protocol_type),
        JoinGroup(name, Identity.RIGHT, instance, member.protocol_type, metadata=1),
        JoinGroup(name, Identity.NONE, instance, member.protocol_type),
        SyncGroup(name, instance=instance, protocol=rng.choice(tuple(Said))),
        Heartbeat(name, instance=instance),
        LeaveGroup(name, instance=instance),
    )
    in_a_rebalance = (classic[1], SyncGroup(name, instance=instance), *classic[-2:], as_member[0])
    beat = ConsumerGroupHeartbeat(name, Identity.RIGHT, Epoch.RIGHT, instance, Owned.UNSAID, Subscription.UNSAID)
    consumer = (
        Heartbeat(name, instance=instance),
        ConsumerGroupHeartbeat(name, instance=instance),
        evolve(beat, epoch=Epoch.PREVIOUS, owned=Owned.NOTHING),
        evolve(beat, owned=Owned.PARTITION, subscription=Subscription.NOTHING),
        evolve(beat, owned=Owned.PARTITION, subscription=Subscription.TOPIC),
        evolve(beat, epoch=Epoch.LEAVE),
        evolve(beat, epoch=Epoch.LEAVE_STATIC, instance=rng.choice((None, "i"))),
    )
    match member.kind:
        case Kind.CLASSIC:
            return rng.choice((common, as_member, classic, classic, in_a_rebalance, in_a_rebalance, consumer[1:3]))
        case Kind.CONSUMER:
            return rng.choice((common, as_member, consumer, consumer, consumer, (*classic[:2], SyncGroup(name))))
        case Kind.BY_HAND:
            return rng.choice((common, by_hand))


def varied(rng: Random, request: Any) -> Any:
    """Return a request with one or two of its fields other than they were."""
    names = fields(type(request))
    for one in rng.sample(names, min(len(names), rng.choice((1, 1, 1, 2)))):
        request = evolve(request, **{one.name: rng.choice(domain(one.name, getattr(request, one.name)))})
    return request


DOMAINS: dict[str, tuple[Any, ...]] = {
    "member": MEMBERS,
    "instance": (None, "i", "j"),
    "producer": PRODUCERS,
    "producer_epoch": (0, -1, 1),
}
"""The values of fields that are no numbers from 0 to 3, nor members of an enumeration."""


def domain(name: str, value: Any) -> tuple[Any, ...]:
    """Return the values that a field may have."""
    if isinstance(value, Enum):
        return tuple(type(value))
    if isinstance(value, bool):
        return (False, True)
    return DOMAINS.get(name, (0, 1, 2, 3))


PROGRAMS: tuple[Share, ...] = ((1, by_chance(drawn)),)
"""All of one kind."""
