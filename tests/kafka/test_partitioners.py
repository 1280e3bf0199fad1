# SPDX-License-Identifier: Apache-2.0
"""The model's choice of partitions against Kafka's own, record by record.

The witness asks ``Utils.murmur2``, ``BuiltInPartitioner``, ``RoundRobinPartitioner`` and ``KafkaProducer.partition`` of Kafka 4.3.1, in
the jar that Kafka publishes; random numbers are given. So that model and witness cannot agree for want of questions, models
that are wrong in one thing must be found out by the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from jvm import Witness

from hwmark.model.partitioners import keys, load, producer, round_robin, sticky
from hwmark.model.partitioners.load import LoadStats, Queues, load_stats
from hwmark.model.partitioners.producer import Send, producer_partition
from hwmark.model.partitioners.round_robin import partition_in_turn
from hwmark.model.partitioners.rules import Availability, Remainder
from hwmark.model.partitioners.sticky import is_switch, next_partition
from hwmark.model.partitioners.topic import Topic
from hwmark.spec.partitioners.presets import PRODUCER
from hwmark.spec.partitioners.questions import Scope, sends

pytestmark = pytest.mark.kafka

KAFKA_4_3 = PRODUCER["partitioner_unchecked"]
MOST = 2**31 - 1
"""The largest random number."""

Script = tuple[int, list[int], list[list[Any]]]
"""A batch size, random numbers, and steps, as the witness reads them."""


# -- questions --

texts = st.one_of(st.none(), st.text(max_size=24), st.integers().map(str))
byte_keys = st.one_of(st.binary(max_size=24), st.text(max_size=12).map(str.encode), st.binary(min_size=200, max_size=300))
counts = st.integers(1, 1000)


@st.composite
def topics(draw: st.DrawFn, most: int = 6) -> Topic:
    """Draw a topic of which some partitions have a leader."""
    partitions = draw(st.integers(1, most))
    return Topic(partitions, tuple(sorted(draw(st.sets(st.integers(0, partitions - 1))))))


@st.composite
def records(draw: st.DrawFn) -> Send:
    """Draw a record with a key or none; the partition that it or a partitioner names may be negative or too large."""
    named = st.one_of(st.none(), st.integers(-2, 8))
    return Send(draw(st.integers(1, 6)), draw(texts), draw(named), draw(named), draw(st.booleans()))


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Draw appends of records, between which the metadata and the lengths of queues may change."""
    batch_size, topic, steps = draw(st.integers(1, 20)), draw(topics()), list[list[Any]]()
    for _ in range(draw(st.integers(1, 12))):
        if draw(st.booleans()):
            size = draw(st.integers(1, topic.partitions))
            queues = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
            steps.append(["load", queues, list(range(size)), draw(st.integers(0, size))])
        topic = draw(topics()) if draw(st.integers(0, 4)) == 0 else topic
        steps.append(["append", topic.partitions, list(topic.available), draw(st.integers(0, 30)), draw(st.booleans())])
    randoms = draw(st.lists(st.integers(0, MOST), min_size=len(steps) + 1, max_size=len(steps) + 1))
    return batch_size, randoms, steps


turns = st.lists(topics(), min_size=1, max_size=20)

# -- answers --


def kafkas_hash(kafka: Witness, key: bytes, partitions: int) -> tuple[int, int]:
    """Return what Kafka makes of a key: its hash and its partition."""
    answer = kafka.ask("murmur2", key.hex(), partitions)
    return answer["hash"], answer["partition"]


def our_hash(key: bytes, partitions: int) -> tuple[int, int]:
    """Return what the model makes of a key."""
    return keys.murmur2(key), keys.partition_for_key(key, partitions)


def kafkas_partition(kafka: Witness, send: Send) -> int | None:
    """Return Kafka's partition of a record, of which a named one that is too large is refused before: it waits for metadata."""
    if send.named is not None and send.named >= send.partitions:
        return None
    answer = kafka.ask("partition", send.partitions, send.key, send.named, send.partitioner, send.ignore_keys)
    assert answer["refused"] in (None, "IllegalArgumentException")
    partition: int | None = answer.get("partition")
    return partition


