# SPDX-License-Identifier: Apache-2.0
"""The partition as Kafka runs it refines the published machine, each rule that this rests on breaks it, and what is left out is said.

All counts are known from our own engines alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve, frozen

from hwmark.checker.explore import Options, explore
from hwmark.checker.tables.engine import explore as explore_with_tables
from hwmark.checker.verdict import Verdict
from hwmark.model import replication
from hwmark.model.log import Log, Record
from hwmark.model.machine import Step, put
from hwmark.model.partition.machine import machine
from hwmark.model.partition.shared import truth
from hwmark.model.partition.state import Bounds, Config, FetchAnswer, Start, State
from hwmark.spec.partition.presets import PRESETS
from hwmark.spec.partition.published import Decision, Notes, difference
from hwmark.spec.partition.refinement import REPLICATED, Unknown, explain, refines_replication, start, walk
from hwmark.spec.refinement import Followed, Left, Memory

TWO = Config(replication_factor=2, min_isr=1)
MIN_TWO = Config(replication_factor=2, min_isr=2)
THREE = Config(replication_factor=3, min_isr=1)
LAGS, FENCE, FENCES = Bounds(lags=1), Bounds(fences=1), Bounds(fences=2)

# -- whole scopes --


@pytest.mark.parametrize(
    ("config", "bounds", "states"),
    [
        (Config(replication_factor=1), Bounds(brokers=1, records=2, fences=1, crashes=1), 428),
        (TWO, LAGS, 964),
        (TWO, Bounds(records=0, fences=1), 163),
        (TWO, Bounds(records=2, initial_isr=1, initial_records=1), 176),
        (evolve(MIN_TWO, elr=False), Bounds(records=0, fences=1, elections=1), 363),
    ],
    ids=["alone", "lagging", "fenced", "out of sync", "elected"],
)
def test_right_rules_refine_the_published_machine(config: Config, bounds: Bounds, states: int) -> None:
    """In so many states, those of the published machine included."""
    found = explore(machine(PRESETS["partition"], config, bounds), [refines_replication], Options())
    assert (found.verdict, found.states) == (Verdict.HOLDS, states)


def test_engines_agree() -> None:
    """On states, steps, and the verdict."""
    explored = machine(PRESETS["partition"], TWO, Bounds(records=0, fences=1))
    one, other = (each(explored, [refines_replication], Options()) for each in (explore, explore_with_tables))
    assert (one.states, one.transitions, one.verdict) == (other.states, other.transitions, other.verdict)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("config", "bounds", "states"),
    [(TWO, FENCE, 3607), (TWO, Bounds(crashes=1), 5022), (TWO, Bounds(records=2, lags=1), 4962)],
    ids=["fenced", "crashing", "lagging with two records"],
)
def test_right_rules_refine_the_published_machine_in_larger_scopes(config: Config, bounds: Bounds, states: int) -> None:
    """Under either engine."""
    explored = machine(PRESETS["partition"], config, bounds)
    for each in (explore, explore_with_tables):
        found = each(explored, [refines_replication], Options())
        assert (found.verdict, found.states) == (Verdict.HOLDS, states)


@pytest.mark.parametrize(
    ("preset", "bounds", "depth", "says"),
    [
        ("expand_unguarded", LAGS, 7, {"refused": "leader_expand_isr(leader=0, follower=1)"}),
        ("expand_below_high_watermark", LAGS, 7, {"refused": "leader_expand_isr(leader=0, follower=1)"}),
        ("high_watermark_over_committed_isr", LAGS, 7, {"refused": "leader_expand_isr(leader=0, follower=1)"}),
        ("high_watermark_over_proposed_isr", LAGS, 2, {"high_watermark": 1}),
        ("commit_on_leader", LAGS, 1, {"high_watermark": 1}),
        ("metadata_applied_again", LAGS, 8, {"counts_on": frozenset({0}), "member": 1}),
        ("kafka_4_3", LAGS, 8, {"counts_on": frozenset({0}), "member": 1}),
        ("truncate_to_high_watermark", FENCE, 3, {"log": Log()}),
        ("fetch_unfenced", Bounds(records=0, fences=2), 6, {"knows_leader_epoch": 0, "is_said_to_know": 2}),
    ],
)
def test_without_a_rule_it_is_no_refinement(preset: str, bounds: Bounds, depth: int, says: Mapping[str, Any]) -> None:
    """After so many steps, and the witness says what the published machine does not do."""
    (found,) = explore(machine(PRESETS[preset], TWO, bounds), [refines_replication], Options()).results
    assert (found.verdict, found.depth) == (Verdict.VIOLATED, depth)
    assert found.witness is not None
    assert found.run is not None
    assert {name: found.witness[name] for name in ("step", *says)} == {"step": str(found.run.steps[-1]), **says}


@pytest.mark.parametrize("preset", ["refusal_ends_there", "high_watermark_below_min_isr", "fenced_admitted"])
def test_rules_that_the_published_machine_does_not_have(preset: str) -> None:
    """It commits below the minimum, asks nobody whether a follower is alive, and promises no progress: all these refine it too."""
    found = explore(machine(PRESETS[preset], TWO, LAGS), [refines_replication], Options())
    assert found.verdict is Verdict.HOLDS


# -- single runs --


@frozen
class Seen:
    """A run of the partition: its last step with the states around it, and what was remembered before and after that."""

    before: State
    step: Step
    after: State
    known: Memory
    memory: Memory

    def published(self) -> list[str]:
        """Return the published steps for which the last step stands."""
        assert isinstance(self.known, Followed)
        taken = walk(self.known.state, self.known.notes)
        explain(taken, self.before, self.step, self.after)
        return taken.steps


def run(steps: str, config: Config = TWO, **bounds: Any) -> Seen:
    """Return a run, written as steps with the values of their choices: ``append_record 0; fence_broker 1``."""
    explored = machine(PRESETS["partition"], config, Bounds(**{"brokers": config.replication_factor, **bounds}))
    actions = {one.name: one for one in explored.actions}
    (state,) = explored.initial
    seen = None
    memory = REPLICATED.initial(state)
    for name, *values in (one.split() for one in steps.split("; ")):
        step = Step(name, dict(zip(actions[name].domains, map(int, values), strict=True)))
        after = actions[name].bind(explored.context, step.choices)(state)
        assert after is not None, f"{step} is not enabled"
        known, memory = memory, REPLICATED.observe(memory, state, step, after)
        seen = Seen(state, step, after, known, memory)
        state = after
    assert seen is not None
    return seen


FETCH = "send_fetch 1; handle_fetch 1"
"""A follower's fetch is served."""
COPY = f"append_record 0; {FETCH}; receive_fetch 1"
"""A follower copies a record."""
COPIED = f"{COPY}; {FETCH}"
"""And its leader knows, and commits it."""


