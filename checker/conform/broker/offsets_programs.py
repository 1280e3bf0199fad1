# SPDX-License-Identifier: Apache-2.0
"""Programs about offsets that are committed in transactions: of two producers, and of a group that has come somewhere.

They are drawn at random, as those about groups are.
"""

from __future__ import annotations

from random import Random
from typing import Any

from hwmark.model.broker_api.groups.requests import (
    DeleteGroup,
    Epoch,
    Identity,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    TxnOffsetCommit,
)
from hwmark.model.broker_api.groups.state import Phase
from hwmark.model.broker_api.partition.requests import InitProducerId, Support
from hwmark.model.broker_api.state import State
from hwmark.model.broker_api.transactions.requests import AddOffsetsToTxn, EndTxn, InitTransactions

from .groups_programs import BEGINNINGS, INSTANCES, KINDS, MEMBERS, SELDOM, Kind, Member, arrived, played, right, varied, with_request
from .partition_programs import PRODUCERS
from .programs import Program, Share, by_chance, valid

FEWEST, MOST = 3, 9
"""How many requests are drawn, before the transactions end."""
PHASES = (None, Phase.PREPARING, Phase.COMPLETING, Phase.STABLE, Phase.STABLE)
"""Where a group may have come before."""
NO_MEMBER = Member("a", None, Kind.BY_HAND)


def drawn(rng: Random) -> Program:
    """Draw a program: where a group has come to, two producers commit offsets, and end their transactions one after the other."""
    members = of_a_group(rng)
    _, steps = played(rng.choice(BEGINNINGS)) if rng.random() < SELDOM else arrived(members, rng.choice(PHASES))
    begun = tuple((InitProducerId if rng.random() < 0.05 else InitTransactions)(name) for name in PRODUCERS)
    supports = {name: rng.choice(tuple(Support)) for name in PRODUCERS}
    adding = (AddOffsetsToTxn(name) for name, support in supports.items() if support is not Support.ADDS and rng.random() < 0.8)
    state, steps = played((*steps, *begun, *adding))
    for _ in range(rng.randint(FEWEST, MOST)):
        member, name = rng.choice(members), rng.choice((*PRODUCERS, "p"))
        state, steps = with_request(state, steps, request_of(rng, state, member, name, supports[name]))
    for name in rng.sample(PRODUCERS, 2):
        state, steps = with_request(state, steps, end_of(rng, name, supports[name]))
        state, steps = with_request(state, steps, OffsetFetch(require_stable=rng.random() < 0.5))
    return valid((*steps, OffsetFetch()))


def of_a_group(rng: Random) -> tuple[Member, ...]:
    """Return who is in the group, or commits without being in it."""
    both = tuple(
        Member(name, instance, kind) for name, instance, kind in zip(MEMBERS, rng.choice(INSTANCES), rng.choice(KINDS), strict=True)
    )
    return rng.choice((both, both[:1], (NO_MEMBER,)))


def request_of(rng: Random, state: State, member: Member, name: str, support: Support) -> Any:
    """Return what comes next: mostly an offset of a transaction, rightly committed or not."""
    chance = rng.random()
    if chance < 0.3:
        return in_transaction(rng, state, member, name, support)
    if chance < 0.65:
        return varied(rng, in_transaction(rng, state, member, name, support))
    if chance < 0.75:
        return right(state, member)
    return rng.choice(
        (
            OffsetFetch(require_stable=True),
            OffsetFetch(require_stable=True),
            OffsetFetch(),
            OffsetCommit(rng.randint(10, 12)),
            OffsetCommit(rng.randint(10, 12)),
            OffsetDelete(),
            DeleteGroup(),
            AddOffsetsToTxn(name, rng.choice((0, 0, -1))),
            end_of(rng, name, support),
        )
    )


def in_transaction(rng: Random, state: State, member: Member, name: str, support: Support) -> TxnOffsetCommit:
    """Return the commit of a member, as it is now, or of somebody who says that it is none."""
    offset, is_member = rng.randint(0, 9), member.name in dict(state.groups.told) and rng.random() < 0.7
    if not is_member:
        return TxnOffsetCommit(name, offset, support=support)
    epoch = rng.choice((Epoch.RIGHT, Epoch.RIGHT, Epoch.PREVIOUS, Epoch.NEWER))
    return TxnOffsetCommit(name, offset, 0, support, member.name, Identity.RIGHT, epoch, member.instance)


def end_of(rng: Random, name: str, support: Support) -> Any:
    """Return how a transaction may end: by its producer, or by another one of the same name that begins."""
    if rng.random() < 0.1:
        return InitTransactions(name)
    return EndTxn(name, commit=rng.random() < 0.7, bumps=support is Support.ADDS)


PROGRAMS: tuple[Share, ...] = ((1, by_chance(drawn)),)
"""All of one kind."""
