# SPDX-License-Identifier: Apache-2.0
"""What the controller is asked, and how it answers, against Kafka's own, question by question.

The witness is ``org.apache.kafka.controller.ReplicationControlManager`` of Kafka 4.3.1, over Kafka's own managers of
features, brokers and configurations, all in the jar that Kafka publishes: the class that
``hwmark.model.partition.changes`` and ``hwmark.model.partition.alter_partition`` restate. First one question at a time, about
any partition; then histories, in which each answer is the partition of the next question, so that every partition is one
that Kafka can come to. Each error and each cause must be seen often, and each check or cause, taken wrongly, must be found
out. What Kafka comes to that nobody may expect is in the last section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from jvm import Witness
from partitions import BROKERS, NONE, partitions, some_of, written

from hwmark.model.machine import BrokerId
from hwmark.model.partition import alter_partition as answers
from hwmark.model.partition import changes
from hwmark.model.partition.alter_partition import (
    ANY_BROKER_EPOCH,
    AlterPartition,
    BrokerState,
    Errors,
    Ineligible,
    Registered,
    check_epochs,
    check_isr,
    ineligible,
)
from hwmark.model.partition.decisions import (
    NOBODY,
    Brokers,
    Circumstances,
    ElectionType,
    LeaderRecovery,
    PartitionState,
    effective_min_isr,
    election_type,
)

pytestmark = pytest.mark.kafka

many = settings(max_examples=1000)
unshortened = settings(max_examples=3000, phases=(Phase.generate,))


# -- the controller and its brokers --


@frozen
class Registration:
    """A registered broker."""

    broker_epoch: int
    fenced: bool = False
    in_controlled_shutdown: bool = False


Registrations = tuple[Registration | None, ...]


@frozen
class Controller:
    """What the controller knows besides the partition."""

    registrations: Registrations
    min_insync_replicas: int = 1
    unclean_allowed: bool = False
    elr_enabled: bool = True

    def circumstances(self, partition: PartitionState) -> Circumstances:
        """Return what a change of the partition depends on."""
        return Circumstances(
            acceptable=frozenset(
                broker for broker, one in enumerate(self.registrations) if one and not one.fenced and not one.in_controlled_shutdown
            ),
            min_isr=effective_min_isr(self.min_insync_replicas, partition.replicas),
            election=election_type(unclean_allowed=self.unclean_allowed),
            elr_enabled=self.elr_enabled,
        )

    def written(self) -> dict[str, Any]:
        """Return the settings in the witness's words."""
        return {
            "brokers": [
                [broker, one.broker_epoch, one.fenced, one.in_controlled_shutdown] for broker, one in enumerate(self.registrations) if one
            ],
            "minIsr": self.min_insync_replicas,
            "uncleanElection": self.unclean_allowed,
            "elrEnabled": self.elr_enabled,
        }


Asked = tuple[str, dict[str, Any]]
"""A method of the witness, and what is asked."""


@frozen
class Question:
    """What the controller is asked about a partition."""

    partition: PartitionState
    controller: Controller
    asked: Asked | AlterPartition


def in_words(asked: Asked | AlterPartition) -> Asked:
    """Return what is asked in the witness's words."""
    if not isinstance(asked, AlterPartition):
        return asked
    return "alterPartition", {
        "sender": asked.sender,
        "brokerEpoch": asked.broker_epoch,
        "leaderEpoch": asked.leader_epoch,
        "partitionEpoch": asked.partition_epoch,
        "newIsr": [[member.broker, member.broker_epoch] for member in asked.new_isr],
        "leaderRecoveryState": asked.leader_recovery.name,
    }


