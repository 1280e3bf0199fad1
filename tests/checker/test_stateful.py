# SPDX-License-Identifier: Apache-2.0
"""Random runs by Hypothesis: in scopes beyond exhaustive ones the right rules hold, broken ones are caught and shown."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from toys import (
    Count,
    arrives,
    below,
    counter,
    first_lap,
    graph,
    hold,
    never_back,
    never_held_lit,
    reaches_nine,
    reaches_three,
    returns,
    room,
    stumble,
    toggle,
    turn,
    two,
)

from hwmark.checker import stateful as module
from hwmark.checker.minimise import minimise
from hwmark.checker.replay import replay_run
from hwmark.checker.stateful import ViolatedError, program, repeatable, stateful
from hwmark.checker.system import system
from hwmark.checker.verdict import Result, Run
from hwmark.model import replication
from hwmark.model.machine import Machine, Step
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Invariant, Property, Reachable, StepProperty

REPLICATION = MACHINES["replication"]
BEYOND = replication.Bounds(replicas=5, log_size=8, records=8, max_leader_epoch=5)
"""Far more states than could be counted."""

PROMISES = [prop for prop in REPLICATION.properties if isinstance(prop, Invariant | StepProperty)]
GOALS = [prop for prop in REPLICATION.properties if isinstance(prop, Reachable)]


def replicated(preset: str, bounds: replication.Bounds) -> Machine[Any]:
    """Return the replication machine under a preset in a scope."""
    return REPLICATION.build(REPLICATION.presets[preset], replication.Config(), bounds)


def run(walk: type[RuleBasedStateMachine], *, examples: int = 40, steps: int = 20) -> None:
    """Run random runs as pytest does."""
    run_state_machine_as_test(walk, settings=repeatable(examples=examples, steps=steps))


def violation(machine: Machine[Any], *properties: Property, **given: Any) -> Result:
    """Return what random runs find to be violated."""
    with pytest.raises(ViolatedError) as caught:
        run(stateful(machine, properties), **given)
    return caught.value.result


# -- toys --


def test_violation_is_found_and_shortened_to_a_run_that_needs_all_its_steps() -> None:
    """The only way to 5 in threes steps of one or two is shown without detours."""
    result = violation(counter(), below(5))
    assert (result.name, result.kind, result.depth, result.witness) == ("below_5", "invariant", 5, {"value": 5})
    assert result.run == Run((Step("one", {}),) * 5)


def test_violation_at_a_step_is_found() -> None:
    """Also one that leads to a state seen before."""
    result = violation(counter(turn, limit=3), never_back)
    assert (result.depth, result.witness) == (3, {"before": 2, "after": 0})


def test_violation_in_an_initial_state_is_found() -> None:
    """The initial state is drawn, and belongs to the run."""
    result = violation(counter(initial=(0, 1, 7)), below(7))
    assert result.run == Run((), initial=2)


def test_observers_are_composed() -> None:
    """A promise about what somebody remembers is asked with the memory."""
    assert violation(counter(turn, limit=3), first_lap, below(9)).witness == {"value": 0, "laps": 1}


def test_the_impossible_is_a_violation() -> None:
    """Although no property says so."""
    result = violation(counter(stumble), below(9))
    assert (result.name, result.depth) == ("impossible", 3)
    assert dict(result.witness or {})["why"] == "nobody passes two"


def test_choices_of_a_violation_are_part_of_its_witness() -> None:
    """As the explorer shows them."""
    result = violation(room(toggle, hold), never_held_lit)
    assert result.depth == 2
    assert dict(result.witness or {}).keys() == {"lamp"}


def test_what_holds_is_not_violated() -> None:
    """In hundreds of steps, dead ends included."""
    run(stateful(counter(), (below(6), never_back)))


def test_what_comes_true_at_last_is_refused() -> None:
    """Random runs must not pass for a decision about the whole graph."""
    with pytest.raises(ValueError, match="leave out arrives_at_last, can_return"):
        stateful(graph({("free", 0, 0): 1}), (arrives(1), returns(1)))


def test_runs_are_the_same_every_time() -> None:
    """With the repeatable settings nothing is drawn anew and nothing is remembered."""
    results = [violation(counter(turn, two, limit=7), below(6)) for _ in range(2)]
    assert results[0] == results[1]


def test_goals_that_are_met_are_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that statistics tell what the runs were about; a goal that is not met is no failure."""
    events: Counter[str] = Counter()
    monkeypatch.setattr(module, "event", lambda name: events.update([name]))
    run(stateful(counter(), (reaches_three, reaches_nine)))
    assert set(events) == {"goal met: reaches_three"}


