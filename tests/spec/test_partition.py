# SPDX-License-Identifier: Apache-2.0
"""Each promise of the ``partition`` machine by itself: where it is kept, and where it is broken."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from partition_states import (
    BOUNDS,
    CONFIG,
    START,
    A,
    B,
    C,
    answered,
    controller_down,
    decision,
    fenced,
    fetch_answer,
    leading,
    logs,
    partition,
    process,
    proposed,
    registration,
    replica,
    request,
    rules,
    stopped,
)

from hwmark.model.log import Log, Record
from hwmark.model.machine import Step, put
from hwmark.model.partition.alter_partition import Errors
from hwmark.model.partition.decisions import NOBODY, LeaderRecovery
from hwmark.model.partition.rules import CaughtUp, LatestOffset, PartitionRules
from hwmark.model.partition.state import Acks, Config, FetchError, State, Status
from hwmark.spec.partition import properties as promises
from hwmark.spec.partition.observers import Excuses, Keeper
from hwmark.spec.property import Property

CLASSIC = evolve(CONFIG, elr=False)
"""Without eligible leader replicas."""
UNCLEAN = evolve(CONFIG, unclean_elections=True)
NONE = frozenset[int]()
B1 = Record(1, 1)
"""Another record than ``B`` in its place, of leader epoch 1."""


def asked(
    prop: Property,
    *about: Any,
    rules: PartitionRules | None = None,
    config: Config = CONFIG,
    choices: dict[str, int] | None = None,
    **memories: Any,
) -> Any:
    """Return what a property says about a state or a step: a witness as a dict, ``None``, or whether a goal is met."""
    context = {"rules": rules or PartitionRules(), "config": config, "bounds": BOUNDS, **memories}
    found = prop.bind(context, choices or {})(*about)
    return dict(found.facts) if hasattr(found, "facts") else found


def of(prop: Property, state: State, broker: int = 0, **given: Any) -> Any:
    """Return what an invariant says about a broker."""
    return asked(prop, state, choices={"broker": broker}, **given)


def at(prop: Property, before: State, step: Step, after: State, broker: int = 0, **given: Any) -> Any:
    """Return what a property of steps says about a broker."""
    return asked(prop, before, step, after, choices={"broker": broker}, **given)


def applies(prop: Property, state: State, broker: int) -> bool:
    """Whether a property says anything about a broker in a state."""
    assert prop.when is not None
    return prop.when(state, broker)


LEARN = Step("learn_metadata", {"broker": 0, "partition_epoch": 0})


# -- the controller's record --


@pytest.mark.parametrize(
    ("state", "config"),
    [
        (START, CONFIG),
        (partition(START, isr=frozenset({0}), elr=frozenset({1})), CONFIG),
        (partition(START, isr=NONE, elr=frozenset({1}), leader=NOBODY), CONFIG),
        (partition(START, isr=frozenset({0}), leader=NOBODY), CLASSIC),
        (partition(START, isr=frozenset({2}), leader=2, leader_recovery=LeaderRecovery.RECOVERING), CONFIG),
    ],
    ids=["all in sync", "one eligible", "nobody leads", "the last member", "recovering"],
)
def test_a_valid_partition(state: State, config: Config) -> None:
    """As the controller decides it."""
    assert asked(promises.valid_partition, state, config=config) is None


@pytest.mark.parametrize(
    ("changed", "config"),
    [
        ({"isr": frozenset({0, 3})}, CONFIG),
        ({"isr": frozenset({0}), "elr": frozenset({3})}, CONFIG),
        ({"isr": frozenset({0}), "elr": frozenset({0})}, CONFIG),
        ({"leader": 1, "isr": frozenset({0})}, CONFIG),
        ({"isr": frozenset({0, 1}), "elr": frozenset({2})}, CONFIG),
        ({"isr": NONE, "leader": NOBODY}, CLASSIC),
        ({"isr": frozenset({0}), "elr": frozenset({1})}, CLASSIC),
        ({"leader_recovery": LeaderRecovery.RECOVERING}, CONFIG),
    ],
    ids=[
        "no replica in sync",
        "no replica eligible",
        "both",
        "leader outside",
        "needless ELR",
        "nobody in sync, no ELR",
        "ELR without the feature",
        "several recover",
    ],
)
def test_no_valid_partition(changed: dict[str, Any], config: Config) -> None:
    """Each way in which a decision can be wrong."""
    found = asked(promises.valid_partition, partition(START, **changed), config=config)
    assert found is not None
    assert set(found) >= {"isr", "elr", "leader", "replicas"}


def test_members_are_active() -> None:
    """Nobody in the ISR is fenced or about to stop; without the ELR the last one may be."""
    assert of(promises.isr_is_active, START, 1) is None
    assert of(promises.isr_is_active, fenced(START, 1), 1) == {
        "isr": frozenset({0, 1, 2}),
        "fenced": True,
        "in_controlled_shutdown": False,
    }
    assert of(promises.isr_is_active, registration(START, 1, in_controlled_shutdown=True), 1) is not None
    assert of(promises.isr_is_active, fenced(START, 3), 3) is None
    last = fenced(partition(START, isr=frozenset({0})), 0)
    assert of(promises.isr_is_active, last, config=CLASSIC) is None
    assert of(promises.isr_is_active, last) is not None


def test_one_leader_an_epoch() -> None:
    """A zombie is of an earlier one; who does not run does not lead."""
    assert of(promises.single_leader, leading(START, 1)) is None
    both = replica(START, 1, leader=1)
    assert of(promises.single_leader, both) == {"other": 1, "leader_epoch": 0}
    assert of(promises.single_leader, stopped(both, 1)) is None
    assert of(promises.single_leader, stopped(both, 0)) is None


def test_the_leader_counts_on_all_members() -> None:
    """On those that it knows and those that it proposed; a zombie need not."""
    fewer = replica(START, 0, isr=frozenset({0, 1}))
    found = of(promises.maximal_isr_is_superset, fewer)
    assert found == {"isr": frozenset({0, 1, 2}), "counted_on": frozenset({0, 1})}
    assert of(promises.maximal_isr_is_superset, replica(fewer, 0, proposed=frozenset({0, 2}))) is None
    assert applies(promises.maximal_isr_is_superset, START, 0)
    assert not applies(promises.maximal_isr_is_superset, decision(START, leader=1, leader_epoch=1), 0)
    assert not applies(promises.maximal_isr_is_superset, decision(START, leader_epoch=1), 0)
    assert not applies(promises.maximal_isr_is_superset, stopped(START, 0), 0)


# -- logs --


@pytest.mark.parametrize(
    ("log", "high_watermark", "is_kept"),
    [(Log((A, B)), 0, True), (Log((A, B)), 2, True), (Log((A, B)), 3, False), (Log((B,), 1), 0, False), (Log((), 1), 1, True)],
)
def test_the_range_of_a_high_watermark(log: Log, high_watermark: int, *, is_kept: bool) -> None:
    """From the start of the log to its end."""
    state = logs(START, log, high_watermark=high_watermark)
    assert (of(promises.high_watermark_range, state) is None) == is_kept
    assert of(promises.high_watermark_range, stopped(state, 0)) is None


def test_committed_prefixes_agree() -> None:
    """Below both high watermarks and above both log starts, of brokers that are not stopped."""
    apart = logs(START, (A, B), (A, B1), high_watermark=1)
    assert pair(promises.high_watermark_prefix, apart) is None
    shown = logs(START, (A, B), (A, B1), high_watermark=2)
    assert pair(promises.high_watermark_prefix, shown) == {"offset": 1, "ours": B, "theirs": B1}
    assert pair(promises.high_watermark_prefix, stopped(shown, 1)) is None
    assert pair(promises.high_watermark_prefix, process(shown, 1, status=Status.STARTING)) is not None
    assert pair(promises.high_watermark_prefix, replica(shown, 1, high_watermark=1)) is None
    assert pair(promises.high_watermark_prefix, logs(START, (A, B), Log((), 2), high_watermark=2)) is None


def pair(prop: Property, state: State, broker: int = 0, other: int = 1) -> Any:
    """Return what a property says about two brokers, where no election is unclean."""
    return asked(prop, state, choices={"broker": broker, "other": other}, bounds=evolve(BOUNDS, unclean_elections=0))


def test_epochs_have_one_history() -> None:
    """With a record of the same epoch at the same offset all before it must agree, whoever runs."""
    assert pair(promises.epoch_lineage, logs(START, (A, B), (A, B1))) is None
    joined = logs(START, (A, B, Record(2, 2)), (A, B1, Record(2, 2)))
    assert pair(promises.epoch_lineage, joined) == {"offset": 1, "ours": B, "theirs": B1}
    assert pair(promises.epoch_lineage, stopped(joined, 1)) is not None
    assert pair(promises.epoch_lineage, joined, 1, 0) is None, "each pair is asked about once"
    same_epoch = logs(START, (A,), (Record(1, 0),))
    assert pair(promises.epoch_lineage, same_epoch) == {"offset": 0, "ours": A, "theirs": Record(1, 0)}


# -- what is committed --

UNEXCUSED = Excuses()
LACKING = logs(START, (A, B), (A,))
"""Broker 1, which is in the ISR, has one record, and two are committed."""
COMMITTED = (A, B)


@pytest.mark.parametrize("prop", [promises.candidates_hold_committed, promises.leader_completeness])
def test_who_may_lead_holds_what_is_committed(prop: Property) -> None:
    """Members and eligible replicas for the one promise, the true leader for the other."""
    lacking = leading(LACKING, 1)
    memories = {"ever_committed": COMMITTED, "excuses": UNEXCUSED}
    assert of(prop, lacking, 1, **memories) == {"offset": 1, "committed": B, "held": None}
    assert of(prop, leading(logs(LACKING, (A, B), (A, B1)), 1), 1, **memories) == {"offset": 1, "committed": B, "held": B1}
    assert of(prop, leading(logs(LACKING, (A, B), Log((), 2)), 1), 1, **memories) is None
    assert of(prop, LACKING, 0, **memories) is None
    assert of(prop, stopped(lacking, 1), 1, **memories) is None


def test_who_is_asked_for_what_is_committed() -> None:
    """Whoever is in the ISR or eligible and runs as it is registered; of leaders the one that the controller names."""
    memories = {"ever_committed": COMMITTED, "excuses": UNEXCUSED}
    for state, is_asked in (
        (LACKING, True),
        (partition(LACKING, isr=frozenset({0}), elr=frozenset({1})), True),
        (partition(LACKING, isr=frozenset({0, 2})), False),
        (registration(LACKING, 1, broker_epoch=2), False),
        (process(LACKING, 1, status=Status.STARTING), False),
    ):
        assert (of(promises.candidates_hold_committed, state, 1, **memories) is not None) == is_asked
    zombie = decision(leading(LACKING, 1), leader=0, leader_epoch=2)
    assert of(promises.leader_completeness, zombie, 1, **memories) is None


@pytest.mark.parametrize(
    ("excuses", "config", "lossy_crashes", "is_excused"),
    [
        (Excuses(), CONFIG, 1, False),
        (Excuses(), CONFIG, 0, False),
        (Excuses(), evolve(CONFIG, min_isr=1), 0, True),
        (Excuses(incomplete=frozenset({1})), CLASSIC, 0, False),
        (Excuses(last_member=True), CLASSIC, 0, True),
        (Excuses(last_member=True), CONFIG, 0, False),
        (Excuses(unclean=True), CONFIG, 1, True),
    ],
    ids=["nothing", "too few crashes", "enough crashes", "one of several", "the last member", "the last member, but ELR", "unclean"],
)
def test_what_excuses_a_loss(excuses: Excuses, config: Config, lossy_crashes: int, *, is_excused: bool) -> None:
    """With the ELR as many lossy crashes as replicas must be in sync, without it one of the last member; an unclean election always."""
    state = put(leading(LACKING, 1), budget=evolve(START.budget, lossy_crashes=lossy_crashes))
    memories = {"config": config, "excuses": excuses}
    for prop in (promises.candidates_hold_committed, promises.leader_completeness):
        assert (of(prop, state, 1, ever_committed=COMMITTED, **memories) is None) == is_excused
    rewritten = {"ever_committed": (COMMITTED, (A, B1)), "excuses": (Excuses(), excuses)}
    assert (asked(promises.append_only_log, state, LEARN, state, config=config, **rewritten) is None) == is_excused
    assert (of(promises.acknowledged_survives, state, 1, acknowledged=frozenset({1}), **memories) is None) == is_excused
    assert of(promises.acknowledged_is_never_lost, state, 1, acknowledged=frozenset({1})) == {"record": 1}


def test_the_log_of_clients_only_grows() -> None:
    """It stays or is appended to, and no record of it is replaced."""
    unexcused = (UNEXCUSED, UNEXCUSED)
    for new in (COMMITTED, (A, B, C)):
        assert asked(promises.append_only_log, START, LEARN, START, ever_committed=(COMMITTED, new), excuses=unexcused) is None
    for new in ((A,), (A, B1), ()):
        found = asked(promises.append_only_log, START, LEARN, START, ever_committed=(COMMITTED, new), excuses=unexcused)
        assert found == {"step": "learn_metadata(broker=0, partition_epoch=0)", "before": COMMITTED, "after": new}


def test_what_is_acknowledged_stays() -> None:
    """At the true leader; what was deleted need not."""
    state = leading(LACKING, 1)
    for acknowledged, found in ((frozenset({0}), None), (frozenset({0, 1}), {"record": 1}), (NONE, None)):
        assert of(promises.acknowledged_survives, state, 1, acknowledged=acknowledged, excuses=UNEXCUSED) == found
        assert of(promises.acknowledged_is_never_lost, state, 1, acknowledged=acknowledged) == found
    deleted = leading(logs(START, (A, B), Log((), 1)), 1)
    assert of(promises.acknowledged_survives, deleted, 1, acknowledged=frozenset({0}), excuses=UNEXCUSED) is None
    assert of(promises.acknowledged_survives, state, 0, acknowledged=frozenset({7}), excuses=UNEXCUSED) is None


def test_what_is_acknowledged_with_acks_all_is_committed() -> None:
    """By then; ``acks=1`` promises less."""
    step = Step("acknowledge_produce", {"record": 1})
    for config, committed, found in (
        (CONFIG, (A, B), None),
        (CONFIG, (A,), {"step": "acknowledge_produce(record=1)", "committed": [0]}),
        (evolve(CONFIG, acks=Acks.LEADER), (A,), None),
    ):
        memory = {"ever_committed": (committed, committed), "config": config}
        assert asked(promises.acknowledged_is_committed, START, step, START, choices={"record": 1}, **memory) == found
        assert asked(promises.acknowledged_is_committed, START, step, START, choices={"record": 0}, **memory) is None


# -- steps --


@pytest.mark.parametrize(
    ("was", "now", "step", "config", "is_kept"),
    [
        ({}, {"leader": 1}, "fence_broker", CONFIG, True),
        ({"isr": frozenset({0})}, {"leader": 1, "isr": frozenset({1})}, "fence_broker", CONFIG, False),
        ({"isr": NONE, "elr": frozenset({1}), "leader": NOBODY}, {"leader": 1, "isr": frozenset({1})}, "unfence_broker", CONFIG, True),
        ({"isr": frozenset({0}), "elr": frozenset({1})}, {"leader": 1, "isr": frozenset({1, 2})}, "unfence_broker", CONFIG, False),
        ({"isr": frozenset({0})}, {"leader": 1, "isr": frozenset({1})}, "fence_broker", UNCLEAN, True),
        ({"isr": frozenset({0})}, {"leader": 1, "isr": frozenset({1})}, "elect_uncleanly", CONFIG, True),
        ({"isr": NONE, "last_known_elr": frozenset({1})}, {"leader": 1, "isr": frozenset({1})}, "unfence_broker", CONFIG, True),
        ({"isr": frozenset({0})}, {"leader": NOBODY, "isr": NONE}, "fence_broker", CONFIG, True),
    ],
    ids=["a member", "an outsider", "an eligible one", "not alone", "allowed", "asked for", "the last known leader", "nobody"],
)
def test_an_election_without_loss(was: dict[str, Any], now: dict[str, Any], step: str, config: Config, *, is_kept: bool) -> None:
    """The new leader was in the ISR, or in the ELR and is the ISR now, unless something else was allowed or asked for."""
    before = partition(START, **was)
    found = asked(promises.elected_without_loss, before, Step(step, {"broker": 0}), decision(before, **now), config=config)
    assert (found is None) == is_kept


def test_a_proposal_may_bring_the_next_leader() -> None:
    """If it ends a reassignment: who is elected was proposed for the ISR; also if a second copy of the proposal does it."""
    before = partition(proposed(START, 0, 3), isr=frozenset({0}))
    after = decision(before, leader=3, isr=frozenset({3}))
    answer = Step("answer_alter_partition", {"leader": 0})
    assert asked(promises.elected_without_loss, before, answer, after) is None
    assert asked(promises.elected_without_loss, put(before, altering={0: None}), answer, after) is not None
    copy = put(before, altering={0: None}, duplicate=request(0, 3), duplicate_of=0)
    assert asked(promises.elected_without_loss, copy, Step("deliver_duplicate", {}), after) is None


def test_epochs_do_not_go_back() -> None:
    """Those that a running broker knows, and the controller's; who stops forgets."""
    known = replica(START, 1, leader_epoch=2, partition_epoch=3)
    assert at(promises.epochs_grow, START, LEARN, known, 1) is None
    for changed in ({"leader_epoch": 1}, {"partition_epoch": 2}):
        found = at(promises.epochs_grow, known, LEARN, replica(known, 1, **changed), 1)
        assert found is not None
        assert found["before"] == (2, 3)
    assert at(promises.epochs_grow, known, LEARN, stopped(START, 1), 1) is None
    for changed in ({"leader_epoch": 1}, {"partition_epoch": 1}):
        assert at(promises.epochs_grow, partition(START, **changed), LEARN, START) is not None


