# SPDX-License-Identifier: Apache-2.0
"""Starts nodes of Apache Kafka on this machine, each of them a broker, most a controller too, and breaks them when asked.

They listen on 127.0.0.1 only. They end with the context, and with the thread that started them where ``setpriv`` can see to
that; not by Ctrl-C, which is for whoever started them to handle. Listeners are plain: there is neither TLS nor SASL.
"""

from __future__ import annotations

import base64
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from attrs import define, field

from hwmark.checker.errors import InputError, unknown

from .asking import BrokenError
from .kafka_jars import available, classpath
from .kafka_node import Node, NodeError
from .kafka_settings import settings_of, written
from .wire import Connection

__all__ = ["KafkaNodes", "Node", "NodeError", "alive_brokers", "available"]

START_SECONDS = 60.0
"""Until a node that does not answer counts as failed; a few are usual, fifteen on a busy machine."""
STOP_SECONDS = 10.0
"""Until nodes that were asked to end are killed."""
LOOK_EVERY = 0.1
ANSWER_SECONDS = 1.0
METADATA = 3
HERE = "127.0.0.1"
PORTS = range(20_000, 32_000)
"""Below those that Linux gives to connections, so that none takes the port of a node that is down."""
JVM = ("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.showDateTime=true")


@define
class KafkaNodes:
    """Nodes of one cluster, numbered from 1, which run while this context is entered.

    Without ``folder`` all that they write is in a temporary one, which is removed at the end, but kept if they do not start.
    ``settings`` come before those of ``kafka_settings``; ``features`` are levels, as ``{"group.version": 0}``. Where nodes
    cannot be started an ``InputError`` says why, and nothing is left running.
    """

    version: str = "4.3.1"
    count: int = 1
    controllers: int | None = None
    """How many of them, from the first on, are controllers too; ``None``: all."""
    folder: Path | None = None
    settings: Mapping[str, object] = field(factory=dict)
    features: Mapping[str, int] = field(factory=dict)
    _nodes: dict[int, Node] = field(factory=dict, init=False)
    _place: Path = field(default=Path(), init=False)

    def __enter__(self) -> Self:
        """Start all nodes, and wait until each answers and knows all others."""
        java = (shutil.which("java") or "java", *JVM, "-cp", classpath(self.version))
        self._place = _made(self.folder)
        try:
            self._prepare(java)
            for node in self._nodes.values():
                node.launch()
            self._wait_for(self._nodes, frozenset(self._nodes))
        except NodeError:
            self._end()  # its log stays
            raise
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """End all nodes."""
        try:
            self._end()
        finally:
            self._remove()

    @property
    def bootstrap(self) -> str:
        """The addresses that clients are told."""
        return ",".join(f"{HERE}:{node.port}" for node in self._nodes.values())

    def node(self, number: int) -> Node:
        """Return a node."""
        if number not in self._nodes:
            raise unknown("node", number, map(str, self._nodes))
        return self._nodes[number]

    # -- faults --

    def kill(self, number: int) -> None:
        """End a node as a crash does."""
        self.node(number).signal(signal.SIGKILL)
        self.node(number).end()

    def stop(self, number: int) -> None:
        """Ask a node to end: it gives its leaderships away, and closes its logs. It is killed if that takes it too long."""
        self.node(number).ask_to_end()
        self.node(number).end(STOP_SECONDS)

    def pause(self, number: int) -> None:
        """Let a node do nothing, as in a long pause of its garbage collection; its connections stay open."""
        self.node(number).signal(signal.SIGSTOP)

    def resume(self, number: int) -> None:
        """Let a node go on; one that is not paused just does."""
        self.node(number).signal(signal.SIGCONT)

    def start(self, number: int) -> None:
        """Start a node again with the data it has, and wait until it answers and says that the controller does not fence it."""
        if self.node(number).is_running:
            raise NodeError(f"Kafka's node {number} is running")
        self.node(number).launch()
        self._wait_for((number,), frozenset((number,)))

    # -- starting --

    def _prepare(self, java: tuple[str, ...]) -> None:
        """Choose ports, write settings, and format each node's folder, which is what gives a cluster its features."""
        if self.count < 1:
            raise InputError(f"a cluster has one node or more, not {self.count}")
        controllers = self.count if self.controllers is None else self.controllers
        if not 1 <= controllers <= self.count:
            raise InputError(f"of {self.count} nodes from 1 to {self.count} are controllers, not {controllers}")
        ports = _free_ports(2 * self.count)
        numbers = range(1, self.count + 1)
        self._nodes = {one: Node(one, ports.pop(), ports.pop(), self._place / f"node-{one}", java) for one in numbers}
        voters = ",".join(f"{one}@{HERE}:{self._nodes[one].controller_port}" for one in numbers[:controllers])
        cluster = base64.urlsafe_b64encode(b"hwmark" + secrets.token_bytes(10)).decode().rstrip("=")
        for node in self._nodes.values():
            node.folder.mkdir()
            roles = {"broker": f"PLAINTEXT://{HERE}:{node.port}", "controller": f"CONTROLLER://{HERE}:{node.controller_port}"}
            if node.number > controllers:
                del roles["controller"]
            chosen = {
                "node.id": node.number,
                "process.roles": ",".join(roles),
                "listeners": ",".join(roles.values()),
                "controller.quorum.voters": voters,
                "log.dirs": node.log_dir,
            }
            node.settings.write_text(written(settings_of(self.count, chosen, self.settings)), encoding="utf-8")
            node.format(cluster, [f"{name}={level}" for name, level in self.features.items()])

    def _wait_for(self, numbers: Iterable[int], alive: frozenset[int]) -> None:
        """Wait until each of some nodes says that these brokers are alive, which those are that the controller does not fence."""
        last = time.monotonic() + START_SECONDS
        for node in map(self._nodes.__getitem__, numbers):
            while not alive <= alive_brokers(node.port):
                if not node.is_running:
                    raise node.died()
                if time.monotonic() > last:
                    raise node.failure(f"is not ready within {START_SECONDS:g} s")
                time.sleep(LOOK_EVERY)

    # -- ending --

    def _end(self) -> None:
        """End what runs, all at once."""
        running = [node for node in self._nodes.values() if node.is_running]
        last = time.monotonic() + STOP_SECONDS
        try:
            for node in running:
                with suppress(NodeError):  # it died in between
                    node.ask_to_end()
            for node in running:
                node.end(last - time.monotonic())
        finally:  # also at a Ctrl-C in the meantime
            for node in running:
                node.end()

    def _remove(self) -> None:
        if self.folder is None:
            shutil.rmtree(self._place, ignore_errors=True)


