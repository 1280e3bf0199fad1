# SPDX-License-Identifier: Apache-2.0
"""What the model's coordinator decides about a member, against Kafka's own classes.

The witness is the group coordinator of Kafka 4.3.1, in the jar that Kafka publishes: ``CurrentAssignmentBuilder`` takes a
member a step on, ``ConsumerGroup`` keeps the epochs of partitions and checks commits. Model and witness are asked the same,
about members and groups of any kind; functions of the model with one rule taken wrongly must be found out by the same questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jvm
import pytest
from attrs import evolve
from conftest import SOURCES
from hypothesis import find, given, settings
from hypothesis import strategies as st
from jvm import Witness

from hwmark.model.group_consumer.reconciliation import (
    NOT_HELD,
    STATIC_LEAVE_EPOCH,
    Error,
    Held,
    Member,
    MemberState,
    Partitions,
    Target,
    all_held,
    commit_error,
    reconcile,
    updated_partition_epochs,
)
from hwmark.model.group_consumer.rules import CommitEpochs, EpochAdvance, PartitionEpochUpdate, PreviousEpoch, Release, Rules

pytestmark = pytest.mark.kafka

KAFKA = Rules()
"""In what is asked here the model's right rules are Kafka's."""
COUNT = 4
TOPICS = 2
many = settings(max_examples=400)


@pytest.fixture(scope="session")
def reconciliation(built: Path) -> Iterator[Witness]:
    """Yield what Kafka's coordinator decides about a member, open for questions."""
    witness = Witness(jvm.build(SOURCES / "ReconciliationWitness.java", built))
    yield witness
    witness.close()


# -- members --

holdings = st.lists(st.sampled_from([NOT_HELD, NOT_HELD, 0, 1, 2, 3, 5]), min_size=COUNT, max_size=COUNT).map(tuple)
parts = st.frozensets(st.sampled_from(range(COUNT)))


@st.composite
def records(draw: st.DrawFn) -> Member:
    """Draw a record: what is assigned is not also to be given up."""
    assigned, pending = draw(holdings), draw(st.just((NOT_HELD,) * COUNT) | holdings)
    apart = tuple(NOT_HELD if one != NOT_HELD else other for one, other in zip(assigned, pending, strict=True))
    return Member(draw(st.integers(0, 6)), draw(st.integers(-1, 6)), draw(st.sampled_from(MemberState)), assigned, apart)


def written(member: Member) -> dict[str, Any]:
    """Return a member in the words of the witness."""
    return {
        "memberEpoch": member.member_epoch,
        "previousMemberEpoch": member.previous_member_epoch,
        "state": member.state.name,
        "assigned": list(member.assigned),
        "pendingRevocation": list(member.pending_revocation),
    }


def of_topics(topics: frozenset[int]) -> Partitions:
    """Return the partitions of these topics."""
    return frozenset(partition for partition in range(COUNT) if partition % TOPICS in topics)


# -- reconciliation --

Question = tuple[Member, Target, frozenset[int], Partitions | None, Held]
"""A member, its target, the topics it subscribes to, what it reports to own, and the epochs of all partitions."""


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Draw a member with a target; partitions that it has carry its epoch, as those of others may."""
    member, others = draw(records()), draw(holdings)
    mine = all_held(member)
    epochs = tuple(member.member_epoch if partition in mine else other for partition, other in enumerate(others))
    topics = draw(st.sampled_from([frozenset({0, 1}), frozenset({0, 1}), frozenset({0}), frozenset[int]()]))
    target = Target(draw(st.integers(0, 7)), draw(parts), of_topics(topics), is_resubscribed=draw(st.booleans()))
    return member, target, topics, draw(st.none() | parts), epochs


def deviates(kafka: Witness, rules: Rules, question: Question) -> str | None:
    """Return how the model's answer under these rules is not Kafka's."""
    member, target, topics, owned, epochs = question
    asked = {
        "epoch": target.epoch,
        "partitions": sorted(target.partitions),
        "topics": sorted(topics),
        "isResubscribed": target.is_resubscribed,
    }
    answer = kafka.ask("reconcile", written(member), asked, None if owned is None else sorted(owned), list(epochs))
    expected = {"returned": written(reconcile(rules, member, target, owned, epochs)), "refused": None}
    return None if answer == expected else f"{question}: {expected} is not {answer}"


def test_the_witness_is_the_pinned_release(reconciliation: Witness) -> None:
    """The classes that are asked are those of the release whose sources the machine names."""
    assert reconciliation.ask("jar") == {"returned": "kafka-group-coordinator-4.3.1.jar", "refused": None}


def test_members_are_reconciled_as_kafka_does(reconciliation: Witness) -> None:
    """Whatever the member, its target and what it reports, the next record is Kafka's, previous epoch and assignment epochs included."""

    @many
    @given(question=questions())
    def ask(question: Question) -> None:
        assert deviates(reconciliation, KAFKA, question) is None

    ask()


@pytest.mark.parametrize(
    "wrong",
    [
        evolve(KAFKA, release=Release.NOT_AWAITED),
        evolve(KAFKA, epoch_advance=EpochAdvance.AT_ONCE),
        evolve(KAFKA, previous_epoch=PreviousEpoch.OTHER),
    ],
    ids=["release", "epoch_advance", "previous_epoch"],
)
def test_a_wrong_rule_of_reconciliation_is_found_out(reconciliation: Witness, wrong: Rules) -> None:
    """Each deviates from Kafka for some member."""
    assert find(questions(), lambda question: deviates(reconciliation, wrong, question) is not None, settings=many)