def test_only_leaders_append() -> None:
    """Whoever follows gets its records by fetching."""
    append, fetch = Step("append_record", {"leader": 0}), Step("receive_fetch", {"follower": 0})
    grown = logs(START, (A,))
    assert at(promises.followers_only_pull, START, append, grown) is None
    assert at(promises.followers_only_pull, START, fetch, grown) == {"step": "receive_fetch(follower=0)"}
    follows = replica(START, 0, leader=1)
    assert at(promises.followers_only_pull, follows, fetch, logs(follows, (A,))) is None
    assert at(promises.followers_only_pull, follows, append, logs(follows, (A,))) is not None
    assert at(promises.followers_only_pull, grown, append, grown) is None


@pytest.mark.parametrize("action", ["consume", "validate_position", "refresh_metadata", "reset_position"])
def test_reading_deletes_nothing(action: str) -> None:
    """Nor does anything else that a consumer does change a log."""
    held, step = logs(START, (A,)), Step(action, {"consumer": 0})
    assert at(promises.consuming_deletes_nothing, held, step, held) is None
    assert at(promises.consuming_deletes_nothing, held, step, logs(START, ())) is not None
    assert at(promises.consuming_deletes_nothing, held, Step("delete_records", {"leader": 0}), logs(START, ())) is None


