# SPDX-License-Identifier: Apache-2.0
"""Real members, each in a process of its own, of a group of a cluster that another process speaks to."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from attrs import define, evolve, field

from hwmark.checker.conform.broker.asking import BrokenError
from hwmark.checker.conform.broker.lines import LineProcess
from hwmark.checker.decode import decode
from hwmark.checker.errors import InputError
from hwmark.checker.jsonfile import parse_json
from hwmark.checker.text import sanitize, shown
from hwmark.model.assignors.groups import TopicPartition
from hwmark.spec.clients.run import ASSIGNORS, Do, Event, Protocol

from .play import MemberError, Times, Told
from .programs import TOPICS, Program, Step

MEMBER = (sys.executable, "-m", "hwmark.checker.conform.clients.member_process")
CLUSTER = (sys.executable, "-m", "hwmark.checker.conform.clients.cluster_process")
START, ANSWER, LEAVING = 30.0, 10.0, 30.0
"""Seconds in which a process must answer for the first time, again, and when its member is to leave."""
MOCK = {
    "group.initial.rebalance.delay.ms": 200,
    "group.min.session.timeout.ms": 3000,
    "group.consumer.session.timeout.ms": 3000,
    "group.consumer.heartbeat.interval.ms": 300,
}
"""What the mock cluster is to decide for its groups; it has no shortest session, but looks once a second who is out."""
LONGEST_SESSION_MS = 60_000
CONSUMER = {"uniform": "uniform", "server-range": "range"}
"""The coordinator's assignors, by name of ours; members of another group name none."""


