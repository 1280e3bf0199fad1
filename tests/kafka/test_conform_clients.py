# SPDX-License-Identifier: Apache-2.0
"""Groups of librdkafka's consumers on Apache Kafka deviate where it is known why, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hwmark.checker.cli import run
from hwmark.checker.conform.broker.kafka_nodes import KafkaNodes
from hwmark.checker.conform.clients.finder import Finder
from hwmark.checker.conform.clients.programs import from_data
from hwmark.checker.conform.clients.target import KAFKA, OF_KAFKA, processes
from hwmark.spec.clients.run import ASSIGNORS, Protocol

pytestmark = pytest.mark.kafka

KNOWN = Path(__file__).resolve().parents[1] / "checker" / "conform" / "clients" / "known-kafka.json"
JOINS = [{"do": "join", "member": name, "topics": ["t"]} for name in "abc"]
STALLED = {
    name: [*JOINS[:2], {"do": "stall", "member": name, "then": "at_once"}, JOINS[2], {"do": "resume", "member": name}] for name in "ab"
}
CHANGED = [{**JOINS[0], "topics": ["t", "u"]}, JOINS[1], {"do": "subscribe", "member": "b", "topics": ["u"]}]
MIXED = [JOINS[0], {**JOINS[1], "static": True}]
PROGRAMS = {
    "range/assignment/in_ranges": ({"t": 3}, MIXED),
    "roundrobin/assignment/in_turn": ({"t": 1}, MIXED),
    "range/pause/lost_is_told": ({"t": 2}, STALLED["b"]),
    "roundrobin/pause/lost_is_told": ({"t": 2}, STALLED["b"]),
    "cooperative-sticky/pause/lost_is_told": ({"t": 5}, STALLED["a"]),
    "cooperative-sticky/assignment/every_partition_has_an_owner": ({"t": 1, "u": 1}, CHANGED),
}
"""A program for each of the deviations that are there nearly each time."""


def never() -> None:
    """Do not stop."""


def quietly(_done: int, _of: int) -> None:
    """Say nothing."""


def test_nothing_is_news(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With every assignor, those of the coordinator (KIP-848) among them."""
    monkeypatch.setattr("hwmark.checker.conform.clients.target.ALL_SHORTENING_SECONDS", 0.0)
    monkeypatch.setattr("hwmark.checker.conform.clients.finder.AGAIN", 2)
    code = run(["conform", "clients", "--release", "4.3.1", "--budget", "25", "--known", str(KNOWN), "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [check["id"] for check in report["checks"] if check["verdict"] == "deviates"] == []
    assert code in {0, 3}  # what was broken once, and not again, is undetermined
    assert {check["id"].split("/")[0] for check in report["checks"]} == set(OF_KAFKA)
    of_the_coordinator = [check for check in report["checks"] if ASSIGNORS[check["id"].split("/")[0]] is Protocol.CONSUMER]
    assert sum(check["asked"] for check in of_the_coordinator) > 300


def test_what_is_known_is_still_there() -> None:
    """Each program breaks its promise in one of two plays at least."""
    with KafkaNodes(settings=KAFKA) as nodes, processes(nodes.bootstrap) as (_, groups):
        finder = Finder(groups, never)
        data = [{"assignor": name.split("/")[0], "partitions": counts, "steps": steps} for name, (counts, steps) in PROGRAMS.items()]
        programs = tuple(map(from_data, data * 2))
        with finder.working():
            for program, shown in zip(programs, finder.play_all(programs, quietly), strict=True):
                assert shown is not None
                finder.take(program, shown)
    assert set(PROGRAMS) <= set(finder.broken)