OUTSIDER_KEEPS_UP = (Keeper(), Keeper(0, 0, 2, fetches=2), Keeper(), Keeper())
"""Two fetches of broker 1 one after the other kept up with broker 0."""


@pytest.mark.parametrize(
    ("state", "keeping_up", "caught_up", "is_kept"),
    [
        (START, OUTSIDER_KEEPS_UP, CaughtUp.KEEPING_UP, True),
        (replica(START, 0, isr=frozenset({0})), OUTSIDER_KEEPS_UP, CaughtUp.KEEPING_UP, False),
        (replica(START, 0, isr=frozenset({0})), OUTSIDER_KEEPS_UP, CaughtUp.AT_THE_END, False),
        (replica(START, 0, isr=frozenset({0})), OUTSIDER_KEEPS_UP, CaughtUp.NOBODY, True),
        (replica(START, 0, isr=frozenset({0})), (Keeper(), Keeper(0, 0, 2, fetches=1), Keeper(), Keeper()), CaughtUp.KEEPING_UP, True),
        (replica(proposed(START, 0, 1), 0, isr=frozenset({0})), OUTSIDER_KEEPS_UP, CaughtUp.KEEPING_UP, True),
        (replica(proposed(START, 0, 2), 0, isr=frozenset({0})), OUTSIDER_KEEPS_UP, CaughtUp.KEEPING_UP, True),
        (put(replica(START, 0, isr=frozenset({0})), altering={0: request(0, 2)}), OUTSIDER_KEEPS_UP, CaughtUp.KEEPING_UP, True),
    ],
    ids=["in the ISR", "outside", "outside, under the other rule", "not promised", "once", "proposed", "another change", "another is sent"],
)
def test_who_keeps_up_is_proposed(state: State, keeping_up: tuple[Keeper, ...], caught_up: CaughtUp, *, is_kept: bool) -> None:
    """With its second fetch, unless the leader has to wait for the answer to another proposal."""
    given: dict[str, Any] = {"rules": rules(caught_up=caught_up), "keeping_up": (keeping_up, keeping_up)}
    step = Step("handle_fetch", {"follower": 1})
    assert (asked(promises.kept_up_is_proposed, START, step, state, choices={"follower": 1}, **given) is None) is is_kept
    assert asked(promises.kept_up_is_proposed, START, LEARN, state, choices={"follower": 1}, **given) is None
    assert asked(promises.kept_up_is_proposed, START, step, state, choices={"follower": 2}, **given) is None


