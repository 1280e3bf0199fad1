# SPDX-License-Identifier: Apache-2.0
"""One node of Apache Kafka on this machine: a folder, and at times a process."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from attrs import define, field

from hwmark.checker.errors import InputError

FORMAT_SECONDS = 60.0
LONGEST_WORDS = 300
FAULT = re.compile(r"(?:Exception in thread \S+ |Caused by: )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error)(?:: .*)?)")
"""How Java says what went wrong."""


class NodeError(InputError):
    """A node does not start, has died, or is not in the state that is asked for."""


@define
class Node:
    """A node: ``number`` is its ``node.id``, ``java`` the command of its JVM, but for the class that is run."""

    number: int
    port: int
    controller_port: int
    folder: Path
    java: tuple[str, ...] = field(repr=False)
    process: subprocess.Popen[bytes] | None = None

    @property
    def log_dir(self) -> Path:
        """Where its partitions lie."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """What it says, of all its starts."""
        return self.folder / "node.log"

    @property
    def settings(self) -> Path:
        """The file of its settings."""
        return self.folder / "node.properties"

    @property
    def is_running(self) -> bool:
        """Whether its process is there, be it paused."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._running().pid

    def format(self, cluster: str, levels: Iterable[str]) -> None:
        """Make its folder of data one of a cluster; ``levels`` are the features that differ from those of the release."""
        command = (*self.java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self.settings))
        features = [part for level in levels for part in ("--feature", level)]
        with self.log.open("ab") as log:
            try:
                done = subprocess.run((*command, *features), stdout=log, stderr=log, timeout=FORMAT_SECONDS, check=False)  # noqa: S603 - Kafka's own tool
            except subprocess.TimeoutExpired:
                raise self.failure(f"cannot be formatted within {FORMAT_SECONDS:g} s") from None
        if done.returncode:
            raise self.failure("cannot be formatted")

    def launch(self) -> None:
        """Start its process; Ctrl-C does not reach it."""
        command = (*ending_with_parent(), *self.java, "kafka.Kafka", str(self.settings))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0)  # noqa: S603 - Kafka itself

    def signal(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        self._running().send_signal(number)

    def ask_to_end(self) -> None:
        """Ask its process to end, which one that is paused does when it goes on."""
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)

    def end(self, seconds: float = 0) -> None:
        """Wait until its process has ended, and kill it if it does not within some seconds, or whatever else happens meanwhile."""
        if self.process is None:
            return
        try:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(max(seconds, 0))
        finally:
            self.process.kill()
            self.process.wait()

    def died(self) -> NodeError:
        """Return what to say of a process that has ended by itself."""
        return self.failure(f"died, with exit code {None if self.process is None else self.process.poll()}")

    def failure(self, what: str) -> NodeError:
        """Return what to say of a node with which something is wrong: with the last words of its log."""
        return NodeError(f"Kafka's node {self.number} {what}: {_last_words(self.log)}; its log is {self.log}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            raise NodeError(f"Kafka's node {self.number} is not running")
        return self.process


@cache
def ending_with_parent() -> tuple[str, ...]:
    """Return what to put before a command so that the system kills it when its parent dies, where that can be had."""
    prefix = (shutil.which("setpriv") or "", "--pdeathsig", "KILL")
    if not prefix[0] or subprocess.run((*prefix, "true"), capture_output=True, check=False).returncode:  # noqa: S603 - a tool of the PATH
        return ()
    return prefix


def _last_words(log: Path) -> str:
    """Return the last line in which Java says what is wrong, or else the last line."""
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    faults = [fault[1] for fault in map(FAULT.fullmatch, lines) if fault is not None]
    return (faults or lines or ["it says nothing"])[-1][:LONGEST_WORDS]
