# SPDX-License-Identifier: Apache-2.0
"""Traces as programs: they run on their own, show what the trace shows, and fail where it does not."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import toy_lift
from attrs import evolve
from test_trace import LIFT_TRACES, REPLICATION

from hwmark.checker.errors import InputError
from hwmark.checker.explore import explore
from hwmark.checker.program import to_program
from hwmark.checker.trace import Trace, to_trace
from hwmark.spec.machines import MACHINES

ALL = {**MACHINES, **toy_lift.MACHINES}


def run(place: Path, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, in an empty folder."""
    path = place / "program.py"
    path.write_text(program)
    paths = [str(Path(toy_lift.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *options, str(path)]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own program


SAYS = {
    "open_below": "open_below is violated: {'floor': 2}, {'visited': frozenset({2})}",
    "moves_closed": "moves_closed is violated: {}, {'step': 'move(direction=up)'}",
    "climbs_twice": "climbs_twice is violated: {}, {'floor': 2, 'climbs': 3}",
    "climbs_in_sight": "climbs_in_sight is violated: {}, {'old': 1, 'new': 2}",
    "top_is_called": "top_is_called is met: {'floor': 2}",
    "call_is_served": "call_is_served is met: {}",
    "comes_back": "from here on comes_back cannot come true: {}",
    "is_served_at_last": "is_served_at_last never comes true if this goes on for ever from step 2: {}",
    "stays_whole": "stays_whole is violated: {}, {}",
    "impossible": "impossible: it breaks twice",
    "weak_isr": "weak_isr is violated: {'leader': 0, 'member': 1}, {'offset': 0, 'ours': Record(id=0, leader_epoch=0), 'theirs': None}",
}


@pytest.mark.parametrize("trace", [*LIFT_TRACES.values(), REPLICATION], ids=lambda trace: trace.property)
@pytest.mark.parametrize("options", [(), ("-O",)], ids=["plain", "optimised"])
def test_programs_run_and_show_it(trace: Trace, options: tuple[str, ...], tmp_path: Path) -> None:
    """Of each kind of property: the program exits with 0, names each step, and says what it found, also without assertions."""
    done = run(tmp_path, to_program(trace, ALL), *options)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == SAYS[trace.property]
    taken = trace.steps if trace.property != "impossible" else trace.steps[:-1]
    assert [line.split("  ")[-1] for line in lines[:-1]] == [str(step) for step in taken]


@pytest.mark.parametrize(("right", "wrong"), [("Door.ANY", "Door.CLOSED"), ("Truncation.HIGH_WATERMARK", "Truncation.LAST_COMMON_RECORD")])
def test_a_program_under_right_rules_fails(right: str, wrong: str, tmp_path: Path) -> None:
    """Changed to right rules, a program says that a step is not enabled, or that the property holds, and exits with 1."""
    program = to_program(LIFT_TRACES["moves_closed"] if right == "Door.ANY" else REPLICATION, ALL)
    assert right in program
    done = run(tmp_path, program.replace(right, wrong), "-O")
    assert done.returncode == 1
    assert done.stderr.strip() in ("step 2: move(direction=up) is not enabled", "weak_isr is not violated at the end of this run")


@pytest.mark.parametrize("name", [name for name in LIFT_TRACES if name not in ("impossible", "is_served_at_last")])
def test_a_program_without_its_last_step_fails(name: str, tmp_path: Path) -> None:
    """The last check is a real one for each kind of property."""
    lines = to_program(LIFT_TRACES[name], ALL).splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("take("))
    done = run(tmp_path, "\n".join(lines[:last] + lines[last + 1 :]).replace("scope.initial[1]", "scope.initial[0]"))
    assert done.returncode == 1


def test_a_program_whose_loop_does_not_close_fails(tmp_path: Path) -> None:
    """A lasso that does not come back is not shown; nor is one whose goal comes true, nor an impossible step that is possible."""
    program = to_program(LIFT_TRACES["is_served_at_last"], ALL)
    assert run(tmp_path, program.replace("states[1] != states[-1]", "states[0] != states[-1]")).stderr.startswith(
        "this run does not go on for ever"
    )
    served = program.replace(
        "take(call, floor=1)", "take(call, floor=1)\ntake(move, direction=Direction.UP)\ntake(serve)\ntake(use_door)\ntake(use_door)"
    )
    served = served.replace("import Bounds", "import Direction, serve, use_door, move, Bounds").replace("states[1] !=", "states[3] !=")
    served = served.replace("since <= 1", "since <= 3")
    assert run(tmp_path, served).stderr == "is_served_at_last is not violated by this run\n"
    broken = to_program(LIFT_TRACES["impossible"], ALL).replace("    take(break_down)", "    pass")
    assert run(tmp_path, broken).stderr == "nothing about the last step is impossible\n"


def test_free_text_cannot_become_code(tmp_path: Path) -> None:
    """Whatever stands in note and source stays a comment, on whatever line it ends up."""
    hostile = 'x"""\n\r\u2028\x0c\nraise SystemExit(9)\n' + "word " * 60 + "\\\nraise SystemExit(9)"
    program = to_program(evolve(LIFT_TRACES["stays_whole"], note=hostile, source=hostile), ALL)
    assert ast.dump(ast.parse(program)) == ast.dump(ast.parse(to_program(LIFT_TRACES["stays_whole"], ALL)))
    assert run(tmp_path, program).returncode == 0


def test_names_that_clash_get_other_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An action that is named like something of the program itself is imported under another name."""
    (tmp_path / "clashing.py").write_text(Path(toy_lift.__file__).read_text().replace("use_door", "take").replace("MACHINES", "steps"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    import clashing  # noqa: PLC0415 - made above

    machine = clashing.lift()
    result = next(one for one in explore(machine, (clashing.open_below,)).results if one.run)
    program = to_program(to_trace(clashing.LIFT, "unsafe", machine, result), clashing.steps)
    assert "take as take_" in program
    assert "\ntake(take_)\n" in program
    assert run(tmp_path, program).returncode == 0


def test_what_does_not_replay_has_no_program() -> None:
    """A trace that shows nothing is refused, and so is what cannot be imported by its name."""
    with pytest.raises(InputError, match="not violated"):
        to_program(evolve(LIFT_TRACES["moves_closed"], steps=()), ALL)