def changed(question: Question) -> PartitionState | None:
    """Return what the model makes of the partition."""
    partition, by = question.partition, question.controller.circumstances(question.partition)
    after = None
    match question.asked:
        case AlterPartition():
            _, after = answers.alter_partition(partition, question.asked, question.controller.registrations, by)
        case "handleBrokerFenced", {"broker": broker}:
            after = changes.broker_fenced(partition, broker, by)
        case "handleBrokerUnfenced", {"broker": broker}:
            after = changes.broker_unfenced(partition, broker, by)
        case "handleBrokerUnregistered", {"broker": broker}:
            after = changes.broker_unregistered(partition, broker, by)
        case "handleBrokerInControlledShutdown", {"broker": broker}:
            after = changes.broker_in_controlled_shutdown(partition, broker, by)
        case "handleBrokerShutdown", {"broker": broker, "clean": clean}:
            after = changes.broker_registered(partition, broker, by, clean=clean)
        case "electLeader", {"type": wanted}:
            after = changes.elect_leader(partition, evolve(by, election=ElectionType[wanted]))
        case "alterPartitionReassignment", {"replicas": None}:
            after = changes.cancel_reassignment(partition, by)
        case "alterPartitionReassignment", {"replicas": replicas}:
            after = changes.reassign(partition, tuple(replicas), by)
        case _:
            pytest.fail(f"the model knows nothing of {question.asked}")
    return after


def error(question: Question) -> Errors:
    """Return the model's answer to a proposal; the other questions have none that the model knows."""
    by = question.controller.circumstances(question.partition)
    assert isinstance(question.asked, AlterPartition)
    return answers.alter_partition(question.partition, question.asked, question.controller.registrations, by)[0]


def told(kafka: Witness, question: Question) -> dict[str, Any]:
    """Return Kafka's answer."""
    method, asked = in_words(question.asked)
    return kafka.ask(method, written(question.partition), question.controller.written(), asked)


def difference(kafka: Witness, question: Question) -> tuple[object, object] | None:
    """Return what the model answers and what Kafka answers, if that is not the same."""
    after, actual = changed(question), told(kafka, question)
    said = error(question).name if isinstance(question.asked, AlterPartition) else actual["error"]
    expected = {"error": said, "partition": None if after is None else written(after)}
    return None if expected == actual else (expected, actual)


# -- one question at a time --

REGISTRATIONS: st.SearchStrategy[Registrations] = st.tuples(
    *(
        st.none()
        | st.builds(Registration, st.integers(10, 12), st.booleans(), st.booleans())
        | st.builds(Registration, st.integers(10, 12))
        for _ in BROKERS
    )
)


@st.composite
def controllers(draw: st.DrawFn) -> Controller:
    """Draw a controller, most of whose brokers are alive."""
    alive = Controller(tuple(Registration(10 + broker) for broker in BROKERS))
    registrations = alive.registrations if draw(st.booleans()) else draw(REGISTRATIONS)
    return Controller(registrations, draw(st.integers(1, 4)), draw(st.booleans()), draw(st.sampled_from([True, True, False])))


@st.composite
def proposals(draw: st.DrawFn) -> Question:
    """Draw what a leader proposes: right, or wrong in one respect or in several."""
    partition, controller = draw(partitions()), draw(controllers())
    if partition.isr and draw(st.booleans()):
        partition = evolve(partition, leader=draw(st.sampled_from(sorted(partition.isr))))
    respects = st.sampled_from(["sender", "broker", "leader", "partition", "member", "isr", "recovery"])
    wrong = {draw(respects) for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2])))}
    sender = draw(st.sampled_from(BROKERS)) if "sender" in wrong else max(partition.leader, 0)
    epochs = [one.broker_epoch if one else 10 for one in controller.registrations]
    isr = draw(st.frozensets(st.sampled_from(BROKERS))) if "isr" in wrong else draw(some_of(partition.replicas) | st.just(NONE)) | {sender}
    known = draw(st.sampled_from([ANY_BROKER_EPOCH, 9, 13])) if "member" in wrong else None
    recovery = st.sampled_from(LeaderRecovery) if "recovery" in wrong else st.just(LeaderRecovery.RECOVERED)
    off = st.sampled_from([-1, 1])
    proposal = AlterPartition(
        sender=sender,
        broker_epoch=epochs[sender] + ("broker" in wrong),
        leader_epoch=partition.leader_epoch + (draw(off) if "leader" in wrong else 0),
        partition_epoch=partition.partition_epoch + (draw(off) if "partition" in wrong else 0),
        new_isr=tuple(BrokerState(one, epochs[one] if known is None else known) for one in sorted(isr)),
        leader_recovery=draw(recovery),
    )
    return Question(partition, controller, proposal)


