# SPDX-License-Identifier: Apache-2.0
"""Every cell of a comparison is decided by exploring, and is never decided where it was not."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from typing import Any

import pytest
from attrs import evolve
from toy_lift import LIFT, Bounds, Config, Lift, Rules, is_open, machine

from hwmark.checker.cli import run
from hwmark.checker.compare import LIST_SCHEMA, SCHEMA, Compared, Reached, built, compare, plain, scopes, values_of
from hwmark.checker.engine import Engine
from hwmark.checker.engines import search
from hwmark.checker.errors import InputError
from hwmark.checker.formats.comparison import comparison_text, list_text
from hwmark.checker.verdict import Verdict
from hwmark.spec.comparison import Ask, Column, Comparison, Line, measure
from hwmark.spec.comparisons import COMPARISONS
from hwmark.spec.machines import MACHINES
from hwmark.spec.requirements import is_known


@measure(values=lambda bounds: range(bounds.floors))
def floor(state: Lift) -> int:
    """The floor of the lift."""
    return state.floor


@measure(values=lambda _: range(2))
def low_floor(state: Lift) -> int:
    """The floor of the lift, as if there were but two."""
    return state.floor


@measure(values=lambda bounds: range(bounds.floors + 1), when=is_open)
def called(state: Lift, bounds: Bounds) -> int:
    """The floor from which the lift is called while it is open, counted from above."""
    return 0 if state.called is None else bounds.floors - state.called


@measure(values=lambda _: range(2), when=lambda state: state.floor < 0)
def nothing(_: Lift) -> int:
    """What there is never."""
    return 0


HOUSES = Comparison(
    name="houses",
    question="How do lifts differ?",
    columns=(
        Column("safe", "lift", "safe", Config(closed_floors=(5,)), Bounds(3)),
        Column("unsafe", "lift", "unsafe"),
    ),
    lines=(
        Line("moves closed", Ask("moves_closed")),
        Line("is called from the top", {"lift": Ask("top_is_called")}),
        Line("comes back", Ask("comes_back")),
        Line("floors", Ask(floor)),
        Line("floors of a high house", Ask(floor, {"floors": 4})),
        Line("called", Ask(called)),
        Line("climbs", Ask("climbs_in_sight")),
        Line("something of another machine", {"other": Ask("nothing")}),
    ),
    teaches="A lift that moves with its door open is not safe.",
    sources=("S1",),
)


def never() -> str | None:
    """Do not stop."""
    return None


def ignore(_: int) -> None:
    """Do not care how many are done."""


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy is a machine that there is, and its comparison one that is declared; it breaks down at most once."""
    whole = [act for act in machine(Rules(), Config(), Bounds()).actions if act.name != "break_down"]
    module: Any = type(
        "Module", (), {"machine": staticmethod(lambda *scope: evolve(machine(*scope), actions=tuple(whole))), "Config": Config}
    )
    monkeypatch.setitem(MACHINES, "lift", evolve(LIFT, module=module))
    monkeypatch.setitem(COMPARISONS, "houses", HOUSES)


def answered(**changes: Any) -> Compared:
    """Return the comparison of the toys with its answers, in one process."""
    comparison = evolve(HOUSES, **changes)
    COMPARISONS["houses"] = comparison
    return compare(comparison, 1, never, ignore)


def test_every_cell_is_decided() -> None:
    """Promises hold or break after so many steps, goals are met, and of measures the least and the most are known."""
    found = answered()
    assert (found.verdict, found.stopped) == (Verdict.HOLDS, None)
    assert [[None if cell is None else (cell.kind, cell.verdict.value, cell.depth) for cell in row] for row in found.cells] == [
        [("step", "holds", None), ("step", "violated", 2)],
        [("reachable", "holds", 1), ("reachable", "holds", 1)],
        [("converges", "holds", None), ("converges", "holds", None)],
        [("measure", "holds", None), ("measure", "holds", None)],
        [("measure", "holds", None), ("measure", "holds", None)],
        [("measure", "holds", None), ("measure", "holds", None)],
        [("step", "violated", 2), ("step", "violated", 2)],
        [None, None],
    ]
    measured = [[(cell.least, cell.most) for cell in row if cell is not None] for row in found.cells[3:6]]
    assert measured == [
        [(Reached(0, 0), Reached(2, 0))] * 2,
        [(Reached(0, 0), Reached(3, 0))] * 2,
        [(Reached(0, 1), Reached(3, 2))] * 2,
    ]


