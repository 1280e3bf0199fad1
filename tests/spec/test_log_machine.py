# SPDX-License-Identifier: Apache-2.0
"""The log machine keeps its promises, and each promise can be broken.

Nobody outside has published state counts of this machine: all counts and depths here are pinned by our own engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from attrs import asdict, evolve

from hwmark.checker.explore import Options, explore
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.log import EpochEnd, EpochEntry, Log, Record, Segment
from hwmark.model.log_machine import Bounds, Config, State, machine
from hwmark.model.machine import Action, Machine, action, kafka, put
from hwmark.spec import log_machine as promises
from hwmark.spec.property import Property, Reachable
from hwmark.spec.versions import LOG

SMALL = Bounds(log_size=2, records=3, max_leader_epoch=2)
SMALLEST = {"log_size": 1, "records": 0, "max_leader_epoch": 0}
"""The least that bounds allow: a goal met there has no smaller scope."""
GOALS = tuple(prop for prop in promises.PROPERTIES if isinstance(prop, Reachable))


def build(preset: str = "log", bounds: Bounds = SMALL) -> Machine[State]:
    """Return the machine under the rules of a preset."""
    return machine(LOG[preset], Config(), bounds)


def judged(explored: Machine[State], *properties: Property) -> Exploration:
    """Explore all reachable states, and judge the properties there, or all promises of the machine."""
    return explore(explored, properties or promises.PROPERTIES, Options(keep_going=True))


def broken(exploration: Exploration) -> dict[str, int | None]:
    """Return the depth of each violated property."""
    return {one.name: one.depth for one in exploration.results if one.verdict is Verdict.VIOLATED}


# -- the right rules --


@pytest.mark.parametrize(
    ("scope", "states", "transitions", "diameter"), [((2, 3, 2), 1389, 10136, 8), ((3, 3, 2), 3848, 34636, 9), ((2, 2, 2), 642, 4548, 7)]
)
def test_right_rules_keep_every_promise(scope: tuple[int, int, int], states: int, transitions: int, diameter: int) -> None:
    """All promises hold, goals are met, every action is taken, in exactly so many states."""
    exploration = judged(build(bounds=Bounds(*scope)))
    assert {Verdict.HOLDS} == {one.verdict for one in exploration.results}
    assert (states, transitions, diameter) == (exploration.states, exploration.transitions, exploration.depth)
    assert all(exploration.taken.values())


def test_nothing_is_interchangeable() -> None:
    """There is one replica, so that symmetry is refused rather than pretended."""
    with pytest.raises(NotSymmetricError, match="log"):
        explore(build(), (), Options(symmetry=True))


# -- the mutants --

LESSONS: dict[str, tuple[int, dict[str, int], str, list[str]]] = {
    "epoch_cache_not_truncated": (
        2107,
        {"epoch_cache_matches": 2, "epoch_order": 2, "epoch_end_offset": 2, "truncation_settles": 2},
        "epoch_cache_matches",
        ["begin_leader_epoch(leader_epoch=0)", "truncate_fully_and_start_at(offset=1)"],
    ),
    "epoch_cache_truncated_with_records": (
        1582,
        {"epoch_cache_matches": 4, "epoch_end_offset": 4, "truncation_settles": 2},
        "epoch_cache_matches",
        [
            "append_as_follower(leader_epoch=0)",
            "begin_leader_epoch(leader_epoch=1)",
            "truncate_to(offset=1)",
            "append_as_follower(leader_epoch=0)",
        ],
    ),
    "epoch_cache_start_dropped": (
        1575,
        {"epoch_cache_matches": 3, "leader_knows_its_epoch": 3, "epoch_end_offset": 3, "latest_epoch_survives": 2},
        "epoch_cache_matches",
        ["append_as_follower(leader_epoch=0)", "append_as_follower(leader_epoch=0)", "advance_log_start_offset(offset=1)"],
    ),
    "epoch_cache_start_kept": (
        2383,
        {"epoch_cache_matches": 2, "epoch_order": 2, "epoch_end_offset": 2},
        "epoch_cache_matches",
        ["append_as_follower(leader_epoch=0)", "advance_log_start_offset(offset=1)"],
    ),
    "epoch_cache_append_only": (
        2038,
        {"epoch_cache_matches": 2, "epoch_order": 2, "epoch_end_offset": 2},
        "epoch_order",
        ["begin_leader_epoch(leader_epoch=0)", "begin_leader_epoch(leader_epoch=1)"],
    ),
    "epoch_cached_at_first_record": (
        1521,
        {"leader_knows_its_epoch": 1},
        "leader_knows_its_epoch",
        ["begin_leader_epoch(leader_epoch=0)"],
    ),
    "epoch_cache_from_checkpoint": (
        1918,
        {"epoch_cache_matches": 3, "epoch_order": 3, "epoch_end_offset": 3},
        "epoch_cache_matches",
        ["append_as_follower(leader_epoch=0)", "begin_leader_epoch(leader_epoch=1)", "crash_and_recover(end_offset=0)"],
    ),
    "epoch_end_undefined_before_first": (
        1389,
        {"epoch_end_offset": 1},
        "epoch_end_offset",
        ["begin_leader_epoch(leader_epoch=1)"],
    ),
    "epoch_end_of_requested_epoch": (
        1389,
        {"epoch_end_offset": 2},
        "epoch_end_offset",
        ["append_as_follower(leader_epoch=0)", "begin_leader_epoch(leader_epoch=2)"],
    ),
    "epoch_end_under_current_epoch": (
        1389,
        {"epoch_end_offset": 1},
        "epoch_end_offset",
        ["begin_leader_epoch(leader_epoch=0)"],
    ),
    "read_from_first_segment": (
        1389,
        {"readable_range": 2},
        "readable_range",
        ["append_as_follower(leader_epoch=0)", "advance_log_start_offset(offset=1)"],
    ),
}
"""For each mutant: its states, what it breaks at which depth, and the first counterexample to one of these."""


def test_every_mutant_has_its_lesson() -> None:
    """Each preset is either the right one or breaks something here, and changes exactly one rule."""
    assert LOG.keys() - {"log"} == LESSONS.keys()
    right = asdict(LOG["log"])
    changed = {name: sum(value is not right[rule] for rule, value in asdict(rules).items()) for name, rules in LOG.items()}
    assert {name: int(name != "log") for name in LOG} == changed


@pytest.mark.parametrize("preset", LESSONS)
def test_mutants(preset: str) -> None:
    """Each mutant breaks just these promises, in just so many steps, and the named one by just this run."""
    states, depths, name, steps = LESSONS[preset]
    exploration = judged(build(preset))
    assert (states, depths) == (exploration.states, broken(exploration))
    (run,) = [one.run for one in exploration.results if one.name == name]
    assert run is not None
    assert steps == [str(step) for step in run.steps]


# -- each other promise can be broken --


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def rolls_beyond_the_end(state: State, bounds: Bounds) -> State | None:
    """A new segment leaves an offset out."""
    end_offset = state.segments[-1].end_offset + 1
    return put(state, segments=(*state.segments, Segment(end_offset))) if end_offset <= bounds.log_size else None


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def rolls_an_empty_segment(state: State) -> State | None:
    """An empty segment is closed."""
    return put(state, segments=(*state.segments, Segment(state.end_offset))) if len(state.segments) == 1 else None


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def forgets_the_log_start(state: State) -> State | None:
    """The log start offset goes back to the first segment."""
    return put(state, log_start_offset=state.segments[0].base_offset)


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def rewrites_the_last_record(state: State, bounds: Bounds) -> State | None:
    """A new record takes the place of the last one."""
    *closed, active = state.segments
    if not active.records or state.next_record_id >= bounds.records:
        return None
    records = (*active.records[:-1], evolve(active.records[-1], id=state.next_record_id))
    return put(state, segments=(*closed, evolve(active, records=records)), next_record_id=state.next_record_id + 1)


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def appends_an_older_epoch(state: State, bounds: Bounds) -> State | None:
    """A record of the first epoch is appended to whatever is there, behind the cache's back."""
    *closed, active = state.segments
    if state.next_record_id >= bounds.records or state.end_offset >= bounds.log_size:
        return None
    records = (*active.records, Record(state.next_record_id, 0))
    return put(state, segments=(*closed, evolve(active, records=records)), next_record_id=state.next_record_id + 1)