# -- clients --


def test_the_end_of_the_log_that_clients_are_told_does_not_go_back() -> None:
    """A leader that does not know yet what is committed says nothing, unless the rules let it."""
    fresh = leading(logs(START, (), (A, B)), 1)
    memories = {"latest_offset": (2, 2), "excuses": (UNEXCUSED, UNEXCUSED)}
    always = rules(latest_offset=LatestOffset.ALWAYS)
    assert at(promises.latest_offset_grows, fresh, LEARN, fresh, 1, **memories) is None
    assert at(promises.latest_offset_grows, fresh, LEARN, fresh, 1, rules=always, **memories) == {"step": str(LEARN), "told": 2, "now": 0}
    back = replica(fresh, 1, epoch_start=0)
    assert at(promises.latest_offset_grows, fresh, LEARN, back, 1, **memories) is not None
    assert at(promises.latest_offset_grows, fresh, LEARN, replica(back, 1, high_watermark=2), 1, **memories) is None
    unclean = {"latest_offset": (2, 2), "excuses": (UNEXCUSED, Excuses(unclean=True))}
    assert at(promises.latest_offset_grows, fresh, LEARN, back, 1, **unclean) is None
    assert at(promises.latest_offset_grows, fresh, LEARN, back, 0, **memories) is None, "broker 0 does not lead any more"