@st.composite
def causes(draw: st.DrawFn) -> Question:
    """Draw what else a controller does to a partition; Kafka asks it about registered brokers only."""
    partition, controller = draw(partitions()), draw(controllers())
    known = [broker for broker in BROKERS if controller.registrations[broker]]
    asked: list[st.SearchStrategy[Asked]] = [
        st.tuples(st.just("handleBrokerShutdown"), st.fixed_dictionaries({"broker": st.sampled_from(BROKERS), "clean": st.booleans()})),
        st.tuples(st.just("electLeader"), st.fixed_dictionaries({"type": st.sampled_from(["PREFERRED", "UNCLEAN"])})),
        st.just(("alterPartitionReassignment", {"replicas": None})),
    ]
    if known:
        named = st.fixed_dictionaries({"broker": st.sampled_from(known)})
        asked += [
            st.tuples(st.just(f"handleBroker{what}"), named) for what in ("Fenced", "Unfenced", "Unregistered", "InControlledShutdown")
        ]
        moved = st.permutations(known).flatmap(lambda order: st.integers(1, len(order)).map(lambda size: list(order[:size])))
        asked.append(st.tuples(st.just("alterPartitionReassignment"), st.fixed_dictionaries({"replicas": moved})))
    return Question(partition, controller, draw(st.one_of(asked)))


def test_the_witness_is_of_the_pinned_release(replication_control: Witness) -> None:
    """The class that answers is in the jar of the release that is named above."""
    assert replication_control.ask("jar") == {"returned": "kafka-metadata-4.3.1.jar"}


def test_a_proposal_is_answered_as_kafka_answers_it(replication_control: Witness) -> None:
    """Whatever a leader proposes, the error is Kafka's, and so is the partition; each error is seen several times."""
    seen: Counter[Errors] = Counter()

    @many
    @given(question=proposals())
    def compare(question: Question) -> None:
        seen[error(question)] += 1
        assert difference(replication_control, question) is None

    compare()
    assert {one for one, times in seen.items() if times >= 5} == set(Errors)


def test_causes_change_a_partition_as_in_kafka(replication_control: Witness) -> None:
    """Whoever comes, goes, elects or moves, the partition becomes Kafka's; each cause often changes it, and often does not."""
    seen: Counter[tuple[str, bool]] = Counter()

    @many
    @given(question=causes())
    def compare(question: Question) -> None:
        seen[in_words(question.asked)[0], changed(question) is None] += 1
        assert difference(replication_control, question) is None

    compare()
    methods = {method for method, _ in seen}
    assert len(methods) == 7
    assert {one for one, times in seen.items() if times >= 10} == {(method, stays) for method in methods for stays in (False, True)}


# -- histories --


@frozen
class Event:
    """What may happen next, to whom, and what else somebody decided about it."""

    what: str
    broker: BrokerId
    flag: bool
    order: tuple[BrokerId, ...]
    members: Brokers


EVENTS = st.builds(
    Event,
    st.sampled_from(["fence", "unfence", "shutdown", "register", "unregister", "elect", "reassign", "cancel", "propose", "propose"]),
    st.sampled_from(BROKERS),
    st.booleans(),
    st.permutations(BROKERS).flatmap(lambda order: st.integers(1, 4).map(lambda size: tuple(order[:size]))),
    some_of(tuple(BROKERS)),
)


@frozen
class Cluster:
    """A partition that Kafka came to, and its controller."""

    partition: PartitionState
    controller: Controller
    latest_broker_epoch: int = 20


def proposal(cluster: Cluster, members: Brokers) -> AlterPartition | None:
    """Return what the leader proposes that knows everything: itself, and those of these members that are alive."""
    partition, registrations = cluster.partition, cluster.controller.registrations
    own = registrations[partition.leader] if partition.leader != NOBODY else None
    if own is None:
        return None
    alive = cluster.controller.circumstances(partition).acceptable
    isr = [(one, registrations[one]) for one in sorted((members & alive & frozenset(partition.replicas)) | {partition.leader})]
    new_isr = tuple(BrokerState(broker, one.broker_epoch) for broker, one in isr if one)
    return AlterPartition(partition.leader, own.broker_epoch, partition.leader_epoch, partition.partition_epoch, new_isr)


