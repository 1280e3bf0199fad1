# SPDX-License-Identifier: Apache-2.0
"""How the group's leader spreads the partitions of one topic: range, and cooperative-sticky.

Both are small and exact for what the machine needs, members that subscribe to the same topic. Members are taken in the
order of their seats; Kafka takes them in that of their instance ids and member ids.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import assert_never

from .rules import Claims, Rules, Transfer
from .state import Assignor, Claim, MemberId, PartitionId, Partitions

Shares = dict[MemberId, set[PartitionId]]


def assign(rules: Rules, assignor: Assignor, claims: Mapping[MemberId, Claim], count: int) -> dict[MemberId, Partitions]:
    """Return what each member gets of so many partitions; ``claims`` are in the order in which members are taken."""
    match assignor:
        case Assignor.RANGE:
            return range_shares(list(claims), count)
        case Assignor.COOPERATIVE_STICKY:
            return cooperative_sticky_shares(rules, claims, count)
        case _:
            assert_never(assignor)


def range_shares(members: list[MemberId], count: int) -> dict[MemberId, Partitions]:
    """Give each member a range, the first ones one partition more (``RangeAssignor``)."""
    least, extra = divmod(count, len(members))
    shares, start = {}, 0
    for rank, member in enumerate(members):
        end = start + least + (rank < extra)
        shares[member] = frozenset(range(start, end))
        start = end
    return shares


def cooperative_sticky_shares(rules: Rules, claims: Mapping[MemberId, Claim], count: int) -> dict[MemberId, Partitions]:
    """Let members keep what they own up to a balanced share, and share out the rest.

    What moves is withheld from its next owner (``CooperativeStickyAssignor``, ``AbstractStickyAssignor``).
    """
    owned = believed(rules, claims)
    least, extra = divmod(count, len(claims))
    shares: Shares = {}
    for member in claims:
        mine = sorted(owned[member])
        keeps_more = len(mine) > least and extra > 0
        extra -= keeps_more
        shares[member] = set(mine[: least + keeps_more])
    share_rest(shares, count, least, may_get_more=extra > 0)
    return {
        member: frozenset(one for one in share if one in owned[member] or not is_withheld(rules, claims, one))
        for member, share in shares.items()
    }


def share_rest(shares: Shares, count: int, least: int, *, may_get_more: bool) -> None:
    """Give what nobody keeps round to whoever has too few, and then to those that have enough and may get one more.

    Where claims overlap, so that nobody has room any more, it goes to whoever has the fewest.
    """
    short = deque(member for member, share in shares.items() if len(share) < least)
    enough = deque(member for member, share in shares.items() if len(share) == least and may_get_more)
    kept = {partition for share in shares.values() for partition in sorted(share)}
    for partition in range(count):
        if partition in kept:
            continue
        receiver = short.popleft() if short else enough.popleft() if enough else min(shares, key=lambda one: len(shares[one]))
        shares[receiver].add(partition)
        if len(shares[receiver]) < least:
            short.append(receiver)
        elif len(shares[receiver]) == least:
            enough.append(receiver)


def believed(rules: Rules, claims: Mapping[MemberId, Claim]) -> dict[MemberId, Partitions]:
    """Return which of its claims each member is believed."""
    match rules.claims:
        case Claims.NEWEST:
            return {member: frozenset(p for p in claim.partitions if is_newest(claims, member, p)) for member, claim in claims.items()}
        case Claims.NEWEST_GENERATION_ONLY:
            newest = max(claim.generation for claim in claims.values())
            of_newest = {member: claim if claim.generation == newest else Claim() for member, claim in claims.items()}
            return {
                member: frozenset(p for p in claim.partitions if is_newest(of_newest, member, p)) for member, claim in of_newest.items()
            }
        case Claims.ALL:
            return {member: claim.partitions for member, claim in claims.items()}
        case _:
            assert_never(rules.claims)


def is_newest(claims: Mapping[MemberId, Claim], member: MemberId, partition: PartitionId) -> bool:
    """Whether a member's claim to a partition is of a higher generation than everybody else's."""
    generation = claims[member].generation
    return all(generation > other.generation for other in rivals(claims, member, partition))


def rivals(claims: Mapping[MemberId, Claim], member: MemberId, partition: PartitionId) -> Iterable[Claim]:
    """Return the claims of others to a partition."""
    return [claim for other, claim in claims.items() if other != member and partition in claim.partitions]


def is_withheld(rules: Rules, claims: Mapping[MemberId, Claim], partition: PartitionId) -> bool:
    """Whether nobody gets a partition yet that is not believed to be its own: somebody has to give it up first."""
    match rules.transfer:
        case Transfer.AFTER_REVOCATION:
            return any(partition in claim.partitions for claim in believable(rules, claims))
        case Transfer.AT_ONCE:
            return False
        case _:
            assert_never(rules.transfer)


def believable(rules: Rules, claims: Mapping[MemberId, Claim]) -> list[Claim]:
    """Return the claims that are looked at."""
    match rules.claims:
        case Claims.NEWEST | Claims.ALL:
            return list(claims.values())
        case Claims.NEWEST_GENERATION_ONLY:
            newest = max(claim.generation for claim in claims.values())
            return [claim for claim in claims.values() if claim.generation == newest]
        case _:
            assert_never(rules.claims)
