# SPDX-License-Identifier: Apache-2.0
"""The members of the consumer group machine, against Kafka's own consumer.

The witness is ``ConsumerMembershipManager`` with ``ConsumerHeartbeatRequestManager`` of Kafka 4.3.1, in the jar that Kafka
publishes, and nothing of the network or the application. Each member of random runs of the machine is taken by it through the
same answers, losses and moments: it must send the same heartbeats and own the same. At the end two of Kafka's own consumers and
Kafka's own coordinator are taken through the run of a lesson, and consume the same partition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jvm
import pytest
from attrs import evolve
from conftest import SOURCES
from group_walks import Taken, walks
from jvm import Witness

from hwmark.checker.shipped import load_shipped
from hwmark.checker.trace import replay
from hwmark.model.group_consumer.reconciliation import JOIN_EPOCH, Error
from hwmark.model.group_consumer.rules import OwnedReport, Rules
from hwmark.model.group_consumer.state import Bounds, Client, ClientState, Config, Request, Response, instance_of, is_static
from hwmark.model.ownership import MemberId
from hwmark.spec.group_consumer.presets import KAFKA_4_3

pytestmark = pytest.mark.kafka

BOUNDS = Bounds(
    members=2,
    partitions=3,
    static_members=1,
    replacements=1,
    crashes=1,
    expirations=2,
    rebalance_timeouts=1,
    losses=5,
    leaves=3,
    failovers=2,
)


def opened(built: Path) -> Witness:
    """Return Kafka's own consumer, open for questions."""
    return Witness(jvm.build(SOURCES / "ConsumerMemberWitness.java", built))


@pytest.fixture(scope="session")
def consumer_member(built: Path) -> Iterator[Witness]:
    """Yield Kafka's own consumer, open for questions."""
    witness = opened(built)
    yield witness
    witness.close()


# -- the model in the words of the witness --


def is_about(step: Taken, member: MemberId) -> bool:
    """Whether a step happens to a member: its own, or one that its heartbeat does not survive."""
    before, taken, after = step
    if taken.action == "coordinator_failover":
        return before.heartbeats[member] is not None and after.heartbeats[member] is None
    return taken.choices["member"] == member


PLAIN = {"client_send_heartbeat": ("send",), "client_reconcile": ("reconcile",), "client_leave": ("leave",)}
"""What Kafka is asked where a member does this, whatever it is."""


def question(step: Taken, member: MemberId, bounds: Bounds) -> tuple[Any, ...] | None:
    """Return what Kafka is asked where this happens to a member; ``None``: nothing that a consumer would notice."""
    before, taken, _ = step
    is_gone = before.clients[member].state is ClientState.GONE
    if taken.action == "client_join":
        instance = f"i{instance_of(bounds, member)}" if is_static(bounds, member) else None
        return ("new", instance) if is_gone else ("subscribe",)
    if taken.action in PLAIN or is_gone:
        return PLAIN.get(taken.action)
    heartbeat = before.heartbeats[member]
    if taken.action == "client_receive_response" and isinstance(heartbeat, Response):
        assignment = None if heartbeat.assignment is None else sorted(heartbeat.assignment)
        return "receive", heartbeat.error.name, heartbeat.member_epoch, assignment
    if taken.action == "coordinator_handle_leave" and isinstance(heartbeat, Request):
        return "receive", "NONE", heartbeat.member_epoch, None
    return ("lose",) if taken.action in {"lose_heartbeat", "coordinator_failover"} else None


def described(client: Client) -> dict[str, Any]:
    """Return what a member is; of one that is out of the group only that."""
    if client.state is ClientState.GONE:
        return {"state": "FATAL"}
    if client.state is ClientState.UNSUBSCRIBED:
        return {"state": "UNSUBSCRIBED", "owned": [], "consumed": []}
    owned = sorted(client.owned)
    return {"state": client.state.name, "memberEpoch": client.member_epoch, "owned": owned, "consumed": owned}


def sent(step: Taken, member: MemberId) -> dict[str, Any] | None:
    """Return the heartbeat that a member sends in this step."""
    request = step[2].heartbeats[member]
    if step[1].action not in {"client_send_heartbeat", "client_leave"} or not isinstance(request, Request):
        return None
    if request.member_epoch < JOIN_EPOCH:
        return {"memberEpoch": request.member_epoch}
    owned = None if request.owned is None else sorted(request.owned)
    return {"memberEpoch": request.member_epoch, "owned": owned, "isFull": request.is_full}


