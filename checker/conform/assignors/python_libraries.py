# SPDX-License-Identifier: Apache-2.0
"""The assignors of ``kafka-python`` and ``aiokafka``, asked as the leader of a group would ask them.

What a member tells is built, and where the library does so read back, by the library itself; what depends on an earlier
assignment is told by an assignor of the library that was given that assignment.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any

from hwmark.model.assignors.claims import NO_GENERATION
from hwmark.model.assignors.groups import Assignment, Group, Member, TopicPartition, UserData

from .subjects import NotInstalledError, Subject


class Cluster:
    """What of a cluster's metadata assignors look at."""

    def __init__(self, group: Group) -> None:
        """Know the topics of a group that have partitions."""
        self._partitions = {topic.name: set(range(topic.partitions)) for topic in group.topics if topic.partitions}

    def topics(self) -> set[str]:
        """Return the names of all topics."""
        return set(self._partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the numbers of the partitions of a topic, or ``None`` for one that does not exist."""
        numbers = self._partitions.get(topic)
        return None if numbers is None else set(numbers)


def by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    """Return partitions as the wire has them: numbers by topic."""
    numbers: dict[str, list[int]] = {}
    for one in partitions:
        numbers.setdefault(one.topic, []).append(one.partition)
    return list(numbers.items())


def assigned(answer: Mapping[str, Any]) -> Assignment:
    """Return what a library's answer gives to each member."""
    return {
        member: tuple(TopicPartition(topic, number) for topic, numbers in share.assignment for number in numbers)
        for member, share in answer.items()
    }


def installed(distribution: str) -> str:
    """Return the version of a distribution that is installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        raise NotInstalledError(f"not installed: pip install {distribution}, or pip install 'hwmark[clients]'") from None


class KafkaPython:
    """``kafka.coordinator.assignors`` of ``kafka-python``."""

    def __init__(self) -> None:
        """Import it, if it is installed."""
        self.version = installed("kafka-python")
        self._module = partial(_load, "kafka")
        self._subscription = self._module("protocol.consumer.metadata").ConsumerProtocolSubscription
        self._assignment = self._module("protocol.consumer.metadata").ConsumerProtocolAssignment

    def subjects(self) -> tuple[Subject, ...]:
        """Return its assignors."""
        range_assignor = self._module("coordinator.assignors.range").RangePartitionAssignor
        round_robin = self._module("coordinator.assignors.roundrobin").RoundRobinPartitionAssignor
        sticky = self._module("coordinator.assignors.sticky.sticky_assignor").StickyPartitionAssignor
        cooperative = self._module("coordinator.assignors.cooperative_sticky").CooperativeStickyAssignor
        static = ("static members",)
        return (
            Subject("kafka-python.range", "range", partial(self._ask, range_assignor, self._plain), static),
            Subject("kafka-python.roundrobin", "roundrobin", partial(self._ask, round_robin, self._plain), static),
            Subject("kafka-python.sticky", "sticky", partial(self._ask, sticky, partial(self._eager, sticky)), (*static, "claims")),
            Subject(
                "kafka-python.cooperative-sticky",
                "cooperative-sticky",
                partial(self._ask, cooperative, self._cooperative),
                (*static, "claims"),
            ),
        )

    def close(self) -> None:
        """There is nothing to end."""

    def _ask(self, assignor: Any, told: Any, group: Group) -> Assignment:
        members = [
            SimpleNamespace(
                member_id=member.id, group_instance_id=member.instance_id, metadata=self._subscription.decode(told(member).encode())
            )
            for member in group.members
        ]
        return assigned(assignor().assign(Cluster(group), members))

    def _plain(self, member: Member) -> Any:
        return self._subscription(version=0, topics=sorted(member.topics), user_data=b"")

    def _eager(self, sticky: Any, member: Member) -> Any:
        """Let an assignor of the member tell what it was assigned."""
        before = sticky()
        if member.user_data is not None:
            before.on_assignment(self._assignment(0, by_topic(member.user_data.partitions), b""), _age(member.user_data.generation))
        return before.metadata(sorted(member.topics))

    def _cooperative(self, member: Member) -> Any:
        """Tell what a current client tells: what it owns, and since which generation."""
        owned = [self._subscription.TopicPartition(topic=topic, partitions=numbers) for topic, numbers in by_topic(member.owned)]
        return self._subscription(
            version=3, topics=sorted(member.topics), user_data=b"", owned_partitions=owned, generation_id=_age(member.generation)
        )


class Aiokafka:
    """``aiokafka.coordinator.assignors``; its interface tells nothing of static members."""

    def __init__(self) -> None:
        """Import it, if it is installed."""
        self.version = installed("aiokafka")
        self._module = partial(_load, "aiokafka")
        self._assignment = self._module("coordinator.protocol").ConsumerProtocolMemberAssignment

    def subjects(self) -> tuple[Subject, ...]:
        """Return its assignors."""
        range_assignor = self._module("coordinator.assignors.range").RangePartitionAssignor
        round_robin = self._module("coordinator.assignors.roundrobin").RoundRobinPartitionAssignor
        sticky = self._module("coordinator.assignors.sticky.sticky_assignor").StickyPartitionAssignor
        return (
            Subject("aiokafka.range", "range", partial(self._ask, range_assignor)),
            Subject("aiokafka.roundrobin", "roundrobin", partial(self._ask, round_robin)),
            Subject("aiokafka.sticky", "sticky", partial(self._ask_sticky, sticky), ("claims",)),
        )

    def close(self) -> None:
        """There is nothing to end."""

    def _ask(self, assignor: Any, group: Group) -> Assignment:
        members = {member.id: assignor.metadata(sorted(member.topics)) for member in group.members}
        return assigned(assignor.assign(Cluster(group), members))

    def _ask_sticky(self, sticky: Any, group: Group) -> Assignment:
        """Tell each member's claim through the state that the class remembers, and let it forget that again."""
        members = {}
        for member in group.members:
            self._forget(sticky)
            data = member.user_data or UserData()
            if member.user_data is not None:
                sticky.on_assignment(self._assignment(0, by_topic(data.partitions), b""))
                sticky.on_generation_assignment(_age(data.generation))
            members[member.id] = sticky.metadata(sorted(member.topics))
        self._forget(sticky)
        answer = sticky.assign(Cluster(group), members)
        self._forget(sticky)
        return assigned(answer)

    @staticmethod
    def _forget(sticky: Any) -> None:
        sticky.member_assignment = None
        sticky.generation = sticky.DEFAULT_GENERATION_ID
        sticky._latest_partition_movements = None  # noqa: SLF001 - as before its first use


def _load(package: str, module: str) -> Any:
    with warnings.catch_warnings(action="ignore"):  # what a library still uses is not for our users to hear
        return importlib.import_module(f"{package}.{module}")


def _age(generation: int | None) -> int:
    return NO_GENERATION if generation is None else generation