def test_save_is_given_the_run_that_is_reported() -> None:
    """The last one saved is the one shown."""
    saved: list[Run] = []
    with pytest.raises(ViolatedError) as caught:
        run(stateful(counter(turn, limit=3), (never_back,), saved.append))
    assert saved
    assert saved[-1] == caught.value.result.run


def test_unregistered_machine_is_shown_as_steps_to_take() -> None:
    """The program, pasted where ``machine`` is at hand, replays to the violation."""
    machine = counter()
    names: dict[str, Any] = {"machine": machine}
    exec(program(machine, violation(machine, below(3))), names)  # noqa: S102 - the program is what is tested
    assert names["replayed"].states[-1] == Count(3)


# -- shortening --


def test_shortening_leaves_out_what_is_not_needed() -> None:
    """Detours, steps after the violation, and steps that become impossible without the others."""
    machine = room(toggle, hold)
    steps = [Step("toggle", {"lamp": 2}), Step("hold", {"lamp": 1}), Step("toggle", {"lamp": 0}), Step("toggle", {"lamp": 1})]
    found = minimise(system(machine), never_held_lit, Run((*steps, Step("toggle", {"lamp": 2}))))
    assert found == Run((Step("hold", {"lamp": 1}), Step("toggle", {"lamp": 1})))


def test_shortening_refuses_a_run_that_violates_nothing() -> None:
    """It would return something that shows nothing."""
    with pytest.raises(ValueError, match="violates nothing"):
        minimise(system(counter()), below(9), Run((Step("one", {}),)))


# -- replication beyond exhaustive scopes --


def test_kip_320_holds_in_a_scope_beyond_exhaustive_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """With all observers; and the runs were about something: most commit, elect, truncate, shrink and grow the ISR."""
    events: Counter[str] = Counter()
    runs: list[int] = []
    monkeypatch.setattr(module, "event", lambda name: events.update([name]))
    monkeypatch.setattr(module, "target", lambda met, **_: runs.append(met))
    run(stateful(replicated("kip_320", BEYOND), [*PROMISES, *GOALS]), examples=120, steps=80)
    assert len(runs) >= 120
    assert set(events) == {f"goal met: {goal.name}" for goal in GOALS}
    assert min(events.values()) > len(runs) / 4


def test_truncating_to_the_high_watermark_is_caught_and_the_shortened_run_replays() -> None:
    """In the same scope; each promise that is violated is violated again at the end of the run that is shown."""
    machine = replicated("truncate_to_high_watermark", BEYOND)
    result = violation(machine, *PROMISES, examples=100, steps=60)
    assert result.run is not None
    assert result.depth == len(result.run.steps) < 25
    replayed = replay_run(machine, result.run)
    prop = next(prop for prop in PROMISES if prop.name == result.name)
    assert not prop.observers
    found = [
        holds(replayed.states[-1])
        for holds, when in ((bound.holds, bound.when) for bound in system(machine).bind(prop))
        if when is None or when(replayed.states[-1])
    ]
    assert any(found)


def test_failure_prints_a_program_that_shows_it(tmp_path: Any) -> None:
    """Pasted into a file it runs by itself, takes the steps, and finds the violation."""
    machine = replicated("truncate_to_high_watermark", BEYOND)
    with pytest.raises(ViolatedError) as caught:
        run(stateful(machine, PROMISES), examples=100, steps=60)
    notes = "\n".join(caught.value.__notes__)
    text = program(machine, caught.value.result)
    assert text in notes
    script = tmp_path / "shown.py"
    script.write_text(text, encoding="utf-8")
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    assert f"{caught.value.result.name} is violated" in shown.stdout


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "replication"])
def test_every_machine_can_be_walked(name: str) -> None:
    """Under its right rules, in its small scope."""
    described = MACHINES[name]
    machine = described.build(described.presets[described.right], described.module.Config(), described.small)
    asked = [prop for prop in described.properties if isinstance(prop, Invariant | StepProperty | Reachable)]
    run(stateful(machine, asked), examples=15, steps=40)
