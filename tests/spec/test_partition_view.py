# SPDX-License-Identifier: Apache-2.0
"""How a partition is drawn: what the controller decided, what brokers believe, and captions in Kafka's words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.pictures.lanebox import needed_width
from hwmark.model.log import Log, Record
from hwmark.model.machine import Machine, Step
from hwmark.model.partition.decisions import LeaderRecovery, PartitionState
from hwmark.model.partition.machine import ACTIONS, machine
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.state import (
    Acks,
    Bounds,
    Config,
    FetchAnswer,
    FetchRequest,
    RegistrationAnswer,
    RegistrationRequest,
    State,
    Waiting,
)
from hwmark.spec.partition.presets import PRESETS, RIGHT
from hwmark.spec.partition.view import CONTROLLER, VIEW
from hwmark.spec.view import Event, Lane, Mark, Place, Tone

ALL = Bounds(
    brokers=3,
    records=3,
    consumers=1,
    fences=2,
    shutdowns=1,
    crashes=1,
    lossy_crashes=1,
    lags=1,
    losses=1,
    duplicates=1,
    elections=1,
    unclean_elections=1,
    reassignments=1,
    deletions=1,
    outages=1,
)
"""A scope in which everything may happen."""


def build(rules: PartitionRules = RIGHT, config: Config | None = None, bounds: Bounds = ALL) -> Machine[State]:
    """Return a machine of two replicas on three brokers, unless something else is asked for."""
    return machine(rules, config or Config(), bounds)


def steps(checked: Machine[State], *written: str) -> Iterator[tuple[State, Step, State]]:
    """Yield the steps of a run, each written as the action and the values of its choices."""
    instances = {" ".join([step.action, *map(_value, step.choices.values())]): (step, take) for step, take in checked.instances()}
    before = checked.initial[0]
    for one in written:
        step, take = instances[one]
        after = take(before)
        assert after is not None, f"{one} is not enabled"
        yield before, step, after
        before = after


def _value(choice: Any) -> str:
    return str(getattr(choice, "value", choice))


def told(checked: Machine[State], *written: str) -> list[Event]:
    """Return the events of a run."""
    return [VIEW.of(checked).event(*moment) for moment in steps(checked, *written)]


def end(checked: Machine[State], *written: str) -> State:
    """Return the state after a run."""
    return list(steps(checked, *written))[-1][2]


def lane(state: State, name: str) -> Lane:
    """Return a lane by its name."""
    return {one.name: one for one in VIEW.lanes(state)}[name]


FETCH = ("send_fetch 1", "handle_fetch 1", "receive_fetch 1")
COMMIT = ("append_record 0", *FETCH, "send_fetch 1", "handle_fetch 1")
LOST = (*COMMIT, "fence_broker 0", "fence_broker 1", "learn_metadata 1 2", "unfence_broker 1", "learn_metadata 1 3")
"""A follower truncates to its high watermark, and a committed record is lost."""
RESTART = ("start_broker 1", "request_registration 1", "register_broker 1", "receive_registration 1", "learn_metadata 1 2")


# -- captions --


def test_a_run_is_told_in_kafkas_words() -> None:
    """Each step has a caption that can be read without the model, and happens between two lanes where a message arrives."""
    events = told(build(PRESETS["truncate_to_high_watermark"]), *LOST)
    assert [one.caption for one in events] == [
        "Broker 0 appends a at offset 0, in leader epoch 0",
        "Broker 1 asks broker 0 for offset 0, in leader epoch 0",
        "Broker 0 learns that broker 1 has all before offset 0, and sends it a",
        "Broker 1 appends a at offset 0 (epoch 0)",
        "Broker 1 asks broker 0 for offset 1, in leader epoch 0",
        (
            "Broker 0 learns that broker 1 has all before offset 1, and lets the fetch wait for news, "
            "and advances its high watermark to 1: a counts as committed"
        ),
        "The controller fences broker 0, of which it has not heard for too long: broker 1 is elected in leader epoch 1, ISR {1}",
        "The controller fences broker 1, of which it has not heard for too long: nobody leads in leader epoch 2, ISR {}, ELR {1}",
        "Broker 1 learns from partition epoch 2 that nobody leads in leader epoch 2, and truncates its log to offset 0: drops a",
        "The controller unfences broker 1: broker 1 is elected in leader epoch 3, ISR {1}, ELR {}",
        "Broker 1 learns that it leads in leader epoch 3 that starts at offset 0, with ISR {1} in partition epoch 3",
    ]
    assert [(one.source, one.lane) for one in events[:4]] == [
        (None, "broker 0"),
        (None, "broker 1"),
        ("broker 1", "broker 0"),
        ("broker 0", "broker 1"),
    ]


def test_a_fetch_that_proposes_sends_two_messages() -> None:
    """The answer goes to the follower, the proposal to the controller, whose record then goes to everybody."""
    checked = build(bounds=evolve(ALL, initial_isr=1))
    _, served, answered, heard = told(checked, "send_fetch 1", "handle_fetch 1", "answer_alter_partition 0", "receive_alter_partition 0")
    assert served.caption.endswith("; it proposes ISR {0, 1}")
    assert served.also_sends == answered.receives
    assert answered.caption == "The controller accepts the ISR {0, 1} that broker 0 proposed: partition epoch 1"
    assert answered.sends == heard.receives
    assert answered.also_sends is not None
    assert answered.also_sends.name == "partition epoch 1"
    assert heard.caption == "Broker 0 hears that its proposal was accepted: the ISR is {0, 1}, in partition epoch 1"


def test_a_crash_and_what_follows_are_told() -> None:
    """What is lost and what is not, and that the broker comes back as somebody whom nobody trusts."""
    events = told(build(config=Config(min_isr=2)), *COMMIT, "crash 1 0 0", "fence_broker 1", *RESTART)[len(COMMIT) :]
    assert [one.caption for one in events] == [
        "Broker 1 crashes, and loses a, all from offset 0 on",
        "The controller fences broker 1, which does not run as it is registered: ISR {0}, ELR {1}",
        "Broker 1 starts: its life 2",
        "Broker 1 asks to be registered: it is in its life 2, and does not know of a clean shutdown",
        "The controller registers life 2 of broker 1, which is its broker epoch: ELR {}",
        "Broker 1 hears that it is registered, with broker epoch 2, and runs",
        "Broker 1 learns from partition epoch 2 that broker 0 leads in leader epoch 0",
    ]


def test_producers_and_consumers_are_told() -> None:
    """Who is told that a record is stored, who reads it, and who has to look where it is."""
    events = told(build(), *COMMIT, "acknowledge_produce 0", "consume 0 0", "fence_broker 0", "learn_metadata 1 1", "refresh_metadata 0 1")
    asked = told(build(), *COMMIT, "consume 0 0", "fence_broker 0", "learn_metadata 1 1", "refresh_metadata 0 1", "validate_position 0")
    assert [one.caption for one in (*events[6:8], events[-1], asked[-1])] == [
        "Broker 0 tells the producer of a that it is stored (acks=all)",
        "Consumer 0 reads a at offset 0 from broker 0",
        "Consumer 0 learns from broker 1 that it leads in leader epoch 1, and has to validate its position 1",
        "Consumer 0 asks broker 1 where epoch 0 ends, and stays at offset 1",
    ]
    reset = told(
        build(PRESETS["epoch_known_from_first_record"]),
        *(*COMMIT, "consume 0 0", "fence_broker 0", "learn_metadata 1 1", "delete_old_segment 1"),
        *("refresh_metadata 0 1", "validate_position 0"),
    )
    assert reset[-1].caption == "Consumer 0 asks broker 1 where epoch 0 ends, is told nothing, and starts again at offset 1"


def test_too_few_replicas_are_told() -> None:
    """A record that is committed, and a producer that is told it is not stored well enough."""
    shrinks = ("fence_broker 1", "learn_metadata 0 1")
    (*_, refused) = told(build(config=Config(min_isr=2)), *COMMIT, *shrinks, "refuse_produce 0")
    assert refused.caption == (
        "Broker 0 answers the producer of a NOT_ENOUGH_REPLICAS_AFTER_APPEND: "
        "it is committed, but fewer than 2 replicas are in the ISR by now"
    )


def test_a_leader_that_goes_by_its_memory_says_so() -> None:
    """Under the rule that lets it propose a follower without a fetch that says so now."""
    run = ("send_fetch 1", "handle_fetch 1", "fence_broker 1", "learn_metadata 0 1", "propose_from_memory 0 1")
    (*_, proposes) = told(build(PRESETS["expand_from_memory"]), *run)
    assert proposes.caption == "Broker 0 goes by an earlier fetch of broker 1; it proposes ISR {0, 1}"


def test_who_is_waited_for_is_shown_and_given_up() -> None:
    """A follower outside of the ISR that has caught up, until its leader does not wait any more, and commits without it."""
    checked = build(PRESETS["waiting"], bounds=evolve(ALL, initial_isr=1, initial_records=1, records=4))
    kept_up = ("send_fetch 1", "handle_fetch 1", "append_record 0", "receive_fetch 1", "send_fetch 1", "handle_fetch 1", "append_record 0")
    assert lane(end(checked, *kept_up), "broker 0").facts["broker 1 at"] == "1, caught up"
    given_up = (*kept_up, "let_lag_time_pass 0 1")
    caption = "Broker 0 does not wait for broker 1 any more, which is outside of the ISR"
    assert told(checked, *given_up)[-1].caption == f"{caption}, and advances its high watermark to 3: c counts as committed"
    assert lane(end(checked, *given_up), "broker 0").facts["broker 1 at"] == "1"


def test_an_unclean_election_is_called_one() -> None:
    """Whoever is elected from outside ISR and ELR; not who joins the ISR with the step that elects it."""
    checked = build(config=Config(unclean_elections=True), bounds=evolve(ALL, initial_isr=1, brokers=2))
    (unclean,) = told(checked, "fence_broker 0")
    assert "broker 1 is elected uncleanly in leader epoch 1, ISR {1}" in unclean.caption
    moved = told(
        build(),
        *("replace_replica 0 2", "learn_metadata 0 1", "learn_metadata 2 1"),
        *("send_fetch 2", "handle_fetch 2", "answer_alter_partition 0"),
    )
    assert moved[0].caption == "An operator moves the replica of broker 0 to broker 2: replicas [2, 1, 0]"
    assert moved[-1].caption == (
        "The controller accepts the ISR {0, 1, 2} that broker 0 proposed: broker 2 is elected in leader epoch 1, "
        "replicas [2, 1], ISR {1, 2}"
    )


ISR_OF_ONE = ("fence_broker 1", "learn_metadata 0 1")
LATE_START = evolve(ALL, initial_isr=1)


@pytest.mark.parametrize(
    ("bounds", "run", "caption"),
    [
        (ALL, ("append_record 0", "propose_shrink 0 1"), "Broker 0 has not heard of broker 1 since it leads; it proposes ISR {0}"),
        (ALL, ("append_record 0", *FETCH, "propose_shrink 0 1"), "Broker 0 finds broker 1 still at offset 0; it proposes ISR {0}"),
        (ALL, ("send_fetch 1", "lose_fetch 1"), "A fetch of broker 1 is lost"),
        (ALL, ("append_record 0", *FETCH[:2], "lose_fetch 1"), "The answer to a fetch of broker 1 is lost"),
        (ALL, ("send_fetch 1", "duplicate_fetch 1"), "The fetch of broker 1 is on its way twice"),
        (
            ALL,
            ("send_fetch 1", "duplicate_fetch 1", "deliver_duplicate"),
            "A second copy of the fetch of broker 1 (offset 0) reaches broker 0: it handles it like the first",
        ),
        (
            ALL,
            ("send_fetch 1", "duplicate_fetch 1", "crash 0 0 0", "deliver_duplicate"),
            "A second copy of the fetch of broker 1 (offset 0) reaches broker 0: it does not run",
        ),
        (
            LATE_START,
            ("send_fetch 1", "handle_fetch 1", "duplicate_alter_partition 0"),
            "The proposal of broker 0, ISR {0, 1}, is on its way twice",
        ),
        (
            LATE_START,
            ("send_fetch 1", "handle_fetch 1", "duplicate_alter_partition 0", "fence_broker 1", "deliver_duplicate"),
            "A second copy of broker 0's proposal arrives: the controller refuses the ISR {0, 1}: INELIGIBLE_REPLICA",
        ),
        (
            LATE_START,
            ("send_fetch 1", "handle_fetch 1", "answer_alter_partition 0", "lose_alter_partition_answer 0"),
            "The answer to broker 0 is lost, and it proposes ISR {0, 1} once more",
        ),
        (
            LATE_START,
            ("send_fetch 1", "handle_fetch 1", "fence_broker 1", "answer_alter_partition 0", "receive_alter_partition 0"),
            "Broker 0 hears INELIGIBLE_REPLICA, and takes its proposal back",
        ),
        (
            ALL,
            ("begin_controlled_shutdown 1", "shut_down 1"),
            "Broker 1 has handed over, and stops cleanly: it writes down its broker epoch 1",
        ),
        (ALL, ("lose_controller",), "The controller quorum loses its majority: nothing is decided until it is back"),
        (ALL, ("lose_controller", "regain_controller"), "The controller quorum is back, with all that it decided"),
        (
            ALL,
            ("send_fetch 1", "fence_broker 0", "learn_metadata 0 1", "handle_fetch 1"),
            "Broker 0 refuses the fetch of broker 1 (leader epoch 0, offset 0): FENCED_LEADER_EPOCH",
        ),
        (ALL, (*COMMIT, "delete_old_segment 0"), "Broker 0 deletes its first segment: its log starts at offset 1; a is gone"),
        (
            ALL,
            (*COMMIT, "delete_records 0"),
            "Broker 0 deletes what is committed at a client's request: its log starts at offset 1; a is gone",
        ),
        (
            ALL,
            (*ISR_OF_ONE, "append_record 0"),
            "Broker 0 appends a at offset 0, in leader epoch 0, and advances its high watermark to 1: a counts as committed",
        ),
        (ALL, ("fence_broker 0", "append_record 0"), "Broker 0, a zombie leader, appends a at offset 0, in leader epoch 0"),
    ],
)
def test_other_steps_are_told(bounds: Bounds, run: tuple[str, ...], caption: str) -> None:
    """The last step of each of these runs."""
    assert told(build(bounds=bounds), *run)[-1].caption == caption


# -- lanes --


def test_roles_tell_belief_from_truth() -> None:
    """A leader is one that the controller names in that epoch; who runs, who is fenced, and how somebody stopped is said too."""
    fenced = ("fence_broker 0",)
    cases = {
        (): ("leader", Tone.LEADING),
        fenced: ("zombie leader, fenced", Tone.WRONG),
        (*fenced, "learn_metadata 0 1"): ("follower of broker 1, fenced", Tone.PLAIN),
        (*fenced, "unfence_broker 0", "fence_broker 1"): ("zombie leader", Tone.WRONG),
        ("crash 0 0 0",): ("crashed", Tone.WRONG),
        ("lose_controller", "shut_down 0"): ("stopped cleanly", Tone.PLAIN),
        ("begin_controlled_shutdown 1",): ("leader", Tone.LEADING),
        ("begin_controlled_shutdown 0", "learn_metadata 0 1"): ("follower of broker 1, stopping", Tone.PLAIN),
        ("crash 0 0 0", "start_broker 0"): ("starting", Tone.PLAIN),
    }
    for run, expected in cases.items():
        found = lane(end(build(), *run) if run else build().initial[0], "broker 0")
        assert (found.role, found.tone) == expected, run
    assert [lane(build().initial[0], f"broker {broker}").role for broker in (1, 2)] == ["follower of broker 0", "no replica"]


def test_a_leader_of_an_old_epoch_and_who_knows_nobody() -> None:
    """The controller's leader may not know its epoch yet; a broker may know that there is none, or know nothing."""
    alone = build(config=Config(replication_factor=1, elr=False), bounds=evolve(ALL, brokers=1))
    twice = ("fence_broker 0", "unfence_broker 0")
    assert (lane(end(alone, *twice), "broker 0").role, lane(end(alone, *twice), "broker 0").tone) == ("leader of an old epoch", Tone.WRONG)
    assert lane(end(alone, "fence_broker 0", "learn_metadata 0 1"), "broker 0").role == "knows of no leader, fenced"
    restart = ("start_broker 0", "request_registration 0", "register_broker 0", "receive_registration 0")
    assert lane(end(alone, "crash 0 0 0", "fence_broker 0", *restart), "broker 0").role == "has no metadata yet, fenced"


