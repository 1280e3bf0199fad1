# SPDX-License-Identifier: Apache-2.0
"""Drives brokers over the wire: one that listens somewhere, or one that is started for it, and anew where it has died."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from attrs import define, field, frozen

from hwmark.checker.conform.found import Found, Implementation, Plan
from hwmark.checker.errors import InputError
from hwmark.checker.workers import Stop

from .asking import BrokenError, CannotAskError
from .session import Session
from .target import Done, drive
from .wire import Connection
from .wire_broker import WireBroker

START = 20.0
"""Seconds until a broker that was started must listen."""
HERE = "127.0.0.1"
MISREAD = {13: 2, 14: 3}
"""The highest versions of LeaveGroup and SyncGroup that librdkafka's clients speak: its mock cluster misreads later ones."""
UNASKED = {11: "the mock cluster ends each rebalance after a time, whoever has joined, and may end at an assertion then"}
"""JoinGroup, which the mock cluster is not asked."""


@frozen
class Address:
    """Where a broker listens, and which rules it does not have."""

    host: str
    port: int
    lacks: frozenset[str] = frozenset()


@define
class Process:
    """A broker in a process of its own, which is started anew where it has died."""

    command: Callable[[int], list[str]]
    """What to run, given a port that is free."""
    is_mock: bool = False
    """Whether it is our own: takes a port of its own, which it prints, and can be told who is to lead."""
    most: Mapping[int, int] = field(factory=dict)
    """The highest versions that it knows, where it says that it knows more."""
    unasked: Mapping[int, str] = field(factory=dict)
    """APIs that are not asked, with the reasons."""
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
        if self.is_mock and self._running.stdout is not None:
            port = int(self._running.stdout.readline() or 0)
        last = time.monotonic() + START
        while self._running.poll() is None and time.monotonic() < last:
            connection = Connection(HERE, port, most=self.most, unasked=self.unasked)
            try:
                connection.open()
            except BrokenError:
                time.sleep(0.1)
            else:
                return connection
        raise InputError(f"the broker does not start: exit code {self._running.poll()}")

    def move(self, topic: str, broker: int) -> None:
        """Let a broker lead the partition of a topic; raises ``CannotAskError`` where it cannot."""
        process = self._running
        if process is None or process.stdin is None or process.stdout is None:
            raise BrokenError("the broker does not run")
        try:
            process.stdin.write(f"{topic} {broker}\n")
            process.stdin.flush()
        except OSError as error:
            raise BrokenError(f"the broker ended: {error.strerror or error}") from None
        answer = process.stdout.readline()
        if not answer:
            raise BrokenError("the broker ended")
        if answer.strip():
            raise CannotAskError(f"broker {broker} cannot lead: {answer.strip()}")

    def end(self) -> None:
        """End the process, if there is one."""
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None


def mock_process() -> Process:
    """Return the mock cluster of librdkafka, which does not run yet."""
    command = [sys.executable, "-m", "hwmark.checker.conform.broker.mock_process"]
    return Process(lambda _port: command, is_mock=True, most=MISREAD, unasked=UNASKED)


def listening(at: Address, plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive a broker that listens somewhere."""
    over = WireBroker(Session(Connection(at.host, at.port), _prefix()), at.lacks)
    return _driven(Implementation(f"{at.host}:{at.port}", ""), over, plan, stop, done)


def started(driven: Implementation, process: Process, plan: Plan, stop: Stop, done: Done) -> Found:
    """Start a broker, and drive it."""
    with process:
        session = Session(process.start(), _prefix(), process.start, process.move if process.is_mock else None)
        return _driven(driven, WireBroker(session), plan, stop, done)


def _driven(driven: Implementation, over: WireBroker, plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive a broker over a connection, and close that."""
    try:
        return drive(driven, over, plan, stop, done)
    finally:
        over.session.close()


def _prefix() -> str:
    """Return the beginning of names of topics that nobody has used."""
    return f"hwmark-{time.time_ns():x}"


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        port: int = probe.getsockname()[1]
    return port
