# SPDX-License-Identifier: Apache-2.0
"""What the controller makes of a partition, against Kafka's own, question by question.

The witness is ``org.apache.kafka.controller.PartitionChangeBuilder`` of Kafka 4.3.1, in the jar that Kafka publishes: the
class that ``hwmark.model.partition.decisions`` restates. Both are asked what becomes of a partition, and whom they elect;
every field of the answers must agree. Partitions are drawn as Kafka may have them, and as it never has, since it answers
for both. So that the two cannot agree for want of questions, each outcome must be seen often, and each decision, taken
wrongly, must be found out by the same questions. Where Kafka and the model differ, the last section says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from jvm import Witness
from partitions import ASSIGNED, BROKERS, NONE, RECOVERY, SOME, WILD, partitions, some_of, written

from hwmark.model.machine import BrokerId
from hwmark.model.partition import decisions
from hwmark.model.partition.decisions import (
    NOBODY,
    Brokers,
    Circumstances,
    ElectionType,
    LeaderRecovery,
    PartitionState,
    change,
    complete_reassignment,
    elect,
    elect_last_known,
    elect_unclean,
    update_elr,
)

pytestmark = pytest.mark.kafka

many = settings(max_examples=2000)
unshortened = settings(max_examples=2000, phases=(Phase.generate,))


# -- questions --


@frozen
class Question:
    """What becomes of a partition on its way to a target."""

    partition: PartitionState
    target: PartitionState
    by: Circumstances


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Draw a partition, what to change of it, and under which circumstances."""
    partition = draw(partitions() | WILD)
    changes: dict[str, Any] = {}
    if draw(st.booleans()):
        changes["isr"] = draw(some_of(partition.isr) | some_of(partition.replicas) | SOME)
    if draw(st.integers(0, 3)) == 0:
        changes.update(replicas=draw(ASSIGNED), adding=draw(SOME), removing=draw(SOME))
    if draw(st.integers(0, 3)) == 0:
        changes["leader_recovery"] = draw(RECOVERY)
    by = Circumstances(
        acceptable=draw(some_of(tuple(BROKERS)) | some_of(partition.replicas)),
        min_isr=draw(st.integers(1, 4)),
        election=draw(st.sampled_from(ElectionType)),
        elr_enabled=draw(st.sampled_from([True, True, False])),
        last_known_leader=draw(st.sampled_from([True, True, False])),
        unclean_shutdown=draw(st.just(NONE) | SOME),
        bump_on_isr_shrink=draw(st.sampled_from([False, False, True])),
    )
    return Question(partition, evolve(partition, **changes), by)


def arguments(question: Question) -> tuple[dict[str, Any], ...]:
    """Return a question in the witness's words; metadata versions before 3.6 bump the leader epoch when the ISR shrinks."""
    by = question.by
    circumstances = {
        "acceptable": sorted(by.acceptable),
        "minIsr": by.min_isr,
        "election": by.election.name,
        "elrEnabled": by.elr_enabled,
        "lastKnownLeader": by.last_known_leader,
        "uncleanShutdown": sorted(by.unclean_shutdown),
        "metadataVersion": "3.5" if by.bump_on_isr_shrink else "4.3",
    }
    return written(question.partition), written(question.target), circumstances


def difference(kafka: Witness, question: Question) -> tuple[object, object] | None:
    """Return what the model answers and what Kafka answers, if that is not the same."""
    after = change(question.partition, question.target, question.by)
    expected = None if after is None else written(after)
    actual = kafka.ask("build", *arguments(question))["returned"]
    return None if expected == actual else (expected, actual)


# -- what the model answers is what Kafka answers --


def test_the_witness_is_of_the_pinned_release(partition_change: Witness) -> None:
    """The class that answers is in the jar of the release that is named above."""
    assert partition_change.ask("jar") == {"returned": "kafka-metadata-4.3.1.jar"}