# -- the epochs of partitions --

Replacements = list[tuple[str, Member | None]]
"""Records that are written one after another, each of a member; ``None`` removes it."""


@st.composite
def replacements(draw: st.DrawFn) -> Replacements:
    """Draw what two members have over time: a partition that one of them has the other has not, and epochs grow."""
    known: dict[str, Member] = {}
    drawn: Replacements = []
    for epoch in range(2, 2 + draw(st.integers(1, 6))):
        name = draw(st.sampled_from(["a", "b"]))
        if name in known and draw(st.integers(0, 4)) == 0:
            del known[name]
            drawn.append((name, None))
            continue
        taken = frozenset[int]().union(*(all_held(member) for other, member in known.items() if other != name))
        free = st.frozensets(st.sampled_from(sorted(set(range(COUNT)) - taken))) if len(taken) < COUNT else st.just(frozenset[int]())
        assigned, pending = draw(free), draw(free)
        moved = epoch if name not in known or draw(st.booleans()) else known[name].member_epoch
        known[name] = Member(
            draw(st.just(STATIC_LEAVE_EPOCH)) if name in known and draw(st.integers(0, 5)) == 0 else moved,
            1,
            MemberState.STABLE,
            tuple(1 if partition in assigned else NOT_HELD for partition in range(COUNT)),
            tuple(1 if partition in pending - assigned else NOT_HELD for partition in range(COUNT)),
        )
        drawn.append((name, known[name]))
    return drawn


def epochs_after(rules: Rules, drawn: Replacements) -> list[int]:
    """Return the epochs of all partitions once these records are written."""
    epochs, known = [NOT_HELD] * COUNT, dict[str, Member]()
    for name, member in drawn:
        for partition, epoch in updated_partition_epochs(rules, epochs, known.get(name), member).items():
            epochs[partition] = epoch
        if member is None:
            known.pop(name, None)
        else:
            known[name] = member
    return epochs


def loses(kafka: Witness, rules: Rules, drawn: Replacements) -> bool:
    """Whether the model's epochs under these rules are not Kafka's."""
    answer = kafka.ask("replace", *([name, None if member is None else written(member)] for name, member in drawn))
    if answer["refused"] is not None:
        return False  # the same partition under the same epoch, or an earlier one: what the machine never does
    return bool(answer["returned"]) and answer["returned"] != epochs_after(rules, drawn)


def test_partitions_carry_the_epochs_that_kafka_keeps(reconciliation: Witness) -> None:
    """After any records of two members that have nothing in common."""
    asked = []

    @many
    @given(drawn=replacements())
    def ask(drawn: Replacements) -> None:
        asked.append(drawn)
        assert not loses(reconciliation, KAFKA, drawn)

    ask()
    assert asked


def test_epochs_that_are_replaced_set_by_set_are_found_out(reconciliation: Witness) -> None:
    """What Kafka did until 3.6 loses the epoch of a partition that is given back, and is not what Kafka 4.3.1 does."""
    wrong = evolve(KAFKA, partition_epoch_update=PartitionEpochUpdate.SET_BY_SET)
    assert find(replacements(), lambda drawn: loses(reconciliation, wrong, drawn), settings=many)


def test_kafka_refuses_a_partition_that_is_held_twice(reconciliation: Witness) -> None:
    """Under the same epoch: where the model keeps the later epoch, Kafka fails."""
    first = Member(5, 4, MemberState.STABLE, (5, NOT_HELD, NOT_HELD, NOT_HELD), (NOT_HELD,) * COUNT)
    answer = reconciliation.ask("replace", ["a", written(first)], ["b", written(first)])
    assert answer == {"returned": None, "refused": "IllegalStateException"}


# -- commits --


def refuses(kafka: Witness, rules: Rules, member: Member | None, epoch: int, partition: int) -> bool:
    """Whether the model's answer under these rules is not Kafka's."""
    answer = kafka.ask("commit", None if member is None else written(member), epoch, partition)
    return answer != {"returned": commit_error(rules, member, epoch, partition).name, "refused": None}


commits = st.tuples(st.none() | records(), st.integers(0, 7), st.integers(0, COUNT - 1))


def test_commits_are_checked_as_kafka_does(reconciliation: Witness) -> None:
    """Unknown members, earlier and later epochs, partitions that are assigned, to be given up, or neither."""
    seen = set[Error]()

    @many
    @given(asked=commits)
    def ask(asked: tuple[Member | None, int, int]) -> None:
        seen.add(commit_error(KAFKA, *asked))
        assert not refuses(reconciliation, KAFKA, *asked)

    ask()
    assert seen == {Error.NONE, Error.UNKNOWN_MEMBER_ID, Error.STALE_MEMBER_EPOCH}


@pytest.mark.parametrize("rule", [CommitEpochs.CURRENT, CommitEpochs.ANY])
def test_a_wrong_rule_of_commits_is_found_out(reconciliation: Witness, rule: CommitEpochs) -> None:
    """What Kafka did until 4.2 is not what it does since, and so is no check at all."""
    wrong = evolve(KAFKA, commit_epochs=rule)
    assert find(commits, lambda asked: refuses(reconciliation, wrong, *asked), settings=many)