def happens(cluster: Cluster, event: Event) -> tuple[Asked | AlterPartition | None, Registration | None]:
    """Return what the controller is asked if the event can happen, and the registration of the broker after it."""
    broker, own = {"broker": event.broker}, cluster.controller.registrations[event.broker]
    asked: Asked | AlterPartition | None = None
    match event.what:
        case "fence" if own and not own.fenced:
            asked, own = ("handleBrokerFenced", broker), evolve(own, fenced=True)
        case "unfence" if own and own.fenced and not own.in_controlled_shutdown:
            asked, own = ("handleBrokerUnfenced", broker), evolve(own, fenced=False)
        case "shutdown" if own and not own.fenced and not own.in_controlled_shutdown:
            asked, own = ("handleBrokerInControlledShutdown", broker), evolve(own, in_controlled_shutdown=True)
        case "register" if own is None or own.fenced:
            asked, own = (
                ("handleBrokerShutdown", {**broker, "clean": event.flag}),
                Registration(cluster.latest_broker_epoch + 1, fenced=True),
            )
        case "unregister" if own and event.flag:
            asked, own = ("handleBrokerUnregistered", broker), None
        case "elect":
            asked = ("electLeader", {"type": "PREFERRED" if event.flag else "UNCLEAN"})
        case "reassign" if all(cluster.controller.registrations[one] for one in event.order):
            asked = ("alterPartitionReassignment", {"replicas": list(event.order)})
        case "cancel":
            asked = ("alterPartitionReassignment", {"replicas": None})
        case "propose":
            asked = proposal(cluster, event.members)
        case _:
            pass
    return asked, own


def step(cluster: Cluster, asked: Asked | AlterPartition, broker: BrokerId, own: Registration | None) -> Cluster:
    """Return the cluster after the model's answer."""
    registrations = tuple(own if one == broker else other for one, other in enumerate(cluster.controller.registrations))
    after = changed(Question(cluster.partition, cluster.controller, asked))
    return Cluster(
        cluster.partition if after is None else after,
        evolve(cluster.controller, registrations=registrations),
        max([cluster.latest_broker_epoch, *(one.broker_epoch for one in registrations if one)]),
    )


STARTS = st.builds(
    lambda replicas, minimum, unclean_allowed, elr_enabled: Cluster(
        PartitionState(replicas, frozenset(replicas), leader=replicas[0]),
        Controller(tuple(Registration(10 + broker) for broker in BROKERS), minimum, unclean_allowed, elr_enabled),
    ),
    st.permutations(BROKERS).flatmap(lambda order: st.integers(1, 4).map(lambda size: tuple(order[:size]))),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([True, True, True, False]),
)


def found(cluster: Cluster) -> list[str]:
    """Return in words what there is to say of a partition that Kafka came to."""
    partition, replicas = cluster.partition, frozenset(cluster.partition.replicas)
    said = {
        "the ISR is empty": not partition.isr,
        "the ELR is not empty": bool(partition.elr),
        "somebody is in the ELR and no replica": not partition.elr <= replicas,
        "nobody leads": partition.leader == NOBODY,
        "the leader has to recover": partition.leader_recovery is LeaderRecovery.RECOVERING,
        "the last leader is known": bool(partition.last_known_elr),
        "a reassignment goes on": bool(partition.adding or partition.removing),
        "the leader is not in the ISR": partition.leader != NOBODY and partition.leader not in partition.isr,
        "the leader or the ISR are no replicas": not (partition.isr | {partition.leader}) <= replicas | {NOBODY},
        "somebody is in the ISR and the ELR": bool(partition.isr & partition.elr),
        "several last leaders are known": len(partition.last_known_elr) > 1,
        "the ISR is empty without the ELR": not partition.isr and not cluster.controller.elr_enabled,
        "a leader has to recover with others in the ISR": partition.leader_recovery is LeaderRecovery.RECOVERING and len(partition.isr) > 1,
    }
    return [what for what, holds in said.items() if holds]