@pytest.mark.parametrize(
    ("steps", "published"),
    [
        ("send_fetch 1", []),
        ("append_record 0", ["leader_write(leader=0)"]),
        (COPY, ["follower_fetch(follower=1, leader=0)"]),
        (COPIED, ["leader_advance_high_watermark(leader=0)"]),
        (f"{COPIED}; handle_fetch 1; receive_fetch 1", []),
        ("fence_broker 1", []),
        ("append_record 0; fence_broker 1", ["leader_shrink_isr(leader=0, follower=1)"]),
        ("append_record 0; fence_broker 1; learn_metadata 0 1", ["leader_advance_high_watermark(leader=0)"]),
        ("fence_broker 1; append_record 0", ["leader_write(leader=0)", "leader_shrink_isr(leader=0, follower=1)"]),
        ("fence_broker 1; unfence_broker 1; send_fetch 1; learn_metadata 0 1; handle_fetch 1; answer_alter_partition 0", []),
        ("append_record 0; propose_shrink 0 1", []),
        ("append_record 0; propose_shrink 0 1; answer_alter_partition 0", ["leader_shrink_isr(leader=0, follower=1)"]),
        ("fence_broker 0", ["controller_shrink_isr(broker=0)", "controller_elect_leader(leader=1)"]),
        ("fence_broker 0; learn_metadata 0 1", []),
        ("fence_broker 0; learn_metadata 1 1", ["become_leader(broker=1, leader_epoch=2)"]),
        (
            "fence_broker 0; learn_metadata 1 1; append_record 1",
            ["leader_write(leader=1)", "leader_advance_high_watermark(leader=1)"],
        ),
        (
            "fence_broker 0; learn_metadata 1 1; learn_metadata 0 1; send_fetch 0; handle_fetch 0",
            ["become_follower(broker=0, leader_epoch=2)"],
        ),
        (
            "append_record 0; fence_broker 0; learn_metadata 1 1; learn_metadata 0 1; send_fetch 0; handle_fetch 0; receive_fetch 0",
            ["become_follower(broker=0, leader_epoch=2)"],
        ),
        (
            "fence_broker 1; fence_broker 0",
            ["controller_shrink_isr(broker=1)", "controller_shrink_isr(broker=0)"],
        ),
        (
            "fence_broker 1; learn_metadata 0 1; fence_broker 0",
            [
                "controller_shrink_isr(broker=1)",
                "controller_shrink_isr(broker=0)",
                "become_leader(broker=0, leader_epoch=1)",
                "become_follower(broker=1, leader_epoch=1)",
            ],
        ),
        (
            f"{FETCH}; fence_broker 1; learn_metadata 0 1; fence_broker 0; append_record 0",
            ["leader_write(leader=0)", "leader_advance_high_watermark(leader=0)"],
        ),
        ("fence_broker 1; fence_broker 0; unfence_broker 0", ["controller_elect_leader(leader=0)"]),
        ("fence_broker 1; fence_broker 0; learn_metadata 0 2", []),
    ],
)
def test_for_which_published_steps_a_step_stands(steps: str, published: list[str]) -> None:
    """None, one, or several."""
    seen = run(steps, fences=2, lags=1, records=1)
    assert seen.published() == published
    assert isinstance(seen.memory, Followed)