def alive_brokers(port: int) -> frozenset[int]:
    """Return which brokers a node on this machine says are alive; none if it does not answer."""
    connection = Connection(HERE, port, ANSWER_SECONDS)
    try:
        connection.open()
        return frozenset(int(broker.node_id) for broker in connection.call(METADATA, 1, {"topics": ()}).brokers)
    except BrokenError:
        return frozenset()
    finally:
        connection.close()


def _made(folder: Path | None) -> Path:
    """Return the folder that all is put into: a new one, or one that is empty."""
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="hwmark-kafka-"))
    place = folder.resolve()
    try:
        place.mkdir(parents=True, exist_ok=True)
        is_empty = not any(place.iterdir())
    except OSError as error:
        raise InputError(f"the folder {place} cannot be used: {error.strerror}") from None
    if "," in str(place):
        raise InputError(f"the folder {place} cannot be used: Kafka takes a comma for the end of a folder's name")
    if not is_empty:
        raise InputError(f"the folder {place} is not empty: nodes start with a new one")
    return place


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody has now."""
    shuffled = secrets.SystemRandom().sample(PORTS, len(PORTS))
    free = list(islice(filter(_is_free, shuffled), count))
    if len(free) < count:
        raise InputError(f"there are no {count} free ports on {HERE} from {PORTS[0]} to {PORTS[-1]}")
    return free


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind((HERE, port))
        except OSError:
            return False
    return True
