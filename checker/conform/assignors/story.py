# SPDX-License-Identifier: Apache-2.0
"""A group and its assignment as a table: for each member what it tells, and what it gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hwmark.checker.conform.found import Story
from hwmark.checker.formats import assignments
from hwmark.model.assignors.groups import Assignment, Group, Member, Topic, TopicPartition


def story(group: Group, answer: Assignment | None, witness: Mapping[str, Any]) -> Story:
    """Tell of a group, what each member got, and what is wrong with that."""
    columns = {"member": [member.id for member in group.members], "subscribes to": [names(member.topics) for member in group.members]}
    if any(member.instance_id for member in group.members):
        columns["static as"] = [member.instance_id or "" for member in group.members]
    if any(member.rack for member in group.members):
        columns["in rack"] = [member.rack or "" for member in group.members]
    if any(member.owned or member.user_data for member in group.members):
        columns["claims"] = [claims(member) for member in group.members]
    columns["gets"] = ["no answer" if answer is None else partitions(answer.get(member.id, ())) for member in group.members]
    topics = ", ".join(map(described, group.topics))
    return Story(
        f"Topics: {topics or 'none'}.", tuple(columns), tuple(zip(*columns.values(), strict=True)), f"Wrong: {assignments(witness)}."
    )


def described(topic: Topic) -> str:
    """Return a topic with its partitions, and their racks where they have any."""
    count = f"{topic.name} with {topic.partitions} partition{'' if topic.partitions == 1 else 's'}"
    racks = "; ".join(f"{number} in {names(topic.racks_of(number))}" for number in range(len(topic.racks)))
    return f"{count} ({racks})" if racks else count


def claims(member: Member) -> str:
    """Return what a member says that it owns, and of which generation, in each place where it says so."""
    told = [(partitions(member.owned), member.generation)] if member.owned or member.generation is not None else []
    if member.user_data is not None:
        data = partitions(member.user_data.partitions), member.user_data.generation
        told += [] if told == [data] else [data]
    return " / ".join(f"{owned or 'nothing'} ({'no generation' if age is None else f'generation {age}'})" for owned, age in told)


def partitions(given: Iterable[TopicPartition]) -> str:
    """Return partitions in order."""
    return ", ".join(map(str, sorted(given)))


def names(given: Iterable[str]) -> str:
    """Return names in order."""
    return ", ".join(sorted(given))
