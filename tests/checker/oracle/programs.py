# SPDX-License-Identifier: Apache-2.0
"""Programs that are recorded: what they do is theirs, and takes a bounded time."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from confluent_kafka import KafkaException

from hwmark.checker.history.recorder import Recorder

TOPIC = "t"

JOINING = 20
"""Seconds that a consumer waits for its first partitions, on a busy machine."""


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
    """Join the group after a while, read and commit for some seconds after that, pause once, and leave."""
    time.sleep(wait)
    settings = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000, "log_level": 0}
    consumer = recorder.Consumer({"bootstrap.servers": brokers, **settings})
    consumer.subscribe([TOPIC])
    last, is_member, count = time.monotonic() + JOINING + seconds, False, 0
    while time.monotonic() < last:
        message = consumer.poll(0.2)
        if not is_member and consumer.assignment():
            last, is_member = time.monotonic() + seconds, True
        if message is not None and message.error() is None:
            count += 1
            if not count % 20:
                with contextlib.suppress(KafkaException):  # a rebalance has begun
                    consumer.commit(asynchronous=False)
            if count == 50:
                time.sleep(2)
    consumer.close()