@pytest.mark.parametrize("engine", [Engine.REFERENCE, Engine.TABLES])
def test_any_engine_measures(engine: Engine) -> None:
    """The goals of a measure are learned as those of a machine are."""
    house = built(HOUSES.columns[0], Bounds(3))
    found = search(house, list(values_of(called, house)), engine=engine)
    assert (found.engine, found.complete) == (engine.value, True)
    assert [(one.name, one.verdict, one.depth) for one in found.results] == [
        ("called is declared", Verdict.HOLDS, None),
        *((f"called={value}", Verdict.HOLDS, depth) for value, depth in enumerate((1, 2, 2, 2))),
    ]


def test_a_column_is_explored_once_for_each_scope() -> None:
    """Questions in the same bounds are asked together."""
    assert [(one.column, one.bounds.floors, [row for row, _ in one.asks]) for one in scopes(HOUSES)] == [
        (0, 3, [0, 1, 2, 3, 5, 6]),
        (0, 4, [4]),
        (1, 3, [0, 1, 2, 3, 5, 6]),
        (1, 4, [4]),
    ]


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (low_floor, "it is also 2, which its values leave out"),
        (nothing, "vacuous: nothing in this scope meets what the property presupposes"),
    ],
)
def test_a_measure_that_is_not_known_is_undetermined(what: Any, why: str) -> None:
    """A number that was not declared, and a measure of no state at all."""
    found = answered(lines=(Line("a measure", Ask(what)),))
    assert found.verdict is Verdict.UNDETERMINED
    assert [(cell.verdict, cell.least, cell.why) for cell in found.cells[0] if cell] == [(Verdict.UNDETERMINED, None, why)] * 2


def test_the_impossible_is_undetermined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an action does what its author holds to be impossible, nothing is told from the rest."""
    monkeypatch.setitem(MACHINES, "lift", LIFT)
    found = answered(lines=(Line("comes back", Ask("comes_back")), Line("floors", Ask(floor))))
    assert {cell.verdict for row in found.cells for cell in row if cell} == {Verdict.UNDETERMINED}
    assert {cell.why for row in found.cells for cell in row if cell} == {
        "an action reached what its author holds to be impossible: it breaks twice"
    }


def test_what_was_stopped_is_undetermined() -> None:
    """A reason to stop is that of every cell; nothing is told of what was seen until then."""
    found = compare(HOUSES, 1, lambda: "interrupted", ignore)
    assert (found.verdict, found.stopped) == (Verdict.UNDETERMINED, "interrupted")
    assert {cell.why for row in found.cells for cell in row if cell} == {"interrupted"}
    text = comparison_text(found)
    assert "0 of 14 answers are decided" in text
    assert "Stopped early: interrupted." in text


def test_a_comparison_that_asks_nothing_is_undetermined() -> None:
    """No answer is no answer."""
    assert answered(lines=(Line("nothing", {}),)).verdict is Verdict.UNDETERMINED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": (Column("a", "lifts", "safe"),)}, "lift"),
        ({"columns": (Column("a", "lift", "save"),)}, "safe"),
        ({"lines": (Line("a", Ask("come_back")),)}, "comes_back"),
    ],
)
def test_names_that_do_not_exist_are_errors(changes: dict[str, Any], message: str) -> None:
    """A comparison that names an unknown machine, preset or property is refused."""
    with pytest.raises(InputError, match=message):
        scopes(evolve(HOUSES, **changes))


@pytest.mark.parametrize("name", [name for name in COMPARISONS if name != "houses"])
def test_every_comparison_can_be_asked(name: str) -> None:
    """Its names exist, its bounds fit, its labels differ, and its sources are known."""
    comparison = COMPARISONS[name]
    assert comparison.name == name
    assert {one.column for one in scopes(comparison)} == set(range(len(comparison.columns)))
    assert all(any(line.of(column.machine) for column in comparison.columns) for line in comparison.lines)
    for labels in ([one.label for one in comparison.columns], [one.label for one in comparison.lines]):
        assert len(set(labels)) == len(labels)
    assert all(map(is_known, comparison.sources))
    assert json.dumps(plain(Compared(comparison, ((None,) * len(comparison.columns),) * len(comparison.lines), None, 0)))


# -- how it is written --


def test_text_names_columns_lines_answers_and_the_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table has a column for each machine, and below it stands what was asked."""
    monkeypatch.setenv("COLUMNS", "110")
    lines = [" ".join(line.split()) for line in comparison_text(answered()).splitlines()]
    for line in (
        "houses: How do lifts differ?",
        "safe unsafe",
        "moves closed holds broken in 2 steps",
        "is called from the top met in 1 step met in 1 step",
        "floors 0 to 2 0 to 2",
        "something of another machine – –",
        "safe: lift under safe, closed_floors=[5].",
        "unsafe: lift under unsafe.",
        "floors of a high house: floor with floors=4.",
        "moves closed: moves_closed.",
        "something of another machine: –.",
        "A lift that moves with its door open is not safe.",
        "Sources: S1.",
    ):
        assert line in lines
    assert lines[-1].startswith("14 of 14 answers are decided, ")


