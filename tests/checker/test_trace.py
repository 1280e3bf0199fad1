# SPDX-License-Identifier: Apache-2.0
"""Trace files: written, read as hostile, replayed, and asked again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import toy_lift
from attrs import evolve
from toy_lift import LIFT, lift

from hwmark.checker.errors import InputError
from hwmark.checker.explore import Options, explore
from hwmark.checker.jsonfile import MAX_BYTES
from hwmark.checker.trace import NOT_ASKED_AGAIN, Trace, dumps, from_json, load, replay, to_json, to_trace, write
from hwmark.model.machine import Step
from hwmark.model.replication import Bounds, Config
from hwmark.spec.machines import MACHINES

SCHEMA = json.loads((files("hwmark.checker") / "trace.schema.json").read_text())
BOUNDS = Bounds(replicas=2, log_size=2, records=2, max_leader_epoch=2)


def lift_traces() -> dict[str, Trace]:
    """Return the trace of each property that the lift breaks or meets."""
    machine = lift()
    results = explore(machine, LIFT.properties, Options(keep_going=True)).results
    return {result.name: to_trace(LIFT, "unsafe", machine, result) for result in results}


LIFT_TRACES = lift_traces()


def replication_trace() -> Trace:
    """Return the shortest trace of a committed record that a member of the ISR lacks."""
    described = MACHINES["replication"]
    machine = described.build(described.presets["truncate_to_high_watermark"], Config(), BOUNDS)
    weak_isr = next(prop for prop in described.properties if prop.name == "weak_isr")
    (result,) = explore(machine, (weak_isr,)).results
    return evolve(to_trace(described, "truncate_to_high_watermark", machine, result), note="A follower truncates what it acknowledged.")


REPLICATION = replication_trace()


def plain_trace() -> dict[str, Any]:
    """Return the data of a trace file, to be spoilt."""
    data: dict[str, Any] = json.loads(dumps(REPLICATION))
    return data


def says(call: Callable[..., Any], *args: Any) -> str:
    """Return the one line that a call is refused with."""
    with pytest.raises(InputError) as error:
        call(*args)
    line = str(error.value)
    assert line.isprintable()
    return line


# -- writing and reading --


def test_a_counterexample_of_replication_replays() -> None:
    """The shortest violation of weak ISR under truncation to the high watermark has 8 steps, and shows its witness."""
    replayed = replay(REPLICATION)
    assert [str(step) for step in replayed.steps][-2:] == [
        "leader_advance_high_watermark(leader=0)",
        "become_follower(broker=1, leader_epoch=1)",
    ]
    assert len(replayed.steps) == 8
    assert len(replayed.states) == 9
    assert dict(replayed.witness or {}).keys() == {"leader", "member", "offset", "ours", "theirs"}
    assert (replayed.property, replayed.note, replayed.remarks) == ("weak_isr", REPLICATION.note, ())


def test_a_file_is_stable_and_readable(tmp_path: Path) -> None:
    """One step a line, plain line ends, the same text each time; and what was written is read."""
    path = tmp_path / "one.json"
    write(REPLICATION, path)
    text = path.read_bytes().decode()
    assert '\n    {"action": "controller_elect_leader", "choices": {"leader": 0}},\n' in text
    assert text.endswith("\n}\n")
    assert "\r" not in text
    assert load(path) == REPLICATION
    assert dumps(load(path)) == text == dumps(REPLICATION)


def test_the_source_is_the_command_that_finds_it_again() -> None:
    """A trace names the preset, the rules changed in it, the scope, and the property."""
    assert REPLICATION.source == (
        "hwmark check replication --rules truncate_to_high_watermark "
        "--bounds replicas=2,log_size=2,records=2,max_leader_epoch=2 --property weak_isr"
    )
    machine = toy_lift.machine(toy_lift.Rules(toy_lift.Door.ANY, serves=False), toy_lift.Config("slow"), toy_lift.Bounds(3))
    result = next(one for one in explore(machine, (toy_lift.moves_closed,)).results if one.run)
    assert to_trace(LIFT, None, machine, result).source == (
        "hwmark check lift --rules safe --set door=any --set serves=false --config label=slow --bounds floors=3 --property moves_closed"
    )


def test_a_result_without_a_run_has_no_trace() -> None:
    """What holds in a whole scope is shown by no run."""
    result = explore(lift("safe"), (toy_lift.moves_closed,)).results[0]
    with pytest.raises(ValueError, match="moves_closed has no run"):
        to_trace(LIFT, "safe", lift("safe"), result)


@pytest.mark.parametrize("trace", [*LIFT_TRACES.values(), REPLICATION], ids=lambda trace: trace.property)
def test_every_trace_survives_its_file_and_fits_the_schema(trace: Trace, tmp_path: Path) -> None:
    """Each kind of property, each type of value: written, read, the same again, and as the schema says."""
    machines = {**MACHINES, **toy_lift.MACHINES}
    write(trace, tmp_path / "one.json")
    assert load(tmp_path / "one.json", machines) == trace
    jsonschema.validate(to_json(trace), SCHEMA)
    assert from_json(to_json(trace), machines) == trace


def test_writing_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A folder, or a folder that does not exist, is one clear line."""
    assert says(write, REPLICATION, tmp_path).endswith("cannot be written: it is a folder")
    assert says(write, REPLICATION, tmp_path / "no" / "x.json").endswith("cannot be written: no such file or directory")


