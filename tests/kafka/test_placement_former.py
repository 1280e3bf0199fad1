# SPDX-License-Identifier: Apache-2.0
"""Where ZooKeeper's controllers put replicas, against Kafka's own class, topic by topic.

The witness is ``org.apache.kafka.admin.AdminUtils`` of Kafka 4.0.0, the last release that has it, whose random generator is
seeded, and tells what it draws. An assignment that is wrong in one thing must be found out by the same questions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from jvm import Witness

from hwmark.model.placement import admin_utils
from hwmark.model.placement.placer import Placement, Refusal, Topic, UsableBroker

pytestmark = pytest.mark.kafka

SAID = {
    Refusal.NOT_POSITIVE: "InvalidReplicationFactorException: Replication factor must",
    Refusal.TOO_FEW_BROKERS: "InvalidReplicationFactorException: Replication factor: ",
    Refusal.RACKS_INCOMPLETE: "AdminOperationException: ",
}
"""How what Kafka says to each refusal begins."""


@st.composite
def questions(draw: st.DrawFn) -> tuple[Topic, int]:
    """Draw a topic on a cluster, mostly with racks everywhere or nowhere, and a seed."""
    ids = draw(st.lists(st.integers(0, 30), max_size=8, unique=True))
    racks = draw(st.sampled_from(((None,), ("a", "b"), ("b", "a", "rack-1"), ("x", "y", "z", "w"), (None, "a"))))
    brokers = tuple(UsableBroker(broker, draw(st.sampled_from(racks))) for broker in ids)
    topic = Topic(brokers, draw(st.integers(1, 20)), draw(st.integers(-1, len(ids) + 1)))
    return topic, draw(st.integers(0, 2**40))


def answers(kafka: Witness, question: tuple[Topic, int]) -> tuple[Placement | Refusal, Placement | Refusal]:
    """Return what Kafka answers, and the model with the same draws."""
    topic, seed = question
    brokers = [{"id": broker.id, "rack": broker.rack} for broker in topic.brokers]
    answer = kafka.ask("assign", brokers, topic.partitions, topic.replication_factor, seed)
    ours = admin_utils.assign_replicas(evolve(topic, draws=tuple(answer["drawn"])))
    if answer["refused"] is None:
        return tuple(map(tuple, answer["placement"])), ours
    (refusal,) = (one for one, said in SAID.items() if answer["refused"].startswith(said))
    return refusal, ours


def test_every_topic_is_placed_as_kafka_did(admin: Witness) -> None:
    """On any cluster, with any draws: the same replicas in the same order, or the same refusal."""
    seen = set()

    @settings(max_examples=1500)
    @given(question=questions())
    def ask(question: tuple[Topic, int]) -> None:
        kafkas, ours = answers(admin, question)
        assert kafkas == ours
        seen.add(kafkas if isinstance(kafkas, Refusal) else len({broker.rack for broker in question[0].brokers}))

    ask()
    assert seen == {*SAID, 1, 2, 3, 4}


def same_gap(brokers: Any, racks: Any, factor: int, first: int, gap: int) -> Any:
    """Leave the gap as it is in every round."""
    return right_replicas(brokers, racks, factor, first, gap - (first - first % len(brokers)) // len(brokers))


def wider_gap(brokers: Any, racks: Any, factor: int, first: int, gap: int) -> Any:
    """Begin behind a gap that is wider by one."""
    return right_replicas(brokers, racks, factor, first, gap + 1)


def any_rack(brokers: Any, racks: Any, factor: int, first: int, gap: int) -> Any:
    """Take the next brokers, whatever their racks."""
    every = len(set(racks.values()))
    return right_replicas(brokers, dict.fromkeys(racks, "a"), factor, first, gap * every)


def by_id(racks: Any) -> Any:
    """Put brokers in order of their ids."""
    return tuple(sorted(racks))


right_replicas = admin_utils.replicas
WRONG: list[tuple[str, Callable[..., Any]]] = [
    ("replicas", same_gap),
    ("replicas", wider_gap),
    ("replicas", any_rack),
    ("alternating", by_id),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=[wrong.__name__ for _, wrong in WRONG])
def test_a_wrong_assignment_is_found_out(admin: Witness, monkeypatch: pytest.MonkeyPatch, name: str, wrong: Callable[..., Any]) -> None:
    """The same questions show an assignment that is wrong in one thing; done rightly, it answers them as Kafka did."""

    def is_wrong(question: tuple[Topic, int]) -> bool:
        kafkas, ours = answers(admin, question)
        return kafkas != ours

    with monkeypatch.context() as patched:
        patched.setattr(admin_utils, name, wrong)
        question = find(questions(), is_wrong, settings=settings(max_examples=3000, phases=(Phase.generate,)))
    assert not is_wrong(question)
