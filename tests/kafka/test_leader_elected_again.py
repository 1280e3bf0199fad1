# SPDX-License-Identifier: Apache-2.0
"""What Kafka's own ``Partition`` remembers of its followers when it is elected again, and has missed who led in between.

What that may cost is found in 11 steps by the machine ``zookeeper`` (``zookeeper_elected_again_remembers``), and by the machine
``partition`` in 15, with the loss of the record in 19 (``partition_elected_again_remembers``).
"""

from __future__ import annotations

from typing import Any

import pytest
from jvm import Witness
from partitions import written

from hwmark.model.partition.decisions import PartitionState

pytestmark = pytest.mark.kafka


def publish(partition_epoch: int, leader: int, leader_epoch: int, isr: set[int]) -> list[Any]:
    """Return the operation: the broker learns of this decision."""
    partition = PartitionState((0, 1, 2), frozenset(isr), leader=leader, leader_epoch=leader_epoch, partition_epoch=partition_epoch)
    return ["publish", {"partitions": [written(partition)]}]


FETCHED = [
    *(["register", {"broker": broker, "brokerEpoch": 1, "fenced": False}] for broker in (0, 1, 2)),
    publish(1, 0, 0, {0, 1, 2}),
    ["append", {"record": 0, "acks": -1}],
    ["fetch", {"follower": 2, "fetchOffset": 1, "leaderEpoch": 0, "lastFetchedEpoch": 0, "brokerEpoch": 1}],
]
"""Broker 0 leads in epoch 0 and has a record, which broker 2 has fetched and broker 1 has not."""


def played(kafka: Witness, operations: list[Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Return what Kafka answers to each operation, and what can be seen after it; ``min.insync.replicas`` is 2."""
    answers = kafka.ask("play", {"minIsr": 2, "replicaLagTimeMaxMs": 30_000}, operations)["answers"]
    return [(answer["returned"], answer["observed"]) for answer in answers]


def test_a_leader_that_missed_another_commits_what_a_follower_may_have_dropped(partition: Witness) -> None:
    """In epoch 1 broker 1 led, which has no record; broker 2 may have truncated. In epoch 2 broker 0 leads again, with broker 2.

    It never heard of epoch 1, counts broker 2 as far as it was in epoch 0, and acknowledges the record at once.
    """
    again = [publish(3, 0, 2, {0, 2}), ["isAcknowledged", {"offset": 0}]]
    *_, fetched, elected, acknowledged = played(partition, [*FETCHED, *again])
    assert fetched[1]["highWatermark"] == 0
    assert elected[1]["highWatermark"] == 1
    assert acknowledged[0] == [True, "NONE"]


def test_a_leader_that_heard_of_another_waits(partition: Witness) -> None:
    """Once it has followed broker 1 it knows nothing of broker 2 any more."""
    between = [publish(2, 1, 1, {0, 1, 2}), publish(3, 0, 2, {0, 2})]
    *_, (_, elected) = played(partition, [*FETCHED, *between])
    assert elected["highWatermark"] == 0
