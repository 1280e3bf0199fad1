# SPDX-License-Identifier: Apache-2.0
"""The topic grows, and a consumer reads it."""

from __future__ import annotations

from hwmark.model.machine import action, kafka, put

from .state import Bounds, PartitionId, State, most_partitions, partitions

# -- the controller --


@action()
@kafka("ReplicationControlManager.createPartitions", versions="2.8–4.3.1", simplified="one at a time; its leader is there at once")
def create_partition(state: State, bounds: Bounds) -> State | None:
    """A partition is added to the topic; no record moves, and producers do not know yet."""
    return put(state, partitions=state.partitions + 1) if state.partitions < most_partitions(bounds) else None


# -- the consumer --


@action(partition=partitions)
@kafka(
    "KafkaConsumer.poll; Fetcher.collectFetch",
    versions="0.9–4.3.1",
    simplified="one record at a time, of any partition, a new one also at once; what it does with it is left out",
)
def poll(state: State, bounds: Bounds, *, partition: PartitionId) -> State | None:
    """The consumer reads the next record of a partition; of which one depends on which broker answers first."""
    if bounds.consumers == 0 or state.positions[partition] >= len(state.logs[partition]):
        return None
    return put(state, positions={partition: state.positions[partition] + 1})
