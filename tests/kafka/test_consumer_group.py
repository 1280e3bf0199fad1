# SPDX-License-Identifier: Apache-2.0
"""Whole runs of the consumer group machine, against Kafka's own coordinator of a group.

The witness is ``GroupMetadataManager`` of Kafka 4.3.1, in the jar that Kafka publishes, with an assignor that comes to what the
model's comes to, a clock, and timers that go off when they are told. Random runs of the machine under the rules of Kafka 4.3.1 are
taken by both: after every step of the coordinator the answer, every member's record and target, and all epochs must be the same.
Runs under wrong rules must be found out. What Kafka itself does in the lessons that blame it is shown at the end.
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
from hwmark.model.group_consumer.reconciliation import Error, Member, commit_error
from hwmark.model.group_consumer.rules import (
    Assignor,
    CommitEpochs,
    EpochAdvance,
    HeartbeatEpochs,
    InstanceClaim,
    PartitionEpochUpdate,
    PreviousEpoch,
    Release,
    Rules,
)
from hwmark.model.group_consumer.state import Bounds, Config, Request, Response, State, instance_of, is_static
from hwmark.model.machine import Step
from hwmark.spec.group_consumer.presets import KAFKA_4_3

pytestmark = pytest.mark.kafka

BOUNDS = Bounds(
    members=3,
    partitions=4,
    static_members=2,
    replacements=1,
    crashes=2,
    expirations=2,
    rebalance_timeouts=2,
    losses=4,
    leaves=3,
    failovers=2,
    commits=6,
)
ANY = evolve(BOUNDS, partitions=2, assignments=16)
COORDINATOR = (
    "coordinator_handle_heartbeat",
    "coordinator_handle_leave",
    "coordinator_session_timeout",
    "coordinator_rebalance_timeout",
    "coordinator_failover",
    "client_commit",
)


@pytest.fixture(scope="session")
def consumer_group(built: Path) -> Iterator[Witness]:
    """Yield Kafka's own coordinator of a consumer group, open for questions."""
    witness = Witness(jvm.build(SOURCES / "ConsumerGroupWitness.java", built))
    yield witness
    witness.close()


# -- the model in the words of the witness --


def written(record: Member) -> dict[str, Any]:
    """Return a member's record."""
    return {
        "memberEpoch": record.member_epoch,
        "previousMemberEpoch": record.previous_member_epoch,
        "state": record.state.name,
        "assigned": list(record.assigned),
        "pendingRevocation": list(record.pending_revocation),
    }


def described(state: State) -> dict[str, Any]:
    """Return what the model's coordinator has."""
    return {
        "groupEpoch": state.group.group_epoch,
        "assignmentEpoch": state.group.assignment_epoch,
        "members": {f"m{member}": written(record) for member, record in enumerate(state.members) if record is not None},
        "targets": {f"m{member}": sorted(target) for member, target in enumerate(state.targets) if target},
        "partitionEpochs": list(state.partition_epochs),
    }


def question(before: State, step: Step, after: State, bounds: Bounds) -> tuple[Any, ...]:
    """Return what Kafka is asked where the machine takes this step."""
    member = step.choices.get("member")
    match step.action:
        case "coordinator_session_timeout":
            return "expire", f"m{member}"
        case "coordinator_rebalance_timeout":
            return "delay", f"m{member}"
        case "coordinator_failover":
            return ("load",)
        case "client_commit":
            return "commit", f"m{member}", before.clients[step.choices["member"]].member_epoch, step.choices["partition"]
        case _:
            request = before.heartbeats[step.choices["member"]]
            assert isinstance(request, Request)
            targets = {f"m{one}": sorted(after.targets[one]) for one, record in enumerate(after.members) if record is not None}
            instance = f"i{instance_of(bounds, step.choices['member'])}" if is_static(bounds, step.choices["member"]) else None
            owned = None if request.owned is None else sorted(request.owned)
            delayed = step.choices.get("delayed", False)
            return "heartbeat", f"m{member}", instance, request.member_epoch, owned, request.is_full, targets, delayed


def answered(before: State, step: Step, after: State, rules: Rules) -> dict[str, Any]:
    """Return what the model answers to that, as far as somebody hears it."""
    if step.action == "client_commit":
        member = step.choices["member"]
        error = commit_error(rules, before.members[member], before.clients[member].member_epoch, step.choices["partition"])
        return {"error": error.name}
    if step.action != "coordinator_handle_heartbeat":
        return {}
    response = after.heartbeats[step.choices["member"]]
    if not isinstance(response, Response):
        return {}
    if response.error is not Error.NONE:
        return {"error": response.error.name}
    assignment = None if response.assignment is None else sorted(response.assignment)
    return {"error": "NONE", "memberEpoch": response.member_epoch, "assignment": assignment}


def deviation(kafka: Witness, run: list[Taken], rules: Rules, config: Config, bounds: Bounds) -> str | None:
    """Return the first step of the coordinator after which it has something else than Kafka's, or answers something else."""
    kafka.ask("new", bounds.partitions, config.assignment_interval)
    for before, step, after in run:
        if step.action not in COORDINATOR:
            continue
        answer = kafka.ask(*question(before, step, after, bounds))
        expected = answered(before, step, after, rules)
        if answer["group"] is not None:
            expected["group"] = described(after)
        if {name: answer[name] for name in expected} != expected:
            return f"{step}: {expected} is not {answer}"
    return None