# -- hostile files --


def changed(**changes: Any) -> dict[str, Any]:
    """Return the data of a trace with some keys replaced; ``None`` takes a key away."""
    data = {**plain_trace(), **changes}
    return {name: value for name, value in data.items() if value is not None}


def step(action: str, **choices: Any) -> dict[str, Any]:
    """Return the data of one step."""
    return {"action": action, "choices": choices}


REFUSED = {
    "no object": ([], "a trace is an object, got []"),
    "another schema": (changed(schema="hwmark.trace/2"), "schema: expected 'hwmark.trace/1', got 'hwmark.trace/2'"),
    "no schema": (changed(schema=None), "schema: expected 'hwmark.trace/1', got 'no schema'"),
    "a schema that is no text": (changed(schema=["\x1b"]), "schema: expected 'hwmark.trace/1', got ['\\x1b']"),
    "unknown key": (changed(stepps=[]), "there is no key 'stepps'; did you mean 'steps'?"),
    "missing key": (changed(steps=None), "the key 'steps' is missing"),
    "unknown machine": (changed(machine="replicatoin"), "there is no machine 'replicatoin'; did you mean 'replication'?"),
    "a machine that is no text": (changed(machine={}), "machine: expected text, got {}"),
    "unknown property": (changed(property="weak_irs"), "there is no property 'weak_irs'; did you mean 'weak_isr'?"),
    "no rules": (changed(rules=None), "the key 'rules' is missing"),
    "unknown rule": (changed(rules={"fetch": "none"}), "rules: there is no field 'fetch'; did you mean 'fetch_fence'?"),
    "unknown value of a rule": (changed(rules={"fetch_fence": "no"}), "rules.fetch_fence: there is no value 'no'; did you mean 'none'?"),
    "bound too large": (changed(bounds={"replicas": 10**17}), "bounds: 'replicas' must be <= 9: 100000000000000000"),
    "bound that is no number": (changed(bounds={"replicas": "2"}), "bounds.replicas: expected a whole number, got '2'"),
    "unknown configuration": (changed(config={"acks": 1}), "config: there is no field 'acks'; there is nothing to choose from"),
    "steps that are no list": (changed(steps={}), "steps: expected a list, got {}"),
    "step that is no step": (changed(steps=[1]), "step 1 of 1: expected an object with action and choices, got 1"),
    "step with more in it": (
        changed(steps=[{**step("leader_write", leader=0), "eval": "1"}]),
        "step 1 of 1: there is no key 'eval'; there is action, choices",
    ),
    "step without choices": (changed(steps=[{"action": "leader_write"}]), "step 1 of 1: the key 'choices' is missing"),
    "unknown action": (
        changed(steps=[step("leader_wrote", leader=0)]),
        "step 1 of 1: there is no action 'leader_wrote'; did you mean 'leader_write'?",
    ),
    "action that is no text": (
        changed(steps=[step("x") | {"action": ["leader_write"]}]),
        "step 1 of 1: there is no action ['leader_write']; there is",
    ),
    "choice out of domain": (
        changed(steps=[step("leader_write", leader=2)]),
        "step 1 of 1, leader_write: leader=2 is out of its domain: 0, 1",
    ),
    "choice of another type": (
        changed(steps=[step("leader_write", leader=True)]),
        "step 1 of 1, leader_write: leader=True is out of its domain: 0, 1",
    ),
    "unknown choice": (
        changed(steps=[step("leader_write", broker=0)]),
        "step 1 of 1, leader_write: there is no choice 'broker'; there is leader",
    ),
    "missing choice": (changed(steps=[step("leader_write")]), "step 1 of 1, leader_write: the choice leader is missing"),
    "loop that is no number": (changed(loop="0"), "loop: expected a whole number, got '0'"),
    "initial that is no number": (changed(initial=True), "initial: expected a whole number, got True"),
    "note that is no text": (changed(note=["x"]), "note: expected text, got ['x']"),
}