def test_histories_are_those_of_kafka(replication_control: Witness) -> None:
    """From a partition that is in sync Kafka and the model come to the same partitions, of every kind that is possible."""
    seen: Counter[str] = Counter()

    @settings(max_examples=400)
    @given(cluster=STARTS, events=st.lists(EVENTS, min_size=10, max_size=40))
    def compare(cluster: Cluster, events: list[Event]) -> None:
        for event in events:
            asked, own = happens(cluster, event)
            if asked is not None:
                assert difference(replication_control, Question(cluster.partition, cluster.controller, asked)) is None
                cluster = step(cluster, asked, event.broker, own)
                seen.update(found(cluster))

    compare()
    assert seen.keys() == {
        "the ISR is empty",
        "the ELR is not empty",
        "somebody is in the ELR and no replica",
        "nobody leads",
        "the leader has to recover",
        "the last leader is known",
        "a reassignment goes on",
    }


# -- what is taken wrongly --


def any_sender(request: AlterPartition, registration: Registered | None) -> Errors:  # noqa: ARG001 - as the right one
    """Answer an earlier incarnation of the sender."""
    return Errors.NONE


def fenced_before_stale(partition: PartitionState, request: AlterPartition) -> Errors:
    """Tell a leader of an earlier epoch before it is seen that it knows a later partition."""
    return Errors.FENCED_LEADER_EPOCH if request.leader_epoch < partition.leader_epoch else check_epochs(partition, request)


def version_before_leader(partition: PartitionState, request: AlterPartition) -> Errors:
    """Compare partition epochs before it is seen who leads."""
    said = check_epochs(partition, request)
    is_old = said is Errors.INVALID_REQUEST and request.partition_epoch < partition.partition_epoch
    return Errors.INVALID_UPDATE_VERSION if is_old else said


def any_version(partition: PartitionState, request: AlterPartition) -> Errors:
    """Accept what was proposed for an earlier partition."""
    return check_epochs(partition, evolve(request, partition_epoch=max(request.partition_epoch, partition.partition_epoch)))


def isr_of_anybody(partition: PartitionState, request: AlterPartition) -> Errors:
    """Accept an ISR with others than replicas."""
    return check_isr(evolve(partition, replicas=tuple(BROKERS)), request)


def recovery_of_several(partition: PartitionState, request: AlterPartition) -> Errors:
    """Accept an ISR of several before the leader recovered."""
    alone = tuple(member for member in request.new_isr if member.broker == partition.leader)
    is_recovering = request.leader_recovery is LeaderRecovery.RECOVERING
    return check_isr(partition, evolve(request, new_isr=alone) if is_recovering and alone else request)


def recovery_again(partition: PartitionState, request: AlterPartition) -> Errors:
    """Accept that a leader recovers anew."""
    return check_isr(evolve(partition, leader_recovery=LeaderRecovery.RECOVERING), request)


def any_incarnation(registration: Registered | None, broker_epoch: int) -> Ineligible | None:  # noqa: ARG001
    """Let any incarnation of a broker into the ISR."""
    return ineligible(registration, ANY_BROKER_EPOCH)


def known_incarnation(registration: Registered | None, broker_epoch: int) -> Ineligible | None:
    """Refuse a broker whose epoch the leader does not know."""
    return Ineligible.BROKER_EPOCH if broker_epoch == ANY_BROKER_EPOCH else ineligible(registration, broker_epoch)


def fenced_members(registration: Registered | None, broker_epoch: int) -> Ineligible | None:
    """Let a fenced broker into the ISR."""
    why = ineligible(registration, broker_epoch)
    return None if why is Ineligible.FENCED else why


def leaving_members(registration: Registered | None, broker_epoch: int) -> Ineligible | None:
    """Let a broker into the ISR that is shutting down."""
    why = ineligible(registration, broker_epoch)
    return None if why is Ineligible.SHUTTING_DOWN else why


right_acceptable, right_needed = changes.acceptable_leaders, changes.is_election_needed
right_unfenced, right_registered = changes.broker_unfenced, changes.broker_registered
right_cancel, right_reassign = changes.cancel_reassignment, changes.reassign


def leavers_lead(active: Brokers, *, removed: BrokerId = NOBODY, added: BrokerId = NOBODY, unclean_shutdown: BrokerId = NOBODY) -> Brokers:  # noqa: ARG001
    """Let a broker lead that leaves."""
    return right_acceptable(active, added=added, unclean_shutdown=unclean_shutdown)