def leads(question: Question, after: PartitionState) -> str:
    """Return in words who leads, and why."""
    partition, by = question.partition, question.by
    target = update_elr(partition, complete_reassignment(question.target), by)
    if after.leader == partition.leader:
        return "the leader stays" if after.leader_epoch == partition.leader_epoch else "the leader stays, in a new epoch"
    if after.leader == NOBODY:
        return "nobody leads any more"
    if not elect(partition, target, by).unclean:
        return "one of the ELR leads" if after.leader in target.elr else "one of the ISR leads"
    return "an unclean leader leads" if elect_last_known(partition, target, by) is None else "the last known leader leads"


def outcomes(question: Question) -> Iterator[str]:
    """Yield in words what happens to the partition."""
    before, after = question.partition, change(question.partition, question.target, question.by)
    if after is None:
        yield "nothing changes"
        return
    yield leads(question, after)
    if question.target.adding:
        yield "a reassignment goes on" if after.adding else "a reassignment is done"
    if after.elr - before.elr:
        yield "the ELR grows"
    if before.elr and not after.elr:
        yield "the ELR is emptied"
    if before.isr and not after.isr:
        yield "the ISR is emptied"
    if after.last_known_elr and not before.last_known_elr:
        yield "the last leader is remembered"
    if before.last_known_elr and not after.last_known_elr:
        yield "the last leader is forgotten"
    if after.leader_recovery is not before.leader_recovery:
        yield f"the leader is {after.leader_recovery.value}"


OUTCOMES = {
    "nothing changes",
    "the leader stays",
    "the leader stays, in a new epoch",
    "nobody leads any more",
    "one of the ISR leads",
    "one of the ELR leads",
    "the last known leader leads",
    "an unclean leader leads",
    "a reassignment goes on",
    "a reassignment is done",
    "the ELR grows",
    "the ELR is emptied",
    "the ISR is emptied",
    "the last leader is remembered",
    "the last leader is forgotten",
    "the leader is recovering",
    "the leader is recovered",
}


def test_a_partition_becomes_what_kafka_makes_of_it(partition_change: Witness) -> None:
    """Whatever the partition, the target and the circumstances, every field is as Kafka has it; each outcome is seen often."""
    seen: Counter[str] = Counter()

    @many
    @given(question=questions())
    def compare(question: Question) -> None:
        seen.update(outcomes(question))
        assert difference(partition_change, question) is None

    compare()
    assert {outcome for outcome, times in seen.items() if times >= 20} == OUTCOMES


@many
@given(question=questions())
def test_whom_the_model_elects_kafka_elects(partition_change: Witness, question: Question) -> None:
    """The election by itself, before anything else is decided: the same leader, and as unclean."""
    elected = elect(question.partition, question.target, question.by)
    assert [elected.leader, elected.unclean] == partition_change.ask("electLeader", *arguments(question))["returned"]


# -- decisions that are taken wrongly --


def completes_with_the_first(target: PartitionState) -> PartitionState:
    """Finish a reassignment once one of those that are added is in sync."""
    return complete_reassignment(evolve(target, adding=target.adding & target.isr) if target.adding & target.isr else target)


def completes_to_a_smaller_isr(target: PartitionState) -> PartitionState:
    """Finish a reassignment to fewer replicas though some of those that stay are not in sync."""
    replicas, isr = tuple(broker for broker in target.replicas if broker not in target.removing), target.isr - target.removing
    is_done = (target.adding or target.removing) and replicas and isr and target.adding <= isr
    return evolve(target, replicas=replicas, isr=isr, adding=NONE, removing=NONE) if is_done else target


def elr_of_replicas(partition: PartitionState, target: PartitionState, by: Circumstances) -> PartitionState:
    """Update the ELR as KIP-966 has it: of replicas only."""
    target = update_elr(partition, target, by)
    return evolve(target, elr=target.elr & frozenset(target.replicas))


def elr_after_unclean_shutdown(partition: PartitionState, target: PartitionState, by: Circumstances) -> PartitionState:
    """Update the ELR, but keep a broker whose shutdown was unclean."""
    return update_elr(partition, target, evolve(by, unclean_shutdown=NONE))


def elr_of_the_last_to_leave(partition: PartitionState, target: PartitionState, by: Circumstances) -> PartitionState:
    """Update the ELR, but forget those that left the ISR earlier."""
    return update_elr(partition, evolve(target, elr=NONE), by)


