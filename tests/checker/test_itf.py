# SPDX-License-Identifier: Apache-2.0
"""Runs in the Informal Trace Format: the structure that the format asks for, and what another reader makes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any

import itf_py
import pytest
from attrs import frozen
from test_trace import LIFT_TRACES, REPLICATION
from toy_lift import MACHINES as TOYS
from toys import counter, toy

from hwmark.checker.itf import to_itf
from hwmark.checker.replay import Replayed, replay_run
from hwmark.checker.trace import replay
from hwmark.checker.verdict import Run
from hwmark.model.machine import BrokerId, Machine, PerBroker, Step, action

INTEGER = {"#bigint"}
SPECIAL = {"#tup": list, "#set": list, "#map": list, "#bigint": str}


def check_expression(data: Any) -> None:
    """Fail unless this is an expression of the format."""
    if isinstance(data, dict) and any(name.startswith("#") for name in data):
        ((name, inside),) = data.items()
        assert isinstance(inside, SPECIAL[name])
        for one in inside if name in ("#tup", "#set") else [part for pair in inside for part in pair] if name == "#map" else ():
            check_expression(one)
        if name == "#bigint":
            assert str(int(inside)) == inside
    elif isinstance(data, dict | list):
        for one in data.values() if isinstance(data, dict) else data:
            check_expression(one)
    else:
        assert isinstance(data, bool | str)


def check_trace(trace: dict[str, Any]) -> None:
    """Fail unless this is a trace of the format."""
    assert set(trace) <= {"#meta", "params", "vars", "states", "loop"}
    assert "#meta" not in trace["vars"]
    for number, state in enumerate(trace["states"]):
        assert list(state) == ["#meta", *trace["vars"]]
        assert state["#meta"]["index"] == number
        for name in trace["vars"]:
            check_expression(state[name])
    assert 0 <= trace.get("loop", 0) < len(trace["states"])


@pytest.mark.parametrize("trace", [*LIFT_TRACES.values(), REPLICATION], ids=lambda trace: trace.property)
def test_traces_have_the_structure_of_the_format(trace: Any) -> None:
    """Each trace is written as the format asks, also after a way through JSON, and each step is named where it leads."""
    replayed = replay(trace, {**TOYS, REPLICATION.machine: _described(REPLICATION.machine)})
    written = to_itf(replayed)
    check_trace(written)
    assert json.loads(json.dumps(written)) == written
    assert [state["#meta"].get("action") for state in written["states"]] == [None, *(step.action for step in replayed.steps)]
    assert written.get("loop") == replayed.loop


@pytest.mark.parametrize("trace", [*LIFT_TRACES.values(), REPLICATION], ids=lambda trace: trace.property)
def test_another_reader_reads_the_same_states(trace: Any) -> None:
    """An independent library reads each trace, writes it again without a difference, and tells its states apart as we do."""
    replayed = replay(trace, {**TOYS, REPLICATION.machine: _described(REPLICATION.machine)})
    written = to_itf(replayed)
    read = itf_py.trace_from_json(written)
    again = itf_py.trace_to_json(read)
    assert [again["vars"], sets_sorted(again["states"])] == [written["vars"], sets_sorted(written["states"])]
    pairs = [(one, other) for one in range(len(read.states)) for other in range(one)]
    assert [read.states[one].values == read.states[other].values for one, other in pairs] == [
        replayed.states[one] == replayed.states[other] for one, other in pairs
    ]


def _described(name: str) -> Any:
    from hwmark.spec.machines import MACHINES  # noqa: PLC0415 - beside the toys' own

    return MACHINES[name]


def sets_sorted(data: Any) -> Any:
    """Return data with the members of sets in one order: the other library writes them in any."""
    if isinstance(data, list):
        return [sets_sorted(one) for one in data]
    if isinstance(data, dict):
        return {name: sorted(map(sets_sorted, one), key=repr) if name == "#set" else sets_sorted(one) for name, one in data.items()}
    return data


class Colour(Enum):
    """A colour."""

    RED = "red"


@frozen
class Left:
    """One kind of message."""

    value: int


@frozen
class Right:
    """Another kind of message."""

    text: str


@frozen
class Everything:
    """A state with a value of every type."""

    number: BrokerId = -1
    flag: bool = True
    text: str = "a"
    colour: Colour = Colour.RED
    sequence: PerBroker[int] = (1, 2)
    pair: tuple[int, str] = (1, "x")
    members: frozenset[int] = frozenset({10, 9})
    table: Mapping[str, int] = {"a": 1}
    absent: int | None = None
    present: Annotated[int | None, "marked"] = 3
    message: Left | Right = Right("r")
    maybe: Left | Right | None = Left(1)
    nested: tuple[tuple[int | None, ...], ...] = ((None, 1), ())


@action()
@toy
def stay(state: Everything) -> Everything:
    """Changes nothing."""
    return state


def test_every_type_is_written() -> None:
    """Each type has its form; what may be absent is a list of at most one entry, so that types stay the same."""
    machine = Machine("everything", None, None, None, (Everything(),), (stay,))
    written = to_itf(replay_run(machine, Run((Step("stay", {}),), loop=0)))
    check_trace(written)
    state = {name: value for name, value in written["states"][1].items() if name != "#meta"}

    def number(value: int) -> dict[str, str]:
        return {"#bigint": str(value)}

    assert state == {
        "number": number(-1),
        "flag": True,
        "text": "a",
        "colour": "red",
        "sequence": [number(1), number(2)],
        "pair": {"#tup": [number(1), "x"]},
        "members": {"#set": [number(10), number(9)]},
        "table": {"#map": [["a", number(1)]]},
        "absent": [],
        "present": [number(3)],
        "message": {"tag": "Right", "value": {"text": "r"}},
        "maybe": [{"tag": "Left", "value": {"value": number(1)}}],
        "nested": [[[], [number(1)]], []],
    }
    assert written["loop"] == 0


def test_a_state_that_is_no_record_is_one_variable() -> None:
    """Whatever a state is, it has at least one variable; what cannot be written is refused."""
    number = Replayed(counter(), (7,), ())
    assert to_itf(number)["states"] == [{"#meta": {"index": 0}, "state": {"#bigint": "7"}}]
    with pytest.raises(TypeError, match="a object cannot be written in ITF"):
        to_itf(Replayed(counter(), (object(),), ()))
