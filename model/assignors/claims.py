# SPDX-License-Identifier: Apache-2.0
"""What members say that they own, and what of it the group's leader believes.

A member that missed a generation may claim what others got meanwhile, and two members may claim the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import assert_never

from attrs import evolve, frozen

from .groups import Member, TopicPartition, UserData
from .rules import ClaimedPartitions, Claims, StickyRules

NO_GENERATION = -1
"""The generation of whoever does not tell one."""


@frozen
class Claim:
    """What a member says that it owns, and since which generation."""

    member: Member
    partitions: tuple[TopicPartition, ...]
    generation: int | None

    @property
    def age(self) -> int:
        """The generation, also where it is not told."""
        return NO_GENERATION if self.generation is None else self.generation


Reading = Callable[[Member], Claim]
"""Where an assignor finds the claim of a member."""


def eager_claim(member: Member) -> Claim:
    """Read user data alone: an eager member gave everything up before it joined. ``StickyAssignor.memberData``."""
    data = member.user_data or UserData()
    return Claim(member, data.partitions, data.generation)


def cooperative_claim(member: Member) -> Claim:
    """Read the subscription, and the generation from user data where the subscription is too old to tell it.

    ``CooperativeStickyAssignor.memberData``.
    """
    generation = member.generation
    if generation is None and member.user_data is not None:
        generation = member.user_data.generation
    return Claim(member, member.owned, generation)


@frozen
class Believed:
    """What each member keeps as owned, what nobody owns since two claim it alike, and which claims were listened to at all."""

    owned: Mapping[str, tuple[TopicPartition, ...]]
    disputed: frozenset[TopicPartition]
    heard: tuple[Claim, ...]


def believe(rules: StickyRules, claims: Iterable[Claim], counts: Mapping[str, int]) -> Believed:
    """Return what is believed of claims, in the order of the members; ``counts`` are the partitions of each topic."""
    possible = tuple(_possible(rules, claim, counts) for claim in claims)
    match rules.claims:
        case Claims.NEWEST:
            return _newest(possible)
        case Claims.IN_TURN:
            return _in_turn(possible)
        case Claims.NEWEST_GENERATION_ONLY:
            newest = max((claim.age for claim in possible), default=NO_GENERATION)
            return _newest(tuple(claim if claim.age == newest else evolve(claim, partitions=()) for claim in possible))
        case Claims.ALL:
            return Believed({claim.member.id: claim.partitions for claim in possible}, frozenset(), possible)
        case never:
            assert_never(never)


def _possible(rules: StickyRules, claim: Claim, counts: Mapping[str, int]) -> Claim:
    """Return a claim without the partitions that no member can own."""
    match rules.claimed_partitions:
        case ClaimedPartitions.EXISTING:
            kept = tuple(one for one in claim.partitions if one.partition < counts.get(one.topic, 0))
        case ClaimedPartitions.OF_EXISTING_TOPICS:
            kept = tuple(one for one in claim.partitions if one.topic in counts)
        case never:
            assert_never(never)
    return evolve(claim, partitions=kept)


def _newest(claims: tuple[Claim, ...]) -> Believed:
    """Believe of several claims to a partition the one of the highest generation, and none if two are of it."""
    owner: dict[TopicPartition, Claim] = {}
    disputed = set[TopicPartition]()
    for claim in claims:
        for partition in claim.partitions:
            rival = owner.get(partition)
            if rival is None or claim.age > rival.age:
                owner[partition] = claim
                disputed.discard(partition)
            elif claim.age == rival.age and rival is not claim:
                disputed.add(partition)
    owned = {claim.member.id: tuple(one for one in claim.partitions if owner[one] is claim and one not in disputed) for claim in claims}
    return Believed(owned, frozenset(disputed), claims)


def _in_turn(claims: tuple[Claim, ...]) -> Believed:
    """Believe claims as ``AbstractStickyAssignor.allSubscriptionsEqual`` does, member by member.

    The generation of whoever claimed a partition before is read from its subscription, which need not tell what its user
    data told, and a dispute between two stays known after a third, newer one has claimed the partition.
    """
    owned: dict[str, list[TopicPartition]] = {}
    claimant: dict[TopicPartition, Member] = {}
    disputed = set[TopicPartition]()
    for claim in claims:
        ours = owned.setdefault(claim.member.id, [])
        for partition in claim.partitions:
            rival = claimant.get(partition)
            age = NO_GENERATION if rival is None or rival.generation is None else rival.generation
            if rival is not None and claim.age < age:
                continue
            if rival is not None and partition in owned[rival.id]:
                owned[rival.id].remove(partition)
            claimant[partition] = claim.member
            if rival is None or claim.age > age:
                ours.append(partition)
            else:
                disputed.add(partition)
    return Believed({member: tuple(partitions) for member, partitions in owned.items()}, frozenset(disputed), claims)
