# SPDX-License-Identifier: Apache-2.0
"""The model's assignors against Kafka's own, on the same groups."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hwmark.checker.conform.assignors.draw import Shape, groups
from hypothesis import HealthCheck, given, settings
from jvm import Witness

from hwmark.model.assignors.groups import Assignment, Group, Member, TopicPartition
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.round_robin import round_robin_assignor
from hwmark.model.assignors.rules import ClaimedPartitions, Claims, EqualSubscriptions, FormerOwner, StickyRules, Withheld
from hwmark.model.assignors.server_range import server_range_assignor
from hwmark.model.assignors.sticky import cooperative_sticky_assignor, sticky_assignor
from hwmark.model.assignors.uniform import uniform_assignor
from hwmark.model.machine import ImpossibleError

pytestmark = pytest.mark.kafka

KAFKA_4_3 = StickyRules(
    claims=Claims.IN_TURN,
    claimed_partitions=ClaimedPartitions.OF_EXISTING_TOPICS,
    equal_subscriptions=EqualSubscriptions.AFTER_THE_FIRST_TOPIC,
    former_owner=FormerOwner.ANY,
    withheld=Withheld.REVOKED_AND_ADDED,
)
ASSIGNORS: dict[str, Callable[[Group], Assignment]] = {
    "range": range_assignor,
    "roundrobin": round_robin_assignor,
    "sticky": partial(sticky_assignor, rules=KAFKA_4_3),
    "cooperative-sticky": partial(cooperative_sticky_assignor, rules=KAFKA_4_3),
    "uniform": uniform_assignor,
    "server-range": server_range_assignor,
}


def plain_partitions(partitions: tuple[TopicPartition, ...]) -> list[list[Any]]:
    return [[one.topic, one.partition] for one in partitions]


def plain_member(member: Member) -> dict[str, Any]:
    data = member.user_data
    return {
        "id": member.id,
        "topics": sorted(member.topics),
        "owned": plain_partitions(member.owned),
        "generation": member.generation,
        "userData": None if data is None else {"partitions": plain_partitions(data.partitions), "generation": data.generation},
        "instanceId": member.instance_id,
        "rack": member.rack,
    }


def plain(group: Group) -> dict[str, Any]:
    return {
        "topics": [
            {
                "name": topic.name,
                "id": base64.urlsafe_b64encode(topic.id.bytes).decode().rstrip("="),
                "racks": [sorted(topic.racks_of(number)) for number in range(topic.partitions)],
            }
            for topic in group.topics
        ],
        "members": [plain_member(member) for member in group.members],
    }


def asked(kafka: Witness, name: str, group: Group) -> Any:
    answer = kafka.ask(name, plain(group))
    if answer["refused"]:
        return "refused"
    return {member: sorted(TopicPartition(*one) for one in partitions) for member, partitions in answer["assignment"].items() if partitions}


def ours(name: str, group: Group) -> Any:
    try:
        return {member: list(partitions) for member, partitions in ASSIGNORS[name](group).items() if partitions}
    except ImpossibleError:
        return "refused"


@pytest.mark.parametrize("name", ASSIGNORS)
def test_kafka_answers_the_same(assignors: Witness, name: str) -> None:
    """On any group."""

    @settings(max_examples=1000, deadline=None, derandomize=False, suppress_health_check=list(HealthCheck))
    @given(group=groups(Shape(conflicts="sticky" in name, racks="server" not in name)))
    def check(group: Group) -> None:
        assert ours(name, group) == asked(assignors, name, group)

    check()
