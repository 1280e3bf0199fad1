# SPDX-License-Identifier: Apache-2.0
"""Who owns what before an assignor is asked, as far as the members' claims can be believed."""

from __future__ import annotations

from hwmark.model.assignors.claims import Reading
from hwmark.model.assignors.groups import Group, Member, TopicPartition, subscribed_topics


def claimants(group: Group, reading: Reading) -> dict[TopicPartition, tuple[str, ...]]:
    """Return who claims each existing partition that is shared out, of whatever generation."""
    claims = [reading(member) for member in group.members]
    existing = {one for topic in subscribed_topics(group) for one in topic.all_partitions()}
    return {one: tuple(claim.member.id for claim in claims if one in claim.partitions) for one in existing}


def owners(group: Group, reading: Reading) -> dict[TopicPartition, str | None]:
    """Return the owner of each claimed partition: the only one to claim it in the newest generation of its claims, if it is alone."""
    claims = {claim.member.id: claim for claim in map(reading, group.members)}
    newest: dict[TopicPartition, str | None] = {}
    for one, members in claimants(group, reading).items():
        if members:
            age = max(claims[member].age for member in members)
            those = [member for member in members if claims[member].age == age]
            newest[one] = those[0] if len(those) == 1 else None
    return newest


def kept_by_subscribers(group: Group, reading: Reading) -> dict[str, tuple[TopicPartition, ...]]:
    """Return what each member owns of the topics that it still subscribes to."""

    def kept(member: Member) -> tuple[TopicPartition, ...]:
        return tuple(one for one, owner in owned.items() if owner == member.id and one.topic in member.topics)

    owned = owners(group, reading)
    return {member.id: kept(member) for member in group.members}