def test_a_position_is_an_offset() -> None:
    """And never negative."""
    lost = put(START, consumers={0: evolve(START.consumers[0], position=-1)})
    assert asked(promises.position_is_an_offset, START, choices={"consumer": 0}) is None
    assert asked(promises.position_is_an_offset, lost, choices={"consumer": 0}) == {"position": -1}


def test_what_is_read_is_committed() -> None:
    """The record at the position, and then the next one."""
    state, step = logs(START, (A, B)), Step("consume", {"consumer": 0, "broker": 0})
    for position, committed, excuses, is_kept in (
        (1, (A, B), UNEXCUSED, True),
        (2, (A, B), UNEXCUSED, False),
        (0, (A, B), UNEXCUSED, False),
        (1, (), UNEXCUSED, False),
        (1, (B1,), UNEXCUSED, False),
        (1, (), Excuses(unclean=True), True),
    ):
        after = put(state, consumers={0: evolve(state.consumers[0], position=position)})
        memories = {"ever_committed": (committed, committed), "excuses": (excuses, excuses)}
        found = asked(promises.reads_are_committed, state, step, after, choices={"consumer": 0}, **memories)
        assert (found is None) == is_kept
        other = Step("reset_position", {"consumer": 0})
        assert asked(promises.reads_are_committed, state, other, after, choices={"consumer": 0}, **memories) is None


