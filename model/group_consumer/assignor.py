# SPDX-License-Identifier: Apache-2.0
"""How the coordinator comes to a target assignment: balanced and sticky, or any legal one.

All members subscribe to the same topics. Kafka goes through members and partitions in the order of hash maps, which is any
order; here it is that of their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hwmark.model.ownership import MemberId

from .reconciliation import Partitions

Targets = Mapping[MemberId, Partitions]


def uniform(former: Targets, partitions: int) -> Targets:
    """Return a target for each member, given its former one (``UniformHomogeneousAssignmentBuilder.build``).

    Everybody keeps up to its share, what is left over fills up the others, and shares differ by one at most.
    """
    members = sorted(former)
    taken = frozenset[int]().union(*former.values())
    unassigned = [partition for partition in range(partitions) if partition not in taken]
    share, larger = divmod(partitions, len(members))
    kept, missing = {}, {}
    for place, member in enumerate(members):
        quota, is_larger = share + (larger > 0), larger > 0
        kept[member] = sorted(former[member])[:quota]
        unassigned += sorted(former[member])[quota:]
        quota -= len(kept[member])
        if quota > 0 and is_larger and len(members) - place > larger:
            quota, is_larger = quota - 1, False
        missing[member] = quota
        larger -= is_larger
    return {member: frozenset((*kept[member], *(unassigned.pop(0) for _ in range(missing[member])))) for member in members}


def legal(members: Sequence[MemberId], partitions: int, assignment: int, numbered: int) -> Targets | None:
    """Return the assignment of this number: its digits in base ``numbered`` name the member of each partition.

    ``None`` if one of them is no member.
    """
    targets: dict[MemberId, set[int]] = {member: set() for member in members}
    for partition in range(partitions):
        assignment, member = divmod(assignment, numbered)
        if member not in targets:
            return None
        targets[member].add(partition)
    return {member: frozenset(given) for member, given in targets.items()}
