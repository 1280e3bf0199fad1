# SPDX-License-Identifier: Apache-2.0
"""What programs do with the mock cluster inside librdkafka is recorded, and nothing in it is impossible."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, TopicPartition

from hwmark.checker.conform.found import Outcome, Verdict
from hwmark.checker.history.reading import Reader
from hwmark.checker.history.recorder import Recorder
from hwmark.checker.oracle.command import judge

TOPIC = "t"


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


@pytest.mark.exhaustive
def test_groups_that_come_and_go(tmp_path: Path) -> None:
    """Two producers, consumers of a group that join, pause, leave and are left behind, and a transaction: nothing is impossible."""
    path = tmp_path / "history.jsonl"
    with Recorder(path) as recorder:
        producer, brokers = mock(recorder)
        other = recorder.Producer({"bootstrap.servers": brokers, "enable.idempotence": True, "log_level": 0})
        is_over = threading.Event()
        threads = [threading.Thread(target=produce, args=(one, name, is_over)) for one, name in ((producer, "a"), (other, "b"))]
        threads += [
            threading.Thread(target=consume, args=(recorder, brokers, wait, seconds)) for wait, seconds in ((0, 25), (8, 14), (3, 6))
        ]
        for thread in threads:
            thread.start()
        for thread in threads[2:]:
            thread.join(60)
        is_over.set()
        for thread in threads[:2]:
            thread.join(60)
        in_transaction = recorder.Producer({"bootstrap.servers": brokers, "transactional.id": "tx", "log_level": 0})
        in_transaction.init_transactions(20)
        for end in (in_transaction.commit_transaction, in_transaction.abort_transaction):
            in_transaction.begin_transaction()
            in_transaction.produce(TOPIC, f"of {end.__name__}", partition=0)
            end(20)
    judgement = judge(path)
    assert judgement.outcome is Outcome.CLEAN, judgement.having(Verdict.DEVIATES)
    asked = {check.rule: check.asked for check in judgement.checks}
    assert asked["duplicate"] > 100
    assert asked["poll_skip"] > 100
    assert asked["double_ownership"] > 4
    assert {("assigned", "ok"), ("revoked", "ok"), ("end", "ok"), ("commit", "ok")} <= kinds(path)


def drain(consumer: Any, wanted: int) -> list[Any]:
    """Poll until so many records have come, for a while."""
    read: list[Any] = []
    last = time.monotonic() + 20
    while len(read) < wanted and time.monotonic() < last:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            read.append(message)
    return read


def produce(producer: Any, name: str, is_over: threading.Event) -> None:
    """Send records until told to stop, for a minute at most."""
    for number in range(1000):
        if is_over.is_set():
            break
        producer.produce(TOPIC, f"{name}{number}", partition=number % 4)
        producer.poll(0)
        time.sleep(0.06)
    producer.flush(20)


def consume(recorder: Recorder, brokers: str, wait: float, seconds: float) -> None:
    """Join the group after a while, read and commit, pause once, and leave."""
    time.sleep(wait)
    settings = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000, "log_level": 0}
    consumer = recorder.Consumer({"bootstrap.servers": brokers, **settings})
    consumer.subscribe([TOPIC])
    last, count = time.monotonic() + seconds, 0
    while time.monotonic() < last:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            count += 1
            if not count % 20:
                with contextlib.suppress(KafkaException):  # a rebalance has begun
                    consumer.commit(asynchronous=False)
            if count == 50:
                time.sleep(2)
    consumer.close()
