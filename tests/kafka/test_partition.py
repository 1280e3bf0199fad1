# SPDX-License-Identifier: Apache-2.0
"""What a leader makes of fetches, metadata and answers of the controller, against Kafka's own, history by history.

The witness is ``kafka.cluster.Partition`` of Kafka 4.3.1 with a ``UnifiedLog`` on disk, a ``KRaftMetadataCache`` and a
``DefaultAlterPartitionManager``, all in the jars that Kafka publishes. It is broker 0; who else there is, and the
controller, is played by ``hwmark.model.partition``. Both are told the same, one event after another, under
the rules that stand for Kafka 4.3; after each event what is answered and all that can be seen of the partition must agree:
leader, epochs, where the leader's epoch starts, the ISR, the one that is pending, the high watermark, both ends of the
log, what is known of each follower, and the proposal that waits for an answer.

Where Kafka and the model differ, histories keep clear of it, and the last section shows what Kafka does:

- No time passes, and ``replica.lag.time.max.ms`` is -1: whoever is not at the end of the log lags, and nobody outside of
  the ISR holds the high watermark back because it was there a moment ago.
- Kafka's leader proposes to drop all that lag at once, the model's one of them: it looks only while no more than one lags.
- The leader's metadata have every broker as alive, in the broker epoch in which it fetches: a fenced one is refused by
  the controller alone.
- The controller is never the wrong one, which Kafka's leader would ask again; and broker 0 stays a replica and runs on.

Metadata come in order, several records at once or one by one, and each later than the decision as it happens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve, field, fields, frozen
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from jvm import Witness
from partitions import written

from hwmark.model.log import UNDEFINED_EPOCH, Record
from hwmark.model.machine import BrokerId, put
from hwmark.model.partition import broker as brokers
from hwmark.model.partition import changes, leader
from hwmark.model.partition.alter_partition import AlterPartition
from hwmark.model.partition.decisions import NOBODY, ElectionType, PartitionState
from hwmark.model.partition.machine import ACTIONS
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.shared import circumstances, decided, leads, truth
from hwmark.model.partition.state import Acks, AlterPartitionAnswer, Bounds, Config, FetchAnswer, FetchRequest, State, initial
from hwmark.spec.partition.presets import PRESETS

pytestmark = pytest.mark.kafka

many = settings(max_examples=500)
unshortened = settings(max_examples=2000, phases=(Phase.generate,))

KAFKA: PartitionRules = PRESETS["kafka_4_3"]
NAMED = {action.name: action for action in ACTIONS}
WITNESS: BrokerId = 0
OTHERS = range(1, 4)
BOUNDS = Bounds(brokers=4, records=64, deletions=9, lags=9, losses=9)
DECISIONS = 3
"""How many decisions an event may lead to."""
AT_HIGH_WATERMARK, A_FOLLOWER = 2 * 16, 16 * 16
"""What a number says of a fetch, and whom it says to fence."""
NO_TIME = -1


# -- events --


@frozen
class Event:
    """What may happen next, and a number that decides to whom and how."""

    what: str
    decides: int

    @property
    def broker(self) -> BrokerId:
        """Another broker; the last one is no replica at the start, and comes less often."""
        return (1, 2, 1, 2, 1, 2, 1, 3)[self.decides % 8]

    @property
    def flag(self) -> bool:
        """Yes or no."""
        return self.decides // 8 % 2 == 1

    @property
    def number(self) -> int:
        """A number below 64."""
        return self.decides // 16


@frozen
class Start:
    """What the operator set, and how many of the three replicas are in the ISR at the start."""

    min_isr: int
    acks: Acks
    isr: int

    def config(self) -> Config:
        """Return what the operator set in the model's words."""
        return Config(replication_factor=3, min_isr=self.min_isr, acks=self.acks)

    def state(self) -> State:
        """Return the state in which everybody knows of the first decision."""
        return initial(self.config(), evolve(BOUNDS, initial_isr=self.isr))

    def settings(self) -> dict[str, Any]:
        """Return the settings in the witness's words."""
        return {"minIsr": self.min_isr, "replicaLagTimeMaxMs": NO_TIME}


OFTEN = ["append", "fetch", "fetch", "join", "shrink", "settle", "settle", "decide", "receive", "learn"]
SELDOM = ["append", "fetch", "fence", "fence", "unfence", "restart", "come_back", "reassign", "replicate", "replicate", "delete", "fail"]
EVENTS = st.builds(Event, st.sampled_from([*OFTEN, *OFTEN, *OFTEN, *SELDOM]), st.integers(0, 1023))
STARTS = st.builds(Start, st.sampled_from([1, 1, 2, 4]), st.sampled_from([Acks.ALL, Acks.LEADER]), st.sampled_from([1, 1, 2, 3]))
HISTORIES = st.lists(EVENTS, min_size=40, max_size=80)