def test_lanes_show_what_is_known() -> None:
    """The controller's lane has the decision and whom it fenced, the leader's what it proposed and knows of its followers."""
    state = end(build(bounds=evolve(ALL, initial_isr=1)), "append_record 0", "send_fetch 1", "handle_fetch 1")
    assert dict(lane(state, "broker 0").facts) == {
        "broker epoch": "1",
        "leader epoch": "0",
        "partition epoch": "0",
        "ISR": "{0}",
        "epoch start": "0",
        "broker 1 at": "0",
        "not yet answered": "a",
    }
    proposing = lane(end(build(bounds=evolve(ALL, initial_isr=1)), "send_fetch 1", "handle_fetch 1"), "broker 0")
    assert (proposing.facts["ISR"], proposing.facts["proposed ISR"]) == ("{0}", "{0, 1}")
    fenced = lane(end(build(config=Config(min_isr=2)), "fence_broker 1", "begin_controlled_shutdown 0"), CONTROLLER)
    assert fenced.role == "leader: nobody"
    assert dict(fenced.facts) == {
        "leader epoch": "1",
        "partition epoch": "2",
        "replicas": "[0, 1]",
        "ISR": "{}",
        "ELR": "{0, 1}",
        "last known leader": "{0}",
        "fenced": "{1}",
        "shutting down": "{0}",
    }
    assert lane(end(build(), "lose_controller"), CONTROLLER).tone is Tone.WRONG
    assert dict(lane(state, "consumer 0").facts) == {"position": "0", "last epoch": "none", "leader": "broker 0", "leader epoch": "0"}