def elr_at_min_isr(partition: PartitionState, target: PartitionState, by: Circumstances) -> PartitionState:
    """Update the ELR, but keep it while the ISR is just large enough."""
    return update_elr(partition, target, evolve(by, min_isr=by.min_isr + 1))


def elr_beside_an_isr(target: PartitionState, broker: BrokerId, acceptable: Brokers) -> bool:
    """Let the ELR lead though the ISR is not empty."""
    return broker in target.isr | target.elr and broker in acceptable


def dead_leader(target: PartitionState, broker: BrokerId, acceptable: Brokers) -> bool:  # noqa: ARG001 - as the right one
    """Let somebody lead who is not alive."""
    return broker in target.isr or (not target.isr and broker in target.elr)


def assignment_order(partition: PartitionState, target: PartitionState, election: ElectionType) -> tuple[BrokerId, ...]:  # noqa: ARG001
    """Ask the replicas as assigned, so that a leader does not stay."""
    return target.replicas


def leader_first(partition: PartitionState, target: PartitionState, election: ElectionType) -> tuple[BrokerId, ...]:  # noqa: ARG001
    """Ask the leader first, also when the preferred one is to lead."""
    return (partition.leader, *target.replicas)


def last_known_if_allowed(partition: PartitionState, target: PartitionState, by: Circumstances) -> BrokerId | None:
    """Elect the last known leader only where unclean elections are allowed."""
    return elect_last_known(partition, target, by) if by.election is ElectionType.UNCLEAN else None


def last_known_of_several(partition: PartitionState, target: PartitionState, by: Circumstances) -> BrokerId | None:
    """Elect one of several last known leaders."""
    return elect_last_known(evolve(partition, last_known_elr=frozenset(sorted(partition.last_known_elr)[:1])), target, by)


def last_known_beside_an_elr(partition: PartitionState, target: PartitionState, by: Circumstances) -> BrokerId | None:
    """Elect the last known leader though somebody else may come back who lost nothing."""
    return elect_last_known(partition, evolve(target, isr=NONE, elr=NONE), by)


def unclean_by_number(target: PartitionState, by: Circumstances) -> BrokerId | None:
    """Elect uncleanly the replica with the least number."""
    return elect_unclean(evolve(target, replicas=tuple(sorted(target.replicas))), by)


def leads_outside_the_isr(target: PartitionState, leader: BrokerId) -> PartitionState:  # noqa: ARG001 - as the right one
    """Leave a leader from the ELR out of the ISR."""
    return target


def unclean_leader_joins(
    partition: PartitionState, target: PartitionState, leader: BrokerId, by: Circumstances, *, unclean: bool
) -> Brokers:
    """Keep those in the ISR from which an unclean leader may differ."""
    isr = decisions_isr_after(partition, target, leader, by, unclean=False)
    return isr | {leader} if unclean else isr


def empties_the_isr(partition: PartitionState, target: PartitionState, leader: BrokerId, by: Circumstances, *, unclean: bool) -> Brokers:
    """Empty the ISR also without the ELR."""
    return decisions_isr_after(partition, target, leader, evolve(by, elr_enabled=True), unclean=unclean)


def keeps_the_elr(target: PartitionState, by: Circumstances, *, unclean: bool) -> Brokers:  # noqa: ARG001 - as the right one
    """Keep the ELR after an unclean election, and without the feature."""
    return target.elr


def bumps_with_the_leader(partition: PartitionState, target: PartitionState, leader: BrokerId, isr: Brokers, by: Circumstances) -> bool:  # noqa: ARG001
    """Begin a new epoch only with another leader."""
    return leader != partition.leader


def bumps_on_every_shrink(partition: PartitionState, target: PartitionState, leader: BrokerId, isr: Brokers, by: Circumstances) -> bool:
    """Begin a new epoch whenever the ISR shrinks, as before 3.6."""
    return decisions_bumped(partition, target, leader, isr, evolve(by, bump_on_isr_shrink=True))


