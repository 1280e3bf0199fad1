# SPDX-License-Identifier: Apache-2.0
"""What every answer of an assignor must be: whole, without overlap, and in whom it gives what to whom.

How balanced and how sticky an answer is, each assignor promises for itself: see ``balance`` and ``stickiness``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from hwmark.model.assignors.claims import cooperative_claim
from hwmark.model.assignors.groups import Assignment, Group, Member, TopicPartition, subscribed_topics, subscribers
from hwmark.spec.function import contract
from hwmark.spec.property import Witness, witness

from .claims import claimants, owners


def written(share: tuple[TopicPartition, ...]) -> tuple[str, ...]:
    """Return partitions as witnesses name them."""
    return tuple(map(str, share))


def all_equal(group: Group) -> bool:
    """Whether all members subscribe to the same topics."""
    return len({member.topics for member in group.members}) <= 1


def all_static(group: Group) -> bool:
    """Whether every member is static."""
    return all(member.instance_id is not None for member in group.members)


def without_racks(group: Group) -> bool:
    """Whether no member tells a rack."""
    return not any(member.rack for member in group.members)


# -- whose is what --


@contract(sources=("S8-assignors",))
def every_partition_has_an_owner(group: Group, answer: Assignment) -> Witness | None:
    """Every partition of a topic that somebody subscribes to is given to a member."""
    given = {one for share in answer.values() for one in share}
    for topic in subscribed_topics(group):
        for one in topic.all_partitions():
            if one not in given:
                return witness(partition=str(one), subscribers=tuple(member.id for member in subscribers(group, topic.name)))
    return None


@contract(sources=("S8-assignors", "K-429"))
def every_partition_has_an_owner_or_waits(group: Group, answer: Assignment) -> Witness | None:
    """Every partition of a topic that somebody subscribes to is given to a member, unless one that claims it must give it up first."""
    given = {one for share in answer.values() for one in share}
    claimed = claimants(group, cooperative_claim)
    for topic in subscribed_topics(group):
        for one in topic.all_partitions():
            if one not in given and not claimed[one]:
                return witness(partition=str(one), subscribers=tuple(member.id for member in subscribers(group, topic.name)))
    return None


@contract(sources=("S8-assignors", "A01"))
def one_owner(group: Group, answer: Assignment) -> Witness | None:
    """No partition is given to two members, nor twice to one."""
    owner: dict[TopicPartition, str] = {}
    for member, share in answer.items():
        for one in share:
            if one in owner:
                return witness(partition=str(one), members=(owner[one], member))
            owner[one] = member
    return None


@contract(sources=("S8-assignors",))
def only_subscribed(group: Group, answer: Assignment) -> Witness | None:
    """Members get only partitions that exist, of topics that they subscribe to."""
    members = {member.id: member for member in group.members}
    existing = {one for topic in group.topics for one in topic.all_partitions()}
    for member, share in answer.items():
        for one in share:
            if member not in members or one.topic not in members[member].topics or one not in existing:
                return witness(member=member, partition=str(one), exists=one in existing)
    return None


@contract(sources=("S8-assignors", "K-429", "A03"))
def moves_in_two_steps(group: Group, answer: Assignment) -> Witness | None:
    """Nobody is given a partition that another member claims, but for its owner, the only one to claim it in the newest generation."""
    claimed, owned = claimants(group, cooperative_claim), owners(group, cooperative_claim)
    for member, share in answer.items():
        for one in share:
            others = tuple(claimant for claimant in claimed.get(one, ()) if claimant != member)
            if others and owned[one] != member:
                return witness(partition=str(one), given_to=member, claimed_by=others)
    return None


# -- the same answer --


def once_more(group: Group) -> tuple[Group, ...]:
    """Ask the same again."""
    return (group,)


def in_other_orders(group: Group) -> tuple[Group, ...]:
    """Ask about the members listed backwards, and from the second one on."""
    first, *others = group.members
    return evolve(group, members=group.members[::-1]), evolve(group, members=(*others, first))


def restarted(group: Group) -> tuple[Group, ...]:
    """Ask about static members that come back under other member ids, in another order."""
    count = len(group.members)
    return (evolve(group, members=tuple(evolve(one, id=f"r{count - index:03}") for index, one in enumerate(group.members))),)


def shares_of(answer: Assignment) -> Mapping[str, Any]:
    """Return an answer without empty shares: whether these are told does not matter."""
    return {member: sorted(share) for member, share in answer.items() if share}


def difference(answer: Assignment, other: Assignment) -> Witness | None:
    """Return the first member to whom two answers give something else."""
    for member in sorted(answer.keys() | other.keys()):
        one, another = answer.get(member, ()), other.get(member, ())
        if sorted(one) != sorted(another):
            return witness(member=member, first=written(one), then=written(another))
    return None


@contract(sources=("S8-assignors",), again=once_more)
def same_answer_again(group: Group, answer: Assignment, *others: Assignment) -> Witness | None:
    """The same question has the same answer."""
    return next(filter(None, (difference(answer, other) for other in others)), None)


@contract(sources=("S8-assignors",), again=in_other_orders)
def any_order_of_members(group: Group, answer: Assignment, *others: Assignment) -> Witness | None:
    """The order in which members are listed does not matter."""
    return next(filter(None, (difference(answer, other) for other in others)), None)


@contract(sources=("K-345",), when=all_static, again=restarted)
def static_members_keep_their_place(group: Group, answer: Assignment, *others: Assignment) -> Witness | None:
    """Where all members are static, the member ids under which they come back do not matter."""
    (other,) = others
    (again,) = restarted(group)
    renamed: list[tuple[Member, Member]] = list(zip(group.members, again.members, strict=True))
    return difference(answer, {before.id: other.get(after.id, ()) for before, after in renamed})