# -- goals --

ONE = evolve(CONFIG, replication_factor=1)
"""A single replica never leaves the ISR, and nobody fetches from it: such goals count as met."""


def test_goals_are_met_by_what_they_say() -> None:
    """And by nothing else."""
    acknowledge = Step("acknowledge_produce", {"record": 0})
    assert asked(promises.record_is_acknowledged, START, acknowledge, START)
    assert not asked(promises.record_is_acknowledged, START, LEARN, START)
    assert asked(promises.record_is_acknowledged, START, LEARN, START, config=evolve(CONFIG, acks=Acks.NONE))
    assert asked(promises.served_without_controller, controller_down(START), acknowledge, START)
    assert not asked(promises.served_without_controller, START, acknowledge, START)
    assert not asked(promises.served_without_controller, controller_down(START), LEARN, START)
    outside = partition(START, isr=frozenset({0, 2}))
    assert at(promises.isr_shrinks_and_grows, outside, LEARN, START, 1)
    assert not at(promises.isr_shrinks_and_grows, START, LEARN, outside, 1)
    assert not at(promises.isr_shrinks_and_grows, START, LEARN, START, 1)
    taken_in = Step("receive_fetch", {"follower": 0})
    assert at(promises.log_is_truncated, logs(START, (A,)), taken_in, START)
    assert not at(promises.log_is_truncated, logs(START, (A,)), LEARN, START)
    assert not at(promises.log_is_truncated, START, taken_in, logs(START, (A,)))