def deviation(kafka: Witness, run: list[Taken], member: MemberId, bounds: Bounds) -> str | None:
    """Return the first step in which Kafka's consumer sends or owns something else than this member."""
    if member < bounds.members:
        kafka.ask("new", f"i{instance_of(bounds, member)}" if is_static(bounds, member) else None)
    for step in run:
        asked = question(step, member, bounds) if is_about(step, member) else None
        if asked is None:
            continue
        answer = kafka.ask(*asked)
        expected, request = described(step[2].clients[member]), sent(step, member)
        found = {name: answer[name] for name in expected}
        said = None if request is None else {name: (answer["request"] or {}).get(name) for name in request}
        if (found, said) != (expected, request):
            return f"{step[1]}: {expected}, {request} is not {answer}"
    return None


# -- runs --


def test_the_witness_is_the_pinned_release(consumer_member: Witness) -> None:
    """The classes that are asked are those of the release whose sources the machine names."""
    assert consumer_member.ask("jar") == {"jar": "kafka-clients-4.3.1.jar"}


def test_runs_make_kafka_send_the_same_heartbeats(consumer_member: Witness) -> None:
    """Static and dynamic members that are given partitions, asked for them, fenced, lose answers, leave and come back."""
    taken: Counter[str] = Counter()
    for run in walks(KAFKA_4_3, Config(), BOUNDS):
        for member in range(BOUNDS.members + BOUNDS.replacements):
            taken.update(step[1].action for step in run if is_about(step, member))
            assert deviation(consumer_member, run, member, BOUNDS) is None
    own = ("client_join", "client_send_heartbeat", "client_receive_response", "client_reconcile", "client_leave", "lose_heartbeat")
    assert all(taken[action] >= 20 for action in own), taken


def test_a_member_that_reports_more_is_found_out(consumer_member: Witness) -> None:
    """Kafka's consumer does not report what it has yet to take over."""
    rules = evolve(KAFKA_4_3, owned_report=OwnedReport.OWNED_AND_PENDING)
    found = (deviation(consumer_member, run, member, BOUNDS) for run in walks(rules, Config(), BOUNDS) for member in range(BOUNDS.members))
    assert any(found)


# -- Kafka's consumers and Kafka's coordinator --


class Group:
    """Kafka's own coordinator and two of Kafka's own consumers, between which heartbeats are carried by hand."""

    def __init__(self, coordinator: Witness, members: list[Witness], targets: list[dict[str, list[int]]]) -> None:
        """Begin a group of two partitions; the assignor comes to these targets one after another."""
        self.coordinator, self.members, self.targets = coordinator, members, targets
        self.requests: list[dict[str, Any]] = [{} for _ in members]
        self.answers: list[dict[str, Any]] = [{} for _ in members]
        coordinator.ask("new", 2, Config().assignment_interval)
        for member in members:
            member.ask("new", None)

    def take(self, action: str, member: int) -> dict[str, Any]:
        """Take a step of the machine with what Kafka's own classes said so far."""
        match action:
            case "coordinator_handle_heartbeat":
                request = self.requests[member]
                told = self.targets[0] if len(self.targets) == 1 or request["memberEpoch"] != JOIN_EPOCH else self.targets.pop(0)
                heartbeat = (f"m{member}", None, request["memberEpoch"], request["owned"], request["isFull"], told, False)
                self.answers[member] = self.coordinator.ask("heartbeat", *heartbeat)
                return self.answers[member]
            case "client_send_heartbeat":
                said = self.members[member].ask("send")
                self.requests[member] = said["request"]
                return said
            case "client_receive_response":
                answer = self.answers[member]
                return self.members[member].ask("receive", answer["error"], answer["memberEpoch"], answer["assignment"])
            case "client_reconcile":
                return self.members[member].ask("reconcile")
            case _:
                return self.members[member].ask("lose")


def test_two_of_kafkas_consumers_consume_the_same_partition(built: Path, consumer_member: Witness) -> None:
    """A lost heartbeat, and the order of steps of the lesson: both fetch from partition 1, and both may commit it."""
    coordinator, second = Witness(jvm.build(SOURCES / "ConsumerGroupWitness.java", built)), opened(built)
    try:
        group = Group(coordinator, [consumer_member, second], [{"m0": [0, 1]}, {"m0": [0], "m1": [1]}])
        last = [group.take(step.action, step.choices["member"]) for step in replay(load_shipped("owned_alone_reported")).steps]
        assert [answer["consumed"] for answer in last[-2:]] == [[0, 1], [1]]
        assert group.take("client_receive_response", 0)["memberEpoch"] == 3
        assert [coordinator.ask("commit", name, 3, 1)["error"] for name in ("m0", "m1")] == [Error.NONE.name, Error.NONE.name]
    finally:
        coordinator.close()
        second.close()


def test_the_rules_that_are_walked_are_kafkas() -> None:
    """The right rules differ from them in what a member reports, which the last test shows to be needed."""
    assert (KAFKA_4_3.owned_report, Rules().owned_report) == (OwnedReport.OWNED, OwnedReport.OWNED_AND_PENDING)
