# SPDX-License-Identifier: Apache-2.0
"""Runs librdkafka's mock cluster until its input ends, and says where it listens: what crashes it must not crash us."""

from __future__ import annotations

import sys

from confluent_kafka import Producer

SECONDS = 20.0


def main() -> None:
    """Start, print the port, and wait."""
    producer = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = producer.list_topics(timeout=SECONDS).brokers.values()
    sys.stdout.write(f"{broker.port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
