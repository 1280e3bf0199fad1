# SPDX-License-Identifier: Apache-2.0
"""Nodes of Kafka itself: they start, can be broken and started again with what they had, and leave nothing behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jvm
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, PartitionMetadata

from hwmark.checker.conform.broker.kafka_nodes import KafkaNodes, NodeError, alive_brokers
from hwmark.checker.errors import InputError

pytestmark = pytest.mark.kafka
SECONDS = 30.0


@pytest.fixture(autouse=True)
def _java() -> None:
    jvm.require()


@pytest.fixture(scope="module")
def nodes() -> Iterator[KafkaNodes]:
    """Yield one node of Kafka 4.3.1."""
    jvm.require()
    with KafkaNodes() as started:
        yield started


def settings(nodes: KafkaNodes, **more: object) -> dict[str, object]:
    """Return the settings of a client of librdkafka that soon tries again, and prints nothing."""
    return {"bootstrap.servers": nodes.bootstrap, "reconnect.backoff.max.ms": 500, "log_level": 0, **more}


def create(nodes: KafkaNodes, topic: str, replicas: int) -> AdminClient:
    """Make a topic of one partition."""
    admin = AdminClient(settings(nodes))
    (made,) = admin.create_topics([NewTopic(topic, 1, replicas)]).values()
    made.result(SECONDS)
    return admin


def produce(nodes: KafkaNodes, topic: str, *values: bytes) -> None:
    """Append records, and wait until they are acknowledged by all in-sync replicas."""
    producer, errors = Producer(settings(nodes, acks="all")), list[object]()
    for value in values:
        producer.produce(topic, value, partition=0, on_delivery=lambda error, _message: errors.append(error))
    assert producer.flush(SECONDS) == 0
    assert errors == [None] * len(values)


def fetch(nodes: KafkaNodes, topic: str, count: int) -> list[bytes | None]:
    """Read the first records of the partition."""
    consumer = Consumer(settings(nodes, **{"group.id": "any"}))
    consumer.assign([TopicPartition(topic, 0, 0)])
    records = consumer.consume(count, SECONDS)
    consumer.close()
    return [record.value() for record in records]


def eventually(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so."""
    last = time.monotonic() + SECONDS
    while not is_so() and time.monotonic() < last:
        time.sleep(0.1)
    return is_so()


def is_there(pid: int) -> bool:
    """Whether there is a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# -- one node --


def test_records_outlive_a_crash(nodes: KafkaNodes) -> None:
    """What was acknowledged is there after a SIGKILL, in the same folder, under a new process."""
    create(nodes, "kept", 1)
    produce(nodes, "kept", b"a", b"b")
    assert fetch(nodes, "kept", 2) == [b"a", b"b"]
    before = nodes.node(1).pid
    nodes.kill(1)
    assert not nodes.node(1).is_running
    with pytest.raises(NodeError, match=r"^Kafka's node 1 is not running$"):
        nodes.pause(1)
    nodes.start(1)
    assert nodes.node(1).pid != before
    assert fetch(nodes, "kept", 2) == [b"a", b"b"]
    assert (nodes.node(1).log_dir / "kept-0" / "00000000000000000000.log").stat().st_size > 0


def test_a_paused_node_says_nothing(nodes: KafkaNodes) -> None:
    """A node that is paused takes connections but answers nothing, until it goes on."""
    port = nodes.node(1).port
    nodes.pause(1)
    assert alive_brokers(port) == frozenset()
    assert nodes.node(1).is_running
    nodes.resume(1)
    assert eventually(lambda: alive_brokers(port) == {1})


def test_nodes_that_run_are_not_started(nodes: KafkaNodes) -> None:
    """Starting what runs is refused, as is what does not exist."""
    with pytest.raises(NodeError, match=r"^Kafka's node 1 is running$"):
        nodes.start(1)
    with pytest.raises(InputError, match=r"^there is no node 2; there is 1$"):
        nodes.kill(2)


# -- nothing is left --


@pytest.mark.parametrize("version", ["4.0.0", "4.4.0"])
def test_whatever_happens_nothing_is_left(version: str) -> None:
    """A Ctrl-C in the middle, of a node that is paused too, ends the process and removes the folder."""
    with pytest.raises(KeyboardInterrupt), KafkaNodes(version) as nodes:  # noqa: PT012 - what it does is end
        pid, place = nodes.node(1).pid, nodes.node(1).folder.parent
        assert is_there(pid)
        assert place.is_dir()
        nodes.pause(1)
        raise KeyboardInterrupt
    assert not is_there(pid)
    assert not place.exists()


def test_a_start_that_fails_names_its_log(tmp_path: Path) -> None:
    """A node that dies while it starts is told in one line, with Kafka's own words; its log stays, and it does not."""
    nodes = KafkaNodes(folder=tmp_path / "new", settings={"authorizer.class.name": "no.such.Authorizer"})
    with pytest.raises(NodeError) as caught, nodes:
        pytest.fail("it started")
    words, log = str(caught.value), tmp_path / "new" / "node-1" / "node.log"
    assert words.startswith("Kafka's node 1 died, with exit code 1: ")
    assert "no.such.Authorizer" in words
    assert words.endswith(f"; its log is {log}")
    assert "\n" not in words
    assert log.is_file()
    assert not nodes.node(1).is_running