@action()
@kafka("none", versions="none", simplified="a mistake for the tests")
def appends_twice(state: State, bounds: Bounds) -> State | None:
    """The last record is stored a second time."""
    *closed, active = state.segments
    if not active.records or state.end_offset >= bounds.log_size:
        return None
    return put(state, segments=(*closed, evolve(active, records=(*active.records, active.records[-1]))))


@pytest.mark.parametrize(
    ("mistake", "prop", "depth"),
    [
        (rolls_beyond_the_end, promises.structure, 1),
        (rolls_an_empty_segment, promises.structure, 1),
        (appends_twice, promises.structure, 2),
        (appends_twice, promises.appended_at_end, 2),
        (forgets_the_log_start, promises.log_start_order, 3),
        (rewrites_the_last_record, promises.appended_at_end, 2),
        (rewrites_the_last_record, promises.offset_stability, 2),
        (appends_an_older_epoch, promises.epoch_order, 2),
        (appends_an_older_epoch, promises.epoch_cache_matches, 1),
    ],
)
def test_mistakes_break_structure_and_steps(mistake: Action, prop: Property, depth: int) -> None:
    """Structure and the promises about steps are each broken by a machine with one mistaken action more."""
    right = build()
    (result,) = judged(evolve(right, actions=(*right.actions, mistake)), prop).results
    assert (Verdict.VIOLATED, depth) == (result.verdict, result.depth)


