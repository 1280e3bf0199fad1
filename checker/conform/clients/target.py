# SPDX-License-Identifier: Apache-2.0
"""The target ``clients``: real consumer groups, on librdkafka's mock cluster, on Kafka that is started, or wherever a broker listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import confluent_kafka
from attrs import frozen

from hwmark.checker.conform.broker.asking import BrokenError
from hwmark.checker.conform.found import Check, Found, Implementation, Plan
from hwmark.checker.errors import InputError
from hwmark.checker.text import shown
from hwmark.checker.workers import Stop
from hwmark.spec.clients import promises_of

from .finder import ALL_SHORTENING_SECONDS, SHORTENING_SECONDS, Finder, id_of
from .members import Cluster, ProcessGroup
from .play import Group
from .programs import draw_programs, from_data

AT_ONCE = 8
"""So many groups run at the same time: nearly all the time is waiting."""
CLASSIC = ("range", "roundrobin", "cooperative-sticky")
OF_THE_MOCK = (*CLASSIC, "consumer")
"""The assignors whose groups the mock cluster can have; its coordinator has one of its own."""
OF_KAFKA = (*CLASSIC, "uniform", "server-range")
KAFKA = {
    "group.min.session.timeout.ms": 3000,
    "group.consumer.min.session.timeout.ms": 3000,
    "group.consumer.session.timeout.ms": 3000,
    "group.consumer.min.heartbeat.interval.ms": 300,
    "group.consumer.heartbeat.interval.ms": 300,
}
"""Settings of nodes of Kafka that are started: short sessions."""
Done = Callable[[int, int], None]


@frozen
class Place:
    """What is driven, groups with which assignors it can have, and as many groups as are to run at the same time."""

    driven: tuple[Implementation, ...]
    assignors: tuple[str, ...]
    groups: tuple[Group, ...]


def clients(plan: Plan, stop: Stop, done: Done) -> Found:
    """Drive groups of librdkafka's consumers: on its mock cluster, at an address that is named, or on versions of Kafka."""
    version = confluent_kafka.libversion()[0]
    client = Implementation("librdkafka's consumers", f"{version} (confluent-kafka {confluent_kafka.version()})")
    found: list[Found] = []
    for cluster_of in _clusters(plan, version):
        with cluster_of as (cluster, bootstrap), processes(bootstrap) as (knows_consumer_groups, groups):
            others = OF_KAFKA if knows_consumer_groups else CLASSIC
            place = Place((client, cluster), others if bootstrap else OF_THE_MOCK, groups)
            found.append(drive(place, plan, stop, done))
    implementations = dict.fromkeys(one for each in found for one in each.implementations)
    checks = tuple(check for each in found for check in each.checks)
    return Found(tuple(implementations), checks, next((each.stopped for each in found if each.stopped is not None), None))


def _clusters(plan: Plan, version: str) -> Iterator[AbstractContextManager[tuple[Implementation, str]]]:
    """Yield each cluster that is named, or else the mock cluster: what it is, and where it listens, which is empty for the mock cluster."""
    if plan.address is not None:
        _, _, port = plan.address.rpartition(":")
        if not port.isascii() or not port.isdigit() or not 0 < int(port) < 2**16 or ":" not in plan.address:
            raise InputError(f"--bootstrap: expected HOST:PORT, got {shown(plan.address)}")
        yield nullcontext((Implementation("the broker at", plan.address), plan.address))
    yield from map(_kafka, plan.names)
    if plan.address is None and not plan.names:
        yield nullcontext((Implementation("librdkafka's mock cluster", version), ""))


@contextmanager
def _kafka(version: str) -> Iterator[tuple[Implementation, str]]:
    """Have a node of a version of Apache Kafka."""
    from hwmark.checker.conform.broker.kafka_nodes import KafkaNodes  # noqa: PLC0415 - needs Java

    with KafkaNodes(version=version, settings=KAFKA) as nodes:
        yield Implementation("Apache Kafka", version), nodes.bootstrap


@contextmanager
def processes(bootstrap: str) -> Iterator[tuple[bool, tuple[Group, ...]]]:
    """Have groups of real members, and say whether they can be those of KIP-848; each has a mock cluster of its own, if any.

    Raises ``InputError`` where there is no cluster.
    """
    began = f"hwmark-{time.time_ns():x}"
    clusters = [Cluster(bootstrap) for _ in range(AT_ONCE)]
    try:
        try:
            told = clusters[0].start()
        except BrokenError as error:
            raise InputError(str(error)) from None
        yield (
            "group.consumer.session.timeout.ms" in told,
            tuple(ProcessGroup(one, f"{began}-{number}") for number, one in enumerate(clusters)),
        )
    finally:
        for cluster in clusters:
            cluster.end()


def drive(place: Place, plan: Plan, stop: Stop, done: Done) -> Found:
    """Play programs with groups under a plan, and say what deviates; raises ``InputError`` where none can be played."""
    finder = Finder(place.groups, stop, plan.replay is not None)
    programs = draw_programs(place.assignors, plan.budget, plan.seed) if plan.replay is None else (from_data(plan.replay),)
    with finder.working():
        for program, run in zip(programs, finder.play_all(programs, done), strict=True):
            if run is not None:
                finder.take(program, run)
        if finder.unplayed and not finder.played:
            raise InputError(finder.unplayed[0])
        checks = _checks(finder, tuple(dict.fromkeys(one.assignor for one in programs)))
    unplayed = f"{len(finder.unplayed)} programs could not be played: {finder.unplayed[0]}" if finder.unplayed else None
    return Found(place.driven, checks, stop() or unplayed)


def _checks(finder: Finder, assignors: Sequence[str]) -> tuple[Check, ...]:
    """Return the checks, once each program that breaks a promise is small."""
    asked = [(assignor, promise) for assignor in assignors for promise in promises_of(assignor)]
    last = time.monotonic() + ALL_SHORTENING_SECONDS
    for name in [] if finder.is_replay else [id_of(*one) for one in asked]:
        if name in finder.broken:
            finder.make_small(name, min(last, time.monotonic() + SHORTENING_SECONDS))
    again = finder.again()
    return tuple(finder.check(assignor, promise, again) for assignor, promise in asked)