def forgets_nobody(partition: PartitionState, target: PartitionState, leader: BrokerId, by: Circumstances, *, bumped: bool) -> Brokers:
    """Remember the last leader though another one leads."""
    return partition.last_known_elr or decisions_last_known_after(partition, target, leader, by, bumped=bumped)


def remembers_the_latest(
    partition: PartitionState, target: PartitionState, leader: BrokerId, by: Circumstances, *, bumped: bool
) -> Brokers:
    """Remember whoever led last, also if that is nobody."""
    return decisions_last_known_after(evolve(partition, last_known_elr=NONE), target, leader, by, bumped=bumped)


def recovers_at_once(partition: PartitionState, target: PartitionState, *, unclean: bool) -> LeaderRecovery:  # noqa: ARG001
    """Take an unclean leader for recovered."""
    return target.leader_recovery


decisions_isr_after = decisions.isr_after
decisions_bumped = decisions.is_leader_epoch_bumped
decisions_last_known_after = decisions.last_known_elr_after

WRONG: list[tuple[str, Callable[..., Any]]] = [
    ("complete_reassignment", completes_with_the_first),
    ("complete_reassignment", completes_to_a_smaller_isr),
    ("update_elr", elr_of_replicas),
    ("update_elr", elr_after_unclean_shutdown),
    ("update_elr", elr_of_the_last_to_leave),
    ("update_elr", elr_at_min_isr),
    ("is_valid_new_leader", elr_beside_an_isr),
    ("is_valid_new_leader", dead_leader),
    ("election_order", assignment_order),
    ("election_order", leader_first),
    ("elect_last_known", last_known_if_allowed),
    ("elect_last_known", last_known_of_several),
    ("elect_last_known", last_known_beside_an_elr),
    ("elect_unclean", unclean_by_number),
    ("join_isr", leads_outside_the_isr),
    ("isr_after", unclean_leader_joins),
    ("isr_after", empties_the_isr),
    ("elr_after", keeps_the_elr),
    ("is_leader_epoch_bumped", bumps_with_the_leader),
    ("is_leader_epoch_bumped", bumps_on_every_shrink),
    ("last_known_elr_after", forgets_nobody),
    ("last_known_elr_after", remembers_the_latest),
    ("leader_recovery_after", recovers_at_once),
]


@pytest.mark.parametrize(("decision", "wrong"), WRONG, ids=[wrong.__name__ for _, wrong in WRONG])
def test_a_wrong_decision_is_found_out(
    partition_change: Witness, monkeypatch: pytest.MonkeyPatch, decision: str, wrong: Callable[..., Any]
) -> None:
    """The same questions show a model that takes one decision wrongly: taken rightly, it answers them as Kafka does."""
    with monkeypatch.context() as patched:
        patched.setattr(decisions, decision, wrong)
        question = find(questions(), lambda question: difference(partition_change, question) is not None, settings=unshortened)
    assert difference(partition_change, question) is None


def test_every_decision_is_taken_wrongly_once() -> None:
    """No decision is left out above, but those that only put others together or say what an operator set."""
    taken = {name for name, value in vars(decisions).items() if callable(value) and getattr(value, "__module__", "") == decisions.__name__}
    functions = {name for name in taken if not isinstance(vars(decisions)[name], type)}
    assert functions - {decision for decision, _ in WRONG} == {"change", "elect", "elect_clean", "effective_min_isr", "election_type"}


# -- where Kafka and the model differ --


def test_an_isr_in_another_order_is_a_change_to_kafka(partition_change: Witness) -> None:
    """Kafka compares lists: who proposes the same ISR in another order gets a new partition epoch, and no new leader epoch."""
    partition = PartitionState((0, 1), frozenset({0, 1}), leader=0, partition_epoch=3)
    before, target, by = arguments(Question(partition, partition, Circumstances(frozenset({0, 1}))))
    assert partition_change.ask("build", before, target, by) == {"returned": None}
    after = {**before, "isr": [1, 0], "partitionEpoch": 4}
    assert partition_change.ask("build", before, {**target, "isr": [1, 0]}, by) == {"returned": after}