def kafkas_turns(kafka: Witness, asked: list[Topic]) -> list[int]:
    """Return the partition of each record in turn."""
    answer: list[int] = kafka.ask("roundRobin", [[topic.partitions, list(topic.available)] for topic in asked])["partitions"]
    return answer


def our_turns(asked: list[Topic]) -> list[int]:
    """Return the model's partition of each record in turn."""
    return [partition_in_turn(topic, count) for count, topic in enumerate(asked)]


def kafkas_script(kafka: Witness, script: Script) -> list[int]:
    """Return the sticky partition after each step, from the first append on."""
    answer: list[int] = kafka.ask("sticky", *script)["partitions"]
    return answer


def our_script(script: Script) -> list[int]:
    """Return the model's sticky partition after each step."""
    batch_size, randoms, steps = script
    drawn, answers, stats, partition, produced = iter(randoms), list[int](), None, -1, 0
    for name, *told in steps:
        if name == "load":
            stats = our_stats(told)
        else:
            topic = Topic(told[0], tuple(told[1]))
            partition = next_partition(topic, next(drawn), stats) if partition < 0 else partition
            produced += told[2]
            if is_switch(produced, batch_size, enabled=told[3]):
                partition, produced = next_partition(topic, next(drawn), stats), 0
        if partition >= 0:
            answers.append(partition)
    return answers


def our_stats(told: list[Any]) -> LoadStats | None:
    """Return the table of these queues, of which only the first so many are counted."""
    sizes, ids, length = told
    return load_stats(Queues(len(sizes), tuple(ids[:length]), tuple(sizes[:length])))