# -- runs --


def test_the_witness_is_the_pinned_release(consumer_group: Witness) -> None:
    """The class that is asked is that of the release whose sources the machine names."""
    assert consumer_group.ask("jar")["jar"] == "kafka-group-coordinator-4.3.1.jar"


@pytest.mark.parametrize(
    ("rules", "config", "bounds"),
    [
        (KAFKA_4_3, Config(), BOUNDS),
        (KAFKA_4_3, Config(assignment_interval=True), BOUNDS),
        (evolve(KAFKA_4_3, assignor=Assignor.ANY), Config(), ANY),
    ],
    ids=["uniform", "interval", "any"],
)
def test_runs_take_kafka_to_the_same_states(consumer_group: Witness, rules: Rules, config: Config, bounds: Bounds) -> None:
    """After every step of random runs, in which everything happens, Kafka's coordinator has what the model's has."""
    taken: Counter[str] = Counter()
    for run in walks(rules, config, bounds):
        taken.update(step.action for _, step, _ in run)
        assert deviation(consumer_group, run, rules, config, bounds) is None
    assert all(taken[action] >= 10 for action in COORDINATOR), taken


@pytest.mark.parametrize(
    "wrong",
    [
        evolve(KAFKA_4_3, release=Release.NOT_AWAITED),
        evolve(KAFKA_4_3, epoch_advance=EpochAdvance.AT_ONCE),
        evolve(KAFKA_4_3, previous_epoch=PreviousEpoch.OTHER),
        evolve(KAFKA_4_3, instance_claim=InstanceClaim.OTHER_MEMBER),
        evolve(KAFKA_4_3, partition_epoch_update=PartitionEpochUpdate.SET_BY_SET),
        evolve(KAFKA_4_3, commit_epochs=CommitEpochs.CURRENT),
        evolve(KAFKA_4_3, commit_epochs=CommitEpochs.ANY),
    ],
    ids=["release", "advance", "previous", "instance", "update", "commit-current", "commit-any"],
)
def test_a_wrong_rule_is_found_out(consumer_group: Witness, wrong: Rules) -> None:
    """Under each rule that is not Kafka's some run leads elsewhere."""
    assert any(deviation(consumer_group, run, wrong, Config(), BOUNDS) for run in walks(wrong, Config(), BOUNDS))


@pytest.mark.parametrize(
    "wrong",
    [
        evolve(KAFKA_4_3, heartbeat_epochs=HeartbeatEpochs.CURRENT),
        evolve(KAFKA_4_3, heartbeat_epochs=HeartbeatEpochs.CURRENT_OR_PREVIOUS_UNREVOKED, previous_epoch=PreviousEpoch.OTHER),
    ],
    ids=["less", "more"],
)
def test_another_tolerance_is_found_out(consumer_group: Witness, wrong: Rules) -> None:
    """Members in their previous epoch are rare: there are more of them where more answers are lost."""
    bounds = Bounds(losses=8, leaves=4)
    assert any(deviation(consumer_group, run, wrong, Config(), bounds) for run in walks(wrong, Config(), bounds, count=300))


# -- the lessons that blame Kafka --


def asked_as(kafka: Witness, name: str) -> tuple[list[Taken], list[dict[str, Any]]]:
    """Take a lesson's run with Kafka's coordinator; return its steps of the coordinator, and what Kafka answers to each."""
    replayed = replay(load_shipped(name))
    bounds, steps = replayed.machine.bounds, zip(replayed.states, replayed.steps, replayed.states[1:], strict=False)
    kafka.ask("new", bounds.partitions, replayed.machine.config.assignment_interval)
    taken = [(before, step, after) for before, step, after in steps if step.action in COORDINATOR]
    return taken, [kafka.ask(*question(before, step, after, bounds)) for before, step, after in taken]


def test_kafka_gives_away_what_a_member_has_yet_to_take_over(consumer_group: Witness) -> None:
    """In the run of the lesson Kafka's coordinator takes partition 1 from the first member unasked, and gives it to the second.

    The first, which was given both before, takes both over all the same; once it has heard of its epoch, its commit of the
    partition is accepted.
    """
    taken, answers = asked_as(consumer_group, "owned_alone_reported")
    assert [answer["group"] for answer in answers] == [described(after) for _, _, after in taken]
    assert [answer["assignment"] for answer in answers] == [[0, 1], [], [0], [1]]
    assert consumer_group.ask("commit", "m0", 2, 1)["error"] == "STALE_MEMBER_EPOCH"
    assert consumer_group.ask("commit", "m0", 3, 1)["error"] == "NONE"


def test_kafka_refuses_a_static_member_that_asks_again(consumer_group: Witness) -> None:
    """Its own instance id is said to be in use, by itself."""
    _, answers = asked_as(consumer_group, "instance_taken_by_itself")
    assert [answer["error"] for answer in answers] == ["NONE", "UNRELEASED_INSTANCE_ID"]


def test_kafka_fences_a_member_at_its_second_retry(consumer_group: Witness) -> None:
    """The first one is accepted, and writes the record that makes the second one wrong."""
    _, answers = asked_as(consumer_group, "retry_fenced")
    assert [answer["error"] for answer in answers[-3:]] == ["NONE", "NONE", "FENCED_MEMBER_EPOCH"]
