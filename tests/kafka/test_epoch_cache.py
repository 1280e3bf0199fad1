# SPDX-License-Identifier: Apache-2.0
"""The model's leader epoch cache against Kafka's own, operation by operation.

The witness is ``org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache`` of Kafka 4.3.1, in the jar that Kafka
publishes: the release whose sources the ``log`` machine names, and the last that its actions are said to follow.
Witness and model are asked the same questions, first in any order, then in that of the runs of the ``log`` machine;
after each question they must agree on the answer and on all entries. So that they cannot agree for want of questions,
models that are wrong in one function or rule must be found out by the same. Where Kafka and the model differ, the last
section says so.
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

from hwmark.checker.system import system
from hwmark.model.log import (
    UNDEFINED_EPOCH,
    EpochCache,
    EpochEnd,
    EpochEntry,
    Log,
    Record,
    assign_epoch,
    end_offset_for,
    epoch_entries,
    epoch_start_offset,
    first_offset_after_epoch,
    stored,
    truncate_epochs_from_end,
    truncate_epochs_from_start,
)
from hwmark.model.log_machine import (
    Bounds,
    Config,
    State,
    advance_log_start_offset,
    append_as_follower,
    crash_and_recover,
    epoch_end,
    initial,
    machine,
    requested_epochs,
)
from hwmark.model.machine import Step
from hwmark.model.rules import LogRules
from hwmark.spec.versions import LOG

pytestmark = pytest.mark.kafka

Question = tuple[Any, ...]
"""A method of the witness and its arguments."""

RIGHT = LogRules()
NEW: Question = ("new",)
many = settings(max_examples=300)
unshortened = settings(max_examples=300, phases=(Phase.generate,))


# -- questions in any order --


@frozen
class Functions:
    """The functions of the model that restate Kafka's."""

    assign: Callable[[EpochCache, EpochEntry], EpochCache] = assign_epoch
    from_end: Callable[[EpochCache, int], EpochCache] = truncate_epochs_from_end
    from_start: Callable[[EpochCache, int], EpochCache] = truncate_epochs_from_start
    end: Callable[[EpochCache, int, int], EpochEnd] = end_offset_for


def answered(model: Functions, cache: EpochCache, question: Question) -> tuple[EpochCache, dict[str, Any]]:
    """Return the model's cache after a question, and the model's answer in the words of the witness."""
    returned = None
    match question:
        case ("new",) | ("clearAndFlush",):
            cache = ()
        case ("reopen",):
            pass
        case ("assign", leader_epoch, start_offset):
            cache = model.assign(cache, EpochEntry(leader_epoch, start_offset))
        case ("truncateFromEndAsyncFlush", end_offset):
            cache = model.from_end(cache, end_offset)
        case ("truncateFromStartAsyncFlush", start_offset):
            cache = model.from_start(cache, start_offset)
        case ("endOffsetFor", leader_epoch, log_end_offset):
            end = model.end(cache, leader_epoch, log_end_offset)
            returned = [end.leader_epoch, end.end_offset]
        case _:
            pytest.fail(f"the model knows nothing of {question}")
    return cache, answer(cache, returned)


def answer(cache: EpochCache, returned: Any = None) -> dict[str, Any]:
    """Return the answer of a witness that has this cache and refuses nothing."""
    return {
        "returned": returned,
        "refused": None,
        "epochEntries": [[entry.leader_epoch, entry.start_offset] for entry in cache],
        "latestEpoch": cache[-1].leader_epoch if cache else None,
    }


Difference = tuple[int, dict[str, Any], dict[str, Any]]
"""How many questions got the same answer before, what the model answers, and what Kafka answers."""


def difference(kafka: Witness, questions: list[Question], model: Functions) -> Difference | None:
    """Return the first difference between the model's answers and those of Kafka, both beginning anew."""
    cache: EpochCache = ()
    for number, question in enumerate([NEW, *questions]):
        cache, expected = answered(model, cache, question)
        actual = kafka.ask(*question)
        if expected != actual:
            return number, expected, actual
    return None


EPOCHS = st.integers(0, 6) | st.just(2**31 - 1)
OFFSETS = st.integers(0, 10) | st.just(2**63 - 1)
QUESTION: st.SearchStrategy[Question] = st.one_of(
    st.tuples(st.just("assign"), EPOCHS, OFFSETS),
    st.tuples(st.just("truncateFromEndAsyncFlush"), OFFSETS),
    st.tuples(st.just("truncateFromStartAsyncFlush"), OFFSETS),
    st.tuples(st.just("endOffsetFor"), st.just(UNDEFINED_EPOCH) | EPOCHS, OFFSETS),
    st.sampled_from([("clearAndFlush",), ("reopen",)]),
)