def test_no_segment_at_all_breaks_structure() -> None:
    """A log without an active segment is found, although no action can make one."""
    (initial,) = build().initial
    assert promises.structure.function(evolve(initial, segments=()), SMALL) is not None


# -- the scan that answers are compared with --


@pytest.mark.parametrize(
    ("without_records", "requested", "expected"),
    [
        (-1, -1, EpochEnd()),
        (-1, 0, EpochEnd(0, 3)),
        (-1, 1, EpochEnd(1, 4)),
        (-1, 2, EpochEnd(1, 4)),
        (-1, 3, EpochEnd(3, 5)),
        (-1, 4, EpochEnd()),
        (5, 3, EpochEnd(3, 5)),
        (5, 4, EpochEnd(3, 5)),
        (5, 5, EpochEnd(5, 5)),
        (5, 6, EpochEnd()),
    ],
)
def test_scanned_end(without_records: int, requested: int, expected: EpochEnd) -> None:
    """Epoch 1 at 3 and epoch 3 at 4, and perhaps an epoch that begins at the end, asked about by hand."""
    assert expected == promises.scanned_end(Log((Record(0, 1), Record(1, 3)), 3), without_records, requested)


def test_scanned_end_of_an_empty_log() -> None:
    """Without epochs nothing is known; an epoch without records starts and ends at the end."""
    assert promises.scanned_end(Log((), 3), -1, 0) == EpochEnd()
    assert [promises.scanned_end(Log((), 3), 1, requested) for requested in (0, 1, 2)] == [EpochEnd(0, 3), EpochEnd(1, 3), EpochEnd()]


def test_the_one_legal_entry_more() -> None:
    """An epoch more than the records have is legal only as the latest one, and only at the log's end."""
    (initial,) = build().initial
    log = evolve(initial, segments=(Segment(0, (Record(0, 1),)),), next_record_id=1)
    legal, inside, older = EpochEntry(2, 1), EpochEntry(2, 0), EpochEntry(0, 1)
    cached = [(EpochEntry(1, 0), entry) for entry in (legal, inside, older)]
    found = [promises.epoch_cache_matches.function(evolve(log, epoch_cache=cache)) is None for cache in cached]
    assert found == [True, False, False]


# -- goals --


def smaller(scope: Mapping[str, int]) -> Iterator[Bounds]:
    """Yield each scope that is smaller by one in one bound, as far as bounds allow."""
    for name, least in scope.items():
        changed: dict[str, Any] = {**scope, name: least - 1}
        try:
            yield Bounds(**changed)
        except ValueError:
            continue


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_goals_have_minimal_scopes(goal: Reachable) -> None:
    """Each goal is met in the scope it names, and in none that is smaller by one in any bound."""
    assert asdict(Bounds()).keys() == goal.scope.keys()
    assert Verdict.HOLDS is judged(build(bounds=Bounds(**goal.scope)), goal).verdict
    unmet = {judged(build(bounds=bounds), goal).verdict for bounds in smaller(goal.scope)}
    assert unmet <= {Verdict.UNDETERMINED}
    assert bool(unmet) == (goal.scope != SMALLEST)


@pytest.mark.parametrize(("leader_epoch", "is_met"), [(0, True), (1, False)])
def test_the_log_may_start_within_an_epoch_in_any_segment(leader_epoch: int, *, is_met: bool) -> None:
    """Of the record just before the log's start only its epoch matters, not whether it is in the first segment."""
    first, second, third = Record(0, leader_epoch=0), Record(1, leader_epoch=0), Record(2, leader_epoch=leader_epoch)
    segments = (Segment(0, (first,)), Segment(1, (second, third)))
    state = State(segments=segments, log_start_offset=2, epoch_cache=(), leader_epoch=1, leads=False)
    assert promises.log_starts_within_an_epoch.function(state) is is_met