def test_keys_are_those_of_the_contract() -> None:
    """JSON has the keys of ``hwmark.comparison/1``."""
    written = plain(answered())
    assert list(written) == ["schema", "name", "question", "teaches", "sources", "columns", "lines", "stopped", "seconds", "verdict"]
    assert (written["schema"], written["verdict"]) == (SCHEMA, "decided") == ("hwmark.comparison/1", "decided")
    assert list(written["columns"][0]) == ["label", "machine", "rules", "config", "symmetry"]
    broken, measured = written["lines"][0]["cells"][1], written["lines"][3]["cells"][0]
    keys = ["asked", "kind", "bounds", "verdict", "depth", "witness", "trace", "loop", "least", "most", "states", "why"]
    assert list(broken) == keys
    assert (broken["depth"], [step["action"] for step in broken["trace"]]) == (2, ["use_door", "move"])
    assert (measured["least"], measured["most"]) == ({"value": 0, "depth": 0}, {"value": 2, "depth": 0})
    assert written["lines"][7]["cells"] == [None, None]


# -- the command --


def test_without_a_name_comparisons_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """As a table, or as JSON."""
    assert run(["compare"]) == 0
    assert capsys.readouterr().out == list_text(list(COMPARISONS.values()))
    assert run(["compare", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert (written["schema"], [one["name"] for one in written["comparisons"]]) == (LIST_SCHEMA, list(COMPARISONS))


def test_the_exit_code_says_whether_all_is_decided(capsys: pytest.CaptureFixture[str]) -> None:
    """0 if every cell is, also where something breaks; 3 if not."""
    assert run(["compare", "houses", "--workers", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "decided"
    assert run(["compare", "houses", "--workers", "1", "--timeout", "0", "--json"]) == 3
    written = json.loads(capsys.readouterr().out)
    assert (written["verdict"], written["stopped"]) == ("undetermined", "reached the limit of 0 s")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("no_such",), "commit_rules"),
        (("hous",), "houses"),
        (("houses", "--format", "junit"), "text or json"),
        (("houses", "--json", "--format", "text"), "only one"),
        (("houses", "--timeout", "nan"), "nan"),
        (("houses", "--workers", "0"), "--workers"),
    ],
)
def test_bad_usage_is_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], names: str) -> None:
    """Exit 2, and nothing on standard output."""
    assert run(["compare", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("hwmark: ")
    assert err.count("\n") == 1
    assert names in err


def test_ctrl_c_gives_an_honest_partial_answer() -> None:
    """What was not explored by then is undetermined, and the exit code is 3."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "hwmark.checker", "compare", "commit_rules", "--workers", "1", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=theirs) as process:  # noqa: S603
        os.close(theirs)
        seen = b""
        while b" done" not in seen:
            seen += os.read(ours, 1000)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    os.close(ours)
    written = json.loads(out)
    assert (process.returncode, written["verdict"], written["stopped"]) == (3, "undetermined", "interrupted")
    assert b"Traceback" not in seen