def comers_wait(active: Brokers, *, removed: BrokerId = NOBODY, added: BrokerId = NOBODY, unclean_shutdown: BrokerId = NOBODY) -> Brokers:  # noqa: ARG001
    """Do not let a broker lead that comes."""
    return right_acceptable(active, removed=removed, unclean_shutdown=unclean_shutdown)


def removes_the_eligible(partition: PartitionState, broker: BrokerId, by: Circumstances) -> PartitionState | None:
    """Take a broker that leaves out of the ELR too."""
    is_known = broker in partition.isr or broker in partition.elr
    return right_registered(partition, broker, by, clean=False) if is_known else None


def unfenced_everywhere(partition: PartitionState, broker: BrokerId, by: Circumstances) -> PartitionState | None:
    """Look at each partition when a broker comes, also where somebody leads."""
    return right_unfenced(partition, broker, by) or changes.decide(partition, partition, by)


def registered_cleanly(partition: PartitionState, broker: BrokerId, by: Circumstances, *, clean: bool) -> PartitionState | None:  # noqa: ARG001
    """Trust the log of any broker that registers."""
    return right_registered(partition, broker, by, clean=True)


def always_needed(partition: PartitionState, election: ElectionType) -> bool:  # noqa: ARG001 - as the right one
    """Elect also where nothing is to be elected."""
    return True


def reassigns_afresh(partition: PartitionState, replicas: tuple[BrokerId, ...], by: Circumstances) -> PartitionState | None:
    """Keep those that an earlier reassignment removes, if the new one does not."""
    return right_reassign(evolve(partition, removing=frozenset()), replicas, by)


def cancels_always(partition: PartitionState, by: Circumstances) -> PartitionState | None:
    """Take a reassignment back though nobody else is in sync."""
    return right_cancel(partition, evolve(by, election=ElectionType.UNCLEAN))


WRONG: list[tuple[Any, str, Callable[..., Any]]] = [
    (answers, "check_sender", any_sender),
    (answers, "check_epochs", fenced_before_stale),
    (answers, "check_epochs", version_before_leader),
    (answers, "check_epochs", any_version),
    (answers, "check_isr", isr_of_anybody),
    (answers, "check_isr", recovery_of_several),
    (answers, "check_isr", recovery_again),
    (answers, "ineligible", any_incarnation),
    (answers, "ineligible", known_incarnation),
    (answers, "ineligible", fenced_members),
    (answers, "ineligible", leaving_members),
    (changes, "acceptable_leaders", leavers_lead),
    (changes, "acceptable_leaders", comers_wait),
    (changes, "broker_fenced", removes_the_eligible),
    (changes, "broker_in_controlled_shutdown", removes_the_eligible),
    (changes, "broker_unregistered", removes_the_eligible),
    (changes, "broker_unfenced", unfenced_everywhere),
    (changes, "broker_registered", registered_cleanly),
    (changes, "is_election_needed", always_needed),
    (changes, "reassign", reassigns_afresh),
    (changes, "cancel_reassignment", cancels_always),
]


@pytest.mark.parametrize(("module", "function", "wrong"), WRONG, ids=[f"{function}-{wrong.__name__}" for _, function, wrong in WRONG])
def test_what_is_taken_wrongly_is_found_out(
    replication_control: Witness, monkeypatch: pytest.MonkeyPatch, module: Any, function: str, wrong: Callable[..., Any]
) -> None:
    """The same questions show a model that is wrong in one check or cause: the right one answers them as Kafka does."""
    questions = proposals() if module is answers else causes()
    with monkeypatch.context() as patched:
        patched.setattr(module, function, wrong)
        question = find(questions, lambda question: difference(replication_control, question) is not None, settings=unshortened)
    assert difference(replication_control, question) is None


# -- what nobody may expect --


def follow(kafka: Witness, cluster: Cluster, *events: Event) -> Cluster:
    """Return where some events lead, in Kafka as in the model."""
    for event in events:
        asked, own = happens(cluster, event)
        assert asked is not None
        assert difference(kafka, Question(cluster.partition, cluster.controller, asked)) is None
        cluster = step(cluster, asked, event.broker, own)
    return cluster