def test_goals_about_states_are_met_by_what_they_say() -> None:
    """A refused proposal, a fenced fetch, and a broker that is back after it lost records."""
    assert asked(promises.proposal_is_refused, answered(START, 0, error=Errors.INELIGIBLE_REPLICA), choices={"leader": 0})
    assert not asked(promises.proposal_is_refused, answered(START, 0), choices={"leader": 0})
    assert not asked(promises.proposal_is_refused, proposed(START, 0), choices={"leader": 0})
    for error, is_met in ((FetchError.FENCED_LEADER_EPOCH, True), (FetchError.UNKNOWN_LEADER_EPOCH, False), (None, False)):
        assert asked(promises.fetch_is_fenced, fetch_answer(START, error=error), choices={"follower": 1}) is is_met
    back = put(process(registration(START, 1, broker_epoch=2), 1, life=2, broker_epoch=2), budget=evolve(START.budget, lossy_crashes=0))
    assert of(promises.crash_is_survived, back, 1)
    assert not of(promises.crash_is_survived, put(back, budget=START.budget), 1)
    assert not of(promises.crash_is_survived, back, 2)
    assert of(promises.crash_is_survived, back, 2, bounds=evolve(BOUNDS, stays_down=True)), "whoever stays down is not asked to come back"
    assert not of(promises.crash_is_survived, partition(back, isr=frozenset({0, 2})), 1)


def test_one_replica_meets_what_needs_two() -> None:
    """Goals about others are not asked of a machine that has none."""
    for prop in (promises.isr_shrinks_and_grows, promises.log_is_truncated):
        assert at(prop, START, LEARN, START, config=ONE)
        assert not at(prop, START, LEARN, START)
    assert asked(promises.proposal_is_refused, START, choices={"leader": 0}, config=ONE)
    assert asked(promises.fetch_is_fenced, START, choices={"follower": 0}, config=ONE)


# -- what comes true at last --


def test_all_in_sync_is_what_it_says() -> None:
    """One log, all of it committed, a leader that knows it, everybody running and in the ISR, and nothing pending."""
    assert asked(promises.all_in_sync, START)
    same = logs(START, (A,), (A,), (A,), high_watermark=1)
    assert asked(promises.all_in_sync, same)
    for state in (
        logs(START, (A,), (A,), (A,)),
        logs(same, (A,), (B,), high_watermark=1),
        logs(same, (A,), (), high_watermark=1),
        proposed(same, 0, 1),
        stopped(same, 1),
        controller_down(same),
        partition(same, isr=frozenset({0, 1})),
        partition(same, leader=NOBODY),
        decision(same, leader_epoch=1),
    ):
        assert not asked(promises.all_in_sync, state)
    assert promises.can_recover(START)
    assert promises.can_recover(partition(START, isr=NONE, elr=frozenset({1})))
    assert not promises.can_recover(partition(START, isr=NONE, elr=NONE))


def test_what_begins_and_ends_the_wait() -> None:
    """Who starts wants to serve, who proposed wants to know, and who leads wants to commit what it has."""
    starting = process(START, 1, status=Status.STARTING)
    assert promises.is_starting(starting, 1)
    assert not promises.is_starting(controller_down(starting), 1)
    assert not promises.is_starting(START, 1)
    for state, is_met in (
        (START, True),
        (fenced(START, 1), False),
        (starting, False),
        (stopped(START, 1), True),
        (controller_down(starting), True),
    ):
        assert of(promises.started_broker_serves, state, 1) is is_met
    assert promises.has_proposed(proposed(START, 0, 1), 0)
    assert not of(promises.proposal_is_settled, proposed(START, 0, 1))
    assert of(promises.proposal_is_settled, START)
    uncommitted = logs(START, (A,))
    assert promises.has_uncommitted(uncommitted, 0)
    assert not of(promises.commits_at_last, uncommitted)
    for state in (START, stopped(uncommitted, 0), controller_down(uncommitted), registration(uncommitted, 0, broker_epoch=2)):
        assert of(promises.commits_at_last, state)
    assert of(promises.commits_at_last, partition(uncommitted, isr=frozenset({0})))