def test_followers_come_along_with_a_leader_that_goes_on() -> None:
    """It takes over that another was dropped: in Kafka in the same leader epoch, in the published machine in a later one."""
    seen = run("fence_broker 1; learn_metadata 0 1; fence_broker 0", THREE, fences=2)
    assert seen.published() == [
        "controller_shrink_isr(broker=1)",
        "controller_shrink_isr(broker=0)",
        "controller_elect_leader(leader=2)",
        "become_leader(broker=0, leader_epoch=1)",
        "become_follower(broker=1, leader_epoch=1)",
        "become_follower(broker=2, leader_epoch=1)",
    ]


LATE_ANSWER = f"append_record 0; {FETCH}; fence_broker 1; fence_broker 0; unfence_broker 0; learn_metadata 0 3; receive_fetch 1"
"""The leader was elected again, and its follower has not heard of it."""
LATE_ACKNOWLEDGEMENT = f"{COPY}; send_fetch 1; fence_broker 0; learn_metadata 1 1; handle_fetch 1"
"""The follower leads."""


@pytest.mark.parametrize(
    ("steps", "why", "config", "bounds"),
    [
        (LATE_ANSWER, Unknown.LATE_ANSWER, TWO, {"fences": 2}),
        (LATE_ACKNOWLEDGEMENT, Unknown.LATE_ACKNOWLEDGEMENT, TWO, {"fences": 1}),
        ("send_fetch 1; duplicate_fetch 1; deliver_duplicate", Unknown.REPEATED_REQUEST, TWO, {"duplicates": 1}),
        ("append_record 0; crash 0 0 0", Unknown.LOST_RECORDS, TWO, {"lossy_crashes": 1}),
        (f"{COPIED}; delete_records 0", Unknown.LOST_RECORDS, TWO, {"deletions": 1}),
        (f"{COPIED}; delete_old_segment 0", Unknown.LOST_RECORDS, TWO, {"deletions": 1}),
        ("replace_replica 1 2", Unknown.REASSIGNMENT, TWO, {"brokers": 3, "reassignments": 1}),
        ("fence_broker 1; fence_broker 0; unfence_broker 1", Unknown.UNCLEAN_ELECTION, evolve(TWO, unclean_elections=True), {"fences": 2}),
        ("fence_broker 1; fence_broker 0", Unknown.ELIGIBLE_OUTSIDE_ISR, MIN_TWO, {"fences": 2}),
    ],
)
def test_what_the_published_machine_does_not_know(steps: str, why: Unknown, config: Config, bounds: dict[str, int]) -> None:
    """The last step is not followed, and the memory says why; the step before it was."""
    seen = run(steps, config, **bounds)
    assert (seen.memory, type(seen.known)) == (Left(why), Followed)


def test_late_fetches_are_none_of_the_published_machine() -> None:
    """What stands for such a step is not enabled there: the follower is in another leader epoch than the leader."""
    for steps, stands_for in (
        (LATE_ANSWER, (replication.follower_fetch, {"follower": 1, "leader": 0})),
        (LATE_ACKNOWLEDGEMENT, (replication.leader_advance_high_watermark, {"leader": 0})),
    ):
        known = followed(run(steps, fences=2).known)
        assert walk(known.state, known.notes).after(stands_for[0], **stands_for[1]) is None


def test_an_answer_of_a_leader_that_has_not_truncated_yet_is_followed() -> None:
    """It leads no more, but in the published machine it has not heard of that before it compares its log with its successor's."""
    seen = run(f"append_record 0; {FETCH}; fence_broker 0; learn_metadata 0 1; receive_fetch 1", fences=1)
    assert seen.published() == ["follower_fetch(follower=1, leader=0)"]
    assert isinstance(seen.memory, Followed)


