# SPDX-License-Identifier: Apache-2.0
"""Every machine with what is said about it: its presets, its promises, the small scope it is checked in, and its view."""

from __future__ import annotations

from hwmark.model import async_isr as async_isr_model
from hwmark.model import log_machine as log_model
from hwmark.model import replication as replication_model
from hwmark.model.rules import AsyncIsrRules, LogRules, ReplicationRules

from . import async_isr, async_isr_view, log_machine, log_view, replication, replication_view, versions
from .broker_api.described import DESCRIBED as BROKER_API
from .consumer.described import DESCRIBED as CONSUMER
from .described import Described
from .group_classic.described import DESCRIBED as GROUP_CLASSIC
from .group_consumer.described import DESCRIBED as GROUP_CONSUMER
from .majority.described import DESCRIBED as MAJORITY
from .offsets.described import DESCRIBED as OFFSETS
from .ownership import DESCRIBED as OWNERSHIP
from .partition.described import DESCRIBED as PARTITION
from .pipeline.described import DESCRIBED as PIPELINE
from .placement.described import DESCRIBED as PLACEMENT
from .topic.described import DESCRIBED as TOPIC
from .zookeeper.described import DESCRIBED as ZOOKEEPER

MACHINES: dict[str, Described] = {
    one.name: one
    for one in (
        Described(
            name="replication",
            module=replication_model,
            rules=ReplicationRules,
            presets=versions.REPLICATION,
            right="kip_320",
            properties=replication.PROPERTIES,
            small=replication_model.Bounds(replicas=2, log_size=3, records=3, max_leader_epoch=2),
            view=replication_view.VIEW,
        ),
        Described(
            name="async_isr",
            module=async_isr_model,
            rules=AsyncIsrRules,
            presets=versions.ASYNC_ISR,
            right="async_isr",
            properties=async_isr.PROPERTIES,
            small=async_isr_model.Bounds(replicas=3, max_version=2, max_offset=1),
            view=async_isr_view.VIEW,
        ),
        Described(
            name="log",
            module=log_model,
            rules=LogRules,
            presets=versions.LOG,
            right="log",
            properties=log_machine.PROPERTIES,
            small=log_model.Bounds(log_size=3, records=3, max_leader_epoch=2),
            view=log_view.VIEW,
        ),
        PARTITION,
        MAJORITY,
        GROUP_CLASSIC,
        GROUP_CONSUMER,
        OWNERSHIP,
        OFFSETS,
        CONSUMER,
        PIPELINE,
        PLACEMENT,
        TOPIC,
        ZOOKEEPER,
        BROKER_API,
    )
}