def one_by_one(event: Event) -> list[Event]:
    """Return an event, or those that it stands for, which seldom follow one another by chance."""
    settled, who = [Event("decide", 0), Event("receive", 0)], event.decides % 8
    match event.what:
        case "settle":  # a proposal is decided, and heard of
            return settled
        case "join":  # a follower has everything, and is let into the ISR
            return [Event("fetch", who), *settled]
        case "fail":  # a follower is proposed that lacks what others have, and is fenced meanwhile
            return [
                Event("append", 0),
                Event("fetch", AT_HIGH_WATERMARK + who),
                Event("fetch", who ^ 1),
                Event("fence", A_FOLLOWER + who),
                *settled,
            ]
        case _:
            return [event]


@frozen
class Told:
    """What the witness is told, and what it should answer."""

    operation: str
    fields: dict[str, Any] = field(factory=dict)
    returned: Any = None


@frozen
class Model:
    """The model's side: its rules, and what the operator set."""

    rules: PartitionRules
    config: Config

    def happens(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        """Return the state after an event, and what the witness is told of it; ``None`` where it cannot happen."""
        happening: Callable[[State, Event], tuple[State, list[Told]] | None] = getattr(self, f"_{event.what}")
        return happening(state, event) if state.partition_epoch + DECISIONS < len(state.metadata) else None

    def take(self, state: State, action: str, **choices: object) -> State | None:
        """Return the state after an action of the machine, if it is enabled."""
        context = {"rules": self.rules, "config": self.config, "bounds": BOUNDS}
        after: State | None = NAMED[action].bind(context, choices)(state)
        return after

    # -- what the leader does --

    def _append(self, state: State, _event: Event) -> tuple[State, list[Told]] | None:
        record, acks = state.next_record_id, -1 if self.config.acks is Acks.ALL else 1
        if record == BOUNDS.records:
            return None
        after = self.take(state, "append_record", leader=WITNESS)
        error = "NOT_ENOUGH_REPLICAS" if leads(state, WITNESS) else "NOT_LEADER_OR_FOLLOWER"
        said = {"error": error} if after is None else state.logs[WITNESS].end_offset
        return state if after is None else after, [Told("append", {"record": record, "acks": acks}, said)]

    def _fetch(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        request = fetch_of(state, event)
        served = leader.serve(put(state, fetching={event.broker: request}), self.rules, self.config, event.broker, request)
        assert served is not None  # no request has waited before
        after, answer = served
        asked = {
            "follower": event.broker,
            "fetchOffset": request.fetch_offset,
            "leaderEpoch": request.leader_epoch,
            "lastFetchedEpoch": request.last_fetched_epoch,
            "brokerEpoch": request.broker_epoch,
        }
        return put(after, fetching={event.broker: None}), [Told("fetch", asked, answered(state, answer))]

    def _shrink(self, state: State, _event: Event) -> tuple[State, list[Told]] | None:
        mine, end_offset = state.replicas[WITNESS], state.logs[WITNESS].end_offset
        lagging = [member for member in OTHERS if member in mine.isr and state.followers[WITNESS][member].end_offset != end_offset]
        if len(lagging) > 1:
            return None
        shrunk = [self.take(state, "propose_shrink", leader=WITNESS, follower=member) for member in lagging]
        return next((one for one in shrunk if one is not None), state), [Told("maybeShrinkIsr")]

    def _receive(self, state: State, _event: Event) -> tuple[State, list[Told]] | None:
        answer = state.altering[WITNESS]
        after = self.take(state, "receive_alter_partition", leader=WITNESS)
        if not isinstance(answer, AlterPartitionAnswer) or after is None:
            return None
        known = {"leaderEpoch": answer.leader_epoch, "partitionEpoch": answer.partition_epoch, "isr": sorted(answer.isr)}
        return after, [Told("answer", {"error": answer.error.name, **known})]

    def _delete(self, state: State, _event: Event) -> tuple[State, list[Told]] | None:
        after = self.take(state, "delete_records", leader=WITNESS)
        return None if after is None else (after, [Told("deleteRecords", {"offset": state.replicas[WITNESS].high_watermark})])

    # -- what it learns --

    def _learn(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        first, latest = state.positions[WITNESS] + 1, state.partition_epoch
        if first > latest:
            return None
        last = first + event.number % (latest - first + 1) if event.flag else first
        published = [one for one in state.metadata[first : last + 1] if one is not None]
        after = self.take(state, "learn_metadata", broker=WITNESS, partition_epoch=last)
        assert after is not None
        told = Told("publish", {"partitions": [written(one) for one in published]}, self.called(state, published[-1]))
        return after, [told]

    def called(self, state: State, partition: PartitionState) -> dict[str, bool]:
        """Return which of Kafka's methods takes metadata, and its result: whether it leads anew, or fetches anew."""
        mine = state.replicas[WITNESS]
        if partition.leader == WITNESS:
            return {"makeLeader": brokers.is_news(self.rules, mine, partition) and mine.leader != WITNESS}
        is_news = partition.partition_epoch >= mine.partition_epoch
        return {"makeFollower": is_news and brokers.fetches_anew(self.rules, mine, partition)}

    def _replicate(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        mine, log, record = state.replicas[WITNESS], state.logs[WITNESS], state.next_record_id
        if mine.leader in {WITNESS, NOBODY} or record == BOUNDS.records:
            return None
        high_watermark = event.number % (log.end_offset + 2)
        answer = FetchAnswer(
            mine.leader, mine.fetch_epoch, log.end_offset, record=Record(record, mine.leader_epoch), high_watermark=high_watermark
        )
        fetched = put(state, next_record_id=record + 1, fetching={WITNESS: answer})
        told = {"record": record, "leaderEpoch": mine.leader_epoch, "highWatermark": high_watermark}
        after = self.take(fetched, "receive_fetch", follower=WITNESS)
        return None if after is None else (after, [Told("replicate", told)])

    # -- what the controller decides; the witness hears of it later --

    def _decide(self, state: State, _event: Event) -> tuple[State, list[Told]] | None:
        return silently(self.take(state, "answer_alter_partition", leader=WITNESS))

    def _fence(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        broker = WITNESS if event.number < 16 else event.broker
        if state.registrations[broker].fenced:
            return None
        partition = changes.broker_fenced(truth(state), broker, circumstances(state, KAFKA, self.config))
        return with_registration(decided(state, partition), broker, fenced=True), []

    def _unfence(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        broker = WITNESS if event.flag else event.broker
        if not state.registrations[broker].fenced:
            return None
        partition = changes.broker_unfenced(truth(state), broker, circumstances(state, KAFKA, self.config))
        return with_registration(decided(state, partition), broker, fenced=False), []

    def _restart(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        partition = changes.broker_fenced(truth(state), event.broker, circumstances(state, KAFKA, self.config))
        broker_epoch = state.registrations[event.broker].broker_epoch + 1
        process = evolve(state.processes[event.broker], life=broker_epoch, broker_epoch=broker_epoch)
        after = put(decided(state, partition), processes={event.broker: process})
        told = [registered(event.broker, broker_epoch)]
        return with_registration(after, event.broker, fenced=False, broker_epoch=broker_epoch), told

    def _reassign(self, state: State, event: Event) -> tuple[State, list[Told]] | None:
        now = truth(state)
        joining = [broker for broker in OTHERS if broker not in now.replicas]
        if not joining or event.broker not in now.replicas or now.adding:
            return None
        replicas = tuple(joining[0] if broker == event.broker else broker for broker in now.replicas)
        return decided(state, changes.reassign(now, replicas, circumstances(state, KAFKA, self.config))), []

    def _come_back(self, state: State, _event: Event) -> tuple[State, list[Told]] | None:
        """Broker 0 is deposed, if it leads; it joins another leader's ISR, and is preferred to lead."""
        now, by = truth(state), circumstances(state, KAFKA, self.config)
        if state.registrations[WITNESS].fenced:
            return None
        if now.leader == WITNESS:
            state = decided(state, changes.broker_fenced(now, WITNESS, by))
            now = truth(state)
        if now.leader != NOBODY and WITNESS not in now.isr:
            joined = evolve(now, isr=now.isr | {WITNESS}, elr=now.elr - {WITNESS}, partition_epoch=now.partition_epoch + 1)
            state = decided(state, joined)
        return decided(state, changes.elect_leader(truth(state), evolve(by, election=ElectionType.PREFERRED))), []


def silently(after: State | None) -> tuple[State, list[Told]] | None:
    """Return a state that the witness is told nothing of."""
    return None if after is None else (after, [])


def with_registration(state: State, broker: BrokerId, **to: Any) -> State:
    """Return the state in which the controller knows something else of a broker."""
    return put(state, registrations={broker: evolve(state.registrations[broker], **to)})


def fetch_of(state: State, event: Event) -> FetchRequest:
    """Return a fetch of a follower: mostly in the right epoch, from where it is or somewhere else that matters."""
    mine, log, known = state.replicas[WITNESS], state.logs[WITNESS], state.followers[WITNESS][event.broker]
    end, which, epochs = log.end_offset, event.number % 8, event.number // 8
    offset = max(0, (end, end, mine.high_watermark, known.end_offset, known.end_offset + 1, mine.epoch_start - 1, end + 1, 0)[which])
    before = log.at(offset - 1)
    epoch = UNDEFINED_EPOCH if before is None else before.leader_epoch
    return FetchRequest(
        leader=WITNESS,
        leader_epoch=mine.leader_epoch + {6: -1, 7: 1}.get(epochs, 0),
        fetch_offset=offset,
        last_fetched_epoch=max(UNDEFINED_EPOCH, mine.leader_epoch - 2 + epochs) if event.flag and epochs < 4 else epoch,
        broker_epoch=state.registrations[event.broker].broker_epoch,
    )


def answered(state: State, answer: FetchRequest | FetchAnswer | None) -> dict[str, Any]:
    """Return the answer to a fetch in the witness's words; one that waits for news is answered with no record."""
    if isinstance(answer, FetchAnswer) and answer.error is not None:
        return {"error": answer.error.name}
    log, diverging, found = state.logs[WITNESS], None, None
    if isinstance(answer, FetchAnswer) and answer.diverging_epoch != UNDEFINED_EPOCH:
        diverging = [answer.diverging_epoch, answer.diverging_end]
    if isinstance(answer, FetchAnswer) and answer.record is not None:
        found = [str(answer.record.id), answer.record.leader_epoch, answer.fetch_offset]
    limits = {"logStartOffset": log.log_start_offset, "logEndOffset": log.end_offset}
    return {"diverging": diverging, "record": found, "highWatermark": state.replicas[WITNESS].high_watermark, **limits}


def registered(broker: BrokerId, broker_epoch: int) -> Told:
    """Return what the witness is told of a broker that is alive."""
    return Told("register", {"broker": broker, "brokerEpoch": broker_epoch, "fenced": False})


# -- what can be seen --


def observed(state: State) -> dict[str, Any]:
    """Return all that can be seen of broker 0's replica, in the witness's words."""
    mine, log = state.replicas[WITNESS], state.logs[WITNESS]
    is_leader = mine.leader == WITNESS
    known = state.followers[WITNESS]
    slot = state.altering[WITNESS]
    waiting = slot.request if isinstance(slot, AlterPartitionAnswer) else slot  # decided or not, the leader has not heard
    return {
        "leader": mine.leader,
        "leaderEpoch": mine.leader_epoch,
        "partitionEpoch": mine.partition_epoch,
        "epochStart": mine.epoch_start if is_leader else None,
        "state": "CommittedPartitionState" if not mine.proposed else f"Pending{'Expand' if mine.proposed > mine.isr else 'Shrink'}Isr",
        "isr": sorted(mine.isr),
        "maximalIsr": sorted(mine.isr | mine.proposed),
        "highWatermark": mine.high_watermark,
        "logStartOffset": log.log_start_offset,
        "logEndOffset": log.end_offset,
        "followers": [[one, known[one].end_offset, known[one].broker_epoch] for one in sorted(mine.replicas) if one != WITNESS],
        "proposals": [proposal(waiting)] if waiting is not None else [],
    }


def proposal(request: AlterPartition) -> dict[str, Any]:
    """Return a proposal in the witness's words; its members are sorted."""
    return {
        "sender": request.sender,
        "brokerEpoch": request.broker_epoch,
        "leaderEpoch": request.leader_epoch,
        "partitionEpoch": request.partition_epoch,
        "newIsr": [[member.broker, member.broker_epoch] for member in request.new_isr],
    }


@frozen
class Step:
    """One thing that the witness is told, with the model's states before and after it."""

    told: Told
    before: State
    after: State


def history(rules: PartitionRules, start: Start, events: list[Event]) -> Iterator[Step]:
    """Yield what the witness is told, step by step, and what the model makes of it."""
    model, state = Model(rules, start.config()), start.state()
    for event in chain.from_iterable(map(one_by_one, events)):
        happened = model.happens(state, event)
        if happened is None:
            continue
        after, told = happened
        for one in told:
            yield Step(one, state, after)
        state = after


def parted(kafka: Witness, start: Start, steps: list[Step]) -> tuple[object, object, object] | None:
    """Return what Kafka was told, what the model made of it and what Kafka did, where that differs first."""
    beginning = start.state()
    known = [registered(broker, 1) for broker in (WITNESS, *OTHERS)]
    first = Told("publish", {"partitions": [written(truth(beginning))]}, {"makeLeader": True})
    operations = [[told.operation, told.fields] for told in (*known, first, *(step.told for step in steps))]
    answers = kafka.ask("play", start.settings(), operations)["answers"][len(known) :]
    expected = [(first, beginning), *((step.told, step.after) for step in steps)]
    for (told, state), actual in zip(expected, answers, strict=True):
        wanted = {"returned": told.returned, "observed": observed(state)}
        if wanted != actual:
            return told, wanted, actual
    return None


def difference(kafka: Witness, rules: PartitionRules, start: Start, events: list[Event]) -> tuple[object, object, object] | None:
    """Return where Kafka and the model with these rules part first in a history, if they do."""
    return parted(kafka, start, list(history(rules, start, events)))


# -- what the model makes of it is what Kafka makes of it --


def test_the_witness_is_of_the_pinned_release(partition: Witness) -> None:
    """The class that answers is in the jar of the release that is named above."""
    assert partition.ask("jar") == {"returned": "kafka_2.13-4.3.1.jar"}


def words(step: Step) -> Iterator[str]:
    """Yield in words what happens to the leader in a step."""
    told, before, after = step.told, step.before.replicas[WITNESS], step.after.replicas[WITNESS]
    returned = told.returned if isinstance(told.returned, dict) else {}
    said = returned.get("error") or told.fields.get("error")
    yield f"{told.operation}: {said}" if said else told.operation
    if after.high_watermark > before.high_watermark:
        yield f"{told.operation} advances the high watermark"
    match told.operation:
        case "fetch" if not said:
            yield from fetched(step)
        case "answer" if not before.proposed:
            yield "an answer comes too late"
        case "publish":
            yield from learned(step)
        case "maybeShrinkIsr" if after.proposed and not before.proposed:
            yield "a member is proposed to leave the ISR"
        case _:
            pass


def fetched(step: Step) -> Iterator[str]:
    """Yield in words what a leader makes of a fetch."""
    told, before, after = step.told, step.before.replicas[WITNESS], step.after.replicas[WITNESS]
    diverging, found = told.returned["diverging"], told.returned["record"]
    yield "the logs part" if diverging else "a record is fetched" if found else "a fetch finds nothing new"
    if after.proposed and not before.proposed:
        yield "a follower is proposed for the ISR"
    elif told.fields["follower"] in before.isr | before.proposed or diverging:
        pass
    elif step.before.altering[WITNESS] is not None and not before.proposed:
        yield "a follower has to wait for an answer that is of no use"
    elif told.fields["fetchOffset"] < before.high_watermark:
        yield "a follower is below the high watermark"
    elif told.fields["fetchOffset"] < before.epoch_start:
        yield "a follower is below the start of the epoch"


def learned(step: Step) -> Iterator[str]:
    """Yield in words what metadata say to a broker."""
    told, before, after = step.told, step.before.replicas[WITNESS], step.after.replicas[WITNESS]
    partition = told.fields["partitions"][-1]
    if len(told.fields["partitions"]) > 1:
        yield "several records come at once"
    if partition["leader"] != WITNESS:
        yield "nobody leads" if partition["leader"] == NOBODY else "another leads"
    elif before.leader != WITNESS:
        yield "it leads again"
    elif partition["partitionEpoch"] < before.partition_epoch:
        yield "metadata are older than what is known"
    else:
        when = "of the known epoch" if partition["partitionEpoch"] == before.partition_epoch else "of a later epoch"
        yield f"metadata {when} {'drop what is pending' if before.proposed else 'find nothing pending'}"
        if after.leader_epoch > before.leader_epoch:
            yield "it leads on in a new epoch"
    if set(partition["replicas"]) != set(before.replicas) and before.leader == WITNESS == after.leader:
        yield "the replicas are others"


WORDS = {
    "append",
    "append: NOT_ENOUGH_REPLICAS",
    "append: NOT_LEADER_OR_FOLLOWER",
    "append advances the high watermark",
    "fetch",
    "fetch: FENCED_LEADER_EPOCH",
    "fetch: UNKNOWN_LEADER_EPOCH",
    "fetch: NOT_LEADER_OR_FOLLOWER",
    "fetch: OFFSET_OUT_OF_RANGE",
    "fetch advances the high watermark",
    "a record is fetched",
    "a fetch finds nothing new",
    "the logs part",
    "a follower is proposed for the ISR",
    "a follower is below the high watermark",
    "a follower is below the start of the epoch",
    "a follower has to wait for an answer that is of no use",
    "maybeShrinkIsr",
    "a member is proposed to leave the ISR",
    "answer: NONE",
    "answer: INVALID_UPDATE_VERSION",
    "answer: FENCED_LEADER_EPOCH",
    "answer: INELIGIBLE_REPLICA",
    "answer advances the high watermark",
    "an answer comes too late",
    "publish",
    "publish advances the high watermark",
    "several records come at once",
    "another leads",
    "nobody leads",
    "it leads again",
    "it leads on in a new epoch",
    "metadata are older than what is known",
    "metadata of the known epoch find nothing pending",
    "metadata of the known epoch drop what is pending",
    "metadata of a later epoch find nothing pending",
    "metadata of a later epoch drop what is pending",
    "the replicas are others",
    "replicate",
    "replicate advances the high watermark",
    "deleteRecords",
    "register",
}


def test_a_leader_does_what_kafka_s_leader_does(partition: Witness) -> None:
    """Whatever happens, all that can be seen of the partition is as Kafka has it; each kind of event is seen several times."""
    seen: Counter[str] = Counter()

    @many
    @given(start=STARTS, events=HISTORIES)
    def compare(start: Start, events: list[Event]) -> None:
        steps = list(history(KAFKA, start, events))
        assert parted(partition, start, steps) is None
        for step in steps:
            seen.update(words(step))

    compare()
    assert set(seen) == WORDS


# -- decisions that are taken wrongly --

ELSEWHERE = {
    "registration_match",
    "shutdown_detection",
    "eligibility",
    "version_check",
    "elr_members",
    "given_up",
    "expand_on",
    "late_copy",
    "unclean_choice",
    "high_watermark_of_divergence",
    "answer_match",
    "retention",
    "latest_offset",
    "undefined_epoch_end",
}
"""Rules of the controller, of followers, of clients and of the network, and those that are read where time passes."""

WRONG = [
    (rule.name, value)
    for rule in fields(PartitionRules)
    if rule.name not in ELSEWHERE
    for value in type(getattr(KAFKA, rule.name))
    if value is not getattr(KAFKA, rule.name)
]


@pytest.mark.parametrize(("rule", "value"), WRONG, ids=[f"{rule}={value.value}" for rule, value in WRONG])
def test_another_rule_is_found_out(partition: Witness, rule: str, value: Any) -> None:
    """The same histories show a leader that follows any other rule, also the one that would be better than Kafka's."""
    wrong = evolve(KAFKA, **{rule: value})
    start, events = find(st.tuples(STARTS, HISTORIES), lambda drawn: difference(partition, wrong, *drawn) is not None, settings=unshortened)
    assert difference(partition, KAFKA, start, events) is None


def proposes_meanwhile(state: State, leader: BrokerId) -> bool:  # noqa: ARG001 - as the right one
    """Propose an ISR though an earlier proposal has no answer yet."""
    return True


def min_isr_of_the_operator(min_insync_replicas: int, replicas: tuple[BrokerId, ...]) -> int:  # noqa: ARG001 - as the right one
    """Ask for as many members as the operator does, though there may not be as many replicas."""
    return min_insync_replicas


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [(leader, "may_propose", proposes_meanwhile), (leader, "effective_min_isr", min_isr_of_the_operator)],
    ids=["proposes_meanwhile", "min_isr_of_the_operator"],
)
def test_a_wrong_decision_is_found_out(
    partition: Witness, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, wrong: Callable[..., Any]
) -> None:
    """So is a leader that follows Kafka's rules and takes one other decision wrongly."""
    with monkeypatch.context() as patched:
        patched.setattr(module, name, wrong)
        start, events = find(
            st.tuples(STARTS, HISTORIES), lambda drawn: difference(partition, KAFKA, *drawn) is not None, settings=unshortened
        )
    assert difference(partition, KAFKA, start, events) is None


# -- what metadata of the known partition epoch do --

Operation = list[Any]


def register(broker: BrokerId, *, fenced: bool = False) -> Operation:
    """Return the operation: a broker is registered."""
    return ["register", {"broker": broker, "brokerEpoch": 1, "fenced": fenced}]


def publish(partition_epoch: int, isr: set[BrokerId], *, replicas: tuple[BrokerId, ...] = (0, 1, 2)) -> Operation:
    """Return the operation: the broker learns of this ISR; it leads in epoch 0."""
    return ["publish", {"partitions": [written(PartitionState(replicas, frozenset(isr), leader=0, partition_epoch=partition_epoch))]}]


def append(record: int, acks: int = -1) -> Operation:
    """Return the operation: a producer sends a record."""
    return ["append", {"record": record, "acks": acks}]


def fetch(broker: BrokerId, offset: int, last_fetched_epoch: int = 0) -> Operation:
    """Return the operation: a follower has everything below an offset."""
    asked = {"follower": broker, "fetchOffset": offset, "leaderEpoch": 0, "lastFetchedEpoch": last_fetched_epoch, "brokerEpoch": 1}
    return ["fetch", asked]


def accept(partition_epoch: int, isr: set[BrokerId]) -> Operation:
    """Return the operation: the leader hears that this is the ISR now."""
    return ["answer", {"error": "NONE", "leaderEpoch": 0, "partitionEpoch": partition_epoch, "isr": sorted(isr)}]


def refuse(error: str) -> Operation:
    """Return the operation: the leader hears that the ISR is not changed."""
    return ["answer", {"error": error}]


def sleep(ms: int) -> Operation:
    """Return the operation: time passes."""
    return ["sleep", {"ms": ms}]


SHRINK: Operation = ["maybeShrinkIsr", {}]
ALIVE = [register(broker) for broker in (0, 1, 2)]
LAG_MS = 30_000
"""``replica.lag.time.max.ms`` as Kafka ships."""


def play(kafka: Witness, operations: list[Operation], *, min_isr: int = 1, lag_ms: int = LAG_MS) -> list[tuple[Any, dict[str, Any]]]:
    """Return what Kafka answers to each operation, and what can be seen after it."""
    answers = kafka.ask("play", {"minIsr": min_isr, "replicaLagTimeMaxMs": lag_ms}, operations)["answers"]
    return [(answer["returned"], answer["observed"]) for answer in answers]


TWO_JOIN = [
    *ALIVE,
    publish(1, {0}),
    append(0, acks=1),
    append(1, acks=1),
    fetch(2, 1),
    accept(2, {0, 2}),
    append(2),
    fetch(1, 1),
]
"""Broker 2 has joined the ISR, which the leader knows from the controller's answer, and broker 1 is proposed."""


def test_metadata_of_the_known_epoch_drop_what_is_pending(partition: Witness, replication_control: Witness) -> None:
    """Two followers join the ISR one after the other, the first one's record comes late: an acknowledged record is lost.

    The leader drops the second one from those it counts on, though the controller lets it in. What the first one has is
    committed, and acknowledged with ``min.insync.replicas`` 2; the leader does not even hear that the second one was let
    in. If it dies now, the second one is elected, which does not have the record.
    """
    *_, pending = play(partition, TWO_JOIN, min_isr=2)
    assert (pending[1]["state"], pending[1]["isr"], pending[1]["maximalIsr"]) == ("PendingExpandIsr", [0, 2], [0, 1, 2])
    assert pending[1]["proposals"][0]["newIsr"] == [[0, 1], [1, 1], [2, 1]]

    again = [publish(2, {0, 2}), fetch(2, 3), ["isAcknowledged", {"offset": 3}], accept(3, {0, 1, 2})]
    applied, committed, acknowledged, late = play(partition, [*TWO_JOIN, *again], min_isr=2)[len(TWO_JOIN) :]
    assert applied[0] == {"makeLeader": False}
    assert (applied[1]["state"], applied[1]["isr"], applied[1]["maximalIsr"]) == ("CommittedPartitionState", [0, 2], [0, 2])
    assert (committed[1]["highWatermark"], committed[1]["followers"]) == (3, [[1, 1, 1], [2, 3, 1]])
    assert acknowledged[0] == [True, "NONE"]
    assert (late[1]["partitionEpoch"], late[1]["isr"], late[1]["proposals"]) == (2, [0, 2], [])

    let_in = PartitionState((0, 1, 2), frozenset({0, 1, 2}), leader=0, partition_epoch=3)
    cluster = {"brokers": [[broker, 1, False, False] for broker in (0, 1, 2)], "minIsr": 2, "uncleanElection": False, "elrEnabled": True}
    elected = replication_control.ask("handleBrokerFenced", written(let_in), cluster, {"broker": 0})["partition"]
    assert (elected["leader"], elected["isr"], elected["leaderRecoveryState"]) == (1, [1, 2], "RECOVERED")


@pytest.mark.parametrize(
    ("known", "state", "maximal_isr", "high_watermark"),
    [
        ([], "PendingExpandIsr", [0, 1, 2], 1),
        ([publish(2, {0, 2})], "CommittedPartitionState", [0, 2], 3),
        ([publish(3, {0, 1, 2})], "CommittedPartitionState", [0, 1, 2], 1),
    ],
    ids=["none", "known", "later"],
)
def test_only_metadata_of_the_known_epoch_do_harm(
    partition: Witness, known: list[Operation], state: str, maximal_isr: list[int], high_watermark: int
) -> None:
    """Without them the leader counts on whom it proposed, and with later ones on whom the controller let in."""
    *_, (_, seen) = play(partition, [*TWO_JOIN, *known, fetch(2, 3)], min_isr=2)
    assert (seen["state"], seen["maximalIsr"], seen["highWatermark"]) == (state, maximal_isr, high_watermark)


def test_metadata_of_an_earlier_epoch_are_skipped(partition: Witness) -> None:
    """While a third change is pending, the record of the first comes: it is below what the second answer said."""
    operations = [*TWO_JOIN, accept(3, {0, 1, 2}), sleep(LAG_MS + 1), SHRINK, publish(2, {0, 2})]
    *_, (_, before), (returned, after) = play(partition, operations, min_isr=2)
    assert before["state"] == "PendingShrinkIsr"
    assert (returned, after) == ({"makeLeader": False}, before)


def test_the_leader_takes_back_whom_it_dropped_if_it_fetches_again(partition: Witness) -> None:
    """The next fetch is of no use while the proposal waits; after the answer it is proposed anew, which the controller will refuse."""
    dropped = [*TWO_JOIN, publish(2, {0, 2})]
    then = [fetch(1, 1), accept(3, {0, 1, 2}), fetch(1, 1), refuse("INVALID_UPDATE_VERSION")]
    waits, _, proposed, refused = play(partition, [*dropped, *then], min_isr=2)[len(dropped) :]
    assert (waits[1]["maximalIsr"], len(waits[1]["proposals"])) == ([0, 2], 1)
    assert (proposed[1]["maximalIsr"], proposed[1]["proposals"][0]["partitionEpoch"]) == ([0, 1, 2], 2)
    assert (refused[1]["maximalIsr"], refused[1]["proposals"]) == ([0, 1, 2], [])


# -- where Kafka and the model differ --


def test_who_was_caught_up_a_moment_ago_holds_the_high_watermark_back(partition: Witness) -> None:
    """With one follower, metadata of the known epoch do harm only once it has not caught up for ``replica.lag.time.max.ms``."""
    operations = [
        *ALIVE,
        publish(1, {0, 1}, replicas=(0, 1)),
        append(0),
        sleep(LAG_MS + 1),
        SHRINK,
        accept(2, {0}),
        fetch(1, 1),
        publish(2, {0}, replicas=(0, 1)),
        append(1),
        sleep(LAG_MS),
        append(2),
        sleep(1),
        append(3),
    ]
    seen = [
        observed for (operation, _), (_, observed) in zip(operations, play(partition, operations), strict=True) if operation == "append"
    ]
    assert [one["highWatermark"] for one in seen] == [0, 1, 1, 4]
    assert [one["maximalIsr"] for one in seen] == [[0, 1], [0], [0], [0]]


KEEPS_UP = [
    *ALIVE,
    publish(1, {0}, replicas=(0, 1)),
    append(0),
    fetch(1, 0, last_fetched_epoch=-1),
    append(1),
    fetch(1, 1),
    append(2),
]
"""Broker 1, outside of the ISR, has at its second fetch what the leader had at the first; the third record comes."""


def test_who_keeps_up_is_waited_for_and_joins(partition: Witness) -> None:
    """The high watermark stays where it is, so that the next fetch reaches it; without the wait it would be a record ahead again."""
    assert play(partition, KEEPS_UP)[-1][1]["highWatermark"] == 2
    assert play(partition, [*KEEPS_UP, fetch(1, 2)])[-1][1]["maximalIsr"] == [0, 1]
    assert play(partition, KEEPS_UP, lag_ms=NO_TIME)[-1][1]["highWatermark"] == 3
    assert play(partition, [*KEEPS_UP, fetch(1, 2)], lag_ms=NO_TIME)[-1][1]["maximalIsr"] == [0]


def test_whoever_is_given_up_frees_no_high_watermark(partition: Witness) -> None:
    """The follower dies: neither that it is fenced nor that its time is over makes the leader look again, but the next append does."""
    dies = [*KEEPS_UP, register(1, fenced=True), sleep(LAG_MS + 1), SHRINK, ["isAcknowledged", {"offset": 3}], append(3)]
    *_, waits, appended = play(partition, dies)
    assert (waits[0][0], waits[1]["highWatermark"], waits[1]["maximalIsr"]) == (False, 2, [0])
    assert appended[1]["highWatermark"] == 4


def test_all_who_lag_are_dropped_at_once(partition: Witness) -> None:
    """Kafka proposes one ISR without all that lag; the model drops them one by one."""
    *_, (_, seen) = play(partition, [*ALIVE, publish(1, {0, 1, 2}), append(0), sleep(LAG_MS + 1), SHRINK])
    assert [proposal["newIsr"] for proposal in seen["proposals"]] == [[[0, 1]]]


def test_the_leader_refuses_whom_its_metadata_have_as_fenced(partition: Witness) -> None:
    """A follower that is fenced in the leader's metadata is not proposed; in the model the controller has to refuse it."""
    operations = [*ALIVE, register(1, fenced=True), publish(1, {0}), append(0), fetch(1, 1)]
    *_, (_, seen) = play(partition, operations)
    assert (seen["state"], seen["proposals"]) == ("CommittedPartitionState", [])


def test_a_wrong_controller_is_asked_again(partition: Witness) -> None:
    """After NOT_CONTROLLER the same proposal is sent once more; the model's controller is never the wrong one."""
    *_, (_, before), (_, after) = play(partition, [*TWO_JOIN, refuse("NOT_CONTROLLER")], min_isr=2)
    assert before == after
    assert len(after["proposals"]) == 1


def test_a_fetch_that_tells_nothing_new_advances_nothing(partition: Witness) -> None:
    """Once a proposal is refused, ISR members that have everything fetch in vain: only an append or a new end advances Kafka."""
    operations = [
        *ALIVE,
        publish(1, {0, 1}),
        append(0),
        append(1),
        fetch(2, 0, last_fetched_epoch=-1),
        fetch(1, 2),
        refuse("INELIGIBLE_REPLICA"),
        fetch(1, 2),
    ]
    *_, pending, refused, again = (seen for _, seen in play(partition, operations, lag_ms=NO_TIME))
    assert [(one["maximalIsr"], one["highWatermark"]) for one in (pending, refused, again)] == [([0, 1, 2], 0), ([0, 1], 0), ([0, 1], 0)]
    *_, (_, appended) = play(partition, [*operations, append(2)], lag_ms=NO_TIME)
    assert appended["highWatermark"] == 2


def test_a_leader_s_epoch_starts_no_earlier_than_its_log(partition: Witness) -> None:
    """Asked about an earlier epoch, Kafka says that it ends where the log starts, also if the leader's epoch started before."""
    begun = written(PartitionState((0, 1, 2), frozenset({0}), leader=0, leader_epoch=2, partition_epoch=1))
    asked = {"follower": 1, "fetchOffset": 2, "leaderEpoch": 2, "lastFetchedEpoch": 1, "brokerEpoch": 1}
    operations = [*ALIVE, ["publish", {"partitions": [begun]}], append(0), append(1), ["deleteRecords", {"offset": 1}], ["fetch", asked]]
    *_, (returned, _) = play(partition, operations)
    assert returned["diverging"] == [1, 1]