def test_a_late_fetcher_is_shown() -> None:
    """A follower that goes on fetching in an earlier leader epoch than it knows says so."""
    again = ("fence_broker 0", "fence_broker 1", "unfence_broker 0", "learn_metadata 1 3")
    for preset, facts in (("partition", {}), ("fetcher_not_restarted", {"fetches in epoch": "0"})):
        found = lane(end(build(PRESETS[preset], Config(min_isr=2)), *again), "broker 1").facts
        assert {name: value for name, value in found.items() if name.startswith("fetches")} == facts


def test_logs_show_letters_epochs_marks_and_what_is_committed() -> None:
    """A cell has the record's letter and epoch, and is committed below the broker's high watermark; a log start is marked once it moved."""
    leader, follower = (lane(end(build(), *COMMIT), f"broker {broker}") for broker in (0, 1))
    assert [(cell.offset, cell.label, cell.epoch, cell.committed) for cell in leader.cells or ()] == [(0, "a", 0, True)]
    assert [(cell.offset, cell.label, cell.epoch, cell.committed) for cell in follower.cells or ()] == [(0, "a", 0, False)]
    assert leader.marks == (Mark("HW", 1, strong=True), Mark("LEO", 1))
    deleted = lane(end(build(), *COMMIT, "delete_records 0"), "broker 0")
    assert (deleted.cells, deleted.marks) == ((), (Mark("log start", 1), Mark("HW", 1, strong=True), Mark("LEO", 1)))