@st.composite
def interviews(draw: st.DrawFn) -> list[Question]:
    """Draw questions of which the first may be assignments in order: others, at random, seldom leave several entries."""
    in_order = zip(sorted(draw(st.sets(EPOCHS, max_size=5))), sorted(draw(st.sets(OFFSETS, max_size=5))), strict=False)
    return [*(("assign", *entry) for entry in in_order), *draw(st.lists(QUESTION, max_size=15))]


def test_the_witness_is_of_the_pinned_release(epoch_cache: Witness) -> None:
    """The class that answers is in the jar of the release that is named above."""
    assert epoch_cache.ask("new") == answer(())
    assert epoch_cache.ask("jar") == answer((), "kafka-storage-4.3.1.jar")


@many
@given(questions=interviews())
def test_functions_do_what_kafka_does(epoch_cache: Witness, questions: list[Question]) -> None:
    """Whatever is assigned, truncated, asked, and read anew from the checkpoint, the model's functions answer as Kafka does."""
    assert difference(epoch_cache, questions, Functions()) is None


def keeps_later(cache: EpochCache, entry: EpochEntry) -> EpochCache:
    """Assign, but keep the entries of later epochs."""
    later = tuple(one for one in cache if one.leader_epoch > entry.leader_epoch)
    return (*assign_epoch(tuple(one for one in cache if one not in later), entry), *later)


def keeps_higher(cache: EpochCache, entry: EpochEntry) -> EpochCache:
    """Assign, but keep the entries of earlier epochs that start later."""
    return (*(one for one in cache if one.leader_epoch < entry.leader_epoch), entry)


def moves_latest(cache: EpochCache, entry: EpochEntry) -> EpochCache:
    """Assign, but let the latest epoch start later than known."""
    return assign_epoch(cache[:-1] if cache and cache[-1].leader_epoch == entry.leader_epoch else cache, entry)


def keeps_the_end(cache: EpochCache, end_offset: int) -> EpochCache:
    """Truncate, but keep the epoch that starts at the log's new end."""
    return tuple(entry for entry in cache if entry.start_offset <= end_offset)


def drops_at_start(cache: EpochCache, start_offset: int) -> EpochCache:
    """Truncate, but forget the epoch in whose middle the log starts."""
    return tuple(entry for entry in cache if entry.start_offset >= start_offset)


def keeps_the_start(cache: EpochCache, start_offset: int) -> EpochCache:
    """Truncate, but also keep an epoch before the one that starts at the log's new start."""
    gone = [entry for entry in cache if entry.start_offset < start_offset]
    return (EpochEntry(gone[-1].leader_epoch, start_offset), *cache[len(gone) :]) if gone else cache


def ends_as_asked(cache: EpochCache, leader_epoch: int, log_end_offset: int) -> EpochEnd:
    """Answer with the requested epoch where another one is the largest known up to it."""
    end = end_offset_for(cache, leader_epoch, log_end_offset)
    return end if end == EpochEnd() else evolve(end, leader_epoch=leader_epoch)


def ends_future(cache: EpochCache, leader_epoch: int, log_end_offset: int) -> EpochEnd:
    """Answer the log's end for an epoch that is later than all known ones."""
    future = bool(cache) and leader_epoch > cache[-1].leader_epoch
    return EpochEnd(cache[-1].leader_epoch, log_end_offset) if future else end_offset_for(cache, leader_epoch, log_end_offset)


def ends_nothing_before_first(cache: EpochCache, leader_epoch: int, log_end_offset: int) -> EpochEnd:
    """Answer nothing for an epoch before the first known one."""
    return end_offset_for(cache, leader_epoch, log_end_offset) if cache and leader_epoch >= cache[0].leader_epoch else EpochEnd()


