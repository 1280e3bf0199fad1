# SPDX-License-Identifier: Apache-2.0
"""Where replicas are put, against Kafka's own placer, topic by topic.

The witness is ``org.apache.kafka.metadata.placement.StripedReplicaPlacer`` of Kafka 4.3.1, in the jar that Kafka publishes, with
a random generator that answers as told. It is compared under the rules of that release, which are not all right: that each
wrong answer that the catalogue tells of is Kafka's own is shown here too. A placer that is wrong in one thing must be found
out by the same questions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from jvm import Witness

from hwmark.model.machine import BrokerId
from hwmark.model.placement import placer
from hwmark.model.placement.elections import KAFKAS_PLACER
from hwmark.model.placement.placer import Placement, Refusal, Topic, UsableBroker
from hwmark.model.placement.rules import PlacerRules
from hwmark.spec.placement.placer_presets import PRESETS
from hwmark.spec.placement.placer_rows import ROWS
from hwmark.spec.row import Row

pytestmark = pytest.mark.kafka

RACKS = (None, "a", "b", "c", "rack-1", "eu-west-1a")
SAID = {
    Refusal.NOT_POSITIVE: "the replication factor must be positive",
    Refusal.ALL_FENCED: "All brokers are currently fenced",
    Refusal.TOO_FEW_BROKERS: "cannot be reached because only",
}
"""Part of what Kafka says to each refusal."""


@st.composite
def topics(draw: st.DrawFn) -> Topic:
    """Draw a topic on a cluster with racks and fenced brokers, and enough draws for some shuffles."""
    ids = draw(st.lists(st.integers(0, 30), max_size=8, unique=True))
    racks = draw(st.lists(st.sampled_from(RACKS), min_size=1, max_size=4, unique=True))
    fenced = st.booleans() if draw(st.booleans()) else st.just(value=False)
    brokers = tuple(UsableBroker(broker, draw(st.sampled_from(racks)), draw(fenced)) for broker in ids)
    factor = draw(st.integers(-1, len(ids) + 1))
    return Topic(brokers, draw(st.integers(1, 20)), factor, tuple(draw(st.lists(st.integers(0, 100), max_size=60))))


def kafkas(kafka: Witness, topic: Topic) -> Placement | Refusal:
    """Return what Kafka answers."""
    brokers = [{"id": broker.id, "rack": broker.rack, "fenced": broker.fenced} for broker in topic.brokers]
    answer = kafka.ask("place", brokers, topic.partitions, topic.replication_factor, topic.draws)
    if answer["refused"] is not None:
        (refusal,) = (one for one, said in SAID.items() if said in answer["refused"])
        return refusal
    return tuple(map(tuple, answer["placement"]))


def differs(kafka: Witness, topic: Topic, rules: PlacerRules = KAFKAS_PLACER) -> bool:
    """Whether Kafka puts the replicas of a topic elsewhere."""
    return kafkas(kafka, topic) != placer.place(topic, rules)


def test_every_topic_is_placed_as_kafka_does(placement: Witness) -> None:
    """On any cluster, with any draws: the same replicas in the same order, or the same refusal."""
    seen = set()

    @settings(max_examples=1500)
    @given(topic=topics())
    def ask(topic: Topic) -> None:
        assert not differs(placement, topic)
        answer = placer.place(topic, KAFKAS_PLACER)
        seen.add(answer if isinstance(answer, Refusal) else topic.partitions > len(topic.brokers))

    ask()
    assert seen == {*SAID, True, False}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_rows_say_of_kafka(placement: Witness, row: Row) -> None:
    """The answer that each row keeps is Kafka's own, and the right rules have another one."""
    assert row.example is not None
    assert kafkas(placement, row.example.question) == row.example.answer
    assert differs(placement, row.example.question, PRESETS["leaders_in_turn"])


# -- mistakes --


def places_beyond(topic: Topic, rules: PlacerRules) -> Placement | Refusal:
    """Look for brokers that may lead only after counting them all."""
    if len(topic.brokers) < topic.replication_factor:
        return Refusal.TOO_FEW_BROKERS
    return right_place(topic, rules)


def unsorted_table(keys: Any, _code: Any) -> tuple[Any, ...]:
    """Draw for racks in the order of the brokers."""
    return tuple(keys)


def shuffles_forwards(draws: placer.Draws, values: list[Any]) -> None:
    """Shuffle from the beginning."""
    for place in range(len(values) - 1):
        other = place + draws.below(len(values) - place)
        values[place], values[other] = values[other], values[place]


def fenced_first(rack: placer.Rack, number: int) -> BrokerId | None:
    """Take fenced brokers before the others."""
    fenced = rack.fenced.next(number)
    return rack.unfenced.next(number) if fenced is None else fenced


def never_shuffles(_racks: placer.RackList) -> None:
    """Go on as before once each broker had its turn."""


right_place = placer.place
WRONG: list[tuple[Any, str, Callable[..., Any]]] = [
    (placer, "place", places_beyond),
    (placer, "hashed", unsorted_table),
    (placer, "number", lambda _rules, partition, _since_shuffle: partition),
    (placer, "has_own_turns", lambda _rules: True),
    (placer.Draws, "shuffle", shuffles_forwards),
    (placer.Rack, "next", fenced_first),
    (placer.RackList, "_shuffle", never_shuffles),
]


@pytest.mark.parametrize(("part", "name", "wrong"), WRONG, ids=[name for _, name, _ in WRONG])
def test_a_wrong_placer_is_found_out(
    placement: Witness, monkeypatch: pytest.MonkeyPatch, part: Any, name: str, wrong: Callable[..., Any]
) -> None:
    """The same questions show a placer that is wrong in one thing; taken rightly, it answers them as Kafka does."""
    with monkeypatch.context() as patched:
        patched.setattr(part, name, wrong)
        topic = find(topics(), lambda topic: differs(placement, topic), settings=settings(max_examples=3000, phases=(Phase.generate,)))
    assert not differs(placement, topic)


@pytest.mark.parametrize("rules", [evolve(KAFKAS_PLACER, leading=PRESETS["leaders_in_turn"].leading), PRESETS["next_leads"]])
def test_no_other_rules_are_kafkas(placement: Witness, rules: PlacerRules) -> None:
    """Each rule alone, taken as it should be, puts some topic elsewhere."""
    assert find(topics(), lambda topic: differs(placement, topic, rules), settings=settings(max_examples=3000, phases=(Phase.generate,)))
