# SPDX-License-Identifier: Apache-2.0
"""The model's assignors against Kafka's own, group by group.

The witness asks the assignors of the client and of the coordinator of Kafka 4.3.1, in the jars that Kafka publishes. The
sticky ones are compared under the rules of that release, which are not all right: that each wrong answer that the catalogue
tells of is Kafka's own is shown here too. So that model and witness cannot agree for want of questions, models that are
wrong in one thing must be found out by the same.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, Phase, find, given, settings
from jvm import Witness

from hwmark.checker.conform.assignors.draw import Shape, groups
from hwmark.model.assignors import general, ordering, sticky, uniform, uniform_heterogeneous
from hwmark.model.assignors.groups import Assignor, Group, Member, TopicPartition
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.round_robin import round_robin_assignor
from hwmark.model.assignors.rules import ClaimedPartitions, Claims, EqualSubscriptions, FormerOwner, StickyRules, Withheld
from hwmark.model.assignors.server_range import server_range_assignor
from hwmark.model.assignors.sticky import cooperative_sticky_assignor, sticky_assignor
from hwmark.model.assignors.uniform import uniform_assignor
from hwmark.model.machine import ImpossibleError
from hwmark.spec.assignors.presets import KAFKA_4_3
from hwmark.spec.catalogue import ROWS, Row

pytestmark = pytest.mark.kafka

ASSIGNORS: dict[str, Assignor] = {
    "range": range_assignor,
    "roundrobin": round_robin_assignor,
    "sticky": partial(sticky_assignor, rules=KAFKA_4_3),
    "cooperative-sticky": partial(cooperative_sticky_assignor, rules=KAFKA_4_3),
    "uniform": uniform_assignor,
    "server-range": server_range_assignor,
}
NAMES = {"sticky_assignor": "sticky", "cooperative_sticky_assignor": "cooperative-sticky"}
"""How the witness calls the functions that have rules."""
KAFKAS_OWN = [row for row in ROWS if row.machine in NAMES and "Kafka" in row.statement]

Shares = dict[str, list[TopicPartition]] | None
"""The partitions of each member that gets any, or ``None`` where an assignor fails."""


# -- questions and answers --


def plain_partitions(partitions: tuple[TopicPartition, ...]) -> list[list[Any]]:
    """Return partitions as the witness reads them."""
    return [[one.topic, one.partition] for one in partitions]


def plain_member(member: Member) -> dict[str, Any]:
    """Return a member as the witness reads it."""
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
    """Return a group as the witness reads it."""
    topics = [
        {
            "name": topic.name,
            "id": base64.urlsafe_b64encode(topic.id.bytes).decode().rstrip("="),
            "racks": [sorted(topic.racks_of(number)) for number in range(topic.partitions)],
        }
        for topic in group.topics
    ]
    return {"topics": topics, "members": [plain_member(member) for member in group.members]}


def kafkas(kafka: Witness, name: str, group: Group) -> Shares:
    """Return what Kafka answers."""
    answer = kafka.ask(name, plain(group))
    if answer["refused"] is not None:
        assert answer["refused"] in ("IllegalStateException", "NullPointerException"), answer
        return None
    return {member: sorted(TopicPartition(*one) for one in share) for member, share in answer["assignment"].items() if share}


def ours(assign: Assignor, group: Group) -> Shares:
    """Return what the model answers."""
    try:
        return {member: list(share) for member, share in assign(group).items() if share}
    except ImpossibleError:
        return None


def shape(name: str, **larger: int) -> Shape:
    """Return which groups an assignor is asked about: the coordinator's know nothing of racks and never contradict themselves."""
    is_client = "sticky" in name
    return Shape(**larger, racks=name not in ("uniform", "server-range"), conflicts=is_client, shrunk_topics=is_client)


def asked(name: str, count: int, **larger: int) -> Callable[[Callable[[Group], None]], Callable[[], None]]:
    """Return what asks a test about so many groups."""

    def decorate(test: Callable[[Group], None]) -> Callable[[], None]:
        return settings(max_examples=count, suppress_health_check=list(HealthCheck))(given(group=groups(shape(name, **larger)))(test))

    return decorate


# -- the same answers --


