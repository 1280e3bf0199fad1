# SPDX-License-Identifier: Apache-2.0
"""Makes topics and records, in librdkafka's mock cluster, which it runs, or where a broker listens: what crashes must not crash us.

A line is a JSON object with ``do``, and the answer one too. Its first argument is where the broker listens; without one the mock
cluster is started, whose functions the wheel's shared library exports (``rdkafka_mock.h``).
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic  # type: ignore[attr-defined] # the last two come from elsewhere

from .member_process import end_with_parent

SECONDS = 20.0
REACHED = 5.0
"""Seconds in which a broker must answer for the first time."""
SETTINGS = (
    "group.min.session.timeout.ms",
    "group.initial.rebalance.delay.ms",
    "group.consumer.session.timeout.ms",
    "group.consumer.heartbeat.interval.ms",
)
"""What a broker decides for its groups."""
PRODUCER = 0
"""librdkafka's kind of a client."""


class Mock:
    """The mock cluster of librdkafka, with one broker."""

    def __init__(self, settings: dict[str, int]) -> None:
        """Start it."""
        (path,) = (Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs").glob("librdkafka*")
        self.library = ctypes.CDLL(str(path))
        new, pointer, number = self.library.rd_kafka_new, ctypes.c_void_p, ctypes.c_int
        new.argtypes, new.restype = [number, pointer, ctypes.c_char_p, ctypes.c_size_t], pointer
        self._declare("cluster_new", pointer, pointer, number)
        self._declare("cluster_bootstraps", ctypes.c_char_p, pointer)
        self._declare("topic_create", number, pointer, ctypes.c_char_p, number, number)
        error = ctypes.create_string_buffer(512)
        client = new(PRODUCER, None, error, len(error))
        self.cluster = self.library.rd_kafka_mock_cluster_new(client, 1)
        for name, setting in (
            ("group_initial_rebalance_delay_ms", "group.initial.rebalance.delay.ms"),
            ("set_group_consumer_session_timeout_ms", "group.consumer.session.timeout.ms"),
            ("set_group_consumer_heartbeat_interval_ms", "group.consumer.heartbeat.interval.ms"),
        ):
            self._declare(name, None, pointer, ctypes.c_int32)
            getattr(self.library, f"rd_kafka_mock_{name}")(self.cluster, settings[setting])
        self.bootstrap: str = self.library.rd_kafka_mock_cluster_bootstraps(self.cluster).decode()

    def _declare(self, name: str, result: Any, *arguments: Any) -> None:
        function = getattr(self.library, f"rd_kafka_mock_{name}")
        function.restype, function.argtypes = result, arguments

    def create(self, topics: dict[str, int]) -> None:
        """Make topics with so many partitions."""
        for name, count in topics.items():
            self.library.rd_kafka_mock_topic_create(self.cluster, name.encode(), count, 1)


class Broker:
    """A broker that listens somewhere."""

    def __init__(self, bootstrap: str) -> None:
        """Connect once there is something to do."""
        self.bootstrap = bootstrap
        self.admin: Any = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def settings(self) -> dict[str, int]:
        """Return what the broker decides for its groups, as far as it tells."""
        broker = next(iter(self.admin.list_topics(timeout=REACHED).brokers))
        (told,) = self.admin.describe_configs([ConfigResource(ConfigResource.Type.BROKER, str(broker))]).values()
        found = told.result(SECONDS)
        return {name: int(found[name].value) for name in SETTINGS if name in found}

    def create(self, topics: dict[str, int]) -> None:
        """Make topics with so many partitions."""
        for one in self.admin.create_topics([NewTopic(name, count, 1) for name, count in topics.items()]).values():
            one.result(SECONDS)

    def delete(self, topics: list[str]) -> None:
        """Delete topics."""
        for one in self.admin.delete_topics(topics).values():
            one.result(SECONDS)


def produce(producer: Any, ends: dict[str, list[int]]) -> None:
    """Append records up to these ends of the partitions of each topic: (begin, end) pairs, one after the other."""
    failed: list[str] = []

    def told(error: Any, _message: Any) -> None:
        if error is not None:
            failed.append(error.name())

    for topic, counts in ends.items():
        for partition, count in enumerate(counts):
            for _ in range(count):
                producer.produce(topic, b"x", partition=partition, on_delivery=told)
    if producer.flush(SECONDS) or failed:
        raise RuntimeError(f"records cannot be produced: {failed or 'no answer'}")


def main() -> None:
    """Answer until the input ends."""
    end_with_parent()
    bootstrap, settings = sys.argv[1], json.loads(sys.argv[2])
    target: Any = Broker(bootstrap) if bootstrap else Mock(settings)
    try:
        told = target.settings() if bootstrap else settings
    except KafkaException as error:
        sys.exit(f"{bootstrap} does not answer: {error.args[0].str()}")
    producer = Producer({"bootstrap.servers": target.bootstrap, "log_level": 0, "linger.ms": 0})
    for text in sys.stdin:
        line, answer = json.loads(text), dict[str, Any]()
        match line["do"]:
            case "begin":
                answer = {"bootstrap": target.bootstrap, "settings": told}
            case "create":
                target.create(line["topics"])
            case "delete":
                if bootstrap:
                    target.delete(line["topics"])
            case "produce":
                produce(producer, line["counts"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