# -- every step --


Moment = tuple[Machine[State], State, Step, State]


@pytest.fixture(scope="module")
def walks() -> list[Moment]:
    """Take random walks under several rules, on which each action is as likely as any other that is enabled."""
    presets = ("partition", "kafka_4_3", "high_watermark_before_truncation", "undefined_epoch_end_is_an_offset")
    return [moment for number in range(12) for moment in walk(number, PRESETS[presets[number % 4]])]


def walk(number: int, rules: PartitionRules) -> Iterator[Moment]:
    """Yield the steps of one walk."""
    config = Config(min_isr=1 + number % 2, acks=tuple(Acks)[number % 3], unclean_elections=number % 5 == 0, follower_reads=True)
    draw = random.Random(number)  # noqa: S311 - walks, not secrets
    checked = build(rules, config)
    takes: dict[str, list[Any]] = {}
    for step, take in checked.instances():
        takes.setdefault(step.action, []).append((step, take))
    before = checked.initial[0]
    for _ in range(90):
        enabled = {name: [(step, after) for step, take in all_ if (after := take(before))] for name, all_ in takes.items()}
        possible = [name for name, some in enabled.items() if some]
        if not possible:
            return
        step, after = draw.choice(enabled[draw.choice(possible)])
        yield checked, before, step, after
        before = after