def test_the_witness_is_of_the_pinned_release(assignors: Witness) -> None:
    """The classes that answer are in the jars of the release that is named above."""
    assert assignors.ask("jars")["jars"] == ["kafka-clients-4.3.1.jar", "kafka-group-coordinator-4.3.1.jar"]


@pytest.mark.parametrize("name", ASSIGNORS)
@pytest.mark.parametrize(
    ("count", "larger"),
    [(500, {}), (100, {"members": 12, "topics": 4, "partitions": 12}), (20, {"members": 40, "topics": 4, "partitions": 50})],
)
def test_kafka_answers_the_same(assignors: Witness, name: str, count: int, larger: dict[str, int]) -> None:
    """Many small groups, and a few of up to 40 members and 200 partitions: the same partitions for each member, or neither answers."""

    @asked(name, count, **larger)
    def same(group: Group) -> None:
        assert ours(ASSIGNORS[name], group) == kafkas(assignors, name, group)

    same()


# -- what is wrong in Kafka --


@pytest.mark.parametrize("row", KAFKAS_OWN, ids=lambda row: row.id)
def test_the_wrong_answers_are_kafkas_own(assignors: Witness, row: Row) -> None:
    """Kafka answers the example of each row that speaks of it as the model does without the rule."""
    assert row.example is not None
    answer = row.example.answer
    expected = None if answer is None else {member: list(share) for member, share in answer.items() if share}
    assert kafkas(assignors, NAMES[str(row.machine)], row.example.question) == expected


def test_five_rows_speak_of_kafka() -> None:
    """Each of the decisions in which the preset of Kafka 4.3.1 differs from the right one has its row."""
    assert sorted(row.rule for row in KAFKAS_OWN) == ["claimed_partitions", "claims", "equal_subscriptions", "former_owner", "withheld"]


# -- wrong models are found out --


def differs(kafka: Witness, name: str, assign: Assignor) -> bool:
    """Whether a model gives some other answer than Kafka within the budget."""
    drawn = groups(shape(name))
    chosen = settings(max_examples=1500, phases=(Phase.generate,), suppress_health_check=list(HealthCheck), database=None)
    return find(drawn, lambda group: ours(assign, group) != kafkas(kafka, name, group), settings=chosen) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"claims": Claims.NEWEST},
        {"claims": Claims.ALL},
        {"claims": Claims.NEWEST_GENERATION_ONLY},
        {"claimed_partitions": ClaimedPartitions.EXISTING},
        {"equal_subscriptions": EqualSubscriptions.ALL_EQUAL},
        {"former_owner": FormerOwner.SUBSCRIBED},
        {"withheld": Withheld.CLAIMED},
        {"withheld": Withheld.NOTHING},
    ],
    ids=lambda wrong: "-".join(value.value for value in wrong.values()),
)
def test_each_rule_is_told_apart(assignors: Witness, wrong: dict[str, Any]) -> None:
    """Under any other value of a rule the model answers some group otherwise than Kafka."""
    rules: StickyRules = evolve(KAFKA_4_3, **wrong)
    assert differs(assignors, "cooperative-sticky", partial(cooperative_sticky_assignor, rules=rules))


@pytest.mark.parametrize(
    ("name", "module", "changed"),
    [
        ("sticky", sticky, {"visited": tuple}),
        ("sticky", general, {"imbalance": lambda _shares: 0}),
        ("uniform", uniform, {"visited": tuple}),
        ("uniform", uniform, {"hash_of_uuid": lambda uuid: uuid.int & 0xFFFF}),
        ("uniform", uniform_heterogeneous, {"ROUNDS": 0}),
        ("uniform", uniform_heterogeneous, {"in_java_order": lambda uuid: (uuid.int, 0)}),
        ("range", ordering, {"code_units": lambda text: text.encode()[::-1]}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else getattr(value, "__name__", value),
)
def test_each_order_is_told_apart(
    assignors: Witness, monkeypatch: pytest.MonkeyPatch, name: str, module: Any, changed: dict[str, Any]
) -> None:
    """A model that visits members, topics or partitions in another order, or balances otherwise, answers some group otherwise."""
    for attribute, wrong in changed.items():
        monkeypatch.setattr(module, attribute, wrong)
    assert differs(assignors, name, ASSIGNORS[name])
