# SPDX-License-Identifier: Apache-2.0
"""The sticky assignors: balanced first, and then as few partitions as possible leave their owners.

A member tells what it owns. The eager assignor believes what it wrote into the member's user data, since the member gave
everything up; the cooperative one believes the subscription, and takes back from its answer what somebody else may still
own, so that it moves one rebalance later (KIP-429).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from attrs import frozen

from hwmark.model.machine import kafka

from .claims import Believed, Claim, Reading, believe, cooperative_claim, eager_claim
from .constrained import constrained_shares
from .general import General
from .groups import Assignment, Group, Member, TopicPartition, assignment, subscribed_topics
from .ordering import visited
from .racks import racks
from .rules import EqualSubscriptions, StickyRules, Withheld

RIGHT = StickyRules()


@frozen
class Shared:
    """An assignment, and what of it must wait until another member has given it up, where that is known already."""

    of: dict[str, list[TopicPartition]]
    claims: tuple[Claim, ...]
    believed: Believed
    moved: frozenset[TopicPartition] | None


def share(rules: StickyRules, group: Group, reading: Reading) -> Shared:
    """Share out the partitions by claims that are read in this way. ``AbstractStickyAssignor.assignPartitions``."""
    members, topics = visited(group.members), subscribed_topics(group)
    claims = tuple(reading(member) for member in members)
    believed = believe(rules, claims, {topic.name: topic.partitions for topic in topics})
    near = racks(members, topics)
    if subscriptions_equal(rules, members):
        shares = constrained_shares(topics, believed, near)
        return Shared(dict(shares.of), claims, believed, shares.moved)
    return Shared(General(rules, topics, members, claims, believed.owned, near).shares(), claims, believed, None)


def subscriptions_equal(rules: StickyRules, members: Iterable[Member]) -> bool:
    """Whether all members count as subscribed to the same topics."""
    topics = [member.topics for member in members]
    match rules.equal_subscriptions:
        case EqualSubscriptions.ALL_EQUAL:
            pass
        case EqualSubscriptions.AFTER_THE_FIRST_TOPIC:
            first = next((index for index, names in enumerate(topics) if names), 0)
            topics = topics[first:]
        case never:
            assert_never(never)
    return all(names == topics[0] for names in topics)


@kafka(
    "StickyAssignor.assign, AbstractStickyAssignor.assignPartitions",
    versions="4.3.1",
    simplified="user data is not in bytes, and always legible; partitions are numbered without gaps; those of a member are a sorted set",
)
def sticky_assignor(group: Group, rules: StickyRules = RIGHT) -> Assignment:
    """Share out the partitions, and let each stay where it was if that is balanced."""
    return assignment(share(rules, group, eager_claim).of if group.members else {})


@kafka(
    "CooperativeStickyAssignor.assignPartitions",
    versions="4.3.1",
    simplified="as sticky_assignor",
)
def cooperative_sticky_assignor(group: Group, rules: StickyRules = RIGHT) -> Assignment:
    """Share out the partitions likewise, but give nobody what another member may still own."""
    if not group.members:
        return assignment({})
    shared = share(rules, group, cooperative_claim)
    return assignment(
        {member: [one for one in given if not is_withheld(rules, shared, member, one)] for member, given in shared.of.items()}
    )


def is_withheld(rules: StickyRules, shared: Shared, member: str, partition: TopicPartition) -> bool:
    """Whether a member must wait for a partition that was meant for it."""
    match rules.withheld:
        case Withheld.NOTHING:
            return False
        case Withheld.CLAIMED:
            claimed = any(partition in claim.partitions for claim in shared.believed.heard)
            return claimed and partition not in shared.believed.owned[member]
        case Withheld.REVOKED_AND_ADDED:
            if shared.moved is not None:
                return partition in shared.moved
            claimants = {claim.member.id for claim in shared.claims if partition in claim.partitions}
            return member not in claimants and any(partition not in shared.of[one] for one in claimants)
        case never:
            assert_never(never)