def test_every_step_is_told(walks: list[Moment]) -> None:
    """Each action is taken, and told in whole sentences that name no None; what arrives was sent; lanes stay the same."""
    seen, sent, names = set[str](), set[str](), list[str]()
    for checked, before, step, after in walks:
        if before is checked.initial[0]:
            sent = {"partition epoch 0"}
            names = [one.name for one in VIEW.lanes(before)]
        event = VIEW.of(checked).event(before, step, after)
        seen.add(step.action)
        assert re.fullmatch(r"(The|Broker|Consumer|A|An) .*[\w)}\]]", event.caption)
        assert "None" not in event.caption
        assert event.lane in names
        assert event.source in {None, *names}
        assert event.receives is None or event.receives.name in sent
        sent |= {message.name for message in (event.sends, event.also_sends) if message is not None}
        assert [one.name for one in VIEW.lanes(after)] == names
    assert seen == {act.name for act in ACTIONS} - {"refuse_produce", "propose_from_memory", "let_lag_time_pass"}


def test_no_role_and_no_fact_is_shortened(walks: list[Moment]) -> None:
    """Lanes have room for what they say: the widest that pictures allow is never reached."""
    assert all(needed_width(VIEW.lanes(after), range(4)) < 260 for _, _, _, after in walks)
    assert all(needed_width([Lane("broker", role)], range(4)) < 260 for role in VIEW.words if ", " in role)