def test_a_drop_is_dated_by_what_its_leader_knows() -> None:
    """Of two that were dropped the leader knows of one; nobody keeps the decision before, as all have learned it."""
    learned = "learn_metadata 0 1; learn_metadata 1 2; learn_metadata 2 2"
    seen = run(f"fence_broker 1; fence_broker 2; {learned}; fence_broker 0", evolve(THREE, elr=False), fences=3)
    assert seen.before.metadata[0] is None
    assert followed(seen.memory).notes.decisions == (Decision(0, 0), Decision(1, 0), Decision(2, 0), Decision(3, 1))
    assert seen.published()[3] == "become_leader(broker=0, leader_epoch=1)"


@pytest.mark.parametrize(
    ("steps", "published"),
    [
        ("send_fetch 1; crash 1 0 0; handle_fetch 1", ["become_follower(broker=1, leader_epoch=1)"]),
        ("send_fetch 1; handle_fetch 1; receive_fetch 1; send_fetch 1; crash 1 1 0; handle_fetch 1", []),
    ],
)
def test_fetches_of_a_broker_that_has_stopped_since(steps: str, published: list[str]) -> None:
    """It has its log still, and follows in the published machine: from now on, or already."""
    seen = run(steps, records=2, initial_isr=1, crashes=1, initial_records=0 if published else 1)
    assert seen.published() == published
    assert isinstance(seen.memory, Followed)


def test_a_fetch_of_a_broker_that_has_led_and_stopped_since() -> None:
    """It has been in a later leader epoch, and cannot go back to that of the fetch."""
    seen = run("send_fetch 1; fence_broker 0; learn_metadata 1 1; crash 1 0 0; handle_fetch 1", fences=1, crashes=1)
    assert seen.published() == []
    assert isinstance(seen.memory, Followed)


# -- the start --


def followed(memory: Memory) -> Followed:
    """Return what is remembered of a run that is followed."""
    assert isinstance(memory, Followed)
    return memory


def begun(config: Config, **bounds: Any) -> Memory:
    """Return what is remembered at the start of a scope."""
    return start(machine(PRESETS["partition"], config, Bounds(**{"brokers": config.replication_factor, **bounds})).initial[0])


def test_the_start() -> None:
    """Somebody leads, others follow or have not begun to, and what is committed was written there."""
    first = followed(begun(THREE, records=2, initial_records=1, initial_isr=2))
    a = Record(0, 1)
    assert first.notes == Notes((Decision(0, 0), Decision(0, 0)), committed=(a,))
    assert [log.records for log in first.state.logs] == [(a,), (a,), ()]
    assert first.state.quorum == replication.LeaderAndIsr(1, 0, frozenset({0, 1}))
    assert [one.leader_epoch for one in first.state.replicas] == [1, 1, -1]
    assert followed(begun(TWO, start=Start.SECOND_LEADS)).state.quorum.leader == 1
    assert begun(TWO, initial_records=1, start=Start.OUTSIDER_OF_LATER_EPOCH) == Left(Unknown.START)


# -- what has to agree --

AT_START = machine(PRESETS["partition"], TWO, Bounds(records=2, initial_records=1, fences=1)).initial[0]
KNOWN = followed(start(AT_START))
A, B = Record(0, 0), Record(1, 0)


def published(**changed: Any) -> Followed:
    """Return what is remembered at the start, with something else in the published state."""
    return evolve(KNOWN, state=put(KNOWN.state, **changed))


def believing(broker: int, **changed: Any) -> Followed:
    """Return what is remembered at the start, but a broker of the published machine believes something else."""
    return published(replicas={broker: put(KNOWN.state.replicas[broker], **changed)})


def with_quorum(**changed: Any) -> Followed:
    """Return what is remembered at the start, but the published quorum is another."""
    return published(quorum=put(KNOWN.state.quorum, **changed))


def with_replica(broker: int, state: State = AT_START, **changed: Any) -> State:
    """Return the start, in which a broker of the partition believes something else."""
    return put(state, replicas={broker: evolve(state.replicas[broker], **changed)})


def dropped() -> State:
    """Return the start, but broker 1 is not in the controller's ISR."""
    return put(AT_START, metadata={0: evolve(truth(AT_START), isr=frozenset({0}))})


LONGER = put(AT_START, logs={0: Log((A, B))})
"""The leader has one more record."""


