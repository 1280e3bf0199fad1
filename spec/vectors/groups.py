# SPDX-License-Identifier: Apache-2.0
"""Vectors about assignors: which member of a group gets which partitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hwmark.model.assignors.groups import Group, Member, Topic
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.round_robin import round_robin_assignor
from hwmark.model.assignors.sticky import cooperative_sticky_assignor, sticky_assignor
from hwmark.spec.assignors.questions import Scope, questions

from .vector_set import VectorSet, every

GROUP = (
    "`members` say which `topics` they subscribe to, what they `owned`, and since which `generation`; "
    "the answer has the partitions of each."
)


def fresh() -> Iterator[Group]:
    """Yield groups whose members own nothing yet: the sizes that S8 names, and others; some members read one topic of two."""
    for partitions, members in product((1, 3, 4, 7), (1, 2, 3, 4, 8)):
        yield Group((Topic("t", partitions),), tuple(Member(f"m{number}", ("t",)) for number in range(members)))
    for partitions, others in product((1, 2, 5), (1, 2, 3)):
        topics = (Topic("t", partitions), Topic("u", others))
        yield Group(topics, (Member("a", ("t", "u")), Member("b", ("t",)), Member("c", ("u", "t"))))


def claimed() -> Iterator[Group]:
    """Yield groups whose members own something, also such as is claimed twice or by a member of an earlier generation."""
    yield from fresh()
    yield from every(questions(Scope(partitions=3, claims=3)), 7, 120)
    yield from every(questions(Scope(topics=2, partitions=2, claims=2, differ=True)), 53, 60)


ASSIGNORS = (
    VectorSet("range_assignor", GROUP, "RangeAssignor.assignPartitions", ("S8-assignors",), range_assignor, fresh),
    VectorSet("round_robin_assignor", GROUP, "RoundRobinAssignor.assignPartitions", ("S8-assignors",), round_robin_assignor, fresh),
    VectorSet("sticky_assignor", GROUP, "StickyAssignor.assign", ("S8-assignors", "A01"), sticky_assignor, claimed),
    VectorSet(
        "cooperative_sticky_assignor",
        f"{GROUP} What another member still has is withheld from its new owner for one rebalance.",
        "CooperativeStickyAssignor.assign",
        ("S8-assignors", "K-429", "A01", "A03"),
        cooperative_sticky_assignor,
        claimed,
    ),
)