# -- witnesses and values --


def test_a_witness_points_at_who_is_wrong() -> None:
    """The brokers that it names at its offset, the controller for an ISR, a consumer, and for a record alone whoever has it or lacks it."""
    state = end(build(), "append_record 0")
    found = {"broker": 0, "other": 1, "offset": 0, "ours": Record(0, 1), "theirs": None}
    assert VIEW.blame(state, found) == (Place("broker 0", 0), Place("broker 1", 0))
    assert VIEW.blame(state, {"isr": frozenset({0}), "elr": frozenset(), "elected": 1}) == (Place(CONTROLLER), Place("broker 1"))
    assert VIEW.blame(state, {"consumer": 0, "position": -1}) == (Place("consumer 0"),)
    assert VIEW.blame(state, {"broker": 1, "record": 0}) == (Place("broker 1"),)
    assert VIEW.blame(state, {"record": 0, "committed": []}) == (Place("broker 0", 0), Place("broker 1"), Place("broker 2"))
    assert VIEW.blame(state, {"leader": -1, "broker": 9, "consumer": 5, "other": "x"}) == ()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("logs[0].records[0]", Record(1, 2), "b (epoch 2)"),
        ("logs[0]", Log((Record(0, 1),), 3), "[a (epoch 1)] from offset 3 on"),
        ("logs[0]", Log((Record(0, 1),)), "[a (epoch 1)]"),
        ("replicas[0].leader", -1, "nobody"),
        ("replicas[0].leader_epoch", -1, "none"),
        ("followers[0][1].end_offset", -1, "unknown"),
        ("consumers[0].position", -1, "-1"),
        ("next_record_id", 1, None),
        ("produced[0]", Waiting(1, 4), "at offset 4 of broker 1"),
        ("fetching[1]", FetchRequest(0, 2, 3, 1, 1), "from offset 3; leader epoch 2; last record of epoch 1"),
        ("fetching[1]", FetchAnswer(0, 2, 3, diverging_epoch=1, diverging_end=2), "epoch 1 ends at offset 2"),
        ("fetching[1]", FetchAnswer(0, 2, 3, high_watermark=1, log_start_offset=1), "no record; high watermark 1; log start offset 1"),
        ("registering[1]", RegistrationRequest(2, 1), "life 2; stopped cleanly in broker epoch 1"),
        ("registering[1]", RegistrationAnswer(2, 3), "broker epoch 2"),
    ],
)
def test_values_are_said_in_words(path: str, value: Any, said: str | None) -> None:
    """Records are letters, messages say what is in them, and -1 is nobody, none or unknown; only a position is what it is."""
    assert VIEW.say(path, value) == said


def test_decisions_are_said_in_words() -> None:
    """What is not usual is said too; in the list of all decisions those that are forgotten are left out."""
    partition = PartitionState(
        (1, 0, 2), frozenset({1}), frozenset({0}), leader=1, adding=frozenset({2}), leader_recovery=LeaderRecovery.RECOVERING
    )
    said = "leader: broker 1; leader epoch 0; ISR {1}; ELR {0}; adding {2}; leader recovers; replicas [1, 0, 2]; partition epoch 0"
    assert VIEW.say("metadata[0]", partition) == said
    assert VIEW.say("metadata", (None, partition)) == f"[{said}]"


def test_refusals_and_proposals_are_said_in_words() -> None:
    """A proposal says whom it proposes under which epochs, and the broker epochs of those who are not in their first life."""
    checked = build(bounds=evolve(ALL, initial_isr=1))
    asked = end(checked, "send_fetch 1", "handle_fetch 1")
    assert VIEW.say("altering[0]", asked.altering[0]) == "ISR {0, 1}; leader epoch 0; partition epoch 0"
    assert VIEW.say(
        "altering[0]", end(checked, "send_fetch 1", "handle_fetch 1", "fence_broker 0", "answer_alter_partition 0").altering[0]
    ) == ("FENCED_LEADER_EPOCH")