@pytest.mark.parametrize(("data", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_trace_is_refused(data: Any, expected: str, tmp_path: Path) -> None:
    """Each wrong file gives one line that names the file, what is wrong, and what would be right."""
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(data))
    assert says(load, path).startswith(f"{path}: {expected}")


@pytest.mark.parametrize(
    "name", ["no object", "another schema", "unknown key", "missing key", "no rules", "steps that are no list", "note that is no text"]
)
def test_the_schema_refuses_likewise(name: str) -> None:
    """What is wrong with the shape of a file is also wrong by the schema."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(REFUSED[name][0], SCHEMA)


BROKEN_TEXTS = {
    "nothing": (b"", "not JSON: Expecting value in line 1, column 1"),
    "no JSON": (b"hello", "not JSON: Expecting value in line 1, column 1"),
    "truncated": (dumps(REPLICATION)[:700].encode(), "not JSON: "),
    "two values": (b"{} {}", "not JSON: Extra data in line 1, column 4"),
    "duplicate keys": (b'{"schema": 1, "schema": 2}', "the key 'schema' is given twice"),
    "not a number": (b'{"schema": NaN}', "NaN is not JSON"),
    "infinity": (b'{"schema": -Infinity}', "-Infinity is not JSON"),
    "a huge number": (b'{"loop": ' + b"9" * 1_000_000 + b"}", "number: a number of 1000000 digits is too large"),
    "a huge power": (b'{"schema": "hwmark.trace/1", "machine": 1e999}', "machine: expected text, got inf"),
    "no UTF-8": (b'{"schema": "\xff"}', "not UTF-8 text at byte 12"),
    "UTF-16": ('{"schema": 1}'.encode("utf-16"), "not UTF-8 text at byte 0"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig) in line 1, column 1"),
    "deep nesting": (b"[" * 10_000_000, "nested too deeply: more than 32 levels"),
    "deep objects": (b'{"a":' * 2_000_000, "nested too deeply: more than 32 levels"),
    "nesting that the parser takes": (b"[" * 200 + b"]" * 200, "nested too deeply: more than 32 levels"),
    "50 MB of nesting": (b"[" * 50_000_000, "larger than 16 MiB"),
    "escapes in a key": (
        b'{"schema": "hwmark.trace/1", "\\u001b[31m\\u202e<script>": 1}',
        "there is no key '\\x1b[31m\\u202e<script>'; there is schema, machine",
    ),
}


@pytest.mark.parametrize(("content", "expected"), BROKEN_TEXTS.values(), ids=BROKEN_TEXTS)
def test_what_is_no_json_is_refused(content: bytes, expected: str, tmp_path: Path) -> None:
    """Broken and hostile texts give one line, whatever is in them."""
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    assert says(load, path).startswith(f"{path}: {expected}")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """Missing files, folders, devices and pipes are not read."""
    assert says(load, tmp_path / "no.json") == f"{tmp_path}/no.json: No such file or directory"
    assert says(load, tmp_path) == f"{tmp_path}: a folder, not a file"
    assert says(load, "/dev/zero") == "/dev/zero: not a file"
    os.mkfifo(tmp_path / "pipe")
    assert says(load, tmp_path / "pipe") == f"{tmp_path}/pipe: not a file"
    assert says(load, "a\0b").endswith("embedded null byte")


def test_the_largest_file_is_still_read(tmp_path: Path) -> None:
    """A file of exactly the largest size is read; its spaces do not hurt."""
    path = tmp_path / "large.json"
    text = dumps(REPLICATION)
    path.write_text(text + " " * (MAX_BYTES - len(text.encode())))
    assert load(path) == REPLICATION


def test_free_text_is_made_safe() -> None:
    """Control characters in note, source and model are shown as escapes, in whatever way the trace came about."""
    hostile = "\x1b]0;title\x07 <script> \u202e \n"
    data = changed(note=hostile, source=hostile, model=hostile)
    trace = from_json(data)
    safe = "\\x1b]0;title\\x07 <script> \\u202e \\x0a"
    assert (trace.note, trace.source, trace.model) == (safe, safe, safe)
    assert replay(trace).note == safe
    assert evolve(REPLICATION, note=hostile).note == safe


# -- replaying --


@pytest.mark.parametrize("trace", LIFT_TRACES.values(), ids=LIFT_TRACES)
def test_every_kind_of_property_is_asked_again(trace: Trace) -> None:
    """Each trace that the explorer finds replays: invariants, steps, goals, traps, lassos, observers, the impossible.

    That there is no way out of a trap is not asked again, and the replay says so.
    """
    replayed = replay(trace, toy_lift.MACHINES)
    (kind,) = {one.kind for one in toy_lift.MACHINES["lift"].properties if one.name == trace.property} or {"impossible"}
    remarks = (NOT_ASKED_AGAIN,) if kind == "converges" else ()
    assert (replayed.property, replayed.loop, replayed.remarks) == (trace.property, trace.loop, remarks)
    assert len(replayed.states) == len(replayed.steps) + 1


def test_ten_traces_are_asked_again() -> None:
    """The toy breaks or meets every property that it has, and reaches the impossible: nothing above is vacuous."""
    assert sorted(LIFT_TRACES) == sorted([prop.name for prop in LIFT.properties] + ["impossible"])


def test_the_impossible_step_is_named() -> None:
    """A run into the impossible ends before the last step, which the witness names."""
    replayed = replay(LIFT_TRACES["impossible"], toy_lift.MACHINES)
    assert [str(one) for one in replayed.steps] == ["break_down()"]
    assert dict(replayed.witness or {}) == {"step": "break_down()", "why": "it breaks twice"}


@pytest.mark.parametrize("name", LIFT_TRACES)
def test_a_run_that_shows_nothing_is_refused(name: str) -> None:
    """A trace of no steps violates and meets nothing here, except in the wrong initial state; then the others do not."""
    trace = evolve(LIFT_TRACES[name], steps=(), initial=0, loop=None)
    assert says(replay, trace, toy_lift.MACHINES)


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("moves_closed", "stays_whole", "stays_whole is not violated at the end of this run of 2 steps"),
        ("stays_whole", "top_is_called", "top_is_called is not met at the end of this run of 1 steps"),
        ("top_is_called", "open_below", "open_below is not violated at the end of this run of 1 steps"),
        ("call_is_served", "impossible", "serve(): nothing about this step is impossible: it is taken"),
        (
            "call_is_served",
            "is_served_at_last",
            "loop: a run that breaks is_served_at_last goes on for ever, from a step of 0 to 3; got None",
        ),
        (
            "is_served_at_last",
            "top_is_called",
            "loop: only a run that breaks a leads_to property goes on for ever, and top_is_called is of kind reachable",
        ),
    ],
)
def test_another_property_is_not_shown(name: str, other: str, expected: str) -> None:
    """A trace of one property is not one of another."""
    assert expected == says(replay, evolve(LIFT_TRACES[name], property=other), toy_lift.MACHINES)


def test_a_trace_under_other_rules_names_the_step_and_the_operand() -> None:
    """Under rules that forbid a step the line says which step, and which operand of its guard refused it."""
    trace = evolve(LIFT_TRACES["moves_closed"], rules=toy_lift.Rules())
    assert says(replay, trace, toy_lift.MACHINES) == (
        "step 2 of 2, move(direction=up): not enabled, because `state.is_open and rules.door is Door.CLOSED` "
        "(state.is_open = True, rules.door = Door.CLOSED)"
    )
    trace = evolve(REPLICATION, rules=MACHINES["replication"].presets["kip_320"])
    assert says(replay, trace) == (
        "step 8 of 8, become_follower(broker=1, leader_epoch=1): not enabled, "
        "because `not may_ask(rules, state, request.leader, leader_epoch)` "
        "(request.leader = 0, leader_epoch = 1; where request is state.requests[leader_epoch]); "
        "in may_ask: `theirs.leader_epoch == leader_epoch` is False "
        "(theirs.leader_epoch = 0, leader_epoch = 1, leader = 0; where theirs is state.replicas[leader])"
    )


def test_a_step_left_out_names_the_operand() -> None:
    """Without the election nobody has a request to become leader."""
    trace = evolve(REPLICATION, steps=REPLICATION.steps[2:])
    assert says(replay, trace) == (
        "step 1 of 6, become_leader(broker=0, leader_epoch=0): not enabled, because `request is None` "
        "(request = None, leader_epoch = 0; where request is state.requests[leader_epoch])"
    )


def test_an_initial_state_that_does_not_exist_is_refused() -> None:
    """The number of the initial state is checked."""
    for number in (-1, 2):
        trace = evolve(LIFT_TRACES["moves_closed"], initial=number)
        assert says(replay, trace, toy_lift.MACHINES) == f"initial {number}: the machine lift has 2 initial states, from 0"


def test_a_stale_fingerprint_is_a_remark() -> None:
    """A trace of another version of the model that still replays says so; one that does not says it in the error."""
    stale = evolve(REPLICATION, model="sha256:0")
    assert replay(stale).remarks == ("The model has changed since this trace was made; it still replays.",)
    assert says(replay, evolve(stale, steps=stale.steps[:-1])) == (
        "weak_isr is not violated at the end of this run of 7 steps (the model has changed since this trace was made)"
    )


def test_steps_of_another_machine_are_refused() -> None:
    """A trace that was put together by hand is checked like one from a file."""
    trace = evolve(REPLICATION, steps=(Step("leader_write", {"leader": 7}),))
    assert says(replay, trace) == "step 1 of 1, leader_write(leader=7): no such step in this machine and scope"