@pytest.mark.parametrize(
    ("state", "known", "broker", "facts"),
    [
        (AT_START, KNOWN, 0, None),
        (AT_START, KNOWN, 1, None),
        (AT_START, with_quorum(leader=1), 1, {"leader", "isr"}),
        (AT_START, with_quorum(isr=frozenset({0})), 1, {"leader", "isr"}),
        (dropped(), KNOWN, 1, None),
        (dropped(), believing(1, leader_epoch=-1), 1, {"isr", "member"}),
        (AT_START, published(logs={1: Log()}), 1, {"log"}),
        (AT_START, published(logs={1: Log((B,))}), 1, {"log"}),
        (AT_START, evolve(KNOWN, notes=evolve(KNOWN.notes, decisions=(Decision(0, 1),))), 1, {"log"}),
        (with_replica(1, leader_epoch=1), KNOWN, 1, None),
        (with_replica(1, leader_epoch=-1), KNOWN, 1, None),
        (AT_START, believing(1, leader_epoch=-1), 1, None),
        (AT_START, believing(0, leader=1), 0, {"leads_in"}),
        (AT_START, believing(0, leader_epoch=-1), 0, {"leads_in"}),
        (with_replica(0, isr=frozenset({0})), KNOWN, 0, None),
        (with_replica(0, isr=frozenset({0})), believing(1, leader_epoch=-1), 0, {"counts_on", "member"}),
        (with_replica(0, isr=frozenset({0}), proposed=frozenset({0, 1})), believing(1, leader_epoch=-1), 0, None),
        (
            with_replica(0, LONGER, isr=frozenset({0})),
            published(logs={0: Log((A, B))}),
            0,
            {"counts_on", "member"},
        ),
        (with_replica(0, high_watermark=0), KNOWN, 0, None),
        (with_replica(0, high_watermark=0), evolve(KNOWN, notes=evolve(KNOWN.notes, committed=())), 0, None),
        (AT_START, evolve(KNOWN, notes=evolve(KNOWN.notes, committed=())), 0, {"high_watermark", "ever_committed"}),
        (AT_START, believing(0, high_watermark=0), 0, None),
        (with_replica(0, epoch_start=0), believing(0, high_watermark=0), 0, {"high_watermark"}),
        (with_replica(0, high_watermark=0, epoch_start=0), KNOWN, 0, None),
    ],
)
def test_what_has_to_agree(state: State, known: Followed, broker: int, facts: set[str] | None) -> None:
    """The witness of a difference says what the partition has; a follower may know more than its published one, and no less."""
    found = difference(state, known, broker)
    assert (None if found is None else set(found.facts)) == facts


def test_a_follower_knows_no_less_than_its_published_one() -> None:
    """Else it would have been counted in an epoch that it has not reached."""
    known = evolve(KNOWN, notes=evolve(KNOWN.notes, decisions=(Decision(0, 0), Decision(1, 1))))
    known = evolve(known, state=put(known.state, replicas={1: put(known.state.replicas[1], leader_epoch=1)}))
    found = difference(AT_START, known, 1)
    assert found is not None
    assert dict(found.facts) == {"knows_leader_epoch": 0, "is_said_to_know": 1}


def test_rounds_of_truncation_are_one_there() -> None:
    """A follower that has to truncate further has not what the published one has."""
    c = Record(2, 0)
    before = put(AT_START, logs={1: Log((B, c))}, fetching={1: FetchAnswer(0, 0, 2, diverging_epoch=0, diverging_end=1)})
    known = followed(believing(1, leader_epoch=-1))
    taken = walk(put(known.state, logs={1: Log((B, c))}), known.notes)
    memory = taken.through(lambda one: explain(one, before, Step("receive_fetch", {"follower": 1}), put(before, logs={1: Log((B,))})))
    assert memory == Left(Unknown.ROUNDS_OF_TRUNCATION)


def test_published_leader_epochs_come_to_an_end() -> None:
    """A published machine with room for one more decision does not follow the two that replace a leader."""
    seen = run("fence_broker 0", fences=1)
    known = followed(seen.known)
    taken = walk(put(known.state, requests=known.state.requests[:2]), known.notes)
    assert taken.through(lambda one: explain(one, seen.before, seen.step, seen.after)) == Left(Unknown.OUT_OF_EPOCHS)


def test_others_than_replicas_have_nothing_to_agree_on() -> None:
    """A broker without a replica is none of the published machine's."""
    state = machine(PRESETS["partition"], TWO, Bounds(brokers=3)).initial[0]
    assert difference(state, followed(start(state)), 2) is None