WRONG = {
    "keeps_later": Functions(assign=keeps_later),
    "keeps_higher": Functions(assign=keeps_higher),
    "moves_latest": Functions(assign=moves_latest),
    "keeps_the_end": Functions(from_end=keeps_the_end),
    "drops_at_start": Functions(from_start=drops_at_start),
    "keeps_the_start": Functions(from_start=keeps_the_start),
    "ends_as_asked": Functions(end=ends_as_asked),
    "ends_future": Functions(end=ends_future),
    "ends_nothing_before_first": Functions(end=ends_nothing_before_first),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_function_is_found_out(epoch_cache: Witness, wrong: Functions) -> None:
    """The same questions show a model that is wrong in one function, and where: the right one answers them as Kafka does."""
    questions = find(interviews(), lambda questions: difference(epoch_cache, questions, wrong) is not None, settings=unshortened)
    assert difference(epoch_cache, questions, Functions()) is None


# -- the records of a log --


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Draw a log whose epochs never decrease, as every log's are."""
    epochs = sorted(draw(st.lists(st.integers(0, 6), max_size=10)))
    return Log(tuple(Record(number, leader_epoch) for number, leader_epoch in enumerate(epochs)), draw(st.integers(0, 4)))


def scan(log: Log, latest: int = UNDEFINED_EPOCH) -> Iterator[Question]:
    """Yield the assignments that ``LogSegment.recover`` makes: of an epoch later than the latest one that the cache knows."""
    for offset, record in enumerate(log.records, log.log_start_offset):
        if record.leader_epoch > latest:
            latest = record.leader_epoch
            yield "assign", latest, offset


@many
@given(log=logs())
def test_a_scan_finds_what_appending_cached(epoch_cache: Witness, log: Log) -> None:
    """The entries of a log are those that Kafka caches record by record, on append, and those that it finds on recovery."""
    expected = answer(epoch_entries(log))
    epoch_cache.ask("new")
    for offset, record in enumerate(log.records, log.log_start_offset):
        epoch_cache.ask("assign", record.leader_epoch, offset)
    assert expected == epoch_cache.ask("reopen")
    epoch_cache.ask("new")
    for question in scan(log):
        epoch_cache.ask(*question)
    assert expected == epoch_cache.ask("reopen")


@many
@given(log=logs())
def test_records_say_what_the_cache_says(epoch_cache: Witness, log: Log) -> None:
    """Which epoch a record has, where an epoch starts and where a later one does: the model scans, Kafka asks its cache."""
    epoch_cache.ask("new")
    for question in scan(log):
        epoch_cache.ask(*question)
    for offset in range(log.log_start_offset, log.end_offset):
        record = log.at(offset)
        assert record is not None
        assert record.leader_epoch == epoch_cache.ask("epochForOffset", offset)["returned"]
    starts = dict(epoch_cache.ask("reopen")["epochEntries"])
    for leader_epoch in range(8):
        later = [start for one, start in starts.items() if one > leader_epoch]
        assert starts.get(leader_epoch, log.end_offset) == epoch_start_offset(log, leader_epoch)
        assert (later[0] if later else None) == first_offset_after_epoch(log, leader_epoch)


# -- the runs of the log machine --

BOUNDS = Bounds(log_size=8, records=16, max_leader_epoch=5)
Taken = tuple[State, Step, State]


@st.composite
def runs(draw: st.DrawFn, rules: LogRules) -> list[Taken]:
    """Draw a run of the machine; the action is drawn first, so that one with few choices is taken as often as others."""
    explored = system(machine(rules, Config(), BOUNDS))
    state, run = explored.initial[0], []
    for _ in range(draw(st.integers(1, 30))):
        enabled: dict[str, list[tuple[Step, State]]] = {}
        for step, take in zip(explored.steps, explored.takes, strict=True):
            after = take(state)
            if after is not None:
                enabled.setdefault(step.action, []).append((step, after))
        step, after = draw(st.sampled_from(enabled[draw(st.sampled_from(sorted(enabled)))]))
        run.append((state, step, after))
        state = after
    return run


def calls(before: State, step: Step, after: State) -> list[Question]:
    """Return what Kafka asks of its cache where the machine takes this step, as the methods that the action names do."""
    asked: list[Question] = []
    match step.action:
        case "begin_leader_epoch":  # Partition.makeLeader
            asked = [("assign", after.leader_epoch, before.end_offset)]
        case "append_as_leader" | "append_as_follower":  # UnifiedLog.append
            asked = [("assign", stored(after.segments).latest_epoch, before.end_offset)]
        case "truncate_to" if after.end_offset >= before.segments[0].base_offset:  # UnifiedLog.truncateTo
            asked = [("truncateFromEndAsyncFlush", after.end_offset)]
        case "truncate_to" | "truncate_fully_and_start_at":  # UnifiedLog.truncateFullyAndStartAt
            asked = [("clearAndFlush",)]
        case "delete_segments" | "advance_log_start_offset":  # UnifiedLog.maybeIncrementLogStartOffset
            if after.log_start_offset > before.log_start_offset:
                asked = [("truncateFromStartAsyncFlush", after.log_start_offset)]
        case "roll_segment":
            pass
        case "crash_and_recover":  # without a checkpoint: as the machine has it, all is learnt from the records
            asked = [NEW, *loaded(after, UNDEFINED_EPOCH)]
        case _:
            pytest.fail(f"nobody says what Kafka asks of its cache at {step}")
    return asked


def loaded(state: State, latest: int) -> list[Question]:
    """Return what ``LogLoader.load`` asks of a cache with this latest epoch, if all these segments are recovered."""
    return [
        *scan(stored(state.segments), latest),
        ("truncateFromEndAsyncFlush", state.end_offset),
        ("truncateFromStartAsyncFlush", state.log_start_offset),
    ]


def deviation(kafka: Witness, run: list[Taken], rules: LogRules) -> str | None:
    """Return the first step after which the machine's cache, or what it answers about any epoch, is not Kafka's."""
    kafka.ask(*NEW)
    for before, step, after in run:
        for question in calls(before, step, after):
            kafka.ask(*question)
        for requested in requested_epochs(BOUNDS):
            end = epoch_end(rules, after, requested)
            expected = answer(after.epoch_cache, [end.leader_epoch, end.end_offset])
            actual = kafka.ask("endOffsetFor", requested, after.end_offset)
            if expected != actual:
                return f"{step}: {expected} is not {actual}"
    return None


def test_runs_leave_the_cache_that_kafka_has(epoch_cache: Witness) -> None:
    """After every step of random runs, whose actions are all taken, the machine's cache is that of Kafka and answers the same."""
    taken: Counter[str] = Counter()

    @many
    @given(run=runs(RIGHT))
    def replay(run: list[Taken]) -> None:
        taken.update(step.action for _, step, _ in run)
        assert deviation(epoch_cache, run, RIGHT) is None

    replay()
    assert {act.name for act in machine(RIGHT, Config(), BOUNDS).actions} == {action for action, times in taken.items() if times >= 20}


@pytest.mark.parametrize("preset", sorted(LOG.keys() - {"log", "read_from_first_segment"}))
def test_a_wrong_rule_is_found_out(epoch_cache: Witness, preset: str) -> None:
    """Each preset that takes a rule of the cache away deviates from Kafka in some run; the one about reading has no cache."""
    rules = LOG[preset]
    assert find(runs(rules), lambda run: deviation(epoch_cache, run, rules) is not None, settings=unshortened)


# -- where Kafka and the model differ --


def test_negative_numbers_are_not_modelled(epoch_cache: Witness) -> None:
    """The model has no negative offset and assigns no undefined epoch. Kafka refuses to assign them, and truncates to none."""
    epoch_cache.ask("new")
    known = epoch_cache.ask("assign", 0, 0)
    assert known == answer((EpochEntry(0, 0),))
    for entry in ((UNDEFINED_EPOCH, 1), (1, -1)):
        assert {**known, "refused": "IllegalArgumentException"} == epoch_cache.ask("assign", *entry)
    assert known == epoch_cache.ask("truncateFromEndAsyncFlush", -1)
    assert known == epoch_cache.ask("truncateFromStartAsyncFlush", -1)


def recover(kafka: Witness, before: State, after: State) -> dict[str, Any]:
    """Return what Kafka's cache is once a broker that crashed has loaded its log, with the checkpoint of the cache as it was."""
    kafka.ask(*NEW)
    for entry in before.epoch_cache:
        kafka.ask("assign", entry.leader_epoch, entry.start_offset)
    known = kafka.ask("reopen")
    assert known == answer(before.epoch_cache)
    latest = UNDEFINED_EPOCH if known["latestEpoch"] is None else known["latestEpoch"]
    return [kafka.ask(*question) for question in loaded(after, latest)][-1]


def test_recovery_from_a_checkpoint_may_forget_the_latest_epoch(epoch_cache: Witness) -> None:
    """With its checkpoint Kafka finds the machine's entries, or all but one: that of an epoch whose records are all gone.

    The machine learns that epoch from records below the log start offset. Kafka knows it from the checkpoint, so it
    does not learn it again, and then drops it, since it starts at the log's end. Both are seen.
    """
    seen: Counter[bool] = Counter()

    @many
    @given(run=runs(RIGHT))
    def crash(run: list[Taken]) -> None:
        for before, step, after in run:
            if step.action == "crash_and_recover":
                found, short = recover(epoch_cache, before, after), truncate_epochs_from_end(after.epoch_cache, after.end_offset)
                forgets = found != answer(after.epoch_cache)
                assert not forgets or found == answer(short)
                seen[forgets] += 1

    crash()
    assert seen.keys() == {False, True}


def test_recovery_from_a_checkpoint_forgets_the_latest_epoch(epoch_cache: Witness) -> None:
    """Such a run: a record is appended in epoch 0 and deleted, and the broker crashes."""
    appended = append_as_follower.function(initial(), RIGHT, BOUNDS, leader_epoch=0)
    deleted = advance_log_start_offset.function(appended, RIGHT, offset=1)
    after = crash_and_recover.function(deleted, RIGHT, end_offset=1)
    assert after.epoch_cache == (EpochEntry(0, 1),)
    assert answer(()) == recover(epoch_cache, deleted, after)