@define
class MemberProcess(LineProcess):
    """The process of a member, which can be stopped as a whole."""

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal, if it runs."""
        if self._running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._running.pid, number)


@define
class Cluster:
    """The process that speaks to a cluster: ``bootstrap`` is where it listens, empty for a mock cluster that is started."""

    bootstrap: str = ""
    process: LineProcess | None = None
    where: str = ""
    settings: dict[str, int] = field(factory=dict)

    def start(self) -> dict[str, int]:
        """Run it, and return what the cluster decides for its groups, as far as it tells; raises ``BrokenError`` where it does not."""
        self.process = LineProcess((*CLUSTER, self.bootstrap, json.dumps(MOCK)))
        self.process.start()
        told = self._call(START, {"do": "begin"})
        self.where, self.settings = told["bootstrap"], {**MOCK, **told["settings"]}
        settings: dict[str, int] = told["settings"]
        return settings

    def ask(self, timeout: float = START, **line: Any) -> dict[str, Any]:
        """Have it do something, after it was started if it does not run; raises ``BrokenError`` where it cannot."""
        if self.process is None or not self.process.is_running:
            self.start()
        return self._call(timeout, line)

    def _call(self, timeout: float, line: dict[str, Any]) -> dict[str, Any]:
        if self.process is None:
            raise BrokenError("it does not run")
        try:
            told: dict[str, Any] = parse_json(self.process.ask(json.dumps(line).encode(), timeout).decode())
        except (BrokenError, ValueError) as error:
            self.process.end(0)
            raise BrokenError(f"the cluster: {error}") from None
        return told

    def end(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.end()


@define
class ProcessGroup:
    """A group of real members. Its topics, and the group, have names that begin with ``prefix`` and were never used."""

    cluster: Cluster
    prefix: str
    member: tuple[str, ...] = MEMBER
    times: Times = field(factory=Times)
    _program: Program | None = None
    _count: int = 0
    _members: dict[str, MemberProcess] = field(factory=dict)
    _frozen: set[str] = field(factory=set)
    _last: dict[str, Told] = field(factory=dict)
    """What members told that have left since."""

    def now(self) -> int:
        """Return the time of all processes of this machine."""
        return time.monotonic_ns() // 1000

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def begin(self, program: Program) -> None:
        """Make topics, and learn how long a session is."""
        self.end()
        self._count, self._program, self._last = self._count + 1, program, {}
        self.cluster.ask(do="create", topics={self._real(name): count for name, count in zip(TOPICS, program.partitions, strict=False)})
        is_consumer = ASSIGNORS[program.assignor] is Protocol.CONSUMER
        told = self.cluster.settings
        session = told["group.consumer.session.timeout.ms" if is_consumer else "group.min.session.timeout.ms"] / 1000
        heartbeat = told["group.consumer.heartbeat.interval.ms"] / 1000 if is_consumer else session / 10
        delay = told["group.initial.rebalance.delay.ms"] / 1000
        if session * 1000 > LONGEST_SESSION_MS:
            raise InputError(f"sessions of {session:g} s are too long to wait for: set group.consumer.session.timeout.ms to less")
        poll_interval = min(session, 6.0) + 1 if is_consumer else session + 1
        quiet, patience = max(0.5, 1.5 * heartbeat), session + poll_interval + 4
        self.times = Times(session, heartbeat, poll_interval, quiet, patience, 4 * session + 8 + delay)

    def _real(self, topic: str) -> str:
        return f"{self.prefix}-{self._count}-{topic}"

    def do(self, step: Step) -> None:
        """Do a step."""
        name = step.member
        match step.do:
            case Do.JOIN:
                self._members[name] = MemberProcess(self.member)
                try:
                    self._members[name].start()
                except BrokenError as error:
                    raise MemberError(name, str(error)) from None
                self._ask(name, START, do="join", settings=self._settings(step), topics=[*map(self._real, step.topics)])
            case Do.SUBSCRIBE:
                self._ask(name, ANSWER, do="subscribe", topics=[*map(self._real, step.topics)])
            case Do.STALL:
                self._ask(name, ANSWER, do="stall")
            case Do.FREEZE:
                self._members[name].signal(signal.SIGSTOP)
                self._frozen.add(name)
            case Do.RESUME if name in self._frozen:
                self._members[name].signal(signal.SIGCONT)
                self._frozen.discard(name)
            case Do.RESUME:
                self._ask(name, ANSWER, do="go_on")
            case Do.LEAVE:
                self._ask(name, LEAVING, do="leave")
                self._members.pop(name).end()
            case Do.CRASH:
                self._ask(name, ANSWER, do="hold")  # so that it does nothing that nobody hears of
                self._members.pop(name).end(0)

    def look(self) -> Mapping[str, Told]:
        """Ask all members that run and are not frozen, and add what others told last."""
        for name in self._members:
            if name not in self._frozen:
                self._ask(name, ANSWER, do="tell")
        told, self._last = self._last, {}
        return told

    def produce(self, counts: Mapping[str, int]) -> None:
        """Append records."""
        numbers = dict(zip(TOPICS, self._program.partitions if self._program else (), strict=False))
        self.cluster.ask(do="produce", counts={self._real(topic): [count] * numbers[topic] for topic, count in counts.items()})

    def end(self) -> None:
        """End all members at once, and delete the topics; a cluster that does not answer any more has none."""
        for process in self._members.values():
            process.end(0)
        self._members, self._frozen = {}, set()
        if self._program is not None:
            topics = [self._real(name) for name, _ in zip(TOPICS, self._program.partitions, strict=False)]
            self._program = None
            with suppress(BrokenError):
                self.cluster.ask(do="delete", topics=topics)

    def _settings(self, step: Step) -> dict[str, Any]:
        program, times = self._program, self.times
        assignor = "" if program is None else program.assignor
        common: dict[str, Any] = {
            "bootstrap.servers": self.cluster.where,
            "group.id": f"{self.prefix}-{self._count}",
            "client.id": step.member,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 100,
            "max.poll.interval.ms": int(times.poll_interval * 1000),
            "log_level": 0,
        }
        if step.static:
            common["group.instance.id"] = step.member
        if ASSIGNORS[assignor] is Protocol.CONSUMER:
            named = {"group.remote.assignor": CONSUMER[assignor]} if assignor in CONSUMER else {}
            return {**common, "group.protocol": "consumer", **named}
        session = {"session.timeout.ms": int(times.session * 1000), "heartbeat.interval.ms": int(times.heartbeat * 1000)}
        return {**common, "partition.assignment.strategy": assignor, **session}

    def _ask(self, name: str, timeout: float, **line: Any) -> None:
        """Have a member do something, and keep what it tells."""
        try:
            answer = self._members[name].ask(json.dumps(line).encode(), timeout)
            told = self._ours(decode(Told, parse_json(answer.decode()), "its answer"))
        except BrokenError as error:
            raise MemberError(name, str(error)) from None
        except ValueError as error:  # InputError is one, as is what is no UTF-8
            raise MemberError(name, sanitize(str(error)) if isinstance(error, InputError) else "its answer is not UTF-8") from None
        before = self._last.get(name, Told())
        self._last[name] = evolve(told, events=before.events + told.events)

    def _ours(self, told: Told) -> Told:
        """Return what a member told, with the names that topics have in the program."""
        real = {self._real(name): name for name in TOPICS}

        def named(event: Event) -> Event:
            for one in event.partitions:
                if one.topic not in real:
                    raise InputError(f"it tells of {shown(one.topic)}, which is no topic of this group")
            if event.offsets and len(event.offsets) != len(event.partitions):
                raise InputError("it tells of more or fewer offsets than partitions")
            return evolve(event, partitions=tuple(TopicPartition(real[one.topic], one.partition) for one in event.partitions))

        return evolve(told, events=tuple(map(named, told.events)))
