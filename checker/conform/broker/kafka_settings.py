# SPDX-License-Identifier: Apache-2.0
"""The settings of a node: small, quick to notice what fails, and with nothing that happens by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hwmark.checker.errors import InputError
from hwmark.checker.text import shown

FIXED = {
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}
"""How a node is built; not to be changed."""
USUAL: dict[str, object] = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": 0,
    "group.coordinator.append.linger.ms": 0,
    "group.consumer.assignment.interval.ms": 0,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "num.network.threads": 2,
    "num.io.threads": 2,
    "num.recovery.threads.per.data.dir": 1,
    "background.threads": 2,
    "log.cleaner.dedupe.buffer.size": 10_485_760,
    "replica.lag.time.max.ms": 3000,
    "broker.session.timeout.ms": 3000,
    "broker.heartbeat.interval.ms": 500,
}
NAME = re.compile(r"[a-z][a-z0-9._-]*")


def settings_of(count: int, chosen: Mapping[str, object], wanted: Mapping[str, object]) -> dict[str, object]:
    """Return the settings of one of ``count`` nodes: what is wanted, but not in place of what must be as it is."""
    for name in wanted:
        if NAME.fullmatch(name) is None:
            raise InputError(f"{shown(name)} is no setting of Kafka")
        if name in FIXED or name in chosen:
            raise InputError(f"the setting {name} is chosen here, and cannot be given")
    return {**USUAL, **_copies(count), **wanted, **FIXED, **chosen}


def written(settings: Mapping[str, object]) -> str:
    """Return settings as Java reads them."""
    return "".join(f"{name}={_escaped(str(value))}\n" for name, value in settings.items())


def _copies(count: int) -> dict[str, object]:
    """Return how often records are kept, and how many copies there must be of one that is acknowledged by all."""
    least = count // 2 + 1
    topics = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
    internal = {f"{topic}.replication.factor": count for topic in topics}
    minima = {f"{topic}.min.isr": least for topic in topics[1:]}
    return {"default.replication.factor": count, "min.insync.replicas": least, **internal, **minima}


def _escaped(value: str) -> str:
    """Return a value with all that Java would not take as it is given by number, in the units of UTF-16."""
    content = value.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(content[at : at + 2], "big") for at in range(0, len(content), 2)]
    return "".join(chr(unit) if ord(" ") <= unit <= ord("~") and unit != ord("\\") else f"\\u{unit:04x}" for unit in units)