def test_features_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    """Kafka's own tool refuses features that it does not know, and its words are told."""
    with pytest.raises(NodeError, match=r"cannot be formatted: Unsupported feature: no\.such\.feature\. Supported"):
        KafkaNodes(folder=tmp_path / "new", features={"no.such.feature": 1}).__enter__()


def test_a_version_that_was_never_released_is_refused() -> None:
    """Maven does not find it, which is told in one line."""
    with pytest.raises(InputError, match=r"^Kafka 4\.0\.77 cannot be fetched: Maven finds no org\.apache\.kafka:kafka_2\.13:jar:4\.0\.77$"):
        KafkaNodes("4.0.77").__enter__()


@pytest.mark.parametrize("controllers", [0, 4])
def test_controllers_are_some_of_the_nodes(controllers: int) -> None:
    """No controller leads nobody, and there are no more than nodes."""
    with pytest.raises(InputError, match=rf"^of 3 nodes from 1 to 3 are controllers, not {controllers}$"):
        KafkaNodes(count=3, controllers=controllers).__enter__()


# -- three nodes --


def test_a_node_may_be_no_controller(tmp_path: Path) -> None:
    """The first is, the others serve clients alone, and a topic has its replicas on all."""
    with KafkaNodes(count=3, controllers=1, folder=tmp_path / "new") as nodes:
        admin = create(nodes, "replicated", 3)
        produce(nodes, "replicated", b"a")
        assert set(admin.list_topics("replicated", SECONDS).topics["replicated"].partitions[0].isrs) == {1, 2, 3}
        written = [nodes.node(one).settings.read_text(encoding="utf-8") for one in (1, 2, 3)]
    assert ["process.roles=broker,controller\n" in one for one in written] == [True, False, False]
    assert ["CONTROLLER://" in one for one in written] == [True, False, False]


def test_two_of_three_go_on_without_their_leader() -> None:
    """With a leader killed the others take records; started again it has them, and is back in the ISR."""
    with KafkaNodes(count=3) as nodes:
        admin = create(nodes, "replicated", 3)
        produce(nodes, "replicated", b"a")

        def partition() -> PartitionMetadata:
            return admin.list_topics("replicated", SECONDS).topics["replicated"].partitions[0]

        leader = partition().leader
        nodes.kill(leader)
        produce(nodes, "replicated", b"b")
        assert partition().leader != leader
        nodes.start(leader)
        assert eventually(lambda: set(partition().isrs) == {1, 2, 3})
        assert fetch(nodes, "replicated", 2) == [b"a", b"b"]