def to(
    what: str, broker: BrokerId = 0, *, flag: bool = True, order: tuple[BrokerId, ...] = (), members: tuple[BrokerId, ...] = ()
) -> Event:
    """Return an event."""
    return Event(what, broker, flag, order, frozenset(members))


def in_sync(replicas: tuple[BrokerId, ...], minimum: int, *, unclean_allowed: bool = False) -> Cluster:
    """Return a partition that is in sync, led by its first replica."""
    controller = Controller(tuple(Registration(10 + broker) for broker in BROKERS), minimum, unclean_allowed)
    return Cluster(PartitionState(replicas, frozenset(replicas), leader=replicas[0]), controller)


def test_a_removed_replica_stays_eligible_and_leads_when_it_is_added_again(replication_control: Witness) -> None:
    """Kafka does not take a removed replica out of the ELR: added again it may lead, as cleanly elected, with an empty log.

    Three replicas, ``min.insync.replicas=2``, nobody lost anything: 0 and 1 are away while 3 takes the place of 2.
    """
    away = follow(
        replication_control,
        in_sync((0, 1, 2), 2),
        to("fence", 0),
        to("fence", 1),
        to("reassign", order=(0, 1, 3)),
        to("propose", members=(3,)),
    )
    moved = follow(replication_control, away, to("propose", members=(2, 3)))
    assert moved.partition.replicas == (0, 1, 3)
    assert moved.partition.isr == {3}
    assert moved.partition.elr == {1, 2}
    added = follow(replication_control, moved, to("reassign", order=(0, 1, 2)), to("fence", 3))
    assert added.partition.leader == 2
    assert added.partition.isr == {2}
    assert added.partition.leader_recovery is LeaderRecovery.RECOVERED


def test_an_eligible_broker_that_is_added_fails_a_reassignment(replication_control: Witness) -> None:
    """Where nobody leads, and somebody in the ELR who is no replica is added, Kafka looks for a directory that is not there."""
    cluster = follow(replication_control, in_sync((0, 1), 2), to("reassign", order=(0,)), to("fence", 0))
    assert cluster.partition.elr == {0, 1}
    asked, _ = happens(cluster, to("reassign", order=(0, 1)))
    assert asked is not None
    question = Question(cluster.partition, cluster.controller, asked)
    assert told(replication_control, question) == {"error": "IllegalArgumentException", "partition": None}
    assert changed(question) is None


def test_a_last_known_leader_that_is_no_replica_fails_a_registration(replication_control: Witness) -> None:
    """Where a reassignment is taken back whose new replica led last, a broker that registers anew makes the controller fail."""
    cluster = follow(
        replication_control,
        in_sync((1,), 1, unclean_allowed=True),
        to("reassign", order=(1, 0)),
        to("fence", 1),
        to("cancel"),
    )
    assert cluster.partition.replicas == (1,)
    assert cluster.partition.last_known_elr == {0}
    asked, _ = happens(cluster, to("register", 1, flag=False))
    assert asked is not None
    question = Question(cluster.partition, cluster.controller, asked)
    assert told(replication_control, question) == {"error": "IllegalArgumentException", "partition": None}
    assert changed(question) is None


def test_an_unregistered_broker_stays_eligible(replication_control: Witness) -> None:
    """Kafka's comment has it otherwise: who is unregistered leaves the ISR, but stays in the ELR."""
    cluster = follow(replication_control, in_sync((0, 1), 2), to("fence", 1), to("unregister", 1))
    assert cluster.partition.isr == {0}
    assert cluster.partition.elr == {1}


def test_a_reassignment_that_keeps_all_does_not_stop_the_one_before(replication_control: Witness) -> None:
    """Who asks for all replicas of now, while one of them is being removed, is answered without error, and the one goes all the same."""
    cluster = follow(replication_control, in_sync((0, 1), 1), to("reassign", order=(0, 2)), to("reassign", order=(0, 2, 1)))
    assert cluster.partition.replicas == (0, 2, 1)
    assert cluster.partition.removing == {1}
    assert follow(replication_control, cluster, to("propose", members=(0, 1, 2))).partition.replicas == (0, 2)