def many(count: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return how often a test asks."""
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


# -- the same answers --


def test_the_witness_is_of_the_pinned_release(partitioners: Witness) -> None:
    """The classes that answer are in the jar of the release that is named above."""
    assert partitioners.ask("jar")["jar"] == "kafka-clients-4.3.1.jar"


def test_every_byte_at_every_place(partitioners: Witness) -> None:
    """Keys of 0 to 23 bytes, and each byte at each place of a word and behind it."""
    asked = [bytes(range(1, size + 1)) for size in range(24)]
    asked += [
        bytes([7] * place + [byte] + [9] * (size - place - 1)) for size in range(1, 9) for place in range(size) for byte in range(256)
    ]
    for number, key in enumerate(asked):
        assert our_hash(key, 1 + number % 1000) == kafkas_hash(partitioners, key, 1 + number % 1000), key


def test_keys_have_the_same_hash_and_partition(partitioners: Witness) -> None:
    """Of any bytes, also none, and texts beyond ASCII, in topics of up to 1000 partitions."""

    @many(1500)
    @given(key=byte_keys, partitions=counts)
    def same(key: bytes, partitions: int) -> None:
        assert our_hash(key, partitions) == kafkas_hash(partitioners, key, partitions)

    same()


def test_records_go_to_the_same_partition(partitioners: Witness) -> None:
    """Whatever names it, in whichever order; every question of the proofs, and others."""
    for send in sends(Scope()):
        assert producer_partition(send, KAFKA_4_3) == kafkas_partition(partitioners, send), send

    @many(500)
    @given(send=records())
    def same(send: Send) -> None:
        assert producer_partition(send, KAFKA_4_3) == kafkas_partition(partitioners, send)

    same()


def test_turns_are_taken_alike(partitioners: Witness) -> None:
    """Also while partitions lose their leaders."""

    @many(500)
    @given(asked=turns)
    def same(asked: list[Topic]) -> None:
        assert our_turns(asked) == kafkas_turns(partitioners, asked)

    same()


def test_the_sticky_partition_changes_alike(partitioners: Witness) -> None:
    """After as many bytes, to the partition that the random number and the queues stand for."""

    @many(1500)
    @given(script=scripts())
    def same(script: Script) -> None:
        assert our_script(script) == kafkas_script(partitioners, script)

    same()


# -- wrong models are found out --


def finds(drawn: st.SearchStrategy[Any], differs: Callable[[Any], bool]) -> bool:
    """Whether some question of the budget is answered otherwise."""
    chosen = settings(max_examples=1500, phases=(Phase.generate,), suppress_health_check=list(HealthCheck), database=None)
    return find(drawn, differs, settings=chosen) is not None


@pytest.mark.parametrize("wrong", [{"SEED": 0}, {"MIX": 0x5BD1E993}, {"ROTATE": 23}], ids=str)
def test_another_hash_is_told_apart(partitioners: Witness, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, int]) -> None:
    """Any other constant of the hash gives another one."""
    for name, value in wrong.items():
        monkeypatch.setattr(keys, name, value)
    assert finds(byte_keys, lambda key: our_hash(key, 7) != kafkas_hash(partitioners, key, 7))


@pytest.mark.parametrize("remainder", [Remainder.ABSOLUTE, Remainder.SIGNED])
def test_another_remainder_is_told_apart(partitioners: Witness, remainder: Remainder) -> None:
    """So does another way from the hash to the partition."""
    assert finds(byte_keys, lambda key: keys.partition_for_key(key, 7, remainder) != kafkas_hash(partitioners, key, 7)[1])


@pytest.mark.parametrize("preset", sorted(set(PRODUCER) - {"partitioner_unchecked", "partition_unchecked"}))
def test_each_rule_of_the_producer_is_told_apart(partitioners: Witness, preset: str) -> None:
    """Kafka has the one preset in which a partitioner's answer need not exist; what it does after waiting for metadata is not asked."""
    asked = [send for send in sends(Scope()) if send.named is None or send.named < send.partitions]
    assert any(producer_partition(send, PRODUCER[preset]) != kafkas_partition(partitioners, send) for send in asked)


def everybody(topic: Topic, _availability: Availability) -> tuple[int, ...]:
    """Choose among all partitions, whoever leads them."""
    return tuple(range(topic.partitions))


@pytest.mark.parametrize(("name", "wrong"), [("to_positive", lambda count: count + 1), ("choosable", everybody)])
def test_other_turns_are_told_apart(partitioners: Witness, monkeypatch: pytest.MonkeyPatch, name: str, wrong: Any) -> None:
    """A model that begins with another partition, or does not look for leaders."""
    monkeypatch.setattr(round_robin, name, wrong)
    assert finds(turns, lambda asked: our_turns(asked) != kafkas_turns(partitioners, asked))


@pytest.mark.parametrize(
    "change",
    [
        (sticky, "choosable", everybody),
        (load, "bisect_right", lambda table, number: sum(one < number for one in table)),
        (load, "weights", lambda sizes, _: (1,) * len(sizes)),
    ],
    ids=lambda change: change[1],
)
def test_another_choice_is_told_apart(partitioners: Witness, monkeypatch: pytest.MonkeyPatch, change: tuple[Any, str, Any]) -> None:
    """A model that does not look for leaders, reads the table otherwise, or weighs queues otherwise."""
    monkeypatch.setattr(*change)
    assert finds(scripts(), lambda script: our_script(script) != kafkas_script(partitioners, script))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda produced, size, enabled: enabled and produced >= size,
        lambda produced, size, enabled: produced >= size,  # noqa: ARG005 - that it is not asked is what is wrong
        lambda produced, size, enabled: (enabled and produced > size) or produced >= 2 * size,
        lambda produced, size, enabled: (enabled and produced >= size) or produced > 2 * size,
    ],
    ids=["no cap", "at once", "beyond", "beyond the cap"],
)
def test_another_moment_is_told_apart(partitioners: Witness, monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    """A model that changes the partition earlier or later does so somewhere."""
    monkeypatch.setitem(globals(), "is_switch", wrong)
    assert finds(scripts(), lambda script: our_script(script) != kafkas_script(partitioners, script))


def test_a_null_key_is_not_an_empty_one(partitioners: Witness) -> None:
    """A record with an empty key is hashed; one without is sticky."""
    without, empty = (kafkas_partition(partitioners, Send(1000, key)) for key in (None, ""))
    assert (without, empty) == (producer.UNKNOWN_PARTITION, our_hash(b"", 1000)[1])
